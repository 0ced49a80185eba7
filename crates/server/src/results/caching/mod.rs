//! The result cache: the keys of results, how long they are fresh, and how they become responses. `results::making`
//! makes the results.

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

pub(crate) use self::facts::{FactsTable, Persistence, SourceFacts};
pub(crate) use self::kept_sources::{KeptSources, SourceState};
use self::life::NOT_SHARED;
pub(crate) use self::life::{ClientSide, Terms};
pub(crate) use self::name::{Names, Resolved, source_path};
pub(crate) use self::notes::Notes;
pub(crate) use self::source_memo::{SourceMemo, flight_error};
pub use self::tiers::tiers;
pub(crate) use self::worth::Worth;
use crate::admission::{Admitted, Shares};
use crate::config::{self, CacheConfig, Config};
use crate::error::SharedError;
use crate::request::conditional::Validators;
use crate::results::served_file::RecentFiles;
use crate::sources::source_cache::CachedSource;

/// The facts read from a source's header. If reading the header required admission or brought the file into memory,
/// also that admission and that file.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) facts: Arc<SourceFacts>,
    /// The source's file, if reading the header brought it into memory.
    pub(crate) cached: Option<CachedSource>,
    /// The admission that was granted for reading the header. The first task that continues with the file takes it
    /// over.
    pub(crate) admitted: Arc<Mutex<Option<Admitted>>>,
}

/// All state about results: the cache, the computations under way, and tables of what is known about sources and
/// results. Each table has at most [`MOST_REMEMBERED`] entries, unless its type says otherwise.
pub(crate) struct Results<Made, Source> {
    pub(crate) cache: Cache,
    /// The time at which the cache's counters started at 0.
    pub(crate) cache_began: SystemTime,
    pub(crate) config: CacheConfig,
    /// Results that are being made.
    pub(crate) flights: Flights<Key, Result<Made, SharedError>>,
    /// Sources that are being fetched, each for any number of results.
    pub(crate) fetches: Flights<Key, Result<Source, SharedError>>,
    /// The cache of sources that were fetched over a network.
    pub(crate) sources: KeptSources,
    /// Image headers of sources that are being read.
    pub(crate) headers: Flights<Key, Result<Header, SharedError>>,
    /// The facts that the image headers of sources state, such as the size and the format.
    pub(crate) facts: Arc<FactsTable>,
    /// The length in bytes of the image in each source file, or the error because of which the file cannot be served
    /// unchanged; `None` for an image that lacks its end.
    pub(crate) ends: SourceMemo<Option<u64>>,
    /// Measurements of the pixels of sources.
    pub(crate) measured: SourceMemo<Measured>,
    /// Indexes of sources (the offsets at which parts of an image can be decoded) that are being computed. Finished
    /// indexes are in the cache.
    pub(crate) indexes: Flights<Key, Result<Bytes, SharedError>>,
    /// Number of bytes of each source that were read for the part of the image that was decoded last.
    pub(crate) parts: Table<Key, u64>,
    /// When the files of each result were last checked and found unchanged, by the key of the result. For `fs_fresh`
    /// after the check, the result is served without another one. For `stale_if_error` after that, it is served if its
    /// files cannot be read.
    checks: Table<Key, Instant>,
    /// Small files that are served unchanged.
    pub(crate) files: RecentFiles,
    /// Errors in making results for which the request or the image is to blame, by the key under which concurrent
    /// requests share the computation. Further requests get them at once.
    pub(crate) faults: Table<Key, SharedError>,
    /// Results whose renewal failed a moment ago with a 5xx status of the origin or of this server. Until the entry
    /// expires, the stale result is served at once.
    pub(crate) failed_renewals: Table<Key, ()>,
    /// Results in formats that took too long to encode or are not possible for their sources. They are being made in
    /// the background, or could not be made a moment ago. Meanwhile clients get another format.
    pub(crate) postponed: Table<Key, ()>,
    /// Results that are being renewed in the background after a stale reply, and those whose renewal failed a moment
    /// ago.
    pub(crate) renewing: Table<Key, ()>,
    /// Minimum cost and lifetime of results that are written to the store that nodes share; `None` without such a
    /// store.
    worth: Option<Worth>,
    pub(crate) names: Names,
}

