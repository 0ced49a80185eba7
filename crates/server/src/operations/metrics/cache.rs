//! Metrics of the cache: what each tier keeps, how look-ups ended, and the state of the disk.

use andon_cache::{DiskErrorKind, Stats};

use crate::prometheus::Exposition;

/// Writes how many requests currently wait for results, fetches and measurements that other requests have started.
pub(crate) fn write_coalesced(out: &mut Exposition, followers: [usize; 3]) {
    out.gauge(
        "andon_coalesced_requests",
        "Requests that wait for a result, a fetch or a measurement that another request has started.",
    );
    for (work, waiting) in ["result", "fetch", "measure"].into_iter().zip(followers) {
        out.sample("", &[("work", work)], waiting as f64);
    }
}

/// Writes metrics of the sources that were fetched over a network and are kept for further sizes: the fetches saved,
/// and the bytes kept.
pub(crate) fn write_sources(out: &mut Exposition, hits: u64, kept: &Stats) {
    out.counter(
        "andon_source_cache_hits_total",
        "Fetches over a network that were saved because the source was kept.",
    );
    out.value(hits as f64);
    let disk = kept.disk.as_ref();
    for (name, help, values) in [
        (
            "andon_source_cache_bytes",
            "Bytes of sources that were fetched over a network and are kept.",
            [kept.memory.bytes, disk.map_or(0, |disk| disk.bytes)],
        ),
        (
            "andon_source_cache_limit_bytes",
            "Bytes that they may take.",
            [kept.memory.limit, disk.map_or(0, |disk| disk.limit)],
        ),
    ] {
        out.gauge(name, help);
        for (tier, bytes) in ["memory", "disk"].into_iter().zip(values) {
            out.sample("", &[("tier", tier)], bytes as f64);
        }
    }
}

pub(crate) fn write(out: &mut Exposition, stats: &Stats) {
    let memory = &stats.memory;
    let disk = stats.disk.as_ref();
    let tiers = |of_memory: u64, of_disk: Option<u64>| {
        [Some(("memory", of_memory)), of_disk.map(|of| ("disk", of))]
            .into_iter()
            .flatten()
    };

    out.counter(
        "andon_cache_lookups_total",
        "Look-ups by tier and outcome; the disk is asked for what memory does not have.",
    );
    for (outcome, of_memory, of_disk) in [
        ("hit", memory.hits, disk.map(|disk| disk.hits)),
        ("stale", memory.stale, disk.map(|disk| disk.stale)),
        ("miss", memory.misses, disk.map(|disk| disk.misses)),
    ] {
        for (tier, count) in tiers(of_memory, of_disk) {
            out.sample("", &[("tier", tier), ("outcome", outcome)], count as f64);
        }
    }
    out.counter(
        "andon_cache_evictions_total",
        "Entries that left a tier to make room.",
    );
    for (tier, count) in tiers(memory.evictions, disk.map(|disk| disk.evictions)) {
        out.sample("", &[("tier", tier)], count as f64);
    }
    for (name, help, of_memory, of_disk) in [
        (
            "andon_cache_entries",
            "Entries in a tier.",
            memory.entries,
            disk.map(|disk| disk.entries),
        ),
        (
            "andon_cache_bytes",
            "Bytes that a tier takes.",
            memory.bytes,
            disk.map(|disk| disk.bytes),
        ),
        (
            "andon_cache_limit_bytes",
            "Bytes that a tier may take.",
            memory.limit,
            disk.map(|disk| disk.limit),
        ),
    ] {
        out.gauge(name, help);
        for (tier, value) in tiers(of_memory, of_disk) {
            out.sample("", &[("tier", tier)], value as f64);
        }
    }
    out.counter("andon_cache_purges_total", "Purges that were ordered here.");
    out.value(stats.purges as f64);
    out.gauge(
        "andon_cache_purge_rules_active",
        "Purge rules that look-ups are compared with.",
    );
    out.value(stats.purge_rules_active as f64);

    for (name, help, count) in [
        (
            "andon_cache_disk_errors_total",
            "File operations of the disk tier that failed.",
            disk.map(|disk| disk.errors),
        ),
        (
            "andon_cache_disk_corrupt_total",
            "Files whose checksum was wrong, removed instead of served.",
            disk.map(|disk| disk.corrupt),
        ),
        (
            "andon_cache_disk_dropped_total",
            "Entries never written, because the disk was too slow or failing.",
            disk.map(|disk| disk.dropped),
        ),
    ] {
        out.counter(name, help);
        out.value(count.map(|count| count as f64));
    }
    out.gauge(
        "andon_cache_disk_queued_bytes",
        "Bytes waiting to be written to the disk tier.",
    );
    out.value(disk.map(|disk| disk.queued_bytes as f64));
    out.gauge(
        "andon_cache_disk_ready",
        "1 once the entries of earlier processes are counted, which writing waits for.",
    );
    out.value(disk.map(|disk| f64::from(u8::from(disk.ready))));
    out.gauge(
        "andon_cache_disk_error",
        "1 for the error that the disk tier is in; all 0 while it works.",
    );
    if let Some(disk) = disk {
        for kind in DiskErrorKind::ALL {
            let is_wrong = disk.error.as_ref().map(|error| error.kind) == Some(kind);
            let labels = [("kind", kind.label())];
            out.sample("", &labels, f64::from(u8::from(is_wrong)));
        }
    }
}
