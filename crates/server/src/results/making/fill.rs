//! Fills the store that nodes share with results that no client is waiting for.

use std::sync::Arc;

use hyper::HeaderMap;

use super::{Answer, Maker, RequestContext, fresh_for};
use crate::error::Error;
use crate::response::cache_status::CacheStatus;

/// Outcome of filling the store that nodes share with one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filled {
    /// The store already had a current result.
    Present,
    /// The result was made, and is in the store now.
    Stored,
    /// The result was not stored, for the reason in the text.
    Left(String),
}

impl Maker {
    /// Makes a result unless the store that nodes share has it, and waits until it is written there.
    pub(crate) async fn fill(self: &Arc<Self>, ctx: &RequestContext) -> Result<Filled, Error> {
        // `obtain` gives the look-up of a file's result only as long a head start as making the result is expected to
        // take, so the store is checked here first.
        if !ctx.variant.is_remote && self.is_in_store(ctx).await? {
            return Ok(Filled::Present);
        }
        let Answer::Result(obtained) = self.obtain(ctx, &HeaderMap::new()).await? else {
            return Ok(Filled::Left("no result was made".to_owned()));
        };
        if matches!(obtained.status, CacheStatus::Shared { .. }) {
            return Ok(Filled::Present);
        }
        self.results.cache.flush().await;
        Ok(match self.is_in_store(ctx).await? {
            true => Filled::Stored,
            false => Filled::Left(self.results.why_not_shared(&obtained.entry)),
        })
    }

    /// Whether a node without this result would use the one in the store that nodes share.
    async fn is_in_store(self: &Arc<Self>, ctx: &RequestContext) -> Result<bool, Error> {
        let variant = &ctx.variant;
        let (results, cache) = (&self.results, &self.results.cache);
        let ticket = cache.ticket();
        if !variant.is_remote {
            let input = self.open(ctx.request(), &ctx.allowance.deadline).await?;
            let (input, resolved) = self.resolve(ctx, input).await?;
            let etag = input.validators(&resolved.text).etag;
            let hit = cache.get_from_store(&resolved.key, ticket).await;
            return Ok(hit.is_some_and(|hit| hit.entry.etag == etag));
        }
        let purges = results.purges();
        let Some(facts) = results.facts.get_shared(&variant.facts, cache).await else {
            return Ok(false);
        };
        let Ok(resolved) = self.resolve_with(variant, Some(&facts), purges) else {
            return Ok(false);
        };
        let hit = cache.get_from_store(&resolved.key, ticket).await;
        Ok(hit.is_some_and(|hit| fresh_for(&hit).is_some()))
    }
}
