//! Whether there is a next request, and whether it counts.

use std::sync::atomic::{AtomicU64, Ordering};

use super::course::{Course, Phase};

/// Asked before each request.
pub(super) trait Stop: Send + Sync + 'static {
    /// Whether to send a further request.
    fn next(&self, course: &Course) -> Next;
}

/// Whether a worker sends a further request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send, and count it if so.
    Send {
        /// Was it admitted to the window?
        counts: bool,
    },
    /// The worker's work is done.
    Finish,
}

/// Ends with the course: what counts is decided by time.
pub(super) struct AtEnd;

impl Stop for AtEnd {
    fn next(&self, course: &Course) -> Next {
        match course.phase() {
            Phase::Warmup => Next::Send { counts: false },
            Phase::Measure => Next::Send { counts: true },
            Phase::End => Next::Finish,
        }
    }
}

/// Ends when so many requests have been admitted to the window.
pub(super) struct AfterRequests {
    admitted: AtomicU64,
    total: u64,
}

impl AfterRequests {
    pub(super) fn new(total: u64) -> Self {
        Self {
            admitted: AtomicU64::new(0),
            total,
        }
    }
}

impl Stop for AfterRequests {
    fn next(&self, course: &Course) -> Next {
        match course.phase() {
            Phase::Warmup => Next::Send { counts: false },
            Phase::Measure if self.admitted.fetch_add(1, Ordering::Relaxed) < self.total => {
                Next::Send { counts: true }
            }
            Phase::Measure | Phase::End => Next::Finish,
        }
    }
}
