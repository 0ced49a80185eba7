//! Results of files in folders: when to look at the file again, and what to serve when it cannot be read.

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

/// A place in the queue that was taken before the file was opened.
struct PlaceInQueue {
    making: Making,
    /// Key of the bytes that the file had when it was last looked at.
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

    /// Obtains the result by a look at its files: the one that was looked up if they have not changed, or a new one.
    async fn checked_or_made(
        self: &Arc<Self>,
        ctx: &RequestContext,
        lookup: &Lookup,
        headers: &HeaderMap,
    ) -> Result<Answer, Error> {
        let (place, known) = match self.place(ctx, lookup, headers) {
            Ok(place) => (place, None),
            Err(refusal) => (
                None,
                Some(self.known_elsewhere(ctx, lookup, refusal).await?),
            ),
        };
        let lookup = known.as_ref().unwrap_or(lookup);
        let found = self.open(ctx.request(), &ctx.allowance.deadline).await?;
        if let Some(obtained) = self.still_current(ctx, lookup, &found) {
            return Ok(Answer::Result(obtained));
        }
        // The file has changed, or nothing is known of it yet.
        let is_stale = lookup.hit.is_some();
        let (found, resolved) = self.resolve(ctx, found).await?;
        let before = lookup.resolved.as_ref();
        if before.is_none_or(|before| before.key != resolved.key) {
            let lookup = Lookup {
                hit: self.results.cache.get(&resolved.key).await,
                resolved: Some(resolved.clone()),
            };
            if let Some(obtained) = self.still_current(ctx, &lookup, &found) {
                return Ok(Answer::Result(obtained));
            }
        }
        let validators = found.validators(&resolved.text);
        if validators.unchanged(headers) {
            return Ok(Answer::Unchanged(validators));
        }
        let (source, materials) = (found.source_key(), found.materials_state());
        let flight = self.flight_of(ctx, &resolved, source, &materials);
        if let Some(fault) = self.results.faults.get(&flight) {
            return Err(fault.into());
        }
        let maker = self.clone();
        let work = move |job: RequestContext| async move {
            let (found, _until_made) = with_place(found, place);
            maker.made_of_file(&job, &resolved, found).await
        };
        let landed = self.fly(flight, ctx, work).await;
        ObtainedResult::landed(landed, is_stale, ctx.began).map(Answer::Result)
    }

    /// Returns the result that was looked up if its file was checked a moment ago.
    fn checked_lately(&self, ctx: &RequestContext, lookup: &Lookup) -> Option<ObtainedResult> {
        let (hit, resolved) = lookup.both()?;
        let left = self.results.current_for(&resolved.key)?;
        Some(ObtainedResult::hit(hit, left, ctx.began))
    }

    /// Returns the result that was looked up if the file has not changed since, and remembers that for a moment.
    fn still_current(
        &self,
        ctx: &RequestContext,
        lookup: &Lookup,
        found: &OpenSource,
    ) -> Option<ObtainedResult> {
        let (hit, resolved) = lookup.both()?;
        if hit.entry.etag != found.validators(&resolved.text).etag {
            return None;
        }
        let fresh = self.results.config.fs_fresh.0;
        self.results.saw_current(resolved.key);
        Some(ObtainedResult::hit(hit, fresh, ctx.began))
    }

    /// Returns the result that was looked up in place of the error, if a file cannot be read or an overlay image cannot
    /// be fetched at the moment and the result was current within `stale_if_error`.
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

    /// Returns the key of the computation of a result from this state of its files: a changed file is another result,
    /// and so is its fault.
    fn flight_of(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        source: Key,
        materials: &str,
    ) -> Key {
        let state = format!("{source} {materials} {}", ctx.state());
        self.results.flight(&resolved.key, &state)
    }

    /// Returns what is known of a result that nothing can be made of now: one that another node has put into the store
    /// that nodes share. The file is not looked at for this, so without such a store a refusal costs next to nothing.
    ///
    /// # Errors
    /// The fault that the making of this result from the file's last known state has ended in, if it is remembered;
    /// otherwise the `refusal`.
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
            && request.rules.materials().is_empty()
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

    /// Admits a request to the queue by the state that its file had when it was last looked at, because under overload
    /// even looking at it again is too much. Returns `None` for a file that was not looked at before, for a client that
    /// may have the result, and for a result that is already being made, as joining that costs nothing.
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

    /// Returns the result of a file: one that was made between the look-up and now, or one that is made now.
    async fn made_of_file(
        &self,
        ctx: &RequestContext,
        resolved: &Resolved,
        found: OpenSource,
    ) -> Result<Made, Error> {
        let (results, key) = (&self.results, resolved.key);
        let fresh = results.config.fs_fresh.0;
        let look = (found.size(), found.source_key());
        let etag = found.validators(&resolved.text).etag;
        let made = match results
            .cache
            .get_again(&key, |hit| hit.entry.etag == etag)
            .await
        {
            Some(hit) => Made::reused(&hit, false, fresh, ctx.began),
            None => {
                let terms = Terms::of_file(&results.config, &ctx.request().source.place());
                let terms = terms.with_overlays(&results.config, found.materials());
                self.shared_or_made(ctx, resolved, found, terms).await?
            }
        };
        self.looks
            .insert(ctx.request().source.as_str().into(), look);
        results.saw_current(key);
        Ok(made)
    }
}

/// Gives a source the place in the queue that was taken for it, unless the file has changed since. Also returns what
/// marks the result as being made.
fn with_place(mut found: OpenSource, place: Option<PlaceInQueue>) -> (OpenSource, Option<Making>) {
    let Some(place) = place else {
        return (found, None);
    };
    if place.source == found.source_key() {
        found.admitted.get_or_insert(place.admitted);
    }
    (found, Some(place.making))
}
