//! The parts of a running server and how they are wired.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use andon_cache::StoreConfig;
use andon_pixels::{Codec, Engine};
use hyper::HeaderMap;

use crate::admission::{Admission, Shares};
use crate::config::{AllowedClients, Bytes, Config, ConfigError, FallbackConfig, LimitsConfig};
use crate::handler::board::Board;
use crate::handler::play::Play;
use crate::handler::readiness::Readiness;
use crate::handler::upload::Uploads;
use crate::http::{ReplyMemory, Tls};
use crate::operations::access_log::AccessLog;
use crate::operations::metrics::Metrics;
use crate::origins;
use crate::request::forwarded::Proxies;
use crate::request::negotiation::Negotiation;
use crate::request::purge::Token;
use crate::response::cors::Cors;
use crate::results::caching::{Names, Results};
use crate::results::making::{Behind, Looks, Maker};
use crate::results::variant::TargetCache;
use crate::sandbox;
use crate::sources::fetch::Fetcher;
use crate::sources::headers::HeaderReaders;
use crate::sources::resolver::Resolver;

/// Everything that a configuration names and that may be missing or wrong although its text is sound:
/// folders, keys, certificates, tokens. A server starts with it, and `config check` goes no other way.
struct Opened {
    resolver: Resolver,
    uploads: Uploads,
    token: Option<Token>,
    play: Option<Play>,
    tls: Option<Tls>,
    names: Names,
    store: Option<StoreConfig>,
}

impl Opened {
    /// What outlives a reload is taken over from the app `before` it.
    fn of(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
        before: Option<&App>,
    ) -> Result<Self, ConfigError> {
        check_presets(config, codecs)?;
        config.validate()?;
        config.listen.iter().try_for_each(|it| it.check("listen"))?;
        let secure = &config.tls.listen;
        secure.iter().try_for_each(|it| it.check("tls.listen"))?;
        if let Some(listen) = &config.metrics.listen {
            listen.check("metrics.listen")?;
        }
        config.cache.check_disk()?;
        config.sandbox.check_read()?;
        let resolver = Resolver::after(config, codecs, before.map(|app| &*app.maker.resolver))?;
        let materials = resolver.materials().clone();
        let token = config.admin.secret()?.as_deref().map(Token::new);
        let names = Names::new(config, codecs);
        let open = |store| origins::open_store(store, names.revision());
        let store = config.store.as_ref().map(open).transpose();
        Ok(Self {
            store: store.map_err(|error| ConfigError::new("store", error))?,
            names,
            play: Play::new(config, codecs, token.is_some())?,
            resolver,
            uploads: Uploads::new(config, materials, before.map(|app| &app.uploads))?,
            token,
            tls: Tls::new(&config.tls)?,
        })
    }
}

/// Refuses a configuration for everything a server with it would refuse to start for, but for addresses
/// that are taken.
///
/// # Errors
/// Naming what is wrong.
pub fn check(config: &Config, codecs: &'static [&'static dyn Codec]) -> Result<(), ConfigError> {
    Opened::of(config, codecs, None)?;
    sandbox::check(config)
}

/// Recipes of presets have words that are known, and numbers that those take.
fn check_presets(
    config: &Config,
    codecs: &'static [&'static dyn Codec],
) -> Result<(), ConfigError> {
    let engine = Engine::new(codecs, config.limits.pixels());
    for (name, recipe) in config.dialects.native.recipes()? {
        let checked = engine.check(&recipe);
        let key = format!("native.presets.{name}");
        checked.map_err(|error| ConfigError::new(key, error.to_string()))?;
    }
    Ok(())
}

/// Everything an answer needs.
pub(crate) struct App {
    pub(crate) maker: Arc<Maker>,
    pub(crate) negotiation: Negotiation,
    pub(crate) targets: TargetCache,
    pub(crate) cors: Cors,
    /// Those that the operator adds to replies.
    pub(crate) further_headers: HeaderMap,
    /// What is sent in place of images whose sources cannot be had.
    pub(crate) fallbacks: Vec<FallbackConfig>,
    /// Who may purge; nobody without it.
    pub(crate) token: Option<Token>,
    pub(crate) log: AccessLog,
    /// Who is believed to speak for clients.
    pub(crate) proxies: Proxies,
    /// Of new connections.
    pub(crate) tls: Option<Tls>,
    /// Of connections of HTTP/2; outlives reloads.
    pub(crate) reply_memory: ReplyMemory,
    pub(crate) uploads: Uploads,
    /// Who watches this configuration.
    pub(crate) board: Board,
    /// The playground, where it is switched on.
    pub(crate) play: Option<Play>,
    /// Outlives reloads.
    pub(crate) metrics: Arc<Metrics>,
    /// Outlives reloads, too.
    pub(crate) readiness: Arc<Readiness>,
    /// Who may read them where images are served.
    pub(crate) metrics_allow: AllowedClients,
    /// Are clients with loopback addresses local? See [`Config::loopback_is_local`].
    pub(crate) loopback_is_local: bool,
    /// For one answer, waiting included.
    pub(crate) timeout: Duration,
}

