//! Writes wishes as URLs of imgix, with the usual prefix.

use andon_recipe::{Fit, Wish};

use crate::effects::number;
use crate::spelling::{
    Said, Spelt, Word, all, at, choice, only, rectangle, scaled, side, sigma, unsharp,
};

/// The words of a recipe that there are parameters for.
pub(super) const WORDS: &[Word] = &[
    ("trim", |a| all("trim=auto&trim-tol=", a, "")),
    ("crop", |a| {
        Some(format!("rect={}", rectangle(a)?.map(px).join(",")))
    }),
    ("turn", |a| all("rot=", a, "")),
    ("rotate", |a| match *a {
        [degrees] => Some(format!("rot={degrees}")),
        [degrees, colour] => Some(format!("rot={degrees}&bg={}", argb(colour))),
        _ => None,
    }),
    ("flip", |a| all("flip=", a, "")),
    ("keep", |a| match a {
        [_, _] => Some(format!(
            "crop=focalpoint&fp-x={}&fp-y={}",
            number(at(a, 0)? / 100.0),
            number(at(a, 1)? / 100.0)
        )),
        word => choice("crop=", word, GRAVITIES),
    }),
    ("flatten", |a| all("bg=", a, "")),
    ("brightness", |a| scaled("bri=", a, |it| it / 2.55)),
    ("contrast", |a| scaled("con=", a, |it| (it - 1.0) * 100.0)),
    ("modulate", |a| {
        only(
            a.get(1..)? == ["1", "0"],
            &scaled("exp=", &a[..1], |it| it.log2() * 100.0)?,
        )
    }),
    ("gamma", |a| scaled("gam=", a, |it| it.log2() * 100.0)),
    ("saturation", |a| scaled("sat=", a, |it| (it - 1.0) * 100.0)),
    ("hue", |a| all("hue=", a, "")),
    ("invert", |_| only(true, "invert=true")),
    ("sepia", |a| all("sepia=", a, "")),
    ("duotone", |a| all("duotone=", a, ",")),
    ("unsharp", |a| {
        let (sigma, amount) = unsharp(a, "0")?;
        Some(match sigma == 1.0 && amount <= 5.0 {
            true => format!("sharp={}", number(amount * 20.0)),
            false => format!("usm={}&usmrad={}", number(amount * 100.0), number(sigma)),
        })
    }),
    ("blur", |a| {
        Some(format!("blur={}", number(sigma(a)? * 20.0)))
    }),
    ("pixelate", |a| all("px=", a, "")),
    ("round", |a| match *a {
        [radius] => Some(format!("border-radius={radius}")),
        [across, down, colour] => only(
            across == down,
            &format!(
                "mask=corners&corner-radius={across}&mask-bg={}",
                argb(colour)
            ),
        ),
        _ => None,
    }),
    ("mask", |a| match *a {
        ["ellipse"] => Some("mask=ellipse".to_owned()),
        ["ellipse", colour] => Some(format!("mask=ellipse&mask-bg={}", argb(colour))),
        _ => None,
    }),
    ("border", |a| {
        let &[size, colour] = a else { return None };
        let (w, h) = size.split_once('x')?;
        only(w == h, &format!("border={w},{}", argb(colour)))
    }),
    ("pad", |a| {
        let &[top, right, bottom, left, colour] = a else {
            return None;
        };
        Some(format!(
            "pad-top={top}&pad-right={right}&pad-bottom={bottom}&pad-left={left}&fill=solid&fill-color={}",
            argb(colour)
        ))
    }),
    ("q", |a| all("q=", a, "")),
    ("as", |a| match a {
        ["auto"] => Some("auto=format".to_owned()),
        ["jpeg"] => Some("fm=jpg".to_owned()),
        word => all("fm=", word, ""),
    }),
    ("progressive", |_| only(true, "fm=pjpg")),
    ("chroma", |a| all("chromasub=", a, "")),
    ("lossless", |_| only(true, "lossless=true")),
    ("profile", |a| only(a == ["srgb"], "cs=srgb")),
    ("metadata", |a| only(a == ["none"], "cs=strip")),
    ("frame", |a| all("page=", a, "")),
];

const GRAVITIES: &[(&str, &str)] = &[
    ("north", "top"),
    ("south", "bottom"),
    ("west", "left"),
    ("east", "right"),
    ("northwest", "top,left"),
    ("northeast", "top,right"),
    ("southwest", "bottom,left"),
    ("southeast", "bottom,right"),
    ("smart", "entropy"),
    ("faces", "faces"),
];

/// Returns a colour with its alpha first, if it has any.
fn argb(colour: &str) -> String {
    match colour.split_at_checked(6) {
        Some((rgb, alpha)) => format!("{alpha}{rgb}"),
        None => colour.to_owned(),
    }
}

/// Returns px as `rect` has them, where 1 would be the whole side.
fn px(side: &str) -> String {
    let px = if side == "1" { "1.01" } else { side };
    px.to_owned()
}

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut said = Said::of(wish, WORDS);
    said.add(side("w=", wish.w));
    said.add(side("h=", wish.h));
    said.put(match (wish.fit, wish.enlarge) {
        (Fit::Nothing, _) | (Fit::Inside, true) => "",
        (Fit::Inside, false) => "fit=max",
        (Fit::Cover, _) => "fit=crop",
        (Fit::Exact, _) => "fit=scale",
        (Fit::Pad(_), true) => "fit=fill",
        (Fit::Pad(_), false) => "fit=fillmax",
    });
    if let Fit::Pad(colour) = wish.fit {
        said.put(format!(
            "fill=solid&fill-color={}",
            argb(&colour.to_string())
        ));
    }
    // Of a parameter that is given twice, only the first counts.
    let spaces: Vec<String> = std::iter::from_fn(|| said.take("cs=")).collect();
    said.add((!spaces.is_empty()).then(|| format!("cs={}", spaces.join(","))));
    if said.take("fm=pjpg").is_some() {
        said.take("fm=");
        said.put("fm=pjpg");
    }
    // Without any parameter it would be a plain file.
    let mut options = said.join("&");
    if options.is_empty() {
        options.push_str("fit=clip");
    }
    said.spelt(format!("/{source}?{options}"))
}
