//! Turn the small picture, not the large one.

use super::{Example, Rule};
use crate::codec::Orientation;
use crate::ops::turn::Turned;
use crate::stage::Stage;

pub(crate) static RULE: Rule = Rule {
    name: "turn_late",
    reason: "turning walks memory against its grain, so it is done after resampling, on the few \
             pixels that are left; lengths are mapped back to the picture as stored",
    example: Example {
        source: "jpeg 4000x3000 ycbcr420 q90 turned:6",
        recipe: "orient,fit:400x400",
        plan: "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | turn 90 | encode jpeg q90",
    },
};

/// The turn that comes after resampling, if any.
pub(crate) fn stage(orientation: Orientation) -> Option<Box<dyn Stage>> {
    if orientation.is_upright() {
        None
    } else {
        Some(Box::new(Turned { orientation }))
    }
}
