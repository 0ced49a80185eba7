//! The cache in the path of a request: what results are called, how long they are good, and how they
//! become replies. They are made in `results::making`.

mod facts;
mod kept_sources;
mod life;
mod memo;
mod name;
mod notes;
mod source_memo;
mod tiers;
mod worth;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use andon_cache::{Cache, Entry, Flights, Key, Purged, Selector};
use andon_dialects::ImageRequest;
use andon_recipe::Measured;
use bytes::Bytes;

pub(crate) use self::facts::{FactsTable, KeptFacts, SourceFacts};
pub(crate) use self::kept_sources::{KeptSources, Known};
use self::life::NOT_SHARED;
pub(crate) use self::life::{ClientSide, Terms};
pub(crate) use self::memo::Memo;
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

/// A header that was read.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) facts: Arc<SourceFacts>,
    /// Its file, if that is in memory now.
    pub(crate) cached: Option<CachedSource>,
    /// What was admitted for reading it, for the first who goes on with the file.
    pub(crate) admitted: Arc<Mutex<Option<Admitted>>>,
}

/// Everything that is remembered about results, and those being made.
pub(crate) struct Results<Made, Source> {
    pub(crate) cache: Cache,
    pub(crate) config: CacheConfig,
    /// Results being made.
    pub(crate) flights: Flights<Key, Result<Made, SharedError>>,
    /// Sources being fetched, for any number of results.
    pub(crate) fetches: Flights<Key, Result<Source, SharedError>>,
    /// Those that were fetched lately.
    pub(crate) sources: KeptSources,
    /// Headers being read.
    pub(crate) headers: Flights<Key, Result<Header, SharedError>>,
    /// The facts that headers of sources state.
    pub(crate) facts: Arc<FactsTable>,
    /// Where the images in files end, or why they cannot be passed on.
    pub(crate) ends: SourceMemo<Option<u64>>,
    /// What was measured of sources' pixels.
    pub(crate) measured: SourceMemo<Measured>,
    /// Indexes of sources being made; the cache has those that are.
    pub(crate) indexes: Flights<Key, Result<Bytes, SharedError>>,
    /// How many bytes of a source were gone through for the part of it that was decoded last.
    pub(crate) parts: Memo<u64>,
    /// Results whose file was looked at a moment ago.
    pub(crate) checked: Memo<()>,
    /// Small files that are served as they are.
    pub(crate) files: RecentFiles,
    /// Faults of the client or of the image, which are answered from here.
    pub(crate) faults: Memo<SharedError>,
    /// Results that an origin failed to renew a moment ago: the stale one is served at once.
    pub(crate) failed_origins: Memo<()>,
    /// Results that take too long to write: they are being made, or cannot be.
    pub(crate) postponed: Memo<()>,
    /// Results being renewed behind a reply.
    pub(crate) renewing: Memo<()>,
    /// What is worth a place in the store that nodes share, where there is one.
    worth: Option<Worth>,
    pub(crate) names: Names,
}

