//! Writes wishes (requests in the terms that all dialects share) as URLs of the IIIF Image API with the default prefix.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, sides};

/// Words of recipes (steps and output settings), each with the IIIF parameter that expresses it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("crop:_:_:_:_", "region={0},{1},{2},{3}"),
    ("flip:h", "mirror=!"),
    ("turn:_", "turn={0}"),
    // The colour of the corners cannot be chosen: it follows from the format.
    ("rotate:_", "turn={0}"),
    ("rotate:_:_", "turn={0}"),
    ("gray", "quality=gray"),
    ("bitonal", "quality=bitonal"),
    ("as:jpeg", "format=jpg"),
    ("as:tiff", "format=tif"),
    ("as:_", "format={0}"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    let [w, h] = sides(wish, "");
    let both = wish.w.is_some() && wish.h.is_some();
    let size = match wish.fit {
        Fitting::Nothing => "max".to_owned(),
        Fitting::Exact => format!("{w},{h}"),
        _ if both => format!("!{w},{h}"),
        _ => format!("{w},{h}"),
    };
    if matches!(wish.fit, Fitting::Cover | Fitting::Pad(_)) || (wish.fit == Fitting::Exact && !both)
    {
        draft.miss_box(wish);
    }
    let grows = if wish.enlarge { "^" } else { "" };
    let mut take = |start, usual: &str| draft.take(start).unwrap_or(usual.to_owned());
    let (region, mirror) = (take("region=", "full"), take("mirror=", ""));
    let (turn, quality) = (take("turn=", "0"), take("quality=", "default"));
    let format = take("format=", "jpg");
    let source = source.replace('/', "%2F");
    draft.finish(format!(
        "/iiif/3/{source}/{region}/{grows}{size}/{mirror}{turn}/{quality}.{format}"
    ))
}
