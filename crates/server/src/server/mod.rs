//! Binding, accepting, reloading, and stopping without losing a request.

mod connection;
mod io_threads;
mod open_files;
pub(crate) mod reload;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use andon_pixels::Codec;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use self::connection::{ConnectionConfig, Responder};
use self::io_threads::IoThreads;
use self::reload::{Current, Generation, ReloadRequest, Reloader};
use crate::admission::{Admission, Gauges, resources};
use crate::config::{Config, ConfigError, Listen, SocketMode};
use crate::error::Stuck;
use crate::handler::App;
use crate::http::{Accepted, Accepting, Address, Arrival, Ceilings, Inherited, Listener};
use crate::net::Peer;
use crate::operations::metrics::Metrics;
use crate::request::route::Purpose;
use crate::sources::headers::HeaderReaders;

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

/// An address to listen on, and what it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    listen: Listen,
    purpose: Purpose,
    is_tls: bool,
    /// Whether each connection begins with a header of the PROXY protocol.
    is_proxied: bool,
}

/// A bound address: its listeners, and the part of the configuration that they serve.
struct Bound {
    place: Place,
    /// One listener per I/O thread, or a single one if the socket cannot be split.
    listeners: Vec<Listener>,
    /// Whether the socket belongs to another process too, and goes on collecting connections after this server has
    /// closed it.
    is_inherited: bool,
    address: Address,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration is not valid, or what it names cannot be opened.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address cannot be bound, or threads cannot be started.
    #[error(transparent)]
    Bind(#[from] io::Error),
}

/// Creates the runtime for a server: one thread for what belongs to no connection, and a few that may wait for disks.
/// Connections are accepted and served on `IoThreads`, and the pixel threads are the server's own, too.
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

/// Threads that may wait in any case: enough for more slots than any disk can benefit from.
const MOST_WAITERS: usize = 512;

/// Threads that may wait for name look-ups and the cache's disk.
const OTHER_WAITERS: usize = 64;

impl Server {
    /// Opens the origins, starts the pixel threads and binds every address that is not among the `inherited` sockets;
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
        let generation = generation(config, codecs, metrics, None)?;
        // What a former process kept is found by the very first request; a disk in trouble is not waited for.
        let readiness = generation.app.readiness.clone();
        let maker = generation.app.maker.clone();
        let warming_up = tokio::spawn(async move {
            let kept = maker.results.ready();
            // A disk that hangs is one to serve without.
            let _ = tokio::time::timeout(MOST_STARTING, kept).await;
            readiness.start();
        });
        let _ = tokio::time::timeout(MOST_WARMING_UP, warming_up).await;
        let io_threads = IoThreads::open(waiters(config))?;
        let split = io_threads.count();
        let bound = bind_all(places, config.socket_mode, &inherited, split).await?;
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

    /// Returns the current load: what waits for pixel threads, what was refused, and the memory that is planned with.
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

    /// Serves until `stop` is ready, then goes on accepting for the grace period, and finally answers what was
    /// accepted, within the shutdown timeout.
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
        for bound in self.bound {
            listeners.open(bound);
        }
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(request) = requests.recv() => {
                    let outcome = listeners.rebuild(&request.config).await;
                    // Whoever ordered it may have left.
                    let _ = request.outcome.send(outcome);
                }
                // An acceptor that was stopped by a reload, its last connection closed.
                Some(_) = listeners.acceptors.join_next(), if !listeners.acceptors.is_empty() => {}
            }
        }
        // Whoever orders a reload now is told that the server is stopping.
        drop(requests);
        listeners.close().await;
    }
}

/// Tells a watchdog whether the server's threads still take up new work. Remains valid after reloads.
#[derive(Clone, Debug)]
pub struct Pulse {
    io_threads: Weak<IoThreads>,
    admission: Weak<Admission>,
    headers: HeaderReaders,
}

/// The outcome of [`Pulse::beat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// All I/O threads take up new work, and so do some threads of every other kind.
    Alive,
    /// No new image can be made until threads return from their work, which may never happen.
    Stuck(Stuck),
    /// The server has ended.
    Ended,
}

