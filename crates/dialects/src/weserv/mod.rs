//! weserv's URLs, as of wsrv.nl: `/?url=trip/a.jpg&w=250&h=250`.
//!
//! Nothing in them is refused but a source that is none: a value that cannot be is as if it were not there. `query` reads
//! them as the service does, `rules` has its arithmetic.

mod config;
mod query;
mod rules;

use std::sync::Arc;

use serde_json::json;

pub use config::WeservConfig;

use self::query::Query;
use self::rules::WeservRules;
use crate::dialect::{Dialect, Refusal, Target};
use crate::document::{About, Document};
use crate::errors::{ErrorStyle, Errors, Fault};
use crate::percent;
use crate::request::{AnswerStyle, Ask, Fallback, ImageRequest, Source};

#[derive(Debug)]
struct Weserv {
    /// Without its last slash.
    prefix: String,
}

impl Dialect for Weserv {
    fn example(&self) -> String {
        format!("{}/?url={}&w=250&h=250", self.prefix, crate::EXAMPLE_SOURCE)
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&WeservErrors)
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let is_below = target.path == self.prefix || target.below(&self.prefix).is_some();
        let Some(query) = target.query.filter(|_| is_below) else {
            return Ok(None);
        };
        let about = |key: &str| {
            let mut pieces = query.split('&').filter_map(|piece| piece.split_once('='));
            pieces.find_map(|(known, value)| (known == key).then_some(value))
        };
        let Some(url) = about("url") else {
            return Ok(None);
        };
        let source = read_source(url)?;
        let mut notes = Vec::new();
        let read = Query::read(query, |key| {
            if notes.len() < MOST_NOTES {
                let key = crate::dialect::shorten(key);
                notes.push(format!("{key}: there is no such parameter; it is ignored"));
            }
        });
        notes.extend(left_out(&read, about));
        let mut headers = Vec::new();
        let extension = read.text("output").filter(|format| *format != "origin");
        let extension = extension.or_else(|| extension_of(&source)).unwrap_or("jpg");
        let name = about("filename").filter(|name| {
            (1..=78).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let name = name.unwrap_or("image");
        let disposition = format!("inline; filename={name}.{extension}");
        headers.push(("content-disposition", disposition));
        if let Source::Url(url) = &source {
            headers.push((
                "link",
                format!("<{}>; rel=\"canonical\"", percent::encode(url, "/?")),
            ));
        }
        let ask = match read.text("output") {
            Some("json") => Ask::Describe(Arc::new(Json)),
            _ => Ask::Picture,
        };
        Ok(Some(ImageRequest {
            ask,
            notes,
            style: AnswerStyle {
                fallback: fallback(about("default"), &source),
                headers,
                max_age: Some(about("maxage").and_then(max_age).unwrap_or(YEAR)),
                ..AnswerStyle::default()
            },
            ..ImageRequest::picture(source, WeservRules::new(read))
        }))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let (query, _) = text.strip_prefix("weserv(")?.rsplit_once(';')?;
        let source = match &request.source {
            Source::Path(path) => format!("/{path}"),
            Source::Url(url) => url.clone(),
        };
        let source = percent::encode(&source, "/")
            .replace('&', "%26")
            .replace('+', "%2B");
        let separator = if query.is_empty() { "" } else { "&" };
        let written = matches!(request.ask, Ask::Picture | Ask::Describe(_));
        written.then(|| format!("{}/?url={source}{separator}{query}", self.prefix))
    }
}

const MOST_NOTES: usize = 8;

const DAY: u64 = 24 * 60 * 60;
const YEAR: u64 = 365 * DAY;

/// What is known, but not done.
fn left_out<'a>(query: &Query, about: impl Fn(&str) -> Option<&'a str>) -> Vec<String> {
    let mut notes = Vec::new();
    if about("encoding").is_some() {
        notes.push("encoding: it is not supported; it is ignored".to_owned());
    }
    for key in ["loop", "delay"] {
        if query.has(key) {
            notes.push(format!("{key}: it is not supported; it is ignored"));
        }
    }
    notes
}

