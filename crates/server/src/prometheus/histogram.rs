//! Histograms of durations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Exemplar, MetricSet};

/// A histogram of durations. Observations without an exemplar take no lock.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// Number of observations in each bucket. The counts are not cumulative; they are added up when the histogram is
    /// written.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
    /// The last exemplar of each bucket.
    exemplars: [Mutex<Option<Exemplar>>; BOUNDS.len() + 1],
}

/// Upper bounds of the buckets in seconds: from a cache hit to the deadline of a request.
pub(crate) const BOUNDS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0,
];

/// Number of observations in each bucket, not cumulative: from the fastest to those over the last bound.
pub(crate) type Buckets = [u64; BOUNDS.len() + 1];

/// The counts of a histogram at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    pub(crate) counts: Buckets,
    /// Sum of all observations in seconds.
    pub(crate) seconds: f64,
    /// The last exemplar of each bucket.
    pub(crate) exemplars: [Option<Exemplar>; BOUNDS.len() + 1],
}

impl Histogram {
    /// Returns the number of observations of each bucket.
    pub(crate) fn counts(&self) -> Buckets {
        std::array::from_fn(|index| self.buckets[index].load(Ordering::Relaxed))
    }

    pub(crate) fn observe(&self, time: Duration) {
        let bucket = bucket(time);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Counts an observation whose trace is known, and keeps it as the exemplar of its bucket.
    pub(crate) fn observe_named(&self, exemplar: Exemplar) {
        self.observe(exemplar.took);
        let last = &self.exemplars[bucket(exemplar.took)];
        // No code panics while it holds the lock.
        *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(exemplar);
    }

    /// Returns the sum of all observations in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9
    }

    /// Adds the histogram to the family that was begun last.
    pub(crate) fn write(&self, out: &mut MetricSet, labels: &[(&'static str, &str)]) {
        let distribution = Distribution {
            counts: self.counts(),
            seconds: self.seconds(),
            exemplars: std::array::from_fn(|bucket| {
                let exemplar = self.exemplars[bucket].lock();
                exemplar.unwrap_or_else(PoisonError::into_inner).clone()
            }),
        };
        out.distribution(labels, distribution);
    }
}

/// Returns the quantile in seconds: the time within which this share of the observations ended, or `None` without
/// observations. It is interpolated within a bucket, and never exceeds the last bound.
pub(crate) fn quantile(counts: &Buckets, share: f64) -> Option<f64> {
    let rank = counts.iter().sum::<u64>() as f64 * share;
    let mut below = 0.0;
    let mut from = 0.0;
    for (count, bound) in counts.iter().zip(BOUNDS) {
        let count = *count as f64;
        if count > 0.0 && below + count >= rank {
            return Some(from + (bound - from) * (rank - below) / count);
        }
        below += count;
        from = bound;
    }
    (counts[BOUNDS.len()] > 0).then_some(from)
}

fn bucket(time: Duration) -> usize {
    BOUNDS.partition_point(|bound| *bound < time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::prometheus::Format;

    #[test]
    fn the_last_observation_with_a_name_is_an_example_of_its_bucket() {
        let histogram = Histogram::default();
        for (trace, millis) in [("a", 3), ("b", 4), ("c", 2000)] {
            histogram.observe_named(Exemplar {
                trace_id: trace.to_owned(),
                span_id: "d".to_owned(),
                took: Duration::from_millis(millis),
                at: SystemTime::UNIX_EPOCH + Duration::from_millis(1500),
            });
        }
        histogram.observe(Duration::from_millis(4));
        let text = |format| {
            let mut out = MetricSet::new(SystemTime::UNIX_EPOCH);
            out.histogram("x_seconds", "x");
            histogram.write(&mut out, &[]);
            out.text(format)
        };
        let open = text(Format::OpenMetrics);
        for line in [
            "x_seconds_bucket{le=\"0.0025\"} 0",
            "x_seconds_bucket{le=\"0.005\"} 3 # {trace_id=\"b\",span_id=\"d\"} 0.004 1.500",
            "x_seconds_bucket{le=\"1.0\"} 3",
            "x_seconds_bucket{le=\"2.5\"} 4 # {trace_id=\"c\",span_id=\"d\"} 2 1.500",
        ] {
            assert!(open.lines().any(|it| it == line), "{line}\n{open}");
        }
        assert!(!text(Format::Text).contains("trace_id"));
    }

    #[test]
    fn a_quantile_lies_in_the_bucket_that_holds_its_rank() {
        assert_eq!(quantile(&Buckets::default(), 0.5), None);
        let histogram = Histogram::default();
        for millis in [3, 3, 3, 70] {
            histogram.observe(Duration::from_millis(millis));
        }
        let of = |share| quantile(&histogram.counts(), share).expect("a quantile");
        assert!((0.0025..=0.005).contains(&of(0.5)), "{}", of(0.5));
        assert!((0.05..=0.1).contains(&of(0.99)), "{}", of(0.99));
        histogram.observe(Duration::from_secs(90));
        assert_eq!(quantile(&histogram.counts(), 0.99), Some(30.0));
    }

    #[test]
    fn a_bucket_holds_what_is_at_most_its_bound() {
        let histogram = Histogram::default();
        for millis in [1, 2, 60_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let mut out = MetricSet::new(SystemTime::UNIX_EPOCH);
        out.histogram("x_seconds", "x");
        histogram.write(&mut out, &[]);
        let text = out.text(Format::Text);
        for line in [
            "x_seconds_bucket{le=\"0.0005\"} 0",
            "x_seconds_bucket{le=\"0.001\"} 1",
            "x_seconds_bucket{le=\"0.0025\"} 2",
            "x_seconds_bucket{le=\"30\"} 2",
            "x_seconds_bucket{le=\"+Inf\"} 3",
            "x_seconds_sum 60.003",
            "x_seconds_count 3",
        ] {
            assert!(
                text.lines().any(|written| written == line),
                "{line}\n{text}"
            );
        }
    }
}
