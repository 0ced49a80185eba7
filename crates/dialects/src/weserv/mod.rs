//! weserv's URLs, as of wsrv.nl: `/?url=trip/a.jpg&w=250&h=250`.
//!
//! Only an invalid source is refused. Any other parameter with an invalid value counts as absent. `query` parses the
//! URLs as weserv does, and `rules` has weserv's arithmetic.

mod config;
mod form;
mod options;
mod query;
mod rules;
mod spell;

use std::sync::Arc;

use andon_recipe::Recipe;
use serde_json::json;

pub use config::WeservConfig;

use self::options::OPTIONS;
use self::query::Query;
use self::rules::WeservRules;
use crate::dialect::{Dialect, Target};
use crate::document::{About, Document, Part};
use crate::errors::{ErrorStyle, Errors, Fault, Told};
use crate::options::MOST_NOTES;
use crate::percent;
use crate::refusal::{Refusal, shorten};
use crate::request::{AnswerStyle, Ask, Fallback, ImageRequest, Redirect, Source};

#[derive(Debug)]
struct Weserv {
    /// Prefix of the dialect's URLs, without a trailing slash.
    prefix: String,
}

impl Dialect for Weserv {
    fn example(&self, path: &str) -> String {
        format!("{}/?url={path}&w=250&h=250", self.prefix)
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&WeservErrors)
    }

    fn source_patterns(&self) -> Vec<String> {
        vec![format!(
            "{}/?[?](?:[^&]*&)*url=/*([^&]*)",
            regex::escape(&self.prefix)
        )]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let is_below = target.path == self.prefix || target.below(&self.prefix).is_some();
        let Some(query) = target.query.filter(|_| is_below) else {
            return Ok(None);
        };
        let Some(url) = answer(query, "url") else {
            return Ok(None);
        };
        let default = answer(query, "default");
        let source = match (read_source(url), default.and_then(location)) {
            (Ok(source), _) => source,
            (Err(_), Some(to)) => {
                let ask = Ask::Redirect(Redirect { to, status: 302 });
                let none = ImageRequest::file(Source::from_path(""));
                return Ok(Some(ImageRequest { ask, ..none }));
            }
            (Err(refusal), None) => return Err(refusal),
        };
        let mut notes = Vec::new();
        let values = Query::read(query, |key| {
            if notes.len() < MOST_NOTES {
                let key = shorten(key);
                notes.push(format!("{key}: there is no such parameter; it is ignored"));
            }
        });
        notes.extend(notes_on_unsupported(&values, query));
        let ask = match (values.text("output"), answer(query, "encoding")) {
            (Some("json"), _) => Ask::Describe(Arc::new(Json::of(&values))),
            (_, Some("base64")) => Ask::Describe(Arc::new(DataUri)),
            _ => Ask::Image,
        };
        Ok(Some(ImageRequest {
            ask,
            notes,
            style: AnswerStyle {
                fallback: fallback(default, &source),
                headers: headers(query, &values, &source),
                max_age: Some(answer(query, "maxage").and_then(max_age).unwrap_or(YEAR)),
                ..AnswerStyle::default()
            },
            ..ImageRequest::image(source, WeservRules::new(values))
        }))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let encoding = match &request.ask {
            Ask::Image => "",
            Ask::Describe(document) if document.name() == DataUri.name() => "&encoding=base64",
            Ask::Describe(_) => "",
            _ => return None,
        };
        let text = request.rules.text();
        let (query, _) = text.strip_prefix("weserv(")?.rsplit_once(';')?;
        let source = match &request.source {
            Source::Url(url) => url.clone(),
            path => format!("/{}", path.literal()),
        };
        let source = percent::encode(&source, "/")
            .replace('&', "%26")
            .replace('+', "%2B");
        let separator = if query.is_empty() { "" } else { "&" };
        Some(format!(
            "{}/?url={source}{separator}{query}{encoding}",
            self.prefix
        ))
    }
}

