//! thumbor's and imagor's URLs: `/unsafe/fit-in/300x200/filters:quality(80)/trip/a.jpg`, signed: `/SIGNATURE/fit-in/…`.
//!
//! One grammar in two flavours. `path` reads the parts before the image, `filters` reads what each filter asks for, and
//! `rules` resolves both to whole pixels by the arithmetic of either flavour.

mod answers;
mod colours;
mod config;
mod filters;
mod meta;
mod nested;
mod overlay;
mod params;
mod path;
mod rules;
mod spell;
mod text;

use std::borrow::Cow;
use std::sync::Arc;

pub use config::{ImagorConfig, Loader, ThumborConfig};

use crate::EXAMPLE_SOURCE;
use crate::dialect::{Dialect, Target};
use crate::errors::{ErrorStyle, Fault};
use crate::percent;
use crate::refusal::{Refusal, shorten};
use crate::request::{AnswerStyle, Ask, ImageRequest, Source};
use crate::signature::{Digest, Key, base64, same};
use filters::{Filter, Seen};
use rules::ThumborRules;

/// The program whose URLs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    Thumbor,
    Imagor,
}

#[derive(Debug)]
struct Thumbor {
    flavour: Flavour,
    /// Prefix of the dialect's URLs, without a trailing slash.
    prefix: String,
    signing: Signing,
    loader: Loader,
    /// Maximum number of filters that are applied; 0: all.
    max_filters: usize,
    /// For how many seconds clients may cache a result; 0: not specified.
    max_age: u64,
    usual: Usual,
}

/// Defaults for what a URL does not specify.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Usual {
    /// Whether images are turned upright.
    orient: bool,
    quality: u8,
    progressive: bool,
    /// Maximum width and height in px; 0: no maximum.
    most: (u32, u32),
}

/// The signing keys of URLs, and whether `unsafe` is accepted in place of a signature.
#[derive(Debug)]
struct Signing {
    keys: Vec<Key>,
    allow_unsafe: bool,
    digest: Digest,
    /// To how many characters signatures are truncated; 0: not at all.
    truncate: usize,
}

/// The path segment that stands in place of a signature.
const UNSAFE: &str = "unsafe";

impl Dialect for Thumbor {
    fn example(&self) -> String {
        let rest = format!("fit-in/250x250{EXAMPLE_SOURCE}");
        format!("{}/{}/{rest}", self.prefix, self.signing.sign(&rest))
    }

    fn reads_everything(&self) -> bool {
        self.prefix.is_empty()
    }

    fn errors(&self) -> ErrorStyle {
        answers::errors(self.flavour)
    }

    fn source_patterns(&self) -> Vec<String> {
        let options = [
            "meta",
            "params",
            "debug",
            "trim[^/?]*",
            "(?:adaptive-)?(?:full-)?fit-in",
            "stretch",
            "smart",
            "left|center|right|top|middle|bottom",
            "[0-9.]+x[0-9.]+:[0-9.]+x[0-9.]+",
            "-?[0-9a-z]*x-?[0-9a-z]*(?::[0-9:]+)?",
            "filters(?::[a-z_0-9]+[(][^)]*[)])+",
        ];
        let (prefix, options) = (regex::escape(&self.prefix), options.join("|"));
        vec![format!("{prefix}/[^/?]+/+(?:(?:{options})/+)*([^?]*)")]
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let Some(below) = target.below(&self.prefix) else {
            return Ok(None);
        };
        if let Some(text) = answers::text_at(self.flavour, below) {
            let ask = Ask::Text {
                media_type: "text/plain; charset=utf-8",
                text: text.to_owned(),
            };
            return Ok(Some(ImageRequest {
                ask,
                ..ImageRequest::file(Source::from_path(""))
            }));
        }
        if below == "favicon.ico" {
            return Err(Refusal::of(Fault::Missing, target.path, "it is no image"));
        }
        if let (Flavour::Imagor, Some(params)) = (self.flavour, below.strip_prefix("params/")) {
            let text = params::json(params)?;
            return Ok(Some(ImageRequest {
                ask: Ask::Text {
                    media_type: "application/json",
                    text,
                },
                ..ImageRequest::file(Source::from_path(""))
            }));
        }
        let Some((rest, is_signed)) = self.verified(below) else {
            // Which part is wrong is nobody's business.
            let why = "its signature does not match";
            return Err(Refusal::of(Fault::Signature, target.path, why));
        };
        let request = self.request(&rest, target.query)?;
        Ok(Some(ImageRequest {
            is_signed,
            ..request
        }))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let (parts, _) = text.strip_prefix(self.flavour.word())?.rsplit_once(' ')?;
        // A plus is a space to one of them.
        let image = percent::encode(&request.source.literal(), "/").replace('+', "%2B");
        let rest = match request.ask {
            Ask::Image => format!("{parts}{image}"),
            _ => return None,
        };
        Some(format!(
            "{}/{}/{rest}",
            self.prefix,
            self.signing.sign(&rest)
        ))
    }
}

