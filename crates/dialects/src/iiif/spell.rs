//! Writes wishes as URLs of the IIIF Image API, with the usual prefix.

use andon_recipe::{Fit, Wish};

use crate::spelling::{Said, Spelt, Word, all, choice, only, rectangle, sides};

/// The words of a recipe that there are parameters for.
pub(super) const WORDS: &[Word] = &[
    ("crop", |a| {
        Some(format!("region={}", rectangle(a)?.join(",")))
    }),
    ("flip", |a| only(a == ["h"], "mirror=!")),
    ("turn", |a| all("turn=", a, "")),
    // Its corners are as the format says.
    ("rotate", |a| Some(format!("turn={}", a.first()?))),
    ("gray", |a| only(a.is_empty(), "quality=gray")),
    ("bitonal", |a| only(a.is_empty(), "quality=bitonal")),
    ("as", |a| choice("format=", &[a.first()?], FORMATS)),
];

const FORMATS: &[(&str, &str)] = &[
    ("jpeg", "jpg"),
    ("png", "png"),
    ("webp", "webp"),
    ("gif", "gif"),
    ("avif", "avif"),
    ("tiff", "tif"),
];

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut said = Said::of(wish, WORDS);
    let [w, h] = sides(wish, "");
    let both = wish.w.is_some() && wish.h.is_some();
    let size = match wish.fit {
        Fit::Nothing => "max".to_owned(),
        Fit::Exact => format!("{w},{h}"),
        _ if both => format!("!{w},{h}"),
        _ => format!("{w},{h}"),
    };
    if matches!(wish.fit, Fit::Cover | Fit::Pad(_)) || (wish.fit == Fit::Exact && !both) {
        said.miss_box(wish);
    }
    let grows = if wish.enlarge { "^" } else { "" };
    let mut take = |start, usual: &str| said.take(start).unwrap_or(usual.to_owned());
    let (region, mirror) = (take("region=", "full"), take("mirror=", ""));
    let (turn, quality) = (take("turn=", "0"), take("quality=", "default"));
    let format = take("format=", "jpg");
    let source = source.replace('/', "%2F");
    said.spelt(format!(
        "/iiif/3/{source}/{region}/{grows}{size}/{mirror}{turn}/{quality}.{format}"
    ))
}
