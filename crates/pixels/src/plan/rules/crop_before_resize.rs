//! Never resample pixels that are not visible.

use super::{Example, Rule};
use crate::plan::draft::Draft;
use crate::plan::runs::Run;

pub(crate) static RULE: Rule = Rule {
    name: "crop_before_resize",
    reason: "what a crop or a canvas cuts off after scaling need not be resampled, turned or converted: \
             only the part that shows is",
    example: Example {
        source: "jpeg 800x400 ycbcr420 q90",
        recipe: "cover:200x200,q:92",
        plan: "decode jpeg ycbcr420 | resize 200x200 lanczos3 from 200,0 400x400 | encode jpeg q92",
    },
    act,
};

/// Returns whether a crop follows a scaling in the recipe. The draft needs no change, because combining the steps has
/// moved such crops before the scaling; see [`View::crop`](crate::plan::view::View::crop).
fn act(draft: &mut Draft<'_>) -> bool {
    let cut = |run: &Run| matches!(run, Run::View(view) if view.is_cut_scaled);
    draft.runs.first.is_cut_scaled || draft.runs.rest.iter().any(cut)
}