impl<Made, Source> Results<Made, Source>
where
    Made: Clone + Send + Sync + 'static,
    Source: Clone + Send + Sync + 'static,
{
    /// Needs a tokio runtime. As many bytes of results and sources are kept as `shares` say, whatever is configured. The cache
    /// itself is that of `before`, if its tiers are in the same places; then it keeps its sizes until
    /// [`Results::resize`].
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
            parts: Memo::default(),
            checked: Memo::default(),
            files: RecentFiles::default(),
            faults: Memo::default(),
            failed_origins: Memo::default(),
            postponed: Memo::default(),
            renewing: Memo::default(),
            worth: config.store.as_ref().map(Worth::of),
            names,
        }
    }

    /// What a computation is called that begins now: one of before a purge is another.
    pub(crate) fn flight(&self, key: &Key, state: &str) -> Key {
        let purges = self.purges().to_string();
        Key::of(&[key.to_string().as_str(), state, &purges])
    }

    /// What the fetch of a request's source is called, unless it still is `known`.
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

    /// What a request's source is called among those that are kept.
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

    /// Is anything kept at all?
    pub(crate) fn keeps(&self) -> bool {
        let disk = self.config.disk.as_ref();
        self.config.memory.0 > 0 || disk.is_some_and(|disk| disk.size.0 > 0)
    }

    /// Is there room for indexes of sources that stay until they are asked for again?
    pub(crate) fn keeps_indexes(&self) -> bool {
        let disk = self.config.disk.as_ref().map_or(0, |disk| disk.size.0);
        self.config.memory.0.max(disk) >= ROOM_FOR_INDEXES
    }

    /// Of a source's bytes, those that the next request for it will probably go through: who wants one part of an
    /// image wants others.
    pub(crate) fn part_of(&self, source: &Key, bytes: u64) -> u64 {
        self.parts
            .get(source)
            .map_or(bytes, |(part, _)| part.min(bytes))
    }

    /// Gives the cache the sizes of this configuration, and sources as many bytes in memory.
    pub(crate) fn resize(&self, kept_sources: u64) {
        self.cache.resize(&self.config.tiers());
        self.sources.resize(&self.config, kept_sources);
    }

    /// Waits until what is on disk takes part.
    pub(crate) async fn ready(&self) {
        tokio::join!(self.cache.ready(), self.sources.ready());
    }

    /// Waits until all that was kept is where it stays.
    pub(crate) async fn flush(&self) {
        tokio::join!(self.cache.flush(), self.sources.flush());
    }

    /// Purges so far, those of other nodes included.
    pub(crate) fn purges(&self) -> u64 {
        self.cache.purge_epoch()
    }

    /// Is there a store that nodes share?
    pub(crate) fn shares(&self) -> bool {
        self.worth.is_some()
    }

    /// Is a result that takes so much processor time, and is good on these terms, worth a place in the store?
    pub(crate) fn is_worth_sharing(&self, cost: Duration, terms: &Terms) -> bool {
        let worth = self.worth.as_ref();
        worth.is_some_and(|least| least.check(cost, terms).is_ok())
    }

    /// Why a result that was made did not get into the store.
    pub(crate) fn why_not_shared(&self, entry: &Entry) -> String {
        let Some(worth) = self.worth else {
            return "there is no [store]".to_owned();
        };
        let cost = Duration::from_micros(Notes::of(entry).cost);
        let terms = Terms {
            life: entry.life,
            client: ClientSide::default(),
            shared: true,
        };
        let store = self.cache.stats().store.unwrap_or_default();
        match (worth.check(cost, &terms), store.error) {
            (Err(why), _) => why,
            (Ok(()), Some(error)) => format!("the store cannot be used: {error}"),
            (Ok(()), None) => format!("{NOT_SHARED}, or it could not be written"),
        }
    }

    /// Forgets what `selector` names, and of the sources that are kept what `of_sources` does.
    pub(crate) async fn purge(&self, selector: Selector, of_sources: Selector) -> Purged {
        // They live for seconds: not worth telling which of them are meant.
        self.checked.clear();
        self.faults.clear();
        self.failed_origins.clear();
        self.postponed.clear();
        let (purged, sources) =
            tokio::join!(self.cache.purge(selector), self.sources.purge(of_sources));
        Purged {
            survives_restart: purged.survives_restart && sources.survives_restart,
            ..purged
        }
    }
}

/// Where sources are kept: on disk only where no other nodes purge, since what they did while this one was down is not known.
fn cache_of_sources(config: &Config) -> CacheConfig {
    let cache = config.cache.clone();
    let disk = cache.disk.filter(|_| config.store.is_none());
    CacheConfig { disk, ..cache }
}

/// Some eighty of the largest.
const ROOM_FOR_INDEXES: u64 = 16 << 20;

/// What a client may hold its copy of an entry against.
pub(crate) fn validators(entry: &Entry) -> Validators {
    Validators {
        etag: entry.etag.clone(),
        modified: entry.last_modified,
    }
}
