//! Cancellation: whether a piece of work is still wanted.

use std::sync::atomic::{AtomicBool, Ordering};

use andon_cache::Deadline;
use andon_pixels::Interrupt;

/// Tells a job that it is no longer wanted: it is cancelled when its deadline passes or its client disconnects.
#[derive(Debug)]
pub(crate) struct CancelToken {
    gone: AtomicBool,
    deadline: Deadline,
}

impl CancelToken {
    /// Creates a token that is cancelled at `deadline` at the latest.
    pub(crate) fn until(deadline: impl Into<Deadline>) -> Self {
        Self {
            gone: AtomicBool::new(false),
            deadline: deadline.into(),
        }
    }

    pub(super) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Cancels the token: nobody waits for the work any more.
    pub(super) fn forget(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

impl Interrupt for CancelToken {
    fn interrupted(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || self.deadline.has_passed()
    }
}
