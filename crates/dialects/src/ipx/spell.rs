//! Writes wishes (requests in the terms that all dialects share) as URLs of ipx with the default prefix.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, side, sides};

/// Words of recipes (steps and output settings), each with ipx's modifiers that express it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("trim:_", "trim_{0}"),
    ("crop:_:_:_:_", "crop_{0}_{1}_{2}_{3}"),
    ("turn:_", "rotate_{0}"),
    ("rotate:_:_", "rotate_{0}&b_%23{1}"),
    ("flip:h", "flop"),
    ("flip:v", "flip"),
    ("flip:hv", "flip&flop"),
    ("keep:north", "pos_top"),
    ("keep:south", "pos_bottom"),
    ("keep:west", "pos_left"),
    ("keep:east", "pos_right"),
    ("keep:northwest", "pos_northwest"),
    ("keep:northeast", "pos_northeast"),
    ("keep:southwest", "pos_southwest"),
    ("keep:southeast", "pos_southeast"),
    ("keep:smart", "pos_attention"),
    ("flatten:_", "flatten&b_%23{0}"),
    ("pad:_:_:_:_:_", "extend_{0}_{1}_{2}_{3}&b_%23{4}"),
    ("modulate:_:_:_", "modulate_{0}_{1}_{2}"),
    ("sharpen-l:_", "sharpen_{0}"),
    ("sharpen-l:_:_:_", "sharpen_{0}_{1}_{2}"),
    ("gray:light", "grayscale"),
    ("invert", "negate"),
    ("blur:0:_", "blur_{0}"),
    ("tint:_", "tint_%23{0}"),
    ("linear", "gamma_2.2"),
    ("q:_", "q_{0}"),
    ("as:auto", "f_auto"),
    ("as:_", "f_{0}"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    let [w, h] = sides(wish, "");
    let fit = match wish.fit {
        Fitting::Nothing | Fitting::Cover => "",
        Fitting::Inside => "fit_inside",
        Fitting::Exact => "fit_fill",
        Fitting::Pad(_) => "fit_contain",
    };
    match (wish.w, wish.h) {
        (Some(_), Some(_)) => {
            draft.put(format!("s_{w}x{h}"));
            draft.put(fit);
        }
        (width, height) => {
            // With one side only, ipx keeps the aspect ratio.
            if wish.fit == Fitting::Exact {
                draft.miss_box(wish);
            }
            draft.add(side("w_", width));
            draft.add(side("h_", height));
        }
    }
    if let Fitting::Pad(colour) = wish.fit {
        draft.put(format!("b_%23{colour}"));
    }
    draft.put(if wish.enlarge { "enlarge" } else { "" });
    draft.put(if wish.output.frame.is_none() { "a" } else { "" });
    let modifiers = match &*draft.join("&") {
        "" => "_".to_owned(),
        modifiers => modifiers.to_owned(),
    };
    draft.finish(format!("/_ipx/{modifiers}/{source}"))
}
