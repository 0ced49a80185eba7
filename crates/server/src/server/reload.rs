//! Changes the configuration of a running server without losing a request.
//!
//! Each request is answered to its end by the [`App`](crate::handler::App) that is current when its head is complete. The
//! next request on the same connection is answered by the new one. Listeners whose address stays are not touched.

use std::io;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::config::{Config, ConfigError};
use crate::operations::metrics::Metrics;

/// Why a server does not start, or does not accept another configuration.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration is not valid, or what it names cannot be opened.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address cannot be bound, or threads cannot be started.
    #[error(transparent)]
    Bind(#[from] io::Error),
}

/// A handle that gives a running server another configuration.
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
        let (requests, receiver) = mpsc::channel(1);
        (Self { requests, metrics }, receiver)
    }

    /// Puts a configuration into effect, if it can be read and everything it names can be opened and bound. Worker
    /// threads, memory limits and slots for reading files are kept, and resized if necessary. Unix sockets that stay
    /// keep their permissions until a restart.
    ///
    /// # Errors
    /// If the configuration is invalid, or cannot be put into effect. Everything then stays as it was.
    pub async fn reload(&self, config: Result<Config, ConfigError>) -> Result<(), StartError> {
        let outcome = self.request(config).await;
        self.metrics.count_reload(outcome.is_ok());
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
