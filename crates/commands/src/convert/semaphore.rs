//! A limit on the number of threads that work at the same time, for jobs with additional threads that wait for the
//! network.

use std::sync::{Condvar, Mutex, PoisonError};

/// A semaphore that lets up to a fixed number of threads work at the same time.
pub(super) struct Semaphore {
    free: Mutex<usize>,
    vacancy: Condvar,
}

impl Semaphore {
    pub(super) fn new(most: usize) -> Self {
        Self {
            free: Mutex::new(most),
            vacancy: Condvar::new(),
        }
    }

    /// Runs `work`, after waiting until the number of threads that run here is below the limit.
    pub(super) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        /// Releases the slot when dropped, which also happens during a panic.
        struct Leave<'a>(&'a Semaphore);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                self.0.vacancy.notify_one();
            }
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self
                .vacancy
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        drop(free);
        let _leave = Leave(self);
        work()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_than_that_are_inside_and_all_get_in() {
        let semaphore = Semaphore::new(2);
        let (inside, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        andon_batch::each(8, 200, |_| {
            semaphore.run(|| {
                assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                std::thread::yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
            });
            passed.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(passed.into_inner(), 200);
    }
}
