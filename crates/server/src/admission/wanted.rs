//! Whether a piece of work is still wanted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use andon_pixels::Interrupt;

/// Wanted until a deadline, and while its client is there.
#[derive(Debug)]
pub(crate) struct Wanted {
    gone: AtomicBool,
    deadline: Instant,
}

impl Wanted {
    /// Wanted until `deadline`.
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

impl Interrupt for Wanted {
    fn interrupted(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}
