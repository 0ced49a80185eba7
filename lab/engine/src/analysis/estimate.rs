//! The estimated ratio of a comparison with its intervals, before any conclusion is drawn from them.

use serde::Serialize;

use super::comparison::Role;
use super::interim::InterimAnalyses;
use super::pairs::{Pair, values};
use super::summary::longest_wait;
use crate::scenario::{Design, Metric};
use crate::stats::{
    HodgesLehmann, Interval, LogRatios, compare_spreads, hodges_lehmann, pairs_until_a_verdict,
    signed_rank_p,
};

/// The estimated ratio of a comparison, with its intervals. Ratios are variant divided by baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Number of pairs that the estimate is based on.
    pub pairs: u32,
    /// Geometric mean of the pairs' ratios.
    pub ratio: f64,
    /// The 95 % interval of the ratio (two-sided Student's t on the logarithms of the ratios). It holds over all
    /// interim analyses at which the run could have ended and, for a secondary metric, over all secondary metrics
    /// (Holm).
    pub interval_95: Interval,
    /// The 90 % interval of the ratio (Student's t on the logarithms of the ratios), adjusted like `interval_95`. If it
    /// lies within ±`design.same_within`, the two variants count as the same.
    pub interval_90: Interval,
    /// Half the width of the 95 % interval as a share, e.g. 0.02 for ±2 %.
    pub half_width: f64,
    /// Standard deviation of the logarithms of the pairs' ratios.
    pub deviation: f64,
    /// p-value of "the ratio is one" (t test), not adjusted.
    pub p: f64,
    /// p-value of two one-sided tests (TOST) against "the ratio lies beyond ±`design.same_within`", not adjusted. A
    /// small value shows that the two variants are the same.
    pub sameness_p: f64,
    /// `p` adjusted for the number of interim analyses and, for a secondary metric, of secondary metrics. Below 0.05, a
    /// difference is shown.
    pub adjusted_p: f64,
    /// `sameness_p`, adjusted for the number of interim analyses and of secondary metrics. Below 0.05, the two variants
    /// are shown to be the same.
    pub adjusted_sameness_p: f64,
    /// p-value of "the ratio is one" by the exact signed-rank test, as a robust check.
    pub signed_rank_p: f64,
    /// The Hodges–Lehmann ratio, which is robust, with its exact interval of at least 95 % confidence.
    pub hodges_lehmann: HodgesLehmann,
    /// Whether the robust check contradicts the t test, from six pairs on: its ratio lies outside the t interval, or
    /// one of the two p-values is below 0.05 and the other above 0.10. Look at the pairs then.
    pub disagree: bool,
}

/// How much the variant varies from block to block, compared with the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// Standard deviation of the logarithm of the metric over the variant's blocks, divided by that over the baseline's
    /// blocks.
    pub spread_ratio: f64,
    /// p-value of "both vary equally" (Pitman and Morgan).
    pub p: f64,
    /// The longest time that a connection waited for a reply, in seconds: baseline, variant.
    pub longest_wait: (f64, f64),
}

impl Estimate {
    /// Computes intervals and p-values from the ratios of all pairs. They are adjusted for the number of interim
    /// analyses, and (Bonferroni) for `differences` tests for a difference and `samenesses` tests for sameness within
    /// ±`within`.
    pub(super) fn of(
        ratios: &LogRatios,
        within: f64,
        interim: InterimAnalyses,
        (differences, samenesses): (u32, u32),
    ) -> Self {
        let signed_rank_p = signed_rank_p(ratios.differences());
        let robust = hodges_lehmann(ratios.differences(), 0.95);
        let hodges_lehmann = HodgesLehmann {
            // `LogRatios` has at least two differences, so that the estimate is never missing.
            estimate: robust.map_or(ratios.ratio(), |it| it.estimate.exp()),
            interval: robust.and_then(|it| it.interval).map(|it| Interval {
                low: it.low.exp(),
                high: it.high.exp(),
            }),
            confidence: robust.map_or(0.0, |it| it.confidence),
        };
        let (p, sameness_p) = (ratios.p_value(), ratios.sameness_p(within));
        let confidence = interim.each(0.95, differences);
        let interval_95 = ratios.interval(confidence);
        // With fewer than six pairs, the signed-rank test cannot reach 5 %, which is no contradiction.
        let can_be_significant = ratios.count() >= 6;
        let contradicts = p.min(signed_rank_p) < 0.05 && p.max(signed_rank_p) > 0.10;
        let outside = !interval_95.contains(hodges_lehmann.estimate) && ratios.deviation() > 0.0;
        Self {
            pairs: ratios.count() as u32,
            ratio: ratios.ratio(),
            interval_95,
            interval_90: ratios.interval(interim.each(0.90, samenesses)),
            half_width: ratios.half_width(confidence),
            deviation: ratios.deviation(),
            p,
            sameness_p,
            adjusted_p: (interim.together(p) * f64::from(differences)).min(1.0),
            adjusted_sameness_p: (interim.together(sameness_p) * f64::from(samenesses)).min(1.0),
            signed_rank_p,
            hodges_lehmann,
            disagree: can_be_significant && (contradicts || outside),
        }
    }
}

