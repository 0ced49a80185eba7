//! Suspect files: files on which workers died.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Hash that identifies a file's content.
pub(crate) type Hash = blake3::Hash;

/// Files on which workers died, and the number of deaths.
#[derive(Debug)]
pub(crate) struct Suspects {
    files: Mutex<HashMap<Hash, Suspect>>,
    /// Number of suspect files, so that no file has to be hashed while there are none.
    count: AtomicUsize,
    duration: Duration,
}

#[derive(Debug)]
struct Suspect {
    deaths: u32,
    last: Instant,
}

/// Number of workers that must have died while processing a file before the file is refused.
const DEATHS_TO_REFUSE: u32 = 2;

/// Maximum number of suspect files that are remembered.
const MAX_FILES: usize = 4096;

impl Suspects {
    pub(crate) fn new(duration: Duration) -> Self {
        Self {
            files: Mutex::default(),
            count: AtomicUsize::new(0),
            duration,
        }
    }

    /// Whether this file is refused without processing it.
    pub(crate) fn refuses(&self, file: &[u8]) -> bool {
        if self.count.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let suspect = blake3::hash(file);
        let mut files = self.lock();
        let status = files.get(&suspect).map(|it| {
            let lasts = it.last.elapsed() < self.duration;
            (lasts, it.deaths >= DEATHS_TO_REFUSE)
        });
        if let Some((false, _)) = status {
            files.remove(&suspect);
            self.count.store(files.len(), Ordering::Relaxed);
        }
        status == Some((true, true))
    }

    /// Records that a worker died while processing this file, and returns the file's hash.
    pub(crate) fn accuse(&self, file: &[u8]) -> Hash {
        let hash = blake3::hash(file);
        let mut files = self.lock();
        if files.len() >= MAX_FILES {
            files.retain(|_, it| it.last.elapsed() < self.duration);
        }
        if files.len() < MAX_FILES || files.contains_key(&hash) {
            let suspect = files.entry(hash).or_insert(Suspect {
                deaths: 0,
                last: Instant::now(),
            });
            suspect.deaths += 1;
            suspect.last = Instant::now();
        }
        self.count.store(files.len(), Ordering::Relaxed);
        hash
    }

    pub(crate) fn clear(&self) {
        let mut files = self.lock();
        files.clear();
        self.count.store(0, Ordering::Relaxed);
    }

    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Hash, Suspect>> {
        // A poisoned lock is safe to use, because no code that holds it can panic.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_refused_from_its_second_death_on() {
        let suspects = Suspects::new(Duration::from_secs(3600));
        suspects.accuse(b"one");
        assert!(!suspects.refuses(b"one"));
        suspects.accuse(b"one");
        assert!(suspects.refuses(b"one"));
        assert!(!suspects.refuses(b"another"));
        suspects.clear();
        assert!(!suspects.refuses(b"one"));
    }

    #[test]
    fn a_file_is_tried_again_when_its_time_is_over() {
        let suspects = Suspects::new(Duration::ZERO);
        suspects.accuse(b"one");
        suspects.accuse(b"one");
        assert!(!suspects.refuses(b"one"));
        assert_eq!(suspects.len(), 0, "and forgotten");
    }
}
