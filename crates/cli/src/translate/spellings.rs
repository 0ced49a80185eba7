//! How each dialect says the requests that all of them know: a box, how a picture meets it, quality and format.

use andon_dialects::{Config, Dialects, ImageRequest, Source};
use andon_recipe::Goal;
use anyhow::Context;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::behaviour::Behaviour;

/// One request.
struct Wish<'a> {
    how: How,
    /// 0: open.
    w: u32,
    h: u32,
    enlarge: bool,
    quality: Option<u8>,
    format: Option<&'a str>,
    /// Escaped, slashes bare, without the first.
    source: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Nothing,
    Fit,
    Cover,
    Exact,
}

/// A dialect's URL for a wish; `None` where it has no words for it.
type Spell = fn(&Wish<'_>) -> Option<String>;

/// Names, the keys that switch them on where URLs usually are, and their words.
const DIALECTS: &[(&str, &str, Spell)] = &[
    ("native", "enabled = true", native),
    ("small_light", "enabled = true", small_light),
    ("image_filter", "prefix = \"/\"", image_filter),
    ("imgproxy", "prefix = \"/\"", imgproxy),
    ("thumbor", "prefix = \"/\"\nallow_unsafe = true", thumbor),
    ("imagor", "prefix = \"/\"\nallow_unsafe = true", thumbor),
    ("iiif", "prefix = \"/iiif/3\"\nprefix2 = \"/iiif/2\"", iiif),
    ("weserv", "prefix = \"/\"", weserv),
    ("imgix", "prefix = \"/\"", imgix),
    ("cloudflare", "prefix = \"/cdn-cgi/image\"", cloudflare),
];

/// One dialect alone, with the prefix that it usually has.
pub(super) fn usual(name: &str) -> anyhow::Result<Dialects> {
    let known = DIALECTS.iter().find(|(known, ..)| *known == name);
    let keys = known.map_or("prefix = \"/\"", |(_, keys, _)| keys);
    let mut text = format!("[{name}]\n{keys}\n");
    for other in ["native", "small_light"]
        .iter()
        .filter(|other| **other != name)
    {
        text += &format!("[{other}]\nenabled = false\n");
    }
    let config: Config =
        toml::from_str(&text).with_context(|| format!("{name} needs keys: --config"))?;
    Ok(Dialects::new(&config)?)
}

/// A dialect by itself, as a configuration has it.
pub(super) fn alone(name: &str, config: &Config) -> anyhow::Result<Dialects> {
    let alone = Dialects::new(config)?.only(name);
    alone.context("the configuration has it switched off")
}

/// What might say the same.
pub(super) fn candidates(name: &str, request: &ImageRequest, wanted: &[Behaviour]) -> Vec<String> {
    let Some((_, _, spell)) = DIALECTS.iter().find(|(known, ..)| *known == name) else {
        return Vec::new();
    };
    let Some((_, _, recipe)) = wanted.iter().find_map(|it| it.made().next()) else {
        return Vec::new();
    };
    let quality = match recipe.output.goal {
        Some(Goal::Quality(quality)) => Some(quality),
        _ => None,
    };
    let format = recipe.output.format.as_ref().map(|name| name.as_str());
    let (Source::Path(source) | Source::Url(source)) = &request.source;
    let source = utf8_percent_encode(source, BARE).to_string();
    // What is made of a known source, and what bounds the results of several.
    let mut boxes: Vec<(u32, u32)> = Vec::new();
    for behaviour in wanted {
        let made: Vec<(u32, u32)> = behaviour.made().map(|(_, made, _)| made).collect();
        let (w, h) = made
            .iter()
            .fold((0, 0), |(w, h), made| (w.max(made.0), h.max(made.1)));
        let one = made.len() == 1;
        let w = if one || made.iter().filter(|made| made.0 == w).count() > 1 {
            w
        } else {
            0
        };
        let h = if one || made.iter().filter(|made| made.1 == h).count() > 1 {
            h
        } else {
            0
        };
        boxes.extend(
            [(w, h), (w, 0), (0, h)]
                .into_iter()
                .filter(|sides| *sides != (0, 0)),
        );
    }
    let mut urls = Vec::new();
    let mut add = |how, (w, h), enlarge, quality, format| {
        let source = source.clone();
        let wish = Wish {
            how,
            w,
            h,
            enlarge,
            quality,
            format,
            source,
        };
        if let Some(url) = spell(&wish).filter(|url| !urls.contains(url)) {
            urls.push(url);
        }
    };
    for (quality, format) in [
        (quality, format),
        (quality, None),
        (None, format),
        (None, None),
    ] {
        add(How::Nothing, (0, 0), false, quality, format);
        for both in &boxes {
            for enlarge in [false, true] {
                add(How::Fit, *both, enlarge, quality, format);
                if both.0 > 0 && both.1 > 0 {
                    add(How::Cover, *both, enlarge, quality, format);
                    add(How::Exact, *both, enlarge, quality, format);
                }
            }
        }
    }
    urls
}

/// Characters that need no escape in paths and queries.
const BARE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

impl Wish<'_> {
    /// Sides with what stands for an open one.
    fn sides(&self, open: &str) -> [String; 2] {
        [self.w, self.h].map(|side| match side {
            0 => open.to_owned(),
            side => side.to_string(),
        })
    }

    /// The words that are there, joined.
    fn join<const N: usize>(words: [Option<String>; N], with: &str) -> String {
        words.into_iter().flatten().collect::<Vec<_>>().join(with)
    }

    fn quality(&self, before: &str) -> Option<String> {
        self.quality.map(|quality| format!("{before}{quality}"))
    }

    fn format(&self, before: &str) -> Option<String> {
        self.format.map(|format| format!("{before}{format}"))
    }

    /// `jpg`, as file names have it.
    fn short_format(&self, before: &str) -> Option<String> {
        let short = |format| if format == "jpeg" { "jpg" } else { format };
        self.format
            .map(|format| format!("{before}{}", short(format)))
    }

    /// A side's word, if it is given.
    fn side(before: &str, side: u32) -> Option<String> {
        (side > 0).then(|| format!("{before}{side}"))
    }
}

