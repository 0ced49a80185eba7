//! Binding, accepting, and stopping without losing anybody.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use andon_pixels::Codec;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::admission::Gauges;
use crate::app::App;
use crate::config::{Config, ConfigError};
use crate::http::{self, Accepted, Address, Listener, Manners};
use crate::open_files;

/// A server that is bound and not running yet.
pub struct Server {
    app: Arc<App>,
    listeners: Vec<Listener>,
    addresses: Vec<Address>,
    manners: Manners,
    connections: Arc<Semaphore>,
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

/// The runtime a server is made for: one thread for sockets, a few that may wait for disks. Pixel
/// threads are the server's own.
///
/// # Errors
/// When the system gives no threads.
pub fn runtime(config: &Config) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(config.limits.fetches + OTHER_WAITERS)
        .thread_name("andon-io")
        .enable_all()
        .build()
}

/// The log's writer, and two name look-ups.
const OTHER_WAITERS: usize = 3;

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
        let app = Arc::new(App::new(config, codecs)?);
        let mut listeners = Vec::new();
        for listen in &config.listen {
            listeners.push(Listener::bind(listen, config.socket_mode).await?);
        }
        let addresses = listeners
            .iter()
            .map(Listener::address)
            .collect::<io::Result<_>>()?;
        Ok(Self {
            app,
            listeners,
            addresses,
            manners: Manners {
                timeouts: config.timeouts,
            },
            connections: Arc::new(Semaphore::new(config.limits.connections)),
        })
    }

    /// Where it listens, ports known.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// What waits for pixels, what was refused, what memory is planned with.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        self.app.admission.gauges()
    }

    /// Serves until `stop` is ready, then answers what was accepted, within the shutdown timeout.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self {
            app,
            listeners,
            manners,
            connections,
            ..
        } = self;
        let (stopping, is_stopping) = watch::channel(false);
        let mut doors = JoinSet::new();
        for listener in listeners {
            let door = Door {
                listener,
                app: app.clone(),
                manners,
                connections: connections.clone(),
                stopping: is_stopping.clone(),
            };
            doors.spawn(door.keep_open());
        }
        stop.await;
        // Nobody waits for it only when every door is closed already.
        let _ = stopping.send(true);
        let closing = async { while doors.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(manners.timeouts.shutdown.0, closing).await;
        // Whatever is still open had its time.
        doors.shutdown().await;
        if let Some(app) = Arc::into_inner(app) {
            app.log.finish().await;
        }
    }
}

/// One listener and the connections that came through it.
struct Door {
    listener: Listener,
    app: Arc<App>,
    manners: Manners,
    connections: Arc<Semaphore>,
    stopping: watch::Receiver<bool>,
}

impl Door {
    /// Accepts until the server stops; ends when the last of its connections has.
    async fn keep_open(self) {
        let mut open = JoinSet::new();
        let mut stopping = self.stopping.clone();
        loop {
            tokio::select! {
                accepted = accept(&self.listener, &self.connections) => {
                    self.greet(&mut open, accepted);
                }
                _ = stopping.wait_for(|stopping| *stopping) => break,
                Some(_) = open.join_next(), if !open.is_empty() => {}
            }
        }
        // Those who knocked before the stop are let in before the door closes; not all who knock now,
        // or a crowd would keep it open for ever.
        for _ in 0..MOST_LAST_GUESTS {
            let knocked = accept(&self.listener, &self.connections);
            match tokio::time::timeout(LAST_LISTEN, knocked).await {
                Ok(accepted) => self.greet(&mut open, accepted),
                Err(_) => break,
            }
        }
        drop(self.listener);
        while open.join_next().await.is_some() {}
    }

    fn greet(&self, open: &mut JoinSet<()>, (accepted, permit): (Accepted, OwnedSemaphorePermit)) {
        let (app, manners, stopping) = (self.app.clone(), self.manners, self.stopping.clone());
        open.spawn(async move {
            match accepted {
                Accepted::Tcp(stream) => http::serve(stream, app, manners, stopping).await,
                Accepted::Unix(stream) => http::serve(stream, app, manners, stopping).await,
            }
            drop(permit);
        });
    }
}

/// The next connection, once there may be one more.
async fn accept(
    listener: &Listener,
    connections: &Arc<Semaphore>,
) -> (Accepted, OwnedSemaphorePermit) {
    loop {
        let Ok(permit) = connections.clone().acquire_owned().await else {
            // The semaphore is never closed.
            return std::future::pending().await;
        };
        match listener.accept().await {
            Ok(accepted) => return (accepted, permit),
            // The client left while it waited, or there are no file descriptors left: both pass.
            Err(_) => {
                drop(permit);
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// As many as a usual backlog holds.
const MOST_LAST_GUESTS: usize = 4096;

/// Long enough for the system to tell of those who wait.
const LAST_LISTEN: Duration = Duration::from_millis(5);

const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
