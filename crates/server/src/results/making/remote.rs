//! Results of sources that are fetched over a network: when to ask the origin, what to serve meanwhile, and what to do
//! when it does not answer.

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
use crate::results::caching::{Known, Notes, Resolved, Terms, fallen, source_path};
use crate::sources::resolver::OpenSource;
use crate::trace;

impl Maker {
    /// Obtains the result for a source whose origin is asked over a network.
    pub(super) async fn remote(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: Lookup,
    ) -> Result<ObtainedResult, Error> {
        let results = &self.results;
        let hit = lookup.hit.clone();
        if let Some((hit, left)) = hit.as_ref().and_then(|hit| Some((hit, fresh_for(hit)?))) {
            return Ok(ObtainedResult::hit(hit, left, ctx.began));
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
            (renewed, _) => renewed,
        }
    }

    /// Renews a result in the background. Only one renewal of a result runs at a time, and after a failed one there is
    /// none for a while.
    fn renew_behind(self: &Arc<Self>, ctx: &RequestContext, lookup: Lookup) {
        let key = lookup.key(ctx);
        let renewing = &self.results.renewing;
        if renewing.claim(key, (), self.timeout).is_some() {
            return;
        }
        let (maker, ctx) = (self.clone(), ctx.clone());
        let renewing = async move {
            let deadline = Instant::now() + maker.timeout;
            let allowance = Allowance {
                deadline: deadline.into(),
                ..ctx.allowance
            };
            let ctx = maker.context(ctx.variant, allowance);
            let renewal = maker.renew(&ctx, lookup);
            let renewed = tokio::time::timeout_at(deadline.into(), renewal).await;
            maker.results.renewing.remove(&key);
            if !matches!(renewed, Ok(Ok(_))) {
                let pause = maker.results.config.negative.0;
                maker.results.renewing.insert_for(key, (), pause);
            }
        };
        tokio::spawn(trace::within(trace::current(), renewing));
    }

    /// Asks the origin whether the old result is still good, and makes a new one if not.
    async fn renew(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: Lookup,
    ) -> Result<ObtainedResult, Error> {
        let is_stale = lookup.hit.is_some();
        let flight = self.results.flight(&lookup.key(ctx), ctx.state());
        let maker = self.clone();
        let work = move |job: RequestContext| async move {
            if let Some(made) = maker.made_meanwhile(&job).await {
                return Ok(made);
            }
            let old = is_stale.then(|| lookup.key(&job));
            let renewed = maker.shared_or_renewed(&job, lookup).await;
            if let (Some(old), Err(error)) = (old, &renewed) {
                maker.end_if_superseded(&job, old, error);
            }
            renewed
        };
        let landed = self.fly(flight, ctx, work).await;
        ObtainedResult::landed(landed, is_stale, ctx.began)
    }

    /// Ends the old result unless its renewal has failed for a reason for which RFC 5861 allows stale responses (any
    /// 5xx): if the origin has answered that the source is gone, or with one of which no result can be made, that is
    /// the answer from now on. An entry without bytes, which is never sent, takes the old one's place in memory and on
    /// disk.
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

    /// Returns a fresh result that another computation made between the look-up and the start of this one.
    async fn made_meanwhile(&self, ctx: &RequestContext) -> Option<Made> {
        let resolved = self.resolve_known(&ctx.variant).await?;
        let wanted = |hit: &Hit| fresh_for(hit).is_some();
        let hit = (self.results.cache.get_again(&resolved.key, wanted)).await?;
        let left = fresh_for(&hit)?;
        Some(Made::reused(&hit, false, left, ctx.began))
    }

    /// Fetches the source if it has changed, and makes the result of it.
    pub(super) async fn renewed(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: Lookup,
    ) -> Result<Made, Error> {
        let request = ctx.request();
        let deadline = &ctx.allowance.deadline;
        let materials = self.open_materials(request, deadline).await?;
        // An old result is only worth asking about if what it is composed with is the same too.
        let old = lookup.both().and_then(|(hit, resolved)| {
            let source = Notes::of(&hit.entry).source?;
            let now = Validators::of_fetched(&resolved.text, &source, &materials.states());
            (now.etag == hit.entry.etag).then_some((resolved.key, &hit.entry, source))
        });
        let validators = old.as_ref().map(|(.., source)| source.clone());
        let source = match (self.fetch(request, validators, deadline).await?, old) {
            (Fetch::Body(source), _) => source,
            (Fetch::NotModified(said), Some((key, old, _))) => {
                let place = request.source.place();
                let terms = Terms::again(&self.results.config, &place, said, old);
                let terms = terms.with_overlays(&self.results.config, &materials);
                return Ok(self.prolong(ctx, key, old, &terms));
            }
            (Fetch::NotModified(_), None) => return Err(OriginError::Status(304).into()),
        };
        let said = source.freshness;
        let terms = Terms::of_origin(&self.results.config, &request.source.place(), said);
        let terms = terms.with_overlays(&self.results.config, &materials);
        let (validators, bytes) = (source.validators.clone(), source.bytes.clone());
        let found = self.resolver.found(request, (*source).clone(), materials);
        drop(source);
        let shared = terms.shared.then_some(ctx.ticket);
        let (resolved, facts) = self.resolve_fetched(&ctx.variant, &found, bytes).await?;
        if (lookup.resolved).is_some_and(|before| before.key == resolved.key) {
            self.publish(&ctx.variant, &resolved, facts, shared);
            return (self.make(ctx, &resolved, found, Some(validators), terms)).await;
        }
        // By the resolved key, so that equivalent URLs and later requests join this computation.
        let flight = self.results.flight(&resolved.key, ctx.state());
        let maker = self.clone();
        let work = move |ctx: RequestContext| async move {
            maker.publish(&ctx.variant, &resolved, facts, shared);
            (maker.prolonged_or_made(&ctx, &resolved, found, validators, terms)).await
        };
        Ok(self.fly(flight, ctx, work).await.map_err(fallen)?.value?)
    }

