//! The memory budget, in bytes, that all running jobs share.

/// A memory budget: the bytes that may be reserved, and the bytes that are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    total: u64,
    used: u64,
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

    /// Whether `bytes` would fit into the budget if nothing else ran.
    pub(super) fn could_ever_hold(self, bytes: u64) -> bool {
        bytes <= self.total
    }

    pub(super) fn free(self) -> u64 {
        self.total.saturating_sub(self.used)
    }

    pub(super) fn fits(self, bytes: u64) -> bool {
        bytes <= self.free()
    }

    /// Reserves `bytes`. The caller must have checked that they fit.
    pub(super) fn take(&mut self, bytes: u64) {
        self.used = self.used.saturating_add(bytes);
    }

    /// Changes the total. Reserved bytes stay reserved, even if they exceed the new total.
    pub(super) fn resize(&mut self, total: u64) {
        self.total = total;
    }

    pub(super) fn give_back(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_free_again_when_it_is_given_back() {
        let mut budget = Budget::new(10);
        budget.take(6);
        assert!(budget.fits(4) && !budget.fits(5));
        assert_eq!((budget.used(), budget.free()), (6, 4));
        budget.give_back(6);
        assert!(budget.fits(10));
        assert!(budget.could_ever_hold(10) && !budget.could_ever_hold(11));
    }

    #[test]
    fn a_smaller_total_takes_nothing_away_and_lets_nothing_in_until_it_fits() {
        let mut budget = Budget::new(10);
        budget.take(6);
        budget.resize(5);
        assert_eq!((budget.used(), budget.free()), (6, 0));
        assert!(!budget.fits(1));
        budget.give_back(6);
        assert!(budget.fits(5) && !budget.fits(6));
    }
}