impl Estimate {
    /// Returns the number of pairs with which the 95 % interval would lie on one side of `ratio`, if mean and deviation
    /// stayed as they are, under the design of a run; `None` if that takes too many pairs to be practical.
    #[must_use]
    pub fn pairs_to_clear(&self, ratio: f64, design: &Design, role: Role) -> Option<u32> {
        let tests = match role {
            Role::Primary => 1,
            Role::Secondary => Metric::ALL.len() as u32 - 1,
        };
        let interim = InterimAnalyses::of(design);
        let error = |pairs: usize| {
            let interim = interim.up_to(u32::try_from(pairs).unwrap_or(u32::MAX));
            // The whole error is for a difference; sameness is not tested.
            (1.0 - interim.each(0.95, tests), 0.0)
        };
        let distance = (self.ratio / ratio).ln();
        let from = self.pairs as usize;
        pairs_until_a_verdict(distance, self.deviation, 0.0, error, from)
            .and_then(|pairs| u32::try_from(pairs).ok())
    }
}

impl Stability {
    /// Computes the stability of a variant from its pairs with the baseline. Returns `None` if fewer than three pairs
    /// have values, or if the values of either side do not vary.
    pub(super) fn of(metric: Metric, pairs: &[Pair<'_>]) -> Option<Self> {
        let logs: Vec<_> = values(metric, pairs)
            .into_iter()
            .map(|(a, b)| (a.ln(), b.ln()))
            .collect();
        let (spread_ratio, p) = compare_spreads(&logs)?;
        let longest = |waits: &mut dyn Iterator<Item = f64>| waits.fold(0.0, f64::max);
        Some(Self {
            spread_ratio,
            p,
            longest_wait: (
                longest(&mut pairs.iter().map(|pair| longest_wait(pair.baseline))),
                longest(&mut pairs.iter().map(|pair| longest_wait(pair.other))),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use crate::record::Arm;
    use crate::scenario::Design;

    #[test]
    fn one_wild_pair_against_thirteen_calm_ones_is_a_disagreement() {
        let mut pairs: Vec<(f64, f64)> = (0..13)
            .map(|at| (1.0, 1.02 + 0.001 * f64::from(at)))
            .collect();
        pairs.push((1.0, 0.3));
        let ratios = LogRatios::new(&pairs).expect("fourteen pairs");
        let estimate = Estimate::of(
            &ratios,
            0.03,
            InterimAnalyses::of(&Design::default()),
            (1, 1),
        );
        assert!(
            estimate.p > 0.10 && estimate.signed_rank_p < 0.05,
            "{estimate:?}"
        );
        assert!(estimate.disagree);
    }

    #[test]
    fn three_times_the_spread_is_a_row_of_its_own() {
        let mut random = crate::stats::Random::new(8);
        let run = fixture::run(2, 16, |block| {
            let spread = if block.arm == Arm::Variant {
                0.06
            } else {
                0.01
            };
            fixture::set_rate(block, 400.0 * (spread * random.normal()).exp());
        });
        let stability = fixture::primary(&run).stability.expect("sixteen pairs");
        assert!(
            stability.spread_ratio > 2.5 && stability.p < 0.01,
            "{stability:?}"
        );
    }
}
