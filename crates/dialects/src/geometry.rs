//! Geometry of native recipes, for dialects that compute sizes themselves.

use andon_recipe::{
    Crop, Facts, Focus, Gravity, Length, Output, Recipe, ResolveError, Rules, Step,
};

/// Returns width and height in px that these steps leave of an image.
///
/// # Errors
/// Steps that cannot be applied to the image.
pub(crate) fn size_after(steps: &[Step], facts: &Facts) -> Result<(u32, u32), ResolveError> {
    let resolved = Recipe::of_stored(steps.to_vec(), Output::default()).resolve(facts)?;
    // Its steps are in whole pixels.
    let size = andon_recipe::size_after(&resolved.steps, facts);
    Ok(size.unwrap_or((facts.width, facts.height)))
}

/// Whether this build can detect faces. Other builds keep the salient part of an image instead.
pub(crate) const FACES: bool = cfg!(feature = "faces");

/// The step that keeps faces in view or, in builds that cannot detect them, the salient part of the image.
pub(crate) const FACES_IF_POSSIBLE: Step =
    Step::Focus(if FACES { Focus::Faces } else { Focus::Salient });

/// Returns the steps that crop to a size in px around the salient part of the image.
pub(crate) fn keep_salient(size: (u32, u32)) -> [Step; 2] {
    keep_around(Step::Focus(Focus::Salient), size)
}

/// Returns the steps that crop to a size in px around what the step `sought` looks for.
pub(crate) fn keep_around(sought: Step, (w, h): (u32, u32)) -> [Step; 2] {
    let crop = Crop::Towards {
        w: Length::Px(w.into()),
        h: Length::Px(h.into()),
        gravity: Gravity::Centre,
    };
    [sought, Step::Crop(crop)]
}
