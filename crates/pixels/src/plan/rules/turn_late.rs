//! Turn the small image rather than the large one.

use super::{Example, Rule};
use crate::plan::draft::{Draft, turn};

pub(crate) static RULE: Rule = Rule {
    name: "turn_late",
    reason: "turning walks memory against its grain, so it is done after resampling, on the few \
             pixels that are left; lengths are mapped back to the image as stored",
    example: Example {
        source: "jpeg 4000x3000 ycbcr420 q90 turned:6",
        recipe: "orient,fit:400x400",
        plan: "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | turn 90 | encode jpeg q90",
    },
    act,
};

/// Plans the turn after resampling; returns whether there is one.
fn act(draft: &mut Draft<'_>) -> bool {
    draft.turn = turn(draft.orientation());
    draft.turn.is_some()
}
