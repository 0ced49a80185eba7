//! Metrics of the store that nodes share: how look-ups ended, what was written, and its state.

use andon_cache::StoreStats;

use crate::prometheus::Exposition;

/// Writes the metrics of the store. Without a store, they have names but no values.
pub(crate) fn write(out: &mut Exposition, stats: Option<&StoreStats>) {
    out.counter(
        "andon_store_lookups_total",
        "Look-ups in the shared store by outcome; skipped: not asked, because it is out of use or busy.",
    );
    if let Some(stats) = stats {
        for (outcome, count) in [
            ("hit", stats.hits),
            ("stale", stats.stale),
            ("miss", stats.misses),
            ("skipped", stats.skipped),
        ] {
            out.sample("", &[("outcome", outcome)], count as f64);
        }
    }
    for (name, help, count) in [
        (
            "andon_store_errors_total",
            "Requests to the shared store that failed or took too long.",
            stats.map(|it| it.errors),
        ),
        (
            "andon_store_rejected_total",
            "Objects of the shared store without a valid seal, which are never served.",
            stats.map(|it| it.rejected),
        ),
        (
            "andon_store_written_total",
            "Results that were written to the shared store.",
            stats.map(|it| it.stored),
        ),
        (
            "andon_store_present_total",
            "Results that another node had written before.",
            stats.map(|it| it.present),
        ),
        (
            "andon_store_dropped_total",
            "Results never written, because the shared store was too slow or out of use.",
            stats.map(|it| it.dropped),
        ),
    ] {
        out.counter(name, help);
        out.value(count.map(|count| count as f64));
    }
    for (name, help, value) in [
        (
            "andon_store_queued_bytes",
            "Bytes waiting to be written to the shared store.",
            stats.map(|it| it.queued_bytes as f64),
        ),
        (
            "andon_store_purge_rules_active",
            "Purges of all nodes that look-ups are compared with.",
            stats.map(|it| it.purge_rules as f64),
        ),
        (
            "andon_store_ready",
            "1 while the shared store is in use; 0 while it fails or its purges cannot be read.",
            stats.map(|it| f64::from(u8::from(it.ready))),
        ),
        (
            "andon_store_ignores_conditions",
            "1 if the shared store writes whatever the condition of a write is: purges may not reach other nodes.",
            stats.map(|it| f64::from(u8::from(it.ignores_conditions))),
        ),
    ] {
        out.gauge(name, help);
        out.value(value);
    }
}
