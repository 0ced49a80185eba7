//! `kill -9` of the server while it serves photos and writes its disk cache: after each restart every response has the
//! expected bytes, and no partial file is left.
//!
//! For a manual run with many more kills, many existing entries, and a report:
//! `ANDON_TEST_KILLS=200 ANDON_TEST_ENTRIES=20000 ANDON_TEST_REPORT=report.json`.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Client, Reply, Served, sample};

const PHOTOS: [&str; 4] = ["wren", "sunset", "dandelion", "osprey"];
const WIDTHS: u64 = 24;
/// Number of URLs of every photo, so that there is always another result to write whose bytes are known beforehand.
const NAMES: u64 = 5000;
/// Number of URLs per photo that are requested repeatedly.
const POPULAR: u64 = 2;

#[test]
fn a_killed_server_comes_back_with_every_byte_right() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |value| value.parse().expect(name))
    };
    let (rounds, entries) = (
        number("ANDON_TEST_KILLS", 12),
        number("ANDON_TEST_ENTRIES", 0),
    );
    let folder = tempfile::tempdir().unwrap();
    furnish(folder.path());
    let known = known(folder.path());
    fill(folder.path(), entries);

    let total = Tally::default();
    let mut ready = Vec::new();
    for round in 0..rounds {
        let began = Instant::now();
        let mut served = Served::start(folder.path(), &config(true, entries));
        let address = served.address.clone();
        ready.push(began.elapsed());
        assert_eq!(litter(folder.path()), 0, "after restart {round}");
        std::thread::scope(|scope| {
            for client in 0..3 {
                let (address, known, total) = (&address, &*known, &total);
                scope.spawn(move || load(address, known, total, round * 3 + client));
            }
            // From the first writes to well into evictions.
            std::thread::sleep(Duration::from_micros(1500 * (round * 37 % 101)));
            served.kill();
        });
    }

    // After the last kill, request all of them.
    let served = Served::start(folder.path(), &config(true, entries));
    let mut client = served.client();
    for (result, name) in known
        .iter()
        .flat_map(|result| (0..POPULAR).map(move |name| (result, name)))
    {
        total.compare(result, name, &client.get(&result.target(name)).unwrap());
    }
    served.stop();
    let [replies, hits] = [&total.replies, &total.hits].map(|count| count.load(Ordering::Relaxed));
    assert!(
        0 < hits && hits < replies,
        "{hits} of {replies} from the cache"
    );
    assert_eq!(litter(folder.path()), 0);
    report(rounds, entries, &total, ready);
}

/// A recipe, a photo, and the bytes of the result.
struct Known {
    options: String,
    photo: &'static str,
    body: Vec<u8>,
}

impl Known {
    fn target(&self, name: u64) -> String {
        format!("/small_light({})/{name}/{}.jpg", self.options, self.photo)
    }
}

/// Number of responses that were equal to the known bytes. A different one ends the test.
#[derive(Default)]
struct Tally {
    replies: AtomicU64,
    hits: AtomicU64,
}

impl Tally {
    fn compare(&self, known: &Known, name: u64, reply: &Reply) {
        assert!(
            reply.status == 200 && reply.body == known.body,
            "{}: {} {} bytes",
            known.target(name),
            reply.status,
            reply.body.len()
        );
        self.replies.fetch_add(1, Ordering::Relaxed);
        self.hits
            .fetch_add(u64::from(reply.is_hit()), Ordering::Relaxed);
    }
}

fn furnish(folder: &Path) {
    std::fs::create_dir(folder.join("root")).unwrap();
    for photo in PHOTOS {
        let name = format!("{photo}.jpg");
        let from = sample(&format!("photos/{name}"));
        std::fs::copy(from, folder.join("root").join(name)).unwrap();
    }
    for name in 0..NAMES {
        std::os::unix::fs::symlink(".", folder.join("root").join(name.to_string())).unwrap();
    }
    std::fs::copy(sample("jpeg/17x33.jpg"), folder.join("root/tiny.jpg")).unwrap();
}

fn config(keeps: bool, entries: u64) -> String {
    // Without many entries there is so little room that some are always evicted.
    let size = if entries > 0 { "1GiB" } else { "1MiB" };
    let disk = match keeps {
        true => format!("disk.path = \"kept\"\ndisk.size = \"{size}\"\n"),
        false => String::new(),
    };
    format!("[[origin]]\nfs.root = \"root\"\n[cache]\nmemory = 0\n{disk}[log]\nformat = \"off\"\n")
}

/// Makes the results with a server without a cache.
fn known(folder: &Path) -> Vec<Known> {
    let served = Served::start(folder, &config(false, 0));
    let mut client = served.client();
    let mut known = Vec::new();
    for photo in PHOTOS {
        for step in 1..=WIDTHS {
            let mut result = Known {
                options: format!("dw={},q=80", step * 12),
                photo,
                body: Vec::new(),
            };
            let reply = client.get(&result.target(0)).unwrap();
            assert_eq!(reply.status, 200, "{}", result.target(0));
            result.body = reply.body;
            known.push(result);
        }
    }
    known
}

/// Fills the disk cache with `entries` results that the test does not compare.
fn fill(folder: &Path, entries: u64) {
    if entries == 0 {
        return;
    }
    let served = Served::start(folder, &config(true, entries));
    let mut client = served.client();
    for entry in 0..entries {
        let (width, quality) = (1 + entry / 100, 1 + entry % 100);
        let target = format!("/small_light(dw={width},q={quality})/tiny.jpg");
        assert_eq!(client.get(&target).unwrap().status, 200, "{target}");
    }
    served.stop();
}

/// Sends requests until the server has ended.
fn load(address: &str, known: &[Known], total: &Tally, seed: u64) {
    let mut random = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    while let Ok(mut client) = Client::connect(address) {
        loop {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let result = &known[random as usize % known.len()];
            let names = [POPULAR, NAMES][random as usize >> 20 & 1];
            let name = (random >> 32) % names;
            // A truncated response is recognised as such; a complete one must be correct.
            let Ok(reply) = client.get(&result.target(name)) else {
                break;
            };
            total.compare(result, name, &reply);
        }
    }
}

/// Returns the number of partial files.
fn litter(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("kept/andon-cache-1/tmp")).map_or(0, Iterator::count)
}

fn report(rounds: u64, entries: u64, total: &Tally, mut ready: Vec<Duration>) {
    ready.sort();
    let at = |share: usize| ready[(ready.len() - 1) * share / 100].as_secs_f64() * 1e3;
    let report = serde_json::json!({
        "what": "kill -9 of the server at random moments under load on photos, disk tier on; a wrong byte, or a half-written file after a restart, ends the run without a report",
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "kills": rounds,
        "other_entries_on_disk": entries,
        "replies_compared": total.replies.load(Ordering::Relaxed),
        "of_them_from_the_cache": total.hits.load(Ordering::Relaxed),
        "ready_ms": {
            "what": "from starting the process to its line that it listens, entries counted or 500 ms over",
            "min": at(0), "p50": at(50), "p90": at(90), "p99": at(99), "max": at(100),
        },
    });
    match std::env::var("ANDON_TEST_REPORT") {
        Ok(path) => std::fs::write(path, format!("{report:#}\n")).unwrap(),
        Err(_) => eprintln!("{report:#}"),
    }
}
