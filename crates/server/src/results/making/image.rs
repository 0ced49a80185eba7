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
    /// Key of the source's bytes, if other requests may decode the same bytes.
    pub(crate) source: Option<Key>,
    pub(crate) source_bytes: u64,
    pub(crate) allowance: Allowance,
    /// Keeps the memory of the source's bytes reserved until the image is rendered.
    pub(crate) holds: H,
}

/// A finished image, or an unchanged file.
pub(crate) struct FinishedImage {
    pub(crate) body: Bytes,
    pub(crate) media_type: &'static str,
    /// Parts of the source that were left out although the request did not ask for that, one sentence each.
    pub(crate) notes: Vec<String>,
    /// Whether the source is truncated or damaged, and was rendered as far as it could be decoded.
    pub(crate) damaged: bool,
    /// Whether the file lacked the end marker of its image, so that the body is the file with the marker appended.
    pub(crate) completed: bool,
    /// The plan as text, if responses contain plans.
    pub(crate) plan: Option<String>,
    /// Processor time that the plan predicted.
    pub(crate) cost: Duration,
}

impl Maker {
    /// Returns a source unchanged: an image up to its end, any other file unchecked. A source from an origin over a
    /// network has to be an image.
    pub(super) async fn file(
        &self,
        ctx: &RequestContext,
        input: OpenSource,
        stages: &mut Stages,
    ) -> Result<FinishedImage, Error> {
        let hold = self.fetcher.hold(input.size_to_read()).await;
        let (input, read) = self.read(input).await?;
        if media_type::is_image(self.codecs, &read.source) {
            drop((hold, read));
            return self.image(ctx, input, stages).await;
        }
        stages.push(("fetch", ctx.began.elapsed()));
        // Pages of another site would run scripts in this server's name. Images cannot.
        if input.is_fetched() {
            return Err(Error::Pixels(andon_pixels::Error::UnknownFormat));
        }
        drop(hold);
        Ok(FinishedImage {
            media_type: media_type::of(self.codecs, &input.path, &read.source),
            body: read.source,
            notes: Vec::new(),
            damaged: false,
            completed: false,
            plan: None,
            cost: Duration::ZERO,
        })
    }

