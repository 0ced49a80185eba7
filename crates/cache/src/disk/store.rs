//! The entries of a [`Folder`], limited to a number of bytes, without those that have been purged.
//!
//! The index has the names and sizes of all files. It is rebuilt in the background at start. Until it is complete,
//! look-ups try to open the file, so that a restarted server answers from its cache at once.
//!
//! Every call may block on the file system, unless its documentation says otherwise.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use super::device::Device;
use super::folder::{Folder, Unnamed};
use super::format;
use super::purge_log::{PurgeLog, encode_record};
use crate::entry::Stored;
use crate::key::Key;
use crate::locks::{Lock, Shared};
use crate::purge::Marks;
use crate::sieve::Sieve;

/// Bytes that a file takes besides its blocks, for its inode and its name.
const INODE: u64 = 512;
const BLOCK: u64 = 4096;
/// Number of bytes that the search for purged files reads from the beginning of each file. If the entry's fields are
/// longer than that, a second read follows.
const START: u64 = 4096;

/// The entries in one cache folder.
pub(crate) struct Store {
    folder: Folder,
    limit: AtomicU64,
    marks: Arc<Marks>,
    era: u64,
    /// Whether the purge log was missing or damaged at start. If so, the entries found then must be removed, because
    /// some may have been purged.
    starts_over: bool,
    /// Names and sizes of all files. Never locked during a file operation, because async tasks read it.
    index: RwLock<Index>,
    /// Locked while files are published or removed, so that files and index agree.
    changes: Mutex<()>,
    /// Whether the log on disk may end in an incomplete record.
    log_damaged: Mutex<bool>,
    scanned: AtomicBool,
    counts: Counts,
}

/// Numbers of evictions and of corrupt files since the store was opened.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) evictions: AtomicU64,
    pub(crate) corrupt: AtomicU64,
}

struct Index {
    files: Sieve<Key, ()>,
    /// Bytes reserved for files that are being written.
    reserved: u64,
}

impl Store {
    /// Opens the cache in `path`: locks the cache's own folder inside it and reads the purge log. [`Store::scan`] finds
    /// the entries later.
    ///
    /// # Errors
    /// `WouldBlock` if another process has locked the folder, and errors of the file system.
    pub(crate) fn open(
        device: Arc<dyn Device>,
        path: &Path,
        limit: u64,
        marks: Arc<Marks>,
    ) -> io::Result<Self> {
        let folder = Folder::open(device, path)?;
        let log = folder.log()?.and_then(|bytes| PurgeLog::decode(&bytes));
        let starts_over = log.is_none();
        let log = log.unwrap_or_else(PurgeLog::new_era);
        if starts_over {
            // Before the marks are adopted: if this fails, opening can be retried from the start.
            folder.replace_log(&log.encode())?;
        }
        marks.adopt(log.generation, log.marks);
        Ok(Self {
            folder,
            limit: AtomicU64::new(limit),
            marks,
            era: log.era,
            starts_over,
            index: RwLock::new(Index {
                files: Sieve::new(),
                reserved: 0,
            }),
            changes: Mutex::new(()),
            log_damaged: Mutex::new(false),
            scanned: AtomicBool::new(false),
            counts: Counts::default(),
        })
    }

    /// Rebuilds the index from the names and sizes of all files, the oldest first, and evicts entries down to the size
    /// limit.
    ///
    /// # Errors
    /// Errors of the file system. The call may then be repeated.
    pub(crate) fn scan(&self) -> io::Result<()> {
        if self.is_scanned() {
            return Ok(());
        }
        let mut entries = self.folder.entries()?;
        if self.starts_over {
            entries
                .drain(..)
                .try_for_each(|(_, key)| self.folder.remove(&key))?;
        }
        entries.sort_unstable_by_key(|(file, _)| file.modified);
        // In batches, because look-ups wait while the index is locked.
        for batch in entries.chunks(1000) {
            let mut index = self.index.writing();
            for (file, key) in batch {
                index.files.insert(*key, (), charge(file.len));
            }
        }
        let _changes = self.changes.locked();
        self.make_room(0)?;
        self.scanned.store(true, Ordering::Release);
        Ok(())
    }

    /// Sets the size limit in bytes, and evicts entries down to it.
    ///
    /// # Errors
    /// Errors of the file system. The call may then be repeated.
    pub(crate) fn resize(&self, limit: u64) -> io::Result<()> {
        let _changes = self.changes.locked();
        self.limit.store(limit, Ordering::Relaxed);
        self.make_room(0)
    }

    fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Returns whether all files on disk have been counted. Nothing is written before that, because the size limit
    /// could not be enforced. Does not block.
    pub(crate) fn is_scanned(&self) -> bool {
        self.scanned.load(Ordering::Acquire)
    }

    /// Returns whether `read` could find the key. Does not block.
    pub(crate) fn may_hold(&self, key: &Key) -> bool {
        !self.is_scanned() || self.index.reading().files.contains(key)
    }

