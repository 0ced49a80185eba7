//! Results that are being made.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use andon_cache::Key;

/// Keys of the results that are being made, from their place in the queue until they are complete.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(Mutex<HashSet<Key>>);

/// Marks a result as being made until this is dropped.
#[derive(Debug)]
pub(super) struct Making {
    all: Arc<UnderWay>,
    result: Key,
}

impl UnderWay {
    /// Marks a result as being made; `None` if it already is.
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
