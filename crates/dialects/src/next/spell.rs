//! Writes wishes (requests in the terms that all dialects share) as URLs of the image component of Next.js with the
//! default prefix.

use andon_recipe::{Fitting, Wish};

use crate::percent;
use crate::spelling::{Draft, Spelt, Word};

/// Words of recipes (steps and output settings), each with the parameter of Next.js that expresses it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("q:_", "q={0}"),
    // The header `Accept` and the format of the source decide about the format.
    ("as:webp", ""),
    ("progressive", ""),
    ("keep:none", ""),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    let is_width = wish.fit == Fitting::Inside && wish.h.is_none() && !wish.enlarge;
    if !is_width {
        draft.miss_box(wish);
    }
    let width = wish.w.unwrap_or(3840.0).round();
    let quality = draft.take("q=").unwrap_or_else(|| "75".to_owned());
    let source = percent::encode(&format!("/{source}"), "%")
        .replace('%', "%25")
        .replace("%252F", "%2F");
    draft.finish(format!("/_next/image?url={source}&w={width}&q={quality}"))
}
