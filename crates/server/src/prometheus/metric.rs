//! Tables of metrics whose values are read from one struct.

use super::MetricSet;

/// A metric: its name, its help, and how its value is read from a state.
pub(crate) enum Metric<S> {
    /// A value that only grows.
    Counter(&'static str, &'static str, fn(&S) -> f64),
    /// A current value, which may rise and fall.
    Gauge(&'static str, &'static str, fn(&S) -> f64),
}

impl MetricSet {
    /// Adds these metrics with their values in `state`, or without values for `None`.
    pub(crate) fn metrics<S>(&mut self, metrics: &[Metric<S>], state: Option<&S>) {
        for metric in metrics {
            let value = self.begin(metric);
            self.value(state.map(value));
        }
    }

    /// Adds these metrics with their values in several states, each with its own value of a label.
    pub(crate) fn metrics_by<S>(
        &mut self,
        label: &'static str,
        metrics: &[Metric<S>],
        states: &[(&str, S)],
    ) {
        for metric in metrics {
            let value = self.begin(metric);
            for (name, state) in states {
                self.sample(&[(label, name)], value(state));
            }
        }
    }

    /// Begins the family of a metric, and returns how its value is read.
    fn begin<S>(&mut self, metric: &Metric<S>) -> fn(&S) -> f64 {
        match *metric {
            Metric::Counter(name, help, value) => {
                self.counter(name, help);
                value
            }
            Metric::Gauge(name, help, value) => {
                self.gauge(name, help);
                value
            }
        }
    }

    /// Adds the samples of the family that was begun last, one for each value of a label.
    pub(crate) fn samples<'a>(
        &mut self,
        label: &'static str,
        samples: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        for (value, count) in samples {
            self.sample(&[(label, value)], count as f64);
        }
    }
}

/// Converts a boolean to the value of a metric: 1 or 0.
pub(crate) fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
}
