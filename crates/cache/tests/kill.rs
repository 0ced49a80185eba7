//! `kill -9` at random moments during writes, evictions and purges: afterwards no entry has wrong bytes, no incomplete
//! files are left, and the size limit is kept.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use andon_cache::Selector;
use common::{body, close, entry, key, open};

const LIMIT: u64 = 3 << 20;
const LONGEST: u64 = 60_000;
const KEYS: u64 = 300;
const FOLDER: &str = "ANDON_TEST_CACHE_FOLDER";

#[test]
fn a_killed_writer_leaves_only_whole_entries_and_no_litter() {
    // Many more by hand: ANDON_TEST_KILLS=1000.
    let rounds = std::env::var("ANDON_TEST_KILLS").map_or(50, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (mut survivors, mut litter) = (0, 0);
    for round in 0..rounds {
        let mut writer = Writer::start(folder.path());
        writer.first_word();
        // From the very first writes to well into evictions.
        std::thread::sleep(Duration::from_micros(700 * (round * 37 % 151)));
        writer.kill();

        litter += common::files(folder.path())
            .iter()
            .filter(|file| common::is_litter(file))
            .count();
        assert!(common::disk_usage(folder.path()) <= LIMIT);
        survivors += check(folder.path());
    }
    eprintln!(
        "{rounds} kills, {litter} half-written files met and removed, {survivors} entries checked"
    );
    assert!(survivors > 0, "nothing was ever written");
}

/// Opens the cache that the killed process left, checks it, and returns how many entries are intact.
fn check(folder: &Path) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let cache = open(folder, 0, LIMIT).await;
        let files = common::files(folder);
        assert!(
            !files.iter().any(|file| common::is_litter(file)),
            "litter after a restart"
        );
        let mut whole = 0;
        for n in 0..KEYS {
            if let Some(hit) = cache.get(&key(n)).await {
                assert_eq!(hit.entry.body, body(n, LONGEST), "entry {n}");
                whole += 1;
            }
        }
        let disk = cache.stats().disk.unwrap();
        // A kill does not tear what is in the page cache: here even the check finds nothing to do.
        assert_eq!((disk.corrupt, disk.errors), (0, 0));
        close(cache).await;
        whole
    })
}

struct Writer(Child);

impl Writer {
    /// Starts this test program again, to run only `write_until_killed`.
    fn start(folder: &Path) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["write_until_killed", "--exact", "--ignored", "--nocapture"])
            .env(FOLDER, folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    /// Waits until the process has begun to write.
    fn first_word(&mut self) {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        let begun = lines
            .map_while(Result::ok)
            .any(|line| line.contains("writing"));
        assert!(begun, "the writer ended by itself");
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Not a test: what the killed process does.
#[test]
#[ignore = "it never ends; the test above runs it"]
fn write_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let cache = open(Path::new(&folder), 0, LIMIT).await;
        println!("writing");
        for step in u64::from(std::process::id()).. {
            let n = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) % KEYS;
            cache.put(key(n), entry(n, LONGEST), cache.ticket());
            if step % 8 == 0 {
                cache.flush().await;
            }
            if step % 50 == 0 {
                let _ = cache.purge(Selector::Key(key(n))).await;
            }
        }
    });
}
