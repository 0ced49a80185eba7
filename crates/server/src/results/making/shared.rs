//! Results that another node has made. They are looked up in the store that nodes share, inside the computation that
//! would make them. The look-up has a short head start; after that, both run and the first complete result is used.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Hit, found_or_made};
use andon_dialects::Ask;

use super::{Lookup, Made, Maker, RequestContext, Reuse, fresh_for};
use crate::error::Error;
use crate::request::conditional::Validators;
use crate::results::caching::{Notes, Resolved, Terms};
use crate::sources::resolver::OpenSource;

/// The outcome of a look-up in the shared store.
type Found = andon_cache::Found<Made, (Arc<Resolved>, Hit)>;

impl Maker {
    /// Returns the result for a file: one that another node made from the same file, or a new one.
    pub(super) async fn shared_or_made(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        input: OpenSource,
        terms: Terms,
    ) -> Result<Made, Error> {
        if ctx.request().ask != Ask::Image || !self.results.shares() {
            return self.make(ctx, resolved, input, None, terms).await;
        }
        // The look-up has no longer head start than making the result is expected to take.
        let most = self.admission.expected_cost(input.size());
        let etag = input.validators(&resolved.text).etag;
        let look_up = async {
            let start = Instant::now();
            let hit = self.results.cache.get_from_store(&resolved.key, ctx.ticket);
            let hit = hit.await.filter(|hit| hit.entry.etag == etag)?;
            let remaining = self.results.config.fs_fresh.0;
            Some(Found::Fresh(Made::reuse(&hit, true, remaining, start)))
        };
        self.first_of(most, look_up, |_| {
            self.make(ctx, resolved, input, None, terms)
        })
        .await
    }

    /// Returns the result for a source that is fetched over a network, from the shared store or by asking the origin.
    pub(super) async fn shared_or_renewed(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: Lookup,
    ) -> Result<Made, Error> {
        let is_image = ctx.request().ask == Ask::Image;
        if lookup.hit.is_some() || !is_image || !self.results.shares() {
            return self.fetch_and_make(ctx, lookup).await;
        }
        let look_up = self.look_up_in_store(ctx, lookup.resolved.clone());
        self.first_of(Duration::MAX, look_up, |stale| {
            let lookup = match stale {
                Some((resolved, hit)) => Lookup {
                    resolved: Some(resolved),
                    hit: Some(hit),
                },
                None => lookup,
            };
            self.fetch_and_make(ctx, lookup)
        })
        .await
    }

    /// Returns the result that `look_up` finds or `make` makes, whichever comes first. The look-up runs alone for up to
    /// `store.wait` or `most`, whichever is shorter. If it ends without a fresh result before that, `make` starts then.
    async fn first_of<M>(
        &self,
        most: Duration,
        look_up: impl Future<Output = Option<Found>>,
        make: impl FnOnce(Option<(Arc<Resolved>, Hit)>) -> M,
    ) -> Result<Made, Error>
    where
        M: Future<Output = Result<Made, Error>>,
    {
        let patience = self.results.cache.patience_for_store().unwrap_or_default();
        let can_wait = |error: &Error| error.status().is_server_error();
        found_or_made(patience.min(most), look_up, make, can_wait).await
    }

    /// Looks a result up in the store, with the facts of its source that this node knows or, if it knows none, with
    /// those that another node has stored.
    async fn look_up_in_store(
        self: &Arc<Self>,
        ctx: &RequestContext,
        resolved: Option<Arc<Resolved>>,
    ) -> Option<Found> {
        let (start, variant, results) = (Instant::now(), &ctx.variant, &self.results);
        let resolved = match resolved {
            Some(resolved) => resolved,
            None => {
                let purges = results.purges();
                let facts = results.facts.get_shared(&variant.facts, &results.cache);
                let facts = facts.await?;
                self.resolve_with(variant, Some(&facts), purges).ok()?
            }
        };
        let hit = self.matching_result(ctx, &resolved).await?;
        Some(match fresh_for(&hit) {
            Some(remaining) => Found::Fresh(Made::reuse(&hit, true, remaining, start)),
            None => Found::Stale((resolved, hit)),
        })
    }

    /// Returns the result from the store if it was composed with the overlay images that this node has.
    async fn matching_result(
        self: &Arc<Self>,
        ctx: &RequestContext,
        resolved: &Resolved,
    ) -> Option<Hit> {
        let request = ctx.request();
        let cache = &self.results.cache;
        let hit = cache.get_from_store(&resolved.key, ctx.ticket).await?;
        if request.rules.overlays().is_empty() {
            return Some(hit);
        }
        let deadline = &ctx.allowance.deadline;
        let overlays = self.open_overlays(request, deadline).await.ok()?;
        let source = Notes::of(&hit.entry).source?;
        let validators = Validators::of_fetched(&resolved.text, &source, &overlays.states());
        (validators.etag == hit.entry.etag).then_some(hit)
    }
}

impl Made {
    /// Returns a result that was found in the cache or the shared store, and may be used for the time `remaining`.
    pub(super) fn reuse(hit: &Hit, from_store: bool, remaining: Duration, start: Instant) -> Self {
        let stage = if from_store { "store" } else { "cache" };
        Self {
            entry: hit.entry.clone(),
            stages: Arc::new(vec![(stage, start.elapsed())]),
            stored: true,
            not_modified: false,
            reuse: Some(Reuse {
                from_store,
                age: hit.age,
                remaining,
            }),
        }
    }
}
