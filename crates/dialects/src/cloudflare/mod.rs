//! Cloudflare's URLs: `/cdn-cgi/image/width=250,height=250/trip/a.jpg`.
//!
//! The service is closed source: sizes and defaults follow its documentation. As in Cloudflare, an unknown or invalid
//! option is an error.

mod config;
mod draw;
mod form;
mod options;
mod rules;
mod spell;

use std::sync::Arc;

use serde_json::json;

pub use config::CloudflareConfig;

use self::options::OPTIONS;
use self::rules::CloudflareRules;
use crate::dialect::{Dialect, Target};
use crate::document::{About, Document};
use crate::errors::{ErrorStyle, Errors, Fault, Told};
use crate::geometry::FACES;
use crate::options::Values;
use crate::percent;
use crate::refusal::Refusal;
use crate::request::{AnswerStyle, Ask, Fallback, ImageRequest, Source};

#[derive(Debug)]
struct Cloudflare {
    /// URL prefix without its trailing slash.
    prefix: String,
}

impl Dialect for Cloudflare {
    fn example(&self, path: &str) -> String {
        format!("{}/width=250,height=250{path}", self.prefix)
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&CloudflareErrors)
    }

    fn source_patterns(&self) -> Vec<String> {
        vec![format!("{}/[^/?]+/+([^?]*)", regex::escape(&self.prefix))]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let Some(rest) = target.below(&self.prefix) else {
            return Ok(None);
        };
        if target
            .header("via")
            .is_some_and(|via| via.contains("image-resizing"))
        {
            let why = "it came from a resizer already, which asks for its own result";
            return Err(Refusal::new(target.path, why));
        }
        let (segment, source) = rest.split_once('/').unwrap_or((rest, ""));
        let mut options = options::read(segment)?;
        let slow = "slow-connection-quality";
        if options.has(slow)
            && is_slow(target)
            && let Some((quality, row)) = options.remove(slow).zip(OPTIONS.named("quality"))
        {
            options.replace(row, quality);
        }
        let drawings = options.text("draw").map(draw::read).transpose()?;
        let drawings = drawings.unwrap_or_default();
        let source = read_source(source, target.query)?;
        if source.as_str().is_empty() {
            let why = format!(
                "no source follows the options: it must be `{}/OPTIONS/SOURCE`",
                self.prefix
            );
            return Err(Refusal::new(target.path, why));
        }
        let ask = match options.text("format") {
            Some("json") => Ask::Describe(Arc::new(Json)),
            _ => Ask::Image,
        };
        let mut notes = notes_on_unsupported(&options);
        let fallback = match (options.text("onerror"), &source) {
            (Some(_), Source::Url(url)) => Some(Fallback::Redirect(percent::encode(url, "/?%"))),
            (Some(_), Source::Path(_) | Source::Escaped(_)) => {
                notes.push("onerror: a path has no other place to redirect to".to_owned());
                None
            }
            (None, _) => None,
        };
        Ok(Some(ImageRequest {
            ask,
            notes,
            style: AnswerStyle {
                fallback,
                ..AnswerStyle::default()
            },
            ..ImageRequest::image(source, CloudflareRules::new(options, drawings))
        }))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let (options, _) = text.strip_prefix("cloudflare(")?.rsplit_once(';')?;
        let source = &request.source;
        let source = source
            .escaped()
            .unwrap_or_else(|| percent::encode(source.as_str(), "/?%").into());
        let is_image = matches!(request.ask, Ask::Image | Ask::Describe(_));
        is_image.then(|| format!("{}/{options}/{source}", self.prefix))
    }
}

/// Whether client hints report a slow connection. All hints are read, even after a match, so that each is recorded as a
/// header on which the response depends.
fn is_slow(target: &Target<'_>) -> bool {
    let number = |name| target.header(name)?.trim().parse::<f64>().ok();
    let word = |name, words: &[&str]| {
        let value = target.header(name);
        value.is_some_and(|value| words.contains(&value.trim().to_ascii_lowercase().as_str()))
    };
    [
        number("rtt").is_some_and(|milliseconds| milliseconds > 150.0),
        word("save-data", &["on"]),
        word("ect", &["slow-2g", "2g", "3g"]),
        number("downlink").is_some_and(|megabits| megabits < 5.0),
    ]
    .contains(&true)
}

/// Reads a path, or an absolute URL. The target's query then belongs to the URL.
fn read_source(raw: &str, query: Option<&str>) -> Result<Source, Refusal> {
    Ok(match (Source::path_or_url(raw)?, query) {
        (Source::Url(url), Some(query)) => Source::Url(format!("{url}?{query}")),
        (source, _) => source,
    })
}

/// Returns notes on option values that are recognized but not supported.
fn notes_on_unsupported(options: &Values) -> Vec<String> {
    let mut notes = OPTIONS.unsupported_words(options);
    if options.text("gravity") == Some("face") && !FACES {
        notes.push("gravity: faces are not looked for; what draws the eye is kept".to_owned());
    }
    notes.extend(OPTIONS.ignored(options));
    notes
}

/// JSON document with the sizes of the result and of the source, for `format=json`.
#[derive(Debug)]
struct Json;

impl Document for Json {
    fn name(&self) -> String {
        "cloudflare".to_owned()
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let (source, result) = (&about.source, &about.result);
        json!({
            "width": result.width,
            "height": result.height,
            "original": {
                "file_size": source.bytes,
                "width": source.width,
                "height": source.height,
                "format": format!("image/{}", source.format),
            },
        })
        .to_string()
    }
}

/// Error style of Cloudflare, with Cloudflare's error numbers, in the body and in the header `Cf-Resized`.
#[derive(Debug)]
struct CloudflareErrors;

impl Errors for CloudflareErrors {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Url => 400,
            Fault::Missing => 404,
            Fault::NotImage | Fault::Unsupported => 415,
            Fault::Limit => 413,
            Fault::Damaged => 422,
            Fault::Origin => 502,
            _ => default,
        }
    }

    fn mark(&self, status: u16) -> Option<(&'static str, String)> {
        Some(("cf-resized", format!("err={}", number(status))))
    }

    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let Told {
            status, sentence, ..
        } = *error;
        let text = format!("ERROR {}: {sentence}\n", number(status));
        Some(("text/plain; charset=utf-8", text))
    }
}

/// Returns Cloudflare's error number for an HTTP status.
fn number(status: u16) -> u16 {
    match status {
        400 => 9401,
        404 => 9404,
        413 => 9402,
        415 => 9412,
        422 => 9523,
        502 => 9504,
        _ => 9522,
    }
}

#[cfg(test)]
mod tests;
