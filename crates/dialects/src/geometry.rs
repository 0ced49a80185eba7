//! Geometry of native recipes, for dialects that compute sizes themselves.

use andon_recipe::{
    Bounds, Canvas, Colour, Crop, Facts, Flip, Focus, Gravity, Length, Output, Recipe,
    ResolveError, Rules, Step, Turn,
};

/// Returns the size in px of an image after these steps.
///
/// # Errors
/// Steps that cannot be applied to the image.
pub(crate) fn size_after(steps: &[Step], facts: &Facts) -> Result<(u32, u32), ResolveError> {
    let recipe = Recipe::of_stored(steps.to_vec(), Output::default()).resolve(facts)?;
    // The steps of a resolved recipe are in whole pixels.
    let size = andon_recipe::size_after(&recipe.steps, facts);
    Ok(size.unwrap_or((facts.width, facts.height)))
}

/// Returns a length of `px` pixels, limited to the largest length of recipes.
pub(crate) fn length(px: f64) -> Length {
    Length::px(px).unwrap_or(Length::Px(Length::MAX_PX))
}

/// Returns the bounds of a box in px. A side that is `None` has no limit; if both are, there is no box, and the result
/// is `None`.
pub(crate) fn bounds(w: Option<f64>, h: Option<f64>) -> Option<Bounds> {
    match (w.map(length), h.map(length)) {
        (None, None) => None,
        (Some(w), None) => Some(Bounds::Width(w)),
        (None, Some(h)) => Some(Bounds::Height(h)),
        (Some(w), Some(h)) => Some(Bounds::Both(w, h)),
    }
}

/// Returns the step that places an image in the middle of a canvas of this size in px. Width and height are rounded.
pub(crate) fn ground(w: f64, h: f64, colour: Colour) -> Step {
    let side = |px: f64| (px.round() as u32).max(1);
    Step::Canvas(Canvas {
        w: side(w),
        h: side(h),
        colour,
        at: None,
    })
}

/// Returns the step that keeps a point in view. `x` and `y` are shares of width and height, from 0 to 1.
pub(crate) fn focus(x: f64, y: f64) -> Step {
    Step::Focus(Focus::At {
        x: Length::Percent(x * 100.0),
        y: Length::Percent(y * 100.0),
    })
}

/// Returns the mirroring that a word stands for: `h`, `v`, `hv` or `vh`; `None` for other words.
pub(crate) fn flip(word: &str) -> Option<Step> {
    match word {
        "h" => Some(Step::Flip(Flip::Horizontal)),
        "v" => Some(Step::Flip(Flip::Vertical)),
        "hv" | "vh" => Some(Step::Flip(Flip::Both)),
        _ => None,
    }
}

/// Returns the clockwise turn by 90, 180 or 270 degrees; `None` for other angles.
pub(crate) fn turn(degrees: u32) -> Option<Turn> {
    match degrees {
        90 => Some(Turn::R90),
        180 => Some(Turn::R180),
        270 => Some(Turn::R270),
        _ => None,
    }
}

/// Whether this build can detect faces. Other builds keep the salient part of an image instead.
pub(crate) const FACES: bool = cfg!(feature = "faces");

/// The step that keeps faces in view or, in builds that cannot detect them, the salient part of the image.
pub(crate) const FACES_IF_POSSIBLE: Step = if FACES {
    Step::Focus(Focus::Faces)
} else {
    Step::Focus(Focus::Salient)
};

/// Returns the steps that crop to a size in px around the salient part of the image.
pub(crate) fn keep_salient(size: (u32, u32)) -> [Step; 2] {
    keep_around(Step::Focus(Focus::Salient), size)
}

/// Returns the steps that crop to a size in px around what the step `detection` detects.
pub(crate) fn keep_around(detection: Step, (w, h): (u32, u32)) -> [Step; 2] {
    let crop = Crop::Towards {
        w: Length::Px(w.into()),
        h: Length::Px(h.into()),
        gravity: Gravity::Centre,
    };
    [detection, Step::Crop(crop)]
}
