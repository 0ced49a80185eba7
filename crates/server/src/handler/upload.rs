//! `POST /_andon/render`: the picture comes with the request and goes back as the recipe wants it.
//!
//! What is wanted stands in the query, `?recipe=fit:250x250,as:webp` or `?small_light=dw=250,dh=250`, or
//! in the header `Andon-Recipe`. It is worked on by the same pixel threads, behind the same queue, as
//! every other picture; nothing is stored, and no file but the materials of the recipe is opened.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_dialects::{Dialects, Wish};
use andon_pixels::Plan;
use andon_recipe::Recipe;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response};
use percent_encoding::percent_decode_str;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::visit::Visit;
use super::{check_host, target};
use crate::admission::{Shares, Wanted, Work};
use crate::app::App;
use crate::config::{Config, ConfigError, Reach};
use crate::error::Error;
use crate::http::Peer;
use crate::materials::{LoadedMaterials, MaterialFolder};
use crate::negotiation;
use crate::response::{self, Reply};

/// Where pictures are posted to.
pub(crate) const PATH: &str = "/_andon/render";

/// What uploads need beside what every request needs.
#[derive(Debug)]
pub(crate) struct Uploads {
    allow: Reach,
    /// Of one body.
    most_bytes: u64,
    /// For one body to arrive.
    patience: Duration,
    /// KiB of bodies held at a time: a budget of their own, so that slow senders keep no file from
    /// being read.
    held: Arc<Semaphore>,
    /// small_light's options in the path, whatever the URLs of this server look like.
    dialects: Dialects,
    materials: Arc<MaterialFolder>,
}

impl Uploads {
    /// Opens the folder of materials once more and compiles the dialect.
    ///
    /// # Errors
    /// Naming what cannot be opened or compiled.
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigError> {
        let mut plain = config.clone();
        plain.rewrite.clear();
        plain.small_light.getparam_mode = false;
        let shares = Shares::new(config.memory_budget.0, config.limits.held_bytes.0);
        let held = usize::try_from(shares.sources >> 10).unwrap_or(usize::MAX);
        Ok(Self {
            allow: config.upload.allow,
            most_bytes: config.limits.source_bytes.0,
            patience: config.timeouts.body.0,
            held: Arc::new(Semaphore::new(held.min(Semaphore::MAX_PERMITS))),
            dialects: plain.dialects()?,
            materials: Arc::new(MaterialFolder::open(
                config.small_light.material_dir.as_deref(),
            )?),
        })
    }

    /// What a request wants made of its body.
    fn wish<B>(&self, request: &Request<B>) -> Result<Wish, Error> {
        let mut wanted = Vec::new();
        if let Some(recipe) = request.headers().get(RECIPE_HEADER) {
            let text = recipe.to_str().unwrap_or_default().to_owned();
            wanted.push(("recipe".to_owned(), text));
        }
        let query = request.uri().query().unwrap_or_default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            wanted.push((decoded(name)?, decoded(value)?));
        }
        match &*wanted {
            [(name, text)] if name == "recipe" => recipe_wish(text),
            [(name, text)] if name == "small_light" => self.small_light_wish(text),
            _ => Err(Error::Upload(
                "name what is wanted exactly once: ?recipe=fit:250x250,as:webp, \
                 ?small_light=dw=250,dh=250 or an Andon-Recipe header"
                    .to_owned(),
            )),
        }
    }

    fn small_light_wish(&self, options: &str) -> Result<Wish, Error> {
        let wish = self
            .dialects
            .wish(&format!("/small_light({options})/{SOURCE}"))
            .map_err(Error::Wish)?;
        if !wish.transformed || wish.source != SOURCE {
            return Err(Error::Upload(format!(
                "`{options}` are no small_light options, or small_light is switched off here"
            )));
        }
        // The quirks of the module are those of its URLs; here every status is what it says.
        Ok(Wish {
            strict: false,
            keep_source_type: false,
            ..wish
        })
    }

    /// The whole body, within its time and its share of memory.
    async fn receive(&self, body: &mut Incoming) -> Result<(Vec<u8>, Held), Error> {
        self.check_length(body.size_hint().lower())?;
        let mut held = Held::default();
        let mut bytes = Vec::new();
        let receiving = async {
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|_| Error::BodyCut)?;
                let Some(data) = frame.data_ref() else {
                    continue;
                };
                let length = bytes.len() + data.len();
                self.check_length(length as u64)?;
                held.grow(&self.held, length)?;
                bytes.extend_from_slice(data);
            }
            Ok(())
        };
        match tokio::time::timeout(self.patience, receiving).await {
            Ok(received) => received.map(|()| (bytes, held)),
            Err(_) => Err(Error::BodyLate(self.patience)),
        }
    }

    fn check_length(&self, bytes: u64) -> Result<(), Error> {
        if bytes > self.most_bytes {
            return Err(Error::BodyTooLarge {
                limit: self.most_bytes,
            });
        }
        Ok(())
    }
}

