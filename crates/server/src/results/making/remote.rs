//! Results of sources that are fetched over a network: when the origin is asked, what is served meanwhile, and what
//! happens if it does not answer.
//!
//! # A stale hit
//!
//! If the lifetime of an origin's result is over, `Maker::remote` decides, in this order (values in
//! parentheses are defaults):
//!
//! | Condition | Response |
//! |---|---|
//! | the last attempt to make or renew the result ended in a remembered 400, 404, 415 or 422 (5 s) | that error |
//! | stale for less than `stale_while_revalidate` (30 s) | the stale result; `Maker::renew_behind` renews it |
//! | stale for less than `stale_if_error` (1 h), and a renewal that a request waited for failed within the last 5 s | the stale result |
//! | otherwise | waits for `Maker::renew`; after a 5xx within `stale_if_error`, the stale result |
//!
//! - `Maker::renew_behind` runs once per key, with a deadline of its own (30 s), and not within 5 s after a failure. A
//!   5xx may also be this server's own 503, such as a refusal by admission.
//! - A renewal that ends in anything but a 5xx (the source is gone, or no longer an image) ends the stale result
//!   (`Maker::end_if_superseded`): an entry without bytes, which is never sent, takes its place in memory and on disk.
//! - `Maker::renew` joins by key, and asks the origin with the validators of the source. After a 304, `Maker::prolong`
//!   stores the same bytes with a new lifetime, without admission. A new body or a changed overlay image makes it a
//!   miss.
//! - The origin's own `stale-while-revalidate` and `stale-if-error` replace the two configured times; `no-cache`,
//!   `must-revalidate`, `proxy-revalidate` and `s-maxage` alone set both to 0.
//!
//! A result of a file has no lifetime (`results/making/local.rs`). For `cache.fs_fresh` (1 s) after a check, which
//! `checks` has, the file is not opened. After that it is, and `Maker::still_current` compares the ETag: the state of
//! the file and of all overlay images. If it differs, the request waits for a new result, as a miss does from step 4 on
//! (`results::making`), and a refusal does not bring the old one back. Only if a file cannot be opened or read (an I/O
//! error), or the origin of an overlay image fails with a 5xx, does `Maker::stale_if_unreadable` send the old result:
//! for `fs_fresh` + `stale_if_error` after it was last found to be current or, without a check, was made.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Deadline, Entry, Freshness, Hit, Key};
use andon_dialects::ImageRequest;

use super::obtained::ObtainedResult;
use super::{Allowance, Fetch, Lookup, Made, Maker, RequestContext, fresh_for};
use crate::error::Error;
use crate::error::OriginError;
use crate::origins::{Budget, Fetched, SourceValidators};
use crate::request::conditional::Validators;
use crate::results::caching::{Notes, Resolved, SourceState, Terms, flight_error, source_path};
use crate::sources::resolver::OpenSource;
use crate::trace;

impl Maker {
    /// Obtains the result for a source on an origin over a network.
    pub(super) async fn remote(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: Lookup,
    ) -> Result<ObtainedResult, Error> {
        let results = &self.results;
        let hit = lookup.hit.clone();
        if let Some((hit, remaining)) = hit.as_ref().and_then(|hit| Some((hit, fresh_for(hit)?))) {
            return Ok(ObtainedResult::hit(hit, remaining, ctx.began));
        }
        let key = lookup.key(ctx);
        if let Some(fault) = results.faults.get(&results.flight(&key, ctx.state())) {
            return Err(fault.into());
        }
        let (while_renewed, if_error) = match hit.as_ref().map(|hit| hit.freshness) {
            Some(Freshness::Stale {
                may_serve_while_revalidating,
                may_serve_if_error,
            }) => (may_serve_while_revalidating, may_serve_if_error),
            _ => (false, false),
        };
        if let Some(hit) = &hit {
            if while_renewed {
                self.renew_behind(ctx, lookup);
                return Ok(ObtainedResult::stale(hit, ctx.began));
            }
            if if_error && results.failed_renewals.get(&key).is_some() {
                return Ok(ObtainedResult::stale(hit, ctx.began));
            }
        }
        match (self.renew(ctx, lookup).await, hit) {
            (Err(error), Some(hit)) if if_error && error.status().is_server_error() => {
                let pause = results.config.negative.0;
                results.failed_renewals.insert_for(key, (), pause);
                Ok(ObtainedResult::stale(&hit, ctx.began))
            }
            (result, _) => result,
        }
    }

