//! `andon.toml`: every key has a default, an unknown key is an error that names the nearest known one,
//! relative paths are relative to the file. `andon.default.toml`, next to `src`, has all keys.
//!
//! ```
//! let config: andon_server::Config = andon_server::Config::parse("workers = 2", "/srv".as_ref()).unwrap();
//! assert_eq!(config.workers(), 2);
//! ```

mod allowed_clients;
mod aws_profiles;
mod bucket;
mod cache;
mod effective;
mod environment;
mod fallback;
mod folder;
mod fonts;
mod here;
mod limits;
mod listen;
mod log;
mod metrics;
mod origin;
mod otlp;
mod overrides;
mod platform;
mod play;
mod prefix;
mod proxy;
mod remote;
mod sandbox;
mod store;
mod timeouts;
mod tls;
mod units;
mod upload;
mod web;

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use andon_dialects::{self as dialects, Dialects};
pub use andon_settings::Error as ConfigError;
use andon_settings::{Known, check};
use serde::Deserialize;

pub use allowed_clients::AllowedClients;
pub(crate) use aws_profiles::{Profile, Profiles};
pub use bucket::{BucketConfig, BucketPattern, Credentials, Store};
pub use cache::{CacheConfig, CacheRule, DiskConfig, TagHeader};
pub use effective::{REFERENCE, effective};
pub(crate) use environment::Environment;
pub use fallback::FallbackConfig;
pub use folder::FolderConfig;
pub use fonts::FontsConfig;
pub use here::working_folder;
pub use limits::{Broken, LimitsConfig};
pub use listen::{Listen, SocketMode};
pub use log::{LogConfig, LogFormat, LogLevel};
pub use metrics::MetricsConfig;
pub(crate) use origin::Place;
pub use origin::{Files, FsConfig, OriginConfig, OriginKind, RemoteConfig};
pub use otlp::{CollectorUrl, OtlpConfig, OtlpHeaders};
pub(crate) use otlp::{OtlpTarget, otlp_warnings};
pub use overrides::Overrides;
pub(crate) use platform::credential_files;
pub use play::PlayConfig;
pub(crate) use prefix::is_below;
pub use proxy::{ClientHeader, ProxyConfig, Trusted};
pub use remote::{BaseUrl, HttpConfig, OriginTimeouts, UrlPattern};
pub use sandbox::{Processes, SandboxConfig, SandboxMode};
pub use store::{StoreConfig, StorePlace};
pub use timeouts::Timeouts;
pub use tls::TlsConfig;
pub use units::{Background, Bytes, Span};
pub use upload::UploadConfig;
pub use web::{AdminConfig, CorsConfig, DefaultFormat, HeadersConfig, NegotiationConfig};

/// Top-level keys that are not tables.
const PLAIN: &[&str] = &[
    "listen",
    "socket_mode",
    "workers",
    "steal_work",
    "target_wait",
    "max_wait",
    "queue",
    "memory_budget",
    "background",
];

