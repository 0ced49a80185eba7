//! Scale in linear light rather than in stored values, if the recipe asks for it.

use super::{Example, Rule};
use crate::frame::{Model, Traits};
use crate::plan::draft::{Draft, First, turned};

pub(crate) static RULE: Rule = Rule {
    name: "scale_in_linear_light",
    reason: "numbers that are stored are not in proportion to light, and their mean is darker than the mean of the \
             light; with `linear`, pixels become light in 16 bits before they are scaled, and what they were after it",
    example: Example {
        source: "jpeg 4000x3000 ycbcr420 q90",
        recipe: "fit:400x300,linear",
        plan: "decode jpeg ycbcr420 | convert rgb16 cicp1/8 | resize 400x300 lanczos3 | convert ycbcr420 srgb | \
               encode jpeg q90",
    },
    act,
};

/// Plans scaling in linear light, and afterwards the conversion to the traits that the image would have had without
/// this rule.
fn act(draft: &mut Draft<'_>) -> bool {
    if draft.light().is_none() || !matches!(draft.first, First::Resample(_)) {
        draft.scales_light = false;
        return false;
    }
    draft.scales_light = true;
    let stored = turned(draft.full, draft.orientation());
    let traits = draft.encoder_traits;
    let back = match (draft.conversion, draft.later_stages.is_empty()) {
        (Some(conversion), _) => conversion,
        (None, true) => Traits {
            alpha: stored.alpha,
            space: stored.space,
            ..traits
        },
        (None, false) => stored,
    };
    debug_assert!(back.model != Model::Cmyk, "light has no inks");
    draft.conversion = Some(back);
    true
}
