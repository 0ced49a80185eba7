//! Writes wishes (requests in the terms that all dialects share) as URLs of nginx's image filter without a path prefix.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, sides};

/// Words of recipes (steps and output settings), each with the directive of nginx's image filter that expresses it; see
/// [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("original", "test"),
    // The directive counts counterclockwise.
    ("turn:90", "rotate=270"),
    ("turn:180", "rotate=180"),
    ("turn:270", "rotate=90"),
    ("unsharp:1:0.5:_:0", "sharpen={0*42.6028~}"),
    ("q:_", "q={0}"),
    ("progressive", "interlace=on"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    if let Some(test) = draft.take("test") {
        return draft.finish(format!("/image_filter(test{test})/{source}"));
    }
    let [w, h] = sides(wish, "-");
    let word = match wish.fit {
        Fitting::Cover => "crop",
        _ => "resize",
    };
    if wish.enlarge || matches!(wish.fit, Fitting::Exact | Fitting::Pad(_)) {
        draft.miss_box(wish);
    }
    let mut options = vec![format!("{word},{w},{h}")];
    options.extend(Some(draft.join(",")).filter(|others| !others.is_empty()));
    draft.finish(format!("/image_filter({})/{source}", options.join(",")))
}
