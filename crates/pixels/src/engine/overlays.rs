//! The overlay images of a plan: what they cost, and how they are loaded.

use std::fmt;

use andon_recipe::{Effect, Measured, Rules};

use super::job::Job;
use super::{Engine, Run};
use crate::codec::{Info, Scales, Text};
use crate::cores::Alone;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::formats::within;
use crate::frame::Image;
use crate::limits::{Bound, Never};
use crate::ops::turn::Turned;
use crate::plan::{self, Index, Plan};
use crate::stage::{OverlaySource, Stage, wrong};

impl Engine {
    /// Plans as `plan` does, with measurements and with an index of where decoding of the file can start, and includes
    /// the cost of the overlay images that the rules name, one of which is in memory at a time. Without `measured`, any
    /// measurement that the rules need is made at once. The resulting image does not depend on the index.
    ///
    /// # Errors
    /// Those of `plan`, `measurement` and `measure`, and those of loading an overlay. An overlay file that is not an image
    /// is reported only when the plan runs.
    pub fn plan_with(
        &self,
        rules: &dyn Rules,
        bytes: &[u8],
        overlays: &dyn OverlaySource,
        measured: Option<&Measured>,
        index: Option<&Index>,
    ) -> Result<Plan> {
        let measurement = match measured {
            Some(_) => None,
            None => self.measurement(rules, bytes)?,
        };
        let new_measured = match measurement {
            Some(measurement) => {
                let length = bytes.len() as u64;
                self.limits().check_cpu(measurement.cost().into(), length)?;
                self.measure(&measurement, bytes, &Alone, &Never)?
            }
            None => Measured::default(),
        };
        let measured = measured.unwrap_or(&new_measured);
        let mut plan = plan::planner::plan(&self.formats, rules, bytes, measured, index)?;
        if plan.is_copy() {
            return Ok(plan);
        }
        let cost = self.lay(&mut plan, overlays)?;
        plan.also(cost);
        within(Bound::MEMORY, plan.peak_bytes(), self.formats.limits.memory)?;
        Ok(plan)
    }

    /// Passes the sizes of overlay images to the effects of a plan, and returns the cost of loading them.
    fn lay(&self, plan: &mut Plan, overlays: &dyn OverlaySource) -> Result<Cost> {
        let (mut most, mut nanos) = (0, 0_u64);
        let effects: Vec<Effect> = plan.recipe().effects().cloned().collect();
        let mut decoded = Vec::new();
        for effect in &effects {
            let Some(file) = self.formats.overlay(effect, overlays).transpose()? else {
                continue;
            };
            let Ok((codec, info)) = self.formats.header(&file) else {
                continue;
            };
            let length = file.len() as u64;
            most = most.max(plan::held_in_full(codec, &info, length));
            let size = match self.plan_of_overlay(effect, &file, overlays)? {
                // An overlay's recipe runs for every frame, and its result is never encoded.
                Some(overlay_plan) => {
                    most = most.max(overlay_plan.peak_bytes());
                    let nanos_per_frame = overlay_plan
                        .cost()
                        .nanos
                        .saturating_sub(overlay_plan.encode_nanos());
                    nanos = nanos.saturating_add(nanos_per_frame.saturating_mul(plan.frames()));
                    overlay_plan.size()
                }
                None => {
                    let name = effect.args.first();
                    if !decoded.contains(&name) {
                        decoded.push(name);
                        let decoding = codec.decode_cost(length, &info, Scales::FULL);
                        nanos = nanos.saturating_add(decoding.nanos);
                    }
                    info.orientation.size(info.width, info.height)
                }
            };
            plan.lays(effect, size);
        }
        Ok(Cost {
            nanos,
            scratch: most,
        })
    }

    /// Plans an overlay's own recipe for the overlay's file; `None` if the overlay has no recipe.
    pub(super) fn plan_of_overlay(
        &self,
        effect: &Effect,
        file: &[u8],
        overlays: &dyn OverlaySource,
    ) -> Result<Option<Plan>> {
        let Some(recipe) = effect.recipe() else {
            return Ok(None);
        };
        let mut recipe = recipe.map_err(|error| wrong(effect, &error))?;
        recipe.output.format = self.formats.holding_anything();
        recipe.output.frame = Some(1);
        let nothing = Measured::default();
        self.plan_with(&recipe, file, overlays, Some(&nothing), None)
            .map(Some)
    }
}

impl Job<'_> {
    /// Returns the overlay image of an effect, loaded under the same limits as any source.
    pub(super) fn overlay(&self, effect: &Effect) -> Result<Image> {
        let image = match (effect.recipe(), effect.overlay_name()) {
            (None, Some(name)) => self.overlays.image(name, &|bytes| self.upright(bytes)),
            (None, None) => match self.engine.formats.overlay(effect, self.overlays) {
                Some(file) => self.whole(&file?),
                None => nothing_laid(effect),
            },
            (Some(_), _) => self.worked_on(effect),
        };
        if let Ok(image) = &image {
            self.lacks(&image.undrawn);
        }
        image.map_err(|error| match error {
            Error::UnknownFormat | Error::Broken { .. } | Error::Unsupported { .. } => {
                Error::Recipe {
                    piece: effect.args.first().cloned().unwrap_or_default(),
                    why: error.to_string(),
                }
            }
            other => other,
        })
    }

    /// Returns the image in the effect's file after the effect's own recipe has been applied to it.
    pub(super) fn worked_on(&self, effect: &Effect) -> Result<Image> {
        let formats = &self.engine.formats;
        let Some(file) = formats.overlay(effect, self.overlays).transpose()? else {
            return nothing_laid(effect);
        };
        let engine = self.engine;
        let Some(plan) = engine.plan_of_overlay(effect, &file, self.overlays)? else {
            return self.whole(&file);
        };
        let run = Run {
            bytes: &file,
            overlays: self.overlays,
            interrupt: self.interrupt,
            cores: self.cores,
            decoded: None,
        };
        let (frame, undrawn) = engine.render_with_text(&plan, run)?;
        Ok(Image {
            undrawn,
            ..Image::still(frame)
        })
    }

    /// Decodes a file in full and turns the image upright.
    pub(super) fn upright(&self, bytes: &[u8]) -> Result<Image> {
        let image = self.whole(bytes)?;
        let (_, Info { orientation, .. }) = self.engine.formats.header(bytes)?;
        if orientation.is_upright() {
            return Ok(image);
        }
        let (no_effect, no_document) = (nothing_laid::<Effect>, |_: &Text<'_>| nothing_drawn());
        let context = self.context(&no_effect, &no_document);
        let frame = Turned { orientation }.apply(image.frame, &context)?;
        Ok(Image {
            undrawn: image.undrawn,
            ..Image::still(frame)
        })
    }

    /// Decodes a file in full.
    pub(super) fn whole(&self, bytes: &[u8]) -> Result<Image> {
        let (codec, info) = self.engine.formats.header(bytes)?;
        self.engine.formats.limits.check_source(&info)?;
        let how = self.engine.how_in_full(self.cores, self.interrupt);
        codec.decode(bytes, &info, &how)
    }
}

pub(super) fn nothing_laid<T: fmt::Display + ?Sized>(what: &T) -> Result<Image> {
    Err(Error::Internal(format!("{what} has nothing to lay")))
}

pub(super) fn nothing_drawn() -> Result<Image> {
    Err(Error::Internal(
        "a text has nothing to be drawn on".to_owned(),
    ))
}
