//! Writes wishes (requests in the terms that all dialects share) as URLs of imgproxy without a path prefix.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, sides};

/// Words of recipes (steps and output settings), each with imgproxy's options that express it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("trim:_", "t:{0}"),
    ("crop:_:_:_:_", "c:{2}:{3}:nowe:{0}:{1}"),
    ("turn:_", "rot:{0}"),
    ("flip:h", "fl:1:0"),
    ("flip:v", "fl:0:1"),
    ("flip:hv", "fl:1:1"),
    ("stored:verbatim", "ar:0"),
    ("keep:north", "g:no"),
    ("keep:south", "g:so"),
    ("keep:west", "g:we"),
    ("keep:east", "g:ea"),
    ("keep:northwest", "g:nowe"),
    ("keep:northeast", "g:noea"),
    ("keep:southwest", "g:sowe"),
    ("keep:southeast", "g:soea"),
    ("keep:smart", "g:sm"),
    ("keep:faces", "g:obj:face"),
    ("keep:_:_", "g:fp:{0/100}:{1/100}"),
    ("flatten:_", "bg:{0}"),
    ("brightness:_", "br:{0}"),
    ("contrast:_", "co:{0}"),
    ("saturation:_", "sa:{0}"),
    ("gray", "mc:1"),
    ("duotone:_:_", "dt:1:{0}:{1}"),
    ("colorize:_:_", "col:{0/100}:{1}"),
    ("unsharp:0:0.8:_:0", "ush:always:{0}:9"),
    ("blur:0:_", "bl:{0}"),
    ("sharpen-l:_", "sh:{0}"),
    ("pixelate:_", "pix:{0}"),
    // The padding has the colour of the background.
    ("pad:_:_:_:_", "pd:{0}:{1}:{2}:{3}"),
    ("pad:_:_:_:_:_", "pd:{0}:{1}:{2}:{3}"),
    ("q:_", "q:{0}"),
    ("max:_:shortest", "mb:{0}"),
    ("as:auto", "f:best"),
    ("as:_", "f:{0}"),
    ("lossless", "webpo:lossless"),
    ("progressive", "jpgo:1/pngo:1"),
    ("chroma:444", "jpgo::1"),
    ("metadata:none", "kcr:0"),
    ("metadata:all", "sm:0"),
    ("profile:keep", "scp:0"),
    ("profile:p3", "cp:p3"),
    ("frame:_", "pg:{0-1}"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    let [w, h] = sides(wish, "0");
    let enlarge = u8::from(wish.enlarge);
    let word = match wish.fit {
        Fitting::Nothing => "",
        Fitting::Inside | Fitting::Pad(_) => "fit",
        Fitting::Cover => "fill",
        Fitting::Exact => "force",
    };
    draft.add((!word.is_empty()).then(|| format!("rs:{word}:{w}:{h}:{enlarge}")));
    if let Fitting::Pad(colour) = wish.fit {
        draft.put("ex:1");
        draft.add((colour.a == u8::MAX).then(|| format!("bg:{colour}")));
    }
    draft.put(format!("plain/local:///{source}"));
    let options = draft.join("/");
    draft.finish(format!("/unsafe/{options}"))
}
