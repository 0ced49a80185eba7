//! Results that another node has made: they are looked up in the store that nodes share, within the computation that
//! would make them. The look-up starts first, but not by much; after that both run, and the first complete result is
//! taken.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Hit, found_or_made};
use andon_dialects::Ask;

use super::{Lookup, Made, Maker, RequestContext, Reuse, fresh_for};
use crate::error::Error;
use crate::request::conditional::Validators;
use crate::results::caching::{Notes, Resolved, Terms};
use crate::sources::resolver::OpenSource;

/// The outcome of a look-up in the shared store, which races with making the result.
type Found = andon_cache::Found<Made, (Arc<Resolved>, Hit)>;

impl Maker {
    /// Returns the result for a file: one that another node made from the same file, or one that is made now.
    pub(super) async fn shared_or_made(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        found: OpenSource,
        terms: Terms,
    ) -> Result<Made, Error> {
        if ctx.request().ask != Ask::Image || !self.results.shares() {
            return self.make(ctx, resolved, found, None, terms).await;
        }
        // Whoever could have it in a moment does not wait for longer than that.
        let most = self.admission.expected_cost(found.size());
        let etag = found.validators(&resolved.text).etag;
        let look_up = async {
            let began = Instant::now();
            let hit = self.results.cache.get_from_store(&resolved.key, ctx.ticket);
            let hit = hit.await.filter(|hit| hit.entry.etag == etag)?;
            let left = self.results.config.fs_fresh.0;
            Some(Found::Fresh(Made::reused(&hit, true, left, began)))
        };
        self.first_of(most, look_up, |_| {
            self.make(ctx, resolved, found, None, terms)
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
            return self.renewed(ctx, lookup).await;
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
            self.renewed(ctx, lookup)
        })
        .await
    }

    /// Returns what the store has, or else what is made. The look-up runs alone for `most` at the longest.
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

    /// Looks a result up in the store by what this node knows of the source or, on a node that never saw it, by what
    /// others have noted.
    async fn look_up_in_store(
        self: &Arc<Self>,
        ctx: &RequestContext,
        resolved: Option<Arc<Resolved>>,
    ) -> Option<Found> {
        let (began, known, results) = (Instant::now(), &ctx.variant, &self.results);
        let resolved = match resolved {
            Some(resolved) => resolved,
            None => {
                let purges = results.purges();
                let facts = results.facts.get_shared(&known.facts, &results.cache);
                let facts = facts.await?;
                self.resolved(known, Some(&facts), purges).ok()?
            }
        };
        let hit = self.fitting(ctx, &resolved).await?;
        Some(match fresh_for(&hit) {
            Some(left) => Found::Fresh(Made::reused(&hit, true, left, began)),
            None => Found::Stale((resolved, hit)),
        })
    }

    /// Returns the stored result if it was composed with the overlay images that this node has.
    async fn fitting(self: &Arc<Self>, ctx: &RequestContext, resolved: &Resolved) -> Option<Hit> {
        let request = ctx.request();
        let cache = &self.results.cache;
        let hit = cache.get_from_store(&resolved.key, ctx.ticket).await?;
        if request.rules.materials().is_empty() {
            return Some(hit);
        }
        let deadline = &ctx.allowance.deadline;
        let materials = self.open_materials(request, deadline).await.ok()?;
        let source = Notes::of(&hit.entry).source?;
        let here = Validators::of_fetched(&resolved.text, &source, &materials.states());
        (here.etag == hit.entry.etag).then_some(hit)
    }
}

impl Made {
    pub(super) fn reused(hit: &Hit, from_store: bool, left: Duration, began: Instant) -> Self {
        let stage = if from_store { "store" } else { "cache" };
        Self {
            entry: hit.entry.clone(),
            stages: Arc::new(vec![(stage, began.elapsed())]),
            stored: true,
            not_modified: false,
            reused: Some(Reuse {
                from_store,
                age: hit.age,
                left,
            }),
        }
    }
}
