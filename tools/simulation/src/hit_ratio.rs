//! Hit ratios of a fleet's memory tiers, compared with an LRU of the same size and with Che's approximation for an LRU.
//!
//! Nodes do not affect each other here and nothing expires, so each node answers its requests in turn, without a clock.

use std::sync::Arc;
use std::time::Duration;

use andon_cache::{Cache, Clock, Config, Entry, Files, Key, Life, Moment};
use bytes::Bytes;
use serde::Serialize;

use crate::che::{Class, Model};
use crate::images;
use crate::lru::Lru;
use crate::random::Random;
use crate::ring::Ring;
use crate::zipf::{Zipf, shares};

/// How a load balancer chooses a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routing {
    /// The node that owns the image.
    ByImage,
    /// One node after the other, whichever image is requested.
    RoundRobin,
}

/// The settings of one simulation of hit ratios.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Case {
    /// The number of nodes in the fleet.
    pub nodes: usize,
    /// How requests are distributed over the nodes.
    pub routing: Routing,
    /// The exponent of Zipf's law.
    pub alpha: f64,
    /// The number of different results.
    pub images: usize,
    /// The number of requests. Only the second half of them is counted.
    pub requests: usize,
    /// Size of each node's memory tier in bytes.
    pub memory: u64,
}

/// The hits in one simulation, in per cent of the second half of all requests.
#[derive(Clone, Debug, Serialize)]
pub struct HitRatio {
    /// The settings of the simulation.
    pub case: Case,
    /// The number of results for which the memory tier of a node has room.
    pub room: u64,
    /// Hits of the server's memory tier, in per cent.
    pub andon: f64,
    /// Hits of an LRU, in per cent.
    pub lru: f64,
    /// Hits that Che's approximation predicts for an LRU in the second half, in per cent.
    pub model: f64,
    /// Hits that Che's approximation predicts for an LRU after an infinite time, in per cent.
    pub in_the_end: f64,
    /// The number of results that the server's memory tiers evicted.
    pub evictions: u64,
}

/// The keys of images. All simulations share them because they take long to compute.
#[derive(Debug)]
pub struct Keys(Vec<Key>);

impl Keys {
    /// Computes the keys of this many images.
    pub fn of(images: usize) -> Self {
        Self((0..images as u32).map(images::key).collect())
    }
}

/// Simulates the requests to a fleet and returns the hit ratios. `seed` determines the random requests.
pub fn run(case: Case, keys: &Keys, seed: u64) -> HitRatio {
    let shares = shares(case.images, case.alpha);
    let owners = owners(&case);
    let requests = Requests::draw(&case, &shares, &owners, seed);
    let room = room(case.memory);
    let classes = classes(&case, &shares, &owners);
    let mut sums = Sums::default();
    for node in 0..case.nodes {
        let (early, late) = requests.of(node);
        let cache = open(case.memory);
        let mut lru = Lru::new(room as usize);
        for image in early {
            ask(&cache, keys, *image);
            lru.uses(*image);
        }
        for image in late {
            sums.andon += u64::from(ask(&cache, keys, *image));
            sums.lru += u64::from(lru.uses(*image));
        }
        sums.requests += late.len() as u64;
        sums.evictions += cache.stats().memory.evictions;
    }
    let (mut model, mut in_the_end) = ((0.0, 0.0), (0.0, 0.0));
    let window = match case.routing {
        Routing::ByImage => case.requests,
        // With round-robin, a node sees all images, but only its share of the requests.
        Routing::RoundRobin => case.requests / case.nodes,
    } as f64;
    for classes in &classes {
        let node = Model::new(classes, room as f64);
        let (requests, hits) = node.requests_and_hits(window / 2.0, window);
        model = (model.0 + requests, model.1 + hits);
        let (requests, hits) = node.in_the_end();
        in_the_end = (in_the_end.0 + requests, in_the_end.1 + hits);
    }
    let per_cent = |hits: u64| 100.0 * hits as f64 / sums.requests as f64;
    HitRatio {
        case,
        room,
        andon: per_cent(sums.andon),
        lru: per_cent(sums.lru),
        model: 100.0 * model.1 / model.0,
        in_the_end: 100.0 * in_the_end.1 / in_the_end.0,
        evictions: sums.evictions,
    }
}

#[derive(Default)]
struct Sums {
    requests: u64,
    andon: u64,
    lru: u64,
    evictions: u64,
}

/// The requests of all nodes: those of the first node in their order, then those of the second, and so on.
struct Requests {
    images: Vec<u32>,
    /// For each node, the index in `images` of its first request, and of its first request in the second half.
    starts: Vec<(usize, usize)>,
}

impl Requests {
    fn draw(case: &Case, shares: &[f64], owners: &[u32], seed: u64) -> Self {
        let (zipf, mut random) = (Zipf::of(shares), Random::new(seed));
        let drawn: Vec<u32> = (0..case.requests).map(|_| zipf.draw(&mut random)).collect();
        let node_of = |index: usize, image: u32| match case.routing {
            Routing::ByImage => owners[image as usize] as usize,
            Routing::RoundRobin => index % case.nodes,
        };
        let half = case.requests / 2;
        let mut counts = vec![(0, 0); case.nodes];
        for (index, image) in drawn.iter().enumerate() {
            let count = &mut counts[node_of(index, *image)];
            count.0 += 1;
            count.1 += usize::from(index < half);
        }
        let mut starts = Vec::with_capacity(case.nodes);
        let mut start = 0;
        for (all, early) in counts {
            starts.push((start, start + early));
            start += all;
        }
        let mut next: Vec<usize> = starts.iter().map(|start| start.0).collect();
        let mut images = vec![0; drawn.len()];
        for (index, image) in drawn.iter().enumerate() {
            let next = &mut next[node_of(index, *image)];
            images[*next] = *image;
            *next += 1;
        }
        Self { images, starts }
    }

