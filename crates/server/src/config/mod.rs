//! `andon.toml`: every key has a default, an unknown key is an error that names the nearest known one,
//! relative paths are relative to the file. `andon.default.toml` beside `src` shows them all.
//!
//! ```
//! let config: andon_server::Config = andon_server::Config::parse("workers = 2", "/srv".as_ref()).unwrap();
//! assert_eq!(config.workers(), 2);
//! ```

mod allowed_clients;
mod cache;
mod effective;
mod fallback;
mod limits;
mod listen;
mod log;
mod metrics;
mod origin;
mod play;
mod prefix;
mod proxy;
mod remote;
mod sandbox;
mod store;
mod timeouts;
mod tls;
mod trace;
mod units;
mod upload;
mod web;

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use andon_dialects::{self as dialects, Dialects};
pub use andon_settings::Error as ConfigError;
use andon_settings::check;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

pub use allowed_clients::AllowedClients;
pub use cache::{CacheConfig, CacheRule, DiskConfig, TagHeader};
pub use effective::{REFERENCE, effective};
pub use fallback::FallbackConfig;
pub use limits::{Broken, LimitsConfig};
pub use listen::{Listen, SocketMode};
pub use log::{LogConfig, LogFormat, LogLevel};
pub use metrics::MetricsConfig;
pub(crate) use origin::Place;
pub use origin::{Files, FsConfig, OriginConfig, OriginKind, RemoteConfig};
pub use play::PlayConfig;
pub(crate) use prefix::is_below;
pub use proxy::{ClientHeader, ProxyConfig, Trusted};
pub use remote::{BaseUrl, BucketConfig, HttpConfig, OriginTimeouts, Store, UrlPattern};
pub use sandbox::{Processes, SandboxConfig, SandboxMode};
pub use store::{StoreConfig, StorePlace};
pub use timeouts::Timeouts;
pub use tls::TlsConfig;
pub use trace::TraceConfig;
pub use units::{Background, Bytes, Span};
pub use upload::UploadConfig;
pub use web::{AdminConfig, CorsConfig, DefaultFormat, HeadersConfig, NegotiationConfig};

/// The whole configuration file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where to listen: `127.0.0.1:8080` or `unix:/path`.
    pub listen: Vec<Listen>,
    /// HTTPS: where to listen with TLS, and with which certificate.
    pub tls: TlsConfig,
    /// Which proxies are trusted to name the client, and how they do.
    pub proxy: ProxyConfig,
    /// Permissions of Unix sockets, in octal.
    pub socket_mode: SocketMode,
    /// Pixel threads; 0 is one per core. See [`Config::workers`].
    pub workers: usize,
    /// Whether idle pixel threads help with a large image.
    pub steal_work: bool,
    /// The longest predicted queueing delay under lasting overload; requests that would wait longer are answered with
    /// 503.
    pub target_wait: Span,
    /// The longest predicted queueing delay in any case, such as for a burst or for a few clients with slow images.
    pub max_wait: Span,
    /// Maximum number of requests that may wait for a pixel thread, whatever their predicted wait; one more is answered
    /// with 503.
    pub queue: usize,
    /// Bytes of memory that all waiting and running work may plan with together; 0 is three fifths of what the control
    /// group or the machine has.
    pub memory_budget: Bytes,
    /// Colour behind transparent areas in formats without alpha, as `rrggbb`.
    pub background: Background,
    /// Where images come from; the longest prefix wins.
    pub origin: Vec<OriginConfig>,
    /// How request targets are read: the tables of the dialects and `[[rewrite]]`, which are at the top level of the
    /// file like all others.
    #[serde(skip)]
    pub dialects: dialects::Config,
    /// How much is kept of results and sources, and for how long.
    pub cache: CacheConfig,
    /// The store of results that several nodes share; none by default.
    pub store: Option<StoreConfig>,
    /// Which format a result has when the URL names none.
    pub negotiation: NegotiationConfig,
    /// What is sent in place of an image whose source is missing, unusable or unavailable.
    pub fallback: Vec<FallbackConfig>,
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
    /// The playground, a page to try recipes and URLs on.
    pub play: PlayConfig,
    /// Where the server's metrics can be read, and by whom.
    pub metrics: MetricsConfig,
    /// What is logged to standard error, and in which format.
    pub log: LogConfig,
    /// Where the spans of traced requests are sent.
    pub trace: TraceConfig,
    /// The sandbox: which privileges the server gives up at its start, and which codecs run in processes of their own.
    pub sandbox: SandboxConfig,
    /// What helps during setup and is off in production.
    pub debug: DebugConfig,
    /// Whether clients with loopback addresses count as local. This is so only on a server that is started without a
    /// configuration file, for personal use: with one, a proxy in front may connect from such an address, too.
    #[serde(skip)]
    pub loopback_is_local: bool,
}

