//! Metrics as OTLP has them: counters are cumulative monotonic sums, and histograms have explicit bounds.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::values::{nanoseconds, scope, text};
use crate::prometheus::{self, BOUNDS, Family, Kind, MetricSet, Point};

/// Converts metrics that were read at `now`, and returns with them how many data points they have. Families without
/// points are left out.
pub(super) fn of(set: &MetricSet, now: SystemTime) -> (Vec<Value>, usize) {
    let families = set.families.iter();
    let families = families.filter(|family| !family.points.is_empty());
    let metrics = families.clone().map(|family| metric(family, now)).collect();
    (metrics, families.map(|family| family.points.len()).sum())
}

fn metric(family: &Family, now: SystemTime) -> Value {
    let points: Vec<Value> = (family.points.iter())
        .map(|it| point(family, it, now))
        .collect();
    let mut metric = json!({
        "name": family.name,
        "description": family.help,
        "unit": unit(family.name),
    });
    let (data, value) = match family.kind {
        Kind::Gauge => ("gauge", json!({ "dataPoints": points })),
        Kind::Counter => (
            "sum",
            json!({ "dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true }),
        ),
        Kind::Histogram => (
            "histogram",
            json!({ "dataPoints": points, "aggregationTemporality": CUMULATIVE }),
        ),
    };
    metric[data] = value;
    metric
}

/// Returns the unit of a metric in UCUM notation, read from the end of its name; empty for a plain number.
fn unit(name: &str) -> &'static str {
    match name.trim_end_matches("_total").rsplit('_').next() {
        Some("seconds") => "s",
        Some("bytes") => "By",
        _ => "",
    }
}

fn point(family: &Family, point: &Point, now: SystemTime) -> Value {
    let labels = point.labels.iter();
    let attributes: Vec<Value> = labels.map(|(name, label)| text(name, label)).collect();
    let mut data_point = json!({ "attributes": attributes, "timeUnixNano": nanoseconds(now) });
    if family.kind != Kind::Gauge {
        data_point["startTimeUnixNano"] = json!(nanoseconds(family.since));
    }
    match &point.value {
        prometheus::Value::Number(value) => data_point["asDouble"] = json!(value),
        prometheus::Value::Distribution(it) => {
            let counts: Vec<_> = it.counts.iter().map(u64::to_string).collect();
            let exemplars = it.exemplars.iter().flatten().map(|exemplar| {
                json!({
                    "timeUnixNano": nanoseconds(exemplar.at),
                    "asDouble": exemplar.took.as_secs_f64(),
                    "traceId": exemplar.trace_id,
                    "spanId": exemplar.span_id,
                })
            });
            // The sum of the buckets, so that the two agree even if observations are added meanwhile.
            data_point["count"] = json!(it.counts.iter().sum::<u64>().to_string());
            data_point["sum"] = json!(it.seconds);
            data_point["exemplars"] = exemplars.collect();
            data_point["bucketCounts"] = json!(counts);
            data_point["explicitBounds"] = json!(BOUNDS);
        }
    }
    data_point
}

/// Returns the OTLP message that holds these metrics.
pub(super) fn message(resource: &Value, metrics: Vec<Value>) -> Value {
    json!({
        "resourceMetrics": [{
            "resource": resource,
            "scopeMetrics": [{ "scope": scope(), "metrics": metrics }],
        }],
    })
}

/// OTLP temporality of values that are counted from a start time on.
const CUMULATIVE: u8 = 2;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::prometheus::{Exemplar, Histogram};

    const BEGAN: SystemTime = SystemTime::UNIX_EPOCH;

    fn now() -> SystemTime {
        BEGAN + Duration::from_nanos(5)
    }

    #[test]
    fn each_kind_has_its_type_unit_and_times() {
        let mut set = MetricSet::new(BEGAN);
        set.gauge("andon_empty", "Nothing.");
        set.gauge("andon_x_bytes", "What x holds.");
        set.value(1.5);
        set.since(BEGAN + Duration::from_nanos(2));
        set.counter("andon_x_seconds_total", "How long x was.");
        set.sample(&[("of", "a\"b")], 2.0);
        let (metrics, count) = of(&set, now());
        assert_eq!(count, 2);
        let gauge = json!({
            "name": "andon_x_bytes", "description": "What x holds.", "unit": "By",
            "gauge": { "dataPoints": [{ "attributes": [], "timeUnixNano": "5", "asDouble": 1.5 }] },
        });
        let sum = json!({
            "name": "andon_x_seconds_total", "description": "How long x was.", "unit": "s",
            "sum": {
                "aggregationTemporality": 2,
                "isMonotonic": true,
                "dataPoints": [{
                    "attributes": [{ "key": "of", "value": { "stringValue": "a\"b" } }],
                    "startTimeUnixNano": "2",
                    "timeUnixNano": "5",
                    "asDouble": 2.0,
                }],
            },
        });
        assert_eq!(metrics, [gauge, sum]);
        assert_eq!(unit("andon_requests_total"), "");
    }

    #[test]
    fn a_histogram_has_a_count_for_each_bucket_alone() {
        let histogram = Histogram::default();
        for millis in [1, 2, 60_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        histogram.observe_named(Exemplar {
            trace_id: "a".repeat(32),
            span_id: "b".repeat(16),
            took: Duration::from_millis(2),
            at: now(),
        });
        let mut set = MetricSet::new(BEGAN);
        set.histogram("andon_x_seconds", "How long x was.");
        histogram.write(&mut set, &[]);
        let (metrics, count) = of(&set, now());
        assert_eq!(count, 1);
        let point = &metrics[0]["histogram"]["dataPoints"][0];
        assert_eq!(
            (&point["count"], &point["sum"]),
            (&"4".into(), &60.005.into())
        );
        let list = |key: &str| point[key].as_array().unwrap().clone();
        assert_eq!(list("bucketCounts")[..4], ["0", "1", "2", "0"]);
        assert_eq!(list("bucketCounts").len(), list("explicitBounds").len() + 1);
        assert_eq!(list("explicitBounds")[1], 0.001);
        assert_eq!(list("exemplars").len(), 1);
        assert_eq!(point["exemplars"][0]["spanId"], "b".repeat(16));
    }
}
