//! Requests that are planned and tried out for the playground: admitted like all work, and never cached.

use std::sync::Arc;
use std::time::Instant;

use andon_dialects::ImageRequest;
use andon_pixels::Cores;
use andon_recipe::Recipe;

use super::picture::Picture;
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

/// Reservations that are given back when nobody needs the source any more.
pub(crate) struct Holds {
    _held: Box<dyn Send + Sync>,
}

/// A result that was compared with a reference made from the same source.
pub(crate) struct Scored {
    pub(crate) picture: Picture,
    /// The SSIMULACRA2 score.
    pub(crate) score: f64,
    pub(crate) stages: Stages,
}

impl Holds {
    pub(crate) fn of(held: impl Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            _held: Box::new(held),
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
        let found = match self.resolver.is_remote(request) {
            true => self.fetch_alone(request, deadline).await?,
            false => self.open(request, &deadline.into()).await?,
        };
        let mut stages = Stages::new();
        let (planned, held) = self.read_and_plan(&ctx, found, &mut stages).await?;
        Ok(Rehearsal {
            planned,
            holds: Holds::of(held),
            stages,
        })
    }

    async fn fetch_alone(
        self: &Arc<Self>,
        request: &Arc<ImageRequest>,
        deadline: Instant,
    ) -> Result<OpenSource, Error> {
        let materials = self.open_materials(request, &deadline.into()).await?;
        let budget = self.fetcher.budget(deadline);
        match self.resolver.fetch(request, None, &budget).await? {
            Fetched::Body(source) => Ok(self.resolver.found(request, source, materials)),
            // Nothing was said to be known.
            Fetched::NotModified(_) => Err(OriginError::Status(304).into()),
        }
    }

    /// Renders the planned request.
    pub(crate) async fn perform(
        &self,
        rehearsal: Rehearsal,
        deadline: Instant,
    ) -> Result<(Picture, Stages), Error> {
        let Rehearsal {
            planned,
            holds,
            mut stages,
        } = rehearsal;
        let source_bytes = planned.source().len() as u64;
        let order = RenderTask {
            admitted: self.admission.enter(source_bytes, None, deadline)?,
            planned,
            source: None,
            source_bytes,
            allowance: Allowance::until(deadline),
            holds,
        };
        let picture = self.render(order, &mut stages).await?;
        Ok((picture, stages))
    }

    /// Renders the planned request and compares the result with what `reference` makes of the same source.
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
        let (picture, stages) = self.perform(rehearsal, deadline).await?;

        let source_bytes = reference.source().len() as u64;
        let admitted = self.admission.enter(source_bytes, None, deadline)?;
        let plan = reference.plan();
        let kind = (plan.info().format, "score");
        let work = Work::look(kind, self.engine.score_cost(plan), source_bytes);
        let wanted = Arc::new(CancelToken::until(deadline));
        let job = {
            let (engine, wanted, result) =
                (self.engine.clone(), wanted.clone(), picture.body.clone());
            move |cores: &dyn Cores, _| {
                // The source's bytes are counted here.
                let _until_done = holds;
                reference.score(&engine, &result, cores, &*wanted)
            }
        };
        let score = self
            .admission
            .run_with(admitted, work, wanted, None, job)
            .await?;
        Ok(Scored {
            picture,
            score,
            stages,
        })
    }
}
