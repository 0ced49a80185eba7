//! Results of files in folders: when a file is checked again, and what is served if it cannot be read.

use std::sync::Arc;

use andon_cache::Key;
use andon_dialects::Ask;
use hyper::HeaderMap;

use super::obtained::{Answer, ObtainedResult};
use super::under_way::Making;
use super::{Lookup, Made, Maker, RequestContext};
use crate::admission::Admitted;
use crate::error::Error;
use crate::request::conditional;
use crate::results::caching::{Resolved, Terms};
use crate::sources::resolver::OpenSource;

/// A place in the queue that was granted before the file was opened.
struct PlaceInQueue {
    making: Making,
    /// Key of the bytes that the file had when it was last checked.
    source: Key,
    admitted: Admitted,
}

impl Maker {
    /// Obtains the result for a source in a folder. The file is checked for changes at most once per `fs_fresh`.
    pub(super) async fn local(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: Lookup,
        headers: &HeaderMap,
    ) -> Result<Answer, Error> {
        if let Some(obtained) = self.checked_lately(ctx, &lookup) {
            return Ok(Answer::Result(obtained));
        }
        match self.checked_or_made(ctx, &lookup, headers).await {
            Err(error) => {
                let obtained = self.stale_if_unreadable(ctx, &lookup, error);
                obtained.map(Answer::Result)
            }
            answer => answer,
        }
    }

    /// Obtains the result after checking its files: the cached one if they have not changed, or a new one.
    async fn checked_or_made(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: &Lookup,
        headers: &HeaderMap,
    ) -> Result<Answer, Error> {
        let (place, shared_lookup) = match self.place(ctx, lookup, headers) {
            Ok(place) => (place, None),
            Err(refusal) => (
                None,
                Some(self.known_elsewhere(ctx, lookup, refusal).await?),
            ),
        };
        let lookup = shared_lookup.as_ref().unwrap_or(lookup);
        let input = self.open(ctx.request(), &ctx.allowance.deadline).await?;
        if let Some(obtained) = self.still_current(ctx, lookup, &input) {
            return Ok(Answer::Result(obtained));
        }
        // The file has changed, or its header has not been read yet.
        let is_stale = lookup.hit.is_some();
        let (input, resolved) = self.resolve(ctx, input).await?;
        let old_resolution = lookup.resolved.as_ref();
        if old_resolution.is_none_or(|old_resolution| old_resolution.key != resolved.key) {
            let lookup = Lookup {
                hit: self.results.cache.get(&resolved.key).await,
                resolved: Some(resolved.clone()),
            };
            if let Some(obtained) = self.still_current(ctx, &lookup, &input) {
                return Ok(Answer::Result(obtained));
            }
        }
        let validators = input.validators(&resolved.text);
        if validators.unchanged(headers) {
            return Ok(Answer::Unchanged(validators));
        }
        let (source, overlays) = (input.source_key(), input.overlays_state());
        let flight = self.flight_of(ctx, &resolved, source, &overlays);
        if let Some(fault) = self.results.faults.get(&flight) {
            return Err(fault.into());
        }
        let maker = self.clone();
        let work = move |job: RequestContext| async move {
            let (input, _until_made) = with_place(input, place);
            maker.made_of_file(&job, &resolved, input).await
        };
        let outcome = self.fly(flight, ctx, work).await;
        ObtainedResult::from_flight(outcome, is_stale, ctx.began).map(Answer::Result)
    }

    /// Returns the cached result if its file was checked within `fs_fresh`.
    fn checked_lately(&self, ctx: &RequestContext, lookup: &Lookup) -> Option<ObtainedResult> {
        let (hit, resolved) = lookup.both()?;
        let remaining = self.results.current_for(&resolved.key)?;
        Some(ObtainedResult::hit(hit, remaining, ctx.began))
    }

    /// Returns the cached result if the files of `input` have not changed since it was made, and records this check.
    fn still_current(
        &self,
        ctx: &RequestContext,
        lookup: &Lookup,
        input: &OpenSource,
    ) -> Option<ObtainedResult> {
        let (hit, resolved) = lookup.both()?;
        if hit.entry.etag != input.validators(&resolved.text).etag {
            return None;
        }
        let fresh = self.results.config.fs_fresh.0;
        self.results.saw_current(resolved.key);
        Some(ObtainedResult::hit(hit, fresh, ctx.began))
    }

