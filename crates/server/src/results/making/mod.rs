//! Obtains results: from the cache, from a computation that is already running, or by making them.
//!
//! Each computation runs as a task of its own, so that the first requester may disconnect without cancelling it for the
//! others.

mod file;
mod fill;
mod idle;
mod measured;
mod obtained;
mod picture;
mod postponed;
mod rehearsal;
mod renewal;
mod resolving;
mod result;
mod shared;
mod under_way;

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Cancellation, Entry, Freshness, Hit, Key, Table};
use andon_dialects::{Ask, ImageRequest};
use andon_pixels::{Codec, Engine};
use hyper::HeaderMap;

pub use self::fill::Filled;
pub(crate) use self::idle::{Idle, IdleTurn};
pub(crate) use self::obtained::Answer;
use self::obtained::ObtainedResult;
pub(crate) use self::picture::{Allowance, RenderTask, Task};
pub(crate) use self::postponed::Behind;
pub(crate) use self::rehearsal::{Holds, Rehearsal};
use self::result::ResultJob;
use self::under_way::Making;
pub(crate) use self::under_way::UnderWay;
use super::variant::RequestVariant;
use crate::admission::{Admission, Admitted};
use crate::error::Error;
use crate::operations::entry::Stages;
use crate::origins::{self, Source};
use crate::request::conditional::{self, Validators};
use crate::results::caching::{Resolved, Results, Terms};
use crate::sources::fetch::Fetcher;
use crate::sources::headers::HeaderReaders;
use crate::sources::resolver::Resolver;
use crate::sources::source_cache::SourceCache;

/// Makes results and keeps them.
pub(crate) struct Maker {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) engine: Engine,
    pub(crate) codecs: &'static [&'static dyn Codec],
    pub(crate) fetcher: Fetcher,
    pub(crate) headers: HeaderReaders,
    pub(crate) source_cache: Arc<SourceCache>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) results: Results<Made, Fetch>,
    /// The size in bytes and the content's key of sources in folders, by path, when a result was last made of them. At
    /// most 8192.
    pub(crate) looks: Table<Arc<str>, (u64, Key)>,
    pub(crate) under_way: Arc<UnderWay>,
    /// Time limit for one answer, including waiting.
    pub(crate) timeout: Duration,
    /// How long encoding may take for a request that another format can answer as well.
    pub(crate) patience: Duration,
    /// Results that take longer to encode and are made in the background.
    pub(crate) behind: Behind,
    /// Requests of idle priority, which give way to all others.
    pub(crate) idle: Arc<Idle>,
    /// Whether replies show the plan by which the result was made.
    pub(crate) plan_header: bool,
}

/// A result, and how it came about.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    entry: Arc<Entry>,
    stages: Arc<Stages>,
    stored: bool,
    not_modified: bool,
    /// Details of a result that was made before, or by another node.
    reused: Option<Reuse>,
}

/// How a result was found that already existed when it was about to be made.
#[derive(Clone, Copy, Debug)]
struct Reuse {
    /// Whether the result came from the store that nodes share, and not from the cache of this node.
    from_store: bool,
    age: Duration,
    /// How much longer the result may be used.
    left: Duration,
}

/// The outcome of fetching a source, shared by all results that are made of it.
#[derive(Clone, Debug)]
pub(crate) enum Fetch {
    Body(Arc<Source>),
    NotModified(origins::Freshness),
}

impl Maker {
    /// Obtains the result of a request. `headers` tell what the client already has. A request that has waited for its
    /// `turn` may take the time for every format.
    pub(crate) async fn obtain(
        self: &Arc<Self>,
        known: &Arc<RequestVariant>,
        headers: &HeaderMap,
        turn: Option<&IdleTurn>,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        let allowance = Allowance {
            patience: self.patience(known).filter(|_| turn.is_none()),
            is_idle: turn.is_some(),
        };
        let obtained = self
            .obtain_within(allowance, known, headers, deadline)
            .await;
        match obtained {
            Err(error) if known.asked.is_open => Err(self.put_off(known, error).await),
            obtained => obtained,
        }
    }

