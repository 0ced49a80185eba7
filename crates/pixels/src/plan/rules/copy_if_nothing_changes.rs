//! Return the source's own bytes.

use andon_recipe::{Goal, Kept, Orientation};

use super::{Example, Rule, convert_colour_late};
use crate::plan::draft::Draft;
use crate::plan::view::View;

pub(crate) static RULE: Rule = Rule {
    name: "copy_if_nothing_changes",
    reason: "decoding and encoding again would cost time and quality and change nothing that was \
             asked for",
    example: Example {
        source: "jpeg 400x300 ycbcr420 q90",
        recipe: "fit:800x800",
        plan: "copy jpeg",
    },
    act,
};

/// Decides whether the source already is what the recipe asks for. A resolved recipe contains only steps that change
/// something.
fn act(draft: &mut Draft<'_>) -> bool {
    let (info, output) = (draft.info, &draft.recipe.output);
    let rewrites = draft.target.name() != draft.source.name()
        || !keeps_goal(draft)
        || output.depth.is_some_and(|bits| bits != info.depth.bits())
        || !output.options.is_empty()
        || output.chroma.is_some()
        || output.effort.is_some()
        || output.progressive != info.progressive
        || draft.frames.result_count() != info.frames;
    draft.is_copy = draft.recipe.is_original() || !(changes(draft) || rewrites);
    draft.is_copy
}

/// Whether the recipe changes the image, its colours, its gain map or its metadata.
pub(in crate::plan) fn changes(draft: &Draft<'_>) -> bool {
    changes_but_turn(draft, Orientation::default())
}

/// Whether the recipe changes anything about the image besides turning it by `turn`.
fn changes_but_turn(draft: &Draft<'_>, turn: Orientation) -> bool {
    let mut whole = View::whole((draft.info.width, draft.info.height));
    whole.turn(turn);
    let steps = draft.runs.first != whole || !draft.runs.rest.is_empty();
    let metadata = draft.info.metadata && draft.recipe.output.metadata != Kept::All;
    let gain_map = draft.gain_map.is_some() && draft.recipe.output.drops_gain_map;
    steps || metadata || gain_map || !convert_colour_late::keeps_file(draft)
}

/// Whether the recipe changes only the file format of a still image. The image may be shown as stored or turned
/// upright, because the new file's header can declare either orientation.
pub(in crate::plan) fn changes_format_alone(draft: &Draft<'_>) -> bool {
    let output = &draft.recipe.output;
    let has_settings = output.goal.is_some()
        || output.depth.is_some()
        || output.chroma.is_some()
        || output.progressive
        || !output.options.is_empty();
    let turns = [Orientation::default(), draft.info.orientation];
    let changes = turns.iter().all(|turn| changes_but_turn(draft, *turn));
    draft.info.frames == 1 && !changes && !has_settings
}

/// Whether a copy of the source meets the goal that the recipe sets for the encoder, if any: a maximum size is met if
/// the source file is small enough, whereas a quality or a score always requires encoding. The option `lossless` does
/// not, because a copy loses nothing.
fn keeps_goal(draft: &Draft<'_>) -> bool {
    match draft.recipe.output.goal {
        None => true,
        Some(Goal::Bytes(most) | Goal::BytesOrShortest(most)) => draft.file as u64 <= most,
        Some(Goal::Quality(_) | Goal::Score(_)) => false,
    }
}
