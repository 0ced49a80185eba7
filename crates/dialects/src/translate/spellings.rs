//! How each dialect writes the requests that all of them support: a box, how an image is fitted to it, quality and
//! format.

use andon_recipe::Goal;
use serde_json::{Value, json};

use super::behaviour::Behaviour;
use crate::{Config, ConfigError, Dialects, ImageRequest};

/// A request to be written in a dialect.
struct Request<'a> {
    how: How,
    /// Width of the box in px; 0: not given.
    w: u32,
    h: u32,
    enlarge: bool,
    quality: Option<u8>,
    format: Option<&'a str>,
    /// The source's path, percent-encoded except for slashes, without a leading slash.
    source: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Nothing,
    Fit,
    Cover,
    Exact,
}

/// Writes a request as a URL of a dialect; `None` if the dialect cannot express it.
type Spell = fn(&Request<'_>) -> Option<String>;

/// The name of each dialect, and the function that writes its URLs.
const DIALECTS: &[(&str, Spell)] = &[
    ("native", native),
    ("small_light", small_light),
    ("image_filter", image_filter),
    ("imgproxy", imgproxy),
    ("thumbor", thumbor),
    ("imagor", thumbor),
    ("iiif", iiif),
    ("weserv", weserv),
    ("imgix", imgix),
    ("cloudflare", cloudflare),
];

/// Returns the configuration keys that switch a dialect on at its usual prefix.
fn usual_keys(name: &str) -> Value {
    match name {
        "native" | "small_light" => json!({ "enabled": true }),
        "thumbor" | "imagor" => json!({ "prefix": "/", "allow_unsafe": true }),
        "iiif" => json!({ "prefix": "/iiif/3", "prefix2": "/iiif/2" }),
        "cloudflare" => json!({ "prefix": "/cdn-cgi/image" }),
        _ => json!({ "prefix": "/" }),
    }
}

/// Creates one dialect alone, with its usual prefix.
pub(super) fn usual(name: &str) -> Result<Dialects, ConfigError> {
    let mut keys = json!({ "native": { "enabled": false }, "small_light": { "enabled": false } });
    keys[name] = usual_keys(name);
    let config: Config = serde_json::from_value(keys)
        .map_err(|error| ConfigError::new(name, format!("needs keys of its own: {error}")))?;
    Dialects::new(&config)
}

/// Returns URLs of a dialect that may have the same meaning as a request.
pub(super) fn candidates(name: &str, request: &ImageRequest, wanted: &[Behaviour]) -> Vec<String> {
    let Some((_, spell)) = DIALECTS.iter().find(|(known, _)| *known == name) else {
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
    let source = escaped(&request.source.literal());
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
        let request = Request {
            how,
            w,
            h,
            enlarge,
            quality,
            format,
            source,
        };
        if let Some(url) = spell(&request).filter(|url| !urls.contains(url)) {
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

/// Percent-encodes a source for paths and queries: only letters, digits and `-._~/` stand bare.
fn escaped(source: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| match bare(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    source.bytes().map(one).collect()
}

impl Request<'_> {
    /// Returns width and height as text, with `open` in place of a side that is not given.
    fn sides(&self, open: &str) -> [String; 2] {
        [self.w, self.h].map(|side| match side {
            0 => open.to_owned(),
            side => side.to_string(),
        })
    }

    /// Joins the words that are present.
    fn join<const N: usize>(words: [Option<String>; N], with: &str) -> String {
        words.into_iter().flatten().collect::<Vec<_>>().join(with)
    }

    fn quality(&self, before: &str) -> Option<String> {
        self.quality.map(|quality| format!("{before}{quality}"))
    }

    fn format(&self, before: &str) -> Option<String> {
        self.format.map(|format| format!("{before}{format}"))
    }

    /// Returns the format behind `before`, with `jpeg` written as `jpg`, as in file names.
    fn short_format(&self, before: &str) -> Option<String> {
        let short = |format| if format == "jpeg" { "jpg" } else { format };
        self.format
            .map(|format| format!("{before}{}", short(format)))
    }

    /// Returns a side behind `before`, if it is given.
    fn side(before: &str, side: u32) -> Option<String> {
        (side > 0).then(|| format!("{before}{side}"))
    }
}

fn native(request: &Request<'_>) -> Option<String> {
    let [w, h] = request.sides("");
    let word = match request.how {
        How::Nothing => None,
        How::Fit => Some("fit"),
        How::Cover => Some("cover"),
        How::Exact => Some("exact"),
    };
    let enlarge = if request.enlarge && request.how != How::Exact {
        ":enlarge"
    } else {
        ""
    };
    let words = [
        word.map(|word| format!("{word}:{w}x{h}{enlarge}")),
        request.format("as:"),
        request.quality("q:"),
    ];
    let recipe = Request::join(words, ",");
    let recipe = if recipe.is_empty() { "same" } else { &recipe };
    Some(format!("/r/{recipe}/{}", request.source))
}

fn small_light(request: &Request<'_>) -> Option<String> {
    let da = match request.how {
        How::Nothing | How::Fit => "",
        How::Cover => "da=s",
        How::Exact => "da=n",
    };
    let cover = request.how == How::Cover;
    let words = [
        Request::side("dw=", request.w),
        Request::side("dh=", request.h),
        (!da.is_empty()).then(|| da.to_owned()),
        request.enlarge.then(|| "ds=s".to_owned()),
        Request::side("cw=", if cover { request.w } else { 0 }),
        Request::side("ch=", if cover { request.h } else { 0 }),
        request.quality("q="),
        request.format("of="),
    ];
    Some(format!(
        "/small_light({})/{}",
        Request::join(words, ","),
        request.source
    ))
}

fn image_filter(request: &Request<'_>) -> Option<String> {
    if request.format.is_some() || request.enlarge {
        return None;
    }
    let [w, h] = request.sides("-");
    let word = match request.how {
        How::Fit => "resize",
        How::Cover => "crop",
        How::Nothing | How::Exact => return None,
    };
    let quality = request.quality(",q=").unwrap_or_default();
    Some(format!(
        "/image_filter({word},{w},{h}{quality})/{}",
        request.source
    ))
}

fn imgproxy(request: &Request<'_>) -> Option<String> {
    let word = match request.how {
        How::Nothing => None,
        How::Fit => Some("fit"),
        How::Cover => Some("fill"),
        How::Exact => Some("force"),
    };
    let words = [
        word.map(|word| {
            format!(
                "rs:{word}:{}:{}:{}",
                request.w,
                request.h,
                u8::from(request.enlarge)
            )
        }),
        request.quality("q:"),
        Some(format!("plain/local:///{}", request.source)),
    ];
    let extension = request.short_format("@").unwrap_or_default();
    Some(format!("/unsafe/{}{extension}", Request::join(words, "/")))
}

fn thumbor(request: &Request<'_>) -> Option<String> {
    let filters = [
        request.quality.map(|quality| format!("quality({quality})")),
        request.format.map(|format| format!("format({format})")),
        (request.how == How::Exact).then(|| "stretch()".to_owned()),
        (request.how != How::Fit && !request.enlarge).then(|| "no_upscale()".to_owned()),
        (request.how == How::Fit && request.enlarge).then(|| "upscale()".to_owned()),
    ];
    let filters = Request::join(filters, ":");
    let words = [
        (request.how == How::Fit && request.w > 0 && request.h > 0).then(|| "fit-in".to_owned()),
        (request.how != How::Nothing).then(|| format!("{}x{}", request.w, request.h)),
        (!filters.is_empty()).then(|| format!("filters:{filters}")),
        Some(request.source.clone()),
    ];
    Some(format!("/unsafe/{}", Request::join(words, "/")))
}

fn iiif(request: &Request<'_>) -> Option<String> {
    if request.quality.is_some() {
        return None;
    }
    let [w, h] = request.sides("");
    let size = match (request.how, request.w > 0 && request.h > 0) {
        (How::Nothing, _) => "max".to_owned(),
        (How::Fit, true) => format!("!{w},{h}"),
        (How::Fit, false) | (How::Exact, _) => format!("{w},{h}"),
        (How::Cover, _) => return None,
    };
    let enlarge = if request.enlarge { "^" } else { "" };
    let extension = request.short_format("").unwrap_or("jpg".to_owned());
    let source = request.source.replace('/', "%2F");
    Some(format!(
        "/iiif/3/{source}/full/{enlarge}{size}/0/default.{extension}"
    ))
}

fn weserv(request: &Request<'_>) -> Option<String> {
    let fit = match request.how {
        How::Nothing | How::Fit => "",
        How::Cover => "fit=cover",
        How::Exact => "fit=fill",
    };
    let words = [
        Some(format!("url=/{}", request.source)),
        Request::side("w=", request.w),
        Request::side("h=", request.h),
        (!fit.is_empty()).then(|| fit.to_owned()),
        (!request.enlarge).then(|| "we".to_owned()),
        request.quality("q="),
        request.short_format("output="),
    ];
    Some(format!("/?{}", Request::join(words, "&")))
}

fn imgix(request: &Request<'_>) -> Option<String> {
    let fit = match (request.how, request.enlarge) {
        (How::Nothing, _) | (How::Fit, true) => "",
        (How::Fit, false) => "fit=max",
        (How::Cover, _) => "fit=crop",
        (How::Exact, _) => "fit=scale",
    };
    let words = [
        Request::side("w=", request.w),
        Request::side("h=", request.h),
        (!fit.is_empty()).then(|| fit.to_owned()),
        request.quality("q="),
        request.short_format("fm="),
    ];
    Some(format!("/{}?{}", request.source, Request::join(words, "&")))
}

fn cloudflare(request: &Request<'_>) -> Option<String> {
    let fit = match (request.how, request.enlarge) {
        (How::Nothing, _) => return None,
        (How::Fit, false) => "scale-down",
        (How::Fit, true) => "contain",
        (How::Cover, true) => "cover",
        (How::Cover, false) => "crop",
        (How::Exact, _) => "squeeze",
    };
    let words = [
        Request::side("width=", request.w),
        Request::side("height=", request.h),
        Some(format!("fit={fit}")),
        request.quality("quality="),
        request.format("format="),
    ];
    Some(format!(
        "/cdn-cgi/image/{}/{}",
        Request::join(words, ","),
        request.source
    ))
}