/// The whole configuration file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where to listen: `127.0.0.1:8080` or `unix:/path`.
    pub listen: Vec<Listen>,
    /// HTTPS: where to listen with TLS, and with which certificate.
    pub tls: TlsConfig,
    /// Which proxies are trusted to name the client of a request, and in which way they name it.
    pub proxy: ProxyConfig,
    /// Permissions of Unix sockets, in octal.
    pub socket_mode: SocketMode,
    /// Worker threads; 0 is one per core. See [`Config::workers`].
    pub workers: usize,
    /// Whether idle worker threads help with a large image.
    pub steal_work: bool,
    /// The longest predicted queueing delay under lasting overload; requests that would wait longer are answered with
    /// 503.
    pub target_wait: Span,
    /// The longest predicted queueing delay in any case, such as for a burst or for a few clients with slow images.
    pub max_wait: Span,
    /// Maximum number of requests that may wait for a worker thread, whatever their predicted wait; one more is answered
    /// with 503.
    pub queue: usize,
    /// Bytes of memory that all waiting and running work together may reserve; 0 is three fifths of the memory of the
    /// control group or the machine.
    pub memory_budget: Bytes,
    /// The colour behind transparent areas in formats without alpha, written as `rrggbb`.
    pub background: Background,
    /// Where images come from; the longest prefix wins.
    pub origin: Vec<OriginConfig>,
    /// How request targets are read: the tables of the URL dialects and `[[rewrite]]`, which are at the top level of
    /// the file like all others.
    #[serde(skip)]
    pub dialects: dialects::Config,
    /// How much of results and sources is cached, and for how long.
    pub cache: CacheConfig,
    /// The store of results that several nodes share; none by default.
    pub store: Option<StoreConfig>,
    /// Which format a result has when the URL names none.
    pub negotiation: NegotiationConfig,
    /// What is sent in place of an image whose source is missing, unusable or unavailable.
    pub fallback: Vec<FallbackConfig>,
    /// Which fonts text is drawn with.
    pub fonts: FontsConfig,
    /// The web pages that may read replies (CORS).
    pub cors: CorsConfig,
    /// Additional response headers.
    pub headers: HeadersConfig,
    /// The administrator's token, for purging and the live dashboard.
    pub admin: AdminConfig,
    /// What a request may cost.
    pub limits: LimitsConfig,
    /// Time limits of connections, requests and the shutdown.
    pub timeouts: Timeouts,
    /// Uploads: images that are sent with the request.
    pub upload: UploadConfig,
    /// The page with the images of the folder at `/`.
    pub folder: FolderConfig,
    /// The playground, a page to try recipes and URLs on.
    pub play: PlayConfig,
    /// Where the server's metrics can be read, and by whom.
    pub metrics: MetricsConfig,
    /// What is logged to standard error, and in which format.
    pub log: LogConfig,
    /// The collector that traces, metrics and logs are sent to.
    pub otlp: OtlpConfig,
    /// The sandbox: which privileges the server gives up at its start, and which codecs run in processes of their own.
    pub sandbox: SandboxConfig,
    /// Settings that help during setup and are off in production.
    pub debug: DebugConfig,
    /// Whether clients with loopback addresses count as local. This is so only on a server that is started without a
    /// configuration file, for personal use: with one, a proxy in front may connect from such an address, too.
    #[serde(skip)]
    pub loopback_is_local: bool,
}

/// The `[debug]` table: settings that help during setup and are off in production.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DebugConfig {
    /// Whether replies say in an `Andon-Plan` header how their image was made.
    pub plan_header: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: vec![Listen::Tcp("127.0.0.1:8080".to_owned())],
            tls: TlsConfig::default(),
            proxy: ProxyConfig::default(),
            socket_mode: SocketMode::default(),
            workers: 0,
            steal_work: true,
            target_wait: Span(Duration::from_millis(500)),
            max_wait: Span(Duration::from_secs(10)),
            queue: 1024,
            memory_budget: Bytes(0),
            background: Background::default(),
            origin: vec![OriginConfig::folder(".")],
            dialects: dialects::Config::default(),
            cache: CacheConfig::default(),
            store: None,
            negotiation: NegotiationConfig::default(),
            fallback: Vec::new(),
            fonts: FontsConfig::default(),
            cors: CorsConfig::default(),
            headers: HeadersConfig::default(),
            admin: AdminConfig::default(),
            limits: LimitsConfig::default(),
            timeouts: Timeouts::default(),
            upload: UploadConfig::default(),
            folder: FolderConfig::default(),
            play: PlayConfig::default(),
            metrics: MetricsConfig::default(),
            log: LogConfig::default(),
            otlp: OtlpConfig::default(),
            sandbox: SandboxConfig::default(),
            debug: DebugConfig::default(),
            loopback_is_local: false,
        }
    }
}

