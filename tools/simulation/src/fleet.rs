//! A fleet behind its load balancer, and what its requests come to.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use andon_cache::{Clock, Key, Moment, Selector, StoreConfig};
use bytes::Bytes;
use tokio::time::{Instant, sleep};

use crate::balancer::Balancer;
use crate::bucket::{Link, Store};
use crate::images;
use crate::locks::lock;
use crate::node::{Failure, Node, Obtained, Sources, Way};
use crate::tally::Tally;
use crate::workers::{Made, Workers};

/// What a fleet is made of.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Nodes at first.
    pub nodes: usize,
    /// Results that the memory tier of each has room for.
    pub room: u64,
    /// Where sources are.
    pub sources: Sources,
    /// Do they share a store?
    pub shares: bool,
    /// Bounded loads, if any.
    pub factor: Option<f64>,
    /// Nodes that the load balancer asks, one after the other, for a request.
    pub tries: u32,
    /// Images that there are from the beginning.
    pub images: u32,
}

/// A running fleet.
pub struct Fleet {
    setup: Setup,
    clock: Arc<VirtualClock>,
    store: Arc<Store>,
    nodes: Mutex<Vec<Arc<Node>>>,
    balancer: Mutex<Balancer>,
    keys: Vec<Key>,
    tally: Mutex<Tally>,
    /// Requests that are not over.
    open: AtomicU64,
    made: Made,
    version: Arc<AtomicU32>,
}

impl Fleet {
    /// Starts all nodes, and waits until they use the store.
    pub async fn start(setup: Setup) -> Arc<Self> {
        let fleet = Arc::new(Self {
            setup,
            clock: Arc::new(VirtualClock(Instant::now())),
            store: Arc::default(),
            nodes: Mutex::default(),
            balancer: Mutex::new(Balancer::new(setup.nodes, setup.factor)),
            keys: (0..setup.images).map(images::key).collect(),
            tally: Mutex::default(),
            open: AtomicU64::new(0),
            made: Made::default(),
            version: Arc::default(),
        });
        fleet.grow(setup.nodes).await;
        fleet
    }

    /// The store of all nodes.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What all nodes have made.
    pub fn made(&self) -> &Made {
        &self.made
    }

    /// What came of the requests since it was asked last.
    pub fn take_tally(&self) -> Tally {
        std::mem::take(&mut *lock(&self.tally))
    }

    /// The most requests that one node got since it was asked last, over the mean.
    pub fn take_most_requests(&self) -> f64 {
        lock(&self.balancer).take_most_requests()
    }

    /// A node.
    pub fn node(&self, number: u32) -> Arc<Node> {
        Arc::clone(&lock(&self.nodes)[number as usize])
    }

    /// Every node's number.
    pub fn numbers(&self) -> std::ops::Range<u32> {
        0..lock(&self.nodes).len() as u32
    }

    /// Grows the fleet to this many nodes. New nodes have nothing in memory.
    pub async fn grow(self: &Arc<Self>, nodes: usize) {
        let first = self.numbers().end;
        for _ in first..nodes as u32 {
            let node = Arc::new(self.new_node());
            lock(&self.nodes).push(node);
        }
        for number in first..nodes as u32 {
            self.node(number).ready().await;
        }
        lock(&self.balancer).grow(nodes);
    }

    /// Puts every image's result into the store and into the memory of its node, as if all had been requested once.
    pub async fn fill(&self) {
        for image in 0..self.setup.images {
            let mut balancer = lock(&self.balancer);
            let Some(number) = balancer.enter(image, None) else {
                continue;
            };
            balancer.leave(number, true);
            drop(balancer);
            let (node, key) = (self.node(number), self.keys[image as usize]);
            let (ticket, entry) = (node.cache().ticket(), Arc::new(images::result(image, 0)));
            node.cache().put(key, Arc::clone(&entry), ticket);
            node.cache().put_in_store(key, entry, ticket);
        }
        for number in self.numbers() {
            self.node(number).cache().flush().await;
        }
        self.take_most_requests();
    }

