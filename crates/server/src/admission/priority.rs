//! Which threads go first where several want a core.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Raises this thread's niceness, so that the threads that answer hits and rejections preempt it.
pub(crate) fn yield_to_replies(niceness: i32) {
    // Where a system does not let it, everybody has the same priority.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), niceness);
}

/// Pixel threads that run a job, of all servers in the process: they share its cores.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// Is a pixel thread running a job? A thread that yields its core then gets it back milliseconds later.
pub(crate) fn pixels_are_made() -> bool {
    WORKING.load(Ordering::Relaxed) > 0
}

/// Counts a pixel thread while it runs a job.
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
