//! Image requests of the playground. They are planned and rendered like all others. Their results may be scored, and
//! are never cached.

use std::sync::Arc;
use std::time::{Duration, Instant};

use andon_dialects::{ImageRequest, Source};
use andon_recipe::{Flatten, FormatName, Kept, Output, Recipe, Step};
use serde_json::{Map, Value, json};

use super::Query;
use crate::error::Error;
use crate::handler::App;
use crate::handler::record::RequestRecord;
use crate::handler::upload::{Received, fresh};
use crate::operations::entry::Stages;
use crate::request::negotiation;
use crate::response::varying::Varying;
use crate::response::{self, Reply};
use crate::results::making::{Allowance, Holds, Rehearsal};

impl App {
    /// Applies the recipe in `query` to the image in `body` or, without a body, to the source that `query` names.
    /// Returns the resulting image.
    pub(super) async fn rendering(
        &self,
        query: Query,
        body: Option<Received>,
        record: &mut RequestRecord<'_>,
    ) -> Result<Reply, Error> {
        let request = self.trial(&query)?;
        let deadline = Instant::now() + self.timeout;
        let (image, stages) = self
            .within(async {
                let rehearsal = self.rehearsal(&request, body, deadline).await?;
                self.maker.perform(rehearsal, deadline).await
            })
            .await?;
        record.took_all(stages);
        let mut reply = fresh(image.body, image.media_type);
        let varying = Varying {
            stages: record.stages(),
            ..Varying::default()
        };
        varying.set(reply.headers_mut());
        response::add_notes(reply.headers_mut(), &image.notes);
        Ok(reply)
    }

    /// Renders an image as [`App::rendering`] does. Returns as JSON its length in bytes, its media type, its
    /// SSIMULACRA2 score in comparison with a lossless result, and the durations of the stages in milliseconds.
    pub(super) async fn scoring(
        &self,
        query: Query,
        body: Option<Received>,
    ) -> Result<Reply, Error> {
        let request = self.trial(&query)?;
        let deadline = Instant::now() + self.timeout;
        let score_result = self
            .within(async {
                let rehearsal = self.rehearsal(&request, body, deadline).await?;
                let reference = self.reference(&rehearsal);
                self.maker.score(rehearsal, reference, deadline).await
            })
            .await?;
        let millis = |time: &Duration| (time.as_secs_f64() * 1e4).round() / 10.0;
        let stages = score_result.stages.iter();
        let stages: Map<String, Value> = stages
            .map(|(stage, time)| ((*stage).to_owned(), json!(millis(time))))
            .collect();
        let answer = json!({
            "bytes": score_result.image.body.len(),
            "media_type": score_result.image.media_type,
            "score": (score_result.score * 100.0).round() / 100.0,
            "stages_ms": stages,
        });
        Ok(super::json(answer.to_string()))
    }

    /// Returns the image request that the query describes.
    pub(super) fn trial(&self, query: &Query) -> Result<Arc<ImageRequest>, Error> {
        let recipe = query.recipe()?;
        let source = query.source.as_deref().unwrap_or_default();
        let origins = self.maker.resolver.origins();
        let source = match source.contains("://") {
            false => origins.settle(Source::from_path(source)),
            true => origins
                .locate(source)
                .ok_or_else(|| {
                    Error::Play(format!(
                        "no origin has {source}; `fs.urls`, `http.base`, `http.urls` or `buckets` of an origin says which URLs are served"
                    ))
                })?,
        };
        let mut request = ImageRequest::image(source, recipe);
        self.maker.resolver.check_overlays(&request)?;
        negotiation::settle_without_accept(&mut request, self.negotiation.background());
        Ok(Arc::new(request))
    }

    /// Plans the request for the image in the body or, without a body, for the source that the request names.
    pub(super) async fn rehearsal(
        &self,
        request: &Arc<ImageRequest>,
        body: Option<Received>,
        deadline: Instant,
    ) -> Result<Rehearsal, Error> {
        let Some(Received { bytes, holds, .. }) = body else {
            if request.source.as_str().is_empty() {
                let why = "name an image with ?source=, or send one as the body";
                return Err(Error::Play(why.to_owned()));
            }
            return self.maker.rehearse(request, deadline).await;
        };
        let holds = Holds::of(holds);
        let overlays = self.open_overlays(request, deadline).await?;
        let prepared = self
            .prepared(request.clone(), bytes.into(), overlays, &holds)
            .await?;
        let mut stages = Stages::new();
        let allowance = Allowance::until(deadline);
        let planned = self
            .maker
            .planned(prepared, None, &holds, &allowance, &mut stages)
            .await?;
        Ok(Rehearsal {
            planned,
            holds,
            stages,
        })
    }

    /// Returns the recipe for the same image in a lossless format, with which the result is compared.
    pub(super) fn reference(&self, rehearsal: &Rehearsal) -> Recipe {
        let plan = rehearsal.planned.plan();
        let Recipe { mut steps, output } = plan.recipe().clone();
        let background = self.negotiation.background();
        if let Some(colour) = background.behind(plan.format(), &output) {
            steps.push(Step::Flatten(Flatten(colour)));
        }
        let output = Output {
            format: FormatName::new(LOSSLESS).ok(),
            stored_turn: output.stored_turn,
            // Keep the orientation tag if the result keeps it, so that the pixels of both lie the same way.
            metadata: match plan.orientation().is_upright() {
                true => Kept::None,
                false => Kept::All,
            },
            drops_gain_map: true,
            profile: output.profile,
            // Only the first frame is scored.
            frame: output.frame.or((plan.info().frames > 1).then_some(1)),
            ..Output::default()
        };
        Recipe { steps, output }
    }

    /// Waits for `answer`.
    ///
    /// # Errors
    /// [`Error::Late`] after the time limit for requests, or the error of `answer`.
    pub(super) async fn within<T>(
        &self,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(Err(error)) if error.is_interrupted() => Err(Error::Late(self.timeout)),
            Ok(answer) => answer,
            Err(_) => Err(Error::Late(self.timeout)),
        }
    }
}

/// The format of lossless images.
const LOSSLESS: &str = "png";
