//! Locks that outlast a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex even if it is poisoned. No code that may panic leaves the data invalid: coefficients may have any
/// value, and what has been taken is simply no longer there.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
