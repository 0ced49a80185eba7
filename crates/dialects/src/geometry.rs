//! What languages with an arithmetic of their own ask of the native one.

use andon_recipe::{Facts, Recipe, ResolveError, Rules, Step};

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
