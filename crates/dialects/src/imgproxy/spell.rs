//! Writes wishes as URLs of imgproxy, with the usual prefix.

use andon_recipe::{Fit, Wish};

use crate::effects::number;
use crate::spelling::{
    Said, Spelt, Word, all, at, choice, only, rectangle, scaled, sides, sigma, unsharp,
};

/// The words of a recipe that there are options for.
pub(super) const WORDS: &[Word] = &[
    ("trim", |a| all("t:", a, "")),
    ("crop", |a| {
        let [x, y, w, h] = rectangle(a)?;
        // An offset of less than 1 would be a share.
        Some(format!("c:{w}:{h}:nowe:{x}:{y}"))
    }),
    ("turn", |a| all("rot:", a, "")),
    ("flip", |a| {
        choice("fl:", a, &[("h", "1:0"), ("v", "0:1"), ("hv", "1:1")])
    }),
    ("stored", |a| only(a == ["verbatim"], "ar:0")),
    ("keep", |a| match a {
        [_, _] => Some(format!(
            "g:fp:{}:{}",
            number(at(a, 0)? / 100.0),
            number(at(a, 1)? / 100.0)
        )),
        word => choice("g:", word, GRAVITIES),
    }),
    ("flatten", |a| all("bg:", a, "")),
    ("brightness", |a| scaled("br:", a, |it| it)),
    ("contrast", |a| all("co:", a, "")),
    ("saturation", |a| scaled("sa:", a, |it| it)),
    ("gray", |a| only(a.is_empty(), "mc:1")),
    ("duotone", |a| all("dt:1:", a, ":")),
    ("colorize", |a| {
        Some(format!("col:{}:{}", number(at(a, 0)? / 100.0), a.get(1)?))
    }),
    ("unsharp", |a| {
        let (sigma, amount) = unsharp(a, "0")?;
        only(sigma == 0.8, &format!("ush:always:{}:9", number(amount)))
    }),
    ("blur", |a| Some(format!("bl:{}", sigma(a)?))),
    ("sharpen-l", |a| scaled("sh:", a, |it| it)),
    ("pixelate", |a| all("pix:", a, "")),
    ("pad", |a| Some(format!("pd:{}", a.get(..4)?.join(":")))),
    ("q", |a| all("q:", a, "")),
    ("max", |a| Some(format!("mb:{}", a.first()?))),
    ("as", |a| {
        choice("f:", a, &[("auto", "best")]).or_else(|| all("f:", a, ""))
    }),
    ("lossless", |_| only(true, "webpo:lossless")),
    ("progressive", |_| only(true, "jpgo:1/pngo:1")),
    ("chroma", |a| only(a == ["444"], "jpgo::1")),
    ("metadata", |a| {
        choice("", a, &[("none", "kcr:0"), ("all", "sm:0")])
    }),
    ("profile", |a| {
        choice("", a, &[("keep", "scp:0"), ("p3", "cp:p3")])
    }),
    ("frame", |a| scaled("pg:", a, |it| it - 1.0)),
];

const GRAVITIES: &[(&str, &str)] = &[
    ("north", "no"),
    ("south", "so"),
    ("west", "we"),
    ("east", "ea"),
    ("northwest", "nowe"),
    ("northeast", "noea"),
    ("southwest", "sowe"),
    ("southeast", "soea"),
    ("smart", "sm"),
    ("faces", "obj:face"),
];

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut said = Said::of(wish, WORDS);
    let [w, h] = sides(wish, "0");
    let enlarge = u8::from(wish.enlarge);
    let word = match wish.fit {
        Fit::Nothing => "",
        Fit::Inside | Fit::Pad(_) => "fit",
        Fit::Cover => "fill",
        Fit::Exact => "force",
    };
    said.add((!word.is_empty()).then(|| format!("rs:{word}:{w}:{h}:{enlarge}")));
    if let Fit::Pad(colour) = wish.fit {
        said.put("ex:1");
        said.add((colour.a == u8::MAX).then(|| format!("bg:{colour}")));
    }
    said.put(format!("plain/local:///{source}"));
    let options = said.join("/");
    said.spelt(format!("/unsafe/{options}"))
}
