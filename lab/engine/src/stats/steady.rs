//! Decides whether a server has settled while the load client warms it up.

use super::{Spread, theil_sen};

/// Number of the most recent time slices of the load that are examined.
pub const STEADY_BINS: usize = 8;

/// Whether the server is steady. Each bin is a time slice (usually 250 ms long) with its rate in replies per second and
/// its median latency in seconds, oldest first. The server is steady if over the last eight bins neither value shows a
/// trend (the 95 % interval of its slope includes zero) and the means of their two halves differ by less than 5 %. It
/// is never steady with fewer bins or without replies.
#[must_use]
pub fn steady(bins: &[(f64, f64)]) -> bool {
    let Some(start) = bins.len().checked_sub(STEADY_BINS) else {
        return false;
    };
    let (rates, medians): (Vec<f64>, Vec<f64>) = bins[start..].iter().copied().unzip();
    level(&rates) && level(&medians)
}

fn level(values: &[f64]) -> bool {
    let (early, late) = values.split_at(values.len() / 2);
    let (Some(all), Some(early), Some(late)) =
        (Spread::of(values), Spread::of(early), Spread::of(late))
    else {
        return false;
    };
    let points: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(at, y)| (at as f64, *y))
        .collect();
    let flat = theil_sen(&points, 0.95).is_some_and(|slope| slope.may_be_level());
    flat && (early.mean - late.mean).abs() < 0.05 * all.mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_rates(rates: &[f64]) -> bool {
        let bins: Vec<_> = rates.iter().map(|rate| (*rate, 10.0 / rate)).collect();
        steady(&bins)
    }

    #[test]
    fn noise_around_a_level_is_steady() {
        assert!(with_rates(&[
            100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 101.1, 99.3
        ]));
        assert!(with_rates(&[100.0; 8]));
    }

    #[test]
    fn what_happened_before_the_last_eight_does_not_matter() {
        let mut rates = vec![1.0, 20.0, 50.0];
        rates.extend([100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 101.1, 99.3]);
        assert!(with_rates(&rates));
    }

    #[test]
    fn a_small_trend_is_not_steady_nor_is_a_step() {
        assert!(!with_rates(&[
            100.0, 100.3, 100.6, 100.9, 101.2, 101.5, 101.8, 102.1
        ]));
        assert!(!with_rates(&[
            100.0, 101.0, 99.0, 100.0, 107.0, 109.0, 106.0, 108.0
        ]));
    }

    #[test]
    fn a_latency_that_grows_under_a_level_rate_is_not_steady() {
        let bins: Vec<_> = (0..8)
            .map(|at| (100.0, 0.010 + 0.002 * f64::from(at)))
            .collect();
        assert!(!steady(&bins));
    }

    #[test]
    fn too_few_bins_and_a_silent_server_are_not_steady() {
        assert!(!with_rates(&[100.0; 7]));
        assert!(!steady(&[(0.0, 0.0); 8]));
        assert!(!steady(&[]));
    }
}
