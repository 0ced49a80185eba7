//! Obtains results: from the cache, from a computation that is already running, or by making them.
//!
//! Each computation runs as a task of its own, so that the request that started it may be cancelled without affecting
//! the others.
//!
//! # A miss, step by step
//!
//! The source is a file in a folder. *Joins* means that concurrent requests for the same thing share one computation.
//! Paths are below `crates/server/src/`, and values in parentheses are defaults. ARCHITECTURE.md has what comes before:
//! connection, fast path, route, variant.
//!
//! 1. `Maker::look_up` (`results/making/mod.rs`): the facts of the source that were seen last (in memory, then on disk)
//!    give the recipe in whole pixels, and so the key. The cache is looked up in memory, then on disk.
//! 2. `Maker::place` (`results/making/local.rs`): early admission by the file's last known size, before the file is
//!    opened. It needs a key and an earlier result of this path. Conditional requests and results that are being made
//!    skip it. For a refused request, `Maker::known_elsewhere` returns the error that is remembered for this file, if
//!    there is one. Otherwise it asks the `[store]`: if that has the result, the file is opened to see whether the
//!    result is current; if not, the refusal stands (503).
//! 3. `Maker::open` (`results/making/opening.rs`): fetches overlay images that are not in folders, as a source is
//!    fetched (`Maker::fetch`), and opens the file and the others, at once if that needs no disk; otherwise it waits
//!    for one of `limits.fetches` (2) slots for opening (`sources/fetch.rs`).
//! 4. `Maker::resolve` (`results/making/resolving.rs`): unless the facts are of this date and length, reads the file
//!    (as in step 7) and its header; joins by file. A file over 256 KiB needs admission for that. `HeaderReaders::read`
//!    (`sources/headers.rs`) reads short headers at once; others wait up to 5 s for a slot and may take 5 s. The facts
//!    are stored in memory and on disk, and a new key is looked up. If the client's copy is current, the response is
//!    304.
//! 5. `Maker::fly` (`results/making/mod.rs`): joins by key and state of the files, or starts a task for steps 6 to 11.
//!    The task has the latest deadline of the requests that have joined it (`andon_cache::Deadline`), at most twice as
//!    far away as the first one's, and stops when no request waits for it any more. Each request waits until its own
//!    deadline, and starts a new task if this one was cut short earlier (`Maker::obtain`). A 400, 404, 415 or 422 (but
//!    not for `limits.cpu`) is remembered in `faults` for `cache.negative` (5 s).
//! 6. `Maker::shared_or_made` (`results/making/shared.rs`), with a `[store]`: looks up the result there, alone for up
//!    to `store.wait` (40 ms) and no longer than the work would take, then along with steps 7 to 10; the first result
//!    is used.
//! 7. `Maker::image` (`results/making/image.rs`): admission, unless step 2 or 4 has admitted the request. If there are
//!    no overlay images, `SourceCache::fill` (`sources/source_cache.rs`) then reads the file; joins by file. It waits
//!    for room in `limits.held_bytes` (256 MiB), and for one of `limits.fetches` (2) reading slots unless the file is
//!    in the page cache and at most 1 MiB.
//! 8. `Maker::read_and_plan` (`results/making/image.rs`): reads overlay images, and the file with them, and plans in a
//!    slot for headers. If necessary, a worker thread measures pixels or indexes a large JPEG
//!    (`results/making/measured.rs`): a job with an admission of its own, which joins by source and is stored.
//! 9. `Maker::render` (`results/making/image.rs`): 422 for a plan over `limits.cpu` (5 s). If `Accept` allows another
//!    format and encoding takes over `negotiation.patience` (500 ms, an eighth while others wait), `App::best`
//!    (`handler/serve.rs`) starts again without it; that result is made once the server is idle.
//! 10. `Admission::run_with` (`admission/mod.rs`): second admission, by the plan; then the job waits for a worker
//!     thread and for its peak memory. `Pool::run_together` (`admission/running.rs`) decodes once for up to 16 waiting
//!     jobs of one source, and `Planned::render` (`sources/rendering.rs`) makes the bytes.
//! 11. `Maker::keep` (`results/making/result.rs`): stores the result in memory, soon after on disk and, if its planned
//!     cost is `store.min_cost` (5 ms) or more and its lifetime `store.min_life` (1 min) or more, in the store.
//!     `Maker::made_of_file` (`results/making/local.rs`) notes the file's size in `looks` for step 2, and in `checks`
//!     that the result is current, which counts for `cache.fs_fresh` (1 s).
//! 12. `reply_with` (`handler/serve.rs`): headers and 304; `App::serve` adds 412 and ranges. If the source is to blame
//!     for an error, a fallback image goes the same way (`App::fall_back`, `handler/fallback.rs`).
//!
//! For a source on a web server or in a bucket, `Maker::remote` (`results/making/remote.rs`) replaces steps 2 to 4:
//!
//! - Step 5 comes first, by key or, without facts, by the unresolved recipe. The store is asked before the origin.
//! - `Maker::fetch` joins by source. `Maker::kept_or_fetched` takes a fresh kept source, a remembered 4xx of the source
//!   (5 s) or the origin's `Retry-After` (up to 5 min). Otherwise `Client::get` (`origins/http/client.rs`) waits for
//!   its turn (`fetches_per_second`; 503 if that would come after the deadline). Then it waits for one of the origin's
//!   `fetches` (32) slots and reads the body: 20 s in all (`origin.timeouts.total`), until 20 ms before the deadline;
//!   then 504.
//! - `Maker::resolve_fetched` (`results/making/resolving.rs`) reads the header. If the key was not known before, the
//!   task joins or starts another one by key. **Admission comes only then**, in step 7; `KeptSources` has the source by
//!   now.
//! - `Terms::of_origin` (`results/caching/life.rs`) sets the lifetime: a `[[cache.rule]]`, else the origin's headers,
//!   else `cache.ttl` (10 min). `private` and `no-store` are not stored unless a rule has a `ttl`. 304 is decided in
//!   step 12.

