//! Writes wishes (requests in the terms that all dialects share) as URLs of weserv without a path prefix.

use andon_recipe::{Fitting, Wish};

use crate::spelling::{Draft, Spelt, Word, argb, side};

/// Words of recipes (steps and output settings), each with weserv's parameter that expresses it; see [`Word`].
pub(super) const WORDS: &[Word] = &[
    ("trim:_", "trim={0}"),
    ("crop:_:_:_:_", "precrop&cx={0}&cy={1}&cw={2}&ch={3}"),
    ("turn:_", "ro={0}"),
    ("rotate:_", "ro={0}"),
    ("rotate:_:_", "ro={0}&rbg={1#}"),
    ("flip:h", "flop"),
    ("flip:v", "flip"),
    ("flip:hv", "flip&flop"),
    ("keep:north", "a=top"),
    ("keep:south", "a=bottom"),
    ("keep:west", "a=left"),
    ("keep:east", "a=right"),
    ("keep:northwest", "a=top-left"),
    ("keep:northeast", "a=top-right"),
    ("keep:southwest", "a=bottom-left"),
    ("keep:southeast", "a=bottom-right"),
    ("keep:smart", "a=attention"),
    ("keep:_:_", "a=focal&fpx={0/100}&fpy={1/100}"),
    ("flatten:_", "bg={0}"),
    ("brightness:_", "bri={0/2.55~}"),
    ("modulate:_:_:_", "mod={0},{1},{2}"),
    ("gamma:_", "gam={0i}"),
    ("sharpen-l:_", "sharp={0}"),
    ("sharpen-l:_:_:_", "sharp={1},{2},{0}"),
    ("gray:light", "filt=greyscale"),
    ("sepia", "filt=sepia"),
    ("invert", "filt=negate"),
    ("duotone:_:_", "filt=duotone&start={0}&stop={1}"),
    ("blur:0:_", "blur={0}"),
    ("tint:_", "tint={0}"),
    ("mask:_", "mask={0}"),
    ("mask:_:_", "mask={0}&mbg={1#}"),
    ("q:_", "q={0}"),
    ("as:jpeg", "output=jpg"),
    ("as:_", "output={0}"),
    ("lossless", "ll"),
    ("progressive", "il"),
    ("with:level:_", "l={0}"),
    ("with:filter:adaptive", "af"),
    ("with:filter:_", "af=false"),
    ("frame:_", "page={0-1}"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut draft = Draft::of(wish, WORDS);
    draft.add(side("w=", wish.w));
    draft.add(side("h=", wish.h));
    draft.put(match wish.fit {
        Fitting::Nothing | Fitting::Inside => String::new(),
        Fitting::Cover => "fit=cover".to_owned(),
        Fitting::Exact => "fit=fill".to_owned(),
        Fitting::Pad(colour) => format!("fit=contain&cbg={}", argb(colour)),
    });
    draft.put(if wish.enlarge { "" } else { "we" });
    // Without `n=-1`, weserv sends only one page of an animation.
    let moves =
        wish.output.frame.is_none() && [".gif", ".webp"].iter().any(|end| source.ends_with(end));
    draft.put(if moves { "n=-1" } else { "" });
    let options = draft.join("&");
    draft.finish(format!("/?url=/{source}&{options}"))
}