    /// Returns the images that are requested from a node in the first half of all requests, and in the second half.
    fn of(&self, node: usize) -> (&[u32], &[u32]) {
        let (start, middle) = self.starts[node];
        let end = self
            .starts
            .get(node + 1)
            .map_or(self.images.len(), |next| next.0);
        (&self.images[start..middle], &self.images[middle..end])
    }
}

/// Returns the node that owns each image. The list is empty if nodes are chosen round robin, as images then have no
/// owners.
fn owners(case: &Case) -> Vec<u32> {
    let ring = Ring::new(case.nodes, POINTS);
    let owner = |image| ring.owner(images::hash(image));
    match case.routing {
        Routing::ByImage => (0..case.images as u32).map(owner).collect(),
        Routing::RoundRobin => Vec::new(),
    }
}

/// For each node, returns classes of images that are requested about equally often. The less popular the images are,
/// the more of them are in one class. With `Routing::RoundRobin` there is one list for all nodes, and each image is a
/// class.
fn classes(case: &Case, shares: &[f64], owners: &[u32]) -> Vec<Vec<Class>> {
    if case.routing == Routing::RoundRobin {
        let class = |share: &f64| Class {
            share: *share,
            count: 1.0,
        };
        return vec![shares.iter().map(class).collect()];
    }
    let mut classes = vec![Vec::new(); case.nodes];
    let mut counts = vec![0u32; case.nodes];
    let mut first = 0;
    while first < shares.len() {
        let last = (first + 1 + first / FINENESS).min(shares.len());
        for owner in &owners[first..last] {
            counts[*owner as usize] += 1;
        }
        let share = shares[first..last].iter().sum::<f64>() / (last - first) as f64;
        for (classes, count) in classes.iter_mut().zip(&mut counts) {
            if *count > 0 {
                classes.push(Class {
                    share,
                    count: f64::from(*count),
                });
                *count = 0;
            }
        }
        first = last;
    }
    classes
}

/// Requests an image from a cache and returns whether it was a hit. After a miss, the result is made and stored.
fn ask(cache: &Cache, keys: &Keys, image: u32) -> bool {
    let key = keys.0[image as usize];
    let is_hit = cache.get_from_memory(&key).is_some();
    if !is_hit {
        cache.put(key, entry(), cache.ticket());
    }
    is_hit
}

fn entry() -> Entry {
    Entry {
        body: Bytes::from_static(&BODY),
        life: Life::fresh_for(Duration::MAX),
        ..Entry::default()
    }
}

/// Opens a cache that consists of a memory tier alone, on a clock that stands still.
fn open(memory: u64) -> Cache {
    let config = Config { memory, disk: None };
    Cache::open_with(config, None, Arc::new(Noon), Arc::new(Files))
}

/// Returns how many results a memory tier of this many bytes has room for.
fn room(memory: u64) -> u64 {
    let cache = open(memory);
    cache.put(images::key(0), entry(), cache.ticket());
    memory / cache.stats().memory.bytes.max(1)
}

/// A clock that stands still.
struct Noon;

impl Clock for Noon {
    fn now(&self) -> Moment {
        Moment {
            wall: Duration::from_secs(1_800_000_000),
            since_boot: Duration::from_secs(1000),
            boot: 1,
        }
    }
}

/// The body of a result, 20 KB. All entries share it, but each is charged with its full size.
static BODY: [u8; 20_000] = [7; 20_000];

/// Number of points of each node on the hash ring, the same as in nginx.
pub const POINTS: usize = 160;

/// Images whose ranks differ by less than one part in this number are treated as equally popular.
const FINENESS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_reaches_the_node_that_it_is_for_in_its_half() {
        let case = Case {
            nodes: 7,
            routing: Routing::ByImage,
            alpha: 0.9,
            images: 100,
            requests: 1000,
            memory: 0,
        };
        let owners = owners(&case);
        let requests = Requests::draw(&case, &shares(100, 0.9), &owners, 1);
        let (mut early, mut all) = (0, 0);
        for node in 0..7 {
            let (first, second) = requests.of(node);
            let mut both = first.iter().chain(second);
            assert!(both.all(|image| owners[*image as usize] == node as u32));
            early += first.len();
            all += first.len() + second.len();
        }
        assert_eq!((early, all), (500, 1000));
    }

    #[test]
    fn classes_have_every_image_once() {
        let case = Case {
            nodes: 5,
            routing: Routing::ByImage,
            alpha: 1.0,
            images: 30_000,
            requests: 0,
            memory: 0,
        };
        let shares = shares(case.images, case.alpha);
        let classes = classes(&case, &shares, &owners(&case)).concat();
        let count: f64 = classes.iter().map(|class| class.count).sum();
        let sum: f64 = classes.iter().map(|class| class.count * class.share).sum();
        assert!(
            (count - 30_000.0).abs() < 1e-6 && (sum - 1.0).abs() < 1e-9,
            "{count} {sum}"
        );
    }
}