mod context;
mod file;
mod fill;
mod idle;
mod image;
mod local;
mod measured;
mod obtained;
mod opening;
mod postponed;
mod rehearsal;
mod remote;
mod resolving;
mod result;
mod shared;
mod under_way;

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Deadline, Entry, FlightError, FlightResult, Freshness, Hit, Key, Table};
use andon_pixels::{Codec, Engine};
use hyper::HeaderMap;

pub(crate) use self::context::{Allowance, RequestContext};
pub use self::fill::Filled;
pub(crate) use self::idle::Idle;
pub(crate) use self::image::RenderTask;
pub(crate) use self::obtained::{Answer, ObtainedResult};
pub(crate) use self::postponed::Behind;
pub(crate) use self::rehearsal::{Holds, Rehearsal};
pub(crate) use self::under_way::UnderWay;
use super::variant::RequestVariant;
use crate::admission::Admission;
use crate::error::{Error, SharedError};
use crate::operations::entry::Stages;
use crate::origins::{self, Source};
use crate::results::caching::{Resolved, Results};
use crate::sources::fetch::Fetcher;
use crate::sources::headers::HeaderReaders;
use crate::sources::resolver::Resolver;
use crate::sources::source_cache::SourceCache;
use crate::trace;

/// Makes results and caches them.
pub(crate) struct Maker {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) engine: Engine,
    pub(crate) codecs: &'static [&'static dyn Codec],
    pub(crate) fetcher: Fetcher,
    pub(crate) headers: HeaderReaders,
    pub(crate) source_cache: Arc<SourceCache>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) results: Results<Made, Fetch>,
    /// For each file of which a result was made lately, by path: the file's size in bytes and the key of its content
    /// when a result was last made. At most 8192 entries.
    pub(crate) looks: Table<Arc<str>, (u64, Key)>,
    pub(crate) under_way: Arc<UnderWay>,
    /// Time limit for one request, including waiting.
    pub(crate) timeout: Duration,
    /// Maximum time for encoding a result if the client accepts other formats, too.
    pub(crate) patience: Duration,
    /// Queue of results that take longer to encode than `patience` and are made in the background.
    pub(crate) behind: Behind,
    /// Counters of requests of idle priority, which give way to all others.
    pub(crate) idle: Arc<Idle>,
    /// Whether responses contain the plan by which the result was made.
    pub(crate) plan_header: bool,
}

/// A result, and how it was obtained.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    entry: Arc<Entry>,
    stages: Arc<Stages>,
    stored: bool,
    not_modified: bool,
    /// Details of a result that had been made before, or by another node.
    reuse: Option<Reuse>,
}

/// Details of a result that was found in a cache when it was about to be made.
#[derive(Clone, Copy, Debug)]
struct Reuse {
    /// Whether the result came from the store that nodes share, and not from the cache of this node.
    from_store: bool,
    age: Duration,
    /// How much longer the result may be used.
    remaining: Duration,
}

/// The outcome of fetching a source, shared by all results that are made of it.
#[derive(Clone, Debug)]
pub(crate) enum Fetch {
    Body(Arc<Source>),
    NotModified(origins::Freshness),
}