impl Pulse {
    /// Waits until every I/O thread has taken up new work, for ever if one of them does not, and then checks whether
    /// worker threads and header readers return from their work.
    pub async fn beat(&self) -> Beat {
        let Some(io_threads) = self.io_threads.upgrade() else {
            return Beat::Ended;
        };
        if io_threads.beat().await.is_err() {
            return Beat::Ended;
        }
        let workers = self.admission.upgrade().and_then(|it| it.stuck());
        workers
            .or_else(|| self.headers.stuck())
            .or_else(Stuck::of_processes)
            .map_or(Beat::Alive, Beat::Stuck)
    }
}

/// The listeners of a running server.
struct Listeners {
    codecs: &'static [&'static dyn Codec],
    current: Arc<Current>,
    inherited: Inherited,
    acceptors: JoinSet<()>,
    io_threads: Arc<IoThreads>,
    /// The channel that stops the acceptors of each place.
    closers: Vec<(Place, watch::Sender<bool>)>,
}

impl Listeners {
    fn open(&mut self, bound: Bound) {
        let (stopping, is_stopping) = watch::channel(false);
        self.closers.push((bound.place.clone(), stopping));
        let is_split = bound.listeners.len() > 1;
        for (thread, listener) in bound.listeners.into_iter().enumerate() {
            let acceptor = Acceptor {
                thread,
                is_split,
                is_inherited: bound.is_inherited,
                place: bound.place.clone(),
                current: self.current.clone(),
                io_threads: self.io_threads.clone(),
                stopping: is_stopping.clone(),
            };
            let accepting = acceptor.accept_all(listener);
            self.acceptors
                .spawn_on(accepting, self.io_threads.handle(thread));
        }
    }

    /// Changes to another configuration. Everything that can fail comes first, so that a refused configuration changes
    /// nothing.
    async fn rebuild(&mut self, config: &Config) -> Result<(), StartError> {
        let before = self.current.app();
        let generation = generation(config, self.codecs, before.metrics.clone(), Some(&before))?;
        drop(before);
        let mut wanted = places(config);
        let (staying, leaving): (Vec<_>, Vec<_>) =
            (self.closers.drain(..)).partition(|(place, _)| wanted.contains(place));
        wanted.retain(|place| !staying.iter().any(|(stays, _)| stays == place));
        self.closers = staying;
        let new = match bind_all(
            wanted,
            config.socket_mode,
            &self.inherited,
            self.io_threads.count(),
        )
        .await
        {
            Ok(new) => generation
                .app
                .resize(config)
                .map(|()| new)
                .map_err(Into::into),
            Err(error) => Err(StartError::Bind(error)),
        };
        let new = match new {
            Ok(new) => new,
            Err(error) => {
                self.closers.extend(leaving);
                return Err(error);
            }
        };
        // Its last request takes the old one with it.
        drop(self.current.replace(generation));
        for (_, closer) in leaving {
            // Fails when the acceptor is closed already.
            let _ = closer.send(true);
        }
        for bound in new {
            self.open(bound);
        }
        Ok(())
    }