    /// A request, answered at once if that takes nothing but memory.
    pub fn request(self: &Arc<Self>, image: u32) {
        lock(&self.tally).requests += 1;
        let Some(number) = lock(&self.balancer).enter(image, None) else {
            lock(&self.tally).lost += 1;
            return;
        };
        let (node, key) = (self.node(number), self.key(image));
        if !node.is_lost()
            && let Some(entry) = node.at_hand(&key)
        {
            lock(&self.balancer).leave(number, true);
            let mut tally = lock(&self.tally);
            tally.memory += 1;
            tally.wrong += u64::from(!is_of(image, &entry.body));
            return;
        }
        self.open.fetch_add(1, Ordering::Relaxed);
        let fleet = Arc::clone(self);
        tokio::spawn(async move {
            fleet.obtain(image, key, number).await;
            fleet.open.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Waits until no request is under way.
    pub async fn settle(&self) {
        while self.open.load(Ordering::Relaxed) > 0 {
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Nodes are lost, and all that was under way there. The load balancer finds out by itself.
    pub fn lose(&self, numbers: &[u32]) {
        numbers.iter().for_each(|number| self.node(*number).lose());
    }

    /// Nodes come back with nothing in memory.
    pub async fn bring_back(&self, numbers: &[u32]) {
        for number in numbers {
            let node = Arc::new(self.new_node());
            lock(&self.nodes)[*number as usize] = node;
        }
        for number in numbers {
            self.node(*number).ready().await;
            lock(&self.balancer).set(*number, true);
        }
    }

    /// Restarts nodes as an orchestrator does: no new requests, an end to those under way and to uploads, a new process.
    pub async fn restart(&self, numbers: &[u32]) {
        for number in numbers {
            lock(&self.balancer).set(*number, false);
        }
        sleep(DRAIN).await;
        for number in numbers {
            self.node(*number).cache().flush().await;
        }
        self.bring_back(numbers).await;
    }

    /// Every source changes, and one of them is purged by way of a node. Whether all nodes will learn of it.
    pub async fn change_and_purge(&self, image: u32, number: u32) -> bool {
        self.version.fetch_add(1, Ordering::Relaxed);
        let purge = Selector::Source(images::source(image));
        let purged = self.node(number).cache().purge(purge).await;
        purged.reaches_nodes == Some(true)
    }

    /// The version of an image that a node serves, load balancer or not.
    ///
    /// # Errors
    /// Why it serves none.
    pub async fn version_at(&self, number: u32, image: u32) -> Result<Option<u32>, Failure> {
        let (node, key) = (self.node(number), self.key(image));
        let entry = match node.at_hand(&key) {
            Some(entry) => entry,
            None => node.obtain(image, key).await?.entry,
        };
        Ok(images::version_of(image, &entry.body))
    }

    async fn obtain(&self, image: u32, key: Key, first: u32) {
        let began = Instant::now();
        let mut number = first;
        for attempt in 1.. {
            let node = self.node(number);
            let obtained = match node.is_lost() {
                true => Err(Failure::Lost),
                false => match node.at_hand(&key) {
                    // A second node may have it.
                    Some(entry) => Ok(Obtained {
                        entry,
                        way: Way::Another,
                    }),
                    None => node.obtain(image, key).await,
                },
            };
            let was_there = !matches!(obtained, Err(Failure::Lost));
            lock(&self.balancer).leave(number, was_there);
            let failure = match obtained {
                Ok(obtained) => return self.served(image, &obtained, began.elapsed()),
                Err(failure) => failure,
            };
            let next = match attempt < self.setup.tries {
                true => lock(&self.balancer).enter(image, Some(number)),
                false => None,
            };
            let mut tally = lock(&self.tally);
            match (next, failure) {
                (Some(next), _) => {
                    tally.retried += 1;
                    number = next;
                }
                (None, Failure::Rejected(_)) => {
                    tally.rejected += 1;
                    return;
                }
                (None, Failure::Lost) => {
                    tally.lost += 1;
                    return;
                }
            }
        }
    }

    fn served(&self, image: u32, obtained: &Obtained, took: Duration) {
        let mut tally = lock(&self.tally);
        tally.wrong += u64::from(!is_of(image, &obtained.entry.body));
        tally.misses.record(took);
        match obtained.way {
            Way::Store => tally.store += 1,
            Way::Another => tally.joined += 1,
            Way::Making(time) => {
                tally.made += 1;
                tally.making.record(time);
            }
        }
    }

    fn key(&self, image: u32) -> Key {
        let known = self.keys.get(image as usize);
        known.map_or_else(|| images::key(image), |key| *key)
    }

    fn new_node(&self) -> Node {
        let store = self.setup.shares.then(|| {
            let link = Arc::new(Link::new(Arc::clone(&self.store)));
            (store_config(&link), link)
        });
        let clock: Arc<dyn Clock> = Arc::clone(&self.clock) as _;
        let workers = Workers::new(THREADS, self.made.clone());
        let memory = self.setup.room * WEIGHT;
        Node::start(
            memory,
            store,
            clock,
            workers,
            self.setup.sources,
            Arc::clone(&self.version),
        )
    }
}

fn is_of(image: u32, body: &Bytes) -> bool {
    images::version_of(image, body).is_some()
}

/// With the defaults of the server's configuration.
#[must_use]
pub fn store_config(link: &Arc<Link>) -> StoreConfig {
    StoreConfig {
        bucket: Arc::clone(link) as _,
        place: "a simulated bucket".to_owned(),
        secret: "a secret that all nodes know".to_owned(),
        revision: "1".to_owned(),
        wait: Duration::from_millis(40),
        timeout: Duration::from_millis(500),
        poll: POLL,
        queue: 32 << 20,
    }
}

/// Both clocks of all nodes, moved by the runtime's.
#[derive(Debug)]
struct VirtualClock(Instant);

impl Clock for VirtualClock {
    fn now(&self) -> Moment {
        let passed = self.0.elapsed();
        Moment {
            wall: Duration::from_secs(1_800_000_000) + passed,
            since_boot: Duration::from_secs(1000) + passed,
            boot: 1,
        }
    }
}

/// Worker threads of a node.
pub const THREADS: usize = 2;

/// Between two looks of a node at the purges of others, on average.
pub const POLL: Duration = Duration::from_secs(5);

/// Between the last request to a node and its end.
const DRAIN: Duration = Duration::from_millis(300);

/// Of a result in the memory tier, in bytes, about.
const WEIGHT: u64 = 512;
