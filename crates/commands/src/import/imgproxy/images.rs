//! Imports imgproxy's own images: its watermark, and the fallback that it sends for images that cannot be loaded.

use std::path::Path;

use toml::Value;

use super::super::document::Document;
use super::super::values;
use super::super::variables::Parts;
use super::super::write::quoted;
use super::origins::{KINDS, Kind};

/// An image to which one of imgproxy's variables refers.
struct Image {
    variable: String,
    at: Location,
}

/// The location of an image.
enum Location {
    /// The path or URL of an image that an origin of the generated configuration serves.
    Origin(String),
    /// A URL that no origin of the generated configuration may fetch.
    Url(String),
    /// The path of a file in imgproxy's container.
    File(String),
    /// The variable contains the image itself, in base64.
    Data,
}

/// Prefix of the variables for the watermark.
const WATERMARK: &str = "IMGPROXY_WATERMARK_";
/// Prefix of the variables for the fallback image.
const FALLBACK: &str = "IMGPROXY_FALLBACK_IMAGE_";

/// Returns the URLs of the watermark and the fallback image, if they have any. imgproxy fetches them even if it does
/// not permit clients to use such sources.
pub(super) fn urls(parts: &Parts) -> impl Iterator<Item = &str> {
    let all = [WATERMARK, FALLBACK].into_iter();
    let named = all.filter_map(|start| named(parts, start));
    named.filter_map(|(what, value)| (what == URL).then_some(value))
}

const URL: &str = "URL";

/// Returns the suffix of the variable that sets an image, and the variable's value. `start` is the prefix of the
/// image's variables. Data takes precedence over a path, and a path over a URL.
fn named<'a>(parts: &'a Parts, start: &str) -> Option<(&'static str, &'a str)> {
    let mut all = ["DATA", "PATH", URL].into_iter();
    all.find_map(|what| Some((what, parts.text(&format!("{start}{what}"))?)))
}

/// Imports the watermark and the fallback image. The document must already have its origins.
pub(super) fn add(parts: &Parts, out: &mut Document) {
    watermark(parts, out);
    fallback(parts, out);
}

fn watermark(parts: &Parts, out: &mut Document) {
    const OPACITY: &str = "IMGPROXY_WATERMARK_OPACITY";
    let opacity = parts.put(OPACITY, share, out);
    let Some(image) = image(parts, WATERMARK, out) else {
        if parts.is_given(OPACITY) {
            let why =
                "`opacity` is of the image that `imgproxy.watermark` names, and none is named";
            parts.note(OPACITY, why, out);
        }
        return;
    };
    let mut lines = Vec::new();
    let file = match &image.at {
        Location::Origin(place) => {
            out.set("imgproxy.watermark.file", place.as_str());
            out.set_if("imgproxy.watermark.opacity", opacity);
            return;
        }
        Location::Url(url) => url,
        Location::File(path) => {
            let (folder, file) = split(path, "/watermarks");
            lines.extend(["[small_light]".to_owned(), setting("material_dir", folder)]);
            file
        }
        Location::Data => {
            let folder = setting("material_dir", "/watermarks");
            lines.extend(["[small_light]".to_owned(), folder]);
            "watermark.png"
        }
    };
    lines.extend(["[imgproxy.watermark]".to_owned(), setting("file", file)]);
    lines.extend(opacity.map(|opacity| format!("opacity = {opacity}")));
    parts.advise(&image.variable, &why(&image.at), lines, out);
}

fn fallback(parts: &Parts, out: &mut Document) {
    const TTL: &str = "IMGPROXY_FALLBACK_IMAGE_TTL";
    let Some(image) = image(parts, FALLBACK, out) else {
        return;
    };
    let status = parts.put("IMGPROXY_FALLBACK_IMAGE_HTTP_CODE", status, out);
    let ttl = parts.put(TTL, values::whole_seconds, out);
    let ttl = ttl.filter(|ttl| *ttl != Value::Integer(0));
    if ttl.is_none() {
        let why = "it is not set, and imgproxy then takes IMGPROXY_TTL: here clients keep the image for a minute, or for `ttl` of \
                   the [[fallback]]";
        parts.note(TTL, why, out);
    }
    let ttl = ttl.map(|seconds| Value::from(format!("{seconds}s")));
    let keys = |place: &str| {
        let image = ("image", Some(Value::from(place)));
        let all = [image, ("status", status.clone()), ("ttl", ttl.clone())];
        let pair = |(key, value): (&str, Option<Value>)| Some((key.to_owned(), value?));
        all.into_iter().filter_map(pair).collect::<Vec<_>>()
    };
    let mut lines = Vec::new();
    let place = match &image.at {
        Location::Origin(place) => return out.add_fallback(keys(place)),
        Location::Url(url) => url.clone(),
        Location::File(path) => {
            let (folder, file) = split(path, FALLBACKS);
            lines.extend(origin_at(folder));
            format!("{FALLBACKS}/{file}")
        }
        Location::Data => {
            lines.extend(origin_at(FALLBACKS));
            format!("{FALLBACKS}/fallback.png")
        }
    };
    lines.push("[[fallback]]".to_owned());
    let settings = keys(&place).into_iter();
    lines.extend(settings.map(|(key, value)| format!("{key} = {value}")));
    parts.advise(&image.variable, &why(&image.at), lines, out);
}

