//! The cache in the path of a request: the names of results, how long they are fresh, and how they become replies.
//! Results are made in `results::making`.

mod facts;
mod kept_sources;
mod life;
mod name;
mod notes;
mod source_memo;
mod tiers;
mod worth;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use andon_cache::{Cache, Entry, Flights, Key, Purged, Selector, Table};
use andon_dialects::ImageRequest;
use andon_recipe::Measured;
use bytes::Bytes;

pub(crate) use self::facts::{FactsTable, KeptFacts, SourceFacts};
pub(crate) use self::kept_sources::{KeptSources, Known};
use self::life::NOT_SHARED;
pub(crate) use self::life::{ClientSide, Terms};
pub(crate) use self::name::{Names, Resolved, source_path};
pub(crate) use self::notes::Notes;
pub(crate) use self::source_memo::{SourceMemo, fallen};
pub use self::tiers::tiers;
pub(crate) use self::worth::Worth;
use crate::admission::{Admitted, Shares};
use crate::config::{self, CacheConfig, Config};
use crate::error::SharedError;
use crate::request::conditional::Validators;
use crate::results::served_file::RecentFiles;
use crate::sources::source_cache::CachedSource;

/// The header of a source that was read.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) facts: Arc<SourceFacts>,
    /// The source's file, if it is in memory now.
    pub(crate) cached: Option<CachedSource>,
    /// The admission granted for reading the header. The first task that continues with the file takes it over.
    pub(crate) admitted: Arc<Mutex<Option<Admitted>>>,
}

/// Everything that is remembered about results, and the results that are being made. Each table holds at most
/// [`MOST_REMEMBERED`] entries, unless it says otherwise.
pub(crate) struct Results<Made, Source> {
    pub(crate) cache: Cache,
    /// When the counters of the cache were 0.
    pub(crate) cache_began: SystemTime,
    pub(crate) config: CacheConfig,
    /// Results that are being made.
    pub(crate) flights: Flights<Key, Result<Made, SharedError>>,
    /// Sources that are being fetched, each for any number of results.
    pub(crate) fetches: Flights<Key, Result<Source, SharedError>>,
    /// Sources that were fetched lately.
    pub(crate) sources: KeptSources,
    /// Headers of sources that are being read.
    pub(crate) headers: Flights<Key, Result<Header, SharedError>>,
    /// The facts that the headers of sources state.
    pub(crate) facts: Arc<FactsTable>,
    /// The length in bytes of the image in each source file, or the error because of which the file cannot be served
    /// unchanged; `None` for an image that lacks its end.
    pub(crate) ends: SourceMemo<Option<u64>>,
    /// What was measured of the pixels of sources.
    pub(crate) measured: SourceMemo<Measured>,
    /// Indexes of sources that are being built; finished ones are in the cache.
    pub(crate) indexes: Flights<Key, Result<Bytes, SharedError>>,
    /// How many bytes of a source had to be read for the part of the image that was decoded last.
    pub(crate) parts: Table<Key, u64>,
    /// When results were last found to be current by a look at their files: for `fs_fresh` they are served without
    /// another look, and for `stale_if_error` after that if their files cannot be read.
    checked: Table<Key, Instant>,
    /// Small files that are served unchanged.
    pub(crate) files: RecentFiles,
    /// Faults of the client or of the image, from which further requests are answered.
    pub(crate) faults: Table<Key, SharedError>,
    /// Results whose renewal failed a moment ago with a 5xx, of the origin or of this server: the stale result is served
    /// at once.
    pub(crate) failed_renewals: Table<Key, ()>,
    /// Results that take too long to write. They are being made in the background, or cannot be made.
    pub(crate) postponed: Table<Key, ()>,
    /// Results that are being renewed in the background after a stale reply, and those whose renewal failed a moment
    /// ago.
    pub(crate) renewing: Table<Key, ()>,
    /// Minimum cost and lifetime of results that are worth a place in the store that nodes share; `None` without such a
    /// store.
    worth: Option<Worth>,
    pub(crate) names: Names,
}

