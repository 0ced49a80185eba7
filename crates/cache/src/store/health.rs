//! Health of the shared store. The store is not used while it fails or hangs, or while its purges cannot be read.

use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::locks::Lock;

/// State of the shared store. Reading it never waits for the store.
#[derive(Debug)]
pub(crate) struct StoreHealth {
    /// Name of the store, for log messages.
    place: String,
    /// Whether the store is out of use because of an error.
    is_stopped: AtomicBool,
    failures: AtomicU64,
    error: Mutex<Option<String>>,
    /// When the shared store's purges were last read. `None` if they never were.
    last_read: Mutex<Option<Instant>>,
    /// Running average of how long a look-up takes, in microseconds.
    latency: AtomicU64,
    /// Notified when the shared store's purges were read, and when the store is taken out of use.
    change: Notify,
}

impl StoreHealth {
    pub(crate) fn new(place: String) -> Self {
        Self {
            place,
            is_stopped: AtomicBool::new(false),
            failures: AtomicU64::new(0),
            error: Mutex::default(),
            last_read: Mutex::default(),
            latency: AtomicU64::new(0),
            change: Notify::new(),
        }
    }

    /// Waits until it is known whether the store can be used.
    pub(crate) async fn wait_until_known(&self) {
        loop {
            let mut change = pin!(self.change.notified());
            // Registered before the check, so that no notification is missed.
            change.as_mut().enable();
            if self.last_read.locked().is_some() || self.error.locked().is_some() {
                return;
            }
            change.await;
        }
    }

    /// Returns whether the store may be read and written: it has not failed, and its purges were read at most `most`
    /// ago.
    pub(crate) fn is_usable(&self, most: Duration) -> bool {
        let last_read = *self.last_read.locked();
        !self.is_stopped.load(Ordering::Relaxed) && last_read.is_some_and(|at| at.elapsed() <= most)
    }

    /// Returns the error that keeps the store out of use, or `None` while it is in use.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.locked().clone()
    }

    /// Records that the store answered a look-up, and how long that took.
    pub(crate) fn record_answer(&self, latency: Duration) {
        self.failures.store(0, Ordering::Relaxed);
        self.record_latency(latency);
    }

    /// Records that a look-up or an upload failed or timed out. The store is taken out of use after [`MOST_FAILURES`]
    /// failures in a row. `latency`, if given, counts towards the average latency.
    pub(crate) fn record_failure(&self, latency: Option<Duration>, message: &str) {
        if let Some(latency) = latency {
            self.record_latency(latency);
        }
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILURES {
            self.stop(message);
        }
    }

    /// Takes the store out of use until its purges can be read again.
    pub(crate) fn stop(&self, message: &str) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let mut error = self.error.locked();
        if error.is_none() {
            // Logged once per outage, not once per request.
            tracing::warn!(
                place = self.place,
                error = message,
                "shared store unavailable; serving without it"
            );
        }
        *error = Some(message.to_owned());
        drop(error);
        self.change.notify_waiters();
    }

    /// Records that the shared store's purges were read, and puts the store back into use.
    pub(crate) fn record_purges(&self) {
        let first = self.last_read.locked().replace(Instant::now()).is_none();
        let recovered = self.error.locked().take().is_some();
        self.failures.store(0, Ordering::Relaxed);
        if self.is_stopped.swap(false, Ordering::Relaxed) {
            self.latency.store(0, Ordering::Relaxed);
        }
        if recovered {
            tracing::info!(place = self.place, "shared store recovered");
        } else if first {
            tracing::info!(place = self.place, "shared store in use");
        }
        self.change.notify_waiters();
    }

    /// Returns how long a request waits for a look-up before it starts making the result in parallel: `most`, or no
    /// time at all if look-ups have lately taken longer than that.
    pub(crate) fn patience(&self, most: Duration) -> Duration {
        let usual = Duration::from_micros(self.latency.load(Ordering::Relaxed));
        if usual > most { Duration::ZERO } else { most }
    }

    /// Updates the average latency: moves it towards `time` by an eighth of the difference, so that a single slow
    /// response changes little.
    fn record_latency(&self, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        // Of two concurrent updates one may be lost, which does not matter to an estimate.
        let old = self.latency.load(Ordering::Relaxed);
        let new = if old == 0 {
            time
        } else {
            old - old / 8 + time / 8
        };
        self.latency.store(new, Ordering::Relaxed);
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
        health.record_purges();
        assert!(health.is_usable(LONG));
        for _ in 0..2 {
            (1..MOST_FAILURES).for_each(|_| health.record_failure(None, "broken"));
            assert!(health.is_usable(LONG));
            health.record_answer(Duration::ZERO);
        }
        (0..MOST_FAILURES).for_each(|_| health.record_failure(None, "broken"));
        assert!(!health.is_usable(LONG));
        assert_eq!(health.error().as_deref(), Some("broken"));
        health.record_purges();
        assert!(health.is_usable(LONG) && health.error().is_none());
        assert!(!health.is_usable(Duration::ZERO), "purges grow old");
    }

    #[test]
    fn nobody_waits_for_a_store_that_is_usually_slower_than_they_would_wait() {
        let health = StoreHealth::new("s".into());
        let most = Duration::from_millis(40);
        assert_eq!(health.patience(most), most);
        (0..20).for_each(|_| health.record_answer(Duration::from_millis(15)));
        health.record_answer(Duration::from_millis(150));
        assert_eq!(health.patience(most), most);
        (0..20).for_each(|_| health.record_answer(Duration::from_millis(150)));
        assert_eq!(health.patience(most), Duration::ZERO);
        (0..40).for_each(|_| health.record_answer(Duration::from_millis(15)));
        assert_eq!(health.patience(most), most);
    }
}
