//! One request, top to bottom.

pub(crate) mod upload;
mod visit;

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_dialects::Wish;
use andon_pixels::{Cores, Plan, Rendered};
use bytes::Bytes;
use hyper::{HeaderMap, Method, Request, Version, header};

use self::visit::Visit;
use crate::admission::{Wanted, Work};
use crate::app::App;
use crate::error::Error;
use crate::media_type;
use crate::origins::{Fetched, Trouble};
use crate::resolver::{Found, Read};
use crate::response::{self, Reply};

impl App {
    /// Answers a request; there is an answer to everything.
    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Reply {
        let mut visit = Visit::begin(&self.log, &request);
        let reply = match self.reply(&request, &mut visit).await {
            Ok(reply) => reply,
            Err(error) => visit.failed(&error),
        };
        visit.answered(&reply);
        reply
    }

    async fn reply<B>(&self, request: &Request<B>, visit: &mut Visit<'_>) -> Result<Reply, Error> {
        check_host(request)?;
        check_method(request.method())?;
        let target = target(request)?;
        if target == HEALTH {
            return Ok(response::healthy());
        }
        let deadline = Instant::now() + self.patience;
        let answer = self.look_up(target, request.headers(), deadline, visit);
        match tokio::time::timeout_at(deadline.into(), answer).await {
            Ok(Err(Error::Pixels(andon_pixels::Error::Interrupted))) | Err(_) => {
                Err(Error::Late(self.patience))
            }
            Ok(answer) => answer,
        }
    }

    async fn look_up(
        &self,
        target: &str,
        headers: &HeaderMap,
        deadline: Instant,
        visit: &mut Visit<'_>,
    ) -> Result<Reply, Error> {
        let wish = Arc::new(self.resolver.wish(target)?);
        visit.wishes(&wish);

        let began = Instant::now();
        let found = self.open(&wish, deadline).await?;
        if found.validators.unchanged(headers) {
            return Ok(response::not_modified(&found.validators));
        }
        if wish.transformed {
            self.picture(&wish, found, began, deadline, visit).await
        } else {
            self.file(found, began, visit).await
        }
    }

    /// A file as it is.
    async fn file(
        &self,
        found: Found,
        began: Instant,
        visit: &mut Visit<'_>,
    ) -> Result<Reply, Error> {
        let _hold = self.fetcher.hold(found.size_to_read()).await?;
        let (found, read) = self.read(found).await?;
        visit.took("fetch", began.elapsed());

        // Somebody else's pages would run in our name; their pictures cannot.
        if found.is_fetched() && !media_type::is_picture(self.codecs, &read.source) {
            return Err(Error::Pixels(andon_pixels::Error::UnknownFormat));
        }
        let media_type = media_type::of(self.codecs, &found.path, &read.source);
        let mut reply = response::found(read.source, media_type, &found.validators);
        response::set_timing(&mut reply, visit.stages());
        Ok(reply)
    }

    /// A picture made to a recipe.
    async fn picture(
        &self,
        wish: &Arc<Wish>,
        found: Found,
        began: Instant,
        deadline: Instant,
        visit: &mut Visit<'_>,
    ) -> Result<Reply, Error> {
        // Before anything is read: whoever finds no place must cost next to nothing.
        let ticket = self.admission.enter(found.size(), deadline)?;
        let hold = self.fetcher.hold(found.size_to_read()).await?;
        let (found, read, plan) = self.read_and_plan(found, wish).await?;
        visit.took("fetch", began.elapsed());

        let work = Work::of(&plan, found.size());
        let waits = Instant::now();
        let wanted = Arc::new(Wanted::until(deadline));
        let job = {
            let (engine, wish, wanted) = (self.engine.clone(), wish.clone(), wanted.clone());
            let explain = self.plan_header;
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
                Ok::<_, Error>(Picture {
                    plan: explain.then(|| plan.to_string()),
                    media_type: media_type_of(&wish, &found, &rendered),
                    timings: rendered.timings,
                    body: rendered.body.map_or(source, Bytes::from),
                    validators: found.validators,
                    waited,
                })
            }
        };
        let picture = self.admission.run(ticket, work, wanted, job).await?;

        visit.took("queue", picture.waited);
        visit.took("decode", picture.timings.decode);
        visit.took("resize", picture.timings.stages);
        visit.took("encode", picture.timings.encode);
        let mut reply = response::found(picture.body, picture.media_type, &picture.validators);
        response::set_timing(&mut reply, visit.stages());
        if let Some(plan) = picture.plan {
            response::set_plan(&mut reply, &plan);
        }
        Ok(reply)
    }

    async fn open(&self, wish: &Arc<Wish>, deadline: Instant) -> Result<Found, Error> {
        let (resolver, wish) = (self.resolver.clone(), wish.clone());
        if resolver.is_remote(&wish) {
            let materials = {
                let (resolver, wish) = (resolver.clone(), wish.clone());
                self.fetcher
                    .run(move || resolver.open_materials(&wish))
                    .await?
            };
            let budget = self.fetcher.budget(deadline);
            return match resolver.fetch(&wish, None, &budget).await? {
                Fetched::Body(source) => Ok(resolver.found(&wish, source, materials)),
                Fetched::NotModified(_) => Err(Trouble::Status(304).into()),
            };
        }
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

    async fn read(&self, found: Found) -> Result<(Found, Read), Error> {
        self.fetcher
            .run(move || {
                let read = found.read()?;
                Ok((found, read))
            })
            .await
    }
}

/// What a pixel thread hands back.
struct Picture {
    body: Bytes,
    media_type: &'static str,
    validators: crate::conditional::Validators,
    plan: Option<String>,
    timings: andon_pixels::Timings,
    waited: Duration,
}

/// Always answered, whatever the origins hold.
const HEALTH: &str = "/healthz";

/// Bytes of a request target; longer ones are answered with 414.
const MOST_TARGET_BYTES: usize = 16 << 10;

/// Nothing here depends on the host, but a proxy in front may: with two of them, or none, it and we could
/// take one request for two different ones.
fn check_host<B>(request: &Request<B>) -> Result<(), Error> {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    match (request.version(), hosts) {
        (Version::HTTP_11, 1) | (Version::HTTP_10, 0 | 1) => Ok(()),
        _ => Err(Error::Host),
    }
}

fn check_method(method: &Method) -> Result<(), Error> {
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Error::Method(method.clone())),
    }
}

/// Path and query as they came, not decoded.
fn target<B>(request: &Request<B>) -> Result<&str, Error> {
    let target = request
        .uri()
        .path_and_query()
        .map_or("/", hyper::http::uri::PathAndQuery::as_str);
    if target.len() > MOST_TARGET_BYTES {
        return Err(Error::TargetTooLong {
            length: target.len(),
            limit: MOST_TARGET_BYTES,
        });
    }
    Ok(target)
}

/// The result's true type; in the module's strict mode the source's name decides where no format was
/// asked for.
fn media_type_of(wish: &Wish, found: &Found, rendered: &Rendered) -> &'static str {
    let promised = wish
        .keep_source_type
        .then(|| media_type::by_name(&found.path));
    promised.flatten().unwrap_or(rendered.media_type)
}
