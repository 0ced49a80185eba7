//! Resolves the steps of recipes to whole pixels.
//!
//! Sides computed from others are rounded to the nearest pixel, half away from zero; none is shorter than one pixel. A
//! resolved recipe contains only `orient`, `shrink`, `flip`, `turn`, `crop`, `exact`, `canvas`, `rotate` and effects,
//! plus steps that depend on faces or on the area that draws the eye if that was not measured. Steps that change
//! nothing are dropped, and adjacent steps that amount to one are joined.

mod cut;
mod faces;
mod image;
mod lay;
mod scale;

use std::sync::Arc;

use crate::rules::{Facts, ResolveError, Rules};
use crate::{
    Kept, Length, Measure, Orient, Orientation, Output, Profile, Recipe, Step, StoredTurn, Wish,
};

pub(crate) use image::Image;
pub(crate) use scale::side;

impl Rules for Recipe {
    fn text(&self) -> String {
        self.to_string()
    }

    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        if self.is_original() {
            return Ok(Self::original());
        }
        let trim = |step: &Step| matches!(step, Step::Trim(_));
        let before = |steps: &[Step]| steps.iter().all(|step| step.geometry().comes_before_trim());
        if let Some(at) = self.steps.iter().rposition(trim)
            && !before(&self.steps[..at])
        {
            return Err(ResolveError::new(
                &self.steps[at],
                "it can be used once, and only orient, turn and flip may come before it among the steps that \
                 change the geometry",
            ));
        }
        let mut image = Image::new(facts);
        for step in self.all_steps() {
            let applied = step.geometry().apply(&mut image);
            applied.map_err(|why| ResolveError::new(step, why))?;
        }
        image.settle();
        let is_too_far = |step: &&Step| step.geometry().farthest() > Length::MAX_PX;
        if let Some(step) = image.steps.iter().find(is_too_far) {
            let most = Length::MAX_PX;
            let why = format!("sides of more than {most} px are not supported");
            return Err(ResolveError::new(step, why));
        }
        let recipe = Self {
            output: settled(self.output.clone(), image.upright, facts),
            steps: image.steps,
        };
        // A single step may resolve to two.
        match self.steps.last() {
            Some(last) if recipe.steps_in_all() > Self::MOST_STEPS => {
                let why = format!("with it, it comes to more than {} steps", Self::MOST_STEPS);
                Err(ResolveError::new(last, why))
            }
            _ => Ok(recipe),
        }
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        let facts = Facts {
            orientation: stored,
            ..Facts::new("", 1, 1)
        };
        let needed = |measure: &Measure| {
            let needs = |step: &Step| step.geometry().needs().contains(measure);
            self.steps.iter().any(needs)
        };
        let pixels = [Measure::Faces, Measure::Salient];
        let mut measures = Vec::from_iter(pixels.into_iter().filter(needed));
        let mut image = Image::new(&facts);
        for step in self.all_steps() {
            if let Step::Trim(trim) = step {
                measures.push(trim.border(&image));
                break;
            }
            let geometry = step.geometry();
            if !geometry.comes_before_trim() || geometry.apply(&mut image).is_err() {
                break;
            }
        }
        measures
    }

    fn output(&self) -> &Output {
        &self.output
    }

    fn with_output(&self, output: Output) -> Arc<dyn Rules> {
        Arc::new(Self {
            output,
            ..self.clone()
        })
    }

    fn overlays(&self) -> Vec<String> {
        self.overlays()
    }

    fn wish(&self) -> Option<Wish> {
        Some(Wish::of(self))
    }
}

impl Recipe {
    /// Returns the steps of this recipe. The first is the step that turns the image upright, unless the recipe contains
    /// one or the output keeps the stored orientation.
    fn all_steps(&self) -> impl Iterator<Item = &Step> {
        const ORIENT: Step = Step::Orient(Orient);
        let first = self.output.stored_turn == StoredTurn::Applied && !self.steps.contains(&ORIENT);
        first.then_some(&ORIENT).into_iter().chain(&self.steps)
    }
}

/// Returns the output without settings that make no difference for this source, such as the format that the result has
/// in any case. `upright` tells whether the steps turn the image upright.
fn settled(mut output: Output, upright: bool, facts: &Facts) -> Output {
    // An image that is upright, or is turned upright, has no stored orientation to keep.
    if upright || facts.orientation.is_upright() {
        output.stored_turn = StoredTurn::default();
    }
    output.settle_moving(facts.frames > 1 && output.frame.is_none());
    // The only frame is the whole image, so its number makes no difference.
    output.frame = output
        .frame
        .filter(|frame| (*frame, facts.frames) != (1, 1));
    let fewer = |most: &u32| *most < facts.frames && output.frame.is_none();
    output.most_frames = output.most_frames.filter(fewer);
    output.format = output
        .format
        .filter(|format| facts.replaced || format.as_str() != facts.format);
    // For sRGB, only a wider colour space makes a difference.
    if !facts.tagged && !facts.cmyk && output.profile != Profile::P3 {
        output.profile = Profile::default();
    }
    if !facts.metadata && output.stored_turn == StoredTurn::default() {
        output.metadata = Kept::default();
    }
    output
}

/// Returns the width and height in px that `steps` leave of a source; `None` if a step is not resolved to whole pixels.
#[must_use]
pub fn size_after(steps: &[Step], facts: &Facts) -> Option<(u32, u32)> {
    let source = (facts.width, facts.height);
    let after = |size, step: &Step| step.geometry().size(size, facts);
    steps.iter().try_fold(source, after)
}

#[cfg(test)]
mod tests;
