//! Results of sources that are fetched over a network: when to ask the origin, what to serve meanwhile, and what to do
//! when it does not answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Cancellation, Entry, Freshness, Hit, Key};
use andon_dialects::ImageRequest;

use super::obtained::ObtainedResult;
use super::result::ResultJob;
use super::{Fetch, Lookup, Made, Maker, fresh_for};
use crate::error::Error;
use crate::error::OriginError;
use crate::origins::{Budget, Fetched, SourceValidators};
use crate::request::conditional::Validators;
use crate::results::caching::{Known, Notes, Terms, fallen, source_path};
use crate::results::variant::RequestVariant;
use crate::trace;

impl Maker {
    /// Obtains the result for a source whose origin is asked over a network.
    pub(super) async fn remote(
        self: &Arc<Self>,
        known: &Arc<RequestVariant>,
        lookup: Lookup,
        deadline: Instant,
        began: Instant,
    ) -> Result<ObtainedResult, Error> {
        let results = &self.results;
        let hit = &lookup.hit;
        if let Some((hit, left)) = hit.as_ref().and_then(|hit| Some((hit, fresh_for(hit)?))) {
            return Ok(ObtainedResult::hit(hit, left, began));
        }
        let key = lookup.key(known);
        if let Some(fault) = results.faults.get(&results.flight(&key, lookup.state())) {
            return Err(fault.into());
        }
        let (while_renewed, if_error) = match hit.as_ref().map(|hit| hit.freshness) {
            Some(Freshness::Stale {
                may_serve_while_revalidating,
                may_serve_if_error,
            }) => (may_serve_while_revalidating, may_serve_if_error),
            _ => (false, false),
        };
        if let Some(hit) = hit {
            if while_renewed {
                self.renew_behind(known, lookup.clone());
                return Ok(ObtainedResult::stale(hit, began));
            }
            if if_error && results.failed_origins.get(&key).is_some() {
                return Ok(ObtainedResult::stale(hit, began));
            }
        }
        match (
            self.renew(known, lookup.clone(), deadline, began).await,
            hit,
        ) {
            (Err(error), Some(hit)) if if_error && error.status().is_server_error() => {
                results
                    .failed_origins
                    .insert_for(key, (), results.config.negative.0);
                Ok(ObtainedResult::stale(hit, began))
            }
            (renewed, _) => renewed,
        }
    }