/// The `[debug]` table: what helps during setup and is off in production.
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
            cors: CorsConfig::default(),
            headers: HeadersConfig::default(),
            admin: AdminConfig::default(),
            limits: LimitsConfig::default(),
            timeouts: Timeouts::default(),
            upload: UploadConfig::default(),
            play: PlayConfig::default(),
            metrics: MetricsConfig::default(),
            log: LogConfig::default(),
            trace: TraceConfig::default(),
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
        let mut config = ConfigError::reading(text, dialects::Config::KEYS, Self::from_toml)?;
        config.resolve_paths(folder);
        config.validate().map_err(|error| error.located(text))?;
        Ok(config)
    }

    /// Deserializes the configuration. The tables of the dialects are split off and read by their own type.
    fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let mut all = DeTable::parse(text)?;
        let mut theirs = DeTable::new();
        for key in dialects::Config::KEYS {
            theirs.extend(all.get_mut().remove_entry(*key));
        }
        let theirs = Spanned::new(all.span(), theirs);
        Ok(Self {
            dialects: Deserialize::deserialize(Deserializer::from(theirs))?,
            ..Self::deserialize(Deserializer::from(all))?
        })
    }

    /// The configuration of a server without a configuration file, which serves the folder `root` at `/`.
    #[must_use]
    pub fn for_folder(root: &Path) -> Self {
        Self {
            origin: vec![OriginConfig::folder(root)],
            ..Self::default()
        }
    }

    /// Number of pixel threads: as configured, or one per core.
    #[must_use]
    pub fn workers(&self) -> usize {
        match self.workers {
            0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            workers => workers,
        }
    }

    /// Checks for values that can be parsed but make no sense.
    ///
    /// # Errors
    /// [`ConfigError`] naming the key.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check(!self.listen.is_empty(), "listen", || {
            "is empty: name at least one address, such as \"127.0.0.1:8080\"".to_owned()
        })?;
        let taken = |listen: &Listen, others: &[Listen]| {
            !listen.is_any_port() && others.iter().any(|other| other == listen)
        };
        let pictures = [&*self.listen, &*self.tls.listen].concat();
        for (index, listen) in pictures.iter().enumerate() {
            check(!taken(listen, &pictures[..index]), "listen", || {
                format!("{listen} is there twice, with `tls.listen`")
            })?;
        }
        if let Some(listen) = &self.metrics.listen {
            check(!taken(listen, &pictures), "metrics.listen", || {
                format!(
                    "{listen} is in `listen` already; name another address, or leave the key out: \
                     `metrics.allow` says who may read metrics there"
                )
            })?;
        }
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
                    "{} is below {}, where no photograph fits; 0 lets the machine decide",
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
        self.limits.validate()?;
        self.timeouts.validate()?;
        self.tls.validate()?;
        self.trace.validate()?;
        self.proxy.validate(&pictures)?;
        Dialects::new(&self.dialects)?;
        Ok(())
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
        self.sandbox.resolve(folder);
    }
}

/// Upper bound of `target_wait` and `max_wait`: no client waits longer for an image.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The smallest `memory_budget` in bytes, apart from 0: with less, no photograph fits.
const LEAST_BUDGET: u64 = 16 << 20;

