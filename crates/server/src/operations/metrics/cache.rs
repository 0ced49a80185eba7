//! Metrics of the cache: the content of each tier, the outcomes of look-ups, and the state of the disk tier.

use andon_cache::{DiskErrorKind, DiskStats, MemoryStats, Stats};

use crate::prometheus::{Metric, MetricSet, flag};

/// Writes how many requests currently wait for what other requests have started: results, fetches, and measurements or
/// indexes of sources, in this order.
pub(crate) fn write_coalesced(out: &mut MetricSet, followers: [usize; 3]) {
    out.gauge(
        "andon_coalesced_requests",
        "Requests that wait for a result, a fetch or a measurement that another request has started.",
    );
    let followers = followers.map(|followers| followers as u64);
    out.samples(
        "work",
        ["result", "fetch", "measure"].into_iter().zip(followers),
    );
}

/// Writes metrics of the cache of sources that were fetched over a network: the fetches that it has saved, and its
/// content.
pub(crate) fn write_sources(out: &mut MetricSet, hits: u64, stats: &Stats) {
    out.counter(
        "andon_source_cache_hits_total",
        "Fetches over a network that were saved because the source was kept.",
    );
    out.value(hits as f64);
    let disk = stats.disk.as_ref().map(of_disk).unwrap_or_default();
    out.metrics_by("tier", SOURCES, &[("memory", stats.memory), ("disk", disk)]);
}

/// Writes metrics of the cache of results.
pub(crate) fn write(out: &mut MetricSet, stats: &Stats) {
    let disk = stats.disk.as_ref();
    let tiers: Vec<_> = [("memory", stats.memory)]
        .into_iter()
        .chain(disk.map(|disk| ("disk", of_disk(disk))))
        .collect();
    out.counter(
        "andon_cache_lookups_total",
        "Look-ups by tier and outcome; the disk is asked for what memory does not have.",
    );
    let counts = |tier: &MemoryStats| [tier.hits, tier.stale, tier.misses];
    for (index, outcome) in ["hit", "stale", "miss"].into_iter().enumerate() {
        for (tier, stats) in &tiers {
            let labels = [("tier", *tier), ("outcome", outcome)];
            out.sample(&labels, counts(stats)[index] as f64);
        }
    }
    out.metrics_by("tier", TIER, &tiers);
    out.metrics(PURGES, Some(stats));
    out.metrics(DISK, disk);
    out.gauge(
        "andon_cache_disk_error",
        "1 for the error that the disk tier is in; all 0 while it works.",
    );
    if let Some(disk) = disk {
        let current = disk.error.as_ref().map(|error| error.kind);
        let errors = DiskErrorKind::ALL.into_iter();
        let errors = errors.map(|kind| (kind.label(), u64::from(current == Some(kind))));
        out.samples("kind", errors);
    }
}

/// Returns the counters of the disk tier that the memory tier has as well.
fn of_disk(disk: &DiskStats) -> MemoryStats {
    MemoryStats {
        hits: disk.hits,
        stale: disk.stale,
        misses: disk.misses,
        entries: disk.entries,
        bytes: disk.bytes,
        limit: disk.limit,
        evictions: disk.evictions,
    }
}

const TIER: &[Metric<MemoryStats>] = &[
    Metric::Counter(
        "andon_cache_evictions_total",
        "Entries that left a tier to make room.",
        |tier| tier.evictions as f64,
    ),
    Metric::Gauge("andon_cache_entries", "Entries in a tier.", |tier| {
        tier.entries as f64
    }),
    Metric::Gauge("andon_cache_bytes", "Bytes that a tier takes.", |tier| {
        tier.bytes as f64
    }),
    Metric::Gauge(
        "andon_cache_limit_bytes",
        "Bytes that a tier may take.",
        |tier| tier.limit as f64,
    ),
];

const PURGES: &[Metric<Stats>] = &[
    Metric::Counter(
        "andon_cache_purges_total",
        "Purges that were ordered here.",
        |stats| stats.purges as f64,
    ),
    Metric::Gauge(
        "andon_cache_purge_rules_active",
        "Purge rules that look-ups are compared with.",
        |stats| stats.purge_rules_active as f64,
    ),
];

const DISK: &[Metric<DiskStats>] = &[
    Metric::Counter(
        "andon_cache_disk_errors_total",
        "File operations of the disk tier that failed.",
        |disk| disk.errors as f64,
    ),
    Metric::Counter(
        "andon_cache_disk_corrupt_total",
        "Files whose checksum was wrong, removed instead of served.",
        |disk| disk.corrupt as f64,
    ),
    Metric::Counter(
        "andon_cache_disk_dropped_total",
        "Entries never written, because the disk was too slow or failing.",
        |disk| disk.dropped as f64,
    ),
    Metric::Gauge(
        "andon_cache_disk_queued_bytes",
        "Bytes waiting to be written to the disk tier.",
        |disk| disk.queued_bytes as f64,
    ),
    Metric::Gauge(
        "andon_cache_disk_ready",
        "1 once the entries of earlier processes are counted, which writing waits for.",
        |disk| flag(disk.ready),
    ),
];

const SOURCES: &[Metric<MemoryStats>] = &[
    Metric::Gauge(
        "andon_source_cache_bytes",
        "Bytes of sources that were fetched over a network and are kept.",
        |tier| tier.bytes as f64,
    ),
    Metric::Gauge(
        "andon_source_cache_limit_bytes",
        "Bytes that they may take.",
        |tier| tier.limit as f64,
    ),
];