fn native(wish: &Wish<'_>) -> Option<String> {
    let [w, h] = wish.sides("");
    let word = match wish.how {
        How::Nothing => None,
        How::Fit => Some("fit"),
        How::Cover => Some("cover"),
        How::Exact => Some("exact"),
    };
    let enlarge = if wish.enlarge && wish.how != How::Exact {
        ":enlarge"
    } else {
        ""
    };
    let words = [
        word.map(|word| format!("{word}:{w}x{h}{enlarge}")),
        wish.format("as:"),
        wish.quality("q:"),
    ];
    let recipe = Wish::join(words, ",");
    let recipe = if recipe.is_empty() { "same" } else { &recipe };
    Some(format!("/r/{recipe}/{}", wish.source))
}

fn small_light(wish: &Wish<'_>) -> Option<String> {
    let da = match wish.how {
        How::Nothing | How::Fit => "",
        How::Cover => "da=s",
        How::Exact => "da=n",
    };
    let cover = wish.how == How::Cover;
    let words = [
        Wish::side("dw=", wish.w),
        Wish::side("dh=", wish.h),
        (!da.is_empty()).then(|| da.to_owned()),
        wish.enlarge.then(|| "ds=s".to_owned()),
        Wish::side("cw=", if cover { wish.w } else { 0 }),
        Wish::side("ch=", if cover { wish.h } else { 0 }),
        wish.quality("q="),
        wish.format("of="),
    ];
    Some(format!(
        "/small_light({})/{}",
        Wish::join(words, ","),
        wish.source
    ))
}

fn image_filter(wish: &Wish<'_>) -> Option<String> {
    if wish.format.is_some() || wish.enlarge {
        return None;
    }
    let [w, h] = wish.sides("-");
    let word = match wish.how {
        How::Fit => "resize",
        How::Cover => "crop",
        How::Nothing | How::Exact => return None,
    };
    let quality = wish.quality(",q=").unwrap_or_default();
    Some(format!(
        "/image_filter({word},{w},{h}{quality})/{}",
        wish.source
    ))
}

