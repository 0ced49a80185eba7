//! How a result is obtained: from the cache, from somebody who is already making it, or by making it.
//!
//! What runs here belongs to nobody: it runs as a flight of its own, so that whoever asked first may
//! leave without hurting those who joined.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Cancellation, Entry, FlightError, Freshness, Hit, Key, Landed, Role, Ticket};
use andon_dialects::Wish;
use andon_pixels::{Codec, Cores, Engine, Plan, Rendered};
use andon_recipe::{Original, Output, Recipe};
use bytes::Bytes;
use hyper::StatusCode;

use super::known::Known;
use crate::access_log::Stages;
use crate::admission::{Admission, Wanted, Work};
use crate::body::{Body, MOST_WHOLE, PIECE, Pieces};
use crate::cache_status::CacheStatus;
use crate::caching::{self, Notes, Results, Terms};
use crate::conditional::Validators;
use crate::error::{Error, SharedError};
use crate::fetch::Fetcher;
use crate::media_type;
use crate::negotiation::Asked;
use crate::origins::{self, Fetched, Source, SourceValidators, Trouble};
use crate::resolver::{Begun, Found, Read, Resolver};

/// What makes results, and keeps them.
pub(crate) struct Maker {
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) engine: Engine,
    pub(crate) codecs: &'static [&'static dyn Codec],
    pub(crate) fetcher: Fetcher,
    pub(crate) admission: Admission,
    pub(crate) results: Results<Made, Fetch>,
    /// For one answer, waiting included.
    pub(crate) patience: Duration,
    /// Tell plans?
    pub(crate) plan_header: bool,
}

/// A result, and how it came about.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    entry: Arc<Entry>,
    stages: Arc<Stages>,
    stored: bool,
    not_modified: bool,
}

/// A source, shared by all that are made of it.
#[derive(Clone, Debug)]
pub(crate) enum Fetch {
    Body(Arc<Source>),
    NotModified(origins::Freshness),
}

/// What an answer is made of.
pub(super) struct Obtained {
    pub(super) entry: Arc<Entry>,
    /// Since it was stored.
    pub(super) age: Duration,
    pub(super) status: CacheStatus,
    /// What the time of this very request went into.
    pub(super) stages: Stages,
}

/// A file as it is.
pub(super) struct Served {
    pub(super) body: Body,
    pub(super) media_type: &'static str,
    pub(super) validators: Validators,
}

/// The outcome of asking for a result.
pub(super) enum Answer {
    Result(Obtained),
    /// The client holds this very answer already, and nothing had to be made to know it.
    Unchanged(Validators),
}

impl Maker {
    /// Obtains the result of a wish; `unchanged` tells whether the client has it already.
    pub(super) async fn obtain(
        self: &Arc<Self>,
        known: &Known,
        deadline: Instant,
        unchanged: impl Fn(&Validators) -> bool,
    ) -> Result<Answer, Error> {
        let began = Instant::now();
        let (asked, key) = (&known.asked, known.key);
        let hit = self.results.cache.get(&key).await;
        if known.is_remote {
            let obtained = self.remote(key, hit, asked, deadline, began).await?;
            return Ok(Answer::Result(obtained));
        }
        self.local(key, hit, asked, deadline, began, unchanged)
            .await
    }

    /// Of a folder: the file is looked at, at most every `fs_fresh`.
    async fn local(
        self: &Arc<Self>,
        key: Key,
        hit: Option<Hit>,
        asked: &Asked,
        deadline: Instant,
        began: Instant,
        unchanged: impl Fn(&Validators) -> bool,
    ) -> Result<Answer, Error> {
        let results = &self.results;
        if let (Some(hit), Some((_, left))) = (&hit, results.checked.get(&key)) {
            return Ok(Answer::Result(Obtained::hit(hit, left, began)));
        }
        let ticket = results.cache.ticket();
        let found = match (self.open(&asked.wish).await, &hit) {
            (Ok(found), _) => found,
            (Err(Error::Io(_)), Some(hit)) if !results.config.stale_if_error.0.is_zero() => {
                return Ok(Answer::Result(Obtained::stale(hit, began)));
            }
            (Err(error), _) => return Err(error),
        };
        if let Some(hit) = &hit
            && hit.entry.etag == found.validators.etag
        {
            let fresh = results.config.fs_fresh.0;
            results.checked.remember(key, (), fresh);
            return Ok(Answer::Result(Obtained::hit(hit, fresh, began)));
        }
        if unchanged(&found.validators) {
            return Ok(Answer::Unchanged(found.validators));
        }
        // A changed file is another result, and so is its fault.
        let flight = results.flight(&key, &found.validators.etag);
        if let Some((fault, _)) = results.faults.get(&flight) {
            return Err(fault.into());
        }
        let terms = Terms::of_file(&results.config, &asked.wish.source);
        let work = {
            let (maker, asked) = (self.clone(), asked.clone());
            move |_: Cancellation| async move {
                let order = Order {
                    key,
                    flight,
                    ticket,
                    asked,
                    deadline,
                    began,
                };
                let made = maker.make(&order, found, None, terms).await;
                if made.is_ok() {
                    let fresh = maker.results.config.fs_fresh.0;
                    maker.results.checked.remember(key, (), fresh);
                }
                made.map_err(|error| maker.note_fault(&order, error))
            }
        };
        let landed = results.flights.run(flight, work).await;
        Obtained::landed(landed, hit.is_some(), began).map(Answer::Result)
    }

