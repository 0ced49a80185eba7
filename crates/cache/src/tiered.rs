//! The public interface of the cache: three tiers (memory, disk, and the store that nodes share) with a common purge.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::disk::Disk;
use crate::disk::device::{Device, Files};
use crate::entry::{Entry, Hit, Stored, Tier};
use crate::freshness::Stamp;
use crate::key::Key;
use crate::purge::{Marks, Purged, Selector, Ticket};
use crate::stats::{DiskStats, Lookups, MemoryStats, Stats, StoreStats};
use crate::store::{self, SharedStore, StoreConfig};
use crate::table::Table;

/// Which tiers of a cache exist, and their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Size of the memory tier in bytes; 0 switches it off. With a disk tier, the write queue takes up to 32 MiB more.
    pub memory: u64,
    /// The disk tier; `None` switches it off.
    pub disk: Option<DiskConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            memory: 256 << 20,
            disk: None,
        }
    }
}

/// Location and size limit of the disk tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskConfig {
    /// The folder in which the cache creates a folder of its own.
    pub path: PathBuf,
    /// Size limit on disk in bytes, counted in whole blocks; 0 switches the tier off.
    pub size: u64,
}

/// A cache of finished results in memory, on disk, and in a store that nodes share. Clones refer to the same cache.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use std::time::Duration;
/// use andon_cache::{Cache, Config, Entry, Freshness, Key, Life, Selector};
///
/// let cache = Cache::open(Config::default());
/// let key = Key::of(&["fit:250x250,as:jpeg", "cat.jpg", "jpeg"]);
/// let ticket = cache.ticket(); // before the source is read
/// let entry = Entry {
///     body: "the image".into(),
///     source: "cat.jpg".into(),
///     life: Life::fresh_for(Duration::from_secs(60)),
///     ..Entry::default()
/// };
/// cache.put(key, entry, ticket);
/// assert_eq!(cache.get(&key).await.unwrap().freshness, Freshness::Fresh);
///
/// let _ = cache.purge(Selector::Source("cat.jpg".into())).await;
/// assert!(cache.get(&key).await.is_none());
/// # });
/// ```
#[derive(Clone)]
pub struct Cache {
    inner: Arc<Inner>,
}

struct Inner {
    clock: Arc<dyn Clock>,
    marks: Arc<Marks>,
    /// The entries that were used lately, weighed in bytes. `None` if the tier is off.
    memory: Option<Table<Key, Stored>>,
    disk: Option<Disk>,
    store: Option<SharedStore>,
    memory_lookups: Lookups,
    disk_lookups: Lookups,
    store_lookups: Lookups,
    /// Number of purges requested on this node.
    purges: AtomicU64,
    /// Number of purges, including those of other nodes.
    epoch: AtomicU64,
}

impl Cache {
    /// Opens the cache. This never fails: a disk tier that cannot be used reports its error in [`Stats`], is retried
    /// every second, and joins in as soon as it can be used. If there is a disk tier, this must be called inside a
    /// tokio runtime with timers enabled.
    pub fn open(config: Config) -> Self {
        Self::open_sharing(config, None)
    }

    /// Like [`Cache::open`], with a store that other nodes use as well. If there is one, this must be called inside a
    /// tokio runtime. The store is not used before its purges have been read.
    pub fn open_sharing(config: Config, store: Option<StoreConfig>) -> Self {
        let clock = Arc::new(SystemClock::default());
        Self::open_with(config, store, clock, Arc::new(Files))
    }

    /// Like [`Cache::open`], with an optional store that other nodes use as well, and with the given clock and file
    /// system, for tests.
    pub fn open_with(
        config: Config,
        store: Option<StoreConfig>,
        clock: Arc<dyn Clock>,
        device: Arc<dyn Device>,
    ) -> Self {
        let disk = config.disk.filter(|disk| disk.size > 0);
        let marks = Arc::new(Marks::new(disk.is_some()));
        let disk = disk.map(|disk| Disk::start(device, disk.path, disk.size, Arc::clone(&marks)));
        let memory = (config.memory > 0)
            .then(|| Table::weighing(config.memory, |stored: &Stored| stored.entry.weight()));
        let store = store.map(|store| SharedStore::new(store, Arc::clone(&clock)));
        let inner = Arc::new(Inner {
            clock,
            marks,
            memory,
            disk,
            store: store.clone(),
            memory_lookups: Lookups::default(),
            disk_lookups: Lookups::default(),
            store_lookups: Lookups::default(),
            purges: AtomicU64::new(0),
            epoch: AtomicU64::new(0),
        });
        if let Some(store) = store {
            tokio::spawn(store::follow(
                Arc::downgrade(&inner),
                store,
                Inner::on_purge,
            ));
        }
        Self { inner }
    }

