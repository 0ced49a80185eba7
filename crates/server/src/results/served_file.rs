//! Files that were served as they are, and what is the same in every reply with one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::origins::{Identity, Status};

/// What is known of a file in the state that it was in.
#[derive(Debug)]
pub(crate) struct ServedFile {
    pub(crate) identity: Identity,
    /// Where the picture in it ends; how many bytes it has, if it is none.
    pub(crate) end: u64,
    /// The head of replies, as it goes over the wire, without what varies.
    pub(crate) wire: Bytes,
    /// All of its bytes, where they are in memory.
    read: Mutex<Option<Read>>,
}

/// What was read of a file.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) bytes: Bytes,
    /// The state that it was in.
    pub(crate) status: Status,
    /// When it was asked for last.
    used: Instant,
}

impl ServedFile {
    pub(crate) fn new(identity: Identity, end: u64, wire: Bytes) -> Self {
        Self {
            identity,
            end,
            wire,
            read: Mutex::default(),
        }
    }

    /// What was read of it, if it was asked for a moment ago.
    pub(crate) fn read(&self, now: Instant) -> Option<Read> {
        let mut read = self.lock();
        let read = read.as_mut()?;
        let idle = now.saturating_duration_since(std::mem::replace(&mut read.used, now));
        (idle < MOST_IDLE).then(|| read.clone())
    }

    /// Bytes that it takes while it is kept.
    fn weight(&self) -> u64 {
        self.end + self.wire.len() as u64 + size_of::<Self>() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Option<Read>> {
        // No code panics while it holds the lock.
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files whose bytes are in memory, those that were read first before the others.
#[derive(Debug, Default)]
pub(crate) struct RecentFiles(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    files: VecDeque<Arc<ServedFile>>,
    bytes: u64,
}

impl RecentFiles {
    /// Keeps what was read of a file that was in this state, all of it.
    pub(crate) fn keep(&self, file: &Arc<ServedFile>, bytes: Bytes, status: Status, now: Instant) {
        let read = Read {
            bytes,
            status,
            used: now,
        };
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if file.lock().replace(read).is_none() {
            queue.bytes += file.weight();
            queue.files.push_back(file.clone());
        }
        while queue.bytes > MOST_BYTES
            && let Some(first) = queue.files.pop_front()
        {
            queue.bytes -= first.weight();
            *first.lock() = None;
        }
    }
}

/// For so long the system still has in memory where the file is.
const MOST_IDLE: Duration = Duration::from_secs(10);

/// Bytes that all of them take.
const MOST_BYTES: u64 = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origins::{Blocking, Entry, Root};

    fn served(folder: &tempfile::TempDir, end: u64) -> (Arc<ServedFile>, Status) {
        std::fs::write(folder.path().join("a"), "a").unwrap();
        let root = Root::open(folder.path()).unwrap();
        let Entry::File(file) = root.entry("a", Blocking::Allowed).unwrap() else {
            panic!("a file");
        };
        let served = ServedFile::new(file.identity, end, Bytes::new());
        let status = file.status().expect("tests wait for no clock");
        (Arc::new(served), status)
    }

    #[test]
    fn bytes_are_those_that_were_read_last_and_asked_for_a_moment_ago() {
        let folder = tempfile::tempdir().unwrap();
        let ((file, status), files) = (served(&folder, 1), RecentFiles::default());
        let read = |now| file.read(now).map(|read| read.bytes);
        let now = Instant::now();
        assert_eq!(read(now), None);
        files.keep(&file, "a".into(), status, now);
        let mut later = now;
        for _ in 0..3 {
            later += MOST_IDLE - Duration::from_millis(1);
            assert_eq!(read(later), Some("a".into()));
        }
        later += MOST_IDLE;
        assert_eq!(read(later), None);
        files.keep(&file, "b".into(), status, later);
        assert_eq!(read(later), Some("b".into()));
    }

    #[test]
    fn the_file_that_was_read_first_goes_when_there_are_too_many_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (files, now) = (RecentFiles::default(), Instant::now());
        let all: Vec<_> = (0..4).map(|_| served(&folder, MOST_BYTES / 4)).collect();
        let held = || all.iter().map(|(file, _)| file.read(now).is_some());
        for (file, status) in &all {
            for _ in 0..2 {
                files.keep(file, "a".into(), *status, now);
            }
        }
        assert!(held().eq([false, true, true, true]));
        let (first, status) = &all[0];
        files.keep(first, "a".into(), *status, now);
        assert!(held().eq([true, false, true, true]));
        let queue = files.0.lock().unwrap();
        assert_eq!(queue.files.len(), 3);
        assert_eq!(queue.bytes, 3 * first.weight());
    }
}
