//! Metrics of the fetches from each origin: their bytes, how they ended, and how long they took.

use crate::origins::{Line, Origins, RESULTS};
use crate::prometheus::{Metric, MetricSet};

/// Writes the metrics of all origins. A reload resets their counters, which Prometheus allows.
pub(crate) fn write(out: &mut MetricSet, origins: &Origins) {
    let readings: Vec<_> = origins.readings().collect();
    out.counter(
        "andon_origin_fetches_total",
        "Fetches from an origin by how they ended.",
    );
    for reading in &readings {
        for (result, count) in RESULTS.iter().zip(reading.figures.results()) {
            let labels = [("origin", &*reading.name), ("result", *result)];
            out.sample(&labels, count as f64);
        }
    }
    out.counter(
        "andon_origin_received_bytes_total",
        "Bytes of sources that an origin gave.",
    );
    for reading in &readings {
        let bytes = reading.figures.bytes();
        out.sample(&[("origin", &reading.name)], bytes as f64);
    }
    out.histogram(
        "andon_origin_fetch_duration_seconds",
        "How long fetches from an origin took, its queue and whatever came of them included.",
    );
    for reading in &readings {
        let times = reading.figures.times();
        times.write(out, &[("origin", &reading.name)]);
    }
    let lines: Vec<_> = readings
        .iter()
        .filter_map(|reading| Some((&*reading.name, reading.line?)))
        .collect();
    out.metrics_by("origin", LINE, &lines);
}

const LINE: &[Metric<Line>] = &[
    Metric::Counter(
        "andon_origin_retries_total",
        "Requests that were sent to an origin once more, because its connection broke.",
        |line| line.retries as f64,
    ),
    Metric::Gauge(
        "andon_origin_fetches_in_flight",
        "Fetches from an origin under way.",
        |line| line.busy as f64,
    ),
    Metric::Gauge(
        "andon_origin_fetch_slots",
        "Fetches from an origin that there may be at a time.",
        |line| line.slots as f64,
    ),
];
