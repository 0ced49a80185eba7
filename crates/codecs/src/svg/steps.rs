//! A budget of steps for reading an SVG. A step is a unit of work that takes about 10 ns, including the same work in
//! `usvg`.

use std::cell::Cell;

use andon_pixels::Result;

use super::document::unsupported;

/// Maximum number of steps (units of work of about 10 ns) for reading a document. They take about 0.4 s, which leaves a
/// third of the time limit for reading a document to the stroking of curves.
const MOST: u64 = 40_000_000;

/// The number of steps (units of work of about 10 ns) that are left for reading a document. Code that walks the
/// document spends steps and stops when none are left.
pub(super) struct Steps(Cell<u64>);

impl Steps {
    pub(super) fn new() -> Self {
        Self(Cell::new(MOST))
    }

    /// Takes `count` of the steps (units of work) that are left. Returns false if fewer were left.
    pub(super) fn take(&self, count: u64) -> bool {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    pub(super) fn left(&self) -> u64 {
        self.0.get()
    }

    /// Takes `count` of the steps (units of work) that are left.
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
