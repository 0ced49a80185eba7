//! Writes wishes (requests in the terms that all dialects share) as URLs of ngx_small_light.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, side};

/// Words of recipes (steps and output settings), each with ngx_small_light's parameter that expresses it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("original", "pt=ptss"),
    ("crop:_:_:_:_", "sx={0},sy={1},sw={2},sh={3}"),
    ("turn:_", "angle={0}"),
    ("blur:_:_", "blur={0}x{1}"),
    ("sharpen:_:_", "sharpen={0}x{1}"),
    ("unsharp:_:_:_:_", "unsharp={0}x{1}+{2}+{3}"),
    ("border:_:_:_", "bw={0},bh={1},bc={2}"),
    ("q:_", "q={0}"),
    ("lossless", "q=100"),
    ("as:_", "of={0}"),
    ("background:_", "cc={0}"),
    ("progressive", "progressive=y"),
    ("profile:drop", "rmprof=y"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    draft.add(side("dw=", wish.w));
    draft.add(side("dh=", wish.h));
    draft.put(match wish.fit {
        Fitting::Cover => "da=s",
        Fitting::Exact => "da=n",
        _ => "",
    });
    if wish.enlarge {
        draft.put("ds=s");
    }
    if matches!(wish.fit, Fitting::Cover | Fitting::Pad(_)) {
        draft.add(side("cw=", wish.w));
        draft.add(side("ch=", wish.h));
    }
    if let Fitting::Pad(colour) = wish.fit {
        draft.put(format!("cc={colour}"));
    }
    let options = draft.join(",");
    draft.finish(format!("/small_light({options})/{source}"))
}
