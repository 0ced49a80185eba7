//! Location and spread of values: mean, median, standard deviation, minimum and maximum.

use andon_client::median;
use serde::Serialize;

use super::t_cdf;

/// Summary of a set of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The number of values.
    pub count: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Median of the values.
    pub median: f64,
    /// Standard deviation of the values (n − 1), or 0 for a single value.
    pub deviation: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Spread {
    /// Summarises these values. `None` if there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let median = median(values)?;
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            count,
            mean,
            median,
            deviation: if count > 1 {
                (squares / (count - 1) as f64).sqrt()
            } else {
                0.0
            },
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// Compares the spread of paired values. Returns the ratio of their standard deviations (second divided by first) and
/// the two-sided p-value of the Pitman–Morgan test, which allows for correlated pairs. `None` with fewer than three
/// pairs or if one side has no spread.
#[must_use]
pub fn compare_spreads(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (first, second) = (Spread::of(&first)?, Spread::of(&second)?);
    if pairs.len() < 3 || first.deviation <= 0.0 || second.deviation <= 0.0 {
        return None;
    }
    // If both spreads are equal, sums and differences of the pairs do not correlate.
    let (mut both, mut sums, mut differences) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a - first.mean, b - second.mean);
        both += (a + b) * (b - a);
        sums += (a + b).powi(2);
        differences += (b - a).powi(2);
    }
    let scale = (sums * differences).sqrt();
    let correlation = if scale > 0.0 { both / scale } else { 0.0 };
    let freedom = pairs.len() - 2;
    let t = correlation * (freedom as f64 / (1.0 - correlation.powi(2)).max(1e-300)).sqrt();
    let p = 2.0 * (1.0 - t_cdf(t.abs(), freedom));
    Some((second.deviation / first.deviation, p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_tells_the_textbook_figures() {
        let spread = Spread::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((spread.mean, spread.median), (5.0, 4.5));
        assert!((spread.deviation - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((spread.min, spread.max), (2.0, 9.0));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn a_tripled_spread_is_noticed_and_an_equal_one_is_not() {
        let calm = [
            0.3, -0.2, 0.1, -0.4, 0.2, 0.0, -0.1, 0.4, -0.3, 0.1, 0.2, -0.3,
        ];
        let other = [
            0.1, 0.3, -0.3, 0.2, -0.1, 0.4, -0.4, 0.0, 0.2, -0.3, -0.2, 0.1,
        ];
        let wild = other.map(|value| value * 3.0);
        let pairs: Vec<_> = calm.into_iter().zip(wild).collect();
        let (ratio, p) = compare_spreads(&pairs).unwrap();
        assert!(ratio > 2.8 && p < 0.01, "{ratio} {p}");
        let pairs: Vec<_> = calm.into_iter().zip(other).collect();
        let (ratio, p) = compare_spreads(&pairs).unwrap();
        assert!((ratio - 1.0).abs() < 0.1 && p > 0.5, "{ratio} {p}");
    }
}