impl Maker {
    /// Obtains the result of a request. `headers` of the request say which result the client already has.
    pub(crate) async fn obtain(
        self: &Arc<Self>,
        ctx: &RequestContext,
        headers: &HeaderMap,
    ) -> Result<Answer, Error> {
        loop {
            match self.obtain_within(ctx, headers).await {
                // The computation that this request had joined was cut short by the deadline of requests that had
                // started long before.
                Err(error) if error.is_interrupted() && !ctx.allowance.deadline.has_passed() => {}
                Err(error) if ctx.variant.asked.is_open => {
                    return Err(self.put_off(&ctx.variant, error).await);
                }
                result => return result,
            }
        }
    }

    /// Obtains the result within the allowance of the request. If encoding it is known to take longer than the
    /// allowance permits, the result is only looked up in the cache.
    async fn obtain_within(
        self: &Arc<Self>,
        ctx: &RequestContext,
        headers: &HeaderMap,
    ) -> Result<Answer, Error> {
        let lookup = self.look_up(ctx).await?;
        match ctx.variant.is_remote {
            true => self.remote(ctx, lookup).await.map(Answer::Result),
            false => self.local(ctx, lookup, headers).await,
        }
    }

    /// Resolves the request with the known facts of its source, and looks its result up in the cache.
    ///
    /// # Errors
    /// `Postponed` for a result that is known to take longer to encode than the request can wait.
    async fn look_up(&self, ctx: &RequestContext) -> Result<Lookup, Error> {
        let resolved = self.resolve_known(&ctx.variant).await;
        let hit = match &resolved {
            Some(resolved) => self.results.cache.get(&resolved.key).await,
            None => None,
        };
        if let (Some(_), Some(resolved), None) = (ctx.allowance.patience, &resolved, &hit)
            && self.results.postponed.get(&resolved.key).is_some()
        {
            return Err(Error::Postponed);
        }
        Ok(Lookup { resolved, hit })
    }

    /// Joins the computation with this key, or starts it with `work` as a task of its own. An error that would be the
    /// same the next moment is remembered.
    ///
    /// `work` is called in that task with the request's context, whose deadline is the latest one of all requests that
    /// join. The task is separate also because the future of `work` is too large to be a part of the caller's.
    async fn fly<W>(
        self: &Arc<Self>,
        flight: Key,
        ctx: &RequestContext,
        work: impl FnOnce(RequestContext) -> W + Send + 'static,
    ) -> FlightOutcome
    where
        W: Future<Output = Result<Made, Error>> + Send + 'static,
    {
        let (maker, job, trace) = (self.clone(), ctx.clone(), trace::current());
        let work = move |deadline: Deadline| {
            trace::within(trace, async move {
                let result = work(job.shared(deadline)).await;
                result.map_err(|error| maker.note_fault(flight, error))
            })
        };
        let deadline = &ctx.allowance.deadline;
        self.results.flights.run(flight, deadline, work).await
    }

    /// Checks whether images can be made: whether worker threads and threads that read headers still return from their
    /// work, and whether worker processes can be started.
    ///
    /// # Errors
    /// `Stuck` if all threads of one kind are stuck, or worker processes cannot be started.
    pub(crate) fn turns(&self) -> Result<(), Error> {
        let stuck = self.admission.stuck().or_else(|| self.headers.stuck());
        let stuck = stuck.or_else(crate::error::Stuck::of_processes);
        stuck.map_or(Ok(()), |stuck| Err(Error::Stuck(stuck)))
    }

    /// Returns the result that [`Maker::obtain`] would return, if it is in memory and no other thread, file or origin
    /// is needed; otherwise `None`.
    pub(crate) fn at_hand(
        &self,
        variant: &RequestVariant,
        start: Instant,
    ) -> Option<ObtainedResult> {
        let (cache, resolved) = (
            &self.results.cache,
            variant.resolution(self.results.purges())?,
        );
        cache.take_from_memory(&resolved.key, |hit| {
            let remaining = match variant.is_remote {
                true => fresh_for(hit)?,
                false => self.results.current_for(&resolved.key)?,
            };
            Some(ObtainedResult::hit(hit, remaining, start))
        })
    }
}

/// The resolved request and its cached result, as far as they are known before the source is opened.
#[derive(Clone, Default)]
struct Lookup {
    resolved: Option<Arc<Resolved>>,
    hit: Option<Hit>,
}

impl Lookup {
    /// Returns the cached result together with the resolved request, or `None` without a cached result.
    fn both(&self) -> Option<(&Hit, &Resolved)> {
        self.hit.as_ref().zip(self.resolved.as_deref())
    }
}

/// The outcome of a computation, for the request that started it and for those that joined it.
type FlightOutcome = Result<FlightResult<Result<Made, SharedError>>, FlightError>;

/// Returns how much longer a cached result is fresh; `None` if it is stale.
fn fresh_for(hit: &Hit) -> Option<Duration> {
    let fresh = hit.freshness == Freshness::Fresh;
    fresh.then(|| hit.entry.life.fresh_for.saturating_sub(hit.age))
}
