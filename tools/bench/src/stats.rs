//! Statistics that the benchmarks share, and time measurement.

use std::time::Instant;

use andon_lab::stats;
use anyhow::Result;
use serde::Serialize;

/// Returns the median. For an even number of values it is the mean of the two middle ones, and for no values NaN.
pub(crate) fn median(values: &[f64]) -> f64 {
    stats::median(values).unwrap_or(f64::NAN)
}

/// Returns the quantile for `share` (0 to 1), interpolated between neighbouring values. NaN for no values.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    stats::quantile(values, share).unwrap_or(f64::NAN)
}

/// Returns the geometric mean, which suits rates and ratios. NaN for no values.
pub(crate) fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), v: f64| {
        (sum + v.ln(), count + 1.0)
    });
    (sum / count).exp()
}

/// Returns the arithmetic mean. NaN for no values.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
    sum / count
}

/// Returns the result of `work` and the wall-clock seconds that it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64()))
}

/// Latencies of one kind of response. The times are NaN if there were no such responses.
#[derive(Serialize)]
pub(crate) struct Latency {
    pub(crate) count: usize,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) longest_ms: f64,
}

impl Latency {
    /// Computes the statistics of times in milliseconds.
    pub(crate) fn of(times: impl IntoIterator<Item = f64>) -> Self {
        let times: Vec<f64> = times.into_iter().collect();
        Self {
            count: times.len(),
            p50_ms: quantile(&times, 0.5),
            p99_ms: quantile(&times, 0.99),
            longest_ms: quantile(&times, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_and_halving_cancel_out() {
        assert!((geometric_mean([2.0, 0.5]) - 1.0).abs() < 1e-12);
    }
}
