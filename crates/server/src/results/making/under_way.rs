//! Results that somebody is making.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use andon_cache::Key;

/// The names of results that are being made, from the place in the queue to the last byte.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<HashSet<Key>>);

/// Whoever holds this makes the result.
#[derive(Debug)]
pub(super) struct Making {
    all: Arc<UnderWay>,
    result: Key,
}

impl UnderWay {
    /// Nothing, where somebody makes this result already.
    pub(super) fn begin(self: &Arc<Self>, result: Key) -> Option<Making> {
        let is_first = self.change(|results| results.insert(result));
        is_first.then(|| Making {
            all: self.clone(),
            result,
        })
    }

    // No code panics while it holds the lock.
    fn change<T>(&self, change: impl FnOnce(&mut HashSet<Key>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.all.change(|results| results.remove(&self.result));
    }
}
