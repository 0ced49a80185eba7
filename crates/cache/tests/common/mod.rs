//! A clock that the test sets, a disk that fails on demand, and entries whose bytes are known.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use andon_cache::{
    Cache, Clock, Config, Device, DirEntry, DiskConfig, Entry, Files, Key, Life, Moment,
};

pub const HOUR: Duration = Duration::from_secs(3600);
pub const YEAR: Duration = Duration::from_secs(365 * 86400);

/// A clock that stands still until the test sets it.
pub struct ManualClock(Mutex<Moment>);

impl Default for ManualClock {
    fn default() -> Self {
        Self(Mutex::new(Moment {
            wall: 55 * YEAR,
            since_boot: 10 * HOUR,
            boot: 1,
        }))
    }
}

impl ManualClock {
    pub fn set(&self, change: impl FnOnce(&mut Moment)) {
        change(&mut self.0.lock().unwrap());
    }

    pub fn pass(&self, span: Duration) {
        self.set(|now| {
            now.wall += span;
            now.since_boot += span;
        });
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        *self.0.lock().unwrap()
    }
}

/// The real file system, whose reads and writes a test can make fail or hang.
#[derive(Default)]
pub struct Failing {
    files: Files,
    writes: Mutex<Option<i32>>,
    reads: Mutex<Option<i32>>,
    hung: Mutex<bool>,
    answers: Condvar,
}

impl Failing {
    pub fn fail_writes(&self, errno: impl Into<Option<i32>>) {
        *self.writes.lock().unwrap() = errno.into();
    }

    pub fn fail_reads(&self, errno: impl Into<Option<i32>>) {
        *self.reads.lock().unwrap() = errno.into();
    }

    /// Makes all reads hang (`true`), or lets them continue (`false`).
    pub fn hang(&self, hung: bool) {
        *self.hung.lock().unwrap() = hung;
        self.answers.notify_all();
    }

    fn writing(&self) -> io::Result<()> {
        let errno = *self.writes.lock().unwrap();
        errno.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
    }

    fn reading(&self) -> io::Result<()> {
        let hung = self.hung.lock().unwrap();
        drop(self.answers.wait_while(hung, |hung| *hung).unwrap());
        let errno = *self.reads.lock().unwrap();
        errno.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
    }
}

impl Device for Failing {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        self.files.create_dir(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<File> {
        self.writing()?;
        self.files.lock(path)
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.reading()?;
        self.files.read(path, most)
    }

    fn write(&self, path: &Path, parts: &[&[u8]]) -> io::Result<()> {
        if let Err(error) = self.writing() {
            // As a full disk does it: half of the file is there.
            let half = &parts[0][..parts[0].len() / 2];
            self.files.write(path, &[half])?;
            return Err(error);
        }
        self.files.write(path, parts)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.writing() {
            self.files.append(path, &bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.files.append(path, bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.writing()?;
        self.files.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files.remove(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.files.list(dir)
    }
}

pub const ENOSPC: i32 = 28;
pub const EROFS: i32 = 30;
pub const EIO: i32 = 5;

/// Returns the configuration of a cache with a disk tier in `path`, and a memory tier if `memory` is not 0.
pub fn config(path: &Path, memory: u64, disk: u64) -> Config {
    Config {
        memory,
        disk: Some(DiskConfig {
            path: path.into(),
            size: disk,
        }),
    }
}

pub async fn open(path: &Path, memory: u64, disk: u64) -> Cache {
    let cache = Cache::open(config(path, memory, disk));
    ready(&cache).await;
    cache
}

/// Waits until the disk tier is in use, even if a cache that was just closed has the folder still locked.
pub async fn ready(cache: &Cache) {
    loop {
        cache.ready().await;
        let disk = cache.stats().disk.expect("a disk tier");
        if disk.ready && disk.error.is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Closes a cache: waits until everything is written, and unlocks its folder.
pub async fn close(cache: Cache) {
    cache.flush().await;
    drop(cache);
}

pub fn key(n: u64) -> Key {
    Key::of(&[n.to_string()])
}

/// Returns the body of entry `n`, whose length and bytes are determined by `n`.
pub fn body(n: u64, longest: u64) -> Vec<u8> {
    let mut state = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let len = next() % longest;
    let mut bytes: Vec<u8> = Vec::with_capacity(len as usize + 8);
    while (bytes.len() as u64) < len {
        bytes.extend(next().to_le_bytes());
    }
    bytes.truncate(len as usize);
    bytes
}

pub fn entry(n: u64, longest: u64) -> Entry {
    Entry {
        body: body(n, longest).into(),
        media_type: "image/jpeg".into(),
        source: format!("photos/{}/{n}.jpg", n % 10),
        tags: vec![format!("tag{}", n % 10)],
        life: Life::fresh_for(HOUR),
        ..Entry::default()
    }
}

/// Returns all files below the cache's folder, except its lock and its purge log.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![path.join("andon-cache-1")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if !["lock", "purges"]
                .iter()
                .any(|name| entry.file_name() == *name)
            {
                found.push(entry.path());
            }
        }
    }
    found
}

/// Whether a file is an incomplete one that is or was being written.
pub fn is_litter(path: &Path) -> bool {
    path.parent().unwrap().ends_with("tmp")
}

/// Returns the disk space in bytes that the files below the cache's folder take, in blocks of 512 bytes as `du` counts
/// them.
pub fn disk_usage(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let look = || {
        let files = files(path).into_iter();
        let sizes = files.filter_map(|file| {
            let about = file.metadata().ok()?;
            Some((file, about.ino(), about.blocks() * 512))
        });
        sizes.collect::<BTreeSet<_>>()
    };
    // Files are written and removed meanwhile: what two looks agree on was there at one moment.
    let mut seen = look();
    loop {
        let again = look();
        if again == seen {
            return seen.iter().map(|(_, _, bytes)| bytes).sum();
        }
        seen = again;
    }
}

pub fn clocked(path: &Path, memory: u64) -> (Cache, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    (with_clock(path, memory, &clock), clock)
}

pub fn with_clock(path: &Path, memory: u64, clock: &Arc<ManualClock>) -> Cache {
    let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
    Cache::open_with(config(path, memory, 64 << 20), None, clock, Arc::new(Files))
}
