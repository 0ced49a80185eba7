//! Entries on their way to the disk. They can be read from here meanwhile, and they are bounded in
//! bytes: a disk that cannot keep up costs entries, not memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::entry::Stored;
use crate::key::Key;
use crate::locks::Lock;

/// The most bytes that wait.
const LIMIT: u64 = 32 << 20;

/// The queue: the newest value of each key, in the order the keys came.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    order: VecDeque<Key>,
    waiting: HashMap<Key, Stored>,
    bytes: u64,
    dropped: u64,
    has_writer: bool,
}

impl Queue {
    /// Adds an entry, or leaves it out if there is no room.
    pub(crate) fn push(&self, key: Key, stored: Stored) {
        let mut inner = self.inner.locked();
        let before = inner.waiting.get(&key).map(|old| old.entry.weight());
        let bytes = inner.bytes - before.unwrap_or(0) + stored.entry.weight();
        if bytes > LIMIT {
            inner.dropped += 1;
            return;
        }
        inner.bytes = bytes;
        inner.waiting.insert(key, stored);
        // A key that waits already keeps its turn; one that is being written is taken up again.
        if before.is_none() || !inner.order.contains(&key) {
            inner.order.push_back(key);
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Stored> {
        self.inner.locked().waiting.get(key).cloned()
    }

    /// Whether the caller is to be the writer: there is work and nobody does it.
    pub(crate) fn appoint_writer(&self) -> bool {
        let mut inner = self.inner.locked();
        let appointed = !inner.has_writer && !inner.order.is_empty();
        inner.has_writer |= appointed;
        appointed
    }

    /// The writer's next entry, which stays readable until `done`. With `None` the writer is
    /// dismissed, in the same breath: what is pushed later finds a new one.
    pub(crate) fn next(&self) -> Option<(Key, Stored)> {
        let mut inner = self.inner.locked();
        while let Some(key) = inner.order.pop_front() {
            if let Some(stored) = inner.waiting.get(&key) {
                return Some((key, stored.clone()));
            }
        }
        inner.has_writer = false;
        None
    }

    /// This value is on disk; a newer one that came meanwhile goes on waiting.
    pub(crate) fn done(&self, key: &Key, written: &Stored) {
        let mut inner = self.inner.locked();
        let is_newest = |newest: &Stored| Arc::ptr_eq(&newest.entry, &written.entry);
        if inner.waiting.get(key).is_some_and(is_newest) {
            inner.waiting.remove(key);
            inner.bytes -= written.entry.weight();
        }
    }

    /// Drops everything: the disk takes no more.
    pub(crate) fn give_up(&self) {
        let mut inner = self.inner.locked();
        inner.dropped += inner.waiting.len() as u64;
        inner.waiting.clear();
        inner.order.clear();
        inner.bytes = 0;
    }

    pub(crate) fn has_writer(&self) -> bool {
        self.inner.locked().has_writer
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inner.locked().waiting.is_empty()
    }

    /// Bytes waiting, and how many entries were left out so far.
    pub(crate) fn usage(&self) -> (u64, u64) {
        let inner = self.inner.locked();
        (inner.bytes, inner.dropped)
    }
}
