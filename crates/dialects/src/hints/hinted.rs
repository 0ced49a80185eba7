//! Rules that apply client hints when they are resolved.

use std::sync::Arc;

use andon_recipe::{
    Canvas, Crop, Effect, Exact, Facts, Goal, Length, Measure, Orientation, Output, Recipe,
    ResolveError, Rules, Step, Wish, size_after,
};

use super::Hints;

/// Rules of a request that came with client hints.
#[derive(Clone, Debug)]
pub(super) struct HintedRules {
    pub(super) rules: Arc<dyn Rules>,
    pub(super) hints: Hints,
}

impl Rules for HintedRules {
    fn text(&self) -> String {
        format!("{}{}", self.rules.text(), self.hints)
    }

    /// Resolves the rules, and then adapts size and quality to the client hints, unless the result would not be
    /// permitted.
    fn resolve(&self, facts: &Facts) -> Result<Recipe, ResolveError> {
        let recipe = self.rules.resolve(facts)?;
        // Lists of permitted sizes must not depend on where the measured part of the image lies.
        let of_sizes = Facts {
            measured: facts.measured.of_sizes(),
            ..facts.clone()
        };
        let unmeasured = self.rules.resolve(&of_sizes)?;
        let adapted = self.hints.act_on(unmeasured, &of_sizes);
        match self.rules.permits(&adapted, &of_sizes) {
            Ok(()) => Ok(self.hints.act_on(recipe, facts)),
            Err(_) => Ok(recipe),
        }
    }

    fn measures(&self, stored: Orientation) -> Vec<Measure> {
        self.rules.measures(stored)
    }

    fn canonical(&self, facts: &Facts) -> Option<String> {
        self.rules.canonical(facts)
    }

    fn output(&self) -> &Output {
        self.rules.output()
    }

    fn with_output(&self, output: Output) -> Arc<dyn Rules> {
        Arc::new(Self {
            rules: self.rules.with_output(output),
            ..self.clone()
        })
    }

    fn overlays(&self) -> Vec<String> {
        self.rules.overlays()
    }

    fn wish(&self) -> Option<Wish> {
        self.rules.wish()
    }
}

/// Effects whose lengths are in px of the result, so that they would look smaller in a larger result.
const PLACED: &[&str] = &[
    Effect::OVER,
    Effect::OVERLAY,
    Effect::BLUR_AREA,
    Effect::TEXT,
];

/// Formats in which a lower quality takes fewer bytes.
const LOSSY: &[&str] = &["jpeg", "webp", "avif", "jxl"];

/// The highest quality for clients that request `Save-Data`.
const SAVING_QUALITY: u8 = 50;

impl Hints {
    /// Adapts a recipe in whole pixels to the client hints. Images are enlarged only where the recipe does so, or if
    /// they are vector graphics.
    fn act_on(&self, mut recipe: Recipe, facts: &Facts) -> Recipe {
        if recipe.is_original() {
            return recipe;
        }
        let is_turn = |step: &Step| matches!(step, Step::Orient(_) | Step::Turn(_) | Step::Flip(_));
        let has_size = recipe
            .steps
            .iter()
            .any(|step| !is_turn(step) && !matches!(step, Step::Effect(_)));
        let resized = match (has_size, self.density, self.width) {
            (true, Some(density), _) => denser(&recipe, facts, density),
            (false, _, Some(width)) => narrower(&recipe, facts, width),
            _ => None,
        };
        if let Some(steps) = resized {
            recipe.steps = steps;
        }
        if self.saves_data && !recipe.output.lossless {
            let format = recipe.output.format_or(&facts.format);
            match recipe.output.goal {
                Some(Goal::Quality(quality)) if quality > SAVING_QUALITY => {
                    recipe.output.goal = Some(Goal::Quality(SAVING_QUALITY));
                }
                None if LOSSY.contains(&format) => {
                    recipe.output.goal = Some(Goal::Quality(SAVING_QUALITY));
                }
                _ => {}
            }
        }
        recipe
    }
}

/// Returns the steps for a result with `density` times as many px along each side, but with no more than a raster
/// source can fill. `None` if that changes nothing, if the recipe does not scale exactly once, or if it has one of the
/// effects in [`PLACED`].
fn denser(recipe: &Recipe, facts: &Facts, density: f64) -> Option<Vec<Step>> {
    let is_placed = |effect: &Effect| PLACED.contains(&effect.name.as_str());
    let mut scalings =
        (recipe.steps.iter().enumerate()).filter(|(_, step)| matches!(step, Step::Exact(_)));
    let (at, Step::Exact(Exact { w, h })) = scalings.next()? else {
        return None;
    };
    if scalings.next().is_some() || recipe.effects().any(is_placed) {
        return None;
    }
    let (w, h) = (w.of(0.0), h.of(0.0));
    let old_size = size_after(&recipe.steps[..at], facts)?;
    let room = (f64::from(old_size.0) / w).min(f64::from(old_size.1) / h);
    let factor = if facts.vector {
        density
    } else {
        density.min(room)
    };
    if factor <= 1.0 {
        return None;
    }
    let times = |length: f64| (length * factor).round();
    let side = |length: Length| Length::Px(times(length.of(0.0)).max(1.0));
    let whole = |length: u32| times(length.into()).max(1.0) as u32;
    let mut size = (times(w) as u32, times(h) as u32);
    let mut steps = recipe.steps[..at].to_vec();
    if size != old_size {
        steps.push(Step::exact(size.0, size.1));
    }
    for step in &recipe.steps[at + 1..] {
        let step = match step {
            Step::Crop(Crop::At { x, y, w, h }) => {
                let (w, h) = (
                    whole(w.of(0.0) as u32).min(size.0),
                    whole(h.of(0.0) as u32).min(size.1),
                );
                let x = (times(x.of(0.0)) as u32).min(size.0 - w);
                let y = (times(y.of(0.0)) as u32).min(size.1 - h);
                Step::crop(x, y, w, h)
            }
            Step::Crop(Crop::Towards { w, h, gravity }) => Step::Crop(Crop::Towards {
                w: side(*w),
                h: side(*h),
                gravity: *gravity,
            }),
            Step::Canvas(canvas) => Step::Canvas(Canvas {
                w: whole(canvas.w),
                h: whole(canvas.h),
                at: canvas
                    .at
                    .map(|(x, y)| (times(x.into()) as i32, times(y.into()) as i32)),
                ..*canvas
            }),
            other => other.clone(),
        };
        steps.push(step);
        size = size_after(&steps, facts)?;
    }
    Some(steps)
}

/// Returns the steps for a result that is at most `width` px wide; `None` if the result of `recipe` is not wider.
fn narrower(recipe: &Recipe, facts: &Facts, width: u32) -> Option<Vec<Step>> {
    let (w, h) = size_after(&recipe.steps, facts)?;
    if w <= width {
        return None;
    }
    let height = (f64::from(h) * f64::from(width) / f64::from(w))
        .round()
        .max(1.0);
    let is_effect = |step: &Step| matches!(step, Step::Effect(_));
    let end = recipe
        .steps
        .iter()
        .position(is_effect)
        .unwrap_or(recipe.steps.len());
    let size_before_effects = size_after(&recipe.steps[..end], facts)?;
    // A turn among the effects swaps the sides.
    let sides = match size_before_effects == (w, h) {
        true => (width, height as u32),
        false => (height as u32, width),
    };
    let mut steps = recipe.steps.clone();
    steps.insert(end, Step::exact(sides.0, sides.1));
    Some(steps)
}
