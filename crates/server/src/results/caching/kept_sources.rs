//! Sources that were fetched over a network lately: further sizes of an image cost its origin nothing, and further sizes of an
//! image that is not there, or that its origin is too busy for, do not either.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use andon_cache::Key;
use bytes::Bytes;

use super::Memo;
use crate::error::{Error, SharedError};
use crate::origins::{Budget, Freshness, Source, SourceValidators};

/// Those sources, within a number of bytes; and faults, which take none.
#[derive(Debug, Default)]
pub(crate) struct KeptSources {
    kept: Mutex<Kept>,
    /// Faults of sources.
    faults: Memo<SharedError>,
    /// Origins that asked not to be asked for a while.
    pauses: Memo<SharedError>,
}

#[derive(Debug, Default)]
struct Kept {
    sources: HashMap<Key, KeptSource>,
    /// The one that was not used for longest comes first; a source may stand there several times.
    used: VecDeque<(Key, u64)>,
    uses: u64,
    bytes: u64,
    most: u64,
    hits: u64,
}

/// A source, and for how long it is good.
#[derive(Clone, Debug)]
struct KeptSource {
    bytes: Bytes,
    validators: SourceValidators,
    freshness: Freshness,
    bounded: bool,
    media_type: Option<String>,
    arrived: Instant,
    fresh_for: Duration,
    used: u64,
}

/// What is known of a source without asking for it.
#[derive(Debug)]
pub(crate) enum Known {
    /// All of it.
    Source(Source),
    /// Why it cannot be had now.
    Fault(SharedError),
    /// What it was; its origin has to say whether it still is.
    Stale(SourceValidators),
    Nothing,
}

impl KeptSources {
    /// So many bytes from now on.
    pub(crate) fn resize(&self, most: u64) {
        let mut kept = self.lock();
        kept.most = most;
        kept.make_room(0);
    }

    /// What is known of the source called `name`, whose origin is called `origin`.
    pub(crate) async fn look_up(&self, name: &Key, origin: &Key, budget: &Budget) -> Known {
        let kept = self.kept(name);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_fresh()) {
            self.lock().hits += 1;
            return Known::Source(kept.source(budget).await);
        }
        let fault = self.faults.get(name).or_else(|| self.pauses.get(origin));
        match (fault, kept) {
            (Some((fault, _)), _) => Known::Fault(fault),
            (None, Some(kept)) => Known::Stale(kept.validators),
            (None, None) => Known::Nothing,
        }
    }

    /// Keeps a source that is good for so long. One without validators is of no use after that.
    pub(crate) fn keep(&self, name: Key, source: &Source, fresh_for: Duration) {
        let can_be_renewed =
            source.validators.etag.is_some() || source.validators.last_modified.is_some();
        let bytes = source.bytes.len() as u64;
        let mut kept = self.lock();
        kept.forget(&name);
        if bytes > kept.most / LARGEST_SHARE || !(can_be_renewed || fresh_for > Duration::ZERO) {
            return;
        }
        kept.make_room(bytes);
        let entry = KeptSource {
            bytes: source.bytes.clone(),
            validators: source.validators.clone(),
            freshness: source.freshness,
            bounded: source.bounded,
            media_type: source.media_type.clone(),
            arrived: Instant::now(),
            fresh_for,
            used: 0,
        };
        kept.bytes += bytes;
        kept.sources.insert(name, entry);
        kept.touch(&name);
    }

    /// Its origin says that it still is what it was; `None`: it is not kept any more.
    pub(crate) async fn renewed(
        &self,
        name: &Key,
        said: Freshness,
        fresh_for: Duration,
        budget: &Budget,
    ) -> Option<Source> {
        let renewed = {
            let mut kept = self.lock();
            let entry = kept.sources.get_mut(name)?;
            entry.arrived = Instant::now();
            (entry.freshness, entry.fresh_for) = (said, fresh_for);
            entry.clone()
        };
        Some(renewed.source(budget).await)
    }

    /// Remembers why a source cannot be had, for `negative`; and of what its origin asked to be spared, for that long.
    pub(crate) fn note(&self, name: Key, origin: Key, fault: &SharedError, negative: Duration) {
        let error = Error::from(fault.clone());
        if let Some(seconds) = error.origin_pause() {
            let span = Duration::from_secs(seconds.into()).min(LONGEST_PAUSE);
            self.pauses.remember(origin, fault.clone(), span);
        } else if error.status().is_client_error() {
            self.lock().forget(&name);
            self.faults.remember(name, fault.clone(), negative);
        }
    }

    /// Fetches that were saved, bytes that are kept, and how many may be.
    pub(crate) fn figures(&self) -> [u64; 3] {
        let kept = self.lock();
        [kept.hits, kept.bytes, kept.most]
    }

    fn kept(&self, name: &Key) -> Option<KeptSource> {
        let mut kept = self.lock();
        kept.touch(name);
        kept.sources.get(name).cloned()
    }

    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn touch(&mut self, name: &Key) {
        let Some(source) = self.sources.get_mut(name) else {
            return;
        };
        self.uses += 1;
        source.used = self.uses;
        self.used.push_back((*name, self.uses));
        // Uses that were followed by others.
        if self.used.len() > 4 * self.sources.len() + 64 {
            let sources = &self.sources;
            let is_last = |(name, use_): &(Key, u64)| {
                sources.get(name).is_some_and(|source| source.used == *use_)
            };
            self.used.retain(is_last);
        }
    }

    fn forget(&mut self, name: &Key) {
        if let Some(source) = self.sources.remove(name) {
            self.bytes -= source.bytes.len() as u64;
        }
    }

    fn make_room(&mut self, bytes: u64) {
        while self.bytes + bytes > self.most {
            let Some((name, used)) = self.used.pop_front() else {
                return;
            };
            if self
                .sources
                .get(&name)
                .is_some_and(|source| source.used == used)
            {
                self.forget(&name);
            }
        }
    }
}

