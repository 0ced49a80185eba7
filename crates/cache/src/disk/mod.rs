//! The disk tier: the blocking [`store`] behind an interface that never blocks a task.
//!
//! Reads run on tokio's blocking threads, a limited number at a time and with a deadline. Writes are queued, bounded in
//! bytes, and performed by one thread. On any disk error the tier suspends itself, and a task checks once a second
//! whether the disk has recovered.

pub(crate) mod device;
mod folder;
mod format;
pub(crate) mod health;
mod purge_log;
mod queue;
mod store;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use self::device::Device;
use self::health::{DiskErrorKind, Health};
use self::queue::Queue;
use self::store::Store;
use crate::entry::Stored;
use crate::key::Key;
use crate::purge::Marks;
use crate::stats::DiskStats;

/// Maximum concurrent reads: enough to keep a disk busy, and few enough to leave blocking threads to others.
const READERS: usize = 8;
/// Deadline of a read. If the disk takes longer, rendering the image again is the better choice.
const READ_DEADLINE: Duration = Duration::from_secs(1);
/// Deadline for saving a purge. If it passes, the caller learns that the purge is not on disk yet.
const SAVE_DEADLINE: Duration = Duration::from_secs(5);
/// Interval between checks whether a failed disk has recovered.
const HEAL_EVERY: Duration = Duration::from_secs(1);
/// If more purges than this are in force, the tier removes all purged files, so that the purges can be dropped.
const SWEEP_AT: usize = 4096;

/// The disk tier. Dropping it lets queued writes finish in the background.
pub(crate) struct Disk {
    shared: Arc<Shared>,
}

struct Shared {
    runtime: Handle,
    device: Arc<dyn Device>,
    path: PathBuf,
    limit: AtomicU64,
    marks: Arc<Marks>,
    store: OnceLock<Store>,
    health: Health,
    queue: Queue,
    readers: Arc<Semaphore>,
    /// The only permit to save purges. One save includes the purges of all callers who wait, and a hung disk blocks
    /// only one thread.
    saver: Arc<Semaphore>,
    sweeper: Semaphore,
    /// Wakes the task that brings a failed disk back into use.
    failure: Arc<Notify>,
    /// Notified when a condition that `ready` or `flush` wait for may have become true.
    progress: Notify,
    errors: AtomicU64,
}

impl Disk {
    /// Starts opening the folder in the background. Must be called inside a tokio runtime.
    pub(crate) fn start(
        device: Arc<dyn Device>,
        path: PathBuf,
        limit: u64,
        marks: Arc<Marks>,
    ) -> Self {
        let shared = Arc::new(Shared {
            runtime: Handle::current(),
            health: Health::new(&path),
            device,
            path,
            limit: AtomicU64::new(limit),
            marks,
            store: OnceLock::new(),
            queue: Queue::default(),
            readers: Arc::new(Semaphore::new(READERS)),
            saver: Arc::new(Semaphore::new(1)),
            sweeper: Semaphore::new(1),
            failure: Arc::new(Notify::new()),
            progress: Notify::new(),
            errors: AtomicU64::new(0),
        });
        tokio::spawn(take_care(
            Arc::downgrade(&shared),
            Arc::clone(&shared.failure),
        ));
        Self { shared }
    }

    /// Looks up an entry in the write queue, then on disk.
    pub(crate) async fn get(&self, key: &Key) -> Option<Stored> {
        match self.shared.get_queued(key) {
            Some(stored) => Some(stored),
            None => self.read(key).await,
        }
    }

    /// Queues an entry for writing. It is dropped if the queue is full or the disk has failed.
    pub(crate) fn put(&self, key: Key, stored: Stored) {
        if self.shared.health.may_write() {
            self.shared.queue.push(key, stored);
            self.shared.start_writing();
        }
    }