/// Is this request an upload, whatever its method?
pub(crate) fn is_one<B>(request: &Request<B>) -> bool {
    request.uri().path() == PATH
}

impl App {
    /// Answers an upload.
    pub(crate) async fn upload(&self, request: Request<Incoming>, peer: Peer) -> Reply {
        let mut visit = Visit::begin(&self.log, &request, peer);
        let expects_go = request.headers().contains_key(header::EXPECT);
        let (head, mut body) = request.into_parts();
        let request = Request::from_parts(head, ());
        let reply = match self.rendered(&request, &mut body, peer, &mut visit).await {
            Ok(reply) => reply,
            Err(error) => {
                let mut reply = visit.failed(&error);
                if matches!(error, Error::PostOnly(_)) {
                    reply
                        .headers_mut()
                        .insert(header::ALLOW, HeaderValue::from_static("POST"));
                }
                if !matches!(error, Error::BodyLate(_)) && !expects_go {
                    tokio::spawn(take_away(body));
                }
                reply
            }
        };
        visit.answered(&reply);
        reply
    }

    async fn rendered(
        &self,
        request: &Request<()>,
        body: &mut Incoming,
        peer: Peer,
        visit: &mut Visit<'_>,
    ) -> Result<Reply, Error> {
        check_host(request.version(), request.headers())?;
        if request.method() != Method::POST {
            return Err(Error::PostOnly(request.method().clone()));
        }
        target(request.uri())?;
        if !self.uploads.allow.reaches(peer) {
            return Err(Error::NoUploads);
        }
        let mut wish = self.uploads.wish(request)?;
        negotiation::without_accept(&mut wish.recipe);
        let wish = Arc::new(wish);
        let recipe: Option<Arc<str>> = wish.transformed.then(|| wish.recipe.to_string().into());
        visit.wishes(&wish, recipe.as_ref());

        let began = Instant::now();
        let (source, held) = self.uploads.receive(body).await?;
        visit.took("receive", began.elapsed());

        let deadline = Instant::now() + self.patience;
        let answer = self.made(wish, source, held, deadline, visit);
        match tokio::time::timeout_at(deadline.into(), answer).await {
            Ok(Err(Error::Pixels(andon_pixels::Error::Interrupted))) | Err(_) => {
                Err(Error::Late(self.patience))
            }
            Ok(answer) => answer,
        }
    }

