//! Reads a source, plans the request and renders the image on a worker thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_cache::{Deadline, Key};
use andon_dialects::{Document, Part};
use andon_pixels::{Cores, Decoded};
use bytes::Bytes;

use super::{Allowance, Maker, RequestContext};
use crate::admission::{Admitted, CancelToken, DecodeInput, Work};
use crate::error::Error;
use crate::operations::entry::Stages;
use crate::origins::Blocking;
use crate::sources::media_type;
use crate::sources::rendering::{Ingredients, Planned, Prepared};
use crate::sources::resolver::{OpenSource, Read};

/// An admitted and planned image that is to be rendered.
pub(crate) struct RenderTask<H> {
    pub(crate) admitted: Admitted,
    pub(crate) planned: Planned,
    /// Key of the source's bytes, if other requests may decode the same ones.
    pub(crate) source: Option<Key>,
    pub(crate) source_bytes: u64,
    pub(crate) allowance: Allowance,
    /// Keeps the memory of the source's bytes reserved until the image is rendered.
    pub(crate) holds: H,
}

/// A finished image, or a file as it is.
pub(crate) struct Picture {
    pub(crate) body: Bytes,
    pub(crate) media_type: &'static str,
    /// What was left out of the source although the request did not ask for that.
    pub(crate) notes: Vec<String>,
    /// Whether the source is truncated or damaged, and shown as far as it can be decoded.
    pub(crate) damaged: bool,
    /// Whether the image is the source with the end that its file lacked.
    pub(crate) completed: bool,
    /// The plan as text, if plans are shown to clients.
    pub(crate) plan: Option<String>,
    /// Processor time that the plan predicted.
    pub(crate) cost: Duration,
}

impl Maker {
    /// Returns a source as it is: an image up to its end, any other file unchecked. A fetched source has to be an
    /// image.
    pub(super) async fn file(
        &self,
        ctx: &RequestContext,
        found: OpenSource,
        stages: &mut Stages,
    ) -> Result<Picture, Error> {
        let hold = self.fetcher.hold(found.size_to_read()).await;
        let (found, read) = self.read(found).await?;
        if media_type::is_image(self.codecs, &read.source) {
            drop((hold, read));
            return self.picture(ctx, found, stages).await;
        }
        stages.push(("fetch", ctx.began.elapsed()));
        // Somebody else's pages would run in our name; their images cannot.
        if found.is_fetched() {
            return Err(Error::Pixels(andon_pixels::Error::UnknownFormat));
        }
        drop(hold);
        Ok(Picture {
            media_type: media_type::of(self.codecs, &found.path, &read.source),
            body: read.source,
            notes: Vec::new(),
            damaged: false,
            completed: false,
            plan: None,
            cost: Duration::ZERO,
        })
    }

    /// Makes a document about a source and about what a recipe makes of it. The header is enough unless the recipe
    /// needs something measured or the document shows something rendered; only then is the source decoded.
    pub(super) async fn describe(
        &self,
        document: &dyn Document,
        ctx: &RequestContext,
        mut found: OpenSource,
        stages: &mut Stages,
    ) -> Result<Picture, Error> {
        let mut admitted = match document.has_parts() {
            true => Some(self.admit(&mut found, &ctx.allowance.deadline)?),
            false => None,
        };
        let (source, source_bytes) = (found.source_key(), found.size());
        let (planned, holds) = self.read_and_plan(ctx, found, stages).await?;
        let mut parts = Vec::new();
        for recipe in document.parts(planned.plan().recipe()) {
            let admitted = match admitted.take() {
                Some(admitted) => admitted,
                None => {
                    let deadline = ctx.allowance.deadline.at();
                    (self.admission).enter(source_bytes, Some(source), deadline)?
                }
            };
            let (engine, ingredients) = (self.engine.clone(), planned.part(recipe));
            let prepare = move || Prepared::new(&engine, ingredients);
            let prepared = (self.headers)
                .read(Some(source), false, holds.clone(), prepare)
                .await?;
            let planned = self
                .planned(prepared, Some(source), &holds, &ctx.allowance, stages)
                .await?;
            let order = RenderTask {
                admitted,
                planned,
                source: Some(source),
                source_bytes,
                allowance: ctx.allowance.clone(),
                holds: holds.clone(),
            };
            let made = self.render(order, stages).await?;
            parts.push(Part {
                media_type: made.media_type,
                body: made.body.into(),
            });
        }
        Ok(Picture {
            body: document.write(&planned.about(&parts)).into(),
            media_type: document.media_type(),
            notes: Vec::new(),
            damaged: false,
            completed: false,
            plan: None,
            cost: Duration::ZERO,
        })
    }

    /// Makes an image according to a recipe.
    pub(super) async fn picture(
        &self,
        ctx: &RequestContext,
        mut found: OpenSource,
        stages: &mut Stages,
    ) -> Result<Picture, Error> {
        let (source, deadline) = (found.source_key(), &ctx.allowance.deadline);
        let admitted = self.admit(&mut found, deadline)?;
        let found = self.source_cache.fill(found, &self.fetcher).await?;
        let source_bytes = found.size();
        let (planned, holds) = self.read_and_plan(ctx, found, stages).await?;
        let planned = self
            .indexed(planned, source, &holds, deadline, stages)
            .await?;
        let order = RenderTask {
            admitted,
            planned,
            source: Some(source),
            source_bytes,
            allowance: ctx.allowance.clone(),
            holds,
        };
        self.render(order, stages).await
    }

