//! Answers requests to purge entries from the cache.

use std::sync::Arc;

use andon_cache::Selector;
use bytes::Bytes;
use hyper::Method;
use hyper::body::Body;
use hyper::http::request::Parts;

use super::App;
use crate::error::Error;
use crate::request::negotiation::{self, SettledRequest};
use crate::request::purge::{self, Purge};
use crate::response::{self, Reply};
use crate::results::caching::source_path;

impl App {
    /// Purges the entries that the administrator's request selects.
    pub(super) async fn purge<B>(&self, head: &Parts, body: B) -> Result<Reply, Error>
    where
        B: Body<Data = Bytes>,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        if head.method != Method::POST {
            return Err(Error::PostOnly(head.method.clone()));
        }
        let token = self.token.as_ref().ok_or(Error::NoPurges)?;
        if !token.opens(&head.headers) {
            return Err(Error::Unauthorized);
        }
        let reading = tokio::time::timeout(self.timeout, purge::read(body)).await;
        let order = reading
            .map_err(|_| Error::Late(self.timeout))?
            .map_err(Error::PurgeRequest)?;
        let (selector, of_sources) = match order.into_purge()? {
            Purge::Results(selector) => (selector.clone(), vec![selector]),
            Purge::Url(url) => self.selectors_of(&url).await?,
        };
        // All decoded frames are dropped: decoding them again takes less than finding out which ones are affected.
        self.maker.admission.clear_frames();
        if let Some(pool) = andon_isolation::installed() {
            pool.forgive();
        }
        let outcome = self.maker.results.purge(selector, of_sources).await;
        Ok(response::purged(outcome))
    }

    /// Returns the selector for the results of a URL, and the selectors for its source and its overlay images. The results
    /// are selected by the cache tag that they share or, if the facts about the source are no longer cached, by the
    /// whole source.
    async fn selectors_of(&self, url: &str) -> Result<(Selector, Vec<Selector>), Error> {
        let results = &self.maker.results;
        // The administrator's token stands in for a signature.
        let mut request = self.maker.resolver.read(url)?;
        negotiation::settle_without_accept(&mut request, self.negotiation.background());
        let settled = SettledRequest {
            request: Arc::new(request),
            negotiated: false,
            is_open: false,
        };
        let identity = match settled.request.is_file() {
            true => Some(results.names.file(&settled)),
            false => {
                let key = results.names.facts(&settled.request);
                let facts = results.facts.get(&key, &results.cache).await;
                facts.and_then(|entry| results.names.resolve(&settled, &entry.facts).ok())
            }
        };
        let source = Selector::Source(source_path(&settled.request));
        let results = match identity {
            Some(identity) => Selector::Tag(identity.tag),
            None => source.clone(),
        };
        let overlays = settled.request.rules.overlays().into_iter();
        let overlays = overlays.filter_map(|name| self.maker.resolver.overlay_path(&name));
        let sources = [source].into_iter().chain(overlays.map(Selector::Source));
        Ok((results, sources.collect()))
    }
}
