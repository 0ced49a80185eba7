//! What each metric is: how to read it from a block, which direction is better.

use super::verdict::Resource;
use crate::record::Block;
use crate::scenario::Metric;

/// A quantile stands on at least so many requests beyond it, or it is not given.
pub(super) const BEYOND: f64 = 10.0;

impl Metric {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 6] = [
        Self::Throughput,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::CpuSPerRequest,
        Self::Rss,
    ];

    /// Its name as in scenarios.
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

    /// Its unit.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "1/s",
            Self::P50 | Self::P90 | Self::P99 | Self::CpuSPerRequest => "s",
            Self::Rss => "B",
        }
    }

    /// Is more better?
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self == Self::Throughput
    }

    /// What it is a use of, of which there is more or less; `None` for speeds, which are faster or slower.
    #[must_use]
    pub fn resource(self) -> Option<Resource> {
        match self {
            Self::CpuSPerRequest => Some(Resource::Cpu),
            Self::Rss => Some(Resource::Memory),
            Self::Throughput | Self::P50 | Self::P90 | Self::P99 => None,
        }
    }

    /// The share of requests that a quantile does not exceed; `None` for other metrics.
    #[must_use]
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.50),
            Self::P90 => Some(0.90),
            Self::P99 => Some(0.99),
            Self::Throughput | Self::CpuSPerRequest | Self::Rss => None,
        }
    }

    /// Its value in a block; `None` where the block cannot tell: nothing measured, or fewer than ten requests
    /// beyond a quantile.
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

/// How many requests of a block lie beyond a quantile.
pub(super) fn beyond(block: &Block, share: f64) -> f64 {
    // Rounded, because 0.01 of 1000 is a hair above or below ten.
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