    /// Returns whether `store` is the one that this cache uses, with the same settings.
    pub fn has_store_of(&self, store: Option<&StoreConfig>) -> bool {
        match (&self.inner.store, store) {
            (None, None) => true,
            (Some(current), Some(other)) => current.config().is_same(other),
            _ => false,
        }
    }

    /// Returns a number that grows with each purge, including those of other nodes. Data that a caller derived from
    /// entries under an older number may be outdated.
    pub fn purge_epoch(&self) -> u64 {
        self.inner.epoch.load(Ordering::Acquire)
    }

    /// Returns whether `config` has the same tiers as this cache, whatever their sizes.
    pub fn has_tiers_of(&self, config: &Config) -> bool {
        let disk = config.disk.as_ref().filter(|disk| disk.size > 0);
        let inner = &*self.inner;
        inner.memory.is_some() == (config.memory > 0)
            && inner.disk.as_ref().map(Disk::path) == disk.map(|disk| &*disk.path)
    }

    /// Gives the existing tiers the sizes of `config`. Entries beyond these are evicted, from memory at once and from
    /// disk soon.
    pub fn resize(&self, config: &Config) {
        if let Some(memory) = &self.inner.memory {
            memory.resize(config.memory);
        }
        if let (Some(disk), Some(config)) = (&self.inner.disk, &config.disk) {
            disk.resize(config.size);
        }
    }

    /// Returns a ticket. Take it before reading a result's source, and pass it to [`Cache::put`] with the result. If a
    /// purge of the result comes in between, the result is not stored.
    pub fn ticket(&self) -> Ticket {
        let inner = &*self.inner;
        Ticket {
            position: inner.store.as_ref().map_or(0, SharedStore::position),
            ..inner.marks.ticket()
        }
    }

    /// Looks up an entry in memory, then on disk. An entry found on disk is copied to memory.
    pub async fn get(&self, key: &Key) -> Option<Hit> {
        let inner = &*self.inner;
        if let Some(hit) = self.get_from_memory(key) {
            return Some(hit);
        }
        let stored = inner.find_on_disk(key).await;
        inner.disk.as_ref()?;
        let hit = stored.as_ref().map(|stored| inner.hit(stored, Tier::Disk));
        inner.disk_lookups.count(hit.as_ref());
        if let (Some(stored), Some(_)) = (stored, &hit) {
            inner.keep_in_memory(*key, stored);
        }
        hit
    }

    /// Looks up an entry again, after [`Cache::get`] has not found a usable one. Returns only a hit for which `accepts`
    /// returns true, and only such a hit counts as a look-up.
    pub async fn get_again(&self, key: &Key, accepts: impl Fn(&Hit) -> bool) -> Option<Hit> {
        if let Some(hit) = self.take_from_memory(key, |hit| accepts(hit).then(|| hit.clone())) {
            return Some(hit);
        }
        let inner = &*self.inner;
        let stored = inner.find_on_disk(key).await?;
        let hit = Some(inner.hit(&stored, Tier::Disk)).filter(accepts)?;
        inner.disk_lookups.count(Some(&hit));
        inner.keep_in_memory(*key, stored);
        Some(hit)
    }

    /// Looks up an entry in memory only, without waiting for anything.
    pub fn get_from_memory(&self, key: &Key) -> Option<Hit> {
        let inner = &*self.inner;
        let hit = inner.find_in_memory(key, inner.memory.as_ref()?);
        inner.memory_lookups.count(hit.as_ref());
        hit
    }

    /// Returns the result of `convert` for an entry in memory. If there is none, or `convert` returns `None`, this does
    /// not count as a look-up, because the caller is expected to call [`Cache::get`] next.
    pub fn take_from_memory<T>(
        &self,
        key: &Key,
        convert: impl FnOnce(&Hit) -> Option<T>,
    ) -> Option<T> {
        let inner = &*self.inner;
        let hit = inner.find_in_memory(key, inner.memory.as_ref()?)?;
        let value = convert(&hit)?;
        inner.memory_lookups.count(Some(&hit));
        Some(value)
    }

    /// Stores a result, at once in memory and soon on disk. Does not wait.
    pub fn put(&self, key: Key, entry: impl Into<Arc<Entry>>, ticket: Ticket) {
        let inner = &*self.inner;
        let Some(stored) = inner.prepare(&key, entry.into(), ticket) else {
            return;
        };
        if let Some(disk) = &inner.disk {
            disk.put(key, stored.clone());
        }
        inner.keep_in_memory(key, stored);
    }

