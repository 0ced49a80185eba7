//! Writes wishes (requests in the terms that all dialects share) as URLs of thumbor and imagor without a path prefix.

use andon_recipe::{Fitting, Wish};

use super::Flavour;
use crate::spelling::{Draft, Spelt, Word, sides};

impl Flavour {
    /// Returns the words of recipes (steps and output settings) that URLs of this program (thumbor or imagor) can
    /// express. Each is paired with what expresses it: a filter, or a part of the path, written with a slash in front.
    pub(super) fn words(self) -> Vec<Word> {
        let words = match self {
            Self::Thumbor => THUMBOR,
            Self::Imagor => IMAGOR,
        };
        [BOTH, words].concat()
    }
}

const BOTH: &[Word] = &[
    ("crop:_:_:_:_", "/crop {0} {1} {2} {3}"),
    ("flip:_", "/flip {0}"),
    // The filter counts counterclockwise.
    ("turn:90", "rotate(270)"),
    ("turn:180", "rotate(180)"),
    ("turn:270", "rotate(90)"),
    ("keep:north", "/keep top"),
    ("keep:south", "/keep bottom"),
    ("keep:west", "/keep left"),
    ("keep:east", "/keep right"),
    ("keep:northwest", "/keep left/top"),
    ("keep:northeast", "/keep right/top"),
    ("keep:southwest", "/keep left/bottom"),
    ("keep:southeast", "/keep right/bottom"),
    ("keep:smart", "/keep smart"),
    ("flatten:_", "background_color({0})"),
    ("rgb:_:_:_", "rgb({0/2.55},{1/2.55},{2/2.55})"),
    ("q:_", "quality({0})"),
    ("max:_:shortest", "max_bytes({0})"),
    ("as:_", "format({0})"),
    ("metadata:none", "strip_exif()"),
    ("profile:srgb", "strip_icc()"),
];

const THUMBOR: &[Word] = &[
    ("brightness:_", "brightness({0/2.55~})"),
    ("contrast:_", "contrast({0r*100-100~})"),
    ("saturation:_:rms", "saturation({0})"),
    ("unsharp:0:_:_:0", "sharpen({1},{0},false)"),
    ("round:_:_", "round_corner({0}|{1},0,0,0,1)"),
    ("gray", "grayscale()"),
    ("blur:_:_", "blur({0},{1})"),
];

const IMAGOR: &[Word] = &[
    ("original", "raw()"),
    ("trim:_", "/trim trim:{0}"),
    ("keep:_:_", "focal({0/100}x{1/100})"),
    ("brightness:_", "brightness({0/2.55})"),
    ("contrast:_", "contrast({0*255+259i*-52206.2745+101.5686})"),
    ("modulate:_:_:_", "modulate({0-1*100},{1-1*100},{2})"),
    ("sharpen-l:_:0:2", "sharpen({0-1/2})"),
    ("invert", "invert()"),
    ("gray:light", "grayscale()"),
    ("blur:0:_", "blur(0,{0})"),
    ("round:_:_", "round_corner({0},{1})"),
    ("round:_:_:_", "round_corner({0},{1},{2})"),
    ("pad:_:_:_:_", "padding(transparent,{3},{0},{1},{2})"),
    ("pad:_:_:_:_:_", "padding({4},{3},{0},{1},{2})"),
    ("lossless", "lossless()"),
    ("profile:p3", "to_colorspace(p3)"),
    ("frame:_", "page({0})"),
    ("frames:_", "max_frames({0})"),
    ("depth:_", "bitdepth({0})"),
    ("with:level:_", "compression({0})"),
    ("with:colours:256", "palette()"),
];

/// Writes a request (a wish) as a URL of this dialect. Also returns the parts of the request that the dialect cannot
/// express.
pub(super) fn spell(wish: &Wish, source: &str, flavour: Flavour) -> Spelt {
    let mut draft = Draft::of(wish, &flavour.words());
    let mut take = |start| draft.take(start).unwrap_or_default();
    let (trim, crop, flip, keep) = (
        take("/trim "),
        take("/crop "),
        take("/flip "),
        take("/keep "),
    );
    let both = wish.w.is_some() && wish.h.is_some();
    let fits = matches!(wish.fit, Fitting::Pad(_))
        || (wish.fit == Fitting::Inside && (both || !wish.enlarge));
    // Filters that concern the size come first.
    let mut filters: Vec<String> = Vec::new();
    match (fits, wish.enlarge) {
        (true, true) => filters.push("upscale()".to_owned()),
        (false, false) => filters.push("no_upscale()".to_owned()),
        _ => {}
    }
    if let Fitting::Pad(colour) = wish.fit {
        filters.push(match colour.a {
            0 => "fill(transparent)".to_owned(),
            _ => format!("fill({colour})"),
        });
    }
    filters.extend((wish.fit == Fitting::Exact).then(|| "stretch()".to_owned()));
    filters.extend(Some(draft.join(":")).filter(|others| !others.is_empty()));
    let [w, h] = sides(wish, "0");
    let minus = |direction| if flip.contains(direction) { "-" } else { "" };
    let is_sized = wish.fit != Fitting::Nothing || !flip.is_empty();
    let parts = [
        Some(trim),
        Some(corners(&crop)),
        fits.then(|| "fit-in".to_owned()),
        is_sized.then(|| format!("{}{w}x{}{h}", minus('h'), minus('v'))),
        Some(keep),
        (!filters.is_empty()).then(|| format!("filters:{}", filters.join(":"))),
        Some(source.to_owned()),
    ];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    draft.finish(format!("/unsafe/{}", parts.collect::<Vec<_>>().join("/")))
}

/// Converts left, top, width and height of a crop in px to its corners. Returns an empty text for any other text.
fn corners(crop: &str) -> String {
    let edges: Vec<u32> = crop
        .split(' ')
        .filter_map(|edge| edge.parse().ok())
        .collect();
    match edges[..] {
        [x, y, w, h] => format!("{x}x{y}:{}x{}", x.saturating_add(w), y.saturating_add(h)),
        _ => String::new(),
    }
}
