//! Writes wishes as URLs of Cloudflare, with the usual prefix.

use andon_recipe::{Fit, Wish};

use crate::effects::number;
use crate::spelling::{
    Said, Spelt, Word, all, at, choice, only, rectangle, scaled, side, sigma, unsharp,
};

/// The words of a recipe that there are options for.
pub(super) const WORDS: &[Word] = &[
    ("trim", |a| only(a == ["10"], "trim=border")),
    ("crop", |a| {
        let [x, y, w, h] = rectangle(a)?;
        Some(format!(
            "trim.left={x},trim.top={y},trim.width={w},trim.height={h}"
        ))
    }),
    ("turn", |a| all("rotate=", a, "")),
    ("flip", |a| all("flip=", a, "")),
    ("keep", |a| match a {
        [x, y] => Some(format!("gravity={}x{}", share(x)?, share(y)?)),
        word => choice("gravity=", word, GRAVITIES),
    }),
    ("flatten", |a| all("background=%23", a, "")),
    ("modulate", |a| {
        let (first, others) = a.split_first()?;
        only(others == ["1", "0"], &format!("brightness={first}"))
    }),
    ("contrast", |a| all("contrast=", a, "")),
    ("gamma", |a| all("gamma=", a, "")),
    ("saturation", |a| scaled("saturation=", a, |it| it)),
    ("unsharp", |a| {
        let (sigma, amount) = unsharp(a, "0")?;
        only(sigma == 1.0, &format!("sharpen={}", number(amount)))
    }),
    ("blur", |a| {
        Some(format!("blur={}", number(sigma(a)? * 2.0)))
    }),
    ("border", |a| {
        let &[size, colour] = a else { return None };
        let (w, h) = size.split_once('x')?;
        only(
            w == h,
            &format!("border.width={w},border.color=%23{colour}"),
        )
    }),
    ("q", |a| all("quality=", a, "")),
    ("lossless", |_| only(true, "quality=100")),
    ("with", |a| only(a == ["colours", "256"], "quality=100")),
    ("as", |a| choice("format=", a, FORMATS)),
    ("progressive", |_| only(true, "format=jpeg")),
    ("metadata", |a| {
        choice("metadata=", a, &[("none", "none"), ("all", "keep")])
    }),
    ("frame", |a| only(at(a, 0)? == 1.0, "anim=false")),
];

const FORMATS: &[(&str, &str)] = &[
    ("auto", "auto"),
    ("avif", "avif"),
    ("webp", "webp"),
    ("png", "png"),
    ("jpeg", "baseline-jpeg"),
];

const GRAVITIES: &[(&str, &str)] = &[
    ("north", "top"),
    ("south", "bottom"),
    ("west", "left"),
    ("east", "right"),
    ("smart", "auto"),
    ("faces", "face"),
];

fn share(percent: &str) -> Option<String> {
    Some(number(percent.parse::<f64>().ok()? / 100.0))
}

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut said = Said::of(wish, WORDS);
    said.add(side("width=", wish.w));
    said.add(side("height=", wish.h));
    said.put(match (wish.fit, wish.enlarge) {
        (Fit::Inside, false) | (Fit::Nothing, _) => "fit=scale-down",
        (Fit::Inside, true) => "fit=contain",
        (Fit::Cover, true) => "fit=cover",
        (Fit::Cover, false) => "fit=crop",
        (Fit::Exact, _) => "fit=squeeze",
        (Fit::Pad(_), _) => "fit=pad",
    });
    if let Fit::Pad(colour) = wish.fit {
        said.put(format!("background=%23{colour}"));
    }
    let options = said.join(",");
    said.spelt(format!("/cdn-cgi/image/{options}/{source}"))
}