    /// Stores a note (an entry with data other than a result, such as facts about a source) on disk only.
    /// [`Cache::get_from_disk`] finds it after a restart, too.
    pub fn put_on_disk(&self, key: Key, entry: impl Into<Arc<Entry>>, ticket: Ticket) {
        let inner = &*self.inner;
        if let Some(disk) = &inner.disk
            && let Some(stored) = inner.prepare(&key, entry.into(), ticket)
        {
            disk.put(key, stored);
        }
    }

    /// Returns a note (an entry with data other than a result) from memory or disk, however old it is. The note must
    /// have been stored with [`Cache::put`]. This does not count as a look-up.
    pub async fn get_note(&self, key: &Key) -> Option<Arc<Entry>> {
        let inner = &*self.inner;
        if let Some(memory) = &inner.memory
            && let Some(hit) = inner.find_in_memory(key, memory)
        {
            return Some(hit.entry);
        }
        let stored = inner.find_on_disk(key).await?;
        inner.keep_in_memory(*key, stored.clone());
        Some(stored.entry)
    }

    /// Returns a note (an entry with data other than a result) from disk, however old it is. This does not count as a
    /// look-up.
    pub async fn get_from_disk(&self, key: &Key) -> Option<Arc<Entry>> {
        let stored = self.inner.find_on_disk(key).await?;
        Some(stored.entry)
    }

    /// Returns how long to wait for a look-up in the shared store before starting to make the result in parallel.
    /// `None` without a store.
    pub fn patience_for_store(&self) -> Option<Duration> {
        self.inner.store.as_ref().map(SharedStore::patience)
    }

    /// Looks up an entry in the store that nodes share. An entry found there is also stored on this node. `ticket` must
    /// have been taken before the look-up.
    pub async fn get_from_store(&self, key: &Key, ticket: Ticket) -> Option<Hit> {
        let inner = &*self.inner;
        let entry = inner.store.as_ref()?.get(key).await?;
        let hit = entry.as_ref().map(|stored| inner.hit(stored, Tier::Store));
        inner.store_lookups.count(hit.as_ref());
        if let (Some(stored), Some(_)) = (entry, &hit) {
            let stored = Stored {
                generation: ticket.generation,
                ..stored
            };
            if !inner.marks.admits(key, &stored) {
                return None;
            }
            if let Some(disk) = &inner.disk {
                disk.put(*key, stored.clone());
            }
            inner.keep_in_memory(*key, stored);
        }
        hit
    }

    /// Returns a note (an entry with data other than a result) from the store that nodes share, however old it is. This
    /// does not count as a look-up.
    pub async fn get_note_from_store(&self, key: &Key) -> Option<Arc<Entry>> {
        let stored = self.inner.store.as_ref()?.get(key).await?;
        Some(stored?.entry)
    }

    /// Queues an entry for writing to the store that nodes share, in the background: a result, or a note with other
    /// data. Does not wait.
    pub fn put_in_store(&self, key: Key, entry: impl Into<Arc<Entry>>, ticket: Ticket) {
        let inner = &*self.inner;
        if let Some(store) = &inner.store
            && let Some(stored) = inner.prepare(&key, entry.into(), ticket)
        {
            store.put(key, stored);
        }
    }

    /// Purges everything that `selector` selects from all tiers at once, including results that are still being made.
    /// Waits (a few seconds at most) until the purge is saved on disk and in the log for other nodes. [`Purged`] says
    /// whether that succeeded.
    pub async fn purge(&self, selector: Selector) -> Purged {
        let inner = &*self.inner;
        inner.marks.add(selector.clone());
        inner.purges.fetch_add(1, Ordering::Relaxed);
        inner.epoch.fetch_add(1, Ordering::AcqRel);
        let from_memory = inner.free_memory();
        let reaches_nodes = match &inner.store {
            Some(store) => Some(store.purge(selector).await),
            None => None,
        };
        if reaches_nodes.is_some() {
            // Adding the purge to the shared log has also read the purges of other nodes.
            inner.on_purge();
        }
        match &inner.disk {
            Some(disk) => Purged {
                from_memory,
                has_disk: true,
                survives_restart: disk.save_marks().await,
                reaches_nodes,
            },
            None => {
                // Memory has no purged entry left. Results that are still being made are refused because of the floor.
                inner.marks.forget(inner.marks.generation());
                Purged {
                    from_memory,
                    has_disk: false,
                    survives_restart: true,
                    reaches_nodes,
                }
            }
        }
    }

