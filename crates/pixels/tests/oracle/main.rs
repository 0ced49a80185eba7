//! The oracle: every plan must have the same result as a slow, obvious executor.
//!
//! The executor decodes in full, works on floating-point red, green, blue and opacity, and applies every step of the
//! recipe in order, by the step's definition. Both process random recipes on random images, and the frames before
//! encoding are compared.

#[path = "../fake/mod.rs"]
mod fake;

mod compare;
mod effects;
mod executor;
mod geometry;
mod image;
mod wishes;

use andon_pixels::{Engine, Error, Limits, Model, Plan, Run};
use andon_recipe::{Crop, Exact, Profile, Recipe, Step};
use proptest::prelude::*;

use crate::compare::Difference;
use crate::image::Image;
use crate::wishes::Source;

/// Largest difference, in levels of 255, between plan and oracle. Luma is judged by its mean and by the difference that
/// 99 of 100 pixels do not exceed, colour by its mean.
#[derive(Clone, Copy, Debug)]
struct Tolerance {
    luma_mean: f64,
    luma_most: f64,
    colour_mean: f64,
}

/// Tolerance for images decoded at full scale.
const FULL: Tolerance = Tolerance {
    luma_mean: 1.0,
    luma_most: 6.0,
    colour_mean: 1.5,
};

/// Tolerance with shrink-on-load, which averages before it resamples and so loses a little of the finest detail.
const SHRUNK: Tolerance = Tolerance {
    luma_mean: 3.5,
    luma_most: 12.0,
    colour_mean: 3.5,
};

/// Tolerance for a shrunk side of up to four samples. The last of them stands for a block that reaches beyond the
/// image, and makes up a large part of the side.
const SHRUNK_FROM_LITTLE: Tolerance = Tolerance {
    luma_mean: 14.0,
    luma_most: 24.0,
    colour_mean: 7.0,
};

/// Length in px up to which a side is shrunk to no more than four samples.
const LITTLE: u32 = 32;

/// Shorter side in px below which an image's edges make up a considerable part of its colours.
const SMALL: u32 = 128;

/// Shorter side in px below which the few samples of a result's subsampled chroma all lie at its edges.
const TINY: u32 = 24;

/// Number of px below which rounding may change an image's mean almost as much as a single px.
const FEW: u64 = 100;

/// Tolerance for CMYK: the mean of inks is not exactly the mean of lights.
const INKS: Tolerance = Tolerance {
    luma_mean: 4.0,
    luma_most: 25.0,
    colour_mean: 6.0,
};

/// Returns the tolerance for a plan. Each effect and each rotation may double the difference before it, as sharpening
/// does. Colour differs more in small images, because subsampled chroma blurs their edges, and luma where rounding
/// shifts the mean of a few pixels.
fn tolerance(plan: &Plan) -> Tolerance {
    let shrunk = plan
        .rules()
        .iter()
        .any(|rule| rule.name == "shrink_on_load");
    let base = if plan.info().model == Model::Cmyk {
        INKS
    } else if shrunk && plan.info().width.min(plan.info().height) <= LITTLE {
        SHRUNK_FROM_LITTLE
    } else if shrunk {
        SHRUNK
    } else {
        FULL
    };
    let doubles = |step: &&Step| matches!(step, Step::Effect(_) | Step::Rotate(_));
    let doubled = plan.recipe().steps.iter().filter(doubles).count();
    let times = (1 << doubled) as f64;
    // Subsampled chroma blurs the edge between an image and its background, again at each odd position and each
    // scaling. In a small image that edge is a large part.
    let lays = |step: &Step| {
        matches!(
            step,
            Step::Pad(_) | Step::Canvas(_) | Step::Effect(_) | Step::Rotate(_)
        )
    };
    let scales = |step: &&Step| matches!(step, Step::Fit(_) | Step::Cover(_) | Step::Exact(_));
    let steps = &plan.recipe().steps;
    let has_edges = steps.iter().any(lays) || steps.iter().filter(scales).count() > 1;
    let side = smallest_side(plan);
    let edges = match has_edges {
        true => (f64::from(SMALL) / f64::from(side)).max(1.0),
        false => (f64::from(TINY) / f64::from(side)).max(1.0),
    };
    let (width, height) = plan.size();
    let rounded = match u64::from(width) * u64::from(height) < FEW {
        true => 0.5,
        false => 0.0,
    };
    Tolerance {
        luma_mean: base.luma_mean * times + rounded,
        luma_most: base.luma_most * times,
        colour_mean: base.colour_mean * times * edges,
    }
}

/// Returns the shortest side in px of the source, of the result and of all intermediate images.
fn smallest_side(plan: &Plan) -> u32 {
    let (width, height) = plan.size();
    let on_the_way = plan.recipe().steps.iter().flat_map(|step| match step {
        Step::Exact(Exact { w, h }) | Step::Crop(Crop::At { w, h, .. }) => {
            [w, h].map(|side| executor::px(side) as u32)
        }
        _ => [u32::MAX; 2],
    });
    on_the_way
        .chain([width, height, plan.info().width, plan.info().height])
        .min()
        .unwrap_or(1)
}