fn imgproxy(wish: &Wish<'_>) -> Option<String> {
    let word = match wish.how {
        How::Nothing => None,
        How::Fit => Some("fit"),
        How::Cover => Some("fill"),
        How::Exact => Some("force"),
    };
    let words = [
        word.map(|word| format!("rs:{word}:{}:{}:{}", wish.w, wish.h, u8::from(wish.enlarge))),
        wish.quality("q:"),
        Some(format!("plain/local:///{}", wish.source)),
    ];
    let extension = wish.short_format("@").unwrap_or_default();
    Some(format!("/unsafe/{}{extension}", Wish::join(words, "/")))
}

fn thumbor(wish: &Wish<'_>) -> Option<String> {
    let filters = [
        wish.quality.map(|quality| format!("quality({quality})")),
        wish.format.map(|format| format!("format({format})")),
        (wish.how == How::Exact).then(|| "stretch()".to_owned()),
        (wish.how != How::Fit && !wish.enlarge).then(|| "no_upscale()".to_owned()),
        (wish.how == How::Fit && wish.enlarge).then(|| "upscale()".to_owned()),
    ];
    let filters = Wish::join(filters, ":");
    let words = [
        (wish.how == How::Fit && wish.w > 0 && wish.h > 0).then(|| "fit-in".to_owned()),
        (wish.how != How::Nothing).then(|| format!("{}x{}", wish.w, wish.h)),
        (!filters.is_empty()).then(|| format!("filters:{filters}")),
        Some(wish.source.clone()),
    ];
    Some(format!("/unsafe/{}", Wish::join(words, "/")))
}

fn iiif(wish: &Wish<'_>) -> Option<String> {
    if wish.quality.is_some() {
        return None;
    }
    let [w, h] = wish.sides("");
    let size = match (wish.how, wish.w > 0 && wish.h > 0) {
        (How::Nothing, _) => "max".to_owned(),
        (How::Fit, true) => format!("!{w},{h}"),
        (How::Fit, false) | (How::Exact, _) => format!("{w},{h}"),
        (How::Cover, _) => return None,
    };
    let enlarge = if wish.enlarge { "^" } else { "" };
    let extension = wish.short_format("").unwrap_or("jpg".to_owned());
    let source = wish.source.replace('/', "%2F");
    Some(format!(
        "/iiif/3/{source}/full/{enlarge}{size}/0/default.{extension}"
    ))
}

fn weserv(wish: &Wish<'_>) -> Option<String> {
    let fit = match wish.how {
        How::Nothing | How::Fit => "",
        How::Cover => "fit=cover",
        How::Exact => "fit=fill",
    };
    let words = [
        Some(format!("url=/{}", wish.source)),
        Wish::side("w=", wish.w),
        Wish::side("h=", wish.h),
        (!fit.is_empty()).then(|| fit.to_owned()),
        (!wish.enlarge).then(|| "we".to_owned()),
        wish.quality("q="),
        wish.short_format("output="),
    ];
    Some(format!("/?{}", Wish::join(words, "&")))
}

fn imgix(wish: &Wish<'_>) -> Option<String> {
    let fit = match (wish.how, wish.enlarge) {
        (How::Nothing, _) | (How::Fit, true) => "",
        (How::Fit, false) => "fit=max",
        (How::Cover, _) => "fit=crop",
        (How::Exact, _) => "fit=scale",
    };
    let words = [
        Wish::side("w=", wish.w),
        Wish::side("h=", wish.h),
        (!fit.is_empty()).then(|| fit.to_owned()),
        wish.quality("q="),
        wish.short_format("fm="),
    ];
    Some(format!("/{}?{}", wish.source, Wish::join(words, "&")))
}

fn cloudflare(wish: &Wish<'_>) -> Option<String> {
    let fit = match (wish.how, wish.enlarge) {
        (How::Nothing, _) => return None,
        (How::Fit, false) => "scale-down",
        (How::Fit, true) => "contain",
        (How::Cover, true) => "cover",
        (How::Cover, false) => "crop",
        (How::Exact, _) => "squeeze",
    };
    let words = [
        Wish::side("width=", wish.w),
        Wish::side("height=", wish.h),
        Some(format!("fit={fit}")),
        wish.quality("quality="),
        wish.format("format="),
    ];
    Some(format!(
        "/cdn-cgi/image/{}/{}",
        Wish::join(words, ","),
        wish.source
    ))
}
