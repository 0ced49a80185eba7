//! Which threads go first where several want a core.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Lowers this thread's priority by so many steps of niceness: clients that wait for a hit or a rejection should not wait
/// for a slice of time that is spent on somebody's picture.
pub(crate) fn yield_to_replies(niceness: i32) {
    // Where a system does not let it, everybody has the same priority.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), niceness);
}

/// Pixel threads that work, of all servers in the process: they share its cores.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// Does a pixel thread work now? Whoever yields its core then yields it for milliseconds.
pub(crate) fn pixels_are_made() -> bool {
    WORKING.load(Ordering::Relaxed) > 0
}

/// Counts a pixel thread while it works.
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
