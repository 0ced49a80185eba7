//! The parts of a running server and how they are wired.

use std::sync::Arc;
use std::time::Duration;

use andon_pixels::{Codec, Engine};

use crate::access_log::AccessLog;
use crate::config::{Config, ConfigError};
use crate::fetch::Fetcher;
use crate::resolver::Resolver;
use crate::workers::Workers;

/// Everything an answer needs.
pub(crate) struct App {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) engine: Engine,
    pub(crate) codecs: &'static [&'static dyn Codec],
    pub(crate) fetcher: Fetcher,
    pub(crate) workers: Workers,
    pub(crate) log: AccessLog,
    /// For one answer, waiting included.
    pub(crate) patience: Duration,
    /// Send plans in a header?
    pub(crate) plan_header: bool,
}

impl App {
    /// Opens folders and starts the pixel threads and the log; needs a tokio runtime.
    pub(crate) fn new(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
    ) -> Result<Self, ConfigError> {
        let workers = config.workers();
        Ok(Self {
            resolver: Arc::new(Resolver::new(config)?),
            engine: Engine::new(codecs, config.limits.pixels()),
            codecs,
            fetcher: Fetcher::new(&config.limits),
            workers: Workers::start(workers, config.queue).map_err(|error| {
                ConfigError::new(format!("cannot start {workers} pixel threads: {error}"))
            })?,
            log: AccessLog::start(config.log.format),
            patience: config.timeouts.request.0,
            plan_header: config.debug.plan_header,
        })
    }
}