impl<Made, Source> Results<Made, Source>
where
    Made: Clone + Send + Sync + 'static,
    Source: Clone + Send + Sync + 'static,
{
    /// Creates the cache and the tables; needs a tokio runtime. `shares` decides how many bytes of results and sources
    /// are kept in memory, whatever is configured. The cache of `before` is used again if its tiers are in the same
    /// places; it then keeps its sizes until [`Results::resize`].
    pub(crate) fn new(
        config: &Config,
        names: Names,
        shares: Shares,
        store: Option<andon_cache::StoreConfig>,
        before: Option<&Self>,
    ) -> Self {
        let memory = shares.cache;
        let cache = CacheConfig {
            memory: config::Bytes(memory),
            ..config.cache.clone()
        };
        let tiers = cache.tiers();
        let same = before.filter(|before| {
            before.cache.has_tiers_of(&tiers) && before.cache.has_store_of(store.as_ref())
        });
        let cache_of_before = same.map(|before| before.cache.clone());
        Self {
            cache: cache_of_before.unwrap_or_else(|| Cache::open_sharing(tiers, store)),
            cache_began: same.map_or_else(SystemTime::now, |before| before.cache_began),
            config: cache,
            flights: Flights::new(),
            fetches: Flights::new(),
            sources: KeptSources::new(
                &cache_of_sources(config),
                shares.kept_sources,
                before.map(|before| &before.sources),
            ),
            headers: Flights::new(),
            facts: before.map_or_else(
                || Arc::new(FactsTable::new(memory)),
                |before| before.facts.clone(),
            ),
            ends: SourceMemo::new(config.cache.negative.0),
            measured: SourceMemo::new(config.cache.negative.0),
            indexes: Flights::new(),
            parts: Table::new(MOST_REMEMBERED),
            checked: Table::new(MOST_REMEMBERED),
            files: RecentFiles::default(),
            faults: Table::new(MOST_REMEMBERED),
            failed_renewals: Table::new(MOST_REMEMBERED),
            postponed: Table::new(MOST_REMEMBERED),
            renewing: Table::new(MOST_REMEMBERED),
            worth: config.store.as_ref().map(Worth::of),
            names,
        }
    }

    /// Returns the key of a computation that begins now. Computations from before and after a purge have different
    /// keys.
    pub(crate) fn flight(&self, key: &Key, state: &str) -> Key {
        let purges = self.purges().to_string();
        Key::of(&[key.to_string().as_str(), state, &purges])
    }

    /// Returns the key under which concurrent fetches of a request's source are joined. `known` is the identity of the
    /// version that need not be sent again, or empty.
    pub(crate) fn fetch(&self, request: &ImageRequest, known: &str) -> Key {
        let purges = self.purges().to_string();
        // What is passed on as it is has to meet more.
        let kind = if !request.is_file() {
            "picture"
        } else {
            "file"
        };
        let path = request.source.as_str();
        Key::of(&["source", kind, path, known, &purges])
    }

    /// Returns the key of a request's source among the kept sources.
    pub(crate) fn source(&self, request: &ImageRequest) -> Key {
        let source = &request.source;
        let origin = self.names.origin(&source.place());
        // Other nodes do not say what they have purged.
        let purges = match self.shares() {
            true => self.purges().to_string(),
            false => String::new(),
        };
        Key::of(&["kept", origin, source.as_str(), &purges])
    }

    /// Whether results are kept at all, in memory or on disk.
    pub(crate) fn keeps(&self) -> bool {
        let disk = self.config.disk.as_ref();
        self.config.memory.0 > 0 || disk.is_some_and(|disk| disk.size.0 > 0)
    }

    /// Whether the cache has room for indexes of sources, so that they stay until they are needed again.
    pub(crate) fn keeps_indexes(&self) -> bool {
        let disk = self.config.disk.as_ref().map_or(0, |disk| disk.size.0);
        self.config.memory.0.max(disk) >= ROOM_FOR_INDEXES
    }

    /// Returns how many of a source's `bytes` the next request for it will probably read: those that the last decoded
    /// part took, because clients that look at one part of an image tend to look at others.
    pub(crate) fn part_of(&self, source: &Key, bytes: u64) -> u64 {
        self.parts.get(source).map_or(bytes, |part| part.min(bytes))
    }

    /// Gives the cache the sizes of this configuration, and the kept sources `kept_sources` bytes in memory.
    pub(crate) fn resize(&self, kept_sources: u64) {
        self.cache.resize(&self.config.tiers());
        self.sources.resize(&self.config, kept_sources);
    }

    /// Waits until the disk tiers of results and sources take part.
    pub(crate) async fn ready(&self) {
        tokio::join!(self.cache.ready(), self.sources.ready());
    }

    /// Waits until everything that was kept is written to disk and to the shared store.
    pub(crate) async fn flush(&self) {
        tokio::join!(self.cache.flush(), self.sources.flush());
    }

    /// Remembers that a look at its files has just found a result to be current.
    pub(crate) fn saw_current(&self, key: Key) {
        let span = (self.config.fs_fresh.0).saturating_add(self.config.stale_if_error.0);
        self.checked.insert_for(key, Instant::now(), span);
    }

    /// Returns for how much longer a result is served without another look at its files; `None` if it is time for one.
    pub(crate) fn current_for(&self, key: &Key) -> Option<Duration> {
        let since = self.checked.get(key)?.elapsed();
        let left = self.config.fs_fresh.0.checked_sub(since)?;
        (!left.is_zero()).then_some(left)
    }

    /// Whether a result of this age may be served in place of an error because its files cannot be read. Without a look
    /// at them that is remembered, it was last known to be current when it was made.
    pub(crate) fn may_stand_in(&self, key: &Key, age: Duration) -> bool {
        let since = self.checked.get(key).map_or(age, |seen| seen.elapsed());
        let span = self.config.stale_if_error.0;
        !span.is_zero() && since < self.config.fs_fresh.0.saturating_add(span)
    }

    /// Returns a number that grows with each purge, including those of other nodes.
    pub(crate) fn purges(&self) -> u64 {
        self.cache.purge_epoch()
    }

    /// Whether there is a store that nodes share.
    pub(crate) fn shares(&self) -> bool {
        self.worth.is_some()
    }

    /// Whether a result that takes `cost` of processor time and has these terms is worth a place in the store that
    /// nodes share.
    pub(crate) fn is_worth_sharing(&self, cost: Duration, terms: &Terms) -> bool {
        let worth = self.worth.as_ref();
        worth.is_some_and(|least| least.check(cost, terms).is_ok())
    }

    /// Returns why a result that was made did not get into the store that nodes share.
    pub(crate) fn why_not_shared(&self, entry: &Entry) -> String {
        let Some(worth) = self.worth else {
            return "there is no [store]".to_owned();
        };
        let cost = Duration::from_micros(Notes::of(entry).cost);
        let terms = Terms {
            life: entry.life,
            client: ClientSide::default(),
            shared: true,
            by_date: false,
        };
        let store = self.cache.stats().store.unwrap_or_default();
        match (worth.check(cost, &terms), store.error) {
            (Err(why), _) => why,
            (Ok(()), Some(error)) => format!("the store cannot be used: {error}"),
            (Ok(()), None) => format!("{NOT_SHARED}, or it could not be written"),
        }
    }

    /// Removes the results that `selector` names and the kept sources that `of_sources` names.
    pub(crate) async fn purge(&self, selector: Selector, of_sources: Vec<Selector>) -> Purged {
        // Most live for seconds: not worth telling which of them are meant.
        self.checked.clear();
        self.faults.clear();
        self.failed_renewals.clear();
        self.postponed.clear();
        let mut survives_restart = true;
        for selector in of_sources {
            survives_restart &= self.sources.purge(selector).await.survives_restart;
        }
        let purged = self.cache.purge(selector).await;
        Purged {
            survives_restart: purged.survives_restart && survives_restart,
            ..purged
        }
    }
}

/// Returns the cache configuration for sources. They are kept on disk only if no other nodes can purge, because purges
/// that happened while this node was down are not known.
fn cache_of_sources(config: &Config) -> CacheConfig {
    let cache = config.cache.clone();
    let disk = cache.disk.filter(|_| config.store.is_none());
    CacheConfig { disk, ..cache }
}

/// Maximum number of entries in a table of what is true for a while. Forgetting one too early costs a look at a file or
/// a fetch, and is always correct.
const MOST_REMEMBERED: u64 = 16_384;

/// Size in bytes that a cache tier must have for indexes of sources to be kept: room for about ninety of the largest.
const ROOM_FOR_INDEXES: u64 = 16 << 20;

/// Returns the validators of an entry, with which a client can check whether its copy is current.
pub(crate) fn validators(entry: &Entry) -> Validators {
    Validators {
        etag: entry.etag.clone(),
        modified: entry.last_modified,
    }
}
