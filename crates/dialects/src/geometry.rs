//! What languages with an arithmetic of their own ask of the native one.

use andon_recipe::{Crop, Facts, Gravity, Length, Output, Recipe, ResolveError, Rules, Step};

/// Width and height of what these steps leave of an image, in px.
///
/// # Errors
/// Steps that make no image of it.
pub(crate) fn size_after(steps: &[Step], facts: &Facts) -> Result<(u32, u32), ResolveError> {
    let resolved = Recipe::of_stored(steps.to_vec(), Output::default()).resolve(facts)?;
    // Its steps are in whole pixels.
    let size = andon_recipe::size_after(&resolved.steps, facts);
    Ok(size.unwrap_or((facts.width, facts.height)))
}

/// Can faces be looked for? Other builds keep what draws the eye instead.
pub(crate) const FACES: bool = cfg!(feature = "faces");

/// What is kept where faces are to be.
pub(crate) const FACES_IF_POSSIBLE: Step = if FACES { Step::Faces } else { Step::Salient };

/// Keeps a part of this size, in px, around what draws the eye.
pub(crate) fn keep_salient(size: (u32, u32)) -> [Step; 2] {
    keep_around(Step::Salient, size)
}

/// Keeps a part of this size, in px, around what a step looks for.
pub(crate) fn keep_around(sought: Step, (w, h): (u32, u32)) -> [Step; 2] {
    let crop = Crop::Towards {
        w: Length::Px(w.into()),
        h: Length::Px(h.into()),
        gravity: Gravity::Centre,
    };
    [sought, Step::Crop(crop)]
}
