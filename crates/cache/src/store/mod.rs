//! The tier that nodes share: results in a bucket, and one object next to them with the purges of all nodes.
//!
//! A bucket is slow, may be down, and others may write to it. So a look-up runs as a task of its own and has a
//! deadline, results are written in the background from a bounded queue, nothing is used without a valid seal (a keyed
//! digest), and the store is not used at all while the purges cannot be read.

pub(crate) mod bucket;
pub(crate) mod folder;
mod health;
mod log;
mod queue;
mod seal;

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, timeout};

use self::bucket::{Bucket, BucketError, Object, Version};
use self::health::StoreHealth;
use self::log::{Judge, SharedLog};
use self::queue::Uploads;
use self::seal::Sealer;
use crate::clock::Clock;
use crate::entry::Stored;
use crate::freshness::millis;
use crate::key::Key;
use crate::locks::{Lock, Shared};
use crate::purge::Selector;
use crate::stats::StoreStats;
use crate::table::Table;

/// Configuration of the shared store.
#[derive(Clone)]
pub struct StoreConfig {
    /// The bucket that stores the objects.
    pub bucket: Arc<dyn Bucket>,
    /// Name of the store, for log messages and to distinguish it from other stores.
    pub place: String,
    /// The secret that all nodes share, from which the keys of seals (keyed digests of objects) are derived.
    pub secret: String,
    /// Revision of the code that makes results. Results of another revision are never used.
    pub revision: String,
    /// How long a request waits for a look-up before it starts making the result in parallel.
    pub wait: Duration,
    /// Time limit for a look-up.
    pub timeout: Duration,
    /// Interval at which the purges of other nodes are read.
    pub poll: Duration,
    /// Maximum bytes of results in the write queue.
    pub queue: u64,
}

/// Formats the configuration without its secret.
impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreConfig")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl StoreConfig {
    /// Returns whether `other` is the same store with the same settings.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let parts = |it: &Self| {
            let texts = [&it.place, &it.secret, &it.revision].map(String::clone);
            (texts, [it.wait, it.timeout, it.poll], it.queue)
        };
        parts(self) == parts(other)
    }
}

/// The tier that nodes share. Clones refer to the same tier.
#[derive(Clone)]
pub(crate) struct SharedStore(Arc<Inner>);

struct Inner {
    config: StoreConfig,
    sealer: Sealer,
    clock: Arc<dyn Clock>,
    runtime: Handle,
    health: StoreHealth,
    judge: RwLock<Judge>,
    /// Locked while a purge of this node is added, so that purges are added one after the other.
    purge_lock: tokio::sync::Mutex<()>,
    /// The purge log as last read or written, and its version.
    log: Mutex<Option<(SharedLog, Version)>>,
    uploads: Uploads,
    lookups: Arc<Semaphore>,
    /// Versions of the objects that look-ups found. If this node then makes the result itself, for example because the
    /// object is stale, its write replaces exactly that version.
    versions: Table<Key, Version>,
    /// Notified when a writer has finished its uploads.
    progress: Notify,
    /// Whether the bucket obeys the conditions of conditional writes. Unset until that has been checked.
    is_conditional: OnceLock<bool>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    skipped: AtomicU64,
    errors: AtomicU64,
    rejected: AtomicU64,
    stored: AtomicU64,
    present: AtomicU64,
}

