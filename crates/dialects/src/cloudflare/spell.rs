//! Writes wishes (requests in the terms that all dialects share) as URLs of Cloudflare with the default prefix.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, side};

/// Words of recipes (steps and output settings), each with Cloudflare's options that express it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("trim:10", "trim=border"),
    (
        "crop:_:_:_:_",
        "trim.left={0},trim.top={1},trim.width={2},trim.height={3}",
    ),
    ("turn:_", "rotate={0}"),
    ("flip:_", "flip={0}"),
    ("keep:north", "gravity=top"),
    ("keep:south", "gravity=bottom"),
    ("keep:west", "gravity=left"),
    ("keep:east", "gravity=right"),
    ("keep:smart", "gravity=auto"),
    ("keep:faces", "gravity=face"),
    ("keep:_:_", "gravity={0/100}x{1/100}"),
    ("flatten:_", "background=%23{0}"),
    ("modulate:_:1:0", "brightness={0}"),
    ("contrast:_", "contrast={0}"),
    ("gamma:_", "gamma={0}"),
    ("saturation:_", "saturation={0}"),
    ("unsharp:0:1:_:0", "sharpen={0}"),
    ("blur:0:_", "blur={0*2}"),
    ("border:_:_:_", "border.width={0},border.color=%23{2}"),
    ("q:_", "quality={0}"),
    ("lossless", "quality=100"),
    ("with:colours:256", "quality=100"),
    ("as:jpeg", "format=baseline-jpeg"),
    ("as:_", "format={0}"),
    ("progressive", "format=jpeg"),
    ("metadata:none", "metadata=none"),
    ("metadata:all", "metadata=keep"),
    ("frame:1", "anim=false"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    draft.add(side("width=", wish.w));
    draft.add(side("height=", wish.h));
    draft.put(match (wish.fit, wish.enlarge) {
        (Fitting::Inside, false) | (Fitting::Nothing, _) => "fit=scale-down",
        (Fitting::Inside, true) => "fit=contain",
        (Fitting::Cover, true) => "fit=cover",
        (Fitting::Cover, false) => "fit=crop",
        (Fitting::Exact, _) => "fit=squeeze",
        (Fitting::Pad(_), _) => "fit=pad",
    });
    if let Fitting::Pad(colour) = wish.fit {
        draft.put(format!("background=%23{colour}"));
    }
    let options = draft.join(",");
    draft.finish(format!("/cdn-cgi/image/{options}/{source}"))
}
