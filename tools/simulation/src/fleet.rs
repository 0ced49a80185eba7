//! A fleet behind its load balancer, and the outcome of its requests.

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

/// The setup of a fleet.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The initial number of nodes.
    pub nodes: usize,
    /// The number of results for which the memory tier of each node has room.
    pub room: u64,
    /// Where source images are.
    pub sources: Sources,
    /// Whether the nodes share a store.
    pub shares: bool,
    /// The load limit of a node, if any: the maximum number of requests under way, as a multiple of the mean over the
    /// nodes that are up.
    pub factor: Option<f64>,
    /// The maximum number of nodes that the load balancer tries for a request, one after the other.
    pub tries: u32,
    /// The number of images that exist from the beginning.
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
    /// The number of requests under way.
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

    /// Returns the store that all nodes share.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the counts of results that all nodes have made.
    pub fn made(&self) -> &Made {
        &self.made
    }

    /// Returns the outcomes of the requests since the last call.
    pub fn take_tally(&self) -> Tally {
        std::mem::take(&mut *lock(&self.tally))
    }

    /// Returns the largest number of requests that a node has received since the last call, divided by the mean over
    /// all nodes.
    pub fn take_most_requests(&self) -> f64 {
        lock(&self.balancer).take_most_requests()
    }

    /// Returns the node with this number.
    pub fn node(&self, number: u32) -> Arc<Node> {
        Arc::clone(&lock(&self.nodes)[number as usize])
    }

    /// Returns the numbers of all nodes.
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

    /// Makes a request for an image. It is answered at once if the result is in memory, otherwise in a separate task.
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

    /// Waits until no request is in flight.
    pub async fn settle(&self) {
        while self.open.load(Ordering::Relaxed) > 0 {
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Makes nodes fail, with everything that is in flight there. The load balancer is not told. It has to detect the
    /// failure from requests.
    pub fn lose(&self, numbers: &[u32]) {
        numbers.iter().for_each(|number| self.node(*number).lose());
    }

    /// Replaces nodes by new ones with nothing in memory.
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

    /// Restarts nodes as an orchestrator does: no new requests, time for requests and uploads in flight to end, then a
    /// new process.
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

    /// Changes the source of every image, and purges the source of `image` by way of the node `number`. Returns whether
    /// all nodes will learn of the purge.
    pub async fn change_and_purge(&self, image: u32, number: u32) -> bool {
        self.version.fetch_add(1, Ordering::Relaxed);
        let purge = Selector::Source(images::source(image));
        let purged = self.node(number).cache().purge(purge).await;
        purged.reaches_nodes == Some(true)
    }

    /// Returns the version of an image that a node serves, bypassing the load balancer. `None` if it serves another
    /// image.
    ///
    /// # Errors
    /// The node serves nothing, for the reason given.
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
                    // A second node may have the result.
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

/// Returns the settings of the shared store: the defaults of the server's configuration.
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

/// The clock of all nodes, for both wall time and time since boot. It follows the clock of the runtime.
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

/// The number of worker threads of a node.
pub const THREADS: usize = 2;

/// Average time between two polls of a node for the purges of other nodes.
pub const POLL: Duration = Duration::from_secs(5);

/// Time between the last request to a node and its shutdown.
const DRAIN: Duration = Duration::from_millis(300);

/// Approximate size of a result in the memory tier, in bytes.
const WEIGHT: u64 = 512;
