//! Entries (a body and what is needed to serve it), and the results of look-ups.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use crate::freshness::{Freshness, Life, Stamp};

/// A finished result. The cache interprets only `source`, `tags` and `life`. Everything else is opaque to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The whole body. Its length counts towards the limits, so it should be a buffer of its own, not a slice of a
    /// larger one.
    pub body: Bytes,
    /// The media type, such as `image/webp`.
    pub media_type: String,
    /// The entity tag as sent, including the quotes. Empty if there is none.
    pub etag: String,
    /// When the source was last modified. Stored in whole seconds, which is all that HTTP can express.
    pub last_modified: Option<SystemTime>,
    /// The source, with which purges by source or by prefix are compared.
    pub source: String,
    /// The tags, with which purges by tag are compared. A tag that begins with [`Entry::ALSO_OF`] names a further
    /// source, with which purges by source or by prefix are compared, too.
    pub tags: Vec<String>,
    /// How long the entry may be used, fresh and stale.
    pub life: Life,
    /// The server's own data about the result, such as the validators of its source, stored unchanged.
    pub notes: Bytes,
}

impl Entry {
    /// Prefix of a tag whose rest names a further source from which the result was made.
    pub const ALSO_OF: &str = "source:";

    /// Returns the source, then the further sources that tags with the prefix [`Entry::ALSO_OF`] name.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> {
        let further = self.tags.iter();
        let further = further.filter_map(|tag| tag.strip_prefix(Self::ALSO_OF));
        std::iter::once(&*self.source).chain(further)
    }

    /// Returns the memory that the entry takes, in bytes: everything it owns and its share of the index.
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

/// Bytes of an entry besides its data: the structure itself, allocation headers, the reference count, and its place in
/// the index.
const OVERHEAD: usize = size_of::<Entry>() + 256;

/// An entry with the time at which it was stored, and the numbers of the last purges that were known when making it
/// began: `generation` for the purges of this node, `position` for those in the shared store's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) entry: Arc<Entry>,
    pub(crate) stamp: Stamp,
    pub(crate) generation: u64,
    /// Number of the last purge in the shared store's log that this node knew when making the entry began. 0 if it knew
    /// none.
    pub(crate) position: u64,
}

/// Creates an entry of this source for tests, with a body of this length, as if stored at time zero.
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

/// The result of a successful look-up.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The stored entry.
    pub entry: Arc<Entry>,
    /// How long the entry has been stored.
    pub age: Duration,
    /// Whether the entry is fresh, or stale and to be renewed.
    pub freshness: Freshness,
    /// The tier in which the entry was found.
    pub tier: Tier,
}

/// The tier in which an entry was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The memory of this process.
    Memory,
    /// The disk. The entry was read and checked.
    Disk,
    /// The store that nodes share. The entry's seal (a keyed digest) was checked.
    Store,
}
