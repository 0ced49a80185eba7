//! What the cache can tell about itself, for metrics and `andon explain`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::health::DiskError;
use crate::entry::Hit;
use crate::freshness::Freshness;

/// A reading of all counters. Counts grow from the start of the process; the rest is as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The memory tier; all zero if it is off.
    pub memory: MemoryStats,
    /// The disk tier; `None` if it is off.
    pub disk: Option<DiskStats>,
    /// The store that nodes share; `None` if there is none.
    pub store: Option<StoreStats>,
    /// Purges that were ordered here.
    pub purges: u64,
    /// Purges that look-ups are compared with.
    pub purge_rules_active: u64,
}

/// How look-ups in one tier ended.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    hits: AtomicU64,
    stale: AtomicU64,
    misses: AtomicU64,
}

impl Lookups {
    pub(crate) fn count(&self, found: Option<&Hit>) {
        let counter = match found.map(|hit| hit.freshness) {
            Some(Freshness::Fresh) => &self.hits,
            Some(Freshness::Stale { .. }) => &self.stale,
            None => &self.misses,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Hits, stale ones, misses.
    pub(crate) fn read(&self) -> (u64, u64, u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&self.hits), read(&self.stale), read(&self.misses))
    }
}

/// The memory tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Look-ups that found a fresh entry here.
    pub hits: u64,
    /// Look-ups that found one that is no longer fresh.
    pub stale: u64,
    /// Look-ups that found none.
    pub misses: u64,
    /// Entries held.
    pub entries: u64,
    /// Bytes held, bodies and all that belongs to them.
    pub bytes: u64,
    /// The most bytes it may hold.
    pub limit: u64,
    /// Entries that left to make room.
    pub evictions: u64,
}

/// The disk tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Look-ups that memory missed and that found a fresh entry here.
    pub hits: u64,
    /// Look-ups that memory missed and that found one here that is no longer fresh.
    pub stale: u64,
    /// Look-ups that both missed.
    pub misses: u64,
    /// Entries held.
    pub entries: u64,
    /// Bytes taken on disk, in whole blocks.
    pub bytes: u64,
    /// The most bytes it may take.
    pub limit: u64,
    /// Entries that left to make room.
    pub evictions: u64,
    /// Files that were not what was written, and were removed instead of served.
    pub corrupt: u64,
    /// File operations that failed.
    pub errors: u64,
    /// Entries never written because the disk was too slow or failing.
    pub dropped: u64,
    /// Bytes waiting to be written.
    pub queued_bytes: u64,
    /// Whether the entries left by earlier processes are counted, which writing waits for.
    pub ready: bool,
    /// What is wrong, if something is.
    pub error: Option<DiskError>,
}

/// The store that nodes share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Look-ups that found a fresh entry here, which this node had not.
    pub hits: u64,
    /// Look-ups that found one that is no longer fresh.
    pub stale: u64,
    /// Look-ups that found none that may be used.
    pub misses: u64,
    /// Look-ups that were not made: the store is out of use, or too many were under way.
    pub skipped: u64,
    /// Requests to the store that failed or took too long.
    pub errors: u64,
    /// Objects without a valid seal.
    pub rejected: u64,
    /// Entries that were written.
    pub stored: u64,
    /// Entries that another node had written before.
    pub present: u64,
    /// Entries never written, because the store was too slow or out of use.
    pub dropped: u64,
    /// Bytes waiting to be written.
    pub queued_bytes: u64,
    /// Purges of all nodes that look-ups are compared with.
    pub purge_rules: u64,
    /// Is it in use?
    pub ready: bool,
    /// Does it write whatever the condition of a write is? Then purges may be lost on their way to other nodes.
    pub ignores_conditions: bool,
    /// What is wrong, if something is.
    pub error: Option<String>,
}