impl Config {
    /// Reads and validates a file.
    ///
    /// # Errors
    /// [`ConfigError`] naming the file, the line and the key.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            ConfigError::new("", format!("it cannot be read: {error}")).in_file(path)
        })?;
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        Self::parse(&text, folder).map_err(|error| error.in_file(path))
    }

    /// Parses and validates a text whose relative paths are relative to `folder`.
    ///
    /// # Errors
    /// [`ConfigError`] naming the line and the key.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, ConfigError> {
        let mut config = Self::structure(text)?;
        config.resolve_paths(folder);
        config.validate().map_err(|error| error.located(text))?;
        Ok(config)
    }

    /// Parses a text without resolving paths and without [`Self::validate`].
    fn structure(text: &str) -> Result<Self, ConfigError> {
        // The tables of the dialects are split off and read by their own type.
        let keys = Known {
            also: dialects::Config::KEYS,
            plain: PLAIN,
            advice: &[origin::ADVICE, otlp::ADVICE].concat(),
        };
        ConfigError::reading(text, &keys, |mut table| {
            let dialect_tables = table.split_off(dialects::Config::KEYS);
            Ok(Self {
                dialects: dialect_tables.read()?,
                ..table.read()?
            })
        })
    }

    /// The configuration of a server without a configuration file, which serves the folder `root` at `/` to its user:
    /// in all URL dialects, each at a prefix of its own, and with the list of images and the playground for clients of
    /// this machine.
    #[must_use]
    pub fn for_folder(root: &Path) -> Self {
        let mut config = Self {
            origin: vec![OriginConfig::folder(root)],
            folder: FolderConfig {
                allow: AllowedClients::Local,
            },
            play: PlayConfig {
                allow: AllowedClients::Local,
            },
            loopback_is_local: true,
            ..Self::default()
        };
        config.dialects.switch_on_all();
        config
    }

    /// Returns the number of worker threads: as configured, or one per core.
    #[must_use]
    pub fn workers(&self) -> usize {
        match self.workers {
            0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            workers => workers,
        }
    }

    /// Checks for values that can be parsed but are invalid, alone or together with others.
    ///
    /// # Errors
    /// [`ConfigError`] naming the key.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let listens = self.validate_listens()?;
        check(self.workers <= MOST_WORKERS, "workers", || {
            format!(
                "{} is over {MOST_WORKERS}: one per core is best, and 0 means that",
                self.workers
            )
        })?;
        check(!self.origin.is_empty(), "origin", || {
            "there is none: name at least one, such as prefix = \"/\" and fs.root = \"photos\""
                .to_owned()
        })?;
        for (key, span, good) in [
            ("target_wait", self.target_wait, "500ms"),
            ("max_wait", self.max_wait, "10s"),
        ] {
            check(!span.0.is_zero() && span.0 <= LONGEST_WAIT, key, || {
                format!("must be more than \"0s\" and at most an hour: \"{good}\" is a good value")
            })?;
        }
        check(self.target_wait <= self.max_wait, "target_wait", || {
            format!(
                "{:?} is over `max_wait` ({:?}), which is the longest wait at all; raise that, or lower this",
                self.target_wait.0, self.max_wait.0
            )
        })?;
        check(
            !(1..LEAST_BUDGET).contains(&self.memory_budget.0),
            "memory_budget",
            || {
                format!(
                    "{} is below {}, where no photo fits; 0 lets the machine decide",
                    self.memory_budget,
                    Bytes(LEAST_BUDGET)
                )
            },
        )?;
        origin::validate(&self.origin)?;
        self.cache.validate()?;
        self.store.iter().try_for_each(StoreConfig::validate)?;
        fallback::validate(&self.fallback)?;
        self.cors.validate()?;
        self.headers.validate()?;
        self.negotiation.validate(self.dialects.imgproxy.enforce)?;
        self.limits.validate()?;
        self.timeouts.validate()?;
        self.tls.validate()?;
        self.otlp.validate()?;
        self.proxy.validate(&listens)?;
        Dialects::new(&self.dialects)?;
        Ok(())
    }

    /// Checks the addresses to listen on, and returns those that serve images.
    fn validate_listens(&self) -> Result<Vec<Listen>, ConfigError> {
        check(!self.listen.is_empty(), "listen", || {
            "is empty: name at least one address, such as \"127.0.0.1:8080\"".to_owned()
        })?;
        let is_taken = |listen: &Listen, others: &[Listen]| {
            !listen.is_any_port() && others.iter().any(|other| other == listen)
        };
        let listens = [&*self.listen, &*self.tls.listen].concat();
        for (index, listen) in listens.iter().enumerate() {
            check(!is_taken(listen, &listens[..index]), "listen", || {
                format!("{listen} is there twice, with `tls.listen`")
            })?;
        }
        if let Some(listen) = &self.metrics.listen {
            check(!is_taken(listen, &listens), "metrics.listen", || {
                format!(
                    "{listen} is in `listen` already; name another address, or leave the key out: \
                     `metrics.allow` says who may read metrics there"
                )
            })?;
        }
        Ok(listens)
    }

    fn resolve_paths(&mut self, folder: &Path) {
        for listen in &mut self.listen {
            listen.resolve(folder);
        }
        self.tls.resolve(folder);
        self.proxy.resolve(folder);
        for origin in &mut self.origin {
            origin.resolve(folder);
        }
        self.dialects.resolve_paths(folder);
        self.cache.resolve(folder);
        if let Some(store) = &mut self.store {
            store.resolve(folder);
        }
        self.metrics.resolve(folder);
        remote::resolve(&mut self.otlp.ca, folder);
        self.fonts.resolve(folder);
        self.sandbox.resolve(folder);
    }
}

/// Upper bound of `target_wait` and `max_wait`: no client waits longer for an image.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The smallest `memory_budget` in bytes, apart from 0. A smaller one would not suffice for a single photo.
const LEAST_BUDGET: u64 = 16 << 20;

/// Upper bound of `workers`: more threads would only take memory.
const MOST_WORKERS: usize = 1024;

#[cfg(test)]
mod tests;