impl SharedStore {
    /// Creates the tier that nodes share. Must be called inside a tokio runtime.
    pub(crate) fn new(config: StoreConfig, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner {
            sealer: Sealer::new(config.secret.as_bytes(), &config.revision),
            clock,
            runtime: Handle::current(),
            health: StoreHealth::new(config.place.clone()),
            judge: RwLock::default(),
            purge_lock: tokio::sync::Mutex::default(),
            log: Mutex::default(),
            uploads: Uploads::new(config.queue),
            lookups: Arc::new(Semaphore::new(MOST_LOOKUPS)),
            versions: Table::new(MOST_VERSIONS),
            progress: Notify::new(),
            is_conditional: OnceLock::new(),
            counts: Counts::default(),
            config,
        }))
    }

    pub(crate) fn config(&self) -> &StoreConfig {
        &self.0.config
    }

    /// Returns the number of the last purge that this node knows, or 0 if the purges have not been read.
    pub(crate) fn position(&self) -> u64 {
        self.0.judge.reading().last()
    }

    /// Returns whether an entry is invalid because of a purge in the shared log, whichever node added it. Only for
    /// entries that this node made or has in its own tiers, not for those just read from the store.
    pub(crate) fn kills(&self, key: &Key, stored: &Stored) -> bool {
        self.0.judge.reading().kills(key, stored)
    }

    /// Returns how long a request waits for a look-up before it starts making the result in parallel.
    pub(crate) fn patience(&self) -> Duration {
        self.0.health.patience(self.0.config.wait)
    }

    /// Looks up an entry. The outer `None` means that no look-up was possible now, the inner one that there is no
    /// usable entry. The look-up continues even if the caller stops waiting, so that its outcome counts for the health
    /// of the store.
    pub(crate) async fn get(&self, key: &Key) -> Option<Option<Stored>> {
        let inner = &self.0;
        let permit = inner.lookups.clone().try_acquire_owned();
        let (true, Ok(permit)) = (inner.is_usable(), permit) else {
            inner.counts.skipped.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let (tier, key) = (Arc::clone(inner), *key);
        let task = inner.runtime.spawn(async move {
            let entry = tier.look_up(&key).await;
            drop(permit);
            entry
        });
        task.await.ok()
    }

    /// Queues a result for writing. It is dropped if the queue is full or the store is not in use.
    pub(crate) fn put(&self, key: Key, stored: Stored) {
        let inner = &self.0;
        let is_useless = stored.position == 0 || !inner.is_usable() || self.kills(&key, &stored);
        if is_useless {
            inner.uploads.drop_one();
        } else if inner.uploads.push(key, stored) {
            let tier = Arc::clone(inner);
            inner.runtime.spawn(async move { tier.write_all().await });
        }
    }

    /// Adds a purge to the shared log, so that all nodes purge what `selector` selects. Returns whether all nodes will
    /// learn of it.
    pub(crate) async fn purge(&self, selector: Selector) -> bool {
        let inner = &self.0;
        let attempts = async {
            let _turn = inner.purge_lock.lock().await;
            for attempt in 0..MOST_ATTEMPTS {
                if attempt > 0 {
                    tokio::time::sleep(Duration::from_millis(jitter(50))).await;
                }
                match inner.add_purge(&selector).await {
                    Ok(()) => return Ok(()),
                    Err(BucketError::Conflict) => {}
                    Err(error) => return Err(error),
                }
            }
            Err(BucketError::Conflict)
        };
        let result = timeout(PURGE_DEADLINE, attempts).await;
        let result = result.unwrap_or_else(|_| {
            Err(BucketError::Failed(format!(
                "no answer within {PURGE_DEADLINE:?}"
            )))
        });
        if let Err(error) = &result {
            inner.counts.errors.fetch_add(1, Ordering::Relaxed);
            let place = &inner.config.place;
            tracing::warn!(place, %error, "a purge could not be shared with other nodes");
        }
        // In a bucket that ignores conditions, a purge that another node adds at the same moment may replace this one.
        inner.check_conditions().await;
        result.is_ok() && inner.is_conditional.get() != Some(&false)
    }

    /// Reads the purges of all nodes. Returns whether there are new ones.
    pub(crate) async fn read_purges(&self) -> bool {
        let inner = &self.0;
        let reading = timeout(inner.config.timeout.max(LEAST_TIMEOUT), inner.read_log());
        match reading.await {
            Ok(Ok(has_new)) => {
                inner.health.record_purges();
                inner.check_conditions().await;
                has_new
            }
            Ok(Err(error)) => {
                inner.suspend(&format!("purges: {error}"));
                false
            }
            Err(_) => {
                inner.suspend("purges: no answer in time");
                false
            }
        }
    }

    /// Waits until all queued results are written or dropped.
    pub(crate) async fn flush(&self) {
        loop {
            let progress = self.0.progress.notified();
            if self.0.uploads.is_idle() {
                return;
            }
            let _ = timeout(Duration::from_secs(1), progress).await;
        }
    }

    /// Waits until it is known whether the bucket can be used.
    pub(crate) async fn wait_until_known(&self) {
        self.0.health.wait_until_known().await;
    }

    pub(crate) fn stats(&self) -> StoreStats {
        let inner = &self.0;
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (queued_bytes, dropped) = inner.uploads.usage();
        StoreStats {
            skipped: load(&inner.counts.skipped),
            errors: load(&inner.counts.errors),
            rejected: load(&inner.counts.rejected),
            stored: load(&inner.counts.stored),
            present: load(&inner.counts.present),
            dropped,
            queued_bytes,
            purge_rules: inner.judge.reading().rules() as u64,
            ready: inner.is_usable(),
            ignores_conditions: inner.is_conditional.get() == Some(&false),
            error: inner.health.error(),
            ..StoreStats::default()
        }
    }
}

impl Inner {
    /// Returns whether the store may be used. A few missed polls do not count as an outage.
    fn is_usable(&self) -> bool {
        self.health.is_usable(3 * self.config.poll + LEAST_TIMEOUT)
    }

