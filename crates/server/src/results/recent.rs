//! A bounded table of recently used texts and what was worked out for them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Values by text, bounded by the CLOCK algorithm: a new value replaces the oldest one that was not used since the
/// clock's hand last passed it. Only one value is evicted at a time, because the thread that does it answers other
/// requests, too.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    most: usize,
    table: RwLock<Table<V>>,
}

#[derive(Debug)]
struct Table<V> {
    values: HashMap<Arc<str>, Value<V>>,
    /// The texts in the order in which the clock's hand passes them.
    clock: VecDeque<Arc<str>>,
}

#[derive(Debug)]
struct Value<V> {
    value: V,
    used: AtomicBool,
}

impl<V: Clone> Recent<V> {
    /// Creates a table that holds at most `most` values.
    pub(crate) fn new(most: usize) -> Self {
        let table = RwLock::new(Table {
            values: HashMap::new(),
            clock: VecDeque::new(),
        });
        Self { most, table }
    }

    // No code panics while it holds the lock.

    pub(crate) fn get(&self, text: &str) -> Option<V> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let found = table.values.get(text)?;
        found.used.store(true, Ordering::Relaxed);
        Some(found.value.clone())
    }

    pub(crate) fn remember(&self, text: &str, value: V) {
        let used = AtomicBool::new(false);
        let value = Value { value, used };
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = table.values.get_mut(text) {
            let former = std::mem::replace(found, value);
            drop((table, former));
            return;
        }
        let forgotten = (table.values.len() >= self.most).then(|| table.forget());
        let text: Arc<str> = text.into();
        table.clock.push_back(text.clone());
        table.values.insert(text, value);
        // Nobody should wait for its end.
        drop((table, forgotten));
    }
}

impl<V> Table<V> {
    fn forget(&mut self) -> Option<Value<V>> {
        for _ in 0..MOST_CHANCES {
            let text = self.clock.pop_front()?;
            let used = self.values.get_mut(&text).map(|it| it.used.get_mut());
            match used {
                Some(used) if *used => *used = false,
                _ => return self.values.remove(&text),
            }
            self.clock.push_back(text);
        }
        let text = self.clock.pop_front()?;
        self.values.remove(&text)
    }
}

/// Maximum number of used values that the clock's hand passes to make room for a new one. Passing so many costs less
/// than a request.
const MOST_CHANCES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_is_forgotten() {
        let recent = Recent::new(10);
        recent.remember("used", 0);
        recent.remember("unused", 0);
        for number in 1..100 {
            recent.remember(&number.to_string(), number);
            assert_eq!(recent.get("used"), Some(0), "after {number}");
        }
        assert_eq!(recent.get("99"), Some(99));
        assert_eq!(recent.get("unused"), None);
        let table = recent.table.read().unwrap();
        assert_eq!((table.values.len(), table.clock.len()), (10, 10));
    }

    #[test]
    fn a_value_goes_for_each_that_comes_even_if_all_are_used() {
        let recent = Recent::new(100);
        for number in 0..1000 {
            recent.remember(&number.to_string(), Arc::new(number));
            for earlier in 0..=number {
                recent.get(&earlier.to_string());
            }
            let table = recent.table.read().unwrap();
            assert_eq!(table.values.len(), table.clock.len());
            assert!(table.values.len() <= 100);
        }
    }

    #[test]
    fn a_text_has_its_last_value() {
        let recent = Recent::new(2);
        for value in 0..5 {
            recent.remember("same", value);
            assert_eq!(recent.get("same"), Some(value));
        }
    }
}
