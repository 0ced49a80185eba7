//! Runs many pieces of work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use andon_pixels::STACK;

/// Calls `work` once with every number below `count`, in no particular order: on the calling thread and, if `threads`
/// is larger than 1, on up to `threads - 1` others. Returns when all calls have returned.
///
/// # Panics
/// If `work` panics, or if the system cannot start a thread.
pub fn each(threads: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let take = || {
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                number if number < count => work(number),
                _ => break,
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            let thread = thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, take).expect("a thread");
        }
        take();
    });
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::{Barrier, Mutex};

    use super::*;

    #[test]
    fn every_number_is_worked_on_once() {
        for (threads, count) in [(1, 0), (0, 3), (1, 5), (4, 3), (4, 100)] {
            let seen = Mutex::new(Vec::new());
            each(threads, count, |number| seen.lock().unwrap().push(number));
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (0..count).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn as_many_threads_as_asked_for_work_at_once() {
        // Nobody passes the barrier before three have reached it.
        let barrier = Barrier::new(3);
        let threads = Mutex::new(HashSet::new());
        each(3, 3, |_| {
            barrier.wait();
            threads.lock().unwrap().insert(thread::current().id());
        });
        let threads = threads.into_inner().unwrap();
        assert_eq!(threads.len(), 3);
        assert!(threads.contains(&thread::current().id()));
    }
}
