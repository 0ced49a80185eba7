//! The stopping rule: a run ends on precision or on the number of pairs, never on significance. Stopping as soon as p
//! is small finds effects that do not exist.
//!
//! An interval can also be narrow by luck, and stopping on that luck makes it narrower than it should be. So the
//! interval that has to be narrow is the one adjusted for all interim analyses ([`super::interim`]). It is valid
//! whichever analysis ends the run.

use serde::Serialize;

use super::interim::{InterimAnalyses, round};
use super::pairs::{Contrast, contrasts, pairs, values};
use crate::record::{Arm, Run};
use crate::scenario::BlockOrder;
use crate::stats::LogRatios;

/// The reason why no further pair is needed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enough {
    /// The confidence interval of the primary metric's ratio is as narrow as the design asks for, in every comparison.
    Precise {
        /// Half the width of the widest of these intervals, as a share, e.g. 0.02 for ±2 %.
        half_width: f64,
    },
    /// Every comparison has the largest number of valid pairs: `pairs.max`, or `pairs.min` in a sequential design. In a
    /// run that compares nothing: `pairs.min` blocks are valid.
    MostPairs,
    /// Twice as many pairs were attempted as the design allows, since too many were discarded or failed.
    TooManyTries,
}

/// Returns why no further pair is needed, or `None` if the run should go on. Called after each pair, with all results
/// so far. The A/A arm counts only if nothing else is compared.
#[must_use]
pub fn enough(run: &Run) -> Option<Enough> {
    let design = &run.header.scenario.design;
    let mut contrasts = contrasts(run);
    if contrasts.len() > 1 {
        contrasts.retain(|contrast| contrast.arm == Arm::Variant);
    }
    if contrasts.is_empty() {
        let blocks = run.blocks.iter().filter(|block| block.counts()).count() as u32;
        return (blocks >= design.pairs.min).then_some(Enough::MostPairs);
    }
    let progress: Vec<Progress> = contrasts.iter().map(|&it| Progress::of(run, it)).collect();
    let all = |ready: &dyn Fn(&Progress) -> bool| progress.iter().all(ready);
    let most = match design.order {
        BlockOrder::Sequential => design.pairs.min,
        BlockOrder::AbbaRandom | BlockOrder::PairsRandom => design.pairs.max.max(design.pairs.min),
    };
    if all(&|it| it.counting >= most) {
        return Some(Enough::MostPairs);
    }
    if all(&|it| it.attempts >= most.saturating_mul(2)) {
        return Some(Enough::TooManyTries);
    }
    let confidence = InterimAnalyses::of(design).each(0.95, 1);
    let half_width = |it: &Progress| Some(LogRatios::new(&it.values)?.half_width(confidence));
    let precise = |it: &Progress| {
        it.counting >= design.pairs.min
            && it.counting.is_multiple_of(round(design.order))
            && half_width(it).is_some_and(|half| half <= design.pairs.until.0.0)
    };
    if design.order == BlockOrder::Sequential || !all(&precise) {
        return None;
    }
    let widths = progress.iter().filter_map(half_width);
    Some(Enough::Precise {
        half_width: widths.fold(0.0, f64::max),
    })
}

/// Progress of one comparison with the baseline.
struct Progress {
    counting: u32,
    attempts: u32,
    /// Values of the primary metric in the pairs that count: baseline, then the other block.
    values: Vec<(f64, f64)>,
}

impl Progress {
    fn of(run: &Run, contrast: Contrast) -> Self {
        let metric = run.header.scenario.design.primary;
        let attempts = pairs(run, contrast);
        let counting = || attempts.iter().filter(|pair| pair.counts());
        let counting_pairs: Vec<_> = counting().copied().collect();
        Self {
            counting: counting().count() as u32,
            attempts: attempts.len() as u32,
            values: values(metric, &counting_pairs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::stats::Random;

    fn noisy(pairs: u32, deviation: f64, effect: f64) -> Run {
        let mut random = Random::new(2);
        fixture::run(2, pairs, |block| {
            let factor = if block.arm == Arm::Variant {
                effect
            } else {
                1.0
            };
            fixture::set_rate(block, 400.0 * factor * (deviation * random.normal()).exp());
        })
    }

    #[test]
    fn precision_ends_the_run_and_significance_does_not() {
        assert!(matches!(
            enough(&noisy(6, 0.005, 1.0)),
            Some(Enough::Precise { .. })
        ));
        // The variant is clearly ten times as fast, but its ratio is not yet known to within ±2 %.
        assert_eq!(enough(&noisy(8, 0.05, 10.0)), None);
    }

    #[test]
    fn fewer_than_the_least_pairs_are_never_enough() {
        assert_eq!(enough(&noisy(4, 0.0001, 1.0)), None);
    }

    #[test]
    fn half_a_quad_is_not_an_end() {
        let mut run = noisy(7, 0.005, 1.0);
        assert_eq!(enough(&run), None);
        run.header.scenario.design.order = BlockOrder::PairsRandom;
        assert!(enough(&run).is_some());
    }

    #[test]
    fn the_most_pairs_end_it_and_so_do_endless_discards() {
        assert_eq!(enough(&noisy(20, 0.3, 1.0)), Some(Enough::MostPairs));
        let mut run = noisy(40, 0.3, 1.0);
        run.blocks
            .iter_mut()
            .for_each(|block| block.discarded = Some("steal".into()));
        assert_eq!(enough(&run), Some(Enough::TooManyTries));
    }

    #[test]
    fn without_a_second_variant_the_baseline_against_itself_decides() {
        let mut random = Random::new(2);
        let run = fixture::run(1, 6, |block| {
            fixture::set_rate(block, 400.0 * (0.005 * random.normal()).exp());
        });
        assert!(matches!(enough(&run), Some(Enough::Precise { .. })));
    }
}
