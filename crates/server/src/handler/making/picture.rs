//! From a source's bytes to the bytes of an answer: read, planned, and run on a pixel thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_dialects::Wish;
use andon_pixels::{Cores, Decoded, Plan, Rendered};
use bytes::Bytes;

use super::Maker;
use crate::access_log::Stages;
use crate::admission::{Opening, Wanted, Work};
use crate::error::Error;
use crate::media_type;
use crate::negotiation::Asked;
use crate::resolver::{Found, Read};

/// What is to be made, and by when.
#[derive(Clone, Copy)]
pub(in crate::handler) struct Task<'a> {
    pub(in crate::handler) asked: &'a Asked,
    pub(in crate::handler) deadline: Instant,
    pub(in crate::handler) began: Instant,
}

/// What a pixel thread hands back.
pub(super) struct Picture {
    pub(super) body: Bytes,
    pub(super) media_type: &'static str,
    pub(super) plan: Option<String>,
    timings: andon_pixels::Timings,
    waited: Duration,
}

impl Maker {
    /// A source as it is: a picture up to its end, anything else unseen.
    pub(super) async fn file(
        &self,
        task: &Task<'_>,
        found: Found,
        stages: &mut Stages,
    ) -> Result<Picture, Error> {
        let hold = self.fetcher.hold(found.size_to_read()).await;
        let (found, read) = self.read(found).await?;
        if media_type::is_picture(self.codecs, &read.source) {
            drop((hold, read));
            return self.picture(task, found, stages).await;
        }
        stages.push(("fetch", task.began.elapsed()));
        // Somebody else's pages would run in our name; their pictures cannot.
        if found.is_fetched() {
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
    pub(super) async fn picture(
        &self,
        task: &Task<'_>,
        found: Found,
        stages: &mut Stages,
    ) -> Result<Picture, Error> {
        // Before anything is read: whoever finds no place must cost next to nothing.
        let source = Some(found.source_key());
        let ticket = self.admission.enter(found.size(), source, task.deadline)?;
        let found = self.shelf.fill(found, &self.fetcher).await?;
        let hold = self.fetcher.hold(found.size_to_read()).await;
        let (found, read, plan) = self.read_and_plan(found, &task.asked.wish).await?;
        stages.push(("fetch", task.began.elapsed()));

        let work = Work::of(&plan, found.size());
        let plan = Arc::new(plan);
        let opening = Opening {
            source,
            bytes: read.source.clone(),
            plan: plan.clone(),
            engine: self.engine.clone(),
        };
        let waits = Instant::now();
        let wanted = Arc::new(Wanted::until(task.deadline));
        let job = {
            let (engine, asked, wanted) = (self.engine.clone(), task.asked.clone(), wanted.clone());
            let (explain, codecs) = (self.plan_header, self.codecs);
            let plan = plan.clone();
            move |cores: &dyn Cores, decoded: Option<Decoded>| {
                let decoding = decoded
                    .as_ref()
                    .map_or(Duration::ZERO, |decoded| decoded.time);
                let waited = waits.elapsed().saturating_sub(decoding);
                let Read {
                    source,
                    materials,
                    hold: held,
                } = read;
                // The source's bytes are counted here, and not with the plan's.
                let _until_done = (hold, held);
                let rendered =
                    engine.run_from(decoded, cores, &plan, &source, &materials, &*wanted)?;
                let media_type = media_type_of(&asked.wish, &found, &rendered);
                let (body, media_type) = match rendered.body {
                    Some(body) if grew(&asked, &plan, &body, &source) => {
                        // What follows the picture must not be sent, and no more than a decoder needs was seen.
                        match engine.extent(cores, &source, &*wanted) {
                            Ok(length) => {
                                let media_type = media_type::of(codecs, &found.path, &source);
                                (source.slice(..length), media_type)
                            }
                            Err(andon_pixels::Error::Interrupted) => {
                                return Err(andon_pixels::Error::Interrupted.into());
                            }
                            Err(_) => (boxed(body), media_type),
                        }
                    }
                    Some(body) => (boxed(body), media_type),
                    None => (source.slice(..rendered.of_source), media_type),
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
        let admission = &self.admission;
        let picture = admission
            .run_opened(ticket, work, wanted, Some(opening), job)
            .await?;

        stages.push(("queue", picture.waited));
        stages.push(("decode", picture.timings.decode));
        stages.push(("resize", picture.timings.stages));
        stages.push(("encode", picture.timings.encode));
        Ok(picture)
    }

    /// Opens the files of a wish in a folder.
    pub(in crate::handler) async fn open(&self, wish: &Arc<Wish>) -> Result<Found, Error> {
        let (resolver, wish) = (self.resolver.clone(), wish.clone());
        self.fetcher.look(move || resolver.open(&wish)).await
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
                let plan = engine.plan(&*wish.rules, &read.source)?;
                Ok((found, read, plan))
            })
            .await
    }

    pub(super) async fn read(&self, found: Found) -> Result<(Found, Read), Error> {
        self.fetcher
            .run(move || {
                let read = found.read()?;
                Ok((found, read))
            })
            .await
    }
}

/// Is the result larger than the source, although nothing but another encoding was asked for, and not
/// a certain one?
fn grew(asked: &Asked, plan: &Plan, body: &[u8], source: &Bytes) -> bool {
    let only_encoded = plan.recipe().steps.is_empty();
    let any_format = asked.negotiated || plan.format() == plan.info().format;
    !asked.wish.strict && only_encoded && any_format && body.len() > source.len()
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
