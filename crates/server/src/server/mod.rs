//! Binding, accepting, and stopping without losing anybody.

mod connection;
mod io_threads;
mod open_files;
pub(crate) mod reload;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use andon_pixels::Codec;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use self::connection::{Guest, Manners};
use self::io_threads::Desks;
use self::reload::{Current, Order, Reloader, Service};
use crate::admission::Gauges;
use crate::config::{Config, ConfigError, Listen, SocketMode};
use crate::handler::App;
use crate::http::{Accepted, Address, Ceilings, Listener};
use crate::operations::metrics::Metrics;
use crate::request::route::Purpose;

/// A server that is bound and not running yet.
pub struct Server {
    codecs: &'static [&'static dyn Codec],
    current: Arc<Current>,
    bound: Vec<Bound>,
    desks: Arc<Desks>,
    reloader: Reloader,
    orders: mpsc::Receiver<Order>,
}

/// A listener, and what of the configuration it stands for.
struct Bound {
    listen: Listen,
    purpose: Purpose,
    listener: Listener,
    address: Address,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address.
    #[error(transparent)]
    Bind(#[from] io::Error),
}

/// The runtime a server is made for: one thread that accepts and keeps house, a few that may wait for disks.
/// Connections live at `Desks` of their own, and pixel threads are the server's own too.
///
/// # Errors
/// When the system gives no threads.
pub fn runtime(config: &Config) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(waiters(config))
        .thread_name("andon-io")
        .enable_all()
        .build()
}

/// Threads that may wait for disks and name servers. Each kind of work has slots of its own, so that only as
/// many are started as there are slots; a reload may add some, and cannot change this.
fn waiters(config: &Config) -> usize {
    MOST_WAITERS.max(2 * config.limits.fetches + OTHER_WAITERS)
}

/// Enough for more slots than any disk is faster with.
const MOST_WAITERS: usize = 512;

/// Name look-ups and the cache's disk.
const OTHER_WAITERS: usize = 64;

impl Server {
    /// Opens the origins, starts the pixel threads and binds every address; needs a tokio runtime.
    ///
    /// # Errors
    /// Naming what cannot be opened or bound.
    pub async fn bind(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
    ) -> Result<Self, StartError> {
        open_files::allow_all();
        let metrics = Arc::default();
        let (reloader, orders) = Reloader::new(Arc::clone(&metrics));
        let service = service(config, codecs, metrics, None)?;
        // What a former process kept is found by the very first request; a disk in trouble is not waited for.
        let kept = service.app.maker.results.cache.ready();
        let _ = tokio::time::timeout(MOST_WARMING_UP, kept).await;
        let mut bound = Vec::new();
        for (listen, purpose) in places(config) {
            bound.push(Bound::new(listen, purpose, config.socket_mode).await?);
        }
        Ok(Self {
            codecs,
            current: Arc::new(Current::new(service)),
            bound,
            desks: Arc::new(Desks::open(waiters(config))?),
            reloader,
            orders,
        })
    }

    /// Where it listens, ports known: first where pictures are, then where figures are.
    #[must_use]
    pub fn addresses(&self) -> Vec<Address> {
        let address = |bound: &Bound| bound.address.clone();
        self.bound.iter().map(address).collect()
    }

    /// Hands this server another configuration while it runs.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// What waits for pixels, what was refused, what memory is planned with.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        self.current.app().maker.admission.gauges()
    }

    /// Serves until `stop` is ready, then answers what was accepted, within the shutdown timeout.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut orders = self.orders;
        let mut street = Street {
            codecs: self.codecs,
            current: self.current,
            doors: JoinSet::new(),
            desks: self.desks,
            signs: Vec::new(),
        };
        for bound in self.bound {
            street.open(bound);
        }
        let mut stop = pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(order) = orders.recv() => {
                    let outcome = street.rebuild(&order.config).await;
                    // Whoever ordered it may have left.
                    let _ = order.outcome.send(outcome);
                }
                // A door that was closed by a reload, its last guest gone.
                Some(_) = street.doors.join_next(), if !street.doors.is_empty() => {}
            }
        }
        street.close().await;
    }
}

