//! Times in buckets.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Exposition;

/// How many observations were at most so long; no observation waits for another.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// Each bucket's own observations; they are added up when they are written.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

/// Upper bounds in seconds: from a cached hit to the deadline of a request.
const BOUNDS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0,
];

impl Histogram {
    pub(crate) fn observe(&self, time: Duration) {
        let bucket = BOUNDS.partition_point(|bound| *bound < time.as_secs_f64());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(crate) fn write(&self, out: &mut Exposition, labels: &[(&str, &str)]) {
        let mut sum = 0;
        for (index, bucket) in self.buckets.iter().enumerate() {
            sum += bucket.load(Ordering::Relaxed);
            let bound = BOUNDS
                .get(index)
                .map_or("+Inf".to_owned(), ToString::to_string);
            let labels: Vec<_> = labels.iter().copied().chain([("le", &*bound)]).collect();
            out.sample("_bucket", &labels, sum as f64);
        }
        let seconds = self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
        out.sample("_sum", labels, seconds);
        // The last bucket's own sum, so that both agree whatever is observed meanwhile.
        out.sample("_count", labels, sum as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_is_at_most_its_bound() {
        let histogram = Histogram::default();
        for millis in [1, 2, 60_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let mut out = Exposition::default();
        out.histogram("x_seconds", "x");
        histogram.write(&mut out, &[]);
        let text = out.finish();
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