const DAY: u64 = 24 * 60 * 60;
const YEAR: u64 = 365 * DAY;

/// Returns the first raw value of a key that concerns the response. Its current name takes precedence over the
/// deprecated one.
fn answer<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    let value = |name: &&str| {
        let mut pairs = query.split('&').filter_map(|piece| piece.split_once('='));
        pairs.find_map(|(key, value)| (key == *name).then_some(value))
    };
    OPTIONS.named(key)?.names.iter().find_map(value)
}

/// Returns the headers of a response: file name, and a link to the URL of the source.
fn headers(query: &str, values: &Query, source: &Source) -> Vec<(&'static str, String)> {
    let extension = values.text("output").filter(|format| *format != "origin");
    let extension = extension.or_else(|| extension_of(source)).unwrap_or("jpg");
    let is_plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let name = answer(query, "filename").filter(|name| (1..=78).contains(&name.len()));
    let name = name.filter(is_plain).unwrap_or("image");
    let disposition = format!("inline; filename={name}.{extension}");
    let mut headers = vec![("content-disposition", disposition)];
    if let Source::Url(url) = source {
        let link = format!("<{}>; rel=\"canonical\"", percent::encode(url, "/?%"));
        headers.push(("link", link));
    }
    headers
}

/// Returns notes about known parameters that are not supported.
fn notes_on_unsupported(values: &Query, query: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if answer(query, "encoding").is_some_and(|encoding| encoding != "base64") {
        notes.push("encoding: `base64` is the only one; it is ignored".to_owned());
    }
    notes.extend(OPTIONS.ignored(values.values()));
    if values.int("page") == Some(-2) {
        notes.push("page: sizes of pages are not compared; the first one is shown".to_owned());
    }
    notes
}

