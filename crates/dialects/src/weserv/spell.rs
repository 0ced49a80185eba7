//! Writes wishes as URLs of weserv, with the usual prefix.

use andon_recipe::{Fit, Wish};

use crate::effects::number;
use crate::spelling::{Said, Spelt, Word, all, at, choice, only, rectangle, scaled, side, sigma};

/// The words of a recipe that there are parameters for.
pub(super) const WORDS: &[Word] = &[
    ("trim", |a| all("trim=", a, "")),
    ("crop", |a| {
        let [x, y, w, h] = rectangle(a)?;
        Some(format!("precrop&cx={x}&cy={y}&cw={w}&ch={h}"))
    }),
    ("turn", |a| all("ro=", a, "")),
    ("rotate", |a| match *a {
        [degrees] => Some(format!("ro={degrees}")),
        [degrees, colour] => Some(format!("ro={degrees}&rbg={}", argb(colour))),
        _ => None,
    }),
    ("flip", |a| {
        choice("", a, &[("h", "flop"), ("v", "flip"), ("hv", "flip&flop")])
    }),
    ("keep", |a| match a {
        [_, _] => Some(format!(
            "a=focal&fpx={}&fpy={}",
            number(at(a, 0)? / 100.0),
            number(at(a, 1)? / 100.0)
        )),
        word => choice("a=", word, GRAVITIES),
    }),
    ("flatten", |a| all("bg=", a, "")),
    ("brightness", |a| {
        scaled("bri=", a, |it| (it / 2.55).round())
    }),
    ("modulate", |a| all("mod=", a, ",")),
    ("gamma", |a| scaled("gam=", a, |it| 1.0 / it)),
    ("sharpen-l", |a| match *a {
        [sigma] => Some(format!("sharp={sigma}")),
        [sigma, flat, jagged] => Some(format!("sharp={flat},{jagged},{sigma}")),
        _ => None,
    }),
    ("gray", |a| only(a == ["light"], "filt=greyscale")),
    ("sepia", |a| only(a.is_empty(), "filt=sepia")),
    ("invert", |_| only(true, "filt=negate")),
    ("duotone", |a| {
        let &[start, stop] = a else { return None };
        Some(format!("filt=duotone&start={start}&stop={stop}"))
    }),
    ("blur", |a| Some(format!("blur={}", sigma(a)?))),
    ("tint", |a| all("tint=", a, "")),
    ("mask", |a| match *a {
        [shape] => Some(format!("mask={shape}")),
        [shape, colour] => Some(format!("mask={shape}&mbg={}", argb(colour))),
        _ => None,
    }),
    ("q", |a| all("q=", a, "")),
    ("as", |a| {
        choice("output=", a, &[("jpeg", "jpg")]).or_else(|| all("output=", a, ""))
    }),
    ("lossless", |_| only(true, "ll")),
    ("progressive", |_| only(true, "il")),
    ("with", |a| match *a {
        ["level", level] => Some(format!("l={level}")),
        ["filter", filter] => Some(format!("af={}", filter == "adaptive")),
        _ => None,
    }),
    ("frame", |a| scaled("page=", a, |it| it - 1.0)),
];

const GRAVITIES: &[(&str, &str)] = &[
    ("north", "top"),
    ("south", "bottom"),
    ("west", "left"),
    ("east", "right"),
    ("northwest", "top-left"),
    ("northeast", "top-right"),
    ("southwest", "bottom-left"),
    ("southeast", "bottom-right"),
    ("smart", "attention"),
];

/// Returns a colour with its alpha first, if it has any.
fn argb(colour: &str) -> String {
    match colour.split_at_checked(6) {
        Some((rgb, alpha)) => format!("{alpha}{rgb}"),
        None => colour.to_owned(),
    }
}

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut said = Said::of(wish, WORDS);
    said.add(side("w=", wish.w));
    said.add(side("h=", wish.h));
    said.put(match wish.fit {
        Fit::Nothing | Fit::Inside => String::new(),
        Fit::Cover => "fit=cover".to_owned(),
        Fit::Exact => "fit=fill".to_owned(),
        Fit::Pad(colour) => format!("fit=contain&cbg={}", argb(&colour.to_string())),
    });
    said.put(if wish.enlarge { "" } else { "we" });
    // Of an animation, only one page is shown without it.
    let moves =
        wish.output.frame.is_none() && [".gif", ".webp"].iter().any(|end| source.ends_with(end));
    said.put(if moves { "n=-1" } else { "" });
    let options = said.join("&");
    said.spelt(format!("/?url=/{source}&{options}"))
}
