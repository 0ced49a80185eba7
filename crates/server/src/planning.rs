//! From a wish and its source to a plan: where the module's refusals differ from the engine's.

use andon_dialects::Wish;
use andon_pixels::{Engine, Error, Plan, Result};

/// Plans a wish for the picture in `source`. In strict mode a result with a side that truncates to nothing
/// is refused, as the module does; otherwise it is one pixel wide or high.
///
/// # Errors
/// As [`Engine::plan`].
pub fn plan(engine: &Engine, wish: &Wish, source: &[u8]) -> Result<Plan> {
    let plan = engine.plan(&wish.recipe, source)?;
    if wish.strict && plan.is_clamped() {
        return Err(Error::Recipe {
            piece: wish.recipe.to_string(),
            why: "a side of the result truncates to nothing; ask for a larger one".to_owned(),
        });
    }
    Ok(plan)
}
