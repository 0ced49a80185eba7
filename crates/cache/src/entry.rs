//! Entries: a body and what has to be known to serve it, and what a look-up gives back.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use crate::freshness::{Freshness, Life, Stamp};

/// One finished result. To the cache all of it is bytes; only `source`, `tags`, `life` and `negative`
/// mean something here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The whole body. It is charged by its length: hand in a buffer of its own, not a slice of a
    /// larger one.
    pub body: Bytes,
    /// Such as `image/webp`.
    pub media_type: String,
    /// The entity tag as sent, quotes and all; empty if there is none.
    pub etag: String,
    /// Of the source. Kept in whole seconds, which is all HTTP can say.
    pub last_modified: Option<SystemTime>,
    /// What purging by source or by prefix compares with.
    pub source: String,
    /// What purging by tag compares with.
    pub tags: Vec<String>,
    /// The spans for which the entry may be used, fresh and stale.
    pub life: Life,
    /// A remembered failure, such as "not found". Never served stale, and never for longer than
    /// [`Entry::LONGEST_NEGATIVE`].
    pub negative: bool,
    /// The server's own notes (status, validators of the source, debug line), kept as they are.
    pub notes: Bytes,
}

impl Entry {
    /// Failures are forgotten after this, whatever `life` says: nobody purges what is not there.
    pub const LONGEST_NEGATIVE: Duration = Duration::from_secs(300);

    /// What it weighs in memory, in bytes: everything it owns and its share of the index.
    pub(crate) fn weight(&self) -> u64 {
        let tags: usize = self
            .tags
            .iter()
            .map(|tag| tag.len() + size_of::<String>())
            .sum();
        let texts = self.media_type.len() + self.etag.len() + self.source.len() + tags;
        (self.body.len() + self.notes.len() + texts + OVERHEAD) as u64
    }
}

/// Allocation headers, the reference count, and the place in the index.
const OVERHEAD: usize = size_of::<Entry>() + 256;

/// An entry and when it was stored, in time and in the order of purges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) entry: Arc<Entry>,
    pub(crate) stamp: Stamp,
    pub(crate) generation: u64,
    /// Where the log of the shared store was read to when its making began; 0 if that was not known.
    pub(crate) position: u64,
}

/// For tests: an entry of this source, whose body has this length, as if it was stored when time began.
#[cfg(test)]
pub(crate) fn stored(source: &str, bytes: usize) -> Stored {
    Stored {
        entry: Arc::new(Entry {
            body: vec![7; bytes].into(),
            source: source.to_owned(),
            ..Entry::default()
        }),
        stamp: Stamp {
            wall: 0,
            since_boot: 0,
            boot: 0,
        },
        generation: 0,
        position: 0,
    }
}

/// What a look-up found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// What was stored.
    pub entry: Arc<Entry>,
    /// For how long it has been stored.
    pub age: Duration,
    /// Whether the entry is fresh, or stale and to be renewed.
    pub freshness: Freshness,
    /// The tier in which the entry was found.
    pub tier: Tier,
}

/// Where an entry was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// In this process.
    Memory,
    /// On disk, read and checked.
    Disk,
    /// In the store that nodes share, its seal checked.
    Store,
}
