//! The parts of a running server and how they are wired.

use std::sync::Arc;
use std::time::Duration;

use andon_pixels::{Codec, Engine};

use crate::access_log::AccessLog;
use crate::admission::{Admission, Shares};
use crate::config::{Bytes, Config, ConfigError, LimitsConfig, Reach};
use crate::fetch::Fetcher;
use crate::handler::upload::Uploads;
use crate::metrics::Metrics;
use crate::resolver::Resolver;

/// Everything an answer needs.
pub(crate) struct App {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) engine: Engine,
    pub(crate) codecs: &'static [&'static dyn Codec],
    pub(crate) fetcher: Fetcher,
    pub(crate) admission: Admission,
    pub(crate) log: AccessLog,
    pub(crate) uploads: Uploads,
    /// Outlives reloads.
    pub(crate) metrics: Arc<Metrics>,
    /// Who may read them where pictures are served.
    pub(crate) metrics_allow: Reach,
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
        metrics: Arc<Metrics>,
    ) -> Result<Self, ConfigError> {
        let shares = Shares::new(config.memory_budget.0, config.limits.held_bytes.0);
        Ok(Self {
            resolver: Arc::new(Resolver::new(config)?),
            engine: Engine::new(codecs, config.limits.pixels()),
            codecs,
            fetcher: Fetcher::new(&LimitsConfig {
                held_bytes: Bytes(shares.sources),
                ..config.limits
            }),
            admission: Admission::start(config, shares).map_err(|error| {
                ConfigError::new(format!(
                    "cannot start {} pixel threads: {error}",
                    config.workers()
                ))
            })?,
            log: AccessLog::start(config.log.format, metrics.clone()),
            uploads: Uploads::new(config)?,
            metrics,
            metrics_allow: config.metrics.allow,
            patience: config.timeouts.request.0,
            plan_header: config.debug.plan_header,
        })
    }
}