/// Upper bound of `workers`: more threads would only take memory.
const MOST_WORKERS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new("/etc/andon"))
    }

    fn message(text: &str) -> String {
        parse(text).expect_err("an error").to_string()
    }

    #[test]
    fn an_empty_file_is_the_default() {
        let mut expected = Config::default();
        expected.resolve_paths(Path::new("/etc/andon"));
        assert_eq!(parse("").unwrap(), expected);
    }

    #[test]
    fn the_reference_file_says_what_the_defaults_are() {
        assert_eq!(parse(include_str!("../../andon.default.toml")), parse(""));
    }

    #[test]
    fn the_reference_file_shows_remote_origins_with_their_defaults() {
        let reference = include_str!("../../andon.default.toml");
        let shown: String = reference
            .lines()
            .skip_while(|line| !line.starts_with("# [[origin]]"))
            .take_while(|line| !line.starts_with("# [[rewrite]]"))
            .map(|line| format!("{}\n", line.trim_start_matches("# ")))
            .collect();
        let shown = parse(&shown).unwrap().origin;
        let plain = parse(
            "[[origin]]\nprefix = \"/shop\"\nhttp.base = \"https://pictures.example/originals\"\n\
             [[origin]]\nprefix = \"/s3\"\ns3.bucket = \"photos\"\n\
             [[origin]]\nprefix = \"/gcs\"\ngcs.bucket = \"photos\"\n\
             [[origin]]\nprefix = \"/azure\"\nazure = { container = \"photos\", account = \"shop\" }\n",
        )
        .unwrap()
        .origin;
        // What is "none by default" is shown with an example; the rest is what one gets anyway.
        let [shop, _, buckets @ ..] = &shown[..] else {
            panic!("a web server, absolute URLs, and buckets");
        };
        let OriginKind::Http(http, remote) = shop.keeper.clone() else {
            panic!("a web server");
        };
        let http = HttpConfig {
            user: None,
            password_env: None,
            bearer_env: None,
            ca: None,
            ..http
        };
        assert_eq!(remote.fetches(), RemoteConfig::default().fetches());
        assert_eq!(remote.max_bytes, Some(LimitsConfig::default().source_bytes));
        let remote = RemoteConfig {
            fetches: None,
            max_bytes: None,
            ..remote
        };
        assert_eq!(plain[0].keeper, OriginKind::Http(http, remote));
        assert_eq!((buckets.len(), plain.len()), (3, 4));
        for (shown, plain) in buckets.iter().zip(&plain[1..]) {
            let (OriginKind::Bucket(store, bucket, remote), OriginKind::Bucket(..)) =
                (shown.keeper.clone(), &plain.keeper)
            else {
                panic!("buckets");
            };
            assert!(matches!(bucket.region.as_deref(), None | Some("us-east-1")));
            let bucket = BucketConfig {
                region: None,
                endpoint: None,
                access_key_env: None,
                secret_key_env: None,
                session_token_env: None,
                credentials_env: None,
                sas_env: None,
                ca: None,
                ..bucket
            };
            assert_eq!(plain.keeper, OriginKind::Bucket(store, bucket, remote));
        }
    }

    #[test]
    fn the_file_of_the_design_is_understood() {
        let config = parse(
            r#"
            listen  = ["127.0.0.1:8080", "unix:/run/andon.sock"]
            workers = 0
            [[origin]]
            prefix  = "/"
            fs.root = "photos"
            [[rewrite]]
            from = '^/resize/w/(\d+)/h/(\d+)/(.+)$'
            to   = '/small_light(dw=$1,dh=$2,da=l,q=90,jpeghint=y)/$3'
            [small_light]
            enabled       = true
            getparam_mode = false
            material_dir  = "icons"
            radius_max    = 10
            sigma_max     = 10
            compat        = "strict"
            [small_light.patterns]
            msize = "dw=500,dh=500,da=l,q=95,jpeghint=y"
            [limits]
            source_bytes = "16MiB"
            [timeouts]
            header = "5s"
            [log]
            format = "json"
            [debug]
            plan_header = true
            "#,
        )
        .unwrap();
        assert_eq!(config.origin[0], OriginConfig::folder("/etc/andon/photos"));
        assert_eq!(
            config.dialects.small_light.material_dir.as_deref(),
            Some(Path::new("/etc/andon/icons"))
        );
        assert_eq!(config.dialects.small_light.compat, dialects::Compat::Strict);
        assert_eq!(config.dialects.small_light.patterns["msize"].len(), 34);
        assert_eq!(config.limits.pixels().source_bytes, 16 << 20);
        assert_eq!(config.log.format, LogFormat::Json);
        assert!(config.debug.plan_header);
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest_known_one() {
        let message = message("queue = 3\nworker = 2\n");
        assert!(message.contains("line 2"), "{message}");
        assert!(message.contains("`worker`"), "{message}");
        assert!(message.contains("`workers`"), "{message}");
    }

    #[test]
    fn an_unknown_key_in_a_table_is_found_too() {
        let message = message("[small_light]\n\nmaterials_dir = \"x\"\n");
        assert!(message.contains("line 3"), "{message}");
        assert!(message.contains("`material_dir`"), "{message}");
    }

    #[test]
    fn an_unknown_key_unlike_any_other_lists_them_all() {
        let message = message("[debug]\nzzzzzzzz = 1\n");
        assert!(message.contains("plan_header"), "{message}");
    }

    #[test]
    fn a_wrong_value_names_its_line_its_key_and_what_would_do() {
        for (text, parts) in [
            (
                "\n\nworkers = \"many\"\n",
                ["line 3", "`workers`", "a whole number"],
            ),
            (
                "[debug]\nplan_header = 1",
                ["line 2", "`debug.plan_header`", "true"],
            ),
            ("listen = \"x:1\"", ["line 1", "`listen`", "[ ]"]),
            ("[origin]\nfs.root = \".\"", ["line 1", "list", "[[ ]]"]),
            (
                "[[origin]]\nprefix = \"/\"",
                ["line 1", "`fs.root`", "exactly one"],
            ),
            (
                "[timeouts]\nrequest = 30",
                ["line 2", "`timeouts.request`", "in quotes"],
            ),
            (
                "[small_light]\nradius_max = 5000",
                ["line 2", "radius_max", "5000"],
            ),
            (
                "[[rewrite]]\nfrom = \"^(a)$\"\nto = \"/$2\"",
                ["line 3: `rewrite.to`", "/$2", "no $2"],
            ),
        ] {
            let message = message(text);
            for part in parts {
                assert!(message.contains(part), "{part}: {message}");
            }
        }
    }

    #[test]
    fn an_unknown_key_of_an_origin_is_found_in_each_of_its_tables() {
        for (text, nearest) in [
            ("http.bsae = \"http://o.test\"", "`base`"),
            (
                "http.base = \"http://o.test\"\nhttp.header = {}",
                "`headers`",
            ),
            (
                "s3.bucket = \"b\"\ns3.acces_key_env = \"A\"",
                "`access_key_env`",
            ),
            (
                "http.base = \"http://o.test\"\ntimeouts.first_bite = \"1s\"",
                "`first_byte`",
            ),
            ("http.base = \"http://o.test\"\nfetchs = 3", "`fetches`"),
        ] {
            let message = message(&format!("\n[[origin]]\n{text}\n"));
            assert!(message.contains("line "), "{message}");
            assert!(message.contains(nearest), "{message}");
        }
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        for text in [
            "listen = []",
            "listen = [\"8080\"]",
            "listen = [\"unix:\"]",
            "listen = [\"unix:/a\", \"unix:/a\"]",
            "listen = [\"127.0.0.1:80\"]\nmetrics.listen = \"127.0.0.1:80\"",
            "target_wait = \"20s\"",
            "[headers]\nEtag = \"x\"",
            "[headers]\n\"a b\" = \"x\"",
            "[headers]\na = \"x\\ny\"",
            "[small_light.patterns]\nm = \"p=m\"",
            "workers = 100000",
            "target_wait = \"0s\"",
            "max_wait = \"0s\"",
            "max_wait = 2",
            "memory_budget = \"1MiB\"",
            "origin = []",
            "[[origin]]\nprefix = \"photos\"\nfs.root = \".\"",
            "[[origin]]\nfs.root = \".\"\n[[origin]]\nfs.root = \"x\"",
            "[[origin]]\nprefix = \"/\"",
            "[[origin]]\nfs.root = \".\"\nhttp.base = \"http://o.test\"",
            "[[origin]]\nfs.root = \".\"\nallow = [\"10.0.0.0/8\"]",
            "[[origin]]\nhttp.base = \"o.test/x\"",
            "[[origin]]\nhttp.base = \"file:///x\"",
            "[[origin]]\nhttp.base = \"http://user:secret@o.test\"",
            "[[origin]]\nhttp.base = \"http://o.test/?x\"",
            "[[origin]]\nhttp.base = \"http://o.test\"\nhttp.retries = 100",
            "[[origin]]\nhttp.base = \"http://o.test\"\nallow = [\"10/8\"]",
            "[[origin]]\nhttp.base = \"http://o.test\"\nfetches = 0",
            "[[origin]]\nhttp.base = \"http://o.test\"\ntimeouts.idle = \"0s\"",
            "[[origin]]\ns3.bucket = \"a/b\"",
            "[limits]\nfetches = 0",
            "[limits]\nheld_bytes = \"1KiB\"",
            "[limits]\nsource_bytes = \"3 parsecs\"",
            "[timeouts]\nrequest = \"0s\"",
            "[timeouts]\nrequest = 30",
            "socket_mode = \"0999\"",
            "[small_light]\ncompat = \"loose\"",
        ] {
            assert!(parse(text).is_err(), "{text} was accepted");
        }
    }
}
