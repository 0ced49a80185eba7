//! A table in memory: values by key, within a limit, some for a limited time.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::locks::Shared;
use crate::sieve::Sieve;

/// A table of values by key. The sum of their weights never exceeds the limit: values that were not used lately are
/// evicted to make room. A value may also expire. It is then no longer found, but its weight counts until it is
/// evicted, replaced or removed. Time is measured by the monotonic clock, which cannot be set.
#[derive(Debug)]
pub struct Table<K, V> {
    weight: fn(&V) -> u64,
    limit: AtomicU64,
    sieve: RwLock<Sieve<K, Item<V>>>,
    evictions: AtomicU64,
}

#[derive(Debug)]
struct Item<V> {
    value: V,
    /// When the value expires. `None` if it does not.
    until: Option<Instant>,
}

impl<K: Clone + Eq + Hash, V: Clone> Table<K, V> {
    /// Creates a table of at most `most` values.
    pub fn new(most: u64) -> Self {
        Self::weighing(most, |_| 1)
    }

    /// Creates a table of values whose weights, which `weight` returns, are at most `limit` in total.
    pub fn weighing(limit: u64, weight: fn(&V) -> u64) -> Self {
        Self {
            weight,
            limit: AtomicU64::new(limit),
            sieve: RwLock::new(Sieve::new()),
            evictions: AtomicU64::new(0),
        }
    }