impl Flavour {
    /// Returns the prefix of the text of the flavour's rules.
    fn word(self) -> &'static str {
        match self {
            Self::Thumbor => "thumbor:",
            Self::Imagor => "imagor:",
        }
    }
}

impl Signing {
    /// Returns the segment that stands before a path: its signature or, without keys, `unsafe`.
    fn sign(&self, rest: &str) -> String {
        match self.keys.first() {
            Some(key) => self.signature(key, rest),
            None => UNSAFE.to_owned(),
        }
    }

    fn signature(&self, key: &Key, rest: &str) -> String {
        let mut text = base64::padded(&self.digest.sign(key.bytes(), &[rest.as_bytes()]));
        if self.truncate > 0 {
            text.truncate(self.truncate);
        }
        text
    }

    /// Whether a signature was made with one of the keys. The time of the comparison reveals neither which key nor how
    /// much of the signature is right.
    fn allows(&self, signature: &str, rest: &str) -> bool {
        self.keys.iter().fold(false, |allowed, key| {
            allowed | same(signature.as_bytes(), self.signature(key, rest).as_bytes())
        })
    }
}

impl Thumbor {
    /// Returns what follows a valid signature, and whether it is a signature or the word `unsafe` in its place. Only
    /// one signature is cut off: what looks like another one further on is part of the signed text.
    fn verified<'a>(&self, below: &'a str) -> Option<(Cow<'a, str>, bool)> {
        match self.flavour {
            Flavour::Thumbor => {
                let (signature, rest) = below.split_once('/')?;
                // `=` may come as `%3D`.
                let signature = percent::decode(signature).ok()?;
                self.allowed(&signature, rest)
                    .then_some((Cow::Borrowed(rest), signature != UNSAFE))
            }
            Flavour::Imagor => {
                if let Some((rest, is_signed)) = self.imagor(below) {
                    return Some((Cow::Borrowed(rest), is_signed));
                }
                // Proxies escape; the whole path is decoded once, and tried again.
                let decoded = percent::decode(below)
                    .ok()
                    .filter(|decoded| decoded != below)?;
                self.imagor(&decoded)
                    .map(|(rest, is_signed)| (Cow::Owned(rest.to_owned()), is_signed))
            }
        }
    }

    fn imagor<'a>(&self, below: &'a str) -> Option<(&'a str, bool)> {
        let (signature, rest) = below.trim_start_matches('/').split_once('/')?;
        let allowed = is_signature(signature) && self.allowed(signature, rest);
        allowed.then_some((rest, signature != UNSAFE))
    }

    fn allowed(&self, signature: &str, rest: &str) -> bool {
        match signature {
            UNSAFE => self.signing.allow_unsafe,
            signature => self.signing.allows(signature, rest),
        }
    }

    fn request(&self, rest: &str, query: Option<&str>) -> Result<ImageRequest, Refusal> {
        let decoded = self.undone(rest);
        let rest = decoded.as_deref().unwrap_or(rest);
        let (mut parts, image) = path::read(self.flavour, rest);
        let source = self.source(image)?;
        let mut notes = Vec::new();
        if parts.debug {
            notes.push("debug: focal points are not drawn".to_owned());
            parts.debug = false;
        }
        let mut list = Vec::new();
        let most = if self.max_filters == 0 {
            usize::MAX
        } else {
            self.max_filters
        };
        let all = std::mem::take(&mut parts.filters);
        for (name, args) in all.into_iter().take(most) {
            if parts.meta
                && self.flavour == Flavour::Imagor
                && let Some(Err(why)) = Seen::read(&name, &args)
            {
                return Err(Refusal::new(&format!("{name}({args})"), why));
            }
            match filters::read(self.flavour, &name, &args) {
                // The others' images are behind a network.
                Some(Filter::Overlay(overlay))
                    if self.loader != Loader::Path && !overlay.files().is_empty() =>
                {
                    notes.push(format!(
                        "{name}: only files below the origins are laid over"
                    ));
                }
                Some(filter) => {
                    notes.extend(filters::note(self.flavour, &name, &args));
                    list.push(filter);
                    parts.filters.push((name, args));
                }
                None if notes.len() < 16 => {
                    notes.push(format!(
                        "{}: it is skipped",
                        shorten(&format!("{name}({args})"))
                    ));
                }
                None => {}
            }
        }
        let ask = match parts.meta {
            true if self.flavour == Flavour::Imagor => Ask::Describe(meta::outcome(&list)),
            true => Ask::Describe(meta::plan(image, query)),
            false => Ask::Image,
        };
        let style = self.style(&list, &source);
        let rules = ThumborRules::new(
            self.flavour,
            self.usual,
            Arc::new(parts),
            list,
            source.colour().is_some(),
        );
        Ok(ImageRequest {
            ask,
            notes,
            style,
            ..ImageRequest::image(source, rules)
        })
    }

    /// Decodes a path whose filters a proxy has escaped, after its signature was verified as received. imagor decodes
    /// the whole path and parses it again.
    fn undone(&self, rest: &str) -> Option<String> {
        let (_, image) = path::read(self.flavour, rest);
        let is_escaped = image
            .get(..10)
            .is_some_and(|start| start.eq_ignore_ascii_case("filters%3A"));
        let decoded = percent::decode(rest).ok();
        decoded.filter(|_| is_escaped && self.flavour == Flavour::Imagor)
    }

    fn style(&self, list: &[Filter], source: &Source) -> AnswerStyle {
        let mut style = AnswerStyle {
            max_age: Some(self.max_age).filter(|seconds| *seconds > 0),
            ..AnswerStyle::default()
        };
        if self.flavour == Flavour::Imagor {
            style.headers = answers::disposition(None);
        }
        for filter in list {
            match filter {
                Filter::MaxAge(seconds) => style.max_age = Some(*seconds),
                Filter::Expires(milliseconds) => style.expires = Some(milliseconds / 1000),
                Filter::Attachment(name) => {
                    let name = answers::file_name(name, list, source);
                    style.headers = answers::disposition(Some(&name));
                }
                Filter::Raw => {
                    let policy = ("content-security-policy", "script-src 'none'".to_owned());
                    style.headers.push(policy);
                }
                _ => {}
            }
        }
        style
    }

    /// Returns the source that an image's raw name stands for, decoded once.
    fn source(&self, raw: &str) -> Result<Source, Refusal> {
        let image = image_name(self.flavour, raw)?;
        if image.contains('\0') {
            return Err(Refusal::new(raw, "no file's name holds a NUL (`%00`)"));
        }
        if image.is_empty() {
            return Err(Refusal::new(raw, "no image follows"));
        }
        if let (Flavour::Imagor, Some(colour)) = (self.flavour, colours::of_image(&image)) {
            return Ok(Source::of_colour(colour));
        }
        let url = Source::url(&image);
        Ok(url.unwrap_or_else(|| match self.loader {
            Loader::Path => Source::from_path(&image),
            Loader::Http => Source::Url(format!("http://{image}")),
            Loader::Https => Source::Url(format!("https://{image}")),
        }))
    }
}

/// Whether a first path segment can be a signature of imagor, or `unsafe` in its place.
fn is_signature(segment: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=".contains(&byte);
    let part = segment == "adaptive-full-fit-in";
    segment == UNSAFE || (segment.len() >= 17 && segment.bytes().all(plain) && !part)
}

/// Decodes the name of an image, once.
fn image_name(flavour: Flavour, raw: &str) -> Result<String, Refusal> {
    Ok(match flavour {
        Flavour::Thumbor => percent::decode(raw)?,
        Flavour::Imagor => {
            let image = filters::unescaped(raw);
            let encoded = image.strip_prefix("b64:").and_then(base64::read_bare);
            // What is no base64 is a file's name.
            encoded
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .unwrap_or(image)
        }
    })
}

#[cfg(test)]
mod tests;
