//! Metrics of one origin, for `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::blocking::Blocking;
use crate::error::{Error, OriginError};
use crate::prometheus::Histogram;

/// Counters of the fetches from one origin, by outcome. A reload resets them.
#[derive(Debug, Default)]
pub(crate) struct OriginMetrics {
    results: [AtomicU64; RESULTS.len()],
    bytes: AtomicU64,
    times: Histogram,
}

/// The possible outcomes of a fetch.
pub(crate) const RESULTS: [&str; 18] = [
    "ok",
    "not_modified",
    "not_found",
    "forbidden",
    "too_large",
    "timeout",
    "denied",
    "name",
    "unreachable",
    "tls",
    "cut",
    "garbled",
    "status",
    "redirect",
    "credentials",
    "paced",
    "io",
    "other",
];

impl OriginMetrics {
    /// Counts a fetch, unless it failed because it must not wait for a disk and will be repeated by a thread that may.
    pub(crate) fn count_unless_blocked(
        &self,
        outcome: Result<Option<u64>, &Error>,
        duration: Duration,
        blocking: Blocking,
    ) {
        if !outcome.is_err_and(|error| blocking.ends_with(error)) {
            self.count(outcome, duration);
        }
    }

    /// Counts a fetch. Its outcome is the number of bytes fetched, `None` if the source had not changed, or an error.
    pub(crate) fn count(&self, outcome: Result<Option<u64>, &Error>, duration: Duration) {
        let result = match outcome {
            Ok(Some(_)) => "ok",
            Ok(None) => "not_modified",
            Err(error) => word(error),
        };
        if let Some(index) = RESULTS.iter().position(|name| *name == result) {
            self.results[index].fetch_add(1, Ordering::Relaxed);
        }
        if let Ok(Some(bytes)) = outcome {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        self.times.observe(duration);
    }

    /// Returns how many fetches ended in each way, in the order of [`RESULTS`].
    pub(crate) fn results(&self) -> [u64; RESULTS.len()] {
        std::array::from_fn(|index| self.results[index].load(Ordering::Relaxed))
    }

    /// Returns the bytes of all fetched sources together.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the histogram of how long fetches took, whatever their outcome.
    pub(crate) fn times(&self) -> &Histogram {
        &self.times
    }
}

/// A snapshot of the metrics that only origins over a network have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Number of fetches under way.
    pub(crate) busy: usize,
    /// Maximum number of fetches at a time.
    pub(crate) slots: usize,
    /// Number of requests that were repeated.
    pub(crate) retries: u64,
}

/// Returns the name in [`RESULTS`] for an error.
fn word(error: &Error) -> &'static str {
    match error.root() {
        Error::Missing { .. } | Error::Withheld { .. } => "not_found",
        Error::Forbidden { .. } => "forbidden",
        Error::Pixels(andon_pixels::Error::Limit { .. }) => "too_large",
        Error::Io(_) | Error::Changing => "io",
        Error::Origin(OriginError::Slow { .. }) => "timeout",
        Error::Origin(trouble) => trouble.label().trim_start_matches("origin_"),
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_counted_once_under_a_word_of_the_list() {
        let figures = OriginMetrics::default();
        let errors = [
            Error::Missing { path: "a".into() },
            Error::Forbidden { path: "a".into() },
            Error::Changing,
            Error::NoRoom,
            OriginError::UnknownName.into(),
            OriginError::Denied(([127, 0, 0, 1], 80).into()).into(),
            OriginError::Insecure("none".to_owned()).into(),
            OriginError::Unbounded.into(),
            OriginError::Packed("br".to_owned()).into(),
            OriginError::Status(500).into(),
            OriginError::Credentials("none".to_owned()).into(),
            OriginError::Paced {
                per_second: 1,
                seconds: 1,
            }
            .into(),
        ];
        for error in &errors {
            assert!(RESULTS.contains(&word(error)), "{error}");
            figures.count(Err(error), Duration::ZERO);
        }
        figures.count(Ok(Some(7)), Duration::ZERO);
        figures.count(Ok(None), Duration::ZERO);
        assert_eq!(figures.results().iter().sum::<u64>(), 14);
        assert_eq!(figures.results()[..3], [1, 1, 1]);
        assert_eq!(figures.bytes(), 7);
    }
}
