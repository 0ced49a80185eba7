//! URLs of Astro's image endpoint: `/_image?href=/trip/a.jpg&w=250&h=250`.
//!
//! Parameters act as in Astro 6.0 with its sharp service, and values that sharp refuses are errors.

mod config;
mod drawing;
mod form;
mod options;
mod remote;
mod spell;

use std::borrow::Cow;

pub use config::{AstroConfig, Endpoint};

use self::drawing::DrawingRules;
use self::options::OPTIONS;
use self::remote::{Remote, is_remote};
use crate::dialect::{Dialect, Target};
use crate::errors::{ErrorStyle, Errors, Fault, Told};
use crate::options::{MOST_NOTES, Values};
use crate::percent;
use crate::refusal::{Refusal, shorten};
use crate::request::{AnswerStyle, Ask, ImageRequest, Source};
use crate::sharp::{self, Encoding, Fit, Format, Pipeline, Position, Resize, SharpRules, Upright};

#[derive(Debug)]
struct Astro {
    /// Path of the endpoint, without a trailing slash.
    prefix: String,
    endpoint: Endpoint,
    remote: Remote,
}

/// Name of the dialect, with which the canonical text of its rules ([`Rules::text`](andon_recipe::Rules::text)) begins.
const NAME: &str = "astro";

/// For how many seconds clients may cache a result: a year.
const YEAR: u64 = 31_536_000;

impl Dialect for Astro {
    fn example(&self, path: &str) -> String {
        // The path becomes a URL within a query, which is decoded twice.
        let href = path.replace('%', "%25");
        format!("{}?href={href}&w=250&h=250", self.prefix)
    }

    fn errors(&self) -> ErrorStyle {
        match self.endpoint {
            Endpoint::Generic => ErrorStyle(&Generic),
            Endpoint::Node => ErrorStyle(&Node),
        }
    }

    fn source_patterns(&self) -> Vec<String> {
        vec![format!(
            "{}/?[?](?:[^&]*&)*href=(?:/|%2F)*([^&]*)",
            regex::escape(&self.prefix)
        )]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let path = target.path;
        if path != self.prefix && path.strip_suffix('/') != Some(&self.prefix) {
            return Ok(None);
        }
        let query = target.query.unwrap_or_default();
        // At the root, a query without a source belongs to a page.
        if self.prefix.is_empty() && !query.split('&').any(|pair| pair.starts_with("href=")) {
            return Ok(None);
        }
        let mut notes = Vec::new();
        let values = read(query, &mut notes)?;
        let href = values.text("href").unwrap_or_default();
        if href.is_empty() {
            let why = "no source is named; it must be `?href=/PATH`, or a URL in its place";
            return Err(Refusal::new(target.whole, why));
        }
        let source = self.source(href)?;
        let style = AnswerStyle {
            exact: true,
            max_age: Some(YEAR),
            lifetime: "public, max-age={}",
            ..AnswerStyle::default()
        };
        let request = match values.text("f") {
            Some("svg") => ImageRequest::image(source, DrawingRules::default()),
            _ => {
                let refusal = |why| Refusal::of(Fault::Unsupported, query, why);
                ImageRequest::image(source, rules(values).map_err(refusal)?)
            }
        };
        Ok(Some(ImageRequest {
            notes,
            style,
            ..request
        }))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let source = match &request.source {
            Source::Url(url) => url.clone(),
            path => format!("/{}", path.escaped()?),
        };
        let source = encode_value(&source);
        match request.ask {
            Ask::Image if text == drawing::TEXT => {
                Some(format!("{}?href={source}&f=svg", self.prefix))
            }
            Ask::Image => {
                let options = sharp::options_of(NAME, &text)?;
                let separator = if options.is_empty() { "" } else { "&" };
                Some(format!("{}?href={source}{separator}{options}", self.prefix))
            }
            _ => None,
        }
    }
}

impl Astro {
    /// Reads a source: a path, or an absolute URL that `domains` or `remote_patterns` of the configuration permit.
    fn source(&self, href: &str) -> Result<Source, Refusal> {
        let refusal = |why: &str| Refusal::of(Fault::Source, href, why);
        if is_remote(href) {
            let url = self.remote.url_of(href);
            let why = "`domains` and `remote_patterns` of `[astro]` list URLs that may be named";
            return url.map(Source::Url).ok_or_else(|| refusal(why));
        }
        // Frameworks append a query to a path only to tell versions of the file apart.
        let path = href.split(['?', '#']).next().unwrap_or_default();
        let scheme = path.split('/').next().unwrap_or_default();
        if scheme.contains(':') {
            return Err(refusal("a source is a path or an http URL"));
        }
        let (base, _) = self.prefix.rsplit_once('/').unwrap_or_default();
        let rest = path.strip_prefix(base).filter(|rest| rest.starts_with('/'));
        let is_below = self.endpoint == Endpoint::Node && !base.is_empty();
        let path = rest.filter(|_| is_below).unwrap_or(path);
        if self.endpoint == Endpoint::Node && !path.starts_with('/') {
            let why = "a path begins with a slash";
            return Err(Refusal::of(Fault::Missing, href, why));
        }
        Source::from_raw(path.strip_prefix("./").unwrap_or(path))
    }
}

/// Parses a query into decoded values. The first value of each key counts. Unknown keys are noted.
fn read(query: &str, notes: &mut Vec<String>) -> Result<Values, Refusal> {
    let mut values = Values::default();
    for piece in query.split('&').filter(|piece| !piece.is_empty()) {
        let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
        let key = percent::decode(key)?;
        match OPTIONS.named(&key) {
            Some(row) => values.add(row, percent::decode(&value.replace('+', " "))?),
            None if notes.len() < MOST_NOTES => {
                let key = shorten(&key);
                notes.push(format!("{key}: there is no such parameter; it is ignored"));
            }
            None => {}
        }
    }
    Ok(values)
}