    /// Makes a document about a source and about the result of a recipe. The source's header is enough for that, unless
    /// the recipe needs a measurement or the document contains rendered images.
    pub(super) async fn describe(
        &self,
        document: &dyn Document,
        ctx: &RequestContext,
        mut input: OpenSource,
        stages: &mut Stages,
    ) -> Result<FinishedImage, Error> {
        let mut admitted = match document.has_parts() {
            true => Some(self.admit(&mut input, &ctx.allowance.deadline)?),
            false => None,
        };
        let (source, source_bytes) = (input.source_key(), input.size());
        let (planned, holds) = self.read_and_plan(ctx, input, stages).await?;
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
            let task = RenderTask {
                admitted,
                planned,
                source: Some(source),
                source_bytes,
                allowance: ctx.allowance.clone(),
                holds: holds.clone(),
            };
            let image = self.render(task, stages).await?;
            parts.push(Part {
                media_type: image.media_type,
                body: image.body.into(),
            });
        }
        Ok(FinishedImage {
            body: document.write(&planned.about(&parts)).into(),
            media_type: document.media_type(),
            notes: Vec::new(),
            damaged: false,
            completed: false,
            plan: None,
            cost: Duration::ZERO,
        })
    }

    /// Makes an image with the request's recipe.
    pub(super) async fn image(
        &self,
        ctx: &RequestContext,
        mut input: OpenSource,
        stages: &mut Stages,
    ) -> Result<FinishedImage, Error> {
        let (source, deadline) = (input.source_key(), &ctx.allowance.deadline);
        let admitted = self.admit(&mut input, deadline)?;
        let input = self.source_cache.fill(input, &self.fetcher).await?;
        let source_bytes = input.size();
        let (planned, holds) = self.read_and_plan(ctx, input, stages).await?;
        let planned = self
            .with_index(planned, source, &holds, deadline, stages)
            .await?;
        let task = RenderTask {
            admitted,
            planned,
            source: Some(source),
            source_bytes,
            allowance: ctx.allowance.clone(),
            holds,
        };
        self.render(task, stages).await
    }

    /// Admits a request to the queue, unless it was admitted before: by [`Maker::place`], before its file was opened,
    /// or by [`Maker::header`], before its header was read. The file is not read before admission, because a request
    /// that finds no place in the queue must cost next to nothing. A source from an origin is in memory already.
    pub(super) fn admit(
        &self,
        input: &mut OpenSource,
        deadline: &Deadline,
    ) -> Result<Admitted, Error> {
        if let Some(admitted) = input.admitted.take() {
            return Ok(admitted);
        }
        let (source, bytes) = (input.source_key(), input.size());
        let part = self.results.part_of(&source, bytes);
        (self.admission).enter_for_part(bytes, part, Some(source), deadline.at())
    }

    /// Renders an admitted and planned image on a worker thread. Refuses or postpones it if the plan takes longer than
    /// the request's allowance.
    pub(crate) async fn render<H: Send + 'static>(
        &self,
        task: RenderTask<H>,
        stages: &mut Stages,
    ) -> Result<FinishedImage, Error> {
        let RenderTask {
            admitted,
            planned,
            source,
            source_bytes,
            allowance,
            holds,
        } = task;
        let plan = planned.plan().clone();
        allowance.check(&self.engine, plan.cpu(), source_bytes)?;
        let encoding = Duration::from_nanos(plan.encode_nanos());
        if allowance
            .patience
            .is_some_and(|patience| encoding > patience)
        {
            return Err(Error::Postponed);
        }
        let work = Work::of(&plan, source_bytes);
        let input = DecodeInput {
            source,
            bytes: planned.source().clone(),
            plan: plan.clone(),
            engine: self.engine.clone(),
        };
        let enqueued_at = Instant::now();
        let cancel = Arc::new(CancelToken::until(allowance.deadline));
        let job = {
            let (engine, cancel) = (self.engine.clone(), cancel.clone());
            move |cores: &dyn Cores, decoded: Option<Decoded>| {
                let decoding = decoded
                    .as_ref()
                    .map_or(Duration::ZERO, |decoded| decoded.time);
                let waiting = enqueued_at.elapsed().saturating_sub(decoding);
                // The reservation of the source's bytes ends with the job. The plan does not count them.
                let _until_done = holds;
                let image = planned.render(&engine, decoded, cores, &*cancel)?;
                Ok::<_, Error>((image, waiting))
            }
        };
        let (image, waiting) = self
            .admission
            .run_with(admitted, work, cancel, Some(input), job)
            .await?;

        stages.push(("queue", waiting));
        stages.push(("decode", image.timings.decode));
        stages.push(("resize", image.timings.stages));
        stages.push(("encode", image.timings.encode));
        Ok(FinishedImage {
            body: image.body,
            media_type: image.media_type,
            notes: image.notes,
            damaged: image.damaged,
            completed: image.completed,
            plan: self.plan_header.then(|| plan.to_string()),
            cost: Duration::from_nanos(plan.cost().nanos),
        })
    }

    /// Reads the files and the header of an image and plans it, after measuring its pixels if that is needed. The
    /// second value that it returns keeps the memory of the files reserved.
    ///
    /// Files are read in slots of the [`Fetcher`](crate::sources::fetch::Fetcher), and headers in slots of their own: a
    /// refusal needs no worker thread, and a slow header delays neither files nor sockets.
    pub(super) async fn read_and_plan(
        &self,
        ctx: &RequestContext,
        input: OpenSource,
        stages: &mut Stages,
    ) -> Result<(Planned, Arc<impl Send + Sync + 'static>), Error> {
        input.within(&ctx.request().style)?;
        let source = Some(input.source_key());
        let hold = self.fetcher.hold(input.size_to_read()).await;
        let read = |input: &OpenSource, blocking: Blocking| {
            blocking.allow(input.is_in_memory())?;
            input.read_if(blocking)
        };
        let (input, read) = self.fetcher.read(input, read).await?;
        let holds = Arc::new((hold, read.hold));
        let (engine, asked) = (self.engine.clone(), ctx.variant.asked.clone());
        // The headers of overlays are read here, too, so this applies only without overlays.
        let is_short = input.is_in_memory() && engine.probes_at_once(&read.source);
        let prepare = move || {
            let ingredients = Ingredients {
                request: asked.request.clone(),
                negotiated: asked.negotiated,
                path: input.path,
                source: read.source,
                overlays: read.overlays,
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

    /// Reads the source and the overlays.
    pub(super) async fn read(&self, input: OpenSource) -> Result<(OpenSource, Read), Error> {
        self.fetcher.read(input, OpenSource::read_if).await
    }
}