    async fn close(mut self) {
        let timeouts = self.current.generation().connection_config.timeouts;
        self.current.app().readiness.stop();
        tokio::time::sleep(timeouts.grace.0).await;
        for (_, closer) in &self.closers {
            // Fails when the acceptor is closed already.
            let _ = closer.send(true);
        }
        let closing = async { while self.acceptors.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(timeouts.shutdown.0, closing).await;
        // Whatever is still open had its time.
        self.acceptors.shutdown().await;
        let app = Arc::into_inner(self.current).map(|current| current.into_generation().app);
        if let Some(app) = app.and_then(Arc::into_inner) {
            app.finish().await;
        }
    }
}

impl Bound {
    async fn new(
        place: Place,
        mode: SocketMode,
        inherited: &Inherited,
        split: usize,
    ) -> io::Result<Self> {
        let passed = inherited.listener(&place.listen).await?;
        let is_inherited = passed.is_some();
        let listener = match passed {
            Some(listener) => listener,
            None => Listener::bind(&place.listen, mode).await?,
        };
        let address = match listener.address()? {
            Address::Tcp(address) if place.is_tls => Address::Tls(address),
            address => address,
        };
        let split = if is_inherited { 1 } else { split };
        let listeners = listener.split(split)?;
        Ok(Self {
            is_inherited,
            address,
            place,
            listeners,
        })
    }
}

async fn bind_all(
    places: Vec<Place>,
    mode: SocketMode,
    inherited: &Inherited,
    split: usize,
) -> io::Result<Vec<Bound>> {
    let mut all = Vec::new();
    for place in places {
        all.push(Bound::new(place, mode, inherited, split).await?);
    }
    Ok(all)
}

/// Returns every address of a configuration and what it serves.
fn places(config: &Config) -> Vec<Place> {
    let all = |all: &[Listen], purpose, is_tls| {
        let place = |listen: &Listen| Place {
            listen: listen.clone(),
            purpose,
            is_tls,
            is_proxied: config.proxy.protocol.contains(listen),
        };
        all.iter().map(place).collect::<Vec<_>>()
    };
    [
        all(&config.listen, Purpose::Images, false),
        all(&config.tls.listen, Purpose::Images, true),
        all(config.metrics.listen.as_slice(), Purpose::Metrics, false),
    ]
    .concat()
}

fn generation(
    config: &Config,
    codecs: &'static [&'static dyn Codec],
    metrics: Arc<Metrics>,
    before: Option<&App>,
) -> Result<Generation, ConfigError> {
    Ok(Generation {
        app: Arc::new(App::new(config, codecs, metrics, before)?),
        connection_config: ConnectionConfig {
            timeouts: config.timeouts,
            ceilings: Ceilings {
                connections: open_files::connections(config),
                per_client: config.limits.connections_per_client,
            },
        },
    })
}

/// Accepts the connections of one listener and has them served.
struct Acceptor {
    /// Number of the I/O thread that the acceptor runs on.
    thread: usize,
    /// Whether every I/O thread has an acceptor for this place.
    is_split: bool,
    is_inherited: bool,
    place: Place,
    current: Arc<Current>,
    io_threads: Arc<IoThreads>,
    stopping: watch::Receiver<bool>,
}

impl Acceptor {
    /// Accepts connections until the acceptor is stopped. Returns when the last of its connections has ended.
    async fn accept_all(self, listener: Listener) {
        let listener = match listener.attach() {
            Ok(listener) => listener,
            Err(error) => {
                let listen = &self.place.listen;
                tracing::error!(%listen, %error, "cannot wait for connections");
                return;
            }
        };
        let mut open = JoinSet::new();
        let mut stopping = self.stopping.clone();
        loop {
            let placement = tokio::select! {
                accepted = accept(&listener, &self.place.listen) => self.place(&mut open, accepted),
                _ = stopping.wait_for(|stopping| *stopping) => break,
                Some(_) = open.join_next(), if !open.is_empty() => continue,
            };
            match placement {
                Placement::Served => {}
                // A connection over the limit gets its response before the next one replaces it, and open connections are served
                // between new ones.
                Placement::OverLimit | Placement::Answered => tokio::task::yield_now().await,
            }
        }
        // Accept the connections already in the backlog before closing the listener, and no more than those:
        // new ones would keep it open for ever. An inherited socket keeps them for the next server.
        let last = if self.is_inherited {
            0
        } else {
            MOST_LAST_CONNECTIONS
        };
        for _ in 0..last {
            match tokio::time::timeout(LAST_LISTEN, accept(&listener, &self.place.listen)).await {
                Ok(accepted) => self.place(&mut open, accepted),
                Err(_) => break,
            };
        }
        drop(listener);
        while open.join_next().await.is_some() {}
    }

