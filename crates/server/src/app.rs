//! The parts of a running server and how they are wired.

use std::sync::Arc;
use std::time::Duration;

use andon_pixels::{Codec, Engine};

use crate::access_log::AccessLog;
use crate::admission::{Admission, Shares};
use crate::caching::{Names, Results};
use crate::config::{Bytes, Config, ConfigError, LimitsConfig, Reach};
use crate::cors::Cors;
use crate::fetch::Fetcher;
use crate::handler::known::Targets;
use crate::handler::making::Maker;
use crate::handler::upload::Uploads;
use crate::metrics::Metrics;
use crate::negotiation::Negotiation;
use crate::purge::Token;
use crate::resolver::Resolver;
use crate::shelf::Shelf;

/// Everything that a configuration names and that may be missing or wrong although its text is sound:
/// folders, keys, certificates, tokens. A server starts with it, and `config check` goes no other way.
struct Opened {
    resolver: Resolver,
    uploads: Uploads,
    token: Option<Token>,
}

impl Opened {
    fn of(config: &Config, codecs: &'static [&'static dyn Codec]) -> Result<Self, ConfigError> {
        config.validate()?;
        for listen in config.listen.iter().chain(&config.metrics.listen) {
            listen.check()?;
        }
        Ok(Self {
            resolver: Resolver::new(config, codecs)?,
            uploads: Uploads::new(config)?,
            token: config.admin.secret()?.as_deref().map(Token::new),
        })
    }
}

/// Refuses a configuration for everything a server with it would refuse to start for, but for addresses
/// that are taken.
///
/// # Errors
/// Naming what is wrong.
pub fn check(config: &Config, codecs: &'static [&'static dyn Codec]) -> Result<(), ConfigError> {
    Opened::of(config, codecs).map(drop)
}

/// Everything an answer needs.
pub(crate) struct App {
    pub(crate) maker: Arc<Maker>,
    pub(crate) negotiation: Negotiation,
    pub(crate) targets: Targets,
    pub(crate) cors: Cors,
    /// Who may purge; nobody without it.
    pub(crate) token: Option<Token>,
    pub(crate) log: AccessLog,
    pub(crate) uploads: Uploads,
    /// Outlives reloads.
    pub(crate) metrics: Arc<Metrics>,
    /// Who may read them where pictures are served.
    pub(crate) metrics_allow: Reach,
    /// For one answer, waiting included.
    pub(crate) patience: Duration,
}

impl App {
    /// Opens folders and the cache, and starts the pixel threads and the log; needs a tokio runtime. The
    /// cache of the app `before` a reload is taken over, unless its tiers are to be elsewhere now.
    pub(crate) fn new(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
        metrics: Arc<Metrics>,
        before: Option<&Self>,
    ) -> Result<Self, ConfigError> {
        let Opened {
            resolver,
            uploads,
            token,
        } = Opened::of(config, codecs)?;
        let shares = Shares::of(config);
        let patience = config.timeouts.request.0;
        let maker = Maker {
            resolver: Arc::new(resolver),
            engine: Engine::new(codecs, config.limits.pixels()),
            codecs,
            fetcher: Fetcher::new(&LimitsConfig {
                held_bytes: Bytes(shares.sources),
                ..config.limits
            }),
            shelf: Shelf::default(),
            admission: Admission::start(config, shares).map_err(|error| {
                ConfigError::new(format!(
                    "cannot start {} pixel threads: {error}",
                    config.workers()
                ))
            })?,
            results: Results::new(
                config,
                Names::new(config, codecs),
                shares.cache,
                before.map(|app| &app.maker.results),
            ),
            patience,
            plan_header: config.debug.plan_header,
        };
        Ok(Self {
            maker: Arc::new(maker),
            negotiation: Negotiation::new(&config.negotiation, config.background.0, codecs),
            targets: Targets::default(),
            cors: Cors::new(&config.cors),
            token,
            log: AccessLog::new(config.log, metrics.clone()),
            uploads,
            metrics,
            metrics_allow: config.metrics.allow,
            patience,
        })
    }

    /// After the last request: what is still to be written is.
    pub(crate) async fn finish(self) {
        self.maker.results.cache.flush().await;
        self.log.finish().await;
    }
}
