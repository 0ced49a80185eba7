//! A robust check of the t interval: Wilcoxon's signed-rank test, exact even with ties, and the Hodges–Lehmann
//! estimate. A single outlying pair cannot move them far. With fewer than six pairs they cannot reach 5 %.

use serde::Serialize;

use super::paired::Interval;
use super::ranks::doubled_ranks;
use andon_client::median;

/// Returns the exact two-sided p-value of "differences lie above zero as often as below" (Wilcoxon's signed-rank test).
/// Zeros are left out. The result is 1 if nothing else is left.
#[must_use]
pub fn signed_rank_p(differences: &[f64]) -> f64 {
    let nonzero: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|difference| *difference != 0.0)
        .collect();
    let magnitudes: Vec<f64> = nonzero.iter().map(|difference| difference.abs()).collect();
    let ranks = doubled_ranks(&magnitudes);
    let above: usize = nonzero
        .iter()
        .zip(&ranks)
        .filter(|(difference, _)| **difference > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let total: usize = ranks.iter().sum();
    let smaller = above.min(total - above);
    let below: f64 = sums(&ranks).iter().take(smaller + 1).sum();
    (2.0 * below).min(1.0)
}

/// The Hodges–Lehmann estimate: a median of differences that one outlier cannot move far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HodgesLehmann {
    /// Median of the means of all couples of differences, each difference also paired with itself.
    pub estimate: f64,
    /// The exact interval that belongs to the signed-rank test. `None` if there are too few differences for one.
    pub interval: Option<Interval>,
    /// The actual confidence of the interval, at least the requested one. 0 without an interval.
    pub confidence: f64,
}

/// Returns the estimate with an interval of at least this confidence, or `None` if there are no differences.
#[must_use]
pub fn hodges_lehmann(differences: &[f64], confidence: f64) -> Option<HodgesLehmann> {
    let mut means: Vec<f64> = Vec::new();
    for (at, first) in differences.iter().enumerate() {
        means.extend(
            differences[at..]
                .iter()
                .map(|second| (first + second) / 2.0),
        );
    }
    means.sort_by(f64::total_cmp);
    let estimate = median(&means)?;
    let ranks: Vec<usize> = (1..=differences.len()).collect();
    let tail = (1.0 - confidence) / 2.0;
    // `cut` is the number of means to cut off at either end.
    let (mut cut, mut below) = (0, 0.0);
    for probability in sums(&ranks) {
        if below + probability > tail {
            break;
        }
        below += probability;
        cut += 1;
    }
    let interval = (cut > 0 && 2 * cut <= means.len()).then(|| Interval {
        low: means[cut - 1],
        high: means[means.len() - cut],
    });
    Some(HodgesLehmann {
        estimate,
        interval,
        confidence: interval.map_or(0.0, |_| 1.0 - 2.0 * below),
    })
}

/// Returns the probability of each sum of ranks if each rank is included with probability 1/2.
fn sums(ranks: &[usize]) -> Vec<f64> {
    let mut chances = vec![0.0; ranks.iter().sum::<usize>() + 1];
    chances[0] = 1.0;
    let mut highest = 0;
    for rank in ranks {
        highest += rank;
        for sum in (0..=highest).rev() {
            let with = sum.checked_sub(*rank).map_or(0.0, |rest| chances[rest]);
            chances[sum] = (chances[sum] + with) / 2.0;
        }
    }
    chances
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Depression scores of nine patients before and after a tranquilliser (Hollander & Wolfe), as differences.
    fn depression() -> Vec<f64> {
        let before = [1830, 500, 1620, 2480, 1680, 1880, 1550, 3060, 1300];
        let after = [878, 647, 598, 2050, 1060, 1290, 1060, 3140, 1290];
        let thousandths = before.iter().zip(after).map(|(b, a)| b - a);
        thousandths.map(|d| f64::from(d) / 1000.0).collect()
    }

    #[test]
    fn the_textbook_example_comes_out_as_published() {
        // V = 40 of 45: one-sided 0.01953.
        assert!((signed_rank_p(&depression()) - 2.0 * 0.019_531_25).abs() < 1e-12);
        let robust = hodges_lehmann(&depression(), 0.95).unwrap();
        assert!((robust.estimate - 0.46).abs() < 0.000_6, "{robust:?}");
        let interval = robust.interval.unwrap();
        assert!((interval.low - 0.010).abs() < 1e-9, "{robust:?}");
        assert!((interval.high - 0.786).abs() < 1e-9, "{robust:?}");
        assert!((robust.confidence - 0.961).abs() < 0.000_5, "{robust:?}");
    }

    #[test]
    fn five_pairs_cannot_reach_five_percent_and_six_can() {
        assert_eq!(signed_rank_p(&[1.0, 2.0, 3.0, 4.0, 5.0]), 0.0625);
        assert_eq!(signed_rank_p(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 0.031_25);
        assert_eq!(
            hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95)
                .unwrap()
                .interval,
            None
        );
        assert!(hodges_lehmann(&[1.0; 6], 0.95).unwrap().interval.is_some());
    }

    #[test]
    fn zeros_say_nothing() {
        assert_eq!(signed_rank_p(&[]), 1.0);
        assert_eq!(signed_rank_p(&[0.0, 0.0]), 1.0);
        assert_eq!(
            signed_rank_p(&[0.0, 1.0, -2.0, 3.0]),
            signed_rank_p(&[1.0, -2.0, 3.0])
        );
    }

    #[test]
    fn one_wild_pair_hardly_moves_the_estimate() {
        let mut calm = vec![0.01, 0.02, 0.015, 0.012, 0.018, 0.011, 0.016];
        let before = hodges_lehmann(&calm, 0.95).unwrap().estimate;
        calm[0] = 5.0;
        let after = hodges_lehmann(&calm, 0.95).unwrap().estimate;
        assert!((before - after).abs() < 0.005);
    }

    /// Computes the p-value by enumerating all choices of signs.
    fn by_enumeration(differences: &[f64]) -> f64 {
        let magnitudes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
        let ranks = doubled_ranks(&magnitudes);
        let total: usize = ranks.iter().sum();
        let observed: usize = (0..ranks.len())
            .filter(|&at| differences[at] > 0.0)
            .map(|at| ranks[at])
            .sum();
        let smaller = observed.min(total - observed);
        let all = 1u32 << ranks.len();
        let extreme = (0..all)
            .filter(|signs| {
                let sum: usize = (0..ranks.len())
                    .filter(|at| signs >> at & 1 == 1)
                    .map(|at| ranks[at])
                    .sum();
                sum <= smaller
            })
            .count();
        (2.0 * extreme as f64 / f64::from(all)).min(1.0)
    }

    proptest! {
        #[test]
        fn it_equals_the_enumeration_of_all_signs_ties_included(
            steps in prop::collection::vec(prop_oneof![-5..0i32, 1..6i32], 1..11),
        ) {
            let differences: Vec<f64> = steps.iter().map(|&step| f64::from(step)).collect();
            let exact = by_enumeration(&differences);
            prop_assert!((signed_rank_p(&differences) - exact).abs() < 1e-12);
        }
    }
}