    /// Makes a result of a source that was fetched, unless the cache has one of this very source, which another
    /// spelling of the request may have made before.
    async fn prolonged_or_made(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        found: OpenSource,
        source: SourceValidators,
        terms: Terms,
    ) -> Result<Made, Error> {
        let etag = found.validators(&resolved.text).etag;
        match self.results.cache.get(&resolved.key).await {
            Some(hit) if hit.entry.etag == etag => {
                Ok(self.prolong(ctx, resolved.key, &hit.entry, &terms))
            }
            _ => self.make(ctx, resolved, found, Some(source), terms).await,
        }
    }

    /// Fetches a source over a network, once for all requests that want it now.
    pub(super) async fn fetch(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        known: Option<SourceValidators>,
        deadline: &Deadline,
    ) -> Result<Fetch, Error> {
        let identity = known.as_ref().map_or("", |known| &known.identity);
        let key = self.results.fetch(request, identity);
        let work = {
            let (maker, request, trace) = (self.clone(), request.clone(), trace::current());
            move |deadline: Deadline| {
                trace::within(trace, async move {
                    let budget = maker.fetcher.budget(deadline);
                    let fetched = maker.kept_or_fetched(&request, known, &budget).await;
                    fetched.map_err(Error::shared)
                })
            }
        };
        let landed = self.results.fetches.run(key, deadline, work).await;
        Ok(landed.map_err(fallen)?.value?)
    }

    /// Returns a source that is kept, or asks its origin.
    async fn kept_or_fetched(
        &self,
        request: &ImageRequest,
        known: Option<SourceValidators>,
        budget: &Budget,
    ) -> Result<Fetch, Error> {
        let results = &self.results;
        let (name, origin) = (results.source(request), self.resolver.origin(request));
        let ticket = results.sources.ticket();
        let kept = match results.sources.look_up(&name, &origin, budget).await {
            // Its end may have been an accident, which only a decoder sees.
            Known::Source(source) if source.bounded || !request.is_file() => {
                let same = known.is_some_and(|known| known == source.validators);
                return Ok(match same {
                    true => Fetch::NotModified(source.freshness),
                    false => Fetch::Body(Arc::new(source)),
                });
            }
            Known::Fault(fault) => return Err(fault.into()),
            Known::Stale(validators) => Some(validators),
            Known::Source(_) | Known::Nothing => None,
        };
        let lifetime = |said| {
            let terms = Terms::of_origin(&results.config, &request.source.place(), said);
            (terms.shared && !is_signed(request.source.as_str())).then_some(terms.life.fresh_for)
        };
        let asked = known.as_ref().or(kept.as_ref());
        let fetched = self.resolver.fetch(request, asked, budget).await;
        match fetched {
            Ok(Fetched::Body(source)) => {
                if let Some(fresh_for) = lifetime(source.freshness) {
                    let place = source_path(request);
                    (results.sources).keep(name, &place, &source, fresh_for, ticket);
                }
                Ok(Fetch::Body(Arc::new(source)))
            }
            Ok(Fetched::NotModified(said)) => {
                let renewed = async {
                    if asked != kept.as_ref() {
                        return None;
                    }
                    let sources = &results.sources;
                    sources.renewed(name, said, lifetime, ticket, budget).await
                };
                match (renewed.await, &known) {
                    (_, Some(_)) => Ok(Fetch::NotModified(said)),
                    (Some(source), None) => Ok(Fetch::Body(Arc::new(source))),
                    // It had to make room meanwhile.
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

    /// Keeps the old result again, on new terms.
    fn prolong(&self, ctx: &RequestContext, key: Key, old: &Entry, terms: &Terms) -> Made {
        let notes = Notes {
            client: terms.client.clone(),
            ..Notes::of(old)
        };
        let entry = Entry {
            life: terms.life,
            notes: notes.written(),
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

/// Whether a URL carries a signature, which expires at some time.
fn is_signed(source: &str) -> bool {
    let query = source.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        SIGNATURES.iter().any(|it| it.eq_ignore_ascii_case(name))
    })
}

/// Query parameters that hold the signature in signed URLs of the clouds.
const SIGNATURES: [&str; 4] = ["X-Amz-Signature", "X-Goog-Signature", "Signature", "sig"];

impl Lookup {
    /// Returns the key of the result or, as long as that is not known, of the unresolved request.
    fn key(&self, ctx: &RequestContext) -> Key {
        let resolved = self.resolved.as_ref();
        resolved.map_or(ctx.variant.unresolved, |resolved| resolved.key)
    }
}
