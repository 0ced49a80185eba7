//! Thread priorities: which threads run first when several need a core.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Raises this thread's niceness above that of the process, so that the threads that respond with hits and rejections
/// preempt it.
pub(crate) fn yield_to_replies(above: i32) {
    let process = rustix::process::getpriority_process(Some(rustix::process::getpid()));
    let niceness = process.unwrap_or(0) + above;
    // If the system does not permit this, all threads have the same priority.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), niceness.min(19));
}

/// Number of worker threads that are running a job, in all servers of this process, which share its cores.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// Whether a worker thread is running a job. If one is, a thread that yields its core gets it back only milliseconds
/// later.
pub(crate) fn pixels_are_made() -> bool {
    WORKING.load(Ordering::Relaxed) > 0
}

/// Counts a worker thread as working while this value exists.
pub(super) struct Working(());

impl Working {
    pub(super) fn begin() -> Self {
        WORKING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        WORKING.fetch_sub(1, Ordering::Relaxed);
    }
}