    /// Reads and checks an entry. `None` if there is no valid one. The file is removed if it is damaged, if it was
    /// written before the purge log was lost, or if the entry is purged.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn read(&self, key: &Key) -> io::Result<Option<Stored>> {
        let Some(file) = self.folder.read(key, u64::MAX)? else {
            // The file was removed by another program, or has just been evicted. Removing the entry makes files and
            // index agree.
            self.remove(key)?;
            return Ok(None);
        };
        let Some(stored) = format::decode(key, self.era, file) else {
            self.counts.corrupt.fetch_add(1, Ordering::Relaxed);
            self.remove(key)?;
            return Ok(None);
        };
        if self.marks.kills(key, &stored) {
            self.remove(key)?;
            return Ok(None);
        }
        self.index.reading().files.get(key);
        Ok(Some(stored))
    }

    /// Writes an entry, unless it is purged or larger than the whole limit.
    ///
    /// # Errors
    /// Errors of the file system. The entry is not published then.
    pub(crate) fn write(&self, key: &Key, stored: &Stored) -> io::Result<()> {
        let body = &stored.entry.body;
        let encoding = format::encode(key, self.era, stored).and_then(|start| {
            let charge = charge((start.len() + body.len()) as u64);
            (charge <= self.limit()).then_some((start, charge))
        });
        let Some((start, charge)) = encoding else {
            // This result is too large to be stored, but an older one must not be served in its place.
            return self.remove(key);
        };
        {
            let _changes = self.changes.locked();
            self.make_room(charge)?;
            self.index.writing().reserved += charge;
        }
        let file = self.folder.write(&[&start, body]);
        let _changes = self.changes.locked();
        let result = file.and_then(|unnamed| self.publish(key, stored, unnamed));
        // The reserved bytes become the entry's, or are released, under one lock, so that they are never counted twice.
        let mut index = self.index.writing();
        index.reserved -= charge;
        if result? {
            index.files.insert(*key, (), charge);
        }
        Ok(())
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn remove(&self, key: &Key) -> io::Result<()> {
        let _changes = self.changes.locked();
        self.folder.remove(key)?;
        self.index.writing().files.remove(key);
        Ok(())
    }

    /// Saves the purges that are not on disk yet.
    ///
    /// # Errors
    /// Errors of the file system. The purges then stay in force, and unsaved.
    pub(crate) fn save_marks(&self) -> io::Result<()> {
        let mut damaged = self.log_damaged.locked();
        let unsaved = self.marks.unsaved();
        let Some(last) = unsaved.last() else {
            return Ok(());
        };
        if !*damaged {
            let records: Vec<u8> = unsaved
                .iter()
                .flat_map(|mark| encode_record(self.era, mark))
                .collect();
            match self.folder.append_to_log(&records) {
                Ok(()) => {
                    self.marks.saved(last.generation);
                    return Ok(());
                }
                Err(error) => {
                    *damaged = true;
                    if error.kind() != io::ErrorKind::NotFound {
                        return Err(error);
                    }
                }
            }
        }
        self.rewrite_log(&mut damaged)
    }

    /// Removes every purged entry, so that the purges themselves can be dropped.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        let up_to = self.marks.generation();
        let keys: Vec<Key> = self.index.reading().files.keys().copied().collect();
        for key in keys {
            let mut start = self.folder.read(&key, START)?.unwrap_or_default();
            if let Some(len) = format::start_len(&start).filter(|len| *len > START) {
                start = self.folder.read(&key, len)?.unwrap_or_default();
            }
            let is_alive = format::decode_start(&key, self.era, &start)
                .is_some_and(|(stored, _)| !self.marks.kills(&key, &stored));
            if !is_alive {
                self.remove(&key)?;
            }
        }
        {
            // `publish` checks the marks under this lock, so no purged entry is published while they are dropped.
            let _changes = self.changes.locked();
            self.marks.forget(up_to);
        }
        self.rewrite_log(&mut self.log_damaged.locked())
    }

    /// Checks that the disk works: writes a test file and reads it back.
    ///
    /// # Errors
    /// Errors of the file system, and `InvalidData` if the bytes read are not those written.
    pub(crate) fn probe(&self) -> io::Result<()> {
        self.folder.probe()
    }

    /// Returns the number of entries and of bytes, including those reserved for files being written. Does not block.
    pub(crate) fn usage(&self) -> (u64, u64) {
        let index = self.index.reading();
        (
            index.files.len() as u64,
            index.files.weight() + index.reserved,
        )
    }

    pub(crate) const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Gives the file its final name, unless the entry was purged while it was written. Returns whether the file got
    /// its name. The caller must have locked `changes`.
    fn publish(&self, key: &Key, stored: &Stored, unnamed: Unnamed<'_>) -> io::Result<bool> {
        let is_alive = self.marks.admits(key, stored);
        if is_alive {
            unnamed.publish(key)?;
        }
        Ok(is_alive)
    }

    /// Evicts entries until `charge` more bytes fit. The caller must have locked `changes`.
    fn make_room(&self, charge: u64) -> io::Result<()> {
        loop {
            let victim = {
                let mut index = self.index.writing();
                if index.files.weight() + index.reserved + charge <= self.limit() {
                    return Ok(());
                }
                index.files.victim()
            };
            let Some(victim) = victim else { return Ok(()) };
            // The file counts until it is removed: if that fails, it still takes up space.
            self.folder.remove(&victim)?;
            self.index.writing().files.remove(&victim);
            self.counts.evictions.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn rewrite_log(&self, damaged: &mut bool) -> io::Result<()> {
        let (generation, marks) = self.marks.all();
        let log = PurgeLog {
            era: self.era,
            generation,
            marks,
        };
        self.folder.replace_log(&log.encode())?;
        self.marks.saved(generation);
        *damaged = false;
        Ok(())
    }
}

/// Returns how many bytes of disk space a file of `len` bytes takes. The size limit applies to disk space, not to the
/// lengths of files.
const fn charge(len: u64) -> u64 {
    len.div_ceil(BLOCK) * BLOCK + INODE
}