    /// Returns the value of a key.
    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let sieve = self.sieve.reading();
        let item = sieve.get(key)?;
        item.remaining().map(|_| item.value.clone())
    }

    /// Returns the time until the value of this key expires, [`Duration::MAX`] if it does not expire. `None` if there
    /// is no value.
    pub fn left<Q>(&self, key: &Q) -> Option<Duration>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.sieve.reading().get(key)?.remaining()
    }

    /// Stores a value, replacing an older value of the key. A value heavier than the whole limit is not stored, but the
    /// older value is removed all the same.
    pub fn insert(&self, key: K, value: V) {
        self.put(key, Item { value, until: None });
    }

    /// Stores a value like [`Table::insert`], but only for the time `span`. Does nothing if that is zero.
    pub fn insert_for(&self, key: K, value: V, span: Duration) {
        if !span.is_zero() {
            self.put(key, Item::lasting(value, span));
        }
    }

    /// Stores a value for the time `span`, unless the key has a value already, which is then returned.
    pub fn claim(&self, key: K, value: V, span: Duration) -> Option<V> {
        let mut sieve = self.sieve.writing();
        if let Some(item) = sieve.get(&key)
            && item.remaining().is_some()
        {
            return Some(item.value.clone());
        }
        let garbage = self.put_in(&mut sieve, key, Item::lasting(value, span));
        drop((sieve, garbage));
        None
    }

    /// Removes a value and returns it, even if it has expired.
    pub fn remove<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let item = self.sieve.writing().remove(key)?;
        Some(item.value)
    }

    /// Removes all values.
    pub fn clear(&self) {
        self.retain(|_, _| false);
    }

    /// Removes all values for which `keep` returns `false`.
    pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool) {
        let garbage = (self.sieve.writing()).retain(|key, item| keep(key, &item.value));
        drop(garbage);
    }

    /// Returns the limit of the weights.
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the limit of the weights, and evicts values down to it.
    pub fn resize(&self, limit: u64) {
        let mut sieve = self.sieve.writing();
        // Set under the lock, so that the next insertion uses the new limit.
        self.limit.store(limit, Ordering::Relaxed);
        let mut garbage = Vec::new();
        self.make_room(&mut sieve, limit, &mut garbage);
        drop((sieve, garbage));
    }

    /// Returns the number of values, the sum of their weights, and the number of evictions so far.
    pub fn usage(&self) -> (u64, u64, u64) {
        let sieve = self.sieve.reading();
        let evictions = self.evictions.load(Ordering::Relaxed);
        (sieve.len() as u64, sieve.weight(), evictions)
    }

    fn put(&self, key: K, item: Item<V>) {
        let mut sieve = self.sieve.writing();
        let garbage = self.put_in(&mut sieve, key, item);
        drop((sieve, garbage));
    }

    /// Stores an item, unless it is heavier than the limit, and evicts others to make room. Returns all items that were
    /// replaced, evicted or refused. The caller should drop them after it has released the lock on `sieve`, because
    /// freeing large values takes time.
    fn put_in(&self, sieve: &mut Sieve<K, Item<V>>, key: K, item: Item<V>) -> Vec<Item<V>> {
        let mut garbage: Vec<_> = sieve.remove(&key).into_iter().collect();
        let (limit, weight) = (self.limit(), (self.weight)(&item.value));
        if weight <= limit {
            self.make_room(sieve, limit - weight, &mut garbage);
            sieve.insert(key, item, weight);
        } else {
            garbage.push(item);
        }
        garbage
    }

    /// Moves items to `garbage` until the remaining ones weigh at most `most`.
    fn make_room(&self, sieve: &mut Sieve<K, Item<V>>, most: u64, garbage: &mut Vec<Item<V>>) {
        while sieve.weight() > most {
            let Some(victim) = sieve.victim() else { break };
            garbage.extend(sieve.remove(&victim));
            self.evictions.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<V> Item<V> {
    fn lasting(value: V, span: Duration) -> Self {
        let until = Instant::now().checked_add(span);
        Self { value, until }
    }

    /// Returns the time until the value expires, or `None` if it has expired.
    fn remaining(&self) -> Option<Duration> {
        let Some(until) = self.until else {
            return Some(Duration::MAX);
        };
        let remaining = until.saturating_duration_since(Instant::now());
        (!remaining.is_zero()).then_some(remaining)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn what_is_used_stays_and_the_rest_is_forgotten() {
        let table: Table<Arc<str>, _> = Table::new(10);
        table.insert("used".into(), 0);
        table.insert("unused".into(), 0);
        for number in 1..100 {
            table.insert(number.to_string().into(), number);
            assert_eq!(table.get("used"), Some(0), "after {number}");
        }
        assert_eq!(table.get("99"), Some(99));
        assert_eq!(table.get("unused"), None);
        assert_eq!(table.usage(), (10, 10, 91));
    }

    #[test]
    fn a_value_goes_for_each_that_comes_even_if_all_are_used() {
        let table = Table::new(100);
        for number in 0..1000 {
            table.insert(number, number);
            for earlier in 0..=number {
                table.get(&earlier);
            }
            let here = 100.min(number + 1);
            assert_eq!(table.usage(), (here, here, number + 1 - here));
        }
    }

    #[test]
    fn a_key_has_its_last_value() {
        let table = Table::new(2);
        for value in 0..5 {
            table.insert("same", value);
            assert_eq!(table.get("same"), Some(value));
        }
        assert_eq!(table.usage(), (1, 1, 0));
    }

    #[test]
    fn only_the_first_claims_and_what_is_forgotten_is_free_again() {
        let table = Table::new(9);
        assert_eq!(table.claim("a", 1, LONG), None);
        assert_eq!(table.claim("a", 2, LONG), Some(1));
        assert_eq!(table.get("a"), Some(1));
        table.remove("a");
        assert_eq!(table.get("a"), None);
        table.insert_for("a", 3, Duration::ZERO);
        assert_eq!(table.get("a"), None);
        assert_eq!(table.claim("a", 4, Duration::MAX), None);
        table.clear();
        assert_eq!((table.get("a"), table.usage().0), (None, 0));
    }

    #[test]
    fn a_value_is_found_until_it_expires_and_can_then_be_claimed() {
        let (table, short) = (Table::new(9), Duration::from_millis(20));
        table.insert("for ever", 0);
        table.insert_for("long", 1, LONG);
        assert_eq!(table.left("for ever"), Some(Duration::MAX));
        assert!(table.left("long").is_some_and(|left| left <= LONG));
        table.insert_for("short", 2, short);
        std::thread::sleep(short);
        assert_eq!((table.get("short"), table.left("short")), (None, None));
        assert_eq!(table.get("long"), Some(1));
        assert_eq!(table.claim("short", 3, LONG), None);
        assert_eq!(table.get("short"), Some(3));
    }

    #[test]
    fn what_weighs_nothing_is_not_evicted_for_what_does() {
        let table = Table::weighing(10, |weight: &u64| *weight);
        table.insert("nothing", 0);
        for number in 0..100 {
            table.insert(["a", "b", "c"][number % 3], 6);
        }
        assert_eq!(table.get("nothing"), Some(0));
        table.resize(0);
        assert_eq!(table.usage().0, 1);
    }

    proptest! {
        #[test]
        fn it_never_holds_more_than_its_limit(
            limits in prop::array::uniform2(0..100_000u64),
            puts in prop::collection::vec((0..30u32, 0..20_000u64), 0..100),
        ) {
            let table = Table::weighing(limits[0], |weight: &u64| *weight);
            for (key, weight) in puts {
                table.insert(key, weight);
                prop_assert!(table.usage().1 <= limits[0]);
                prop_assert_eq!(table.get(&key), (weight <= limits[0]).then_some(weight));
            }
            table.resize(limits[1]);
            prop_assert!(table.usage().1 <= limits[1]);
        }
    }
}
