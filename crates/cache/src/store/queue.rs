//! Queue of results waiting to be written to the shared store. It is limited in number and bytes: if the store cannot
//! keep up, results are dropped, and memory use stays bounded.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::entry::Stored;
use crate::key::Key;
use crate::locks::Lock;

/// The write queue, in the order in which results arrived.
#[derive(Debug)]
pub(crate) struct Uploads {
    most_bytes: u64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    results: VecDeque<(Key, Stored)>,
    /// Bytes of the results that are waiting or being written.
    bytes: u64,
    dropped: u64,
    writers: usize,
}

impl Uploads {
    pub(crate) fn new(most_bytes: u64) -> Self {
        Self {
            most_bytes,
            inner: Mutex::default(),
        }
    }

    /// Adds a result, or drops it if there is no room. Returns whether the caller must start another writer.
    pub(crate) fn push(&self, key: Key, stored: Stored) -> bool {
        let mut inner = self.inner.locked();
        let weight = stored.entry.weight();
        if inner.results.len() >= MOST_WAITING || inner.bytes + weight > self.most_bytes {
            inner.dropped += 1;
            return false;
        }
        inner.bytes += weight;
        inner.results.push_back((key, stored));
        let needs_writer = inner.writers < WRITERS;
        inner.writers += usize::from(needs_writer);
        needs_writer
    }

    /// Returns the next result for a writer to upload. The writer must call [`Uploads::finish`] for it. `None` means
    /// that the queue is empty, and that the writer no longer counts as running.
    pub(crate) fn next(&self) -> Option<(Key, Stored)> {
        let mut inner = self.inner.locked();
        let next = inner.results.pop_front();
        if next.is_none() {
            inner.writers -= 1;
        }
        next
    }

    /// Stops counting the bytes of a result that is written or given up.
    pub(crate) fn finish(&self, stored: &Stored, is_written: bool) {
        let mut inner = self.inner.locked();
        inner.bytes -= stored.entry.weight();
        inner.dropped += u64::from(!is_written);
    }

    /// Counts a result that was not queued at all as dropped.
    pub(crate) fn drop_one(&self) {
        self.inner.locked().dropped += 1;
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.inner.locked().writers == 0
    }

    /// Returns the bytes of the results that are waiting or being written, and the number of results dropped so far.
    pub(crate) fn usage(&self) -> (u64, u64) {
        let inner = self.inner.locked();
        (inner.bytes, inner.dropped)
    }
}

/// Maximum number of results in the upload queue.
const MOST_WAITING: usize = 1000;
/// Maximum number of concurrent uploads to the store.
const WRITERS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::stored;

    #[test]
    fn what_waits_is_bounded_in_bytes_and_in_number_and_the_rest_is_counted() {
        let key = Key::of(&["k"]);
        let weight = stored("", 1 << 20).entry.weight();
        let uploads = Uploads::new(3 * weight);
        let starts = [(); 5].map(|()| uploads.push(key, stored("", 1 << 20)));
        assert_eq!(starts, [true, true, true, false, false]);
        assert_eq!(uploads.usage(), (3 * weight, 2));

        // One that is being written still counts.
        let (_, writing) = uploads.next().expect("one");
        assert!(!uploads.push(key, stored("", 1 << 20)));
        uploads.finish(&writing, true);
        assert!(uploads.push(key, stored("", 1 << 20)), "the fourth writer");
        assert_eq!(uploads.usage(), (3 * weight, 3));

        let small = Uploads::new(u64::MAX);
        for _ in 0..MOST_WAITING + 7 {
            small.push(key, stored("", 0));
        }
        assert_eq!(small.usage().1, 7);
        assert!(!small.is_idle());
    }
}
