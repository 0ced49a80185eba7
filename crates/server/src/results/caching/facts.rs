//! A table of the facts that the image headers of sources state, such as the size and the format. With these, the
//! recipe of a request is resolved to whole pixels, and the key of its result computed, without reading the source.
//!
//! The facts belong to the version of the source that was read last. A result of an earlier version is not found under
//! the key that they give, unless its recipe is the same in whole pixels. In that case its entity tag shows that it
//! belongs to another version.

use std::sync::Arc;

use andon_cache::{Cache, Entry, Key, Life, Table, Ticket};
use andon_recipe::{Facts, Measured, Orientation};
use serde::{Deserialize, Serialize};

/// The facts that the image header of one version of a source states, such as the size and the format.
#[derive(Debug)]
pub(crate) struct SourceFacts {
    /// The version of the source that the facts belong to.
    pub(crate) version: String,
    pub(crate) facts: Facts,
}

/// The facts of the sources that were used most recently. If there is a disk tier, the facts of all sources that have
/// results there are on disk.
#[derive(Debug)]
pub(crate) struct FactsTable(Table<Key, Arc<SourceFacts>>);

impl FactsTable {
    /// Creates a table with room for one source for every 16 KiB of `cache_bytes`, the size of the result cache in
    /// memory, within fixed limits.
    pub(crate) fn new(cache_bytes: u64) -> Self {
        let most = (cache_bytes / BYTES_PER_SOURCE).clamp(LEAST, MOST);
        Self(Table::new(most))
    }

    /// Returns the facts of a source from the table, or from the disk tier of `cache`.
    pub(crate) async fn get(&self, key: &Key, cache: &Cache) -> Option<Arc<SourceFacts>> {
        if let Some(facts) = self.0.get(key) {
            return Some(facts);
        }
        let entry = cache.get_from_disk(key).await?;
        let record: Record = serde_json::from_slice(&entry.notes).ok()?;
        let facts = Arc::new(record.into());
        self.0.insert(*key, Arc::clone(&facts));
        Some(facts)
    }

    /// Returns the facts that another node wrote into the store that nodes share, and adds them to the table.
    pub(crate) async fn get_shared(&self, key: &Key, cache: &Cache) -> Option<Arc<SourceFacts>> {
        let entry = cache.get_note_from_store(key).await?;
        let record: Record = serde_json::from_slice(&entry.notes).ok()?;
        let facts = Arc::new(record.into());
        self.0.insert(*key, Arc::clone(&facts));
        Some(facts)
    }

    /// Adds the facts of a source to the table. With `persistence`, they are also written to disk and, if the source is
    /// on an origin over a network, to the store that nodes share.
    pub(crate) fn remember(
        &self,
        key: Key,
        facts: Arc<SourceFacts>,
        persistence: Option<Persistence<'_>>,
    ) {
        if let Some(persistence) = persistence {
            let Persistence {
                cache,
                ticket,
                source,
                is_remote,
            } = persistence;
            let notes = serde_json::to_vec(&Record::of(&facts)).unwrap_or_default();
            let entry = Entry {
                source,
                notes: notes.into(),
                life: Life::fresh_for(std::time::Duration::ZERO),
                ..Entry::default()
            };
            let entry = Arc::new(entry);
            if is_remote {
                cache.put_in_store(key, entry.clone(), ticket);
            }
            cache.put_on_disk(key, entry, ticket);
        }
        self.0.insert(key, facts);
    }
}

/// Where the facts of a source's header are stored besides the table in memory: in the disk tier of `cache` and, for a
/// remote source, in the store that nodes share.
pub(crate) struct Persistence<'a> {
    pub(crate) cache: &'a Cache,
    pub(crate) ticket: Ticket,
    /// The source's path.
    pub(crate) source: String,
    /// Whether the source is on an origin over a network.
    pub(crate) is_remote: bool,
}

/// The format in which facts are stored on disk.
#[derive(Serialize, Deserialize)]
struct Record {
    version: String,
    format: String,
    width: u32,
    height: u32,
    orientation: u16,
    frames: u32,
    alpha: bool,
    cmyk: bool,
    tagged: bool,
    metadata: bool,
    hdr: bool,
    drawn: bool,
    vector: bool,
    replaced: bool,
    shrinks: bool,
    quality: Option<u8>,
}

impl Record {
    fn of(source: &SourceFacts) -> Self {
        let facts = &source.facts;
        Self {
            version: source.version.clone(),
            format: facts.format.clone(),
            width: facts.width,
            height: facts.height,
            orientation: facts.orientation.exif(),
            frames: facts.frames,
            alpha: facts.alpha,
            cmyk: facts.cmyk,
            tagged: facts.tagged,
            metadata: facts.metadata,
            hdr: facts.hdr,
            drawn: facts.drawn,
            vector: facts.vector,
            replaced: facts.replaced,
            shrinks: facts.shrinks,
            quality: facts.quality,
        }
    }
}

impl From<Record> for SourceFacts {
    fn from(record: Record) -> Self {
        Self {
            version: record.version,
            facts: Facts {
                format: record.format,
                width: record.width,
                height: record.height,
                orientation: Orientation::from_exif(record.orientation),
                frames: record.frames,
                alpha: record.alpha,
                cmyk: record.cmyk,
                tagged: record.tagged,
                metadata: record.metadata,
                hdr: record.hdr,
                drawn: record.drawn,
                vector: record.vector,
                replaced: record.replaced,
                shrinks: record.shrinks,
                quality: record.quality,
                measured: Measured::default(),
            },
        }
    }
}

/// The facts table has room for one source for this many bytes of the result cache. The facts of a source take about
/// 300 bytes, so the table takes about 2 % of the size of the result cache.
const BYTES_PER_SOURCE: u64 = 16 << 10;

const LEAST: u64 = 4096;
const MOST: u64 = 1 << 20;
