//! Turn the pixels where the result's metadata cannot declare the orientation.

use andon_recipe::{Kept, StoredTurn};

use super::{Example, Rule};
use crate::plan::draft::Draft;
use crate::plan::frames::Frames;

pub(crate) static RULE: Rule = Rule {
    name: "turn_what_is_not_said",
    reason: "a source that is stored turned is shown upright, so where its pixels are left as they are stored the \
             result has to say the turn; where it cannot, or browsers do not read it there, the pixels are turned last",
    example: Example {
        source: "jpeg 4000x3000 ycbcr420 turned:6",
        recipe: "stored,fit:400x400,as:webp",
        plan: "decode jpeg 1/4 ycbcr420 | resize 400x300 lanczos3 | turn 90 | convert ycbcr420-limited | encode webp",
    },
    act,
};

/// Lets the result's metadata declare the orientation. If they cannot, adds a turn of the pixels as the last step, and
/// returns `true`.
fn act(draft: &mut Draft<'_>) -> bool {
    let turn = draft.unapplied_orientation();
    let output = &draft.recipe.output;
    if turn.is_upright() {
        return false;
    }
    let moves = matches!(draft.frames, Frames::All { .. });
    let says = match output.stored_turn {
        StoredTurn::Verbatim => matches!(output.metadata, Kept::Public | Kept::All),
        _ => {
            output.metadata != Kept::None
                && draft
                    .target
                    .encoder()
                    .is_some_and(|encoder| encoder.says_orientation())
                && !moves
        }
    };
    if says {
        draft.output_orientation = turn;
    } else if output.stored_turn != StoredTurn::Verbatim {
        draft.turn_last(turn);
        return true;
    }
    false
}
