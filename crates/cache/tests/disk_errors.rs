//! A disk that returns wrong bytes, fills up, turns read-only or fails: the cache continues to serve, and recovers by
//! itself.

mod common;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use andon_cache::{Cache, Clock, Device, DiskErrorKind, Selector, SystemClock};
use common::{EIO, ENOSPC, EROFS, Failing, body, close, entry, key, open, ready};

const MIB: u64 = 1 << 20;

async fn on_failing_disk(path: &Path, memory: u64) -> (Cache, Arc<Failing>) {
    let device = Arc::new(Failing::default());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let seam: Arc<dyn Device> = Arc::clone(&device) as _;
    let cache = Cache::open_with(common::config(path, memory, 16 * MIB), None, clock, seam);
    ready(&cache).await;
    (cache, device)
}

fn disk_error(cache: &Cache) -> Option<DiskErrorKind> {
    cache.stats().disk.unwrap().error.map(|error| error.kind)
}

/// Waits until `so` returns true. The test runner limits the time.
async fn until(so: impl Fn() -> bool) {
    while !so() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_thousand_entries_with_a_flipped_bit_are_never_served() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, 64 * MIB).await;
    for n in 0..1100 {
        cache.put(key(n), entry(n, 20_000), cache.ticket());
    }
    close(cache).await;
    // The bit wanders through the whole file; every eleventh file is left alone.
    let mut files = common::files(folder.path());
    files.sort();
    for (at, path) in files.iter().enumerate().filter(|(at, _)| at % 11 != 0) {
        let mut bytes = std::fs::read(path).unwrap();
        let bit = (at * 7919) % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(path, bytes).unwrap();
    }
    let cache = open(folder.path(), 0, 64 * MIB).await;
    let mut served = 0;
    for n in 0..1100 {
        if let Some(hit) = cache.get(&key(n)).await {
            assert_eq!(hit.entry.body, body(n, 20_000));
            served += 1;
        }
    }
    let disk = cache.stats().disk.unwrap();
    assert_eq!((served, disk.corrupt, disk.entries), (100, 1000, 100));
    assert_eq!(
        common::files(folder.path()).len(),
        100,
        "bad files are removed"
    );
}

#[tokio::test]
async fn files_cut_short_or_exchanged_are_never_served() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, 64 * MIB).await;
    for n in 0..40 {
        cache.put(key(n), entry(n, 20_000), cache.ticket());
    }
    cache.flush().await;
    let files = common::files(folder.path());
    for (at, path) in files.iter().enumerate() {
        let bytes = std::fs::read(path).unwrap();
        match at % 4 {
            0 => std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap(),
            1 => std::fs::write(path, b"").unwrap(),
            2 => drop(std::fs::copy(&files[at - 1], path).unwrap()),
            _ => std::fs::rename(&files[at - 3], path).unwrap(),
        }
    }
    for n in 0..40 {
        assert!(cache.get(&key(n)).await.is_none());
    }
}

#[tokio::test]
async fn a_full_or_read_only_disk_still_serves_what_it_has_and_takes_more_when_it_can() {
    for (errno, kind) in [
        (ENOSPC, DiskErrorKind::Full),
        (EROFS, DiskErrorKind::ReadOnly),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (cache, disk) = on_failing_disk(folder.path(), 0).await;
        cache.put(key(1), entry(1, 20_000), cache.ticket());
        cache.flush().await;

        disk.fail_writes(errno);
        cache.put(key(2), entry(2, 20_000), cache.ticket());
        cache.flush().await;
        until(|| disk_error(&cache) == Some(kind)).await;
        assert!(cache.get(&key(1)).await.is_some());
        assert!(cache.get(&key(2)).await.is_none());

        disk.fail_writes(None);
        ready(&cache).await;
        cache.put(key(3), entry(3, 20_000), cache.ticket());
        cache.flush().await;
        assert!(cache.get(&key(3)).await.is_some());
        assert!(
            !common::files(folder.path())
                .iter()
                .any(|file| common::is_litter(file))
        );
    }
}

#[tokio::test]
async fn a_failing_disk_is_left_alone_and_memory_serves() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, disk) = on_failing_disk(folder.path(), MIB).await;
    cache.put(key(1), entry(1, 20_000), cache.ticket());
    close(cache).await;
    let (cache, disk_again) = on_failing_disk(folder.path(), MIB).await;
    drop(disk);
    disk_again.fail_reads(EIO);
    disk_again.fail_writes(EIO);
    assert!(cache.get(&key(1)).await.is_none());
    assert_eq!(disk_error(&cache), Some(DiskErrorKind::Failing));
    cache.put(key(2), entry(2, 20_000), cache.ticket());
    assert!(cache.get(&key(2)).await.is_some());

    disk_again.fail_reads(None);
    disk_again.fail_writes(None);
    ready(&cache).await;
    assert!(
        cache.get(&key(1)).await.is_some(),
        "an error of the disk is no fault of the entry"
    );
}

