//! The memory tier: the entries in most demand, limited to a number of bytes.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::entry::Stored;
use crate::key::Key;
use crate::locks::Shared;
use crate::sieve::Sieve;

/// Entries in the memory of this process. The sum of their weights never exceeds the limit.
#[derive(Debug)]
pub(crate) struct Memory {
    limit: AtomicU64,
    sieve: RwLock<Sieve<Stored>>,
    evictions: AtomicU64,
}

impl Memory {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            limit: AtomicU64::new(limit),
            sieve: RwLock::new(Sieve::new()),
            evictions: AtomicU64::new(0),
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Stored> {
        self.sieve.reading().get(key).cloned()
    }

    /// Stores an entry, replacing an older value of the key. An entry larger than the whole limit is not stored, but
    /// the older value is removed all the same.
    pub(crate) fn put(&self, key: Key, stored: Stored) {
        let weight = stored.entry.weight();
        // Room is made under the same lock, so that no moment sees the sum above the limit. What
        // leaves is dropped after the lock is: freeing large bodies takes time.
        let mut gone = Vec::new();
        let mut sieve = self.sieve.writing();
        gone.extend(sieve.remove(&key));
        let limit = self.limit();
        if weight <= limit {
            self.make_room(&mut sieve, limit - weight, &mut gone);
            sieve.insert(key, stored, weight);
        }
        drop(sieve);
    }

    /// Returns the size limit in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the size limit in bytes, and evicts entries down to it.
    pub(crate) fn resize(&self, limit: u64) {
        let mut gone = Vec::new();
        let mut sieve = self.sieve.writing();
        // Under the lock: whoever puts next goes by the new limit.
        self.limit.store(limit, Ordering::Relaxed);
        self.make_room(&mut sieve, limit, &mut gone);
        drop(sieve);
    }

    /// Moves entries to `gone` until those that remain take at most `most` bytes.
    fn make_room(&self, sieve: &mut Sieve<Stored>, most: u64, gone: &mut Vec<Stored>) {
        while sieve.weight() > most {
            let Some(victim) = sieve.victim() else { break };
            gone.extend(sieve.remove(&victim));
            self.evictions.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes all entries for which `keep` returns `false`.
    pub(crate) fn retain(&self, mut keep: impl FnMut(&Key, &Stored) -> bool) {
        self.sieve.writing().retain(|key, stored| keep(key, stored));
    }

    /// Returns the number of entries, their size in bytes, and the number of evictions so far.
    pub(crate) fn usage(&self) -> (u64, u64, u64) {
        let sieve = self.sieve.reading();
        let evictions = self.evictions.load(Ordering::Relaxed);
        (sieve.len() as u64, sieve.weight(), evictions)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::entry::stored;

    proptest! {
        #[test]
        fn it_never_holds_more_than_its_limit(
            limit in 0..100_000u64,
            puts in prop::collection::vec((0..30u32, 0..20_000usize), 0..100),
        ) {
            let memory = Memory::new(limit);
            for (n, len) in puts {
                let key = Key::of(&[n.to_string()]);
                memory.put(key, stored("", len));
                let (entries, bytes, _) = memory.usage();
                prop_assert!(bytes <= limit);
                prop_assert!(bytes >= entries * stored("", 0).entry.weight());
                let kept = memory.get(&key).map(|found| found.entry.body.len());
                let fits = stored("", len).entry.weight() <= limit;
                prop_assert_eq!(kept, fits.then_some(len));
            }
        }
    }
}
