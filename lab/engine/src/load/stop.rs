//! Decides whether a worker sends another request, and whether it counts.

use std::sync::atomic::{AtomicU64, Ordering};

use super::course::{Course, Phase};

/// Rule for when a worker stops. The worker consults it before each request.
pub(super) trait Stop: Send + Sync + 'static {
    /// Decides whether the worker sends another request.
    fn next(&self, course: &Course) -> Next;
}

/// What a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send another request.
    Send {
        /// Whether the request begins within the measured window and, if the window ends after a number of requests,
        /// is one of that number.
        counts: bool,
    },
    /// End: there is nothing more to send.
    Finish,
}

/// Stops when the load of the block is over. The recorder then decides which requests count, by when each was due or
/// ended.
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

/// Stops when a given number of requests have begun in the measured window.
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
