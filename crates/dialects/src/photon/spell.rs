//! Writes wishes (requests in the terms that all dialects share) as URLs of Photon without a path prefix.

use andon_recipe::{Colour, Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, sides};

/// Words of recipes (steps and output settings), each with Photon's argument that expresses it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("trim:_", "ulb=1"),
    ("gray", "filter=grayscale"),
    ("sepia", "filter=sepia"),
    ("invert", "filter=negate"),
    ("blur:0:1", "filter=blurgaussian"),
    ("brightness:_", "brightness={0}"),
    ("q:_", "quality={0}"),
    ("as:auto", ""),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    let [w, h] = sides(wish, "");
    let both = wish.w.is_some() && wish.h.is_some();
    match wish.fit {
        Fitting::Nothing => {}
        Fitting::Inside if wish.enlarge => draft.miss_box(wish),
        Fitting::Inside if both => draft.put(format!("fit={w},{h}")),
        Fitting::Inside if wish.w.is_some() => draft.put(format!("w={w}")),
        Fitting::Inside => draft.put(format!("h={h}")),
        Fitting::Cover if wish.enlarge => draft.put(format!("resize={w},{h}")),
        Fitting::Pad(Colour::BLACK) if wish.enlarge => draft.put(format!("lb={w},{h}")),
        _ => draft.miss_box(wish),
    }
    let arguments = draft.join("&");
    draft.finish(format!("/{source}?{arguments}"))
}
