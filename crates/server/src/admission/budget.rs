//! The bytes that running jobs may plan with, together.

use super::cgroup;

/// How much there is and how much is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    total: u64,
    used: u64,
}

/// How a server's memory is shared out, in bytes: the two never add up to more than the whole budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// For source files that were read and wait.
    pub(crate) sources: u64,
    /// For the planned peaks of all jobs that run, their source files included.
    pub(crate) pixels: u64,
}

impl Budget {
    pub(super) fn new(total: u64) -> Self {
        Self { total, used: 0 }
    }

    pub(super) fn total(self) -> u64 {
        self.total
    }

    pub(super) fn used(self) -> u64 {
        self.used
    }

    /// Would so many bytes fit even if nothing else ran?
    pub(super) fn could_ever_hold(self, bytes: u64) -> bool {
        bytes <= self.total
    }

    pub(super) fn fits(self, bytes: u64) -> bool {
        bytes <= self.total - self.used
    }

    /// Takes them, if they fit.
    #[must_use]
    pub(super) fn take(&mut self, bytes: u64) -> bool {
        let fits = self.fits(bytes);
        if fits {
            self.used += bytes;
        }
        fits
    }

    pub(super) fn give_back(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }
}

impl Shares {
    /// Shares of a configured budget, or, for 0, of the part of this machine's memory (or of its control
    /// group's) that one server may take.
    pub(crate) fn new(configured: u64, most_sources: u64) -> Self {
        let budget = match configured {
            0 => cgroup::memory().map_or(UNKNOWN_MACHINE, |bytes| bytes / 5 * 3),
            bytes => bytes,
        };
        let sources = most_sources.min(budget / 4);
        Self {
            sources,
            pixels: budget - sources,
        }
    }
}

/// The budget where the system does not tell what it has: no machine that serves pictures has less.
const UNKNOWN_MACHINE: u64 = 512 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_nothing() {
        let mut budget = Budget::new(10);
        assert!(budget.take(6));
        assert!(!budget.take(5));
        assert_eq!(budget.used(), 6);
        budget.give_back(6);
        assert!(budget.take(10));
        assert!(budget.could_ever_hold(10) && !budget.could_ever_hold(11));
    }

    #[test]
    fn both_shares_together_are_the_budget() {
        let shares = Shares::new(400 << 20, 256 << 20);
        assert_eq!((shares.sources, shares.pixels), (100 << 20, 300 << 20));
        let shares = Shares::new(8 << 30, 256 << 20);
        assert_eq!(shares.sources, 256 << 20);
        assert_eq!(shares.sources + shares.pixels, 8 << 30);
    }

    #[test]
    fn a_budget_is_found_where_none_is_configured() {
        let shares = Shares::new(0, 256 << 20);
        assert!(shares.pixels > shares.sources && shares.sources > 0);
    }
}