    /// Renews a result in the background. Only one renewal of a result runs at a time, and after a failed one no other
    /// starts for a while.
    fn renew_behind(self: &Arc<Self>, ctx: &RequestContext, lookup: Lookup) {
        let key = lookup.key(ctx);
        let renewing = &self.results.renewing;
        if renewing.claim(key, (), self.timeout).is_some() {
            return;
        }
        let (maker, ctx) = (self.clone(), ctx.clone());
        let work = async move {
            let deadline = Instant::now() + maker.timeout;
            let allowance = Allowance {
                deadline: deadline.into(),
                ..ctx.allowance
            };
            let ctx = maker.context(ctx.variant, allowance);
            let renewal = maker.renew(&ctx, lookup);
            let result = tokio::time::timeout_at(deadline.into(), renewal).await;
            maker.results.renewing.remove(&key);
            if !matches!(result, Ok(Ok(_))) {
                let pause = maker.results.config.negative.0;
                maker.results.renewing.insert_for(key, (), pause);
            }
        };
        tokio::spawn(trace::within(trace::current(), work));
    }

    /// Asks the origin whether the old result is still current, and makes a new one if not.
    async fn renew(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: Lookup,
    ) -> Result<ObtainedResult, Error> {
        let is_stale = lookup.hit.is_some();
        let flight = self.results.flight(&lookup.key(ctx), ctx.state());
        let maker = self.clone();
        let work = move |job: RequestContext| async move {
            if let Some(result) = maker.made_meanwhile(&job).await {
                return Ok(result);
            }
            let old = is_stale.then(|| lookup.key(&job));
            let result = maker.shared_or_renewed(&job, lookup).await;
            if let (Some(old), Err(error)) = (old, &result) {
                maker.end_if_superseded(&job, old, error);
            }
            result
        };
        let outcome = self.fly(flight, ctx, work).await;
        ObtainedResult::from_flight(outcome, is_stale, ctx.began)
    }

    /// Replaces the old result by an entry without bytes, which is never sent, if its renewal failed with a 4xx error:
    /// the origin has no such source any more, or no result can be made of the source that it has. Does nothing for a
    /// 5xx error, because RFC 5861 allows stale responses then.
    fn end_if_superseded(&self, ctx: &RequestContext, old: Key, error: &Error) {
        if error.status().is_server_error() {
            return;
        }
        let entry = Entry {
            source: source_path(ctx.request()),
            ..Entry::default()
        };
        self.results.cache.put(old, entry, ctx.ticket);
    }

    /// Returns a fresh result that another computation has made between this request's look-up and the start of its own
    /// computation.
    async fn made_meanwhile(&self, ctx: &RequestContext) -> Option<Made> {
        let resolved = self.resolve_known(&ctx.variant).await?;
        let is_fresh = |hit: &Hit| fresh_for(hit).is_some();
        let hit = (self.results.cache.get_again(&resolved.key, is_fresh)).await?;
        let remaining = fresh_for(&hit)?;
        Some(Made::reuse(&hit, false, remaining, ctx.began))
    }

