//! The life of a server: binding addresses, accepting connections, reloading the configuration, and stopping without
//! losing a request.

mod acceptor;
mod connection;
mod current;
mod io_threads;
mod listeners;
mod open_files;
mod place;
mod pulse;
pub(crate) mod reload;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use andon_pixels::Codec;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use self::current::{Current, Generation};
use self::io_threads::IoThreads;
use self::listeners::Listeners;
use self::place::{Bound, bind_all, places};
use self::reload::{ReloadRequest, Reloader, StartError};
use crate::admission::{Gauges, resources};
use crate::config::Config;
use crate::config::{Environment, otlp_warnings};
use crate::http::{Address, Inherited};
use crate::operations::history;

pub use self::pulse::{Beat, Pulse};

/// A server that is bound and not running yet.
pub struct Server {
    codecs: &'static [&'static dyn Codec],
    current: Arc<Current>,
    inherited: Inherited,
    bound: Vec<Bound>,
    io_threads: Arc<IoThreads>,
    reloader: Reloader,
    requests: mpsc::Receiver<ReloadRequest>,
}

/// Creates the runtime for a server: one thread for work that belongs to no connection, and threads that wait for
/// disks, which are started when needed. The threads that serve connections (`IoThreads`) and the worker threads that
/// make images are not part of this runtime.
///
/// # Errors
/// If the system cannot start the threads.
pub fn runtime(config: &Config) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(waiters(config))
        .thread_name("andon-io")
        .enable_all()
        .build()
}

/// Returns how many threads may wait for disks and name servers. Each kind of work has slots of its own, so that only
/// as many threads are started as there are slots. A reload may add slots, but cannot change this number.
fn waiters(config: &Config) -> usize {
    MOST_WAITERS.max(2 * config.limits.fetches + OTHER_WAITERS)
}

/// Lower bound for the maximum number of threads that may wait for disks and name servers: more than any disk can make
/// use of.
const MOST_WAITERS: usize = 512;

/// Number of threads that may wait for name look-ups and the cache's disk.
const OTHER_WAITERS: usize = 64;

impl Server {
    /// Opens the origins, starts the worker threads and binds every address that is not among the `inherited` sockets;
    /// needs a tokio runtime.
    ///
    /// # Errors
    /// An error that names what cannot be opened or bound, or an inherited socket that the configuration does not name.
    pub async fn bind(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
        inherited: Inherited,
    ) -> Result<Self, StartError> {
        open_files::allow_all();
        let places = places(config);
        inherited
            .check(places.iter().map(|place| &place.listen))
            .await?;
        let metrics = Arc::default();
        let (reloader, requests) = Reloader::new(Arc::clone(&metrics));
        let generation = Generation::of(config, codecs, metrics, None)?;
        // Give the cache on disk a moment, so that even the first request finds the results of earlier runs. A disk that
        // takes longer does not delay the start.
        let readiness = generation.app.readiness.clone();
        let maker = generation.app.maker.clone();
        let warming_up = tokio::spawn(async move {
            let ready = maker.results.ready();
            // If the disk hangs, the server is ready without it.
            let _ = tokio::time::timeout(MOST_STARTING, ready).await;
            readiness.start();
        });
        let _ = tokio::time::timeout(MOST_WARMING_UP, warming_up).await;
        let io_threads = IoThreads::open(waiters(config))?;
        let split = io_threads.count();
        let bound = bind_all(places, config.socket_mode, &inherited, split).await?;
        generation.app.begin_exporting();
        for warning in otlp_warnings(config, &Environment::of_process()) {
            tracing::warn!("{warning}");
        }
        resources::report(config);
        Ok(Self {
            codecs,
            current: Arc::new(Current::new(generation)),
            inherited,
            bound,
            io_threads: Arc::new(io_threads),
            reloader,
            requests,
        })
    }

    /// Returns the addresses that the server listens on, with their actual ports: first those that serve images, then
    /// the one that serves metrics.
    #[must_use]
    pub fn addresses(&self) -> Vec<Address> {
        let address = |bound: &Bound| bound.address.clone();
        self.bound.iter().map(address).collect()
    }

    /// Returns a handle that gives this server another configuration while it runs.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// Returns the current load: the work that waits for worker threads, the rejected requests, and the reserved memory.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        self.current.app().maker.admission.gauges()
    }

    /// Returns a handle that tells whether the server's threads still take up new work.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        let app = self.current.app();
        Pulse {
            io_threads: Arc::downgrade(&self.io_threads),
            admission: Arc::downgrade(&app.maker.admission),
            headers: app.maker.headers.clone(),
        }
    }

    /// Serves until `stop` is ready, then goes on accepting for the grace period, and finally finishes the accepted
    /// requests, within the shutdown timeout.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut requests = self.requests;
        let mut listeners = Listeners {
            codecs: self.codecs,
            current: self.current,
            inherited: self.inherited,
            acceptors: JoinSet::new(),
            io_threads: self.io_threads,
            closers: Vec::new(),
        };
        // The first step of the history begins before the first request.
        let mut steps = tokio::time::interval(history::STEP);
        steps.set_missed_tick_behavior(MissedTickBehavior::Delay);
        steps.tick().await;
        listeners.current.app().remember();
        for bound in self.bound {
            listeners.open(bound);
        }
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(request) = requests.recv() => {
                    let outcome = listeners.rebuild(&request.config).await;
                    // Sending fails if the caller of `reload` no longer waits.
                    let _ = request.outcome.send(outcome);
                }
                _ = steps.tick() => listeners.current.app().remember(),
                // An acceptor has ended: a reload stopped it, and its last connection is closed.
                Some(_) = listeners.acceptors.join_next(), if !listeners.acceptors.is_empty() => {}
            }
        }
        // From now on, a call of `reload` fails because the server is stopping.
        drop(requests);
        listeners.close().await;
    }
}

/// Time after which `/readyz` reports that the server has started, even if the cache on disk is not ready.
const MOST_STARTING: Duration = Duration::from_secs(30);

/// How long the start waits for the cache on disk. A hundred thousand entries are read in less.
const MOST_WARMING_UP: Duration = Duration::from_millis(500);
