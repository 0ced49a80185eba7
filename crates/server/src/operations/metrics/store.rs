//! Metrics of the store that nodes share: how look-ups ended, what was written, and its state.

use andon_cache::StoreStats;

use crate::prometheus::{Metric, MetricSet, flag};

/// Writes the metrics of the store. Without a store, they have names but no values.
pub(crate) fn write(out: &mut MetricSet, stats: Option<&StoreStats>) {
    out.counter(
        "andon_store_lookups_total",
        "Look-ups in the shared store by outcome; skipped: not asked, because it is out of use or busy.",
    );
    if let Some(stats) = stats {
        let outcomes = [
            ("hit", stats.hits),
            ("stale", stats.stale),
            ("miss", stats.misses),
            ("skipped", stats.skipped),
        ];
        out.samples("outcome", outcomes);
    }
    out.metrics(METRICS, stats);
}

const METRICS: &[Metric<StoreStats>] = &[
    Metric::Counter(
        "andon_store_errors_total",
        "Requests to the shared store that failed or took too long.",
        |it| it.errors as f64,
    ),
    Metric::Counter(
        "andon_store_rejected_total",
        "Objects of the shared store without a valid seal, which are never served.",
        |it| it.rejected as f64,
    ),
    Metric::Counter(
        "andon_store_written_total",
        "Results that were written to the shared store.",
        |it| it.stored as f64,
    ),
    Metric::Counter(
        "andon_store_present_total",
        "Results that another node had written before.",
        |it| it.present as f64,
    ),
    Metric::Counter(
        "andon_store_dropped_total",
        "Results never written, because the shared store was too slow or out of use.",
        |it| it.dropped as f64,
    ),
    Metric::Gauge(
        "andon_store_queued_bytes",
        "Bytes waiting to be written to the shared store.",
        |it| it.queued_bytes as f64,
    ),
    Metric::Gauge(
        "andon_store_purge_rules_active",
        "Purges of all nodes that look-ups are compared with.",
        |it| it.purge_rules as f64,
    ),
    Metric::Gauge(
        "andon_store_ready",
        "1 while the shared store is in use; 0 while it fails or its purges cannot be read.",
        |it| flag(it.ready),
    ),
    Metric::Gauge(
        "andon_store_ignores_conditions",
        "1 if the shared store writes whatever the condition of a write is: purges may not reach other nodes.",
        |it| flag(it.ignores_conditions),
    ),
];