    /// Counts a connection and serves it on an I/O thread.
    fn place(&self, open: &mut JoinSet<()>, accepted: Accepted) -> Placement {
        let Generation {
            app,
            connection_config,
        } = self.current.generation();
        let peer = accepted.peer();
        let is_proxied = self.place.is_proxied;
        if is_proxied && !app.proxies.trusts(peer) {
            tracing::debug!(client = %peer, "not in proxy.trusted");
            app.metrics.rejected_connection();
            return Placement::OverLimit;
        }
        // The connections of a proxy are many clients'.
        let counts = match is_proxied || app.proxies.names_clients(peer) {
            true => Peer::Unix,
            false => peer,
        };
        let entered = (self.current.connections).enter(counts, &connection_config.ceilings);
        if entered.closed_idle {
            app.metrics.closed_idle();
        }
        let Some(slot) = entered.slot else {
            app.metrics.rejected_connection();
            return Placement::OverLimit;
        };
        let placement = match slot.is_within_limits() {
            true => Placement::Served,
            false => Placement::OverLimit,
        };
        let connected = app.metrics.connected();
        let current = self.current.clone();
        let responder = Responder::new(peer, self.place.purpose, current, slot);
        let tls = match (self.place.is_tls, &app.tls) {
            (false, _) => None,
            (true, Some(tls)) => Some(tls.clone()),
            // A reload is about to close this address.
            (true, None) => return placement,
        };
        let mut arrival = Arrival::default();
        let is_plain = tls.is_none() && !is_proxied;
        // The one thread that accepts all connections would have all the work of such requests.
        let is_shared_out = self.is_split || self.io_threads.count() == 1;
        if let (Accepted::Tcp(stream, _), true) = (&accepted, is_plain && is_shared_out) {
            match Arrival::of(stream, &responder) {
                Some(more) => arrival = more,
                None => {
                    io_threads::answered_on_arrival();
                    return Placement::Answered;
                }
            }
        }
        let stopping = self.stopping.clone();
        let seat = self.io_threads.seat(self.thread, self.is_split);
        let taken = seat.taken;
        open.spawn_on(
            async move {
                // Giving it to the reactor fails only when that has no descriptors left; the client sees a closed connection.
                match accepted {
                    Accepted::Tcp(stream, _) if is_plain => {
                        if let Ok(stream) = TcpStream::from_std(stream) {
                            connection::serve(
                                stream,
                                arrival,
                                responder,
                                connection_config,
                                stopping,
                            )
                            .await;
                        }
                    }
                    accepted => {
                        if let Ok(stream) = accepted.try_into() {
                            // In a box, so that it adds nothing to what the others take.
                            Box::pin(connection::serve_other(
                                stream,
                                is_proxied,
                                tls,
                                responder,
                                connection_config,
                                stopping,
                            ))
                            .await;
                        }
                    }
                }
                drop((connected, taken));
            },
            seat.handle,
        );
        placement
    }
}

/// What became of a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    Served,
    /// The connection's only request was answered at once.
    Answered,
    OverLimit,
}

/// Accepts the next connection, and tries again after errors.
async fn accept(listener: &Accepting, listen: &Listen) -> Accepted {
    let mut failed = false;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client left while it waited, or there are no descriptors left: both pass.
            Err(error) => {
                if !std::mem::replace(&mut failed, true) {
                    tracing::warn!(address = %listen, %error, "cannot accept a connection; trying again");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Maximum number of connections that are still accepted when a listener closes: as many as a usual backlog holds.
const MOST_LAST_CONNECTIONS: usize = 4096;

/// After this time `/readyz` says that the server has started, whatever its disk does.
const MOST_STARTING: Duration = Duration::from_secs(30);

/// How long the start waits for the cache on disk: a hundred thousand entries are counted in less.
const MOST_WARMING_UP: Duration = Duration::from_millis(500);

/// How long a closing listener waits for each further connection: long enough for the system to report those that are
/// waiting.
const LAST_LISTEN: Duration = Duration::from_millis(5);

const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
