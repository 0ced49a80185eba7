//! imgix's URLs: `/trip/a.jpg?w=250&h=250&fit=crop`.
//!
//! The service is closed source: sizes and defaults follow its documentation, and notes report what is ignored or done
//! differently. A path without a parameter of this dialect is a plain file, unless URLs are signed: then every path
//! belongs to the dialect.

mod config;
mod form;
mod options;
mod overlays;
mod palette;
mod query;
mod rules;
mod spell;
mod text;

use std::sync::Arc;

use serde_json::json;

pub use config::ImgixConfig;

use self::options::OPTIONS;
use self::palette::Palette;
use self::rules::ImgixRules;
use crate::dialect::{Dialect, Target};
use crate::disposition;
use crate::document::{About, Document};
use crate::errors::{ErrorStyle, Errors, Fault};
use crate::geometry::FACES;
use crate::options::Values;
use crate::percent;
use crate::refusal::{Refusal, shorten};
use crate::request::{Ask, ImageRequest, Source};
use crate::signature::{Key, md5, same};

#[derive(Debug)]
struct Imgix {
    /// URL prefix without its trailing slash.
    prefix: String,
    /// Tokens with which URLs may be signed; empty: URLs are not signed.
    tokens: Vec<Key>,
}

impl Dialect for Imgix {
    fn marks_its_urls(&self) -> bool {
        false
    }

    fn example(&self, path: &str) -> String {
        let query = "w=250&h=250";
        let signature_argument = self.tokens.first().map(|token| {
            let signature = hex(&sign(token, path, query));
            format!("&s={signature}")
        });
        format!(
            "{}{path}?{query}{}",
            self.prefix,
            signature_argument.unwrap_or_default()
        )
    }

    fn errors(&self) -> ErrorStyle {
        ErrorStyle(&ImgixErrors)
    }

    fn source_patterns(&self) -> Vec<String> {
        vec![format!("{}/+([^?]*)", regex::escape(&self.prefix))]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let Some(rest) = target.below(&self.prefix) else {
            return Ok(None);
        };
        let query = target.query.unwrap_or_default();
        let is_signed = !self.tokens.is_empty();
        if is_signed {
            self.verify(target, &format!("/{rest}"), query)?;
        }
        let mut notes = Vec::new();
        let Some(values) = query::read(query, &mut notes)? else {
            return match is_signed {
                false => Ok(None),
                true => Ok(Some(ImageRequest {
                    is_signed,
                    ..ImageRequest::file(Source::path_or_url(rest)?)
                })),
            };
        };
        if values.is_empty() {
            return Ok(Some(ImageRequest {
                notes,
                is_signed,
                ..ImageRequest::file(Source::path_or_url(rest)?)
            }));
        }
        overlays::check(&values)?;
        notes.extend(notes_on_unsupported(&values));
        let ask = match (Palette::read(&values), values.text("fm")) {
            (Some(palette), _) => Ask::Describe(Arc::new(palette)),
            (None, Some("json")) => Ask::Describe(Arc::new(Json)),
            (None, _) => Ask::Image,
        };
        let expires = values
            .text("expires")
            .and_then(|moment| moment.parse().ok());
        let attachment = values.text("dl").map(attachment);
        let mut request = ImageRequest {
            ask,
            notes,
            is_signed,
            ..ImageRequest::image(Source::path_or_url(rest)?, ImgixRules::new(values))
        };
        request.style.expires = expires;
        request.style.headers.extend(attachment);
        Ok(Some(request))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let (query, _) = text.strip_prefix("imgix(")?.rsplit_once(';')?;
        let source = &request.source;
        let path = source
            .escaped()
            .unwrap_or_else(|| percent::encode(source.as_str(), "").into());
        let signature = match (&request.ask, self.tokens.first()) {
            (Ask::Image | Ask::Describe(_), None) => String::new(),
            (Ask::Image | Ask::Describe(_), Some(token)) => {
                format!("&s={}", hex(&sign(token, &format!("/{path}"), query)))
            }
            _ => return None,
        };
        Some(format!("{}/{path}?{query}{signature}", self.prefix))
    }
}

impl Imgix {
    /// Checks the signature, which is the last parameter. It covers the token, the path and the rest of the query as
    /// they were sent.
    fn verify(&self, target: &Target<'_>, path: &str, query: &str) -> Result<(), Refusal> {
        let (rest, signature) = match (query.rsplit_once("&s="), query.strip_prefix("s=")) {
            (Some(parts), _) => parts,
            (None, Some(signature)) => ("", signature),
            (None, None) => ("", ""),
        };
        let is_right = |token: &Key| {
            same(
                signature.as_bytes(),
                hex(&sign(token, path, rest)).as_bytes(),
            )
        };
        // All tokens are tried in any case, so that the time does not reveal which one matched.
        match self
            .tokens
            .iter()
            .fold(false, |right, token| right | is_right(token))
        {
            true => Ok(()),
            false => {
                let why =
                    "its signature (`s`, the last parameter) is missing or not that of any token";
                Err(Refusal::of(Fault::Signature, target.path, why))
            }
        }
    }
}

fn sign(token: &Key, path: &str, query: &str) -> [u8; 16] {
    let separator: &[u8] = if query.is_empty() { b"" } else { b"?" };
    md5(&[token.bytes(), path.as_bytes(), separator, query.as_bytes()])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a `Content-Disposition` header that makes browsers save the result under this name or, if it is empty, under
/// a name of their own choice.
fn attachment(name: &str) -> (&'static str, String) {
    let name: String = name.chars().take(100).collect();
    let disposition = match name.is_empty() {
        true => "attachment".to_owned(),
        false => disposition::named("attachment", &name, ""),
    };
    ("content-disposition", disposition)
}

/// Returns notes on values that are recognized but not supported.
fn notes_on_unsupported(query: &Values) -> Vec<String> {
    let mut notes = overlays::notes(query);
    notes.extend(OPTIONS.unsupported_words(query));
    let other = |name| query.text(name).filter(|_| !query.is_valid(name));
    if let Some(format) = other("fm").map(shorten) {
        notes.push(format!("fm: `{format}` is not written; it is ignored"));
    }
    notes.extend(OPTIONS.ignored(query));
    if query.lists("crop", "faces") && !FACES {
        notes.push("crop: faces are not looked for; what draws the eye is kept".to_owned());
    }
    notes
}

/// JSON document with facts from the source's header, under imgix's names.
#[derive(Debug)]
struct Json;

impl Document for Json {
    fn name(&self) -> String {
        "imgix".to_owned()
    }

    fn media_type(&self) -> &'static str {
        "application/json"
    }

    fn write(&self, about: &About<'_>) -> String {
        let source = &about.source;
        json!({
            "Content-Type": format!("image/{}", source.format),
            "Content-Length": source.bytes.to_string(),
            "PixelWidth": source.width,
            "PixelHeight": source.height,
            "Orientation": source.orientation.exif(),
            "Depth": source.depth,
            "ColorModel": if source.colour == "gray" { "Gray" } else { "RGB" },
            "HasAlpha": source.alpha,
        })
        .to_string()
    }
}

/// Error style of imgix, which answers expired URLs with 404.
#[derive(Debug)]
struct ImgixErrors;

impl Errors for ImgixErrors {
    fn status(&self, fault: Fault, default: u16) -> u16 {
        match fault {
            Fault::Expired => 404,
            _ => default,
        }
    }
}

#[cfg(test)]
mod tests;
