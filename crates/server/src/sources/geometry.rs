//! Explains the size that a recipe results in, and how it was rounded and limited.

use andon_recipe::{Facts, Rules, Step};

/// Returns the size in px after these steps, or the source's size if a step is not in whole pixels.
fn size_after(steps: &[Step], facts: &Facts) -> (u32, u32) {
    andon_recipe::size_after(steps, facts).unwrap_or((facts.width, facts.height))
}

/// Explains why a result has its size. For each step that scales, gives the exact height at the chosen width and the
/// exact width at the chosen height. Also says if a larger source with the same aspect ratio would give a larger
/// result.
#[must_use]
pub fn explain(rules: &dyn Rules, facts: &Facts) -> Vec<String> {
    let Ok(recipe) = rules.resolve(facts) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (at, step) in recipe.steps.iter().enumerate() {
        if let Step::Exact(_) = step {
            let (width, height) = size_after(&recipe.steps[..at], facts);
            let (w, h) = size_after(&recipe.steps[..=at], facts);
            let [wide, high] = [f64::from(width), f64::from(height)];
            lines.push(format!(
                "scale   {width}x{height} to {w}x{h}; exactly, {w} wide is {} high, and {h} high is {} wide",
                rounded(high * f64::from(w) / wide),
                rounded(wide * f64::from(h) / high)
            ));
        }
    }
    let larger = Facts {
        width: facts.width.saturating_mul(LARGER),
        height: facts.height.saturating_mul(LARGER),
        ..facts.clone()
    };
    let result = size_after(&recipe.steps, facts);
    if let Ok(of_larger) = rules.resolve(&larger) {
        let (w, h) = size_after(&of_larger.steps, &larger);
        // The result grows with its source, except for rounding, if neither side is limited.
        let follows = |side: u32, of: u32| side.abs_diff(of.saturating_mul(LARGER)) <= LARGER;
        let free = follows(w, result.0) && follows(h, result.1);
        if !free && (w > result.0 || h > result.1) {
            lines.push(format!(
                "limit   {}x{} is all that this source gives; one {LARGER} times as large would become {w}x{h}",
                result.0, result.1
            ));
        }
    }
    lines
}

/// The explanation compares the source with one whose sides are this many times as long.
const LARGER: u32 = 8;

/// Rounds to thousandths.
fn rounded(side: f64) -> f64 {
    (side * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use andon_recipe::Recipe;

    use super::*;

    fn lines(recipe: &str, facts: &Facts) -> Vec<String> {
        let recipe: Recipe = recipe.parse().unwrap();
        explain(&recipe, facts)
    }

    #[test]
    fn a_side_is_told_as_it_would_be_without_rounding() {
        let lines = lines("fit:250x250", &Facts::new("jpeg", 1600, 900));
        let line = "scale   1600x900 to 250x141; exactly, 250 wide is 140.625 high, and 141 high is 250.667 wide";
        assert_eq!(lines, [line]);
    }

    #[test]
    fn a_source_that_is_too_small_is_told() {
        let lines = lines("fit:250x250", &Facts::new("jpeg", 50, 40));
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with("limit   50x40 is all that this source gives"),
            "{lines:?}"
        );
        assert!(lines[0].ends_with("250x200"), "{lines:?}");
    }

    #[test]
    fn nothing_is_told_where_nothing_is_scaled() {
        let facts = Facts::new("jpeg", 400, 300);
        assert!(lines("orient,turn:90", &facts).is_empty());
    }
}