    /// Fetches the source, unless it has not changed, and makes the result.
    pub(super) async fn fetch_and_make(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: Lookup,
    ) -> Result<Made, Error> {
        let request = ctx.request();
        let deadline = &ctx.allowance.deadline;
        let overlays = self.open_overlays(request, deadline).await?;
        // Revalidating an old result only makes sense if its overlays are unchanged, too.
        let old = lookup.both().and_then(|(hit, resolved)| {
            let source = Notes::of(&hit.entry).source?;
            let now = Validators::of_fetched(&resolved.text, &source, &overlays.states());
            (now.etag == hit.entry.etag).then_some((resolved.key, &hit.entry, source))
        });
        let validators = old.as_ref().map(|(.., source)| source.clone());
        let source = match (self.fetch(request, validators, deadline).await?, old) {
            (Fetch::Body(source), _) => source,
            (Fetch::NotModified(freshness), Some((key, old, _))) => {
                let place = request.source.place();
                let terms = Terms::after_revalidation(&self.results.config, &place, freshness, old);
                let terms = terms.with_overlays(&self.results.config, &overlays);
                return Ok(self.prolong(ctx, key, old, &terms));
            }
            (Fetch::NotModified(_), None) => return Err(OriginError::Status(304).into()),
        };
        let freshness = source.freshness;
        let terms = Terms::of_origin(&self.results.config, &request.source.place(), freshness);
        let terms = terms.with_overlays(&self.results.config, &overlays);
        let (validators, bytes) = (source.validators.clone(), source.bytes.clone());
        let input = self.resolver.input_of(request, (*source).clone(), overlays);
        drop(source);
        let shared = terms.shared.then_some(ctx.ticket);
        let (resolved, facts) = self.resolve_fetched(&ctx.variant, &input, bytes).await?;
        if (lookup.resolved).is_some_and(|old| old.key == resolved.key) {
            self.publish(&ctx.variant, &resolved, facts, shared);
            return (self.make(ctx, &resolved, input, Some(validators), terms)).await;
        }
        // The computation has the resolved key, so that equivalent URLs and later requests join it.
        let flight = self.results.flight(&resolved.key, ctx.state());
        let maker = self.clone();
        let work = move |ctx: RequestContext| async move {
            maker.publish(&ctx.variant, &resolved, facts, shared);
            (maker.prolonged_or_made(&ctx, &resolved, input, validators, terms)).await
        };
        Ok(self
            .fly(flight, ctx, work)
            .await
            .map_err(flight_error)?
            .value?)
    }

    /// Makes a result of a source that was fetched. If the cache has a result of the same version of the source, such
    /// as one that was made for an equivalent URL, that result is stored again with the new caching `terms` instead.
    async fn prolonged_or_made(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        input: OpenSource,
        source: SourceValidators,
        terms: Terms,
    ) -> Result<Made, Error> {
        let etag = input.validators(&resolved.text).etag;
        match self.results.cache.get(&resolved.key).await {
            Some(hit) if hit.entry.etag == etag => {
                Ok(self.prolong(ctx, resolved.key, &hit.entry, &terms))
            }
            _ => self.make(ctx, resolved, input, Some(source), terms).await,
        }
    }

    /// Fetches a source over a network, once for all requests that need it now, unless it still has these `validators`.
    pub(super) async fn fetch(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        validators: Option<SourceValidators>,
        deadline: &Deadline,
    ) -> Result<Fetch, Error> {
        let identity = validators
            .as_ref()
            .map_or("", |validators| &validators.identity);
        let key = self.results.fetch(request, identity);
        let work = {
            let (maker, request, trace) = (self.clone(), request.clone(), trace::current());
            move |deadline: Deadline| {
                trace::within(trace, async move {
                    let budget = maker.fetcher.budget(deadline);
                    let result = maker.kept_or_fetched(&request, validators, &budget).await;
                    result.map_err(Error::shared)
                })
            }
        };
        let outcome = self.results.fetches.run(key, deadline, work).await;
        Ok(outcome.map_err(flight_error)?.value?)
    }

