//! What each metric is: how its value is read from a block, and which direction is better.

use super::verdict::Resource;
use crate::record::Block;
use crate::scenario::Metric;

/// Minimum number of requests that must be slower than a latency quantile. With fewer, the quantile has no value.
pub(super) const BEYOND: f64 = 10.0;

impl Metric {
    /// All metrics, in the order in which reports show them.
    pub const ALL: [Self; 6] = [
        Self::Throughput,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::CpuSPerRequest,
        Self::Rss,
    ];

    /// Returns the metric's name as written in scenarios.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::CpuSPerRequest => "cpu_s_per_request",
            Self::Rss => "rss",
        }
    }

    /// Returns the metric's unit, e.g. `1/s`.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "1/s",
            Self::P50 | Self::P90 | Self::P99 | Self::CpuSPerRequest => "s",
            Self::Rss => "B",
        }
    }

    /// Whether larger values are better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self == Self::Throughput
    }

    /// Returns the resource whose use the metric measures; `None` for throughput and latencies.
    #[must_use]
    pub fn resource(self) -> Option<Resource> {
        match self {
            Self::CpuSPerRequest => Some(Resource::Cpu),
            Self::Rss => Some(Resource::Memory),
            Self::Throughput | Self::P50 | Self::P90 | Self::P99 => None,
        }
    }

    /// Returns the share of requests that a quantile does not exceed, e.g. 0.99; `None` for other metrics.
    #[must_use]
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.50),
            Self::P90 => Some(0.90),
            Self::P99 => Some(0.99),
            Self::Throughput | Self::CpuSPerRequest | Self::Rss => None,
        }
    }

    /// Returns the metric's value in a block; `None` if nothing was measured, or if fewer than ten requests lie beyond
    /// a quantile.
    #[must_use]
    pub fn of(self, block: &Block) -> Option<f64> {
        let value = match self {
            Self::Throughput => block.throughput()?,
            Self::CpuSPerRequest => block.cpu_per_request()?,
            Self::Rss => block.server.rss_peak as f64,
            Self::P50 | Self::P90 | Self::P99 => {
                let share = self.quantile()?;
                if beyond(block, share) < BEYOND {
                    return None;
                }
                block.load.total.quantile(share)
            }
        };
        (value > 0.0 && value.is_finite()).then_some(value)
    }
}

/// Returns how many requests of a block lie beyond the quantile `share`.
pub(super) fn beyond(block: &Block, share: f64) -> f64 {
    // The product is rounded because 0.01 × 1000 in floating point may be slightly less or more than ten.
    (block.load.total.count() as f64 * (1.0 - share) * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_quantile_needs_ten_requests_beyond_it() {
        let block = fixture::block_of(1000);
        assert!(Metric::P99.of(&block).is_some());
        let block = fixture::block_of(999);
        assert_eq!(Metric::P99.of(&block), None);
        assert!(Metric::P90.of(&block).is_some());
    }

    #[test]
    fn names_are_those_of_scenarios() {
        for metric in Metric::ALL {
            let written = serde_json::to_string(&metric).expect("writes");
            assert_eq!(written, format!("\"{}\"", metric.name()));
        }
    }

    #[test]
    fn what_was_not_measured_has_no_value() {
        let mut block = fixture::block_of(0);
        block.server.rss_peak = 0;
        for metric in Metric::ALL {
            assert_eq!(metric.of(&block), None, "{metric:?}");
        }
    }
}