    /// Of an origin that is asked over a network.
    async fn remote(
        self: &Arc<Self>,
        key: Key,
        hit: Option<Hit>,
        asked: &Asked,
        deadline: Instant,
        began: Instant,
    ) -> Result<Obtained, Error> {
        let results = &self.results;
        if let Some(hit) = hit.as_ref().filter(|hit| hit.freshness == Freshness::Fresh) {
            let left = hit.entry.life.fresh_for.saturating_sub(hit.age);
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
    fn renew_behind(self: &Arc<Self>, key: Key, asked: &Asked, hit: &Hit) {
        if !self.results.renewing.claim(key, (), self.patience) {
            return;
        }
        let (maker, asked, old) = (self.clone(), asked.clone(), hit.entry.clone());
        tokio::spawn(async move {
            let began = Instant::now();
            let deadline = began + maker.patience;
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
        asked: &Asked,
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
                let order = Order {
                    key,
                    flight,
                    ticket,
                    asked,
                    deadline,
                    began,
                };
                let made = maker.renewed(&order, old).await;
                made.map_err(|error| maker.note_fault(&order, error))
            }
        };
        let landed = self.results.flights.run(flight, work).await;
        Obtained::landed(landed, stale, began)
    }

    async fn renewed(
        self: &Arc<Self>,
        order: &Order,
        old: Option<Arc<Entry>>,
    ) -> Result<Made, Error> {
        let wish = &order.asked.wish;
        let materials = {
            let (resolver, wish) = (self.resolver.clone(), wish.clone());
            let open = move || resolver.open_materials(&wish);
            self.fetcher.run(open).await?
        };
        // An old result is only worth asking about if what it is composed with is the same too.
        let known = old.and_then(|old| {
            let notes = Notes::of(&old);
            let source = notes.source.clone()?;
            let text = caching::recipe_text(wish);
            let now = Validators::of_fetched(&text, &source, &materials.identities());
            (now.etag == old.etag).then_some((old, notes, source))
        });
        let source = known.as_ref().map(|(_, _, source)| source.clone());
        let source = match (self.fetch(wish, source, order.deadline).await?, known) {
            (Fetch::Body(source), _) => source,
            (Fetch::NotModified(said), Some((old, notes, _))) => {
                let terms = Terms::of_origin(&self.results.config, &wish.source, said);
                return Ok(self.prolong(order, &old, notes, terms));
            }
            (Fetch::NotModified(_), None) => return Err(Trouble::Status(304).into()),
        };
        let terms = Terms::of_origin(&self.results.config, &wish.source, source.freshness);
        let validators = source.validators.clone();
        let found = self.resolver.found(wish, copy_of(&source), materials);
        drop(source);
        self.make(order, found, Some(validators), terms).await
    }

    /// Fetches a source over a network, together with all who want it now.
    async fn fetch(
        self: &Arc<Self>,
        wish: &Arc<Wish>,
        known: Option<SourceValidators>,
        deadline: Instant,
    ) -> Result<Fetch, Error> {
        let identity = known.as_ref().map_or("", |known| &known.identity);
        let key = self.results.fetch(wish, identity);
        let work = {
            let (maker, wish) = (self.clone(), wish.clone());
            move |_: Cancellation| async move {
                let budget = maker.fetcher.budget(deadline);
                match maker.resolver.fetch(&wish, known.as_ref(), &budget).await {
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
    fn prolong(&self, order: &Order, old: &Entry, mut notes: Notes, terms: Terms) -> Made {
        notes.client = terms.client.clone();
        let entry = Entry {
            life: terms.life,
            notes: notes.written(),
            ..old.clone()
        };
        let stages = vec![("fetch", order.began.elapsed())];
        self.keep(order, entry, &terms, stages, true)
    }

    /// Makes a result.
    async fn make(
        &self,
        order: &Order,
        found: Found,
        source: Option<SourceValidators>,
        terms: Terms,
    ) -> Result<Made, Error> {
        let mut stages = Stages::new();
        let validators = found.validators.clone();
        let picture = match order.asked.wish.transformed {
            true => self.picture(order, found, &mut stages).await?,
            false => self.file(order, found, &mut stages).await?,
        };
        let wish = &order.asked.wish;
        let mut tags = vec![
            caching::wish_tag(wish),
            format!("type:{}", picture.media_type),
        ];
        let materials = wish.recipe.materials();
        tags.extend(materials.map(|name| format!("material:{name}")));
        let notes = Notes {
            source,
            client: terms.client.clone(),
            plan: picture.plan,
        };
        let entry = Entry {
            body: picture.body,
            media_type: picture.media_type.to_owned(),
            etag: validators.etag,
            last_modified: validators.modified,
            source: caching::source_path(wish),
            tags,
            life: terms.life,
            negative: false,
            notes: notes.written(),
        };
        Ok(self.keep(order, entry, &terms, stages, false))
    }

    fn keep(
        &self,
        order: &Order,
        entry: Entry,
        terms: &Terms,
        stages: Stages,
        not_modified: bool,
    ) -> Made {
        let entry = Arc::new(entry);
        let stored = terms.shared && self.results.keeps();
        if stored {
            self.results
                .cache
                .put(order.key, entry.clone(), order.ticket);
        }
        Made {
            entry,
            stages: Arc::new(stages),
            stored,
            not_modified,
        }
    }

    /// Remembers faults that would be the same the next moment; never our own, nor an origin's trouble.
    fn note_fault(&self, order: &Order, error: Error) -> SharedError {
        let error = match error {
            Error::Shared(shared) => shared,
            error => SharedError::new(error),
        };
        let lasting = matches!(
            error.status(),
            StatusCode::BAD_REQUEST
                | StatusCode::NOT_FOUND
                | StatusCode::UNSUPPORTED_MEDIA_TYPE
                | StatusCode::UNPROCESSABLE_ENTITY
        );
        if lasting {
            let span = self.results.config.negative.0;
            self.results
                .faults
                .remember(order.flight, error.clone(), span);
        }
        error
    }

    /// A source as it is.
    async fn file(
        &self,
        order: &Order,
        found: Found,
        stages: &mut Stages,
    ) -> Result<Picture, Error> {
        let hold = self.fetcher.hold(found.size_to_read()).await?;
        let (found, read) = self.read(found).await?;
        stages.push(("fetch", order.began.elapsed()));
        // Somebody else's pages would run in our name; their pictures cannot.
        if found.is_fetched() && !media_type::is_picture(self.codecs, &read.source) {
            return Err(Error::Pixels(andon_pixels::Error::UnknownFormat));
        }
        drop(hold);
        Ok(Picture {
            media_type: media_type::of(self.codecs, &found.path, &read.source),
            body: read.source,
            plan: None,
            timings: andon_pixels::Timings::default(),
            waited: Duration::ZERO,
        })
    }

    /// A picture made to a recipe.
    async fn picture(
        &self,
        order: &Order,
        found: Found,
        stages: &mut Stages,
    ) -> Result<Picture, Error> {
        // Before anything is read: whoever finds no place must cost next to nothing.
        let ticket = self.admission.enter(found.size(), order.deadline)?;
        let hold = self.fetcher.hold(found.size_to_read()).await?;
        let (found, read, plan) = self.read_and_plan(found, &order.asked.wish).await?;
        stages.push(("fetch", order.began.elapsed()));

        let work = Work::of(&plan, found.size());
        let waits = Instant::now();
        let wanted = Arc::new(Wanted::until(order.deadline));
        let job = {
            let (engine, asked, wanted) =
                (self.engine.clone(), order.asked.clone(), wanted.clone());
            let (explain, codecs) = (self.plan_header, self.codecs);
            move |cores: &dyn Cores| {
                let waited = waits.elapsed();
                let Read {
                    source,
                    materials,
                    hold: held,
                } = read;
                // From here on the plan's peak counts the source's bytes.
                drop((hold, held));
                let rendered = engine.run_on(cores, &plan, &source, &materials, &*wanted)?;
                let media_type = media_type_of(&asked.wish, &found, &rendered);
                let (body, media_type) = match rendered.body {
                    Some(body) if grew(&asked, &plan, &body, &source) => {
                        let media_type = media_type::of(codecs, &found.path, &source);
                        (source, media_type)
                    }
                    Some(body) => (boxed(body), media_type),
                    None => (source, media_type),
                };
                Ok::<_, Error>(Picture {
                    plan: explain.then(|| plan.to_string()),
                    media_type,
                    timings: rendered.timings,
                    body,
                    waited,
                })
            }
        };
        let picture = self.admission.run(ticket, work, wanted, job).await?;

        stages.push(("queue", picture.waited));
        stages.push(("decode", picture.timings.decode));
        stages.push(("resize", picture.timings.stages));
        stages.push(("encode", picture.timings.encode));
        Ok(picture)
    }

    /// Opens the files of a wish in a folder.
    pub(super) async fn open(&self, wish: &Arc<Wish>) -> Result<Found, Error> {
        let (resolver, wish) = (self.resolver.clone(), wish.clone());
        self.fetcher.run(move || resolver.open(&wish)).await
    }

    /// Reads a picture's files and its header. Both may take their time, so both happen in one of the
    /// fetcher's slots: a refusal costs no pixel thread, a slow header no socket.
    async fn read_and_plan(
        &self,
        found: Found,
        wish: &Arc<Wish>,
    ) -> Result<(Found, Read, Plan), Error> {
        let (engine, wish) = (self.engine.clone(), wish.clone());
        self.fetcher
            .run(move || {
                let read = found.read()?;
                let plan = engine.plan(&wish.recipe, &read.source)?;
                Ok((found, read, plan))
            })
            .await
    }

    /// A file of a folder as it is: in pieces, unless it is small.
    pub(super) async fn serve(&self, found: Found) -> Result<Served, Error> {
        if found.size() <= MOST_WHOLE {
            let _hold = self.fetcher.hold(found.size_to_read()).await?;
            let (found, read) = self.read(found).await?;
            return Ok(Served {
                media_type: media_type::of(self.codecs, &found.path, &read.source),
                validators: found.validators,
                body: read.source.into(),
            });
        }
        let Begun {
            path,
            validators,
            file,
            beginning,
        } = self.fetcher.run(move || found.begin(PIECE)).await?;
        Ok(Served {
            media_type: media_type::of(self.codecs, &path, &beginning),
            validators,
            body: Body::Pieces(Pieces::of(file, beginning, self.fetcher.clone())),
        })
    }

    async fn read(&self, found: Found) -> Result<(Found, Read), Error> {
        self.fetcher
            .run(move || {
                let read = found.read()?;
                Ok((found, read))
            })
            .await
    }
}

impl Obtained {
    fn hit(hit: &Hit, left: Duration, began: Instant) -> Self {
        Self {
            entry: hit.entry.clone(),
            age: hit.age,
            status: CacheStatus::Hit { ttl: Some(left) },
            stages: vec![("cache", began.elapsed())],
        }
    }

    fn stale(hit: &Hit, began: Instant) -> Self {
        Self {
            status: CacheStatus::Stale,
            ..Self::hit(hit, Duration::ZERO, began)
        }
    }

    fn landed(
        landed: Result<Landed<Result<Made, SharedError>>, FlightError>,
        stale: bool,
        began: Instant,
    ) -> Result<Self, Error> {
        let Landed { value, role } = landed.map_err(fallen)?;
        let made = value?;
        let collapsed = role == Role::Follower;
        Ok(Self {
            entry: made.entry,
            age: Duration::ZERO,
            status: CacheStatus::Forwarded {
                stale,
                not_modified: made.not_modified,
                stored: made.stored,
                collapsed,
            },
            stages: match collapsed {
                true => vec![("wait", began.elapsed())],
                false => made.stages.to_vec(),
            },
        })
    }
}

/// What is to be made, and until when.
struct Order {
    key: Key,
    flight: Key,
    /// Taken before the source was looked at.
    ticket: Ticket,
    asked: Asked,
    deadline: Instant,
    began: Instant,
}

/// What a pixel thread hands back.
struct Picture {
    body: Bytes,
    media_type: &'static str,
    plan: Option<String>,
    timings: andon_pixels::Timings,
    waited: Duration,
}

/// Is the result larger than the source, although nothing but another encoding was asked for, and not
/// a certain one?
fn grew(asked: &Asked, plan: &Plan, body: &[u8], source: &Bytes) -> bool {
    let recipe = &asked.wish.recipe;
    let only_encoded = Recipe {
        output: Output::default(),
        original: Original::Never,
        orient: false,
        ..recipe.clone()
    } == Recipe::default();
    let info = plan.info();
    let upright = !recipe.orient || info.orientation == andon_pixels::Orientation::default();
    let any_format = asked.negotiated || plan.format() == info.format;
    !asked.wish.strict && only_encoded && upright && any_format && body.len() > source.len()
}

/// A buffer that is no larger than what it holds: the cache counts only that.
fn boxed(body: Vec<u8>) -> Bytes {
    body.into_boxed_slice().into()
}

/// The result's true type; in the module's strict mode the source's name decides where no format was
/// asked for.
fn media_type_of(wish: &Wish, found: &Found, rendered: &Rendered) -> &'static str {
    let promised = wish
        .keep_source_type
        .then(|| media_type::by_name(&found.path));
    promised.flatten().unwrap_or(rendered.media_type)
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

/// A flight that did not land.
fn fallen(error: FlightError) -> Error {
    match error {
        FlightError::Panicked => Error::Panicked,
        FlightError::Stopped => Error::Busy,
    }
}
