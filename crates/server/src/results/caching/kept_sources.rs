//! A cache of sources that were fetched over a network, so that further sizes of an image need no request to its
//! origin. It also remembers which images are missing, and which origins are too busy to send theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use andon_cache::{Cache, Entry, Key, Life, Purged, Selector, Stats, Table, Ticket};
use serde::{Deserialize, Serialize};

use super::MOST_REMEMBERED;
use crate::config::CacheConfig;
use crate::error::{Error, SharedError};
use crate::origins::{Budget, Freshness, Source, SourceValidators};

/// A cache of sources fetched over a network, with a size limit in memory and one on disk. Errors of fetches are stored
/// outside these limits.
pub(crate) struct KeptSources {
    cache: Cache,
    /// Number of fetches that the cache saved.
    hits: AtomicU64,
    /// Errors of fetching sources, by the key of the source.
    faults: Table<Key, SharedError>,
    /// Origins that must not be contacted for a while because they sent `Retry-After`, and the errors that their
    /// requests get.
    pauses: Table<Key, SharedError>,
}

/// What is stored with the bytes of a fetched source: its validators, freshness and media type, and whether its end was
/// marked.
#[derive(Debug, Serialize, Deserialize)]
struct KeptNotes {
    validators: SourceValidators,
    freshness: Freshness,
    bounded: bool,
    media_type: Option<String>,
}

/// The state of a source in the cache.
#[derive(Debug)]
pub(crate) enum SourceState {
    /// The whole source is cached, and fresh.
    Source(Source),
    /// The source cannot be fetched now, because of this error.
    Fault(SharedError),
    /// A source with these validators is cached, but no longer fresh: its origin must confirm that it has not changed.
    Stale(SourceValidators),
    /// Neither the source nor an error is cached.
    Nothing,
}

impl KeptSources {
    /// Opens a cache with `memory` bytes in memory, and the configured number of bytes on disk. The cache of `former`
    /// is used again if its tiers are in the same places; it keeps its sizes until [`KeptSources::resize`]. Needs a
    /// tokio runtime.
    pub(crate) fn new(config: &CacheConfig, memory: u64, former: Option<&Self>) -> Self {
        let tiers = tiers(config, memory);
        let reusable = former.filter(|former| former.cache.has_tiers_of(&tiers));
        let cache = reusable.map(|former| former.cache.clone());
        Self {
            cache: cache.unwrap_or_else(|| Cache::open(tiers)),
            hits: AtomicU64::new(0),
            faults: Table::new(MOST_REMEMBERED),
            pauses: Table::new(MOST_REMEMBERED),
        }
    }

    /// Sets the size of the cache to `memory` bytes in memory, and the configured number of bytes on disk.
    pub(crate) fn resize(&self, config: &CacheConfig, memory: u64) {
        self.cache.resize(&tiers(config, memory));
    }

    /// Returns a ticket. Take it before fetching a source, and pass it to `keep` with the source. If a purge comes in
    /// between, the source is not stored.
    pub(crate) fn ticket(&self) -> Ticket {
        self.cache.ticket()
    }

    /// Looks up the source with the key `name`, whose origin has the key `origin`.
    pub(crate) async fn look_up(&self, name: &Key, origin: &Key, budget: &Budget) -> SourceState {
        let hit = self.cache.get(name).await;
        let notes = hit.as_ref().and_then(|hit| KeptNotes::of(&hit.entry));
        let entry = hit.zip(notes);
        if let Some((hit, notes)) = entry
            .as_ref()
            .filter(|(hit, _)| hit.freshness == andon_cache::Freshness::Fresh)
        {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return SourceState::Source(notes.source(&hit.entry, hit.age, budget).await);
        }
        let fault = self.faults.get(name).or_else(|| self.pauses.get(origin));
        match (fault, entry) {
            (Some(fault), _) => SourceState::Fault(fault),
            (None, Some((_, notes))) => SourceState::Stale(notes.validators),
            (None, None) => SourceState::Nothing,
        }
    }

    /// Stores the source at the path `place`, which is fresh for `fresh_for`. Sources that are too large are not
    /// stored. Sources without validators are stored only if they are fresh for some time, since they cannot be
    /// revalidated.
    pub(crate) fn keep(
        &self,
        name: Key,
        place: &str,
        source: &Source,
        fresh_for: Duration,
        ticket: Ticket,
    ) {
        let validators = &source.validators;
        let can_be_renewed = validators.etag.is_some() || validators.last_modified.is_some();
        let most = self.most().into_iter().max().unwrap_or_default();
        let is_large = source.bytes.len() as u64 > most / LARGEST_SHARE;
        if is_large || !(can_be_renewed || fresh_for > Duration::ZERO) {
            return;
        }
        let notes = KeptNotes {
            validators: validators.clone(),
            freshness: source.freshness,
            bounded: source.bounded,
            media_type: source.media_type.clone(),
        };
        let entry = Entry {
            body: source.bytes.clone(),
            source: place.to_owned(),
            life: Life::fresh_for(fresh_for),
            notes: serde_json::to_vec(&notes).unwrap_or_default().into(),
            ..Entry::default()
        };
        self.cache.put(name, entry, ticket);
    }

