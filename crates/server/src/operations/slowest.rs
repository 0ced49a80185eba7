//! The slowest requests of the last minutes, recorded only while somebody watches the live dashboard.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::operations::entry::Entry;

/// The slowest requests, sorted from slowest to fastest.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    is_watched: AtomicBool,
    entries: Mutex<Vec<(Instant, Entry)>>,
}

impl Slowest {
    /// Starts recording, or stops it and clears the recorded requests.
    pub(crate) fn watch(&self, is_watched: bool) {
        self.is_watched.store(is_watched, Ordering::Relaxed);
        if !is_watched {
            self.lock().clear();
        }
    }

    /// Records a request, if it is one of the slowest.
    pub(crate) fn note(&self, entry: &Entry) {
        if !self.is_watched.load(Ordering::Relaxed) {
            return;
        }
        let mut entries = self.lock();
        entries.retain(|(time, _)| time.elapsed() < KEPT);
        let place = entries.partition_point(|(_, other)| other.total >= entry.total);
        if place < MOST {
            entries.insert(place, (Instant::now(), entry.clone()));
            entries.truncate(MOST);
        }
    }

    /// Returns the recorded requests of the last five minutes (`KEPT`), each with the time since it ended.
    pub(crate) fn read(&self) -> Vec<(Duration, Entry)> {
        let entries = self.lock();
        let recent = entries.iter().filter(|(time, _)| time.elapsed() < KEPT);
        recent
            .map(|(time, entry)| (time.elapsed(), entry.clone()))
            .collect()
    }

    /// Locks the entries. A poisoned lock is used all the same: no code panics while it holds the lock.
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Instant, Entry)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MOST: usize = 20;
const KEPT: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use hyper::StatusCode;

    use super::*;
    use crate::net::Peer;

    fn entry(millis: u64) -> Entry {
        Entry {
            total: Duration::from_millis(millis),
            ..Entry::malformed(Peer::Unix, StatusCode::OK, String::new())
        }
    }

    #[test]
    fn the_slowest_twenty_are_kept_while_somebody_watches() {
        let slowest = Slowest::default();
        slowest.note(&entry(1));
        assert!(slowest.read().is_empty());
        slowest.watch(true);
        for millis in 0..50 {
            slowest.note(&entry(millis * 7 % 50));
        }
        let read: Vec<u128> = slowest
            .read()
            .iter()
            .map(|(_, it)| it.total.as_millis())
            .collect();
        assert_eq!(read, (30..50).rev().collect::<Vec<u128>>());
        slowest.watch(false);
        assert!(slowest.read().is_empty());
    }
}