/// Runs a recipe by plan and by oracle, and returns an error where they disagree.
fn judge(source: &Source, text: &str) -> Result<(), String> {
    let mut recipe: Recipe = text.parse().map_err(|error| format!("{text}: {error}"))?;
    // Compositing at half opacity differs between inks and lights, so images are painted on in RGB.
    let paints = |step: &Step| {
        matches!(
            step,
            Step::Effect(_) | Step::Rotate(_) | Step::Pad(_) | Step::Canvas(_)
        )
    };
    if !recipe.steps.iter().any(paints) {
        recipe.output.profile = Profile::Keep;
    }
    let bytes = source.file();
    let engine = Engine::new(fake::ALL, Limits::default());
    let case = format!("{} + {recipe}", source.line());
    let plan = match engine.plan(&recipe, &bytes) {
        Ok(plan) => plan,
        // There is no image to compare.
        Err(Error::Recipe { why, .. }) if why.contains("nothing of the image is left") => {
            return Ok(());
        }
        Err(error) => return Err(format!("{case}: {error}")),
    };
    let frame = engine
        .render_frame(
            &plan,
            Run {
                overlays: &wishes::Icons,
                ..Run::of(&bytes)
            },
        )
        .map_err(|error| format!("{case}: {plan}: {error}"))?;
    let opaque = plan.format() == "jpeg";
    let expected = executor::execute(plan.recipe(), source, opaque);
    let size = (frame.width as usize, frame.height as usize);
    if size != (expected.width, expected.height) || (frame.width, frame.height) != plan.size() {
        return Err(format!(
            "{case}: {plan}: {size:?} instead of {:?}",
            (expected.width, expected.height)
        ));
    }
    // The best image that a frame of this model could show: subsampled chroma cannot follow a hard edge.
    let best = image::frame(&expected, frame.model, frame.depth(), frame.alpha.is_some());
    let difference = Difference::between(
        &Image::of(&frame),
        &Image::of(&best),
        &expected,
        image::luma_shares(frame.model),
    );
    let tolerance = tolerance(&plan);
    if difference.luma_mean <= tolerance.luma_mean
        && difference.luma_most <= tolerance.luma_most
        && difference.colour_mean <= tolerance.colour_mean
    {
        Ok(())
    } else {
        Err(format!("{case}: {plan}: {difference:?} over {tolerance:?}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_plan_shows_what_the_oracle_shows(source in wishes::source(), recipe in wishes::recipe()) {
        if let Err(why) = judge(&source, &recipe) {
            prop_assert!(false, "{why}");
        }
    }
}

#[test]
fn luma_and_chroma_of_every_kind_show_what_the_oracle_shows() {
    let recipes = [
        "crop:10%:20%:80%x70%,fit:48x48,as:jpeg,q:85",
        "fit:40x40,flip:h,as:png",
        "turn:90,crop:3:5:60x50,as:avif,q:80",
        "cover:32x32,pad:2:3:4:5:4080c0,as:webp,q:80",
    ];
    for (number, source) in wishes::every_ycbcr().enumerate() {
        // Each source is paired with two of the recipes, and its neighbours with the others.
        for recipe in [recipes[number % 4], recipes[(number / 4 + number + 1) % 4]] {
            if let Err(why) = judge(&source, recipe) {
                panic!("{why}");
            }
        }
    }
}

#[test]
fn light_of_every_kind_is_scaled_as_the_oracle_scales_it() {
    let recipes = [
        "fit:40x40,linear,as:png",
        "turn:90,crop:3:5:60x50,fit:20x20,linear,as:jpeg,q:90",
        "exact:30x12,flip:h,linear,as:webp,q:80",
        "cover:32x32,pad:2:3:4:5:4080c0,linear,as:webp,lossless",
    ];
    let plain = ["rgb", "ycbcr"].map(|model| Source::plain("png", model));
    for (number, source) in plain.into_iter().chain(wishes::every_ycbcr()).enumerate() {
        if let Err(why) = judge(&source, recipes[number % 4]) {
            panic!("{why}");
        }
    }
}

#[test]
fn the_oracle_tells_light_from_what_is_stored_of_it() {
    let source = Source::plain("png", "rgb");
    let scaled = |text: &str| {
        let recipe: Recipe = text.parse().expect("a recipe");
        executor::execute(&recipe, &source, false)
    };
    let (light, stored) = (scaled("exact:12x9,linear"), scaled("exact:12x9"));
    let difference = Difference::between(&light, &stored, &light, image::luma_shares(Model::Rgb));
    assert!(difference.luma_mean > FULL.luma_mean, "{difference:?}");
}

#[test]
fn the_oracle_notices_a_shift_of_one_pixel() {
    let source = Source::plain("png", "rgb");
    let shown = source.image();
    let shifted = Image::new(shown.width, shown.height, |x, y| {
        shown.near(x as i64 + 1, y as i64)
    });
    let difference = Difference::between(&shown, &shifted, &shown, image::luma_shares(Model::Rgb));
    assert!(difference.luma_mean > SHRUNK.luma_mean, "{difference:?}");
}