#[tokio::test]
async fn a_disk_that_hangs_is_left_alone_until_it_answers() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, disk) = on_failing_disk(folder.path(), 0).await;
    cache.put(key(1), entry(1, 20_000), cache.ticket());
    cache.flush().await;
    disk.hang(true);
    assert!(cache.get(&key(1)).await.is_none());
    assert_eq!(disk_error(&cache), Some(DiskErrorKind::Hung));
    for _ in 0..1000 {
        // Were each of these to wait for its own deadline, this would take a quarter of an hour.
        assert!(cache.get(&key(1)).await.is_none());
    }
    disk.hang(false);
    ready(&cache).await;
    assert!(cache.get(&key(1)).await.is_some());
}

#[tokio::test]
async fn a_purge_on_a_full_disk_is_in_force_at_once_and_saved_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, disk) = on_failing_disk(folder.path(), 0).await;
    for n in 0..3 {
        cache.put(key(n), entry(n, 20_000), cache.ticket());
    }
    cache.flush().await;
    assert!(cache.purge(Selector::Key(key(0))).await.survives_restart);
    disk.fail_writes(ENOSPC);
    // The failing append leaves half a record behind, as a full disk does.
    assert!(!cache.purge(Selector::Key(key(1))).await.survives_restart);
    assert!(cache.get(&key(1)).await.is_none());
    disk.fail_writes(None);
    ready(&cache).await;
    close(cache).await;
    let cache = open(folder.path(), 0, 16 * MIB).await;
    for n in 0..3 {
        assert_eq!(cache.get(&key(n)).await.is_some(), n == 2, "{n}");
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_tried_again_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    std::fs::write(&path, "a file where the folder should be").unwrap();
    let cache = Cache::open(common::config(&path, 0, MIB));
    cache.ready().await;
    assert_eq!(disk_error(&cache), Some(DiskErrorKind::Unavailable));
    cache.put(key(1), entry(1, 100), cache.ticket());
    assert!(cache.get(&key(1)).await.is_none());
    std::fs::remove_file(&path).unwrap();
    ready(&cache).await;
    cache.put(key(1), entry(1, 100), cache.ticket());
    cache.flush().await;
    assert!(cache.get(&key(1)).await.is_some());
}

#[tokio::test]
async fn a_folder_emptied_while_in_use_costs_its_entries_only() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path(), 0, MIB).await;
    cache.put(key(1), entry(1, 100), cache.ticket());
    cache.flush().await;
    std::fs::remove_dir_all(folder.path().join("andon-cache-1")).unwrap();
    assert!(cache.get(&key(1)).await.is_none());
    cache.put(key(2), entry(2, 100), cache.ticket());
    cache.flush().await;
    assert!(cache.get(&key(2)).await.is_some());
    assert!(cache.purge(Selector::Key(key(2))).await.survives_restart);
}

/// Uses a small real file system that fills up, is emptied, turns read-only and becomes writable again.
#[tokio::test]
async fn a_real_file_system_fills_up_turns_read_only_and_heals() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mounted) = Tmpfs::mount(folder.path(), "size=2m") else {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    };
    let cache = open(folder.path(), 0, 64 * MIB).await;
    for n in 0..400 {
        cache.put(key(n), entry(n, 20_000), cache.ticket());
        cache.flush().await;
        if disk_error(&cache).is_some() {
            break;
        }
    }
    assert_eq!(disk_error(&cache), Some(DiskErrorKind::Full));
    let hit = cache.get(&key(0)).await.unwrap();
    assert_eq!(hit.entry.body, body(0, 20_000));

    mounted.remount("size=8m");
    ready(&cache).await;
    cache.put(key(1000), entry(1000, 20_000), cache.ticket());
    cache.flush().await;
    assert!(cache.get(&key(1000)).await.is_some());

    mounted.remount("ro");
    cache.put(key(1001), entry(1001, 20_000), cache.ticket());
    cache.flush().await;
    assert_eq!(disk_error(&cache), Some(DiskErrorKind::ReadOnly));
    assert!(cache.get(&key(1000)).await.is_some());
    assert!(cache.get(&key(1001)).await.is_none());

    // A restart changes nothing: what is there is served.
    close(cache).await;
    let cache = open(folder.path(), 0, 64 * MIB).await;
    assert!(cache.get(&key(1000)).await.is_some());
    cache.put(key(1001), entry(1001, 20_000), cache.ticket());
    cache.flush().await;
    assert_eq!(disk_error(&cache), Some(DiskErrorKind::ReadOnly));

    mounted.remount("rw");
    ready(&cache).await;
    cache.put(key(1002), entry(1002, 20_000), cache.ticket());
    cache.flush().await;
    assert!(cache.get(&key(1002)).await.is_some());
    assert!(
        !common::files(folder.path())
            .iter()
            .any(|file| common::is_litter(file))
    );
}

struct Tmpfs<'a>(&'a Path);

impl<'a> Tmpfs<'a> {
    fn mount(path: &'a Path, options: &str) -> Option<Self> {
        mount(path, &["-t", "tmpfs", "-o", options, "tmpfs"]).then_some(Self(path))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(mount(self.0, &["-o", &options]), "cannot {options}");
    }
}

impl Drop for Tmpfs<'_> {
    fn drop(&mut self) {
        // Lazily: the cache inside may still be leaving.
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

fn mount(path: &Path, arguments: &[&str]) -> bool {
    let mount = Command::new("mount").args(arguments).arg(path).output();
    mount.is_ok_and(|output| output.status.success())
}