impl<Made, Source> Results<Made, Source>
where
    Made: Clone + Send + Sync + 'static,
    Source: Clone + Send + Sync + 'static,
{
    /// Creates the cache and the tables. Needs a tokio runtime. `shares` decides how many bytes of results and sources
    /// are cached in memory, whatever the configuration says. The cache of `former` is used again if its tiers are in
    /// the same places and the settings of the shared store are the same; it keeps its sizes until
    /// [`Results::resize`].
    pub(crate) fn new(
        config: &Config,
        names: Names,
        shares: Shares,
        store: Option<andon_cache::StoreConfig>,
        former: Option<&Self>,
    ) -> Self {
        let memory = shares.cache;
        let cache = CacheConfig {
            memory: config::Bytes(memory),
            ..config.cache.clone()
        };
        let tiers = cache.tiers();
        let reusable = former.filter(|former| {
            former.cache.has_tiers_of(&tiers) && former.cache.has_store_of(store.as_ref())
        });
        let former_cache = reusable.map(|former| former.cache.clone());
        Self {
            cache: former_cache.unwrap_or_else(|| Cache::open_sharing(tiers, store)),
            cache_began: reusable.map_or_else(SystemTime::now, |former| former.cache_began),
            config: cache,
            flights: Flights::new(),
            fetches: Flights::new(),
            sources: KeptSources::new(
                &cache_of_sources(config),
                shares.kept_sources,
                former.map(|former| &former.sources),
            ),
            headers: Flights::new(),
            facts: former.map_or_else(
                || Arc::new(FactsTable::new(memory)),
                |former| former.facts.clone(),
            ),
            ends: SourceMemo::new(config.cache.negative.0),
            measured: SourceMemo::new(config.cache.negative.0),
            indexes: Flights::new(),
            parts: Table::new(MOST_REMEMBERED),
            checks: Table::new(MOST_REMEMBERED),
            files: RecentFiles::default(),
            faults: Table::new(MOST_REMEMBERED),
            failed_renewals: Table::new(MOST_REMEMBERED),
            postponed: Table::new(MOST_REMEMBERED),
            renewing: Table::new(MOST_REMEMBERED),
            worth: config.store.as_ref().map(Worth::of),
            names,
        }
    }

    /// Returns the key by which concurrent requests find and share one computation that starts now. `key` identifies
    /// the result, and `state` separates requests that must not share one, such as those that wait for slow formats.
    /// The number of purges is part of the key, so a request that arrives after a purge never joins a computation that
    /// began before it.
    pub(crate) fn flight(&self, key: &Key, state: &str) -> Key {
        let purges = self.purges().to_string();
        Key::of(&[key.to_string().as_str(), state, &purges])
    }

    /// Returns the key by which concurrent requests share one fetch of a source. `identity` identifies the version that
    /// the caller already has, which the origin need not send again; it is empty if the caller has none.
    pub(crate) fn fetch(&self, request: &ImageRequest, identity: &str) -> Key {
        let purges = self.purges().to_string();
        // A source that is served unchanged must meet more conditions.
        let kind = if request.is_file() { "file" } else { "image" };
        let path = request.source.as_str();
        Key::of(&["source", kind, path, identity, &purges])
    }

    /// Returns the key of a request's source in the cache of sources.
    pub(crate) fn source(&self, request: &ImageRequest) -> Key {
        let source = &request.source;
        let origin = self.names.origin(&source.place());
        // Which sources other nodes have purged is not known, so all keys change.
        let purges = match self.shares() {
            true => self.purges().to_string(),
            false => String::new(),
        };
        Key::of(&["kept", origin, source.as_str(), &purges])
    }

    /// Whether results are cached at all, in memory or on disk.
    pub(crate) fn keeps(&self) -> bool {
        let disk = self.config.disk.as_ref();
        self.config.memory.0 > 0 || disk.is_some_and(|disk| disk.size.0 > 0)
    }

    /// Whether the cache is large enough for indexes of sources (the offsets at which parts of an image can be decoded)
    /// to stay until they are needed again.
    pub(crate) fn keeps_indexes(&self) -> bool {
        let disk = self.config.disk.as_ref().map_or(0, |disk| disk.size.0);
        self.config.memory.0.max(disk) >= ROOM_FOR_INDEXES
    }

    /// Returns how many of a source's `bytes` the next request for it will probably read: the number that the last
    /// decoded part needed, because clients that view one part of an image tend to view others.
    pub(crate) fn part_of(&self, source: &Key, bytes: u64) -> u64 {
        self.parts.get(source).map_or(bytes, |part| part.min(bytes))
    }

    /// Resizes the cache of results to the configured sizes, and the cache of sources to `kept_sources` bytes in memory
    /// and the configured size on disk.
    pub(crate) fn resize(&self, kept_sources: u64) {
        self.cache.resize(&self.config.tiers());
        self.sources.resize(&self.config, kept_sources);
    }

    /// Waits until the disk tiers of results and sources are in use, or their errors are known.
    pub(crate) async fn ready(&self) {
        tokio::join!(self.cache.ready(), self.sources.ready());
    }

    /// Waits until all queued results and sources are on disk and in the shared store, or dropped.
    pub(crate) async fn flush(&self) {
        tokio::join!(self.cache.flush(), self.sources.flush());
    }

    /// Records that the files of a result have just been checked and are unchanged.
    pub(crate) fn saw_current(&self, key: Key) {
        let span = (self.config.fs_fresh.0).saturating_add(self.config.stale_if_error.0);
        self.checks.insert_for(key, Instant::now(), span);
    }

    /// Returns for how much longer a result is served without checking its files; `None` if they have to be checked
    /// now.
    pub(crate) fn current_for(&self, key: &Key) -> Option<Duration> {
        let since = self.checks.get(key)?.elapsed();
        let remaining = self.config.fs_fresh.0.checked_sub(since)?;
        (!remaining.is_zero()).then_some(remaining)
    }

    /// Whether a result of this age may be served in place of an error because its files cannot be read. If no check is
    /// recorded, the result was last known to be current when it was made.
    pub(crate) fn may_stand_in(&self, key: &Key, age: Duration) -> bool {
        let since = self.checks.get(key).map_or(age, |at| at.elapsed());
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

    /// Whether a result that takes `cost` of processor time and has these caching terms is to be written to the store
    /// that nodes share.
    pub(crate) fn is_worth_sharing(&self, cost: Duration, terms: &Terms) -> bool {
        let worth = self.worth.as_ref();
        worth.is_some_and(|least| least.check(cost, terms).is_ok())
    }

    /// Returns for users why a result was not written to the store that nodes share.
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

    /// Purges the results that `selector` selects, and the cached sources that `of_sources` select.
    pub(crate) async fn purge(&self, selector: Selector, of_sources: Vec<Selector>) -> Purged {
        // Most of these entries live for seconds, so all are removed instead of only those selected.
        self.checks.clear();
        self.faults.clear();
        self.failed_renewals.clear();
        self.postponed.clear();
        let mut survives_restart = true;
        for selector in of_sources {
            survives_restart &= self.sources.purge(selector).await.survives_restart;
        }
        let effect = self.cache.purge(selector).await;
        Purged {
            survives_restart: effect.survives_restart && survives_restart,
            ..effect
        }
    }
}

/// Returns the cache configuration for sources. They are stored on disk only if no other node can purge, because purges
/// of other nodes while this one was down are not known.
fn cache_of_sources(config: &Config) -> CacheConfig {
    let cache = config.cache.clone();
    let disk = cache.disk.filter(|_| config.store.is_none());
    CacheConfig { disk, ..cache }
}

/// Maximum number of entries in each table of what is known about sources and results. Dropping an entry too early
/// costs a check of a file or a fetch, but never gives a wrong result.
const MOST_REMEMBERED: u64 = 16_384;

/// Minimum size in bytes of a cache tier in which indexes of sources are kept: it has room for about ninety of the
/// largest indexes.
const ROOM_FOR_INDEXES: u64 = 16 << 20;

/// Returns the validators of an entry, with which a client can check whether its copy is current.
pub(crate) fn validators(entry: &Entry) -> Validators {
    Validators {
        etag: entry.etag.clone(),
        modified: entry.last_modified,
    }
}
