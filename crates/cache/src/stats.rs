//! Statistics of the cache, for metrics and `andon explain`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::health::DiskError;
use crate::entry::Hit;
use crate::freshness::Freshness;

/// A snapshot of all statistics. Event counts start at zero when the cache is opened, all other values are current.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Statistics of the memory tier. All zero if it is off.
    pub memory: MemoryStats,
    /// Statistics of the disk tier. `None` if it is off.
    pub disk: Option<DiskStats>,
    /// Statistics of the store that nodes share. `None` if there is none.
    pub store: Option<StoreStats>,
    /// Number of purges requested on this node.
    pub purges: u64,
    /// Number of purge rules in force. Every look-up compares the entry that it finds with these rules.
    pub purge_rules_active: u64,
}

/// Counts of how look-ups in one tier ended.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    hits: AtomicU64,
    stale: AtomicU64,
    misses: AtomicU64,
}

impl Lookups {
    pub(crate) fn count(&self, hit: Option<&Hit>) {
        let counter = match hit.map(|hit| hit.freshness) {
            Some(Freshness::Fresh) => &self.hits,
            Some(Freshness::Stale { .. }) => &self.stale,
            None => &self.misses,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the numbers of fresh hits, stale hits and misses.
    pub(crate) fn read(&self) -> (u64, u64, u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&self.hits), read(&self.stale), read(&self.misses))
    }
}

/// Statistics of the memory tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Number of look-ups that found a fresh entry in memory.
    pub hits: u64,
    /// Number of look-ups that found a stale entry in memory.
    pub stale: u64,
    /// Number of look-ups that found no entry in memory.
    pub misses: u64,
    /// Number of entries in memory.
    pub entries: u64,
    /// Bytes in use: bodies and fields of the entries, and the index.
    pub bytes: u64,
    /// Size limit in bytes.
    pub limit: u64,
    /// Number of entries that were evicted to make room.
    pub evictions: u64,
}

/// Statistics of the disk tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Number of look-ups that missed in memory and found a fresh entry on disk.
    pub hits: u64,
    /// Number of look-ups that missed in memory and found a stale entry on disk.
    pub stale: u64,
    /// Number of look-ups that missed both in memory and on disk.
    pub misses: u64,
    /// Number of entries on disk.
    pub entries: u64,
    /// Disk space in use in bytes, counted in whole blocks.
    pub bytes: u64,
    /// Size limit in bytes.
    pub limit: u64,
    /// Number of entries that were evicted to make room.
    pub evictions: u64,
    /// Number of files that were found to be corrupt. They were removed and not served.
    pub corrupt: u64,
    /// Number of file operations that failed.
    pub errors: u64,
    /// Number of entries that the write queue dropped because it was full or a write failed. Entries that arrive while
    /// writing is suspended after an error are not counted.
    pub dropped: u64,
    /// Bytes of entries in the queue of writes to disk.
    pub queued_bytes: u64,
    /// Whether the entries left by earlier processes have been counted. Writing waits for this.
    pub ready: bool,
    /// The current error, if there is one.
    pub error: Option<DiskError>,
}

/// Statistics of the store that nodes share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Number of look-ups that found a fresh entry in the store, after this node's own tiers had none.
    pub hits: u64,
    /// Number of look-ups that found a stale entry in the store.
    pub stale: u64,
    /// Number of look-ups that found no usable entry in the store.
    pub misses: u64,
    /// Number of look-ups that were skipped, because the store was out of use or too many were under way.
    pub skipped: u64,
    /// Number of requests to the store that failed or took too long.
    pub errors: u64,
    /// Number of objects that were ignored because they have no valid seal, the keyed digest that proves that a node
    /// wrote them.
    pub rejected: u64,
    /// Number of entries that this node wrote to the store.
    pub stored: u64,
    /// Number of entries that were not written because another node had written them before.
    pub present: u64,
    /// Number of entries that were never written because the store was too slow or out of use.
    pub dropped: u64,
    /// Bytes of entries that are being written to the shared store, or wait for it.
    pub queued_bytes: u64,
    /// Number of purge rules in the store's shared log, from all nodes. Every look-up compares the entry that it finds
    /// with these rules.
    pub purge_rules: u64,
    /// Whether the store is in use.
    pub ready: bool,
    /// Whether the store ignores the conditions of conditional writes. Purges may then be lost before other nodes learn
    /// of them.
    pub ignores_conditions: bool,
    /// The current error, if there is one.
    pub error: Option<String>,
}