    /// Saves the purges that are in force, so that they survive a restart. Returns whether this succeeded.
    pub(crate) async fn save_marks(&self) -> bool {
        let shared = Arc::clone(&self.shared);
        let save = async {
            let permit = Arc::clone(&shared.saver).acquire_owned().await.ok()?;
            let tier = Arc::clone(&shared);
            let task = tokio::task::spawn_blocking(move || {
                let result = tier.store.get()?.save_marks();
                tier.note(&result);
                drop(permit);
                result.ok()
            });
            task.await.ok()?
        };
        let is_saved = matches!(timeout(SAVE_DEADLINE, save).await, Ok(Some(())));
        self.shared.sweep_if_due();
        is_saved
    }

    /// Waits until the folder is open and its entries are counted, or an error is known.
    pub(crate) async fn ready(&self) {
        self.until(|shared| shared.is_ready() || shared.health.error().is_some())
            .await;
    }

    /// Waits until all queued entries are on disk or dropped. A hung disk delays this, too.
    pub(crate) async fn flush(&self) {
        self.until(|shared| {
            let has_failed = shared.health.error().is_some();
            !shared.queue.has_writer() && (shared.queue.is_empty() || has_failed)
        })
        .await;
    }

    /// Returns the configured folder, inside which the tier has created its own.
    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Sets the size limit in bytes, and evicts files in the background until they are within it.
    pub(crate) fn resize(&self, limit: u64) {
        let shared = Arc::clone(&self.shared);
        shared.limit.store(limit, Ordering::Relaxed);
        self.shared.runtime.spawn_blocking(move || {
            // A store that is not open or not scanned yet will use the new limit by itself.
            if let Some(store) = shared.store.get().filter(|store| store.is_scanned()) {
                shared.note(&store.resize(shared.limit.load(Ordering::Relaxed)));
            }
        });
    }

    /// Returns all statistics of the tier but its hits, stale hits and misses, which the caller counts.
    pub(crate) fn stats(&self) -> DiskStats {
        let shared = &self.shared;
        let (entries, bytes) = shared.store.get().map(Store::usage).unwrap_or_default();
        let counts = shared.store.get().map(Store::counts);
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (queued_bytes, dropped) = shared.queue.usage();
        DiskStats {
            entries,
            bytes,
            limit: load(&shared.limit),
            evictions: counts.map_or(0, |counts| load(&counts.evictions)),
            corrupt: counts.map_or(0, |counts| load(&counts.corrupt)),
            errors: load(&shared.errors),
            dropped,
            queued_bytes,
            ready: shared.is_ready(),
            error: shared.health.error(),
            ..DiskStats::default()
        }
    }

    async fn read(&self, key: &Key) -> Option<Stored> {
        let shared = &self.shared;
        let may_find = shared.health.may_read() && shared.store.get()?.may_hold(key);
        if !may_find {
            return None;
        }
        // If no permit is free within the deadline, the look-up is a miss, but not a disk error.
        let permit = timeout(READ_DEADLINE, Arc::clone(&shared.readers).acquire_owned());
        let permit = permit.await.ok()?.ok()?;
        let (tier, key) = (Arc::clone(shared), *key);
        let read = tokio::task::spawn_blocking(move || {
            let read = tier.store.get()?.read(&key);
            tier.note(&read);
            // A read that never returns keeps its permit, so that at most `READERS` threads hang.
            drop(permit);
            read.ok().flatten()
        });
        match timeout(READ_DEADLINE, read).await {
            Ok(read) => read.ok().flatten(),
            Err(_) => {
                shared.raise(
                    DiskErrorKind::Hung,
                    format!("no answer within {READ_DEADLINE:?}"),
                );
                None
            }
        }
    }

    async fn until(&self, done: impl Fn(&Shared) -> bool) {
        loop {
            let progress = self.shared.progress.notified();
            if done(&self.shared) {
                return;
            }
            // The writer notifies about its progress. The timeout is for changes that nothing notifies about.
            let _ = timeout(HEAL_EVERY, progress).await;
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.shared.failure.notify_one(); // `take_care` finds the tier gone and ends
    }
}

impl Shared {
    fn is_ready(&self) -> bool {
        self.store.get().is_some_and(Store::is_scanned)
    }

