//! Writes wishes (requests in the terms that all dialects share) as URLs of Astro's image endpoint at its default path.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, side};

/// Words of recipes (steps and output settings), each with Astro's parameters that express it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("keep:north", "position=top"),
    ("keep:south", "position=bottom"),
    ("keep:west", "position=left"),
    ("keep:east", "position=right"),
    ("keep:northwest", "position=northwest"),
    ("keep:northeast", "position=northeast"),
    ("keep:southwest", "position=southwest"),
    ("keep:southeast", "position=southeast"),
    ("keep:smart", "position=attention"),
    ("flatten:_", "background=%23{0}"),
    ("q:_", "q={0}"),
    ("as:auto", ""),
    ("as:_", "f={0}"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    draft.add(side("w=", wish.w));
    draft.add(side("h=", wish.h));
    draft.put(match wish.fit {
        Fitting::Inside if wish.w.is_some() && wish.h.is_some() => "fit=inside",
        Fitting::Exact => "fit=fill",
        _ => "",
    });
    // Astro's sharp service does not pad images to the size of the box.
    if matches!(wish.fit, Fitting::Pad(_)) {
        draft.miss_box(wish);
    }
    let options = draft.join("&");
    let separator = if options.is_empty() { "" } else { "&" };
    // The endpoint decodes the source twice: as a query value, and as a path.
    let source = source.replace('%', "%25");
    draft.finish(format!("/_image?href=/{source}{separator}{options}"))
}
