//! Writes wishes as URLs of small_light, with the usual prefix.

use andon_recipe::{Fit, Wish};

use crate::spelling::{Said, Spelt, Word, all, only, rectangle, side};

/// The words of a recipe that there are parameters for.
pub(super) const WORDS: &[Word] = &[
    ("original", |_| only(true, "pt=ptss")),
    ("crop", |a| {
        let [x, y, w, h] = rectangle(a)?;
        Some(format!("sx={x},sy={y},sw={w},sh={h}"))
    }),
    ("turn", |a| all("angle=", a, "")),
    ("blur", |a| all("blur=", a, "")),
    ("sharpen", |a| all("sharpen=", a, "")),
    ("unsharp", |a| all("unsharp=", a, "")),
    ("border", |a| {
        let &[size, colour] = a else { return None };
        let (w, h) = size.split_once('x')?;
        Some(format!("bw={w},bh={h},bc={colour}"))
    }),
    ("q", |a| all("q=", a, "")),
    ("lossless", |_| only(true, "q=100")),
    ("as", |a| all("of=", a, "")),
    ("background", |a| all("cc=", a, "")),
    ("progressive", |_| only(true, "progressive=y")),
    ("profile", |a| only(a == ["drop"], "rmprof=y")),
];

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str) -> Spelt {
    let mut said = Said::of(wish, WORDS);
    said.add(side("dw=", wish.w));
    said.add(side("dh=", wish.h));
    said.put(match wish.fit {
        Fit::Cover => "da=s",
        Fit::Exact => "da=n",
        _ => "",
    });
    if wish.enlarge {
        said.put("ds=s");
    }
    if matches!(wish.fit, Fit::Cover | Fit::Pad(_)) {
        said.add(side("cw=", wish.w));
        said.add(side("ch=", wish.h));
    }
    if let Fit::Pad(colour) = wish.fit {
        said.put(format!("cc={colour}"));
    }
    let options = said.join(",");
    said.spelt(format!("/small_light({options})/{source}"))
}
