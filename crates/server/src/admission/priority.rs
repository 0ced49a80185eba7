//! Thread priorities: which threads go first when several want a core.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Raises this thread's niceness above the process's, so that the threads that answer hits and rejections preempt it.
pub(crate) fn yield_to_replies(above: i32) {
    let process = rustix::process::getpriority_process(Some(rustix::process::getpid()));
    let niceness = process.unwrap_or(0) + above;
    // Where a system does not let it, everybody has the same priority.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), niceness.min(19));
}

/// Worker threads that are running a job, counted over all servers in this process, which share its cores.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// Whether a worker thread is running a job. If so, a thread that yields its core gets it back only milliseconds later.
pub(crate) fn pixels_are_made() -> bool {
    WORKING.load(Ordering::Relaxed) > 0
}

/// Counts a worker thread as working for as long as this value lives.
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