    fn get_queued(&self, key: &Key) -> Option<Stored> {
        let entry = self.queue.get(key);
        entry.filter(|stored| self.marks.admits(key, stored))
    }

    fn start_writing(self: &Arc<Self>) {
        if self.is_ready() && self.health.may_write() && self.queue.appoint_writer() {
            let shared = Arc::clone(self);
            self.runtime.spawn_blocking(move || shared.write_all());
        }
    }

    /// Work of the writer thread: writes entries until the queue is empty or the disk fails.
    fn write_all(&self) {
        let Some(store) = self.store.get() else {
            return;
        };
        while let Some((key, stored)) = self.queue.next() {
            let result = store.write(&key, &stored);
            self.note(&result);
            match result {
                Ok(()) => self.queue.finish(&key, &stored),
                Err(_) => self.queue.give_up(),
            }
        }
        self.progress.notify_waiters();
    }

    fn sweep_if_due(self: &Arc<Self>) {
        if self.marks.len() > SWEEP_AT && self.is_ready() && self.health.may_write() {
            let shared = Arc::clone(self);
            self.runtime.spawn_blocking(move || {
                // One sweep at a time: a second one would read the same files.
                if let (Ok(_permit), Some(store)) =
                    (shared.sweeper.try_acquire(), shared.store.get())
                {
                    shared.note(&store.sweep());
                }
            });
        }
    }

    /// Records the error of `result`, if it is one.
    fn note<T>(&self, result: &std::io::Result<T>) {
        if let Err(error) = result {
            self.raise(DiskErrorKind::of(error), error.to_string());
        }
    }

    fn raise(&self, kind: DiskErrorKind, message: String) {
        self.errors.fetch_add(1, Ordering::Relaxed);
        self.health.raise(kind, message);
        self.failure.notify_one();
        self.progress.notify_waiters();
    }

    /// Brings the tier into use: opens the folder or, if it is open already, probes the disk, then saves the purges,
    /// counts the entries, and applies the size limit.
    fn heal(&self) -> std::io::Result<()> {
        let store = match self.store.get() {
            Some(store) => {
                store.probe()?;
                store
            }
            None => {
                let (device, marks) = (Arc::clone(&self.device), Arc::clone(&self.marks));
                let limit = self.limit.load(Ordering::Relaxed);
                let store = Store::open(device, &self.path, limit, marks)?;
                self.store.get_or_init(|| store)
            }
        };
        store.save_marks()?;
        store.scan()?;
        // The limit may have changed since the store was opened, or while the disk failed.
        store.resize(self.limit.load(Ordering::Relaxed))
    }
}

/// Opens the folder, then sleeps until the disk fails, and then retries until it recovers.
async fn take_care(shared: Weak<Shared>, failure: Arc<Notify>) {
    while let Some(shared) = shared.upgrade() {
        let tier = Arc::clone(&shared);
        let Ok(result) = tokio::task::spawn_blocking(move || tier.heal()).await else {
            return; // the runtime is shutting down
        };
        match result {
            Ok(()) => {
                shared.health.clear();
                shared.start_writing();
                shared.progress.notify_waiters();
                drop(shared);
                failure.notified().await;
            }
            Err(error) => {
                let is_open = shared.store.get().is_some();
                let kind = if is_open {
                    DiskErrorKind::of(&error)
                } else {
                    DiskErrorKind::Unavailable
                };
                shared.health.raise(kind, error.to_string());
                shared.progress.notify_waiters();
                drop(shared);
            }
        }
        // The pause follows a success, too, so that a disk that fails right after each probe is not probed without
        // pause.
        tokio::time::sleep(HEAL_EVERY).await;
    }
}
