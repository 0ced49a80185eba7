//! Small values that are remembered for a short time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use andon_cache::Key;

/// Values by key, each forgotten after its own time span. Time is measured by the monotonic clock, which cannot be set.
#[derive(Debug)]
pub(crate) struct Memo<V>(Mutex<HashMap<Key, (Instant, V)>>);

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<V: Clone> Memo<V> {
    /// Returns the value and how much longer it is remembered.
    pub(crate) fn get(&self, key: &Key) -> Option<(V, Duration)> {
        let (until, value) = self.lock().get(key)?.clone();
        let left = until.checked_duration_since(Instant::now())?;
        (!left.is_zero()).then_some((value, left))
    }

    /// Remembers a value for `span`.
    pub(crate) fn remember(&self, key: Key, value: V, span: Duration) {
        if !span.is_zero() {
            let mut all = self.lock();
            make_room(&mut all);
            all.insert(key, (Instant::now() + span, value));
        }
    }

    /// Remembers a value unless there is one already. Returns whether it did.
    pub(crate) fn claim(&self, key: Key, value: V, span: Duration) -> bool {
        let mut all = self.lock();
        let now = Instant::now();
        if all.get(&key).is_some_and(|(until, _)| *until > now) {
            return false;
        }
        make_room(&mut all);
        all.insert(key, (now + span, value));
        true
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// Locks the values. A poisoned lock is used all the same: no code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, (Instant, V)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the expired values if there are too many, or all values if that is not enough. Forgetting too early costs a
/// look at a file or a fetch, and is always correct.
fn make_room<V>(all: &mut HashMap<Key, (Instant, V)>) {
    if all.len() >= MOST {
        let now = Instant::now();
        all.retain(|_, (until, _)| *until > now);
        if all.len() >= MOST {
            all.clear();
        }
    }
}

const MOST: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn only_the_first_claims_and_what_is_forgotten_is_free_again() {
        let memo = Memo::default();
        let key = Key::of(&["a"]);
        assert!(memo.claim(key, 1, LONG));
        assert!(!memo.claim(key, 2, LONG));
        assert_eq!(memo.get(&key).unwrap().0, 1);
        memo.forget(&key);
        assert!(memo.get(&key).is_none());
        memo.remember(key, 3, Duration::ZERO);
        assert!(memo.get(&key).is_none());
    }

    #[test]
    fn it_never_grows_past_its_ceiling() {
        let memo = Memo::default();
        for number in 0..2 * MOST {
            memo.remember(Key::of(&[number.to_string()]), (), LONG);
        }
        assert!(memo.lock().len() <= MOST);
    }
}