    /// Obtains the result within an allowance. A result that takes longer to encode is only taken from the cache.
    async fn obtain_within(
        self: &Arc<Self>,
        allowance: Allowance,
        known: &Arc<RequestVariant>,
        headers: &HeaderMap,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        let began = Instant::now();
        let resolved = self.resolve_known(known).await;
        let hit = match &resolved {
            Some(resolved) => self.results.cache.get(&resolved.key).await,
            None => None,
        };
        if let (Some(_), Some(resolved), None) = (allowance.patience, &resolved, &hit)
            && self.results.postponed.get(&resolved.key).is_some()
        {
            return Err(Error::Postponed);
        }
        let lookup = Lookup {
            resolved,
            hit,
            allowance,
        };
        if known.is_remote {
            let obtained = self.remote(known, lookup, deadline, began).await?;
            return Ok(Answer::Result(obtained));
        }
        self.local(known, lookup, headers, deadline, began).await
    }

    /// Checks whether new images can be made: whether worker threads and threads that read headers return from their
    /// work.
    ///
    /// # Errors
    /// `Stuck`.
    pub(crate) fn turns(&self) -> Result<(), Error> {
        let stuck = self.admission.stuck().or_else(|| self.headers.stuck());
        let stuck = stuck.or_else(crate::error::Stuck::of_processes);
        stuck.map_or(Ok(()), |stuck| Err(Error::Stuck(stuck)))
    }

    /// Returns the result that [`Maker::obtain`] would have, if it is available without asking anybody or waiting for
    /// anything. Otherwise this leaves no trace.
    pub(crate) fn at_hand(&self, known: &RequestVariant, began: Instant) -> Option<ObtainedResult> {
        let (cache, resolved) = (&self.results.cache, known.resolved(self.results.purges())?);
        cache.take_from_memory(&resolved.key, |hit| {
            let left = match known.is_remote {
                true => fresh_for(hit)?,
                false => self.results.checked.left(&resolved.key)?,
            };
            Some(ObtainedResult::hit(hit, left, began))
        })
    }

