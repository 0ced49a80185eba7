//! Scores: how much a result looks like its source, and the search for a file that reaches one.

use std::cell::{Cell, RefCell};

use andon_recipe::Effect;

use super::job::Job;
use super::overlays::{nothing_drawn, nothing_laid};
use super::{Engine, Run};
use crate::codec::Text;
use crate::color::Convert;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::Image;
use crate::plan::search::{Candidate, Scored};
use crate::plan::{self, Pipeline, Plan};
use crate::score::{self, Reference};
use crate::stage::Stage;

impl Engine {
    /// Scores by SSIMULACRA2 how well `result`, an encoded file of the same size, preserves the output of a plan: 100
    /// for the same image, about 90 where a difference is hard to see, 70 for a good image on a page, 50 for a poor
    /// one. The result is compared with the frame that would be encoded. Of an animation, only one frame is compared.
    ///
    /// # Errors
    /// `Unfit` for a result of another size or an image too small to score, and any other error.
    pub fn score(&self, plan: &Plan, run: Run<'_>, result: &[u8]) -> Result<f64> {
        let job = Job {
            engine: self,
            overlays: run.overlays,
            interrupt: run.interrupt,
            cores: run.cores,
            damaged: Cell::new(false),
            undrawn: RefCell::default(),
        };
        let reference = self.render_frame(plan, run)?;
        let frame = job.whole(result)?.frame;
        let sizes = [&reference, &frame].map(|frame| (frame.width, frame.height));
        if sizes[0] != sizes[1] {
            let [(w, h), (other_w, other_h)] = sizes;
            return Err(Error::Unfit {
                piece: format!("{other_w}x{other_h}"),
                why: format!("it is compared with an image of {w}x{h}"),
            });
        }
        if frame.width.min(frame.height) < score::LEAST_SIDE {
            return Err(Error::Unfit {
                piece: format!("{}x{}", frame.width, frame.height),
                why: format!(
                    "only images of {0}x{0} and more have a score",
                    score::LEAST_SIDE
                ),
            });
        }
        let (no_effect, no_document) = (nothing_laid::<Effect>, |_: &Text<'_>| nothing_drawn());
        let context = job.context(&no_effect, &no_document);
        Reference::new(&reference, context)?.score(&frame)
    }

    /// Estimates the cost of [`Engine::score`] with this plan, including the memory needed in addition to the source.
    #[must_use]
    pub fn score_cost(&self, plan: &Plan) -> Cost {
        let (width, height) = plan.size();
        let score = score::cost(width, height);
        Cost {
            nanos: plan.cost().nanos.saturating_add(score.nanos),
            scratch: plan.peak_bytes().saturating_add(score.scratch),
        }
    }
}

impl Job<'_> {
    /// Searches for a file that reaches the requested score, compared with the image before any subsampling or rounding
    /// for the encoder.
    pub(super) fn scored(
        &self,
        pipeline: &Pipeline,
        scored: Scored,
        image: &Image,
        encode: impl Fn(&Image, Option<u8>) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let frame = &image.frame;
        let (no_effect, no_document) = (nothing_laid::<Effect>, |_: &Text<'_>| nothing_drawn());
        let context = self.context(&no_effect, &no_document);
        let reference = Reference::new(frame, context)?;
        scored.run(|quality| {
            let how = pipeline.encode_at(Some(quality));
            let traits = frame.traits();
            let convert = Convert {
                to: plan::accepted(pipeline.encoder, traits, &how),
                from: traits.space,
            };
            let image = Image {
                frame: convert.apply(frame.clone(), &context)?,
                ..image.clone()
            };
            let file = encode(&image, Some(quality))?;
            let score = reference.score(&self.whole(&file)?.frame)?;
            Ok(Candidate { file, score })
        })
    }
}
