//! Writes wishes (requests in the terms that all dialects share) as URLs of imgix without a path prefix.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, argb, side};

/// Words of recipes (steps and output settings), each with imgix's parameters that express it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("trim:_", "trim=auto&trim-tol={0}"),
    ("crop:_:_:_:_", "rect={0},{1},{2},{3}"),
    ("turn:_", "rot={0}"),
    ("rotate:_", "rot={0}"),
    ("rotate:_:_", "rot={0}&bg={1#}"),
    ("flip:_", "flip={0}"),
    ("keep:north", "crop=top"),
    ("keep:south", "crop=bottom"),
    ("keep:west", "crop=left"),
    ("keep:east", "crop=right"),
    ("keep:northwest", "crop=top,left"),
    ("keep:northeast", "crop=top,right"),
    ("keep:southwest", "crop=bottom,left"),
    ("keep:southeast", "crop=bottom,right"),
    ("keep:smart", "crop=entropy"),
    ("keep:faces", "crop=faces"),
    ("keep:_:_", "crop=focalpoint&fp-x={0/100}&fp-y={1/100}"),
    ("flatten:_", "bg={0}"),
    ("brightness:_", "bri={0/2.55}"),
    ("contrast:_", "con={0-1*100}"),
    ("modulate:_:1:0", "exp={0l*100}"),
    ("gamma:_", "gam={0l*100}"),
    ("saturation:_", "sat={0-1*100}"),
    ("hue:_", "hue={0}"),
    ("invert", "invert=true"),
    ("sepia:_", "sepia={0}"),
    ("duotone:_:_", "duotone={0},{1}"),
    ("unsharp:0:1:_:0", "sharp={0*20}"),
    ("unsharp:0:_:_:0", "usm={1*100}&usmrad={0}"),
    ("blur:0:_", "blur={0*20}"),
    ("pixelate:_", "px={0}"),
    ("round:_", "border-radius={0}"),
    ("round:_:_:_", "mask=corners&corner-radius={0}&mask-bg={2#}"),
    ("mask:ellipse", "mask=ellipse"),
    ("mask:ellipse:_", "mask=ellipse&mask-bg={0#}"),
    ("border:_:_:_", "border={0},{2#}"),
    (
        "pad:_:_:_:_:_",
        "pad-top={0}&pad-right={1}&pad-bottom={2}&pad-left={3}&fill=solid&fill-color={4#}",
    ),
    ("q:_", "q={0}"),
    ("as:auto", "auto=format"),
    ("as:jpeg", "fm=jpg"),
    ("as:_", "fm={0}"),
    ("progressive", "fm=pjpg"),
    ("chroma:_", "chromasub={0}"),
    ("lossless", "lossless=true"),
    ("profile:srgb", "cs=srgb"),
    ("metadata:none", "cs=strip"),
    ("frame:_", "page={0}"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    draft.add(side("w=", wish.w));
    draft.add(side("h=", wish.h));
    draft.put(match (wish.fit, wish.enlarge) {
        (Fitting::Nothing, _) | (Fitting::Inside, true) => "",
        (Fitting::Inside, false) => "fit=max",
        (Fitting::Cover, _) => "fit=crop",
        (Fitting::Exact, _) => "fit=scale",
        (Fitting::Pad(_), true) => "fit=fill",
        (Fitting::Pad(_), false) => "fit=fillmax",
    });
    if let Fitting::Pad(colour) = wish.fit {
        draft.put(format!("fill=solid&fill-color={}", argb(colour)));
    }
    // imgix uses only the first value of a parameter, so that those of `cs` are joined.
    let spaces: Vec<String> = std::iter::from_fn(|| draft.take("cs=")).collect();
    draft.add((!spaces.is_empty()).then(|| format!("cs={}", spaces.join(","))));
    if draft.take("fm=pjpg").is_some() {
        draft.take("fm=");
        draft.put("fm=pjpg");
    }
    // A URL without parameters would be that of a plain file.
    let mut options = draft.join("&");
    if options.is_empty() {
        options.push_str("fit=clip");
    }
    draft.finish(format!("/{source}?{options}"))
}