/// Seconds, or a number of days, weeks, months or years; at least a day.
fn max_age(text: &str) -> Option<u64> {
    let (number, unit) = match text.char_indices().last()? {
        (end, 'd') => (&text[..end], DAY),
        (end, 'w') => (&text[..end], 7 * DAY),
        (end, 'M') => (&text[..end], 31 * DAY),
        (end, 'y') => (&text[..end], YEAR),
        _ => (text, 1),
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (DAY..=YEAR * 10).contains(&seconds).then_some(seconds)
}

/// A URL; without a scheme what begins with a host, and otherwise a path.
fn read_source(raw: &str) -> Result<Source, Refusal> {
    let url = percent::decode(raw)?;
    let refused = || Refusal::new(&url, "Unable to parse URI");
    if url.is_empty() || url.contains(char::is_control) {
        return Err(refused());
    }
    if let Some(rest) = url.strip_prefix("ssl:") {
        return Ok(Source::Url(format!(
            "https://{}",
            rest.trim_start_matches('/')
        )));
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        let known = ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known));
        return match known && !rest.is_empty() && !rest.starts_with('/') {
            true => Ok(Source::Url(format!(
                "{}://{rest}",
                scheme.to_ascii_lowercase()
            ))),
            false => Err(refused()),
        };
    }
    let bare = url.strip_prefix("//");
    let begins_with_host = url
        .split_once('/')
        .is_some_and(|(host, _)| host.contains('.') && !host.starts_with('.'));
    Ok(match bare {
        Some(rest) => Source::Url(format!("http://{rest}")),
        None if begins_with_host => Source::Url(format!("http://{url}")),
        None => Source::from_path(&url),
    })
}

/// Where clients are sent if the image cannot be had: to a URL, or with `1` to its own.
fn fallback(default: Option<&str>, source: &Source) -> Option<Fallback> {
    let place = match default? {
        "1" => source.clone(),
        url => read_source(url).ok()?,
    };
    match place {
        Source::Url(url) => Some(Fallback::Redirect(percent::encode(&url, "/?"))),
        Source::Path(_) => None,
    }
}

fn extension_of(source: &Source) -> Option<&str> {
    let name = source.as_str().rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    let plain = extension.len() <= 5 && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then_some(extension)
}

/// What is made of the picture, as JSON.
#[derive(Debug)]
struct Json;

impl Document for Json {
    fn name(&self) -> String {
        "weserv".to_owned()
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let (source, result) = (&about.source, &about.result);
        let gray = source.colour == "gray";
        let channels = if gray { 1 } else { 3 } + u32::from(source.alpha);
        // libvips' names of what it reads.
        let format = match source.format {
            "avif" | "heic" => "heif",
            "ico" | "bmp" | "psd" => "magick",
            format => format,
        };
        // It holds the pages of an animation one below the other.
        let moves = source.frames > 1 && about.recipe.output.frame.is_none();
        let held = if moves { u64::from(source.frames) } else { 1 };
        json!({
            "format": format,
            "width": result.width,
            "height": u64::from(result.height) * held,
            "pageHeight": result.height,
            "space": if gray { "b-w" } else { "srgb" },
            "channels": channels,
            "depth": if source.depth > 8 { "ushort" } else { "uchar" },
            "isProgressive": about.recipe.output.progressive,
            "pages": source.frames,
            "hasProfile": false,
            "hasAlpha": source.alpha,
        })
        .to_string()
    }
}

/// As JSON; whatever is wrong with a source is a 404.
#[derive(Debug)]
struct WeservErrors;

impl Errors for WeservErrors {
    fn status(&self, fault: Fault, own: u16) -> u16 {
        match fault {
            Fault::Missing
            | Fault::NotImage
            | Fault::Damaged
            | Fault::Origin
            | Fault::Source
            | Fault::Late => 404,
            Fault::Url | Fault::Unsupported | Fault::Limit => 400,
            _ => own,
        }
    }

    fn body(&self, status: u16, sentence: &str) -> Option<(&'static str, String)> {
        let body = json!({ "status": "error", "code": status, "message": sentence });
        Some(("application/json", body.to_string()))
    }
}

#[cfg(test)]
mod tests;
