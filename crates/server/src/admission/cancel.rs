//! Cancellation of work whose result nobody needs any more.

use std::sync::atomic::{AtomicBool, Ordering};

use andon_cache::Deadline;
use andon_pixels::Interrupt;

/// Tells a job that its result is no longer needed. The token is cancelled when the job's deadline passes or its client
/// disconnects.
#[derive(Debug)]
pub(crate) struct CancelToken {
    is_cancelled: AtomicBool,
    deadline: Deadline,
}

impl CancelToken {
    /// Creates a token that is cancelled at `deadline` at the latest.
    pub(crate) fn until(deadline: impl Into<Deadline>) -> Self {
        Self {
            is_cancelled: AtomicBool::new(false),
            deadline: deadline.into(),
        }
    }

    pub(super) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Cancels the token, because no client waits for the result any more.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

impl Interrupt for CancelToken {
    fn interrupted(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || self.deadline.has_passed()
    }
}
