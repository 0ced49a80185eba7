//! Which threads go first where several want a core.

/// Lowers this thread's priority by so many steps of niceness: clients that wait for a hit or a rejection should not wait
/// for a slice of time that is spent on somebody's picture.
pub(crate) fn yield_to_replies(niceness: i32) {
    // Where a system does not let it, everybody has the same priority.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), niceness);
}