/// Returns the rules that the parameters stand for.
///
/// # Errors
/// sharp's message about a value that it refuses.
fn rules(mut values: Values) -> Result<SharpRules, String> {
    values.remove("href");
    let resize = resize(&values)?;
    let value = |name| values.text(name).filter(|text| !text.is_empty());
    let ground = value("background").map(sharp::colour).transpose()?;
    let format = value("f").map(format).transpose()?;
    let quality = value("q").filter(|_| format.is_some());
    let encoding = Encoding {
        quality: quality.map(quality_of).transpose()?.flatten(),
        ..Encoding::default()
    };
    let pipeline = Pipeline {
        upright: Some(Upright::First),
        resize,
        ground,
        ..Pipeline::default()
    };
    let options = values.canonical("&", encode_value);
    Ok(SharpRules::new(NAME, options, pipeline, encoding, format))
}

/// Returns the box that `w` and `h` describe, and how the image is fitted to it.
///
/// # Errors
/// sharp's message about a side or a position that it refuses.
fn resize(values: &Values) -> Result<Resize, String> {
    let side = |key, name| {
        let number = values.text(key).and_then(whole).filter(|side| *side != 0.0);
        let Some(number) = number else {
            return Ok(None);
        };
        // `as` saturates, which is harmless, because images are never enlarged.
        let side = Some(number as u32).filter(|_| number > 0.0);
        let text = number.to_string();
        let message = || sharp::expected("positive integer", name, &text, "number");
        side.map(Some).ok_or_else(message)
    };
    let mut resize = Resize {
        width: side("w", "width")?,
        height: side("h", "height")?,
        enlarge: false,
        ..Resize::default()
    };
    if resize.width.is_some() && resize.height.is_some() {
        resize.fit = match values.text("fit").filter(|fit| !fit.is_empty()) {
            None | Some("cover") => Fit::Cover,
            Some("fill") => Fit::Fill,
            Some("outside" | "none") => Fit::Outside,
            Some(_) => Fit::Inside,
        };
        let position = values.text("position").map(Position::named).transpose()?;
        resize.position = position.unwrap_or(resize.position);
    }
    Ok(resize)
}

/// Returns the engine's name of a format.
///
/// # Errors
/// sharp's message about a format that it cannot write.
fn format(name: &str) -> Result<&'static str, String> {
    if ["heif", "heic"].contains(&name) {
        return Err(sharp::no_heif());
    }
    Format::named(name).ok_or_else(|| {
        let what = "one of: avif, jpeg, jpg, png, tiff, webp, gif";
        sharp::expected(what, "format", name, "string")
    })
}

/// Reads a quality: the number that the text begins with, or a word; `None` for any other text.
///
/// # Errors
/// sharp's message about a number that is not from 1 to 100.
fn quality_of(text: &str) -> Result<Option<u8>, String> {
    Ok(match (whole(text), text) {
        (Some(number), _) => Some(sharp::quality(Some(number), &number.to_string(), "number")?),
        (None, "low") => Some(25),
        (None, "mid") => Some(50),
        (None, "high") => Some(80),
        (None, "max") => Some(100),
        (None, _) => None,
    })
}

/// Returns the whole number that a text begins with: decimal, or hexadecimal after `0x`.
fn whole(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let hex = unsigned
        .strip_prefix("0x")
        .or_else(|| unsigned.strip_prefix("0X"));
    let (base, digits) = hex.map_or((10, unsigned), |digits| (16, digits));
    let digits = digits.chars().map_while(|digit| digit.to_digit(base));
    let number = digits
        .map(f64::from)
        .reduce(|number, digit| number * f64::from(base) + digit)?;
    Some(if text.starts_with('-') {
        -number
    } else {
        number
    })
}

/// Percent-encodes a value of the query.
fn encode_value(value: &str) -> String {
    let text: Cow<'_, str> = percent::encode(value, "/").into();
    text.replace('&', "%26")
        .replace('+', "%2B")
        .replace(';', "%3B")
}

/// Error style of Astro's generic image endpoint.
#[derive(Debug)]
struct Generic;

impl Errors for Generic {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Missing | Fault::Origin => 404,
            fault => status(fault, default),
        }
    }

    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let Told {
            status, sentence, ..
        } = *error;
        text(status, || format!("Server Error: Error: {sentence}"))
    }
}

/// Error style of the image endpoint of Astro's Node adapter, whose messages do not say what is wrong.
#[derive(Debug)]
struct Node;

impl Errors for Node {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Url => 400,
            Fault::Missing | Fault::Origin => 500,
            fault => status(fault, default),
        }
    }

    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let status = error.status;
        text(status, || "Internal Server Error".to_owned())
    }
}

fn status(fault: Fault, default: u16) -> u16 {
    match fault {
        Fault::Source => 403,
        Fault::Url | Fault::NotImage | Fault::Damaged | Fault::Unsupported => 500,
        _ => default,
    }
}

/// Returns media type and text of an error's body; `None` for a status that the endpoints do not have. `broken` makes
/// the text for an image that cannot be processed.
fn text(status: u16, broken: impl Fn() -> String) -> Option<(&'static str, String)> {
    let text = match status {
        400 => "Invalid request".to_owned(),
        403 => "Forbidden".to_owned(),
        404 => "Not Found".to_owned(),
        500 => broken(),
        _ => return None,
    };
    Some(("text/plain;charset=UTF-8", text))
}

#[cfg(test)]
mod tests;
