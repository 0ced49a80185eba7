//! The outcomes of requests, as counts and latencies.

use std::time::Duration;

use serde::Serialize;

/// The outcomes of the requests in one phase of a simulation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    /// All requests.
    pub requests: u64,
    /// Requests answered from the memory tier.
    pub memory: u64,
    /// Requests answered by a result that another request had already begun to look up or to make.
    pub joined: u64,
    /// Requests answered from the store.
    pub store: u64,
    /// Requests answered by a result that was made for them.
    pub made: u64,
    /// The number of times that a request was sent to another node.
    pub retried: u64,
    /// Requests that were rejected (503).
    pub rejected: u64,
    /// Requests that were not answered at all.
    pub lost: u64,
    /// Requests answered with another image's result.
    pub wrong: u64,
    /// Latencies of the answered requests that the memory tier did not answer at once.
    pub misses: Latencies,
    /// Times that the making of results took, including the time in the queue.
    pub making: Latencies,
}

impl Tally {
    /// Returns `part`, a number of requests, in per cent of all requests.
    #[must_use]
    pub fn per_cent(&self, part: u64) -> f64 {
        100.0 * part as f64 / self.requests as f64
    }

    /// Returns the latency that a share of all answered requests does not exceed, in milliseconds. Responses from
    /// memory count as 0.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        let answered = self.memory + self.misses.count();
        let slower = ((1.0 - share) * answered as f64).floor() as u64;
        self.misses.with_slower(slower)
    }
}

/// A histogram of latencies in whole milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Adds a latency.
    pub fn record(&mut self, time: Duration) {
        let millis = time.as_millis() as usize;
        if self.0.len() <= millis {
            self.0.resize(millis + 1, 0);
        }
        self.0[millis] += 1;
    }

    /// The number of latencies.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the latency that this share of all latencies does not exceed, in milliseconds, or NaN if there are none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        match self.count() {
            0 => f64::NAN,
            count => self.with_slower(((1.0 - share) * count as f64).floor() as u64),
        }
    }

    /// Returns the highest latency after leaving out the `slower` highest ones, in milliseconds, or 0 if there are no others.
    fn with_slower(&self, slower: u64) -> f64 {
        let mut seen = 0;
        for (millis, count) in self.0.iter().enumerate().rev() {
            seen += count;
            if seen > slower {
                return millis as f64;
            }
        }
        0.0
    }
}

/// Serializes the count, two quantiles and the maximum.
impl Serialize for Latencies {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Summary {
            count: u64,
            p50_ms: f64,
            p99_ms: f64,
            most_ms: f64,
        }
        let summary = Summary {
            count: self.count(),
            p50_ms: self.quantile(0.5),
            p99_ms: self.quantile(0.99),
            most_ms: self.quantile(1.0),
        };
        summary.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_a_sorted_list() {
        let mut latencies = Latencies::default();
        for millis in (1..=100).rev() {
            latencies.record(Duration::from_millis(millis));
        }
        assert_eq!(latencies.quantile(0.5), 50.0);
        assert_eq!(latencies.quantile(0.99), 99.0);
        assert_eq!(latencies.quantile(1.0), 100.0);
        assert!(Latencies::default().quantile(0.5).is_nan());
    }

    #[test]
    fn requests_from_memory_take_nothing() {
        let mut tally = Tally {
            memory: 900,
            ..Tally::default()
        };
        for millis in 1..=100 {
            tally.misses.record(Duration::from_millis(millis));
        }
        assert_eq!(tally.quantile(0.5), 0.0);
        assert_eq!(tally.quantile(0.99), 90.0);
    }
}