    /// Admits a request to the queue, unless it was admitted before: by [`Maker::place`], before its file was opened, or
    /// by [`Maker::header`], before its header was read. A file is not read before this, because a request that finds
    /// no place in the queue must cost next to nothing. A source from an origin is in memory already.
    pub(super) fn admit(
        &self,
        found: &mut OpenSource,
        deadline: &Deadline,
    ) -> Result<Admitted, Error> {
        if let Some(admitted) = found.admitted.take() {
            return Ok(admitted);
        }
        let (source, bytes) = (found.source_key(), found.size());
        let part = self.results.part_of(&source, bytes);
        (self.admission).enter_for_part(bytes, part, Some(source), deadline.at())
    }

    /// Renders an admitted and planned image on a worker thread, unless it is planned to take longer than it may.
    pub(crate) async fn render<H: Send + 'static>(
        &self,
        order: RenderTask<H>,
        stages: &mut Stages,
    ) -> Result<Picture, Error> {
        let RenderTask {
            admitted,
            planned,
            source,
            source_bytes,
            allowance,
            holds,
        } = order;
        let plan = planned.plan().clone();
        allowance.check(&self.engine, plan.cpu(), source_bytes)?;
        let writes = Duration::from_nanos(plan.encode_nanos());
        if allowance.patience.is_some_and(|patience| writes > patience) {
            return Err(Error::Postponed);
        }
        let work = Work::of(&plan, source_bytes);
        let opening = DecodeInput {
            source,
            bytes: planned.source().clone(),
            plan: plan.clone(),
            engine: self.engine.clone(),
        };
        let waits = Instant::now();
        let wanted = Arc::new(CancelToken::until(allowance.deadline));
        let job = {
            let (engine, wanted) = (self.engine.clone(), wanted.clone());
            move |cores: &dyn Cores, decoded: Option<Decoded>| {
                let decoding = decoded
                    .as_ref()
                    .map_or(Duration::ZERO, |decoded| decoded.time);
                let waited = waits.elapsed().saturating_sub(decoding);
                // The source's bytes are counted here, and not with the plan's.
                let _until_done = holds;
                let rendered = planned.render(&engine, decoded, cores, &*wanted)?;
                Ok::<_, Error>((rendered, waited))
            }
        };
        let (rendered, waited) = self
            .admission
            .run_with(admitted, work, wanted, Some(opening), job)
            .await?;

        stages.push(("queue", waited));
        stages.push(("decode", rendered.timings.decode));
        stages.push(("resize", rendered.timings.stages));
        stages.push(("encode", rendered.timings.encode));
        Ok(Picture {
            body: rendered.body,
            media_type: rendered.media_type,
            notes: rendered.notes,
            damaged: rendered.damaged,
            completed: rendered.completed,
            plan: self.plan_header.then(|| plan.to_string()),
            cost: Duration::from_nanos(plan.cost().nanos),
        })
    }

    /// Reads an image's files and header and plans it, after measuring its pixels if that is needed. The second value
    /// returned keeps the memory of the files reserved.
    ///
    /// Files are read in the fetcher's slots and headers in slots of their own: a refusal takes no worker thread, and a
    /// slow header holds up no file and no socket.
    pub(super) async fn read_and_plan(
        &self,
        ctx: &RequestContext,
        found: OpenSource,
        stages: &mut Stages,
    ) -> Result<(Planned, Arc<impl Send + Sync + 'static>), Error> {
        found.within(&ctx.request().style)?;
        let source = Some(found.source_key());
        let hold = self.fetcher.hold(found.size_to_read()).await;
        let read = |found: &OpenSource, blocking: Blocking| {
            blocking.allow(found.is_in_memory())?;
            found.read_if(blocking)
        };
        let (found, read) = self.fetcher.read(found, read).await?;
        let holds = Arc::new((hold, read.hold));
        let (engine, asked) = (self.engine.clone(), ctx.variant.asked.clone());
        // The headers of materials are read, too.
        let is_short = found.is_in_memory() && engine.probes_at_once(&read.source);
        let prepare = move || {
            let ingredients = Ingredients {
                request: asked.request.clone(),
                negotiated: asked.negotiated,
                path: found.path,
                source: read.source,
                materials: read.materials,
            };
            Prepared::new(&engine, ingredients)
        };
        let prepared = (self.headers)
            .read(source, is_short, holds.clone(), prepare)
            .await?;
        stages.push(("fetch", ctx.began.elapsed()));
        let planned = self
            .planned(prepared, source, &holds, &ctx.allowance, stages)
            .await?;
        Ok((planned, holds))
    }

    pub(super) async fn read(&self, found: OpenSource) -> Result<(OpenSource, Read), Error> {
        self.fetcher.read(found, OpenSource::read_if).await
    }
}
