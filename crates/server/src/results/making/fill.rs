//! Fills the store that nodes share with results for which no client waits.

use std::sync::Arc;
use std::time::Instant;

use hyper::HeaderMap;

use super::{Answer, Maker, fresh_for};
use crate::error::Error;
use crate::response::cache_status::CacheStatus;
use crate::results::variant::RequestVariant;

/// Outcome of filling the store with one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filled {
    /// The store already had the result, as good as a new one.
    Present,
    /// The result was made, and is in the store now.
    Stored,
    /// The result was left out of the store, for the reason that the text states.
    Left(String),
}

impl Maker {
    /// Makes a result unless the store that nodes share has it, and waits until it is written there.
    pub(crate) async fn fill(
        self: &Arc<Self>,
        known: &Arc<RequestVariant>,
        deadline: Instant,
    ) -> Result<Filled, Error> {
        // Files are made meanwhile rather than waited for; other sources are not.
        if !known.is_remote && self.is_in_store(known, deadline).await? {
            return Ok(Filled::Present);
        }
        let headers = HeaderMap::new();
        let answer = self.obtain(known, &headers, None, deadline).await?;
        let Answer::Result(obtained) = answer else {
            return Ok(Filled::Left("no result was made".to_owned()));
        };
        if matches!(obtained.status, CacheStatus::Shared { .. }) {
            return Ok(Filled::Present);
        }
        self.results.cache.flush().await;
        Ok(match self.is_in_store(known, deadline).await? {
            true => Filled::Stored,
            false => Filled::Left(self.results.why_not_shared(&obtained.entry)),
        })
    }

    /// Whether a node that has nothing else would take this result from the store that nodes share.
    async fn is_in_store(
        self: &Arc<Self>,
        known: &Arc<RequestVariant>,
        deadline: Instant,
    ) -> Result<bool, Error> {
        let (results, cache) = (&self.results, &self.results.cache);
        let ticket = cache.ticket();
        if !known.is_remote {
            let found = self.open(&known.asked.request).await?;
            let (found, resolved) = self.resolve(known, found, ticket, deadline).await?;
            let etag = found.validators(&resolved.text).etag;
            let hit = cache.get_from_store(&resolved.key, ticket).await;
            return Ok(hit.is_some_and(|hit| hit.entry.etag == etag));
        }
        let purges = results.purges();
        let Some(facts) = results.facts.get_shared(&known.facts, cache).await else {
            return Ok(false);
        };
        let Ok(resolved) = self.resolved(known, Some(&facts), purges) else {
            return Ok(false);
        };
        let hit = cache.get_from_store(&resolved.key, ticket).await;
        Ok(hit.is_some_and(|hit| fresh_for(&hit).is_some()))
    }
}