impl KeptSource {
    fn is_fresh(&self) -> bool {
        self.arrived.elapsed() < self.fresh_for
    }

    /// As if it had arrived now. Its bytes are counted here.
    async fn source(&self, budget: &Budget) -> Source {
        Source {
            bytes: self.bytes.clone(),
            validators: self.validators.clone(),
            freshness: self.freshness.after(self.arrived.elapsed()),
            bounded: self.bounded,
            media_type: self.media_type.clone(),
            hold: Arc::new(budget.held.take(0).await),
        }
    }
}

/// A source may take a fourth of all bytes.
const LARGEST_SHARE: u64 = 4;

/// However long an origin wants to be spared.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origins::SourceMemory;

    const LONG: Duration = Duration::from_secs(600);

    fn budget() -> Budget {
        Budget {
            deadline: Instant::now() + LONG,
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

    #[tokio::test]
    async fn what_was_not_used_for_longest_goes_first_and_nothing_large_is_kept() {
        let sources = KeptSources::default();
        sources.resize(1000);
        let origin = name("origin");
        for each in ["a", "b", "c", "d"] {
            sources.keep(name(each), &source(250).await, LONG);
        }
        let known = sources.look_up(&name("a"), &origin, &budget()).await;
        assert!(matches!(known, Known::Source(_)));
        sources.keep(name("e"), &source(250).await, LONG);
        for (each, there) in [("a", true), ("b", false), ("c", true), ("e", true)] {
            let known = sources.look_up(&name(each), &origin, &budget()).await;
            assert_eq!(matches!(known, Known::Source(_)), there, "{each}");
        }
        sources.keep(name("large"), &source(251).await, LONG);
        let known = sources.look_up(&name("large"), &origin, &budget()).await;
        assert!(matches!(known, Known::Nothing));
        assert_eq!(sources.figures()[1], 1000);
        sources.resize(0);
        assert_eq!(sources.figures()[1], 0);
    }

    #[tokio::test]
    async fn what_is_no_longer_fresh_is_asked_about() {
        let sources = KeptSources::default();
        sources.resize(1000);
        let (a, origin) = (name("a"), name("origin"));
        sources.keep(a, &source(9).await, Duration::ZERO);
        let known = sources.look_up(&a, &origin, &budget()).await;
        assert!(matches!(known, Known::Stale(validators) if validators.etag.is_some()));
        let said = Freshness::default();
        assert!(sources.renewed(&a, said, LONG, &budget()).await.is_some());
        let known = sources.look_up(&a, &origin, &budget()).await;
        assert!(matches!(known, Known::Source(_)));
    }
}
