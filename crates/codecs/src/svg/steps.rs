//! A budget of steps for reading a document. Each step is a few nanoseconds of work, once in this crate and again in
//! `usvg`.

use std::cell::Cell;

use andon_pixels::Result;

use super::document::unsupported;

/// Maximum number of steps. They take about 10 ns each, which leaves a third of the reading time for curves.
const MOST: u64 = 40_000_000;

/// Counts down the steps that are left. Code that walks a document spends steps and stops when none are left.
pub(super) struct Steps(Cell<u64>);

impl Steps {
    pub(super) fn new() -> Self {
        Self(Cell::new(MOST))
    }

    /// Takes `count` steps. Returns false if fewer were left.
    pub(super) fn take(&self, count: u64) -> bool {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    pub(super) fn left(&self) -> u64 {
        self.0.get()
    }

    /// Spends `count` steps.
    ///
    /// # Errors
    /// `Unsupported` if fewer are left, with a message that names `what`.
    pub(super) fn spend(&self, count: u64, what: &str) -> Result<()> {
        match self.take(count) {
            true => Ok(()),
            false => Err(unsupported(format!("{what} that take too long to read"))),
        }
    }
}