    /// Returns a source from the cache of sources, or fetches it from its origin.
    async fn kept_or_fetched(
        &self,
        request: &ImageRequest,
        validators: Option<SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetch, Error> {
        let results = &self.results;
        let (name, origin) = (results.source(request), self.resolver.origin(request));
        let ticket = results.sources.ticket();
        let stale = match results.sources.look_up(&name, &origin, budget).await {
            // For an unchanged file, the source must not be truncated: no decoder would notice it.
            SourceState::Source(source) if source.bounded || !request.is_file() => {
                let is_same = validators.is_some_and(|validators| validators == source.validators);
                return Ok(match is_same {
                    true => Fetch::NotModified(source.freshness),
                    false => Fetch::Body(Arc::new(source)),
                });
            }
            SourceState::Fault(fault) => return Err(fault.into()),
            SourceState::Stale(validators) => Some(validators),
            SourceState::Source(_) | SourceState::Nothing => None,
        };
        let lifetime = |freshness| {
            let terms = Terms::of_origin(&results.config, &request.source.place(), freshness);
            (terms.shared && !is_signed(request.source.as_str())).then_some(terms.life.fresh_for)
        };
        let sent_validators = validators.as_ref().or(stale.as_ref());
        let result = self.resolver.fetch(request, sent_validators, budget).await;
        match result {
            Ok(Fetched::Body(source)) => {
                if let Some(fresh_for) = lifetime(source.freshness) {
                    let place = source_path(request);
                    (results.sources).keep(name, &place, &source, fresh_for, ticket);
                }
                Ok(Fetch::Body(Arc::new(source)))
            }
            Ok(Fetched::NotModified(freshness)) => {
                let renewal = async {
                    if sent_validators != stale.as_ref() {
                        return None;
                    }
                    let sources = &results.sources;
                    sources
                        .renew(name, freshness, lifetime, ticket, budget)
                        .await
                };
                match (renewal.await, &validators) {
                    (_, Some(_)) => Ok(Fetch::NotModified(freshness)),
                    (Some(source), None) => Ok(Fetch::Body(Arc::new(source))),
                    // The cached source has been evicted since.
                    (None, None) => match self.resolver.fetch(request, None, budget).await? {
                        Fetched::Body(source) => Ok(Fetch::Body(Arc::new(source))),
                        Fetched::NotModified(_) => Err(OriginError::Status(304).into()),
                    },
                }
            }
            Err(error) => {
                let fault = error.shared();
                let negative = results.config.negative.0;
                results.sources.note(name, origin, &fault, negative);
                Err(fault.into())
            }
        }
    }

    /// Stores the old result again, with new caching terms.
    fn prolong(&self, ctx: &RequestContext, key: Key, old: &Entry, terms: &Terms) -> Made {
        let notes = Notes {
            client: terms.client.clone(),
            ..Notes::of(old)
        };
        let entry = Entry {
            life: terms.life,
            notes: notes.encode(),
            ..old.clone()
        };
        let stages = vec![("fetch", ctx.began.elapsed())];
        let cost = Duration::from_micros(notes.cost);
        Made {
            not_modified: true,
            ..self.keep(ctx, key, entry, terms, cost, stages)
        }
    }
}

/// Whether a URL contains a signature, which expires at some time.
fn is_signed(source: &str) -> bool {
    let query = source.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        SIGNATURES.iter().any(|it| it.eq_ignore_ascii_case(name))
    })
}

/// Query parameters of the signature in signed URLs of cloud object stores.
const SIGNATURES: [&str; 4] = ["X-Amz-Signature", "X-Goog-Signature", "Signature", "sig"];

impl Lookup {
    /// Returns the key of the result or, before that is known, of the unresolved request.
    fn key(&self, ctx: &RequestContext) -> Key {
        let resolved = self.resolved.as_ref();
        resolved.map_or(ctx.variant.unresolved, |resolved| resolved.key)
    }
}