    /// Checks once whether the bucket supports conditional writes, by a write that requires a version that never
    /// existed. A bucket that accepts this write loses purges when two nodes write them at the same moment.
    async fn check_conditions(&self) {
        if self.is_conditional.get().is_some() {
            return;
        }
        let never = Version {
            tag: Some("\"never\"".to_owned()),
            number: Some("1".to_owned()),
        };
        let put = self.bucket().put(CONDITION, Bytes::new(), Some(&never));
        let is_conditional = match timeout(self.config.timeout.max(LEAST_TIMEOUT), put).await {
            Ok(Err(BucketError::Conflict)) => true,
            Ok(Ok(())) => false,
            // The check is repeated when the purges are read next.
            Ok(Err(BucketError::Failed(_))) | Err(_) => return,
        };
        let is_first = self.is_conditional.set(is_conditional).is_ok();
        if is_first && !is_conditional {
            let place = &self.config.place;
            tracing::warn!(
                place,
                "the shared store ignores conditions on writing (If-Match): results are shared, but purges of nodes that \
                 purge at the same moment replace each other, so none is said to reach other nodes; use a store that \
                 knows conditional writes, or purge each node"
            );
        }
    }

    async fn look_up(&self, key: &Key) -> Option<Stored> {
        let start = Instant::now();
        let name = name(key);
        let result = timeout(self.config.timeout, self.bucket().get(&name, None)).await;
        let latency = start.elapsed();
        let object = match result {
            Ok(Ok(object)) => object,
            Ok(Err(error)) => return self.fail(None, &error.to_string()),
            Err(_) => return self.fail(Some(latency), "no answer in time"),
        };
        self.health.record_answer(latency);
        let Object::Here(bytes, version) = object else {
            return None;
        };
        self.versions.insert(*key, version);
        self.open(key, bytes).await
    }

    async fn open(&self, key: &Key, bytes: Bytes) -> Option<Stored> {
        let (sealer, now, name_of) = (self.sealer.clone(), self.clock.now(), *key);
        let open = move || sealer.open(&name_of, bytes, &now);
        let Some(stored) = tokio::task::spawn_blocking(open).await.ok()? else {
            let name = name(key);
            if self.counts.rejected.fetch_add(1, Ordering::Relaxed) == 0 {
                let place = &self.config.place;
                tracing::warn!(
                    place,
                    name,
                    "an object of the shared store has no valid seal; it is not used (logged once)"
                );
            }
            return None;
        };
        let is_purged = self.judge.reading().kills_shared(key, &stored);
        (!is_purged).then_some(stored)
    }

    /// Work of a writer task: writes results until the queue is empty.
    async fn write_all(self: Arc<Self>) {
        while let Some((key, stored)) = self.uploads.next() {
            let is_written = self.is_usable() && self.write(&key, &stored).await;
            self.uploads.finish(&stored, is_written);
        }
        self.progress.notify_waiters();
    }

