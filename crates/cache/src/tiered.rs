//! The cache as the server sees it: three tiers (memory, disk, and the store that nodes share) with a common purge.

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

/// Which tiers there are, and their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Size of the memory tier in bytes; 0 switches it off. With a disk tier, up to 32 MiB more may be waiting to be
    /// written.
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
    /// A folder, inside which the cache creates its own.
    pub path: PathBuf,
    /// Size limit on disk in bytes, counted in whole blocks; 0 switches the tier off.
    pub size: u64,
}

/// Finished results in memory and on disk. A clone is the same cache.
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
///     body: "the picture".into(),
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
    /// The entries in most demand, weighed in bytes. `None` if the tier is off.
    memory: Option<Table<Key, Stored>>,
    disk: Option<Disk>,
    store: Option<SharedStore>,
    memory_lookups: Lookups,
    disk_lookups: Lookups,
    store_lookups: Lookups,
    /// Number of purges ordered on this node.
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
            tokio::spawn(store::follow(Arc::downgrade(&inner), store, Inner::purged));
        }
        Self { inner }
    }

    /// Returns whether `store` is the one that this cache uses, with the same settings.
    pub fn has_store_of(&self, store: Option<&StoreConfig>) -> bool {
        match (&self.inner.store, store) {
            (None, None) => true,
            (Some(mine), Some(other)) => mine.config().is_same(other),
            _ => false,
        }
    }

    /// Returns a number that grows with each purge, including those of other nodes. What was remembered under an older
    /// number may no longer hold.
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

    /// Returns a ticket, which is to be taken before a result's source is read and given to [`Cache::put`] with the
    /// result. If a purge comes in between, the result is not stored.
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
        let hit = stored
            .as_ref()
            .map(|stored| inner.judge(stored, Tier::Disk));
        inner.disk_lookups.count(hit.as_ref());
        if let (Some(stored), Some(_)) = (stored, &hit) {
            inner.keep_in_memory(*key, stored);
        }
        hit
    }

    /// Looks up an entry again, for a caller who has [looked](Cache::get) in vain. Returns only a hit that `wanted`
    /// accepts, and only that counts as a look-up.
    pub async fn get_again(&self, key: &Key, wanted: impl Fn(&Hit) -> bool) -> Option<Hit> {
        if let Some(hit) = self.take_from_memory(key, |hit| wanted(hit).then(|| hit.clone())) {
            return Some(hit);
        }
        let inner = &*self.inner;
        let stored = inner.find_on_disk(key).await?;
        let hit = Some(inner.judge(&stored, Tier::Disk)).filter(wanted)?;
        inner.disk_lookups.count(Some(&hit));
        inner.keep_in_memory(*key, stored);
        Some(hit)
    }

    /// Looks up an entry in memory only, without waiting for anything.
    pub fn get_from_memory(&self, key: &Key) -> Option<Hit> {
        let inner = &*self.inner;
        let found = inner.find_in_memory(key, inner.memory.as_ref()?);
        inner.memory_lookups.count(found.as_ref());
        found
    }

    /// Returns what `wanted` makes of an entry in memory. If there is none, or `wanted` returns `None`, this does not
    /// count as a look-up, because the caller will look it up again properly.
    pub fn take_from_memory<T>(
        &self,
        key: &Key,
        wanted: impl FnOnce(&Hit) -> Option<T>,
    ) -> Option<T> {
        let inner = &*self.inner;
        let hit = inner.find_in_memory(key, inner.memory.as_ref()?)?;
        let taken = wanted(&hit)?;
        inner.memory_lookups.count(Some(&hit));
        Some(taken)
    }

    /// Stores a result, at once in memory and soon on disk. Does not wait.
    pub fn put(&self, key: Key, entry: impl Into<Arc<Entry>>, ticket: Ticket) {
        let inner = &*self.inner;
        let Some(stored) = inner.stored(&key, entry.into(), ticket) else {
            return;
        };
        if let Some(disk) = &inner.disk {
            disk.put(key, stored.clone());
        }
        inner.keep_in_memory(key, stored);
    }

    /// Stores a note, which is not a result, on disk only, where it is found again after a restart.
    pub fn put_on_disk(&self, key: Key, entry: impl Into<Arc<Entry>>, ticket: Ticket) {
        let inner = &*self.inner;
        if let Some(disk) = &inner.disk
            && let Some(stored) = inner.stored(&key, entry.into(), ticket)
        {
            disk.put(key, stored);
        }
    }

    /// Returns a note that was [put](Cache::put) like a result, however old it is. This does not count as a look-up.
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

    /// Returns a note from disk, however old it is. This does not count as a look-up.
    pub async fn get_from_disk(&self, key: &Key) -> Option<Arc<Entry>> {
        let stored = self.inner.find_on_disk(key).await?;
        Some(stored.entry)
    }

    /// Returns how long to wait for the shared store before a result is made at the same time. `None` without a store.
    pub fn patience_for_store(&self) -> Option<Duration> {
        self.inner.store.as_ref().map(SharedStore::patience)
    }

    /// Looks up an entry in the store that nodes share. An entry found there is also stored on this node. `ticket` must
    /// have been taken before the look-up.
    pub async fn get_from_store(&self, key: &Key, ticket: Ticket) -> Option<Hit> {
        let inner = &*self.inner;
        let found = inner.store.as_ref()?.get(key).await?;
        let hit = found
            .as_ref()
            .map(|stored| inner.judge(stored, Tier::Store));
        inner.store_lookups.count(hit.as_ref());
        if let (Some(stored), Some(_)) = (found, &hit) {
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

    /// Returns a note from the store that nodes share, however old it is. This does not count as a look-up.
    pub async fn get_note_from_store(&self, key: &Key) -> Option<Arc<Entry>> {
        let stored = self.inner.store.as_ref()?.get(key).await?;
        Some(stored?.entry)
    }

    /// Queues a result or a note for writing to the store that nodes share, in the background. Does not wait.
    pub fn put_in_store(&self, key: Key, entry: impl Into<Arc<Entry>>, ticket: Ticket) {
        let inner = &*self.inner;
        if let Some(store) = &inner.store
            && let Some(stored) = inner.stored(&key, entry.into(), ticket)
        {
            store.put(key, stored);
        }
    }

    /// Removes everything that `selector` selects from all tiers at once, including results still being made. Waits (a
    /// few seconds at most) until the purge will survive a restart and other nodes will learn of it.
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
            // What others had purged was read as well.
            inner.purged();
        }
        match &inner.disk {
            Some(disk) => Purged {
                from_memory,
                has_disk: true,
                survives_restart: disk.save_marks().await,
                reaches_nodes,
            },
            None => {
                // Memory is clean, so only results still being made could need the mark.
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

    /// Waits until everything stored is on disk and in the shared store, or given up. Meant for the end of the process.
    /// A disk that hangs makes this wait, too, so it should be given a deadline.
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
            store.known().await;
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
    fn stored(&self, key: &Key, entry: Arc<Entry>, ticket: Ticket) -> Option<Stored> {
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
                !self.marks.kill(key, stored) && !self.is_purged_by_others(key, stored)
            })
            .map(|stored| self.judge(&stored, Tier::Memory))
    }

    async fn find_on_disk(&self, key: &Key) -> Option<Stored> {
        let found = self.disk.as_ref()?.get(key).await;
        found.filter(|stored| !self.is_purged_by_others(key, stored))
    }

    fn is_purged_by_others(&self, key: &Key, stored: &Stored) -> bool {
        let store = self.store.as_ref();
        store.is_some_and(|store| store.kills(key, stored))
    }

    /// Called when other nodes have purged something.
    fn purged(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.free_memory();
    }

    /// Removes purged entries from memory, and returns their number.
    fn free_memory(&self) -> u64 {
        let mut freed = 0;
        if let Some(memory) = &self.memory {
            memory.retain(|key, stored| {
                let dead = self.marks.kill(key, stored) || self.is_purged_by_others(key, stored);
                freed += u64::from(dead);
                !dead
            });
        }
        freed
    }

    /// Returns the hit for an entry, with its age and freshness.
    fn judge(&self, stored: &Stored, tier: Tier) -> Hit {
        let life = &stored.entry.life;
        let age = stored.stamp.age(&self.clock.now(), life);
        Hit {
            entry: Arc::clone(&stored.entry),
            age,
            freshness: life.at(age),
            tier,
        }
    }

    /// Stores an entry in memory unless it is purged. The marks stay locked meanwhile, so that a purge either prevents
    /// this or finds the entry in memory.
    fn keep_in_memory(&self, key: Key, stored: Stored) {
        if let Some(memory) = &self.memory {
            self.marks
                .if_alive(&key, &stored, || memory.insert(key, stored.clone()));
        }
    }
}
