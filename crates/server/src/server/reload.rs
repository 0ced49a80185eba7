//! Changes the configuration of a running server without losing a request.
//!
//! Each request is answered to its end by the [`App`] that is current when its head is complete; the next request on
//! the same connection is answered by the new one. Listeners whose address stays are not touched.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::StartError;
use super::connection::ConnectionConfig;
use crate::config::{Config, ConfigError};
use crate::handler::App;
use crate::http::Connections;
use crate::operations::metrics::Metrics;

/// Hands a running server another configuration.
#[derive(Clone, Debug)]
pub struct Reloader {
    requests: mpsc::Sender<ReloadRequest>,
    metrics: Arc<Metrics>,
}

/// A request to reload, and the channel for its outcome.
#[derive(Debug)]
pub(crate) struct ReloadRequest {
    pub(crate) config: Config,
    pub(crate) outcome: oneshot::Sender<Result<(), StartError>>,
}

impl Reloader {
    pub(crate) fn new(metrics: Arc<Metrics>) -> (Self, mpsc::Receiver<ReloadRequest>) {
        let (requests, waiting) = mpsc::channel(1);
        (Self { requests, metrics }, waiting)
    }

    /// Puts a configuration into effect, if it can be read and everything it names can be opened and bound. Worker
    /// threads, memory and slots for files stay, but their number or size may change. Unix sockets that stay keep their
    /// permissions until a restart.
    ///
    /// # Errors
    /// What is wrong with the configuration; everything then stays as it was.
    pub async fn reload(&self, config: Result<Config, ConfigError>) -> Result<(), StartError> {
        let outcome = self.request(config).await;
        self.metrics.reloaded(outcome.is_ok());
        outcome
    }

    async fn request(&self, config: Result<Config, ConfigError>) -> Result<(), StartError> {
        let stopping = || ConfigError::new("", "the server is stopping");
        let (outcome, answer) = oneshot::channel();
        let request = ReloadRequest {
            config: config?,
            outcome,
        };
        self.requests.send(request).await.map_err(|_| stopping())?;
        answer.await.map_err(|_| stopping())?
    }
}

/// What new connections and new requests are served with, as made from one configuration.
#[derive(Clone)]
pub(crate) struct Generation {
    pub(crate) app: Arc<App>,
    pub(crate) connection_config: ConnectionConfig,
}

/// The current generation, and all open connections, whichever generation they began with.
pub(crate) struct Current {
    generation: Mutex<Generation>,
    pub(crate) connections: Arc<Connections>,
}

impl Current {
    pub(crate) fn new(generation: Generation) -> Self {
        Self {
            generation: Mutex::new(generation),
            connections: Arc::default(),
        }
    }

    pub(crate) fn generation(&self) -> Generation {
        self.lock().clone()
    }

    pub(crate) fn app(&self) -> Arc<App> {
        self.lock().app.clone()
    }

    pub(crate) fn into_generation(self) -> Generation {
        self.generation
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the current generation and returns the former one.
    pub(crate) fn replace(&self, generation: Generation) -> Generation {
        std::mem::replace(&mut self.lock(), generation)
    }

    /// Locks the current generation. No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Generation> {
        self.generation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