    /// Extends the lifetime of a cached source that its origin reports as unchanged, and returns the source, or `None`
    /// if it is no longer cached. `freshness` is what the origin says about caching now, and `lifetime` returns how
    /// long the source is fresh.
    pub(crate) async fn renew(
        &self,
        name: Key,
        freshness: Freshness,
        lifetime: impl Fn(Freshness) -> Option<Duration>,
        ticket: Ticket,
        budget: &Budget,
    ) -> Option<Source> {
        let entry = self.cache.get(&name).await?.entry;
        let old = KeptNotes::of(&entry)?;
        let notes = KeptNotes {
            freshness: freshness.or(old.freshness),
            ..old
        };
        let source = notes.source(&entry, Duration::ZERO, budget).await;
        let fresh_for = lifetime(notes.freshness).unwrap_or_default();
        self.keep(name, &entry.source, &source, fresh_for, ticket);
        Some(source)
    }

    /// Stores the error `fault` of fetching a source. If the origin sent `Retry-After`, the error applies to all
    /// sources of the origin for that time. Otherwise it applies to this source for the time `negative`, if it is a 4xx
    /// error that would be the same the next moment.
    pub(crate) fn note(&self, name: Key, origin: Key, fault: &SharedError, negative: Duration) {
        let error = Error::from(fault.clone());
        if let Some(seconds) = error.origin_pause() {
            let span = Duration::from_secs(seconds.into()).min(LONGEST_PAUSE);
            self.pauses.insert_for(origin, fault.clone(), span);
        } else if error.status().is_client_error() && error.may_be_kept() {
            self.faults.insert_for(name, fault.clone(), negative);
        }
    }

    /// Purges the sources that `selector` selects, and every error. Sources have no tags, so a purge by tag purges all
    /// of them: each may be part of a result with that tag.
    pub(crate) async fn purge(&self, selector: Selector) -> Purged {
        self.faults.clear();
        self.pauses.clear();
        self.cache
            .purge(match selector {
                Selector::Source(_) | Selector::Prefix(_) => selector,
                Selector::Key(_) | Selector::Tag(_) | Selector::Everything => Selector::Everything,
            })
            .await
    }

    /// Waits until the disk tier is in use, or its error is known.
    pub(crate) async fn ready(&self) {
        self.cache.ready().await;
    }

    /// Waits until all queued sources are on disk, or dropped.
    pub(crate) async fn flush(&self) {
        self.cache.flush().await;
    }

    /// Returns the number of fetches that the cache saved, and the statistics of the cache.
    pub(crate) fn figures(&self) -> (u64, Stats) {
        (self.hits.load(Ordering::Relaxed), self.cache.stats())
    }

    /// Returns the maximum bytes in memory and on disk.
    fn most(&self) -> [u64; 2] {
        let stats = self.cache.stats();
        [stats.memory.limit, stats.disk.map_or(0, |disk| disk.limit)]
    }
}

fn tiers(config: &CacheConfig, memory: u64) -> andon_cache::Config {
    let disk = config.disk.as_ref();
    andon_cache::Config {
        memory,
        disk: disk.map(|disk| andon_cache::DiskConfig {
            path: disk.path.join("sources"),
            size: disk.sources.0,
        }),
    }
}

impl KeptNotes {
    /// Reads what is stored with the bytes of a cached source; `None` if another version of the program wrote it in a
    /// different format.
    fn of(entry: &Entry) -> Option<Self> {
        serde_json::from_slice(&entry.notes).ok()
    }

    /// Returns the source of an entry as if it had arrived now, with its freshness reduced by `age`. No memory of the
    /// budget is reserved, because this cache counts the bytes.
    async fn source(&self, entry: &Entry, age: Duration, budget: &Budget) -> Source {
        Source {
            bytes: entry.body.clone(),
            validators: self.validators.clone(),
            freshness: self.freshness.after(age),
            bounded: self.bounded,
            media_type: self.media_type.clone(),
            hold: Arc::new(budget.held.take(0).await),
        }
    }
}

