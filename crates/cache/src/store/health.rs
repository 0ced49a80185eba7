//! Whether the store is in use: not while it fails or hangs, nor while its purges are not known.

use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::locks::Lock;

/// State of the store, cheap to query.
#[derive(Debug)]
pub(crate) struct StoreHealth {
    /// Name of the store, for log messages.
    place: String,
    open: AtomicBool,
    failures: AtomicU64,
    error: Mutex<Option<String>>,
    /// When the purges were last read.
    heard: Mutex<Option<Instant>>,
    /// Running average of how long a look-up takes, in microseconds.
    latency: AtomicU64,
    /// Notified when the store becomes usable or unusable.
    changed: Notify,
}

impl StoreHealth {
    pub(crate) fn new(place: String) -> Self {
        Self {
            place,
            open: AtomicBool::new(false),
            failures: AtomicU64::new(0),
            error: Mutex::default(),
            heard: Mutex::default(),
            latency: AtomicU64::new(0),
            changed: Notify::new(),
        }
    }

    /// Waits until it is known whether the store can be used.
    pub(crate) async fn known(&self) {
        loop {
            let mut changed = pin!(self.changed.notified());
            // What happens from here on is heard.
            changed.as_mut().enable();
            if self.heard.locked().is_some() || self.error.locked().is_some() {
                return;
            }
            changed.await;
        }
    }

    /// Returns whether the store is read and written: it has not failed, and its purges were read at most `most` ago.
    pub(crate) fn is_usable(&self, most: Duration) -> bool {
        let heard = *self.heard.locked();
        !self.open.load(Ordering::Relaxed) && heard.is_some_and(|at| at.elapsed() <= most)
    }

    /// Returns the error because of which the store is not used, or `None` while it is.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.locked().clone()
    }

    /// Records that a look-up was answered `after` this time.
    pub(crate) fn answered(&self, after: Duration) {
        self.failures.store(0, Ordering::Relaxed);
        self.took(after);
    }

    /// Records that a look-up or an upload failed or timed out. The store is stopped after several failures in a row.
    /// `after` counts towards the average latency.
    pub(crate) fn failed(&self, after: Option<Duration>, message: &str) {
        if let Some(after) = after {
            self.took(after);
        }
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILURES {
            self.stop(message);
        }
    }

    /// Takes the store out of use until its purges can be read again.
    pub(crate) fn stop(&self, message: &str) {
        self.open.store(true, Ordering::Relaxed);
        let mut error = self.error.locked();
        if error.is_none() {
            // Once per outage, not once per request.
            tracing::warn!(
                place = self.place,
                error = message,
                "shared store unavailable; serving without it"
            );
        }
        *error = Some(message.to_owned());
        drop(error);
        self.changed.notify_waiters();
    }

    /// Records that the purges were read, and puts the store back into use.
    pub(crate) fn heard(&self) {
        let first = self.heard.locked().replace(Instant::now()).is_none();
        let recovered = self.error.locked().take().is_some();
        self.failures.store(0, Ordering::Relaxed);
        if self.open.swap(false, Ordering::Relaxed) {
            self.latency.store(0, Ordering::Relaxed);
        }
        if recovered {
            tracing::info!(place = self.place, "shared store recovered");
        } else if first {
            tracing::info!(place = self.place, "shared store in use");
        }
        self.changed.notify_waiters();
    }

    /// Returns how long to wait for a look-up before the result is made at the same time: `most`, or no time at all if
    /// look-ups have lately taken longer than that.
    pub(crate) fn patience(&self, most: Duration) -> Duration {
        let usual = Duration::from_micros(self.latency.load(Ordering::Relaxed));
        if usual > most { Duration::ZERO } else { most }
    }

    /// Updates the average latency. It moves by an eighth, so that a single slow answer changes little.
    fn took(&self, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        // Two at once may lose one of both: it is an estimate.
        let before = self.latency.load(Ordering::Relaxed);
        let after = if before == 0 {
            time
        } else {
            before - before / 8 + time / 8
        };
        self.latency.store(after, Ordering::Relaxed);
    }
}

/// Number of failures in a row after which the store is taken out of use.
const MOST_FAILURES: u64 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn nothing_is_asked_before_the_purges_are_known_nor_after_failures_in_a_row() {
        let health = StoreHealth::new("s".into());
        assert!(!health.is_usable(LONG));
        health.heard();
        assert!(health.is_usable(LONG));
        for _ in 0..2 {
            (1..MOST_FAILURES).for_each(|_| health.failed(None, "broken"));
            assert!(health.is_usable(LONG));
            health.answered(Duration::ZERO);
        }
        (0..MOST_FAILURES).for_each(|_| health.failed(None, "broken"));
        assert!(!health.is_usable(LONG));
        assert_eq!(health.error().as_deref(), Some("broken"));
        health.heard();
        assert!(health.is_usable(LONG) && health.error().is_none());
        assert!(!health.is_usable(Duration::ZERO), "purges grow old");
    }

    #[test]
    fn nobody_waits_for_a_store_that_is_usually_slower_than_they_would_wait() {
        let health = StoreHealth::new("s".into());
        let most = Duration::from_millis(40);
        assert_eq!(health.patience(most), most);
        (0..20).for_each(|_| health.answered(Duration::from_millis(15)));
        health.answered(Duration::from_millis(150));
        assert_eq!(health.patience(most), most);
        (0..20).for_each(|_| health.answered(Duration::from_millis(150)));
        assert_eq!(health.patience(most), Duration::ZERO);
        (0..40).for_each(|_| health.answered(Duration::from_millis(15)));
        assert_eq!(health.patience(most), most);
    }
}
