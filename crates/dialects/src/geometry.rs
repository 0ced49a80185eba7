//! What languages with an arithmetic of their own ask of the native one.

use andon_recipe::{Canvas, Crop, Facts, Recipe, ResolveError, Rules, Step, Turn, rotated_size};

/// Width and height of what these steps leave of a picture, in px.
///
/// # Errors
/// Steps that make no picture of it.
pub(crate) fn size_after(steps: &[Step], facts: &Facts) -> Result<(u32, u32), ResolveError> {
    let recipe = Recipe {
        steps: steps.to_vec(),
        ..Recipe::default()
    };
    let stored = (facts.width, facts.height);
    let resolved = recipe.resolve(facts)?;
    Ok(resolved.steps.iter().fold(stored, |size, step| match step {
        Step::Orient => facts.orientation.size(size.0, size.1),
        Step::Turn(Turn::R90 | Turn::R270) => (size.1, size.0),
        // Lengths are pixels here.
        Step::Crop(Crop::At { w, h, .. }) | Step::Exact { w, h } => {
            (w.of(0.0) as u32, h.of(0.0) as u32)
        }
        Step::Canvas(Canvas { w, h, .. }) => (*w, *h),
        Step::Rotate { degrees, .. } => rotated_size(size.0, size.1, *degrees),
        _ => size,
    }))
}