    /// Returns the cached result in place of the error, if a file cannot be read or an overlay image cannot be fetched
    /// at the moment, and the result was current within `stale_if_error`.
    fn stale_if_unreadable(
        &self,
        ctx: &RequestContext,
        lookup: &Lookup,
        error: Error,
    ) -> Result<ObtainedResult, Error> {
        let is_passing = match error.root() {
            Error::Io(_) => true,
            Error::Overlay { error, .. } => error.status().is_server_error(),
            _ => false,
        };
        match lookup.both() {
            Some((hit, resolved))
                if is_passing && self.results.may_stand_in(&resolved.key, hit.age) =>
            {
                Ok(ObtainedResult::stale(hit, ctx.began))
            }
            _ => Err(error),
        }
    }

    /// Returns the key of the computation of a result from this state of its files. A changed file leads to another
    /// result or error.
    fn flight_of(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        source: Key,
        overlays: &str,
    ) -> Key {
        let state = format!("{source} {overlays} {}", ctx.state());
        self.results.flight(&resolved.key, &state)
    }

    /// Returns the result from the store that nodes share, for a request that this node refuses to make now. This does
    /// not look at the file, so without such a store a refusal costs next to nothing.
    ///
    /// # Errors
    /// The error in which making the result from the file's last known state ended, if it is remembered; otherwise
    /// `refusal`.
    async fn known_elsewhere(
        &self,
        ctx: &RequestContext,
        lookup: &Lookup,
        refusal: Error,
    ) -> Result<Lookup, Error> {
        let (request, results) = (ctx.request(), &self.results);
        let Some(resolved) = &lookup.resolved else {
            return Err(refusal);
        };
        if let Some((_, source)) = self.looks.get(request.source.as_str())
            && request.rules.overlays().is_empty()
            && let Some(fault) = results
                .faults
                .get(&self.flight_of(ctx, resolved, source, ""))
        {
            return Err(fault.into());
        }
        let hit = results.cache.get_from_store(&resolved.key, ctx.ticket);
        match hit.await {
            Some(hit) => Ok(Lookup {
                resolved: Some(resolved.clone()),
                hit: Some(hit),
            }),
            None => Err(refusal),
        }
    }

    /// Admits a request to the queue by the size that its file had when it was last checked, because under overload
    /// even checking the file again is too expensive. Returns `None` for a file that has not been checked before, for a
    /// client that may already have the result, and for a result that is already being made, because joining its
    /// computation costs nothing.
    fn place(
        &self,
        ctx: &RequestContext,
        lookup: &Lookup,
        headers: &HeaderMap,
    ) -> Result<Option<PlaceInQueue>, Error> {
        let request = ctx.request();
        let resolved = match &lookup.resolved {
            Some(resolved) if lookup.hit.is_none() && request.ask == Ask::Image => resolved,
            _ => return Ok(None),
        };
        if conditional::is_conditional(headers) {
            return Ok(None);
        }
        let Some((bytes, source)) = self.looks.get(request.source.as_str()) else {
            return Ok(None);
        };
        let Some(making) = self.under_way.begin(resolved.key) else {
            return Ok(None);
        };
        let part = self.results.part_of(&source, bytes);
        let deadline = ctx.allowance.deadline.at();
        let admitted = (self.admission).enter_for_part(bytes, part, Some(source), deadline)?;
        Ok(Some(PlaceInQueue {
            making,
            source,
            admitted,
        }))
    }

    /// Returns the result of a file: the cached one if another computation has made it since the look-up, or a new one.
    async fn made_of_file(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        input: OpenSource,
    ) -> Result<Made, Error> {
        let (results, key) = (&self.results, resolved.key);
        let fresh = results.config.fs_fresh.0;
        let look = (input.size(), input.source_key());
        let etag = input.validators(&resolved.text).etag;
        let result = match results
            .cache
            .get_again(&key, |hit| hit.entry.etag == etag)
            .await
        {
            Some(hit) => Made::reuse(&hit, false, fresh, ctx.began),
            None => {
                let terms = Terms::of_file(&results.config, &ctx.request().source.place());
                let terms = terms.with_overlays(&results.config, input.overlays());
                self.shared_or_made(ctx, resolved, input, terms).await?
            }
        };
        self.looks
            .insert(ctx.request().source.as_str().into(), look);
        results.saw_current(key);
        Ok(result)
    }
}

/// Gives the source the place in the queue that was granted before its file was opened, unless the file has changed
/// since then. Also returns the guard that marks the result as being made.
fn with_place(mut input: OpenSource, place: Option<PlaceInQueue>) -> (OpenSource, Option<Making>) {
    let Some(place) = place else {
        return (input, None);
    };
    if place.source == input.source_key() {
        input.admitted.get_or_insert(place.admitted);
    }
    (input, Some(place.making))
}
