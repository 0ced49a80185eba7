//! What languages with an arithmetic of their own ask of the native one.

use andon_recipe::{Crop, Facts, Gravity, Length, Recipe, ResolveError, Rules, Step};

/// Width and height of what these steps leave of a picture, in px.
///
/// # Errors
/// Steps that make no picture of it.
pub(crate) fn size_after(steps: &[Step], facts: &Facts) -> Result<(u32, u32), ResolveError> {
    let resolved = Recipe::from(steps.to_vec()).resolve(facts)?;
    // Its steps are in whole pixels.
    let size = andon_recipe::size_after(&resolved.steps, facts);
    Ok(size.unwrap_or((facts.width, facts.height)))
}

/// Keeps a part of this size, in px, around what draws the eye.
pub(crate) fn keep_salient((w, h): (u32, u32)) -> [Step; 2] {
    let crop = Crop::Towards {
        w: Length::Px(w.into()),
        h: Length::Px(h.into()),
        gravity: Gravity::Centre,
    };
    [Step::Salient, Step::Crop(crop)]
}
