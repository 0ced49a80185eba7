//! Files that were served unchanged, with the part of the response that is always the same.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::origins::{Identity, Status};

/// A file in the state in which it was served unchanged.
#[derive(Debug)]
pub(crate) struct ServedFile {
    pub(crate) identity: Identity,
    /// Offset in bytes at which the image in the file ends, or the file's size if it is no image.
    pub(crate) end: u64,
    /// The head of responses in wire format, without the headers that vary.
    pub(crate) wire: Bytes,
    /// The content of the file, if it is in memory.
    content: Mutex<Option<RecentBytes>>,
}

/// The bytes of a file that responses send.
#[derive(Clone, Debug)]
pub(crate) struct RecentBytes {
    pub(crate) bytes: Bytes,
    /// State of the file when it was read.
    pub(crate) status: Status,
    /// The time at which the file was read.
    read_at: Instant,
    /// The time of the last response with these bytes.
    last_use: Instant,
}

impl ServedFile {
    pub(crate) fn new(identity: Identity, end: u64, wire: Bytes) -> Self {
        Self {
            identity,
            end,
            wire,
            content: Mutex::default(),
        }
    }

    /// Returns the content of the file, if it was read and served recently.
    pub(crate) fn recent(&self, now: Instant) -> Option<RecentBytes> {
        let content = self.lock();
        let is_recent = |recent: &&RecentBytes| {
            recent.idle(now) < MOST_IDLE && now.saturating_duration_since(recent.read_at) < MOST_AGE
        };
        content.as_ref().filter(is_recent).cloned()
    }

    /// Records that the file is served at `now`, so that its content stays in memory.
    pub(crate) fn is_used(&self, now: Instant) {
        if let Some(recent) = &mut *self.lock() {
            recent.last_use = now;
        }
    }

