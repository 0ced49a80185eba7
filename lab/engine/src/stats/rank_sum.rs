//! Comparison of two unpaired samples (such as a saved baseline and today's blocks) by the rank-sum test of Mann,
//! Whitney and Wilcoxon. Exact for up to fifty values, ties included. Beyond that, the normal approximation with
//! corrections for ties and continuity. With four blocks each, p is 0.029 at best, and the result includes whatever
//! else changed between the two days.

use serde::Serialize;

use super::normal_cdf;
use super::ranks::doubled_ranks;

/// The result of a rank-sum test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RankSum {
    /// The statistic U: the number of couples (first, second) in which the first value is larger. Ties count half.
    pub u: f64,
    /// Two-sided p-value of "neither sample tends to be larger".
    pub p: f64,
}

/// Compares two samples by the rank-sum test. `None` if one is empty.
#[must_use]
pub fn rank_sum(first: &[f64], second: &[f64]) -> Option<RankSum> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let values: Vec<f64> = first.iter().chain(second).copied().collect();
    let ranks = doubled_ranks(&values);
    let sum: usize = ranks[..first.len()].iter().sum();
    let (n, m) = (first.len() as f64, second.len() as f64);
    let u = sum as f64 / 2.0 - n * (n + 1.0) / 2.0;
    let p = if values.len() <= 50 {
        exact(&ranks, first.len(), sum)
    } else {
        approximate(&ranks, n, m, u)
    };
    Some(RankSum { u, p })
}

/// Returns the exact two-sided p-value, by counting all ways to choose the first sample among the ranks.
fn exact(ranks: &[usize], chosen: usize, sum: usize) -> f64 {
    let total: usize = ranks.iter().sum();
    // `ways[k][s]` is the number of choices of k ranks with the sum s. f64 represents C(50, 25) exactly.
    let mut ways = vec![vec![0.0f64; total + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for k in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            for (s, way) in more[0].iter_mut().enumerate().skip(rank) {
                *way += fewer[k - 1][s - rank];
            }
        }
    }
    let all: f64 = ways[chosen].iter().sum();
    let below: f64 = ways[chosen][..=sum].iter().sum();
    let above: f64 = ways[chosen][sum..].iter().sum();
    (2.0 * below.min(above) / all).min(1.0)
}

fn approximate(ranks: &[usize], n: f64, m: f64, u: f64) -> f64 {
    let all = n + m;
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let ties: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|tied| (tied.len() as f64).powi(3) - tied.len() as f64)
        .sum();
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    if variance > 0.0 {
        2.0 * normal_cdf(-distance / variance.sqrt())
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_textbook_example_comes_out_as_published() {
        // Hollander & Wolfe: permeability at term and at 12 to 26 weeks; U = 35, one-sided 0.1272.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let compared = rank_sum(&term, &early).unwrap();
        assert_eq!(compared.u, 35.0);
        assert!((compared.p - 2.0 * 0.127_206).abs() < 1e-5, "{compared:?}");
    }

    #[test]
    fn many_values_with_ties_come_out_as_published() {
        // Ozone in New York, May and August 1973: U = 127.5, p = 0.0001208.
        let may = [
            41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23,
            45, 115, 37,
        ];
        let august = [
            39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168,
            73, 76, 118, 84, 85,
        ];
        let compared = rank_sum(&may.map(f64::from), &august.map(f64::from)).unwrap();
        assert_eq!(compared.u, 127.5);
        assert!((compared.p - 0.000_120_8).abs() < 1e-7, "{compared:?}");
    }

    #[test]
    fn four_against_four_can_say_little() {
        let best = rank_sum(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
        assert!((best.p - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!(rank_sum(&[1.0], &[]), None);
        assert_eq!(rank_sum(&[2.0; 4], &[2.0; 4]).unwrap().p, 1.0);
    }
}
