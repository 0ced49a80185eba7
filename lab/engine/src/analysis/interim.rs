//! Interim analyses: the points at which a run may end, and how much wider they make the intervals.
//!
//! Looking at an interval eight times and stopping at will gives eight chances to be wrong. So the error of 5 % is
//! divided evenly among all interim analyses that the design allows, which are fixed before the first block: the
//! interval is wider at each of them, and holds at all of them together. Whichever analysis ends the run, for whatever
//! reason, its interval then covers the truth in at least 95 % of runs, and its verdict is wrong in at most 5 %. A
//! design with a fixed number of pairs has one analysis, so its interval is not widened.

use crate::scenario::{BlockOrder, Design};

/// The interim analyses at which a run may end; there is at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InterimAnalyses {
    count: u32,
    /// Number of pairs at the first analysis.
    first: u32,
    /// Number of pairs at the last analysis.
    last: u32,
    /// Number of pairs between two analyses. `None`: there is one analysis, at the end of the run.
    round: Option<u32>,
}

impl InterimAnalyses {
    /// Returns the interim analyses that a design allows: one after each round of pairs, from `pairs.min` to
    /// `pairs.max`. A sequential design has only one, after `pairs.min` pairs.
    pub(super) fn of(design: &Design) -> Self {
        let pairs = &design.pairs;
        let round = round(design.order);
        match design.order {
            BlockOrder::Sequential => Self::between(pairs.min, pairs.min, None),
            BlockOrder::AbbaRandom | BlockOrder::PairsRandom => {
                Self::between(pairs.min, pairs.max.max(pairs.min), Some(round))
            }
        }
    }

    fn between(first: u32, last: u32, round: Option<u32>) -> Self {
        Self {
            count: round.map_or(1, |round| last.div_ceil(round) - first.div_ceil(round) + 1),
            first,
            last,
            round,
        }
    }

    /// Returns the interim analyses of the same design, but with a maximum of at least `pairs` pairs.
    pub(super) fn up_to(self, pairs: u32) -> Self {
        Self::between(self.first, self.last.max(pairs), self.round)
    }

    /// Returns the number of interim analyses.
    pub(super) fn count(self) -> u32 {
        self.count
    }

    /// Returns the confidence that each single interval needs so that the intervals of `tests` tests at all analyses
    /// hold together with the confidence `together` (Bonferroni).
    pub(super) fn each(self, together: f64, tests: u32) -> f64 {
        1.0 - (1.0 - together) / f64::from(self.count) / f64::from(tests.max(1))
    }

    /// Returns the p-value of one analysis adjusted for the number of analyses.
    pub(super) fn together(self, p: f64) -> f64 {
        (p * f64::from(self.count)).min(1.0)
    }
}

/// Returns the number of pairs per round; a run may end after each round. In an ABBA design a round is a quad (two
/// pairs), because drift cancels out only over a whole quad.
pub(super) fn round(order: BlockOrder) -> u32 {
    match order {
        BlockOrder::AbbaRandom => 2,
        BlockOrder::PairsRandom | BlockOrder::Sequential => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Pairs;

    fn count(order: BlockOrder, min: u32, max: u32) -> u32 {
        let pairs = Pairs {
            min,
            max,
            ..Pairs::default()
        };
        InterimAnalyses::of(&Design {
            order,
            pairs,
            ..Design::default()
        })
        .count()
    }

    #[test]
    fn a_run_may_end_after_every_round_from_the_least_to_the_most_pairs() {
        assert_eq!(count(BlockOrder::AbbaRandom, 6, 20), 8);
        assert_eq!(count(BlockOrder::AbbaRandom, 7, 11), 3);
        assert_eq!(count(BlockOrder::PairsRandom, 6, 20), 15);
    }

    #[test]
    fn a_fixed_number_of_pairs_is_one_analysis() {
        assert_eq!(count(BlockOrder::AbbaRandom, 6, 6), 1);
        assert_eq!(count(BlockOrder::AbbaRandom, 10, 6), 1);
        assert_eq!(count(BlockOrder::Sequential, 6, 20), 1);
        let one = InterimAnalyses::between(6, 6, Some(2));
        assert_eq!((one.each(0.95, 1), one.together(0.04)), (0.95, 0.04));
    }

    #[test]
    fn the_error_is_shared_out_evenly() {
        let eight = InterimAnalyses::between(6, 20, Some(2));
        assert!((eight.each(0.95, 1) - 0.993_75).abs() < 1e-12);
        assert!((eight.each(0.95, 5) - 0.998_75).abs() < 1e-12);
        assert!((eight.together(0.005) - 0.04).abs() < 1e-12);
        assert_eq!(eight.together(0.5), 1.0);
        assert_eq!((eight.up_to(12), eight.up_to(40).count()), (eight, 18));
    }
}
