//! Another configuration for a running server, without losing a request.
//!
//! Each request is answered by the [`App`] that is current when its head is complete, to its end; the
//! next one on the same connection finds the new one. Listeners whose address stays are not touched.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::StartError;
use super::connection::Manners;
use crate::config::{Config, ConfigError};
use crate::handler::App;
use crate::http::Crowd;
use crate::operations::metrics::Metrics;

/// Hands a running server another configuration.
#[derive(Clone, Debug)]
pub struct Reloader {
    orders: mpsc::Sender<Order>,
    metrics: Arc<Metrics>,
}

/// One reload, and where its outcome goes.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) config: Config,
    pub(crate) outcome: oneshot::Sender<Result<(), StartError>>,
}

impl Reloader {
    pub(crate) fn new(metrics: Arc<Metrics>) -> (Self, mpsc::Receiver<Order>) {
        let (orders, waiting) = mpsc::channel(1);
        (Self { orders, metrics }, waiting)
    }

    /// Takes a configuration into service, if it can be read and all it names can be opened and bound.
    /// Worker threads, memory and slots for files are those that there are, in another number or size. The
    /// permissions of Unix sockets that stay, stay as well until a restart.
    ///
    /// # Errors
    /// What is wrong with it; then everything stays as it was.
    pub async fn reload(&self, config: Result<Config, ConfigError>) -> Result<(), StartError> {
        let outcome = self.order(config).await;
        self.metrics.reloaded(outcome.is_ok());
        outcome
    }

    async fn order(&self, config: Result<Config, ConfigError>) -> Result<(), StartError> {
        let stopping = || ConfigError::new("the server is stopping");
        let (outcome, answer) = oneshot::channel();
        let order = Order {
            config: config?,
            outcome,
        };
        self.orders.send(order).await.map_err(|_| stopping())?;
        answer.await.map_err(|_| stopping())?
    }
}

/// What new connections and new requests are served with.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) manners: Manners,
}

/// The service of this moment, and everybody who is connected, whichever service they met first.
pub(crate) struct Current {
    service: Mutex<Service>,
    pub(crate) crowd: Arc<Crowd>,
}

impl Current {
    pub(crate) fn new(service: Service) -> Self {
        Self {
            service: Mutex::new(service),
            crowd: Arc::default(),
        }
    }

    pub(crate) fn service(&self) -> Service {
        self.lock().clone()
    }

    pub(crate) fn app(&self) -> Arc<App> {
        self.lock().app.clone()
    }

    pub(crate) fn into_service(self) -> Service {
        self.service
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The service that was current until now.
    pub(crate) fn replace(&self, service: Service) -> Service {
        std::mem::replace(&mut self.lock(), service)
    }

    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Service> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
