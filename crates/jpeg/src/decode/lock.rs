//! Locks that outlast a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex even if a thread panicked while it held the lock. That is safe because the data are valid at every
/// point where a panic is possible: coefficients may have any value, and an element that was taken is gone from its
/// list.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
