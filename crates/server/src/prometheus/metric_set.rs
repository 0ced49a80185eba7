//! The metrics at one moment, independent of a format. [`MetricSet::text`] writes them for Prometheus, and
//! `operations::otlp` as messages for a collector.

use std::time::SystemTime;

use super::Distribution;

/// Families of metrics with their values at one moment.
#[derive(Debug)]
pub(crate) struct MetricSet {
    pub(crate) families: Vec<Family>,
    /// When the counters of the families that are begun next were 0.
    since: SystemTime,
}

/// A metric with all its values.
#[derive(Debug)]
pub(crate) struct Family {
    /// The name, by the conventions of Prometheus: with the unit, and `_total` for a counter.
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) kind: Kind,
    /// When the counters of the family were 0.
    pub(crate) since: SystemTime,
    pub(crate) points: Vec<Point>,
}

/// What a metric's values mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A value that only grows.
    Counter,
    /// A current value, which may rise and fall.
    Gauge,
    /// A distribution of durations in seconds.
    Histogram,
}

/// One value of a metric, with the labels that tell it from the others.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) value: Value,
}

/// The value of a point: a number for counters and gauges, a distribution for histograms.
#[derive(Debug)]
pub(crate) enum Value {
    Number(f64),
    Distribution(Box<Distribution>),
}

impl MetricSet {
    /// Creates an empty set. The counters of the families that are begun next were 0 at `since`.
    pub(crate) fn new(since: SystemTime) -> Self {
        Self {
            families: Vec::new(),
            since,
        }
    }

    /// Sets the start time of counters: the time at which they were 0. Applies to the metric families that are begun
    /// after this call.
    pub(crate) fn since(&mut self, since: SystemTime) {
        self.since = since;
    }

    /// Begins a family for a value that only grows.
    pub(crate) fn counter(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, Kind::Counter);
    }

    /// Begins a family for a current value, which may rise and fall.
    pub(crate) fn gauge(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, Kind::Gauge);
    }

    /// Begins a family for a distribution of durations in seconds.
    pub(crate) fn histogram(&mut self, name: &'static str, help: &'static str) {
        self.family(name, help, Kind::Histogram);
    }

    fn family(&mut self, name: &'static str, help: &'static str, kind: Kind) {
        self.families.push(Family {
            name,
            help,
            kind,
            since: self.since,
            points: Vec::new(),
        });
    }

    /// Adds the only value of the family that was begun last, without labels. Adds nothing for `None`.
    pub(crate) fn value(&mut self, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into() {
            self.sample(&[], value);
        }
    }

    /// Adds a value to the family that was begun last.
    pub(crate) fn sample(&mut self, labels: &[(&'static str, &str)], value: f64) {
        self.point(labels, Value::Number(value));
    }

    /// Adds a distribution to the histogram that was begun last.
    pub(super) fn distribution(
        &mut self,
        labels: &[(&'static str, &str)],
        distribution: Distribution,
    ) {
        self.point(labels, Value::Distribution(Box::new(distribution)));
    }

    fn point(&mut self, labels: &[(&'static str, &str)], value: Value) {
        let to_owned = |(name, label): &(&'static str, &str)| (*name, (*label).to_owned());
        let labels = labels.iter().map(to_owned).collect();
        if let Some(family) = self.families.last_mut() {
            family.points.push(Point { labels, value });
        }
    }
}
