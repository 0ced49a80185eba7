//! The parts of a running server, and how they are created and connected.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use andon_cache::{StoreConfig, Table};
use andon_pixels::{Codec, Engine};
use hyper::HeaderMap;

use crate::admission::{Admission, Shares};
use crate::config::{AllowedClients, Bytes, Config, ConfigError, Environment, LimitsConfig};
use crate::handler::board::Board;
use crate::handler::fallback::Fallbacks;
use crate::handler::folder::FolderIndex;
use crate::handler::play::Play;
use crate::handler::readiness::Readiness;
use crate::handler::upload::Uploads;
use crate::http::{ReplyMemory, Tls};
use crate::operations::access_log::AccessLog;
use crate::operations::metrics::Metrics;
use crate::operations::otlp::Collector;
use crate::origins;
use crate::request::forwarded::Proxies;
use crate::request::negotiation::Negotiation;
use crate::request::purge::Token;
use crate::response::cors::Cors;
use crate::results::caching::{Names, Results};
use crate::results::making::{Behind, Maker};
use crate::results::variant::TargetCache;
use crate::sandbox;
use crate::sources::fetch::Fetcher;
use crate::sources::headers::HeaderReaders;
use crate::sources::resolver::Resolver;

/// Everything that a configuration refers to and that may be missing or wrong even if its text is valid: folders, keys,
/// certificates, tokens. Both starting a server and `config check` go through this type.
struct Opened {
    resolver: Resolver,
    fallbacks: Fallbacks,
    uploads: Uploads,
    token: Option<Token>,
    play: Option<Play>,
    tls: Option<Tls>,
    names: Names,
    negotiation: Negotiation,
    store: Option<StoreConfig>,
    collector: Option<Collector>,
}

impl Opened {
    /// Opens everything that the configuration refers to. State that survives a reload is taken over from `before`, the
    /// previous app.
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
        let token = config.admin.secret()?.as_deref().map(Token::new);
        let names = Names::new(config, codecs);
        let open = |store| origins::open_store(store, names.revision());
        let store = config.store.as_ref().map(open).transpose();
        Ok(Self {
            store: store.map_err(|error| ConfigError::new("store", error))?,
            names,
            negotiation: Negotiation::new(&config.negotiation, config.background.0, codecs)?,
            play: Play::new(config, codecs, token.is_some())?,
            fallbacks: Fallbacks::new(&config.fallback, &resolver)?,
            resolver,
            uploads: Uploads::new(config, before.map(|app| &app.uploads))?,
            token,
            tls: Tls::new(&config.tls)?,
            collector: Collector::of(config, &Environment::of_process())?,
        })
    }
}

/// Checks a configuration for everything that would keep a server from starting, except addresses in use.
///
/// # Errors
/// The first problem: an invalid setting, or a folder, key, certificate or token that is missing or unusable.
pub fn check(config: &Config, codecs: &'static [&'static dyn Codec]) -> Result<(), ConfigError> {
    Opened::of(config, codecs, None)?;
    sandbox::check(config)
}

/// Checks that the recipes of presets consist of known words with valid numbers.
fn check_presets(
    config: &Config,
    codecs: &'static [&'static dyn Codec],
) -> Result<(), ConfigError> {
    let engine = Engine::new(codecs, config.limits.pixels());
    for (name, recipe) in config.dialects.native.recipes()? {
        let result = engine.check(&recipe);
        let key = format!("native.presets.{name}");
        result.map_err(|error| ConfigError::new(key, error.to_string()))?;
    }
    Ok(())
}

