//! The application and the limits of connections that are in effect now. A reload replaces them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use andon_pixels::Codec;

use super::open_files;
use crate::config::{Config, ConfigError, Timeouts};
use crate::handler::App;
use crate::http::{Ceilings, Connections};
use crate::operations::metrics::Metrics;

/// Timeouts and limits of connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionConfig {
    pub(crate) timeouts: Timeouts,
    pub(crate) ceilings: Ceilings,
}

/// The application and the limits of connections that were made from one configuration.
#[derive(Clone)]
pub(crate) struct Generation {
    pub(crate) app: Arc<App>,
    pub(crate) connection_config: ConnectionConfig,
}

impl Generation {
    /// Opens and compiles what a configuration names. `before` is the application that it replaces in a reload.
    ///
    /// # Errors
    /// An error that names what cannot be opened or compiled.
    pub(crate) fn of(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
        metrics: Arc<Metrics>,
        before: Option<&App>,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
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
}

/// The current generation, and all open connections, whichever generation they began with.
pub(crate) struct Current {
    generation: Mutex<Generation>,
    /// All open connections.
    pub(crate) connections: Arc<Connections>,
}

impl Current {
    /// Creates the state of a server with this generation and no connections.
    pub(crate) fn new(generation: Generation) -> Self {
        Self {
            generation: Mutex::new(generation),
            connections: Arc::default(),
        }
    }

    /// Returns the current generation.
    pub(crate) fn generation(&self) -> Generation {
        self.lock().clone()
    }

    /// Returns the application of the current generation.
    pub(crate) fn app(&self) -> Arc<App> {
        self.lock().app.clone()
    }

    /// Consumes the state and returns the current generation.
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
