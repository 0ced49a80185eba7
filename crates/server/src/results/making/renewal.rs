//! Results of sources that are asked for over a network: when to ask, what to serve meanwhile, and what to
//! do when nobody answers.

use std::sync::Arc;
use std::time::Instant;

use andon_cache::{Cancellation, Entry, Freshness, Hit, Key};
use andon_dialects::ImageRequest;

use super::obtained::{Obtained, fallen};
use super::result::ResultJob;
use super::{Fetch, Made, Maker, fresh_for};
use crate::error::OriginError;
use crate::error::{Error, SharedError};
use crate::origins::{Fetched, Source, SourceValidators};
use crate::request::conditional::Validators;
use crate::request::negotiation::SettledRequest;
use crate::results::caching::{Notes, Terms};

impl Maker {
    /// Of an origin that is asked over a network.
    pub(super) async fn remote(
        self: &Arc<Self>,
        key: Key,
        hit: Option<Hit>,
        asked: &SettledRequest,
        deadline: Instant,
        began: Instant,
    ) -> Result<Obtained, Error> {
        let results = &self.results;
        if let Some((hit, left)) = hit.as_ref().and_then(|hit| Some((hit, fresh_for(hit)?))) {
            return Ok(Obtained::hit(hit, left, began));
        }
        let flight = results.flight(&key, "");
        if let Some((fault, _)) = results.faults.get(&flight) {
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
                self.renew_behind(key, asked, hit);
                return Ok(Obtained::stale(hit, began));
            }
            if if_error && results.troubles.get(&key).is_some() {
                return Ok(Obtained::stale(hit, began));
            }
        }
        let old = hit.as_ref().map(|hit| hit.entry.clone());
        match (self.renew(key, asked, old, deadline, began).await, &hit) {
            (Err(error), Some(hit)) if if_error && error.status().is_server_error() => {
                results
                    .troubles
                    .remember(key, (), results.config.negative.0);
                Ok(Obtained::stale(hit, began))
            }
            (renewed, _) => renewed,
        }
    }

    /// One renewal at a time, and after a failed one none for a while.
    fn renew_behind(self: &Arc<Self>, key: Key, asked: &SettledRequest, hit: &Hit) {
        if !self.results.renewing.claim(key, (), self.timeout) {
            return;
        }
        let (maker, asked, old) = (self.clone(), asked.clone(), hit.entry.clone());
        tokio::spawn(async move {
            let began = Instant::now();
            let deadline = began + maker.timeout;
            let renewal = maker.renew(key, &asked, Some(old), deadline, began);
            let renewed = tokio::time::timeout_at(deadline.into(), renewal).await;
            maker.results.renewing.forget(&key);
            if !matches!(renewed, Ok(Ok(_))) {
                let pause = maker.results.config.negative.0;
                maker.results.renewing.remember(key, (), pause);
            }
        });
    }

    /// Asks the origin whether the old result is still good, and makes a new one if not.
    async fn renew(
        self: &Arc<Self>,
        key: Key,
        asked: &SettledRequest,
        old: Option<Arc<Entry>>,
        deadline: Instant,
        began: Instant,
    ) -> Result<Obtained, Error> {
        let stale = old.is_some();
        let flight = self.results.flight(&key, "");
        let work = {
            let (maker, asked) = (self.clone(), asked.clone());
            move |_: Cancellation| async move {
                let ticket = maker.results.cache.ticket();
                let job = ResultJob {
                    key,
                    flight,
                    ticket,
                    asked,
                    deadline,
                    began,
                };
                let made = maker.renewed(&job, old).await;
                made.map_err(|error| maker.note_fault(&job, error))
            }
        };
        let landed = self.results.flights.run(flight, work).await;
        Obtained::landed(landed, stale, began)
    }

    async fn renewed(
        self: &Arc<Self>,
        job: &ResultJob,
        old: Option<Arc<Entry>>,
    ) -> Result<Made, Error> {
        let request = &job.asked.request;
        let materials = {
            let (resolver, request) = (self.resolver.clone(), request.clone());
            let open = move || resolver.open_materials(&request);
            self.fetcher.run(open).await?
        };
        // An old result is only worth asking about if what it is composed with is the same too.
        let known = old.and_then(|old| {
            let notes = Notes::of(&old);
            let source = notes.source.clone()?;
            let text = self.resolver.result_text(request);
            let now = Validators::of_fetched(&text, &source, &materials.identities());
            (now.etag == old.etag).then_some((old, notes, source))
        });
        let source = known.as_ref().map(|(_, _, source)| source.clone());
        let source = match (self.fetch(request, source, job.deadline).await?, known) {
            (Fetch::Body(source), _) => source,
            (Fetch::NotModified(said), Some((old, notes, _))) => {
                let terms = Terms::of_origin(&self.results.config, request.source.as_str(), said);
                return Ok(self.prolong(job, &old, notes, terms));
            }
            (Fetch::NotModified(_), None) => return Err(OriginError::Status(304).into()),
        };
        let terms = Terms::of_origin(
            &self.results.config,
            request.source.as_str(),
            source.freshness,
        );
        let validators = source.validators.clone();
        let found = self.resolver.found(request, copy_of(&source), materials);
        drop(source);
        self.make(job, found, Some(validators), terms).await
    }

    /// Fetches a source over a network, together with all who want it now.
    async fn fetch(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        known: Option<SourceValidators>,
        deadline: Instant,
    ) -> Result<Fetch, Error> {
        let identity = known.as_ref().map_or("", |known| &known.identity);
        let key = self.results.fetch(request, identity);
        let work = {
            let (maker, request) = (self.clone(), request.clone());
            move |_: Cancellation| async move {
                let budget = maker.fetcher.budget(deadline);
                match maker
                    .resolver
                    .fetch(&request, known.as_ref(), &budget)
                    .await
                {
                    Ok(Fetched::Body(source)) => Ok(Fetch::Body(Arc::new(source))),
                    Ok(Fetched::NotModified(said)) => Ok(Fetch::NotModified(said)),
                    Err(error) => Err(SharedError::new(error)),
                }
            }
        };
        let landed = self.results.fetches.run(key, work).await;
        Ok(landed.map_err(fallen)?.value?)
    }

    /// The old result again, on new terms.
    fn prolong(&self, job: &ResultJob, old: &Entry, mut notes: Notes, terms: Terms) -> Made {
        notes.client = terms.client.clone();
        let entry = Entry {
            life: terms.life,
            notes: notes.written(),
            ..old.clone()
        };
        let stages = vec![("fetch", job.began.elapsed())];
        self.keep(job, entry, &terms, stages, true)
    }
}

fn copy_of(source: &Source) -> Source {
    Source {
        bytes: source.bytes.clone(),
        validators: source.validators.clone(),
        freshness: source.freshness,
        media_type: source.media_type.clone(),
        hold: source.hold.clone(),
        bounded: source.bounded,
    }
}