impl App {
    /// Opens folders and the cache, and starts the pixel threads and the log; needs a tokio runtime.
    ///
    /// Of the app `before` a reload everything is taken over that bounds what the machine has to carry, as
    /// it is until [`App::resize`]: threads, memory, slots for files, what was learnt about times; and the
    /// cache, unless its tiers are to be elsewhere now.
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
            play,
            tls,
            names,
            store,
        } = Opened::of(config, codecs, before)?;
        let shares = Shares::of(config);
        let former = before.map(|app| &*app.maker);
        let timeout = config.timeouts.request.0;
        let maker = Maker {
            resolver: Arc::new(resolver),
            engine: Engine::new(codecs, config.limits.pixels()),
            codecs,
            fetcher: former.map_or_else(
                || Fetcher::new(&limits(config, shares)),
                |maker| maker.fetcher.clone(),
            ),
            headers: former.map_or_else(HeaderReaders::default, |maker| maker.headers.clone()),
            source_cache: former.map_or_else(Arc::default, |maker| maker.source_cache.clone()),
            admission: match former {
                Some(maker) => maker.admission.clone(),
                None => Admission::start(config, shares)
                    .map(Arc::new)
                    .map_err(|error| no_threads(config, &error))?,
            },
            results: Results::new(
                config,
                names,
                shares,
                store,
                former.map(|maker| &maker.results),
            ),
            looks: Looks::new(LOOKS),
            under_way: Arc::default(),
            timeout,
            patience: config.negotiation.patience.0,
            behind: Behind::default(),
            idle: former.map_or_else(Arc::default, |maker| maker.idle.clone()),
            plan_header: config.debug.plan_header,
        };
        Ok(Self {
            maker: Arc::new(maker),
            negotiation: Negotiation::new(&config.negotiation, config.background.0, codecs),
            targets: TargetCache::default(),
            cors: Cors::new(&config.cors),
            further_headers: config.headers.map(),
            fallbacks: config.fallback.clone(),
            token,
            tls,
            reply_memory: before.map_or_else(
                || ReplyMemory::new(shares.replies),
                |app| app.reply_memory.clone(),
            ),
            proxies: Proxies::new(&config.proxy),
            log: AccessLog::new(config, metrics.clone()),
            uploads,
            board: Board::default(),
            play,
            metrics,
            readiness: before.map_or_else(Arc::default, |app| app.readiness.clone()),
            metrics_allow: config.metrics.allow,
            loopback_is_local: config.loopback_is_local,
            timeout,
        })
    }

    /// Gives what was taken over from the app before the sizes of this configuration.
    ///
    /// # Errors
    /// When the system gives no more threads; then everything stays as it was.
    pub(crate) fn resize(&self, config: &Config) -> Result<(), ConfigError> {
        let shares = Shares::of(config);
        let maker = &self.maker;
        maker
            .admission
            .resize(config, shares)
            .map_err(|error| no_threads(config, &error))?;
        maker.fetcher.resize(&limits(config, shares));
        maker.resolver.origins().resize();
        maker.resolver.materials().decoded().resize(shares.overlays);
        maker.results.resize(shares.kept_sources);
        self.uploads.resize(config);
        self.reply_memory.resize(shares.replies);
        Ok(())
    }

    /// After the last request: what is still to be written is.
    pub(crate) async fn finish(self) {
        self.maker.results.flush().await;
        self.log.finish().await;
    }
}

/// Those for reading files, with what this machine has for them.
fn limits(config: &Config, shares: Shares) -> LimitsConfig {
    LimitsConfig {
        held_bytes: Bytes(shares.sources),
        ..config.limits
    }
}

fn no_threads(config: &Config, error: &io::Error) -> ConfigError {
    ConfigError::new(
        "workers",
        format!("cannot start {} threads: {error}", config.workers()),
    )
}

/// 3 MB at worst for paths of 200 bytes.
const LOOKS: usize = 8192;
