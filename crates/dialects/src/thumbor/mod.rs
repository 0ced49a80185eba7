//! thumbor's and imagor's URLs: `/unsafe/fit-in/300x200/filters:quality(80)/trip/a.jpg`, signed: `/SIGNATURE/fit-in/…`.
//!
//! Both programs have the same grammar with small differences. `path` parses the parts before the image, `table` lists
//! the filters and parses their arguments, and `rules` resolves both to whole pixels with the arithmetic of either
//! program.

mod answers;
mod args;
mod colours;
mod config;
mod filters;
mod flavour;
mod form;
mod meta;
mod nested;
mod overlay;
mod params;
mod path;
mod place;
mod rules;
mod signing;
mod spell;
mod table;
mod text;

use std::sync::Arc;

use andon_recipe::Effect;
pub use config::{ImagorConfig, Loader, ThumborConfig};

use crate::dialect::{Dialect, Target};
use crate::errors::{ErrorStyle, Fault};
use crate::percent;
use crate::refusal::{Refusal, shorten};
use crate::request::{AnswerStyle, Ask, ImageRequest, Source};
use filters::Filter;
use flavour::Flavour;
use path::Parts;
use rules::{Defaults, ThumborRules};
use signing::Signing;

/// The end of a note about a skipped filter, after the filter and a colon.
const SKIPPED: &str = "it is skipped";

/// Whether a note is about a filter that `dialect` (thumbor or imagor) does not have, or does not have with this number
/// of arguments. Other notes are about filters that Andon applies differently, and about invalid values.
#[must_use]
pub fn is_foreign(dialect: &str, note: &str) -> bool {
    let flavour = match dialect {
        "imagor" => Flavour::Imagor,
        _ => Flavour::Thumbor,
    };
    let filter = note
        .strip_suffix(SKIPPED)
        .and_then(|note| note.strip_suffix(": "));
    filter.is_some_and(|filter| !table::has(flavour, filter))
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
    defaults: Defaults,
}

impl Dialect for Thumbor {
    fn example(&self, path: &str) -> String {
        let rest = format!("fit-in/250x250{path}");
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
        let Some(path_below) = target.below(&self.prefix) else {
            return Ok(None);
        };
        if let Some(text) = answers::text_at(self.flavour, path_below) {
            return Ok(Some(ImageRequest::text("text/plain; charset=utf-8", text)));
        }
        if path_below == "favicon.ico" {
            return Err(Refusal::of(Fault::Missing, target.path, "it is no image"));
        }
        if let (Flavour::Imagor, Some(path)) = (self.flavour, path_below.strip_prefix("params/")) {
            let text = params::json(path)?;
            return Ok(Some(ImageRequest::text("application/json", text)));
        }
        let Some((rest, is_signed)) = self.signing.verify(self.flavour, path_below) else {
            // The message does not reveal which part of the signature is wrong.
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
        // imagor decodes a plus to a space, so that it is escaped.
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

impl Thumbor {
    fn request(&self, rest: &str, query: Option<&str>) -> Result<ImageRequest, Refusal> {
        let decoded = self.without_escapes(rest);
        let rest = decoded.as_deref().unwrap_or(rest);
        let (mut parts, image) = path::read(self.flavour, rest);
        let source = self.source(image)?;
        let mut notes = Vec::new();
        if std::mem::take(&mut parts.debug) {
            notes.push("debug: focal points are not drawn".to_owned());
        }
        let filters = self.filters(&mut parts, &mut notes)?;
        let ask = match (parts.meta, self.flavour) {
            (true, Flavour::Imagor) => Ask::Describe(meta::outcome(&filters)),
            (true, Flavour::Thumbor) => Ask::Describe(meta::plan(image, query)),
            (false, _) => Ask::Image,
        };
        let style = self.style(&filters, &source);
        let plain = source.colour().is_some();
        let rules = ThumborRules::new(self.flavour, self.defaults, Arc::new(parts), filters, plain);
        Ok(ImageRequest {
            ask,
            notes,
            style,
            ..ImageRequest::image(source, rules)
        })
    }

    /// Parses the filters. Skipped ones are removed from `parts`, and noted.
    fn filters(&self, parts: &mut Parts, notes: &mut Vec<String>) -> Result<Vec<Filter>, Refusal> {
        let most = match self.max_filters {
            0 => usize::MAX,
            most => most,
        };
        let tells = parts.meta && self.flavour == Flavour::Imagor;
        let mut list = Vec::new();
        for (name, args) in std::mem::take(&mut parts.filters).into_iter().take(most) {
            if let Some(why) = table::data_mistake(&name, &args).filter(|_| tells) {
                return Err(Refusal::new(&format!("{name}({args})"), why));
            }
            match table::read(self.flavour, &name, &args, Effect::DEEPEST) {
                Some(filter) => {
                    notes.extend(table::note(self.flavour, &name, &args));
                    list.push(match self.loader {
                        Loader::Path => filter,
                        Loader::Http => filter.with_scheme("http://"),
                        Loader::Https => filter.with_scheme("https://"),
                    });
                    parts.filters.push((name, args));
                }
                None if notes.len() < 16 => {
                    let filter = shorten(&format!("{name}({args})"));
                    notes.push(format!("{filter}: {SKIPPED}"));
                }
                None => {}
            }
        }
        Ok(list)
    }

    /// Decodes a path in which a proxy has escaped the filters, after its signature was verified as received. imagor
    /// decodes the whole path and parses it again.
    fn without_escapes(&self, rest: &str) -> Option<String> {
        let (_, image) = path::read(self.flavour, rest);
        let is_escaped = image
            .get(..10)
            .is_some_and(|start| start.eq_ignore_ascii_case("filters%3A"));
        let decoded_path = percent::decode(rest).ok();
        decoded_path.filter(|_| is_escaped && self.flavour == Flavour::Imagor)
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

    /// Returns the source for the raw name of an image, which is decoded once.
    fn source(&self, raw: &str) -> Result<Source, Refusal> {
        let image = self.flavour.image_name(raw)?;
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

#[cfg(test)]
mod tests;