    /// Returns the bytes of memory that the file takes while its content is in memory.
    fn weight(&self) -> u64 {
        self.end + self.wire.len() as u64 + size_of::<Self>() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Option<RecentBytes>> {
        // No code panics while it holds the lock.
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecentBytes {
    fn idle(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.last_use)
    }
}

/// The files whose content is in memory. The first one in the queue is evicted next, unless it was served lately. This
/// is no SIEVE table, because such a table would store every file that is read: if there were room for most but not all
/// of the files that are requested in turn, each would be evicted before its next request.
///
/// Compared with this cache, reading a file of 32 KB from the page cache on each request (`preadv2` with `RWF_NOWAIT`)
/// gave 0.77 [0.61, 0.84] times the requests per second on keep-alive connections, and 0.96 [0.92, 1.03] times with a
/// new connection for each request (wrk, 11 and 9 interleaved rounds, November 2026).
#[derive(Debug, Default)]
pub(crate) struct RecentFiles(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    files: VecDeque<Arc<ServedFile>>,
    bytes: u64,
}

impl RecentFiles {
    /// Stores the content of a file, with the status of the file when it was read, if there is room.
    pub(crate) fn keep(&self, file: &Arc<ServedFile>, bytes: Bytes, status: Status, now: Instant) {
        let recent = RecentBytes {
            bytes,
            status,
            read_at: now,
            last_use: now,
        };
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut content = file.lock();
        // Replaced and evicted contents are dropped after the locks have been released.
        if content.is_some() {
            let former = content.replace(recent);
            drop((content, queue, former));
            return;
        }
        let Some(evicted) = queue.make_room(file.weight(), now) else {
            return;
        };
        *content = Some(recent);
        queue.bytes += file.weight();
        queue.files.push_back(file.clone());
        drop((content, queue, evicted));
    }
}

impl Queue {
    /// Evicts files until there is room for `bytes`. Returns `None` and evicts nothing if too many files at the front
    /// of the queue were served lately; these go to its end.
    fn make_room(&mut self, bytes: u64, now: Instant) -> Option<Vec<RecentBytes>> {
        let has_room = |freed: u64, all: &Self| all.bytes - freed + bytes <= MOST_BYTES;
        let (mut idle, mut freed) = (Vec::new(), 0);
        for _ in 0..MOST_LOOKED_AT {
            if has_room(freed, self) {
                break;
            }
            let Some(first) = self.files.pop_front() else {
                break;
            };
            let is_idle = first
                .lock()
                .as_ref()
                .is_none_or(|recent| recent.idle(now) >= LATELY);
            match is_idle {
                true => {
                    freed += first.weight();
                    idle.push(first);
                }
                false => self.files.push_back(first),
            }
        }
        if !has_room(freed, self) {
            idle.into_iter()
                .rev()
                .for_each(|file| self.files.push_front(file));
            return None;
        }
        self.bytes -= freed;
        Some(idle.iter().filter_map(|file| file.lock().take()).collect())
    }
}

/// A file that was served within this time is not evicted for another. If all files are served that often, most of them
/// stay, instead of each being evicted before its next request.
const LATELY: Duration = Duration::from_secs(1);

/// Maximum number of files that are considered for eviction to make room for one.
const MOST_LOOKED_AT: usize = 8;

/// A file that was not served for this long is read again.
const MOST_IDLE: Duration = Duration::from_secs(10);

/// A file is read again after this time, because writing to it through shared memory need not change its times.
const MOST_AGE: Duration = Duration::from_secs(60);

/// Maximum bytes of memory for all files whose content is in memory.
const MOST_BYTES: u64 = 8 << 20;

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::origins::{Blocking, Entry, Root, SETTLED};

    fn served(folder: &tempfile::TempDir, end: u64) -> (Arc<ServedFile>, Status) {
        std::fs::write(folder.path().join("a"), "a").unwrap();
        let root = Root::open(folder.path()).unwrap();
        let Entry::File(file) = root.entry("a", Blocking::Allowed).unwrap() else {
            panic!("a file");
        };
        let served = ServedFile::new(file.identity, end, Bytes::new());
        let status = file.status(SystemTime::now() + SETTLED);
        (Arc::new(served), status.expect("it is as old"))
    }

    #[test]
    fn bytes_are_those_that_were_read_last_and_asked_for_a_moment_ago() {
        let folder = tempfile::tempdir().unwrap();
        let ((file, status), files) = (served(&folder, 1), RecentFiles::default());
        let recent = |now| file.recent(now).map(|recent| recent.bytes);
        let now = Instant::now();
        assert_eq!(recent(now), None);
        files.keep(&file, "a".into(), status, now);
        let mut later = now;
        for _ in 0..3 {
            later += MOST_IDLE - Duration::from_millis(1);
            assert_eq!(recent(later), Some("a".into()));
            file.is_used(later);
        }
        later += MOST_IDLE;
        assert_eq!(recent(later), None);
        files.keep(&file, "b".into(), status, later);
        assert_eq!(recent(later), Some("b".into()));
        let too_old = later + MOST_AGE;
        file.is_used(too_old);
        assert_eq!(recent(too_old), None);
    }

    #[test]
    fn files_that_nobody_asked_for_lately_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let (files, now) = (RecentFiles::default(), Instant::now());
        let all: Vec<_> = (0..5).map(|_| served(&folder, MOST_BYTES / 4)).collect();
        let keep = |index: usize, now| {
            let (file, status): &(_, _) = &all[index];
            files.keep(file, "a".into(), *status, now);
        };
        let kept = || all.iter().map(|(file, _)| file.lock().is_some());
        for index in 0..4 {
            keep(index, now);
            keep(index, now);
        }
        assert!(kept().eq([true, true, true, false, false]));
        let later = now + LATELY;
        all[0].0.is_used(later);
        keep(3, later);
        assert!(kept().eq([true, false, true, true, false]));
        keep(4, later);
        assert!(kept().eq([true, false, false, true, true]));
        keep(1, later);
        assert!(kept().eq([true, false, false, true, true]));
        let queue = files.0.lock().unwrap();
        assert_eq!(queue.files.len(), 3);
        assert_eq!(queue.bytes, 3 * all[0].0.weight());
    }
}
