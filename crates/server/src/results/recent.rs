//! A small memory for what was used most recently, whose ceiling needs no bookkeeping per use.

use std::collections::HashMap;
use std::mem;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Values by text, in two generations: when the young one is full it becomes the old one, and what is
/// in the old one is forgotten, unless it was used since.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    /// Of one generation.
    most: usize,
    generations: RwLock<Generations<V>>,
}

#[derive(Debug)]
struct Generations<V> {
    young: HashMap<Box<str>, V>,
    old: HashMap<Box<str>, V>,
}

impl<V: Clone> Recent<V> {
    /// Holds at most `2 * most` values.
    pub(crate) fn new(most: usize) -> Self {
        let generations = RwLock::new(Generations {
            young: HashMap::new(),
            old: HashMap::new(),
        });
        Self { most, generations }
    }

    pub(crate) fn get(&self, text: &str) -> Option<V> {
        let value = {
            let generations = self.reading();
            if let Some(value) = generations.young.get(text) {
                return Some(value.clone());
            }
            generations.old.get(text).cloned()
        };
        if let Some(value) = &value {
            self.remember(text, value.clone());
        }
        value
    }

    pub(crate) fn remember(&self, text: &str, value: V) {
        let mut generations = self.writing();
        let forgotten = (generations.young.len() >= self.most).then(|| {
            let young = mem::take(&mut generations.young);
            mem::replace(&mut generations.old, young)
        });
        generations.young.insert(text.into(), value);
        drop(generations);
        // Thousands of values: nobody should wait for their end.
        drop(forgotten);
    }

    /// No code panics while it holds the lock.
    fn reading(&self) -> RwLockReadGuard<'_, Generations<V>> {
        self.generations
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self) -> RwLockWriteGuard<'_, Generations<V>> {
        self.generations
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

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
        let generations = recent.reading();
        assert!(generations.young.len() + generations.old.len() <= 20);
    }
}