/// The size of the largest tier divided by this is the maximum size of a source.
const LARGEST_SHARE: u64 = 4;

/// Maximum time for which an origin gets no requests after it has sent `Retry-After`.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::origins::SourceMemory;

    const LONG: Duration = Duration::from_secs(600);

    fn budget() -> Budget {
        Budget {
            deadline: (Instant::now() + LONG).into(),
            held: SourceMemory::new(1 << 20),
        }
    }

    async fn source(bytes: usize) -> Source {
        Source {
            bytes: vec![7; bytes].into(),
            validators: SourceValidators {
                identity: "a".to_owned(),
                etag: Some("\"a\"".to_owned()),
                last_modified: None,
            },
            freshness: Freshness::default(),
            bounded: true,
            media_type: None,
            hold: Arc::new(budget().held.take(0).await),
        }
    }

    fn name(name: &str) -> Key {
        Key::of(&[name])
    }

    fn sources(memory: u64) -> KeptSources {
        KeptSources::new(&CacheConfig::default(), memory, None)
    }

    async fn has(sources: &KeptSources, each: &str) -> bool {
        let (name, origin, budget) = (name(each), name("origin"), budget());
        let known = sources.look_up(&name, &origin, &budget).await;
        matches!(known, SourceState::Source(_))
    }

    #[tokio::test]
    async fn nothing_large_is_kept_and_no_more_than_there_is_room_for() {
        let sources = sources(1 << 20);
        let ticket = sources.ticket();
        for each in 0..100 {
            let source = source(200 << 10).await;
            sources.keep(name(&each.to_string()), "a", &source, LONG, ticket);
        }
        let memory = sources.figures().1.memory;
        assert!((1..=1 << 20).contains(&memory.bytes), "{memory:?}");
        let large = source(257 << 10).await;
        sources.keep(name("large"), "a", &large, LONG, ticket);
        assert!(!has(&sources, "large").await);
    }

    #[tokio::test]
    async fn a_purge_ends_the_sources_that_it_names_and_what_was_begun_before_it() {
        let sources = sources(1 << 20);
        let ticket = sources.ticket();
        let keep = |each: &'static str, ticket| {
            let sources = &sources;
            async move {
                let path = format!("/{each}");
                sources.keep(name(each), &path, &source(9).await, LONG, ticket);
            }
        };
        for each in ["x/a", "x/b", "y/a"] {
            keep(each, ticket).await;
        }
        let _ = sources.purge(Selector::Source("/x/a".to_owned())).await;
        keep("x/a", ticket).await;
        assert!(!has(&sources, "x/a").await);
        assert!(has(&sources, "x/b").await && has(&sources, "y/a").await);
        let _ = sources.purge(Selector::Prefix("/x/".to_owned())).await;
        assert!(!has(&sources, "x/b").await && has(&sources, "y/a").await);
        let _ = sources
            .purge(Selector::Tag("type:image/webp".to_owned()))
            .await;
        assert!(!has(&sources, "y/a").await);
    }

    #[tokio::test]
    async fn what_is_no_longer_fresh_is_asked_about() {
        let sources = sources(1 << 20);
        let (a, origin) = (name("a"), name("origin"));
        let ticket = sources.ticket();
        sources.keep(a, "/a", &source(9).await, Duration::ZERO, ticket);
        let known = sources.look_up(&a, &origin, &budget()).await;
        assert!(matches!(known, SourceState::Stale(validators) if validators.etag.is_some()));
        let said = Freshness::default();
        let renewed = sources
            .renew(a, said, |_| Some(LONG), ticket, &budget())
            .await;
        assert!(renewed.is_some());
        assert!(has(&sources, "a").await);
    }

    #[tokio::test]
    async fn what_is_on_disk_is_there_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = CacheConfig::default();
        config.disk = Some(crate::config::DiskConfig {
            path: folder.path().to_owned(),
            size: crate::config::Bytes(0),
            sources: crate::config::Bytes(1 << 20),
        });
        let kept = KeptSources::new(&config, 0, None);
        kept.cache.ready().await;
        kept.keep(name("a"), "/a", &source(9).await, LONG, kept.ticket());
        kept.flush().await;
        drop(kept);
        let again = KeptSources::new(&config, 0, None);
        // The first may still be leaving the folder, which only one at a time has.
        while !again.cache.stats().disk.is_some_and(|disk| disk.ready) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let known = again.look_up(&name("a"), &name("origin"), &budget()).await;
        let SourceState::Source(found) = known else {
            panic!("{known:?}");
        };
        let expected = source(9).await;
        assert_eq!(
            (found.bytes, found.validators),
            (expected.bytes, expected.validators)
        );
    }
}
