//! Steps of a few nanoseconds that reading a document may take, in us and again in `usvg`.

use std::cell::Cell;

use andon_pixels::Result;

use super::document::unsupported;

/// Some 10 ns each, which leaves a third of the time for reading to curves.
const MOST: u64 = 40_000_000;

/// Counts down. Whoever walks something takes steps, and stops when none are left.
pub(super) struct Steps(Cell<u64>);

impl Steps {
    pub(super) fn new() -> Self {
        Self(Cell::new(MOST))
    }

    /// Takes `count` steps. False: there were not as many left.
    pub(super) fn take(&self, count: u64) -> bool {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    pub(super) fn left(&self) -> u64 {
        self.0.get()
    }

    /// Takes `count` steps, or refuses the document because of `what`.
    pub(super) fn spend(&self, count: u64, what: &str) -> Result<()> {
        match self.take(count) {
            true => Ok(()),
            false => Err(unsupported(format!("{what} that take too long to read"))),
        }
    }
}