/// All doors of a running server.
struct Street {
    codecs: &'static [&'static dyn Codec],
    current: Arc<Current>,
    doors: JoinSet<()>,
    desks: Arc<Desks>,
    /// What closes each door.
    signs: Vec<(Listen, Purpose, watch::Sender<bool>)>,
}

impl Street {
    fn open(&mut self, bound: Bound) {
        let (stopping, is_stopping) = watch::channel(false);
        self.signs.push((bound.listen, bound.purpose, stopping));
        let door = Door {
            listener: bound.listener,
            purpose: bound.purpose,
            current: self.current.clone(),
            desks: self.desks.clone(),
            stopping: is_stopping,
        };
        self.doors.spawn(door.keep_open());
    }

    /// Everything that can fail comes first, so that a refused configuration changes nothing.
    async fn rebuild(&mut self, config: &Config) -> Result<(), StartError> {
        let before = self.current.app();
        let service = service(config, self.codecs, before.metrics.clone(), Some(&before))?;
        drop(before);
        let mut wanted = places(config);
        let stays = |sign: &(Listen, Purpose, watch::Sender<bool>)| {
            wanted.contains(&(sign.0.clone(), sign.1))
        };
        let (staying, leaving): (Vec<_>, Vec<_>) = self.signs.drain(..).partition(stays);
        wanted.retain(|(listen, purpose)| {
            !staying
                .iter()
                .any(|sign| (&sign.0, &sign.1) == (listen, purpose))
        });
        self.signs = staying;
        let new = match bind_all(wanted, config.socket_mode).await {
            Ok(new) => service.app.resize(config).map(|()| new).map_err(Into::into),
            Err(error) => Err(StartError::Bind(error)),
        };
        let new = match new {
            Ok(new) => new,
            Err(error) => {
                self.signs.extend(leaving);
                return Err(error);
            }
        };
        // Its last request takes the old one with it.
        drop(self.current.replace(service));
        for (_, _, sign) in leaving {
            // Fails when the door is closed already.
            let _ = sign.send(true);
        }
        for bound in new {
            self.open(bound);
        }
        Ok(())
    }

    async fn close(mut self) {
        for (_, _, sign) in &self.signs {
            // Fails when the door is closed already.
            let _ = sign.send(true);
        }
        let patience = self.current.service().manners.timeouts.shutdown.0;
        let closing = async { while self.doors.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(patience, closing).await;
        // Whatever is still open had its time.
        self.doors.shutdown().await;
        let app = Arc::into_inner(self.current).map(|current| current.into_service().app);
        if let Some(app) = app.and_then(Arc::into_inner) {
            app.finish().await;
        }
    }
}

impl Bound {
    async fn new(listen: Listen, purpose: Purpose, mode: SocketMode) -> io::Result<Self> {
        let listener = Listener::bind(&listen, mode).await?;
        Ok(Self {
            address: listener.address()?,
            listen,
            purpose,
            listener,
        })
    }
}

async fn bind_all(places: Vec<(Listen, Purpose)>, mode: SocketMode) -> io::Result<Vec<Bound>> {
    let mut all = Vec::new();
    for (listen, purpose) in places {
        all.push(Bound::new(listen, purpose, mode).await?);
    }
    Ok(all)
}

/// Every address of a configuration and what is there.
fn places(config: &Config) -> Vec<(Listen, Purpose)> {
    let pictures = config.listen.iter().map(|listen| (listen, Purpose::Images));
    let metrics = config
        .metrics
        .listen
        .iter()
        .map(|listen| (listen, Purpose::Metrics));
    pictures
        .chain(metrics)
        .map(|(listen, purpose)| (listen.clone(), purpose))
        .collect()
}

fn service(
    config: &Config,
    codecs: &'static [&'static dyn Codec],
    metrics: Arc<Metrics>,
    before: Option<&App>,
) -> Result<Service, ConfigError> {
    Ok(Service {
        app: Arc::new(App::new(config, codecs, metrics, before)?),
        manners: Manners {
            timeouts: config.timeouts,
            ceilings: Ceilings {
                connections: open_files::connections(config),
                per_client: config.limits.connections_per_client,
            },
        },
    })
}

