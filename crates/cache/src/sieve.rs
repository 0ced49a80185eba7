//! The SIEVE algorithm, which selects the entries to evict.
//!
//! Entries are kept in the order of their arrival. A hand moves from the oldest to the newest. An entry that was used
//! since the hand's last visit is spared once, one that was not is evicted. A look-up only sets a flag, so it needs no
//! exclusive lock, and images requested only once are evicted before popular ones. (Zhang et al., "SIEVE is Simpler
//! than LRU", NSDI 2024.)
//!
//! No library can replace it. The index of the disk tier needs a victim that stays counted until its file is removed,
//! but the caches of the `quick_cache` and `moka` crates evict by themselves. The tables in memory promise exact limits
//! and accept an entry as heavy as the whole limit. `quick_cache` divides its limit among shards, refuses entries that
//! are heavier than the part of a shard for frequent ones, and also stores the hashes of evicted keys.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

use slab::Slab;

/// Values with weights, and the order in which they are evicted. Computes the sum of the weights, but its owner must
/// enforce a limit.
#[derive(Debug)]
pub(crate) struct Sieve<K, V> {
    places: HashMap<K, usize>,
    slots: Slab<Slot<K, V>>,
    newest: Option<usize>,
    oldest: Option<usize>,
    hand: Option<usize>,
    weight: u64,
}

#[derive(Debug)]
struct Slot<K, V> {
    key: K,
    value: V,
    weight: u64,
    is_used: AtomicBool,
    newer: Option<usize>,
    older: Option<usize>,
}

impl<K: Clone + Eq + Hash, V> Sieve<K, V> {
    pub(crate) fn new() -> Self {
        Self {
            places: HashMap::new(),
            slots: Slab::new(),
            newest: None,
            oldest: None,
            hand: None,
            weight: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the sum of all weights.
    pub(crate) const fn weight(&self) -> u64 {
        self.weight
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.places.contains_key(key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.places.keys()
    }

    /// Looks up a value and marks it as used, so that the next search for a victim passes over it.
    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let slot = &self.slots[*self.places.get(key)?];
        slot.is_used.store(true, Ordering::Relaxed);
        Some(&slot.value)
    }

    /// Inserts a value as the newest, replacing an older value of the key.
    pub(crate) fn insert(&mut self, key: K, value: V, weight: u64) {
        self.remove(&key);
        let place = self.slots.insert(Slot {
            key: key.clone(),
            value,
            weight,
            is_used: AtomicBool::new(false),
            newer: None,
            older: self.newest,
        });
        match self.newest {
            Some(newest) => self.slots[newest].newer = Some(place),
            None => self.oldest = Some(place),
        }
        self.newest = Some(place);
        self.places.insert(key, place);
        self.weight += weight;
    }

    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let place = self.places.remove(key)?;
        let slot = self.slots.remove(place);
        let (newer, older) = (slot.newer, slot.older);
        match newer {
            Some(newer) => self.slots[newer].older = older,
            None => self.newest = older,
        }
        match older {
            Some(older) => self.slots[older].newer = newer,
            None => self.oldest = newer,
        }
        if self.hand == Some(place) {
            self.hand = newer;
        }
        self.weight -= slot.weight;
        Some(slot.value)
    }

    /// Selects the entry to evict next, without removing it: until it is used or passed to `remove`, later calls return
    /// the same key. Passes over entries with weight 0 and, once, entries that were used since the last search came to
    /// them, but over no more than [`MOST_SPARED`] entries per call.
    pub(crate) fn victim(&mut self) -> Option<K> {
        let mut place = self.hand.or(self.oldest)?;
        for _ in 0..MOST_SPARED {
            let slot = &mut self.slots[place];
            let is_used = std::mem::take(slot.is_used.get_mut());
            if !is_used && slot.weight > 0 {
                break;
            }
            place = slot.newer.or(self.oldest)?;
        }
        self.hand = Some(place);
        Some(self.slots[place].key.clone())
    }

    /// Removes all entries for which `keep` returns `false`, and returns their values.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) -> Vec<V> {
        let slots = self.slots.iter().map(|(_, slot)| slot);
        let slots = slots.filter(|slot| !keep(&slot.key, &slot.value));
        let keys: Vec<K> = slots.map(|slot| slot.key.clone()).collect();
        keys.iter().filter_map(|key| self.remove(key)).collect()
    }
}

/// Maximum number of entries that one search for a victim passes over, so that an eviction from a large table takes
/// microseconds even if all entries were used.
const MOST_SPARED: usize = 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::Key;

    fn key(n: u32) -> Key {
        Key::of(&[n.to_string()])
    }

    #[test]
    fn an_entry_used_since_the_last_visit_is_spared_once() {
        let mut sieve = Sieve::new();
        for n in 0..3 {
            sieve.insert(key(n), n, 1);
        }
        sieve.get(&key(0));
        assert_eq!(sieve.victim(), Some(key(1)));
        sieve.remove(&key(1));
        assert_eq!(sieve.victim(), Some(key(2)));
        sieve.remove(&key(2));
        assert_eq!(sieve.victim(), Some(key(0)));
        sieve.remove(&key(0));
        assert_eq!(sieve.victim(), None);
    }

    #[test]
    fn popular_entries_outlive_a_long_row_of_one_time_wishes() {
        let mut sieve = Sieve::new();
        for n in 0..10 {
            sieve.insert(key(n), n, 1);
        }
        for n in 100..1100 {
            for popular in 0..5 {
                sieve.get(&key(popular));
            }
            let victim = sieve.victim().expect("there are ten");
            sieve.remove(&victim);
            sieve.insert(key(n), n, 1);
        }
        assert!((0..5).all(|n| sieve.contains(&key(n))));
    }

    #[test]
    fn a_place_left_is_used_again() {
        let mut sieve = Sieve::new();
        for n in 0..1000 {
            sieve.insert(key(n), n, 1);
            sieve.remove(&key(n));
        }
        assert_eq!(
            (sieve.slots.vacant_key(), sieve.len(), sieve.weight()),
            (0, 0, 0)
        );
    }

    proptest! {
        /// Compares a `Sieve` with a plain map: nothing is lost, duplicated or miscounted, whatever the order of
        /// operations.
        #[test]
        fn it_holds_exactly_what_was_put_in_and_not_taken_out(
            steps in prop::collection::vec((0..5u8, 0..20u32, 0..100u64), 0..200)
        ) {
            let mut sieve = Sieve::new();
            let mut model: HashMap<Key, (u32, u64)> = HashMap::new();
            for (step, n, weight) in steps {
                match step {
                    0 | 1 => {
                        sieve.insert(key(n), n, weight);
                        model.insert(key(n), (n, weight));
                    }
                    2 => {
                        let model = model.remove(&key(n)).map(|(n, _)| n);
                        prop_assert_eq!(sieve.remove(&key(n)), model);
                    }
                    3 => {
                        let model = model.get(&key(n)).map(|(n, _)| n);
                        prop_assert_eq!(sieve.get(&key(n)), model);
                    }
                    _ => match sieve.victim() {
                        Some(victim) => {
                            prop_assert!(model.remove(&victim).is_some());
                            sieve.remove(&victim);
                        }
                        None => prop_assert!(model.is_empty()),
                    }
                }
                prop_assert_eq!(sieve.len(), model.len());
                prop_assert_eq!(sieve.weight(), model.values().map(|(_, w)| w).sum::<u64>());
            }
        }
    }
}