    /// A picture made of what was received.
    async fn made(
        &self,
        wish: Arc<Wish>,
        source: Vec<u8>,
        held: Held,
        deadline: Instant,
        visit: &mut Visit<'_>,
    ) -> Result<Reply, Error> {
        let bytes = source.len() as u64;
        let ticket = self.maker.admission.enter(bytes, deadline)?;
        let (source, plan, materials) = self.upload_plan(wish.recipe.clone(), source).await?;
        let work = Work::of(&plan, bytes);
        let waits = Instant::now();
        let wanted = Arc::new(Wanted::until(deadline));
        let job = {
            let (engine, wanted) = (self.maker.engine.clone(), wanted.clone());
            let explain = self.maker.plan_header;
            move |cores: &dyn andon_pixels::Cores| {
                let waited = waits.elapsed();
                let rendered = engine.run_on(cores, &plan, &source, &materials, &*wanted)?;
                drop(held);
                let body: Bytes = rendered.body.unwrap_or(source).into();
                let plan = explain.then(|| plan.to_string());
                Ok::<_, Error>((body, rendered.media_type, rendered.timings, plan, waited))
            }
        };
        let (body, media_type, timings, plan, waited) =
            self.maker.admission.run(ticket, work, wanted, job).await?;

        visit.took("queue", waited);
        visit.took("decode", timings.decode);
        visit.took("resize", timings.stages);
        visit.took("encode", timings.encode);
        let mut reply = fresh(body, media_type);
        response::set_timing(&mut reply, visit.stages());
        if let Some(plan) = plan {
            response::set_plan(&mut reply, &plan);
        }
        Ok(reply)
    }

    /// Reads the picture's header and the materials, in one of the fetcher's slots.
    async fn upload_plan(
        &self,
        recipe: Recipe,
        source: Vec<u8>,
    ) -> Result<(Vec<u8>, Plan, LoadedMaterials), Error> {
        let (folder, engine) = (self.uploads.materials.clone(), self.maker.engine.clone());
        let most = self.uploads.most_bytes;
        self.maker
            .fetcher
            .run(move || {
                let plan = engine.plan(&recipe, &source)?;
                let materials = folder.open_for(&recipe)?.read(most)?;
                Ok((source, plan, materials))
            })
            .await
    }
}

/// A share of the memory for bodies, grown as a body arrives: whoever only says that much is coming
/// keeps nobody out.
#[derive(Debug, Default)]
struct Held(Option<OwnedSemaphorePermit>);

impl Held {
    fn grow(&mut self, budget: &Arc<Semaphore>, bytes: usize) -> Result<(), Error> {
        let have = self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = bytes.div_ceil(1024).saturating_sub(have);
        if more == 0 {
            return Ok(());
        }
        let more = u32::try_from(more).map_err(|_| Error::Busy)?;
        let share = budget
            .clone()
            .try_acquire_many_owned(more)
            .map_err(|_| Error::Busy)?;
        match &mut self.0 {
            Some(held) => held.merge(share),
            None => self.0 = Some(share),
        }
        Ok(())
    }
}

/// Reads the rest of a refused body for a while: closing a connection on a client that still sends
/// would reset it, and the reply would be lost with it.
async fn take_away(mut body: Incoming) {
    let taking = async {
        let mut taken = 0;
        while taken < MOST_TAKEN_AWAY {
            let Some(Ok(frame)) = body.frame().await else {
                break;
            };
            taken += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // Whoever still sends after that reads no reply.
    let _ = tokio::time::timeout(TAKING_AWAY, taking).await;
}

fn recipe_wish(text: &str) -> Result<Wish, Error> {
    let recipe = text
        .parse()
        .map_err(|error| Error::Upload(format!("the recipe is not understood: {error}")))?;
    Ok(Wish {
        source: SOURCE.to_owned(),
        recipe,
        notes: Vec::new(),
        transformed: true,
        strict: false,
        keep_source_type: false,
    })
}

/// 200 with a picture that is nobody else's.
fn fresh(body: Bytes, media_type: &'static str) -> Reply {
    let mut reply = Response::new(body.into());
    let headers: &mut HeaderMap = reply.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}

/// As forms are encoded: `+` is a space.
fn decoded(text: &str) -> Result<String, Error> {
    let text = text.replace('+', " ");
    match percent_decode_str(&text).decode_utf8() {
        Ok(decoded) => Ok(decoded.into_owned()),
        Err(_) => Err(Error::Upload("the query is not UTF-8".to_owned())),
    }
}

const RECIPE_HEADER: &str = "andon-recipe";

/// What the body is called where a source needs a name.
const SOURCE: &str = "upload";

const MOST_TAKEN_AWAY: usize = 64 << 20;
const TAKING_AWAY: Duration = Duration::from_secs(5);