/// One listener and the connections that came through it.
struct Door {
    listener: Listener,
    purpose: Purpose,
    current: Arc<Current>,
    desks: Arc<Desks>,
    stopping: watch::Receiver<bool>,
}

impl Door {
    /// Accepts until the server stops; ends when the last of its connections has.
    async fn keep_open(self) {
        let mut open = JoinSet::new();
        let mut stopping = self.stopping.clone();
        loop {
            let greeting = tokio::select! {
                accepted = accept(&self.listener) => self.greet(&mut open, accepted),
                _ = stopping.wait_for(|stopping| *stopping) => break,
                Some(_) = open.join_next(), if !open.is_empty() => continue,
            };
            if greeting == Greeting::Crowded {
                // Those who stand are heard before the next one takes their place.
                tokio::task::yield_now().await;
            }
        }
        // Those who knocked before the stop are let in before the door closes; not all who knock now,
        // or a crowd would keep it open for ever.
        for _ in 0..MOST_LAST_GUESTS {
            match tokio::time::timeout(LAST_LISTEN, accept(&self.listener)).await {
                Ok(accepted) => self.greet(&mut open, accepted),
                Err(_) => break,
            };
        }
        drop(self.listener);
        while open.join_next().await.is_some() {}
    }

    /// Finds the guest a place and serves it there.
    fn greet(&self, open: &mut JoinSet<()>, accepted: Accepted) -> Greeting {
        let Service { app, manners } = self.current.service();
        let entered = self.current.crowd.enter(accepted.peer(), &manners.ceilings);
        if entered.made_room {
            app.metrics.made_room();
        }
        let Some(ticket) = entered.ticket else {
            app.metrics.found_no_room();
            return Greeting::Crowded;
        };
        let greeting = match ticket.is_seat() {
            true => Greeting::Seated,
            false => Greeting::Crowded,
        };
        let connected = app.metrics.connected();
        let guest = Guest {
            peer: accepted.peer(),
            purpose: self.purpose,
            current: self.current.clone(),
            ticket,
        };
        let stopping = self.stopping.clone();
        let Ok(moving) = accepted.leave() else {
            return greeting;
        };
        let desk = self.desks.next();
        open.spawn_on(
            async move {
                // Fails only when the desk has no descriptors left; the client sees a closed connection.
                if let Ok(accepted) = moving.settle() {
                    match accepted {
                        Accepted::Tcp(stream, _) => {
                            connection::serve(stream, guest, manners, stopping).await
                        }
                        Accepted::Unix(stream) => {
                            connection::serve(stream, guest, manners, stopping).await
                        }
                    }
                }
                drop(connected);
            },
            desk,
        );
        greeting
    }
}

/// What became of somebody at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Greeting {
    Seated,
    Crowded,
}

/// The next connection.
async fn accept(listener: &Listener) -> Accepted {
    let mut failed = false;
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // The client left while it waited, or there are no descriptors left: both pass.
            Err(error) => {
                if !std::mem::replace(&mut failed, true) {
                    let address = listener.address().map(|address| address.to_string());
                    let address = address.unwrap_or_default();
                    tracing::warn!(%address, %error, "cannot accept a connection; trying again");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// As many as a usual backlog holds.
const MOST_LAST_GUESTS: usize = 4096;

/// A hundred thousand entries are counted in less.
const MOST_WARMING_UP: Duration = Duration::from_millis(500);

/// Long enough for the system to tell of those who wait.
const LAST_LISTEN: Duration = Duration::from_millis(5);

const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