    /// Renews a result in the background. Only one renewal of a result runs at a time, and after a failed one there is
    /// none for a while.
    fn renew_behind(self: &Arc<Self>, known: &Arc<RequestVariant>, lookup: Lookup) {
        let key = lookup.key(known);
        if (self.results.renewing)
            .claim(key, (), self.timeout)
            .is_some()
        {
            return;
        }
        let (maker, known) = (self.clone(), known.clone());
        let renewing = async move {
            let began = Instant::now();
            let deadline = began + maker.timeout;
            let renewal = maker.renew(&known, lookup, deadline, began);
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
        known: &Arc<RequestVariant>,
        lookup: Lookup,
        deadline: Instant,
        began: Instant,
    ) -> Result<ObtainedResult, Error> {
        let stale = lookup.hit.is_some();
        let flight = self.results.flight(&lookup.key(known), lookup.state());
        let work = {
            let (maker, known, trace) = (self.clone(), known.clone(), trace::current());
            let work = async move {
                let ticket = maker.results.cache.ticket();
                let job = ResultJob {
                    known,
                    ticket,
                    deadline,
                    began,
                    allowance: lookup.allowance,
                };
                if let Some(made) = maker.made_meanwhile(&job).await {
                    return Ok(made);
                }
                let made = maker.shared_or_renewed(&job, lookup).await;
                made.map_err(|error| maker.note_fault(flight, error))
            };
            move |_: Cancellation| trace::within(trace, work)
        };
        let landed = self.results.flights.run(flight, work).await;
        ObtainedResult::landed(landed, stale, began)
    }

    /// Returns a fresh result that another computation made between the look-up and the start of this one.
    async fn made_meanwhile(&self, job: &ResultJob) -> Option<Made> {
        let resolved = self.resolve_known(&job.known).await?;
        let wanted = |hit: &Hit| fresh_for(hit).is_some();
        let hit = (self.results.cache.get_again(&resolved.key, wanted)).await?;
        let left = fresh_for(&hit)?;
        Some(Made::reused(&hit, false, left, job.began))
    }

    pub(super) async fn renewed(
        self: &Arc<Self>,
        job: &ResultJob,
        lookup: Lookup,
    ) -> Result<Made, Error> {
        let request = &job.known.asked.request;
        let materials = {
            let (resolver, request) = (self.resolver.clone(), request.clone());
            let open = move |blocking| resolver.open_materials(&request, blocking);
            self.fetcher.open(open).await?
        };
        // An old result is only worth asking about if what it is composed with is the same too.
        let looked_up = lookup.resolved.as_ref().map(|resolved| resolved.key);
        let state = lookup.state();
        let old = lookup.resolved.zip(lookup.hit);
        let old = old.and_then(|(resolved, hit)| {
            let source = Notes::of(&hit.entry).source?;
            let now = Validators::of_fetched(&resolved.text, &source, &materials.identities());
            (now.etag == hit.entry.etag).then_some((resolved.key, hit.entry, source))
        });
        let known = old.as_ref().map(|(.., source)| source.clone());
        let source = match (self.fetch(request, known, job.deadline).await?, old) {
            (Fetch::Body(source), _) => source,
            (Fetch::NotModified(said), Some((key, old, _))) => {
                let place = request.source.place();
                let terms = Terms::again(&self.results.config, &place, said, &old);
                return Ok(self.prolong(job, key, &old, &terms));
            }
            (Fetch::NotModified(_), None) => return Err(OriginError::Status(304).into()),
        };
        let terms = Terms::of_origin(
            &self.results.config,
            &request.source.place(),
            source.freshness,
        );
        let (validators, bytes) = (source.validators.clone(), source.bytes.clone());
        let found = self.resolver.found(request, (*source).clone(), materials);
        drop(source);
        let shared = terms.shared.then_some(job.ticket);
        let (resolved, facts) = self.resolve_fetched(&job.known, &found, bytes).await?;
        if looked_up == Some(resolved.key) {
            self.publish(&job.known, &resolved, facts, shared);
            return self
                .make(job, &resolved, found, Some(validators), terms)
                .await;
        }
        // By the resolved key, so that equivalent URLs and later requests join this computation.
        let flight = self.results.flight(&resolved.key, state);
        let work = {
            let (maker, job) = (self.clone(), job.clone());
            move |_: Cancellation| async move {
                maker.publish(&job.known, &resolved, facts, shared);
                // Another spelling may have made it before, of this very source.
                if let Some(hit) = maker.results.cache.get(&resolved.key).await
                    && hit.entry.etag == found.validators(&resolved.text).etag
                {
                    return Ok(maker.prolong(&job, resolved.key, &hit.entry, &terms));
                }
                let made = maker
                    .make(&job, &resolved, found, Some(validators), terms)
                    .await;
                made.map_err(|error| maker.note_fault(flight, error))
            }
        };
        let landed = self.results.flights.run(flight, work).await;
        Ok(landed.map_err(fallen)?.value?)
    }

    /// Fetches a source over a network, once for all requests that want it now.
    async fn fetch(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        known: Option<SourceValidators>,
        deadline: Instant,
    ) -> Result<Fetch, Error> {
        let identity = known.as_ref().map_or("", |known| &known.identity);
        let key = self.results.fetch(request, identity);
        let work = {
            let (maker, request, trace) = (self.clone(), request.clone(), trace::current());
            let work = async move {
                let budget = maker.fetcher.budget(deadline);
                let fetched = maker.kept_or_fetched(&request, known, &budget).await;
                fetched.map_err(Error::shared)
            };
            move |_: Cancellation| trace::within(trace, work)
        };
        let landed = self.results.fetches.run(key, work).await;
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
    fn prolong(&self, job: &ResultJob, key: Key, old: &Entry, terms: &Terms) -> Made {
        let notes = Notes {
            client: terms.client.clone(),
            ..Notes::of(old)
        };
        let entry = Entry {
            life: terms.life,
            notes: notes.written(),
            ..old.clone()
        };
        let stages = vec![("fetch", job.began.elapsed())];
        let cost = Duration::from_micros(notes.cost);
        Made {
            not_modified: true,
            ..self.keep(job, key, entry, terms, cost, stages)
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
    /// Returns the part of a computation's key that distinguishes requests that wait for slow formats from those that
    /// do not.
    pub(super) fn state(&self) -> &'static str {
        if self.allowance.patience.is_some() {
            ""
        } else {
            "patient"
        }
    }

    /// Returns the key of the result or, as long as that is not known, of the unresolved request.
    fn key(&self, known: &RequestVariant) -> Key {
        let resolved = self.resolved.as_ref();
        resolved.map_or(known.unresolved, |resolved| resolved.key)
    }
}
