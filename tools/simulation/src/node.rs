//! One node: the server's cache, single flight and queue, and the steps from a request to its result.
//!
//! The steps are those of the server's `results/making`: look in memory; if another request for the same result is
//! under way, wait for its result (single flight); otherwise look in the shared store for a while, then make the result
//! while the look-up continues, and put it into memory and into the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use andon_cache::{
    Cache, Clock, Config, Entry, Files, Flights, Found, Key, Role, StoreConfig, Ticket,
    found_or_made,
};
use andon_server::Cause;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::bucket::Link;
use crate::images::{self, Work};
use crate::workers::Workers;

/// A node, running or lost. A lost node answers nothing.
pub struct Node {
    cache: Cache,
    flights: Flights<Key, Result<Obtained, Cause>>,
    workers: Arc<Workers>,
    link: Option<Arc<Link>>,
    sources: Sources,
    version: Arc<AtomicU32>,
    gone: watch::Sender<bool>,
}

/// Where source images are, which decides how long a node waits for the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sources {
    /// At an origin. The node waits for the store as long as the configuration permits.
    Network,
    /// In files that every node has. The node waits for the store no longer than making the result is expected to take.
    Files,
}

/// How a result was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The result was in the shared store.
    Store,
    /// The node made the result, which took this time.
    Making(Duration),
    /// Another request had already begun to look it up or to make it.
    Another,
}

/// A result, and how it was obtained.
#[derive(Clone, Debug)]
pub struct Obtained {
    /// The result itself.
    pub entry: Arc<Entry>,
    /// The way in which the result was obtained.
    pub way: Way,
}

/// The reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The node rejected the request.
    Rejected(Cause),
    /// The node is down, or went down in the meantime.
    Lost,
}

impl Node {
    /// Starts a node with nothing in memory. `version` is the current version of all sources.
    pub fn start(
        memory: u64,
        store: Option<(StoreConfig, Arc<Link>)>,
        clock: Arc<dyn Clock>,
        workers: Arc<Workers>,
        sources: Sources,
        version: Arc<AtomicU32>,
    ) -> Self {
        let (store, link) = store.unzip();
        let config = Config { memory, disk: None };
        Self {
            cache: Cache::open_with(config, store, clock, Arc::new(Files)),
            flights: Flights::new(),
            workers,
            link,
            sources,
            version,
            gone: watch::Sender::new(false),
        }
    }

    /// Returns the node's cache.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Returns the node's connection to the store, if it uses one.
    pub fn link(&self) -> Option<&Link> {
        self.link.as_deref()
    }

    /// Makes the node fail, with all requests that it was handling.
    pub fn lose(&self) {
        self.gone.send_replace(true);
    }

    /// Returns whether the node was lost.
    pub fn is_lost(&self) -> bool {
        *self.gone.borrow()
    }

    /// Returns the result with this key if it is in the node's memory.
    pub fn at_hand(&self, key: &Key) -> Option<Arc<Entry>> {
        self.cache.get_from_memory(key).map(|hit| hit.entry)
    }

    /// Obtains a result that is not in the node's memory.
    ///
    /// # Errors
    /// The node has rejected the request, or is lost.
    pub async fn obtain(&self, image: u32, key: Key) -> Result<Obtained, Failure> {
        let mut gone = self.gone.subscribe();
        let job = Job {
            cache: self.cache.clone(),
            workers: Arc::clone(&self.workers),
            sources: self.sources,
            version: Arc::clone(&self.version),
            image,
            key,
        };
        let work = move |_| job.found_or_made();
        // The clients of the simulation have no timeout.
        let patience = (std::time::Instant::now() + Duration::from_secs(86_400)).into();
        tokio::select! {
            biased;
            _ = gone.wait_for(|is_gone| *is_gone) => Err(Failure::Lost),
            landed = self.flights.run(key, &patience, work) => {
                let landed = landed.map_err(|_| Failure::Lost)?;
                let obtained = landed.value.map_err(Failure::Rejected)?;
                Ok(match landed.role {
                    Role::Leader => obtained,
                    Role::Follower => Obtained { way: Way::Another, ..obtained },
                })
            }
        }
    }

    /// Waits until the node has read the purges of other nodes and so uses the store, but at most ten seconds.
    pub async fn ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        let is_ready = || self.cache.stats().store.is_none_or(|store| store.ready);
        while !is_ready() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The work that concurrent requests for one result share (single flight): to look up the result, or to make it.
struct Job {
    cache: Cache,
    workers: Arc<Workers>,
    sources: Sources,
    version: Arc<AtomicU32>,
    image: u32,
    key: Key,
}

impl Job {
    async fn found_or_made(self) -> Result<Obtained, Cause> {
        let (cache, key) = (&self.cache, self.key);
        let ticket = cache.ticket();
        let look_up = async {
            let hit = cache.get_from_store(&key, ticket).await?;
            Some(Found::Fresh(Obtained {
                entry: hit.entry,
                way: Way::Store,
            }))
        };
        let make = |_: Option<()>| self.make(ticket);
        let patience = cache.patience_for_store().unwrap_or_default();
        let most = match self.sources {
            Sources::Network => Duration::MAX,
            Sources::Files => self
                .workers
                .expected_cost(Work::of(self.image).source_bytes),
        };
        let busy = |_: &Cause| true;
        found_or_made(patience.min(most), look_up, make, busy).await
    }

    async fn make(&self, ticket: Ticket) -> Result<Obtained, Cause> {
        let began = Instant::now();
        // The source is read directly after this.
        let version = self.version.load(Ordering::Relaxed);
        let entry = Arc::new(images::result(self.image, version));
        self.workers.make(self.image).await?;
        self.cache.put(self.key, Arc::clone(&entry), ticket);
        self.cache
            .put_in_store(self.key, Arc::clone(&entry), ticket);
        Ok(Obtained {
            entry,
            way: Way::Making(began.elapsed()),
        })
    }
}