/// Everything that is needed to answer requests.
pub(crate) struct App {
    /// The time of the start or of the last reload, which resets some counters to 0.
    pub(crate) began: SystemTime,
    pub(crate) maker: Arc<Maker>,
    pub(crate) negotiation: Negotiation,
    pub(crate) targets: TargetCache,
    pub(crate) cors: Cors,
    /// Headers that the operator adds to replies.
    pub(crate) further_headers: HeaderMap,
    /// Images that are sent in place of those whose sources are unavailable.
    pub(crate) fallbacks: Fallbacks,
    /// The administrator's token. Without one, nobody may purge.
    pub(crate) token: Option<Token>,
    pub(crate) log: AccessLog,
    /// The proxies that are trusted to name the client of a request.
    pub(crate) proxies: Proxies,
    /// The certificate and settings for new TLS connections; `None` if no certificate is configured.
    pub(crate) tls: Option<Tls>,
    /// Memory for the replies on HTTP/2 connections. Survives reloads.
    pub(crate) reply_memory: ReplyMemory,
    pub(crate) uploads: Uploads,
    /// The watchers of the live dashboard for this configuration.
    pub(crate) board: Board,
    /// The playground, if it is switched on.
    pub(crate) play: Option<Play>,
    /// The images of the folder, for the page at `/`.
    pub(crate) folder: FolderIndex,
    /// The server's counters. They survive reloads.
    pub(crate) metrics: Arc<Metrics>,
    /// Whether the server has started, and whether it is about to stop. Survives reloads.
    pub(crate) readiness: Arc<Readiness>,
    /// Clients that may read the metrics at the addresses where images are served.
    pub(crate) metrics_allow: AllowedClients,
    /// Whether clients with loopback addresses are local. See [`Config::loopback_is_local`].
    pub(crate) loopback_is_local: bool,
    /// Clients that may see the page at `/` with the images of the folder served there.
    pub(crate) folder_allow: AllowedClients,
    /// Time limit for answering one request, including waiting.
    pub(crate) timeout: Duration,
}

impl App {
    /// Opens folders and the cache, and starts the worker threads and the log. Needs a tokio runtime.
    ///
    /// On a reload, everything that bounds the load on the machine is taken over from the app `before`, unchanged until
    /// [`App::resize`]: threads, memory, slots for reading files and learned durations. The cache is taken over as
    /// well, unless the disk tier has another path, a tier was switched on or off, or the settings of the shared store
    /// differ.
    pub(crate) fn new(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
        metrics: Arc<Metrics>,
        before: Option<&Self>,
    ) -> Result<Self, ConfigError> {
        let Opened {
            resolver,
            fallbacks,
            uploads,
            token,
            play,
            tls,
            names,
            negotiation,
            store,
            collector,
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
            looks: Table::new(MOST_LOOKS),
            under_way: Arc::default(),
            timeout,
            patience: config.negotiation.patience.0,
            behind: Behind::default(),
            idle: former.map_or_else(Arc::default, |maker| maker.idle.clone()),
            plan_header: config.debug.plan_header,
        };
        let log = AccessLog::new(config, metrics.clone(), collector);
        Ok(Self {
            began: SystemTime::now(),
            maker: Arc::new(maker),
            negotiation,
            targets: TargetCache::default(),
            cors: Cors::new(&config.cors),
            further_headers: config.headers.map(),
            fallbacks,
            token,
            tls,
            reply_memory: before.map_or_else(
                || ReplyMemory::new(shares.replies),
                |app| app.reply_memory.clone(),
            ),
            proxies: Proxies::new(&config.proxy),
            log,
            uploads,
            board: Board::default(),
            play,
            folder: FolderIndex::default(),
            metrics,
            readiness: before.map_or_else(Arc::default, |app| app.readiness.clone()),
            metrics_allow: config.metrics.allow,
            loopback_is_local: config.loopback_is_local,
            folder_allow: config.folder.allow,
            timeout,
        })
    }

    /// Resizes the worker threads, memory limits and slots for reading files that were taken over from the app before a
    /// reload, to the values of this configuration.
    ///
    /// # Errors
    /// If the system provides no more threads. Everything then stays as it was.
    pub(crate) fn resize(&self, config: &Config) -> Result<(), ConfigError> {
        let shares = Shares::of(config);
        let maker = &self.maker;
        maker
            .admission
            .resize(config, shares)
            .map_err(|error| no_threads(config, &error))?;
        maker.fetcher.resize(&limits(config, shares));
        maker.resolver.origins().resize();
        maker
            .resolver
            .overlay_folder()
            .cache()
            .resize(shares.overlays);
        maker.results.resize(shares.kept_sources);
        self.uploads.resize(config);
        self.reply_memory.resize(shares.replies);
        Ok(())
    }

    /// Waits until all pending results and log lines are written. To be called after the last request.
    pub(crate) async fn finish(self) {
        self.maker.results.flush().await;
        self.export_metrics();
        self.log.finish().await;
    }
}

/// Returns the `[limits]` table, with `held_bytes` limited to the share of the memory budget that source files may
/// take.
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

/// Maximum number of sources whose size and content key are remembered. They take at most 3 MB with paths of 200 bytes.
const MOST_LOOKS: u64 = 8192;