    async fn write(&self, key: &Key, stored: &Stored) -> bool {
        let (sealer, name_of, contents) = (self.sealer.clone(), *key, stored.clone());
        let seal = move || sealer.seal(&name_of, &contents);
        let Ok(Some(object)) = tokio::task::spawn_blocking(seal).await else {
            return false;
        };
        let mut old = self.versions.remove(key);
        let had_version = old.is_some();
        let mut result = self.upload(key, object.clone(), old).await;
        if !had_version && result == Err(BucketError::Conflict) {
            // This node has not read the existing object. It stays unless it is useless.
            let is_useless = self.look_up(key).await.is_none();
            old = self.versions.remove(key).filter(|_| is_useless);
            if old.is_some() {
                result = self.upload(key, object, old).await;
            }
        }
        match result {
            Ok(()) => {
                self.counts.stored.fetch_add(1, Ordering::Relaxed);
                true
            }
            // Another node was faster, and its result is as good.
            Err(BucketError::Conflict) => {
                self.counts.present.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(error) => self.fail(None, &error.to_string()).unwrap_or(false),
        }
    }

    async fn upload(
        &self,
        key: &Key,
        object: Bytes,
        old: Option<Version>,
    ) -> Result<(), BucketError> {
        let name = name(key);
        let put = self.bucket().put(&name, object, old.as_ref());
        let put = timeout(UPLOAD_DEADLINE, put).await;
        put.unwrap_or_else(|_| Err(BucketError::Failed("no answer in time".to_owned())))
    }

    async fn read_log(&self) -> Result<bool, BucketError> {
        let current = self.log.locked().clone();
        let version = current.as_ref().map(|(_, version)| version);
        match self.bucket().get(PURGES, version).await? {
            Object::Unchanged => Ok(false),
            Object::Here(bytes, version) => self.take(&bytes, version),
            Object::Missing => {
                // The first node creates the log. If a log has been lost, a node that still has its contents writes
                // them again, including purges that were added since this read began.
                let current = self.log.locked().clone();
                let now = millis(self.clock.now().wall);
                let log = current.map_or_else(|| SharedLog::new(now), |(log, _)| log);
                let object = self.sealer.seal_purges(&log.encode());
                match self.bucket().put(PURGES, object, None).await {
                    Ok(()) | Err(BucketError::Conflict) => {}
                    Err(error) => return Err(error),
                }
                match self.bucket().get(PURGES, None).await? {
                    Object::Here(bytes, version) => self.take(&bytes, version),
                    _ => Err(BucketError::Failed("the object cannot be read".to_owned())),
                }
            }
        }
    }

    /// Adopts the purge log in the object `bytes`. Returns whether it has new purges.
    ///
    /// A log that is older than a known one, and an object without a valid seal (a keyed digest), are rejected as
    /// `BucketError::Failed`.
    fn take(&self, bytes: &[u8], version: Version) -> Result<bool, BucketError> {
        let log = self.sealer.open_purges(bytes).and_then(SharedLog::decode);
        let log = log.ok_or_else(|| {
            let why = "the object `purges` was not sealed with this secret";
            BucketError::Failed(why.to_owned())
        })?;
        let mut current = self.log.locked();
        if let Some((old, _)) = &*current
            && (log.last < old.last || log.floor < old.floor)
        {
            let why = "the object `purges` is older than one that was read before";
            return Err(BucketError::Failed(why.to_owned()));
        }
        let is_new = current.as_ref().is_none_or(|(old, _)| *old != log);
        if is_new {
            *self.judge.writing() = Judge::of(&log);
        }
        let has_purges = current.is_some() || !log.marks.is_empty();
        *current = Some((log, version));
        Ok(is_new && has_purges)
    }

    async fn add_purge(&self, selector: &Selector) -> Result<(), BucketError> {
        self.read_log().await?;
        let current = self.log.locked().clone();
        let (mut log, version) = current.ok_or(BucketError::Conflict)?;
        log.add(selector.clone());
        let object = self.sealer.seal_purges(&log.encode());
        self.bucket().put(PURGES, object, Some(&version)).await?;
        // Reading the log again learns its new version, and the purges that other nodes have added since.
        self.read_log().await?;
        Ok(())
    }

    fn bucket(&self) -> &dyn Bucket {
        &*self.config.bucket
    }

    fn fail<T>(&self, latency: Option<Duration>, message: &str) -> Option<T> {
        self.counts.errors.fetch_add(1, Ordering::Relaxed);
        self.health.record_failure(latency, message);
        None
    }

    fn suspend(&self, message: &str) {
        self.counts.errors.fetch_add(1, Ordering::Relaxed);
        self.health.stop(message);
    }
}

/// Reads the purges at intervals while the cache exists, and calls `notify` with the cache when there are new ones.
pub(crate) async fn follow<T: Send + Sync>(cache: Weak<T>, store: SharedStore, notify: fn(&T)) {
    loop {
        let has_new = store.read_purges().await;
        let Some(cache) = cache.upgrade() else { return };
        if has_new {
            notify(&cache);
        }
        drop(cache);
        let poll = store.config().poll;
        let pause = match store.0.health.error() {
            // Reading the purges is what detects that the store has recovered.
            Some(_) => poll.min(Duration::from_secs(1)),
            None => poll,
        };
        let spread = u64::try_from(pause.as_millis() / 2).unwrap_or(u64::MAX);
        tokio::time::sleep(pause * 3 / 4 + Duration::from_millis(jitter(spread))).await;
    }
}

/// Returns the name of a result's object. Results are spread over 256 folders, because file systems handle large
/// folders badly.
fn name(key: &Key) -> String {
    let key = key.to_string();
    format!("results/{}/{key}", &key[..2])
}

/// Returns a random number below `below`, so that nodes do not act in step.
fn jitter(below: u64) -> u64 {
    RandomState::new().hash_one(0u8) % below.max(1)
}

const PURGES: &str = "purges";
/// Name of the object with which conditional writes are checked. It exists only in a bucket that ignores conditions.
const CONDITION: &str = "condition";
const MOST_LOOKUPS: usize = 64;
/// Largest number of objects in the bucket whose versions are remembered for conditional writes, at about 200 bytes
/// each.
const MOST_VERSIONS: u64 = 4096;
/// Largest number of attempts to add a purge. Two nodes that purge at the same moment conflict only once or twice.
const MOST_ATTEMPTS: u32 = 16;
const PURGE_DEADLINE: Duration = Duration::from_secs(5);
const UPLOAD_DEADLINE: Duration = Duration::from_secs(10);
/// Shortest timeout for reading purges. No request waits for them, so they may take longer than look-ups.
const LEAST_TIMEOUT: Duration = Duration::from_secs(2);
