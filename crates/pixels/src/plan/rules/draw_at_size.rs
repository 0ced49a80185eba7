//! Draw vector images at the size of the result.

use super::{Example, Rule};
use crate::plan::draft::{Draft, Drawing, First};
use crate::window::Window;

pub(crate) static RULE: Rule = Rule {
    name: "draw_at_size",
    reason: "a drawing has no pixels before it is drawn: drawn once, in the size of the result and no more of it than \
             is seen, its edges are as sharp as they can be, and nothing is resampled",
    example: Example {
        source: "drawing 300x150 rgba",
        recipe: "cover:100x100,as:png",
        plan: "draw drawing 100x100 rgba from 75,0 150x150 | encode png",
    },
    act,
};

/// Decides which part is drawn and at which size, if the codec can draw that part separately.
fn act(draft: &mut Draft<'_>) -> bool {
    let (source, info, stored) = (draft.source, draft.info, &draft.stored);
    let window = match stored.from {
        Some(from) => Window {
            from,
            to: stored.to,
        },
        // No part of it is visible, so draw it as small as possible.
        None => Window::whole((info.width, info.height), (1, 1)),
    };
    let drawing = source.vector().and_then(|decoder| {
        Some(Drawing {
            decoder,
            window,
            cost: decoder.draw_cost(draft.file as u64, info, &window)?,
        })
    });
    if drawing.is_none() {
        return false;
    }
    draft.drawing = drawing;
    draft.first = match stored.from {
        Some(_) => First::Nothing,
        None => draft.resample(),
    };
    true
}
