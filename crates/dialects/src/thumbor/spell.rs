//! Writes wishes as URLs of thumbor and imagor, with the usual prefix.

use andon_recipe::{Fit, Wish};

use super::Flavour;
use crate::effects::number;
use crate::spelling::{
    Said, Spelt, Word, at, choice, only, rectangle, scaled, sides, sigma, unsharp,
};

impl Flavour {
    /// Returns the words of a recipe that this flavour has parts or filters for. Parts begin with a slash.
    pub(super) fn words(self) -> Vec<Word> {
        let own = match self {
            Self::Thumbor => THUMBOR,
            Self::Imagor => IMAGOR,
        };
        [BOTH, own].concat()
    }
}

const BOTH: &[Word] = &[
    ("crop", |a| {
        let [x, y, w, h] = rectangle(a)?.map(|px| px.parse::<u32>());
        let (x, y) = (x.ok()?, y.ok()?);
        Some(format!("/crop {x}x{y}:{}x{}", x + w.ok()?, y + h.ok()?))
    }),
    ("flip", |a| only(true, &format!("/flip {}", a.first()?))),
    // Counter-clockwise.
    ("turn", |a| {
        choice(
            "rotate(",
            a,
            &[("90", "270)"), ("180", "180)"), ("270", "90)")],
        )
    }),
    ("keep", |a| choice("/keep ", a, GRAVITIES)),
    ("flatten", |a| filter("background_color", *a.first()?)),
    ("round", |a| {
        let (size, colour) = (format!("{}|{}", a.first()?, a.get(1)?), a.get(2));
        let level =
            |at: usize| u8::from_str_radix(colour.unwrap_or(&"000000").get(at..at + 2)?, 16).ok();
        let (r, g, b) = (level(0)?, level(2)?, level(4)?);
        let clear = if colour.is_none() { ",1" } else { "" };
        filter("round_corner", format!("{size},{r},{g},{b}{clear}"))
    }),
    ("rgb", |a| {
        let levels: Option<Vec<String>> = (0..3)
            .map(|place| Some(number(at(a, place)? / 2.55)))
            .collect();
        filter("rgb", levels?.join(","))
    }),
    ("q", |a| filter("quality", a.first()?)),
    ("max", |a| filter("max_bytes", a.first()?)),
    ("as", |a| filter("format", a.first()?)),
    ("metadata", |a| only(a == ["none"], "strip_exif()")),
    ("profile", |a| {
        choice(
            "",
            a,
            &[("srgb", "strip_icc()"), ("p3", "to_colorspace(p3)")],
        )
    }),
];

const THUMBOR: &[Word] = &[
    ("brightness", |a| {
        filter("brightness", (at(a, 0)? / 2.55).round())
    }),
    ("contrast", |a| {
        filter("contrast", (at(a, 0)?.sqrt() * 100.0 - 100.0).round())
    }),
    ("saturation", |a| {
        only(a.get(1)? == &"rms", &format!("saturation({})", a[0]))
    }),
    ("unsharp", |a| {
        let (sigma, amount) = unsharp(a, "0")?;
        filter("sharpen", format!("{amount},{sigma},false"))
    }),
    ("gray", |a| only(a.is_empty(), "grayscale()")),
    ("blur", |a| {
        let (radius, sigma) = a.first()?.split_once('x')?;
        only(radius != "0", &format!("blur({radius},{sigma})"))
    }),
];

