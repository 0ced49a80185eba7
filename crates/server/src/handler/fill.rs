//! Writes results into the store that nodes share, without running a server. Uses the configuration of a server, so
//! that the servers find the results and accept their seals (keyed digests).

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_dialects::{Ask, ImageRequest, Source};
use andon_pixels::Codec;
use andon_recipe::Recipe;
use hyper::HeaderMap;
use hyper::header::{ACCEPT, HeaderValue};
use tokio::runtime::{Builder, Runtime};

use super::App;
use crate::config::{Bytes, Config, ConfigError, Span};
use crate::error::Error;
pub use crate::results::making::Filled;

/// Makes results as a server with the same configuration would, and writes them into its store. Any number of threads
/// may share one filler. Each call makes one result and waits until it is written.
pub struct Filler {
    // Declared before the runtime, so that it is dropped first: its tasks run there.
    app: App,
    runtime: Runtime,
}

impl Filler {
    /// Opens what the configuration names, and waits until the store can be used. Does not listen on any address, and
    /// does not touch the cache on disk.
    ///
    /// # Errors
    /// An error that names what is wrong with the configuration, that there is no `[store]`, or why it cannot be used.
    pub fn open(
        config: &Config,
        codecs: &'static [&'static dyn Codec],
    ) -> Result<Self, ConfigError> {
        let mut config = config.clone();
        let Some(store) = &mut config.store else {
            return Err(ConfigError::new(
                "store",
                "the configuration has no [store]: name the one that results are to be written into",
            ));
        };
        // Wait for each look-up in the store, and write every result.
        (store.wait, store.timeout) = (PATIENCE, PATIENCE);
        store.queue = Bytes(QUEUE);
        config.cache.memory = Bytes(0);
        config.cache.disk = None;
        config.timeouts.request = LONG;
        config.negotiation.patience = LONG;
        (config.target_wait, config.max_wait) = (LONG, LONG);
        config.limits.cpu = Span(Duration::ZERO);
        config.limits.fetches = config.limits.fetches.max(FETCHES);
        // The targets come from the caller, so they need no signatures.
        config.dialects.open_all();
        config.listen = Config::default().listen;
        config.tls = Config::default().tls;
        config.metrics.listen = None;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| ConfigError::new("workers", error.to_string()))?;
        let app = runtime.block_on(async {
            let app = App::new(&config, codecs, Arc::default(), None)?;
            app.wait_for_store().await?;
            Ok::<_, ConfigError>(app)
        })?;
        Ok(Self { app, runtime })
    }

    /// Returns the URL path of a recipe and a source, if the configuration's native URLs are switched on and can
    /// express it.
    #[must_use]
    pub fn target(&self, recipe: &Recipe, source: &str) -> Option<String> {
        let source = (self.app.maker.resolver.origins()).settle(Source::from_path(source));
        let request = ImageRequest::image(source, recipe.clone());
        let mut urls = self.app.maker.resolver.written(&request);
        let native = urls.find(|(dialect, _)| *dialect == "native")?;
        Some(native.1)
    }

    /// Ensures that the result of a URL path is in the store, for clients with this `Accept` header.
    ///
    /// # Errors
    /// The errors that a client would get.
    pub fn fill(&self, target: &str, accept: Option<&str>) -> Result<Filled, Error> {
        let app = &self.app;
        let mut headers = HeaderMap::new();
        // An `Accept` that is not a valid header value names no format.
        if let Some(value) = accept.and_then(|accept| HeaderValue::from_str(accept).ok()) {
            headers.insert(ACCEPT, value);
        }
        let (maker, negotiation) = (&app.maker, &app.negotiation);
        let variant = app
            .targets
            .understand(target, &headers, &[], maker, negotiation)?;
        let request = &variant.asked.request;
        if request.is_file() || request.ask != Ask::Image {
            let why = "the URL requests an unchanged file or no image at all; only processed images are stored";
            return Ok(Filled::Left(why.to_owned()));
        }
        let allowance = maker.allowance(&variant, None, Instant::now() + LONG.0);
        let ctx = maker.context(variant, allowance);
        self.runtime.handle().block_on(maker.fill(&ctx))
    }
}

impl App {
    async fn wait_for_store(&self) -> Result<(), ConfigError> {
        let cache = &self.maker.results.cache;
        // After an error or the time limit as well, the statistics say whether the store can be used.
        let _ = tokio::time::timeout(2 * PATIENCE.0, cache.store_known()).await;
        let store = cache.stats().store.unwrap_or_default();
        if store.ready {
            return Ok(());
        }
        let why = store.error.unwrap_or_else(|| "no answer".to_owned());
        Err(ConfigError::new("store", format!("cannot be used: {why}")))
    }
}

/// Timeout of the store, the longest that a configuration may set.
const PATIENCE: Span = Span(Duration::from_secs(10));
/// Time limit for making results. It is long because no client waits for them.
const LONG: Span = Span(Duration::from_secs(3600));
/// Memory limit in bytes for results that wait to be written to the store: enough for all that are being made, however
/// large.
const QUEUE: u64 = 1 << 30;
/// Minimum number of files that may be read at the same time.
const FETCHES: usize = 8;
