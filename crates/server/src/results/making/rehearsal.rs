//! Trial runs for the playground: requests are planned and rendered with admission like all work, and never cached.

use std::sync::Arc;
use std::time::Instant;

use andon_dialects::ImageRequest;
use andon_pixels::Cores;
use andon_recipe::Recipe;

use super::image::FinishedImage;
use super::{Allowance, Maker, RenderTask};
use crate::admission::{CancelToken, Work};
use crate::error::{Error, OriginError};
use crate::operations::entry::Stages;
use crate::origins::Fetched;
use crate::request::negotiation::SettledRequest;
use crate::results::variant::RequestVariant;
use crate::sources::rendering::{Planned, Prepared};
use crate::sources::resolver::OpenSource;

/// A request with its plan.
pub(crate) struct Rehearsal {
    pub(crate) planned: Planned,
    /// Keeps the memory of the source's bytes reserved.
    pub(crate) holds: Arc<Holds>,
    pub(crate) stages: Stages,
}

/// Reservations of memory for the source of a request. They end when the source is no longer needed.
pub(crate) struct Holds {
    _reservations: Box<dyn Send + Sync>,
}

/// A result, and how well it matches a reference made from the same source.
pub(crate) struct Scored {
    pub(crate) image: FinishedImage,
    /// The SSIMULACRA2 score.
    pub(crate) score: f64,
    pub(crate) stages: Stages,
}

impl Holds {
    pub(crate) fn of(reservations: impl Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            _reservations: Box::new(reservations),
        })
    }
}

impl Maker {
    /// Plans a request as if its result were to be made.
    pub(crate) async fn rehearse(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        deadline: Instant,
    ) -> Result<Rehearsal, Error> {
        let asked = SettledRequest {
            request: request.clone(),
            negotiated: false,
            is_open: false,
        };
        let variant = Arc::new(RequestVariant::new("", asked, self));
        let ctx = self.context(variant, Allowance::until(deadline));
        let input = match self.resolver.is_remote(request) {
            true => self.fetch_alone(request, deadline).await?,
            false => self.open(request, &deadline.into()).await?,
        };
        let mut stages = Stages::new();
        let (planned, reservations) = self.read_and_plan(&ctx, input, &mut stages).await?;
        Ok(Rehearsal {
            planned,
            holds: Holds::of(reservations),
            stages,
        })
    }

    async fn fetch_alone(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        deadline: Instant,
    ) -> Result<OpenSource, Error> {
        let overlays = self.open_overlays(request, &deadline.into()).await?;
        let budget = self.fetcher.budget(deadline);
        match self.resolver.fetch(request, None, &budget).await? {
            Fetched::Body(source) => Ok(self.resolver.input_of(request, source, overlays)),
            // No validators were sent that could be unchanged.
            Fetched::NotModified(_) => Err(OriginError::Status(304).into()),
        }
    }

    /// Renders the planned request.
    pub(crate) async fn perform(
        &self,
        rehearsal: Rehearsal,
        deadline: Instant,
    ) -> Result<(FinishedImage, Stages), Error> {
        let Rehearsal {
            planned,
            holds,
            mut stages,
        } = rehearsal;
        let source_bytes = planned.source().len() as u64;
        let task = RenderTask {
            admitted: self.admission.enter(source_bytes, None, deadline)?,
            planned,
            source: None,
            source_bytes,
            allowance: Allowance::until(deadline),
            holds,
        };
        let image = self.render(task, &mut stages).await?;
        Ok((image, stages))
    }

    /// Renders the planned request, and compares the result with the result of the recipe `reference` for the same
    /// source.
    pub(crate) async fn score(
        &self,
        rehearsal: Rehearsal,
        reference: Recipe,
        deadline: Instant,
    ) -> Result<Scored, Error> {
        let holds = rehearsal.holds.clone();
        let (engine, ingredients) = (self.engine.clone(), rehearsal.planned.part(reference));
        let prepare = move || Prepared::new(&engine, ingredients);
        let prepared = (self.headers)
            .read(None, false, holds.clone(), prepare)
            .await?;
        let allowance = Allowance::until(deadline);
        let reference = self
            .planned(prepared, None, &holds, &allowance, &mut Stages::new())
            .await?;
        let (image, stages) = self.perform(rehearsal, deadline).await?;

        let source_bytes = reference.source().len() as u64;
        let admitted = self.admission.enter(source_bytes, None, deadline)?;
        let plan = reference.plan();
        let kind = (plan.info().format, "score");
        let work = Work::look(kind, self.engine.score_cost(plan), source_bytes);
        let cancel = Arc::new(CancelToken::until(deadline));
        let job = {
            let (engine, cancel, result) =
                (self.engine.clone(), cancel.clone(), image.body.clone());
            move |cores: &dyn Cores, _| {
                // The reservation of the source's bytes ends with the job.
                let _until_done = holds;
                reference.score(&engine, &result, cores, &*cancel)
            }
        };
        let score = self
            .admission
            .run_with(admitted, work, cancel, None, job)
            .await?;
        Ok(Scored {
            image,
            score,
            stages,
        })
    }
}
