//! Whether a piece of work is still wanted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use andon_pixels::Interrupt;

/// Cancelled when the deadline passes or the client disconnects.
#[derive(Debug)]
pub(crate) struct CancelToken {
    gone: AtomicBool,
    deadline: Instant,
}

impl CancelToken {
    /// A token that is cancelled at `deadline`, if not sooner.
    pub(crate) fn until(deadline: Instant) -> Self {
        Self {
            gone: AtomicBool::new(false),
            deadline,
        }
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Nobody waits for it any more.
    pub(super) fn forget(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

impl Interrupt for CancelToken {
    fn interrupted(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}