    /// Waits until the disk tier is fully in use, or its error is known.
    pub async fn ready(&self) {
        if let Some(disk) = &self.inner.disk {
            disk.ready().await;
        }
    }

    /// Waits until all queued entries are on disk and in the shared store, or dropped. Meant for the end of the
    /// process. A hung disk delays this, so callers need a deadline of their own.
    pub async fn flush(&self) {
        if let Some(disk) = &self.inner.disk {
            disk.flush().await;
        }
        if let Some(store) = &self.inner.store {
            store.flush().await;
        }
    }

    /// Waits until it is known whether the shared store can be used. Returns at once without one.
    pub async fn store_known(&self) {
        if let Some(store) = &self.inner.store {
            store.wait_until_known().await;
        }
    }

    /// Returns all statistics.
    pub fn stats(&self) -> Stats {
        let inner = &*self.inner;
        let (entries, bytes, evictions) =
            inner.memory.as_ref().map(Table::usage).unwrap_or_default();
        let (hits, stale, misses) = inner.memory_lookups.read();
        let from_disk = inner.disk_lookups.read();
        Stats {
            memory: MemoryStats {
                hits,
                stale,
                misses,
                entries,
                bytes,
                limit: inner.memory.as_ref().map_or(0, Table::limit),
                evictions,
            },
            disk: inner.disk.as_ref().map(|disk| DiskStats {
                hits: from_disk.0,
                stale: from_disk.1,
                misses: from_disk.2,
                ..disk.stats()
            }),
            store: inner.store.as_ref().map(|store| {
                let (hits, stale, misses) = inner.store_lookups.read();
                StoreStats {
                    hits,
                    stale,
                    misses,
                    ..store.stats()
                }
            }),
            purges: inner.purges.load(Ordering::Relaxed),
            purge_rules_active: inner.marks.len() as u64,
        }
    }
}

impl Inner {
    /// Returns an entry in the form in which it is stored, or `None` if it has been purged since its ticket was issued.
    fn prepare(&self, key: &Key, entry: Arc<Entry>, ticket: Ticket) -> Option<Stored> {
        let stored = Stored {
            entry,
            stamp: Stamp::of(&self.clock.now()),
            generation: ticket.generation,
            position: ticket.position,
        };
        self.marks.admits(key, &stored).then_some(stored)
    }

    fn find_in_memory(&self, key: &Key, memory: &Table<Key, Stored>) -> Option<Hit> {
        memory
            .get(key)
            .filter(|stored| {
                !self.marks.kills(key, stored) && !self.is_purged_by_others(key, stored)
            })
            .map(|stored| self.hit(&stored, Tier::Memory))
    }

    async fn find_on_disk(&self, key: &Key) -> Option<Stored> {
        let stored = self.disk.as_ref()?.get(key).await;
        stored.filter(|stored| !self.is_purged_by_others(key, stored))
    }

    fn is_purged_by_others(&self, key: &Key, stored: &Stored) -> bool {
        let store = self.store.as_ref();
        store.is_some_and(|store| store.kills(key, stored))
    }

    /// Removes purged entries from memory, and increments the number that `Cache::purge_epoch` returns. To be called
    /// when new purges of other nodes have been read.
    fn on_purge(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.free_memory();
    }

    /// Removes purged entries from memory, and returns their number.
    fn free_memory(&self) -> u64 {
        let mut freed = 0;
        if let Some(memory) = &self.memory {
            memory.retain(|key, stored| {
                let dead = self.marks.kills(key, stored) || self.is_purged_by_others(key, stored);
                freed += u64::from(dead);
                !dead
            });
        }
        freed
    }

    /// Returns the hit for an entry, with its age and freshness.
    fn hit(&self, stored: &Stored, tier: Tier) -> Hit {
        let life = &stored.entry.life;
        let age = stored.stamp.age(&self.clock.now(), life);
        Hit {
            entry: Arc::clone(&stored.entry),
            age,
            freshness: life.at(age),
            tier,
        }
    }

    /// Stores an entry in memory unless it is purged. The purges in force (`marks`) stay locked meanwhile, so that a
    /// concurrent purge either prevents this or finds the entry in memory.
    fn keep_in_memory(&self, key: Key, stored: Stored) {
        if let Some(memory) = &self.memory {
            self.marks
                .if_alive(&key, &stored, || memory.insert(key, stored.clone()));
        }
    }
}