const IMAGOR: &[Word] = &[
    ("trim", |a| {
        only(true, &format!("/trim trim:{}", a.first()?))
    }),
    ("keep", |a| {
        let (x, y) = (at(a, 0)? / 100.0, at(a, 1)? / 100.0);
        filter("focal", format!("{}x{}", number(x), number(y)))
    }),
    ("brightness", |a| {
        Some(scaled("brightness(", a, |it| it / 2.55)? + ")")
    }),
    ("contrast", |a| {
        let level = |it: f64| 259.0 * 255.0 * (it - 1.0) / (259.0 + 255.0 * it);
        Some(scaled("contrast(", a, |it| level(it) / 2.55)? + ")")
    }),
    ("modulate", |a| {
        let percent = |place| Some(number((at(a, place)? - 1.0) * 100.0));
        filter(
            "modulate",
            format!("{},{},{}", percent(0)?, percent(1)?, a.get(2)?),
        )
    }),
    ("sharpen-l", |a| {
        only(
            a.get(1..)? == ["0", "2"],
            &format!("sharpen({})", number((at(a, 0)? - 1.0) / 2.0)),
        )
    }),
    ("original", |_| only(true, "raw()")),
    ("invert", |_| only(true, "invert()")),
    ("gray", |a| only(a == ["light"], "grayscale()")),
    ("blur", |a| filter("blur", format!("0,{}", sigma(a)?))),
    ("pad", |a| {
        let &[top, right, bottom, left, colour] = a else {
            return None;
        };
        filter("padding", format!("{colour},{left},{top},{right},{bottom}"))
    }),
    ("lossless", |_| only(true, "lossless()")),
    ("frame", |a| filter("page", a.first()?)),
    ("frames", |a| filter("max_frames", a.first()?)),
    ("depth", |a| filter("bitdepth", a.first()?)),
    ("with", |a| match *a {
        ["level", level] => filter("compression", level),
        ["colours", "256"] => only(true, "palette()"),
        _ => None,
    }),
];

const GRAVITIES: &[(&str, &str)] = &[
    ("north", "top"),
    ("south", "bottom"),
    ("west", "left"),
    ("east", "right"),
    ("northwest", "left/top"),
    ("northeast", "right/top"),
    ("southwest", "left/bottom"),
    ("southeast", "right/bottom"),
    ("smart", "smart"),
];

fn filter(name: &str, args: impl std::fmt::Display) -> Option<String> {
    Some(format!("{name}({args})"))
}

/// Returns the URL for a wish.
pub(super) fn spell(wish: &Wish, source: &str, flavour: Flavour) -> Spelt {
    let mut said = Said::of(wish, &flavour.words());
    let mut take = |start| said.take(start).unwrap_or_default();
    let (trim, crop, flip, keep) = (
        take("/trim "),
        take("/crop "),
        take("/flip "),
        take("/keep "),
    );
    let both = wish.w.is_some() && wish.h.is_some();
    let fits =
        matches!(wish.fit, Fit::Pad(_)) || (wish.fit == Fit::Inside && (both || !wish.enlarge));
    let mut first = Vec::new();
    if let Fit::Pad(colour) = wish.fit {
        let colour = if colour.a == 0 {
            "transparent".to_owned()
        } else {
            colour.to_string()
        };
        first.push(format!("fill({colour})"));
    }
    first.extend((wish.fit == Fit::Exact).then(|| "stretch()".to_owned()));
    let scales = match (fits, wish.enlarge) {
        (true, true) => "upscale()",
        (false, false) => "no_upscale()",
        _ => "",
    };
    first.insert(0, scales.to_owned());
    first.push(said.join(":"));
    first.retain(|filter| !filter.is_empty());
    let [w, h] = sides(wish, "0");
    let minus = |direction| if flip.contains(direction) { "-" } else { "" };
    let size = format!("{}{w}x{}{h}", minus('h'), minus('v'));
    let filters = first.join(":");
    let parts = [
        trim,
        crop,
        if fits {
            "fit-in".to_owned()
        } else {
            String::new()
        },
        if wish.fit == Fit::Nothing && flip.is_empty() {
            String::new()
        } else {
            size
        },
        keep,
        if filters.is_empty() {
            filters
        } else {
            format!("filters:{filters}")
        },
        source.to_owned(),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    said.spelt(format!("/unsafe/{}", parts.join("/")))
}
