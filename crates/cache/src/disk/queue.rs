//! Queue of entries waiting to be written to disk. Look-ups find queued entries as well. The queue is limited in bytes:
//! if the disk cannot keep up, entries are dropped, and memory use stays bounded.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::entry::Stored;
use crate::key::Key;
use crate::locks::Lock;

/// Maximum bytes in the queue of entries that wait to be written.
const LIMIT: u64 = 32 << 20;

/// The write queue: the newest value of each key, in the order in which the keys arrived.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    order: VecDeque<Key>,
    entries: HashMap<Key, Stored>,
    bytes: u64,
    dropped: u64,
    has_writer: bool,
}

impl Queue {
    /// Adds an entry, or drops it if there is no room.
    pub(crate) fn push(&self, key: Key, stored: Stored) {
        let mut inner = self.inner.locked();
        let old_weight = inner.entries.get(&key).map(|old| old.entry.weight());
        let bytes = inner.bytes - old_weight.unwrap_or(0) + stored.entry.weight();
        if bytes > LIMIT {
            inner.dropped += 1;
            return;
        }
        inner.bytes = bytes;
        inner.entries.insert(key, stored);
        // A key that is queued already keeps its turn. One that is being written right now is queued again.
        if old_weight.is_none() || !inner.order.contains(&key) {
            inner.order.push_back(key);
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Stored> {
        self.inner.locked().entries.get(key).cloned()
    }

    /// Makes the caller the writer if there are entries to write and there is no writer. Returns whether it did.
    pub(crate) fn appoint_writer(&self) -> bool {
        let mut inner = self.inner.locked();
        let appointed = !inner.has_writer && !inner.order.is_empty();
        inner.has_writer |= appointed;
        appointed
    }

    /// Returns the next entry for the writer to write. Look-ups find it until [`Queue::finish`]. `None` means that the
    /// queue is empty, and that the writer no longer counts as running, so that [`Queue::appoint_writer`] appoints a
    /// new one for later entries.
    pub(crate) fn next(&self) -> Option<(Key, Stored)> {
        let mut inner = self.inner.locked();
        while let Some(key) = inner.order.pop_front() {
            if let Some(stored) = inner.entries.get(&key) {
                return Some((key, stored.clone()));
            }
        }
        inner.has_writer = false;
        None
    }

    /// Removes a value that is now on disk. A newer value of the key that arrived meanwhile stays queued.
    pub(crate) fn finish(&self, key: &Key, written: &Stored) {
        let mut inner = self.inner.locked();
        let is_newest = |newest: &Stored| Arc::ptr_eq(&newest.entry, &written.entry);
        if inner.entries.get(key).is_some_and(is_newest) {
            inner.entries.remove(key);
            inner.bytes -= written.entry.weight();
        }
    }

    /// Drops all entries, because writing to the disk has failed.
    pub(crate) fn give_up(&self) {
        let mut inner = self.inner.locked();
        inner.dropped += inner.entries.len() as u64;
        inner.entries.clear();
        inner.order.clear();
        inner.bytes = 0;
    }

    pub(crate) fn has_writer(&self) -> bool {
        self.inner.locked().has_writer
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inner.locked().entries.is_empty()
    }

    /// Returns the number of queued bytes, and how many entries have been dropped so far.
    pub(crate) fn usage(&self) -> (u64, u64) {
        let inner = self.inner.locked();
        (inner.bytes, inner.dropped)
    }
}