/// Prefix of the origin of a fallback that is a file, and the folder for that file if it has no folder of its own.
const FALLBACKS: &str = "/fallback";

/// Returns the image of the variables that begin with `start`, or `None` if none is set.
fn image(parts: &Parts, start: &str, out: &Document) -> Option<Image> {
    let (what, value) = named(parts, start)?;
    let root = parts.text("IMGPROXY_LOCAL_FILESYSTEM_ROOT");
    let below_root = |path: &str| {
        let rest = Path::new(path).strip_prefix(root?).ok()?;
        Some(format!("/{}", rest.to_str()?))
    };
    let at = match what {
        "DATA" => Location::Data,
        "PATH" => {
            let of_file = || Location::File(value.to_owned());
            below_root(value).map_or_else(of_file, Location::Origin)
        }
        _ => match value.strip_prefix("local://").filter(|_| root.is_some()) {
            Some(path) => Location::Origin(format!("/{}", path.trim_start_matches('/'))),
            None if out.serves(value) => Location::Origin(value.to_owned()),
            None => Location::Url(value.to_owned()),
        },
    };
    let variable = format!("{start}{what}");
    Some(Image { variable, at })
}

/// Returns why an image was not imported, as an introduction to the lines that would configure it.
fn why(at: &Location) -> String {
    match at {
        Location::Origin(_) => String::new(),
        Location::Url(url) => of_no_origin(url),
        Location::File(path) => {
            format!(
                "{path} is a file of imgproxy's container. Where this server has it, too, append these lines:"
            )
        }
        Location::Data => {
            "`base64 -d` makes a file of its value. Where this server has that, append these lines:"
                .to_owned()
        }
    }
}

/// Returns why no origin serves a URL, as an introduction to the lines that would configure the image. For an object in
/// a bucket it also says which variables let imgproxy read it.
fn of_no_origin(url: &str) -> String {
    let scheme = url.split("://").next().unwrap_or_default();
    let lacks = match KINDS.iter().find(|kind| kind.scheme == scheme) {
        Some(Kind { name, key, .. }) => format!(
            "imgproxy can read it only with IMGPROXY_USE_{name}, and if IMGPROXY_{name}_ALLOWED_BUCKETS lists its bucket. With an \
             [[origin]] that has the bucket in `{key}.buckets`"
        ),
        None => "no origin of this file has that URL. With an [[origin]] that has it".to_owned(),
    };
    format!("{lacks}, append these lines:")
}

/// Returns the lines of an origin that serves fallback images from a folder.
fn origin_at(folder: &str) -> [String; 3] {
    let prefix = setting("prefix", FALLBACKS);
    ["[[origin]]".to_owned(), prefix, setting("fs.root", folder)]
}

fn setting(key: &str, text: &str) -> String {
    format!("{key} = {}", quoted(text))
}

/// Splits the path of a file into folder and name. A file in the root folder, or without a folder, is assigned to
/// `folder`.
fn split<'a>(path: &'a str, folder: &'a str) -> (&'a str, &'a str) {
    match path.rsplit_once('/') {
        Some((above, file)) if !above.is_empty() => (above, file),
        Some((_, file)) => (folder, file),
        None => (folder, path),
    }
}

/// Validates a number from 0 to 1.
fn share(value: &Value) -> Result<Value, String> {
    let text = value.as_str().unwrap_or_default();
    let number: Option<f64> = text.trim().parse().ok();
    match number.filter(|number| (0.0..=1.0).contains(number)) {
        Some(number) => Ok(Value::Float(number)),
        None => Err(format!("{value} is not from 0 to 1")),
    }
}

/// Validates the status of a fallback: 200, an error status, or 0 for the status of the original error.
fn status(value: &Value) -> Result<Value, String> {
    let number = values::number(value)?;
    match number.as_integer() {
        Some(0 | 200 | 400..=599) => Ok(number),
        _ => Err(format!(
            "{value}: `status` of a [[fallback]] is 200, that of an error, or 0"
        )),
    }
}