    /// Obtains the result for a source in a folder. The file is checked for changes at most once per `fs_fresh`.
    async fn local(
        self: &Arc<Self>,
        known: &Arc<RequestVariant>,
        lookup: Lookup,
        headers: &HeaderMap,
        deadline: Instant,
        began: Instant,
    ) -> Result<Answer, Error> {
        let (results, asked) = (&self.results, &known.asked);
        let state = lookup.state();
        let Lookup {
            resolved,
            hit,
            allowance,
        } = lookup;
        if let (Some(hit), Some(resolved)) = (&hit, &resolved)
            && let Some(left) = results.checked.left(&resolved.key)
        {
            return Ok(Answer::Result(ObtainedResult::hit(hit, left, began)));
        }
        let place = match &resolved {
            Some(resolved) if hit.is_none() && !conditional::is_conditional(headers) => {
                self.place(&asked.request, resolved.key, deadline)?
            }
            _ => None,
        };
        let ticket = results.cache.ticket();
        let found = match (self.open(&asked.request).await, &hit) {
            (Ok(found), _) => found,
            (Err(error), Some(hit))
                if matches!(error.root(), Error::Io(_))
                    && !results.config.stale_if_error.0.is_zero() =>
            {
                return Ok(Answer::Result(ObtainedResult::stale(hit, began)));
            }
            (Err(error), _) => return Err(error),
        };
        let is_current = |hit: &Hit, resolved: &Resolved, validators: &Validators| {
            let fresh = results.config.fs_fresh.0;
            (hit.entry.etag == validators.etag).then(|| {
                results.checked.insert_for(resolved.key, (), fresh);
                Answer::Result(ObtainedResult::hit(hit, fresh, began))
            })
        };
        if let (Some(hit), Some(resolved)) = (&hit, &resolved)
            && let Some(answer) = is_current(hit, resolved, &found.validators(&resolved.text))
        {
            return Ok(answer);
        }
        // The file has changed, or nothing is known of it yet.
        let looked_up = resolved.map(|resolved| resolved.key);
        let (mut found, resolved) = self.resolve(known, found, ticket, deadline).await?;
        let (key, validators) = (resolved.key, found.validators(&resolved.text));
        if looked_up != Some(key)
            && let Some(hit) = results.cache.get(&key).await
            && let Some(answer) = is_current(&hit, &resolved, &validators)
        {
            return Ok(answer);
        }
        if validators.unchanged(headers) {
            return Ok(Answer::Unchanged(validators));
        }
        // A changed file is another result, and so is its fault.
        let flight = results.flight(&key, &[&validators.etag, state].concat());
        if let Some(fault) = results.faults.get(&flight) {
            return Err(fault.into());
        }
        let making = place.map(|place| {
            if place.source == found.source_key() {
                found.admitted.get_or_insert(place.admitted);
            }
            place.making
        });
        let terms = Terms::of_file(&results.config, &asked.request.source.place());
        let work = {
            let (maker, known) = (self.clone(), known.clone());
            let etag = validators.etag;
            move |_: Cancellation| async move {
                let _until_made = making;
                let job = ResultJob {
                    known,
                    ticket,
                    deadline,
                    began,
                    allowance,
                };
                let look = (found.size(), found.source_key());
                let cache = &maker.results.cache;
                // Between the look-up and this flight, another one may have landed.
                let made = match cache.get_again(&key, |hit| hit.entry.etag == etag).await {
                    Some(hit) => {
                        let left = maker.results.config.fs_fresh.0;
                        Ok(Made::reused(&hit, false, left, job.began))
                    }
                    None => maker.shared_or_made(&job, &resolved, found, terms).await,
                };
                if made.is_ok() {
                    let source = job.known.asked.request.source.as_str();
                    maker.looks.insert(source.into(), look);
                    let fresh = maker.results.config.fs_fresh.0;
                    maker.results.checked.insert_for(key, (), fresh);
                }
                made.map_err(|error| maker.note_fault(flight, error))
            }
        };
        let landed = results.flights.run(flight, work).await;
        ObtainedResult::landed(landed, hit.is_some(), began).map(Answer::Result)
    }

    /// Admits a request to the queue by the state that its file had when it was last looked at, because under overload
    /// even looking at it again is too much. Returns `None` for a file that was not looked at before and for a result
    /// that is already being made, as joining that costs nothing.
    fn place(
        &self,
        request: &ImageRequest,
        result: Key,
        deadline: Instant,
    ) -> Result<Option<PlaceInQueue>, Error> {
        if request.ask != Ask::Image {
            return Ok(None);
        }
        let Some((bytes, source)) = self.looks.get(request.source.as_str()) else {
            return Ok(None);
        };
        let Some(making) = self.under_way.begin(result) else {
            return Ok(None);
        };
        let part = self.results.part_of(&source, bytes);
        let admission = &self.admission;
        let admitted = admission.enter_for_part(bytes, part, Some(source), deadline)?;
        Ok(Some(PlaceInQueue {
            making,
            source,
            admitted,
        }))
    }
}

/// A place in the queue that was taken before the file was opened.
struct PlaceInQueue {
    making: Making,
    /// Key of the bytes that the file had when it was last looked at.
    source: Key,
    admitted: Admitted,
}

/// What is known of a request's result before its source is asked for.
#[derive(Clone)]
struct Lookup {
    resolved: Option<Arc<Resolved>>,
    hit: Option<Hit>,
    allowance: Allowance,
}

/// Returns how much longer a result is fresh, wherever it was found; `None` if it is stale.
fn fresh_for(hit: &Hit) -> Option<Duration> {
    let fresh = hit.freshness == Freshness::Fresh;
    fresh.then(|| hit.entry.life.fresh_for.saturating_sub(hit.age))
}