/// Parses a number of seconds, or of days, weeks, months or years (`d`, `w`, `M`, `y`), and returns seconds; `None`
/// unless it is from a day to a year.
fn max_age(text: &str) -> Option<u64> {
    let (number, unit) = match text.char_indices().last()? {
        (end, 'd') => (&text[..end], DAY),
        (end, 'w') => (&text[..end], 7 * DAY),
        (end, 'M') => (&text[..end], 31 * DAY),
        (end, 'y') => (&text[..end], YEAR),
        _ => (text, 1),
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
    (DAY..=YEAR).contains(&seconds).then_some(seconds)
}

/// Parses a source: a URL, which needs no scheme if it begins with a host, or a path.
///
/// # Errors
/// weserv's message about a text that is neither.
fn read_source(raw: &str) -> Result<Source, Refusal> {
    let url = percent::decode(raw)?;
    let refusal = || Refusal::new(&url, "Unable to parse URI");
    if url.is_empty() || url.contains(char::is_control) {
        return Err(refusal());
    }
    if let Some(rest) = url.strip_prefix("ssl:") {
        return Ok(Source::Url(format!(
            "https://{}",
            rest.trim_start_matches('/')
        )));
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        let is_http = ["http", "https"]
            .iter()
            .any(|name| scheme.eq_ignore_ascii_case(name));
        return match is_http && !rest.is_empty() && !rest.starts_with('/') {
            true => Ok(Source::Url(format!(
                "{}://{rest}",
                scheme.to_ascii_lowercase()
            ))),
            false => Err(refusal()),
        };
    }
    if url.contains('\\') {
        return Err(refusal());
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

/// Returns the redirect if the image is not available: to the URL in `default`, or to the image's own URL if that is
/// `1`.
fn fallback(default: Option<&str>, source: &Source) -> Option<Fallback> {
    let to = match (default?, source) {
        ("1", Source::Url(url)) => percent::encode(url, "/?%"),
        (url, _) => location(url)?,
    };
    Some(Fallback::Redirect(to))
}

/// Returns a URL as the value of a `Location` header; `None` for a path.
fn location(raw: &str) -> Option<String> {
    let Source::Url(url) = read_source(raw).ok()? else {
        return None;
    };
    let (_, rest) = url.split_once("://")?;
    // A URL without a path gets the path `/`.
    let slash = if rest.contains(['/', '?']) { "" } else { "/" };
    Some(format!("{}{slash}", percent::encode(&url, "/?")))
}

fn extension_of(source: &Source) -> Option<&str> {
    let name = source.as_str().rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    let plain = extension.len() <= 5 && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then_some(extension)
}

/// A JSON document about the resulting image.
#[derive(Debug)]
struct Json {
    /// How often an animation is played; 0: forever; `None`: the URL does not say, and the document says nothing.
    repeats: Option<i32>,
    /// Delays of the frames in ms: one for all frames, or one for each.
    delays: Vec<i32>,
}

impl Json {
    fn of(query: &Query) -> Self {
        let delays = query.ints("delay");
        Self {
            repeats: query.int("loop").filter(|times| *times >= 0),
            delays: match delays.iter().all(|delay| *delay >= 0) {
                true => delays,
                false => Vec::new(),
            },
        }
    }
}

impl Document for Json {
    fn name(&self) -> String {
        match self.repeats.is_none() && self.delays.is_empty() {
            true => "weserv".to_owned(),
            false => format!("weserv {:?} {:?}", self.repeats, self.delays),
        }
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let (source, result) = (&about.source, &about.result);
        let gray = source.colour == "gray";
        let channels = if gray { 1 } else { 3 } + u32::from(source.alpha);
        // The service reports the names of libvips' loaders.
        let format = match source.format {
            "avif" | "heic" => "heif",
            "ico" | "bmp" | "psd" => "magick",
            format => format,
        };
        // libvips stores the pages of an animation one below the other.
        let moves = source.frames > 1 && about.recipe.output.frame.is_none();
        let pages = if moves { u64::from(source.frames) } else { 1 };
        let mut facts = json!({
            "format": format,
            "width": result.width,
            "height": u64::from(result.height) * pages,
            "pageHeight": result.height,
            "space": if gray { "b-w" } else { "srgb" },
            "channels": channels,
            "depth": if source.depth > 8 { "ushort" } else { "uchar" },
            "isProgressive": about.recipe.output.progressive,
            "pages": source.frames,
            "hasProfile": false,
            "hasAlpha": source.alpha,
            "orientation": 0,
        });
        if let Some(times) = self.repeats {
            facts["loop"] = times.into();
        }
        match self.delays[..] {
            [] => {}
            [delay] => facts["delay"] = vec![delay; pages as usize].into(),
            ref delays => facts["delay"] = delays.into(),
        }
        facts.to_string()
    }
}

/// A text document with the result as a data URI.
#[derive(Debug)]
struct DataUri;

impl Document for DataUri {
    fn name(&self) -> String {
        "data URI".to_owned()
    }

    fn media_type(&self) -> &'static str {
        "text/plain"
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn parts(&self, recipe: &Recipe) -> Vec<Recipe> {
        vec![recipe.clone()]
    }

    fn write(&self, about: &About<'_>) -> String {
        about.parts.iter().map(Part::data_uri).collect()
    }
}

/// Error style of weserv: JSON, with status 404 for every problem with the source.
#[derive(Debug)]
struct WeservErrors;

impl Errors for WeservErrors {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Missing
            | Fault::NotImage
            | Fault::Damaged
            | Fault::Origin
            | Fault::Source
            | Fault::Late => 404,
            Fault::Url | Fault::Unsupported | Fault::Limit => 400,
            _ => default,
        }
    }

    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let Told {
            status, sentence, ..
        } = *error;
        let body = json!({ "status": "error", "code": status, "message": sentence });
        Some(("application/json", body.to_string()))
    }
}

#[cfg(test)]
mod tests;
