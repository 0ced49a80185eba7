//! The parameters `url`, `w` and `q`, which are checked in the order and with the messages of Next.js.

use url::{Url, form_urlencoded};

use super::patterns::Patterns;
use crate::accept;
use crate::dots::has_dots;
use crate::options::About::{Answer, Image};
use crate::options::Takes::{self, Number};
use crate::options::{Table, row};
use crate::percent;
use crate::refusal::Refusal;

/// The parameters of the image component of Next.js.
#[rustfmt::skip]
pub(super) static OPTIONS: Table = Table(&[
    row(&["url"], Answer, Takes::any("a path, or a URL that `remote_patterns` or `domains` permit"), "the source"),
    row(&["w"], Image, Takes::any("one of `device_sizes` and `image_sizes`"), "the largest width of the result in px; nothing is enlarged"),
    row(&["q"], Image, Number(1.0, 100.0), "quality; one of `qualities`, if there are any"),
]);

/// The URL that paths are resolved against. Only path and query of the result are used.
const BASE: &str = "http://n";

/// Maximum length of `url` in UTF-16 units.
const MOST_UNITS: usize = 3072;

const WIDTH: &str = "\"w\" parameter (width)";
const QUALITY: &str = "\"q\" parameter (quality)";

/// The permitted values of the parameters.
#[derive(Debug)]
pub(super) struct Checks {
    /// Widths in px; empty: any.
    pub(super) widths: Vec<u32>,
    /// Qualities; empty: any.
    pub(super) qualities: Vec<u8>,
    /// Prefixes of the dialect's own URLs, which are not permitted as sources.
    pub(super) prefixes: Vec<String>,
    /// Patterns of permitted sources.
    pub(super) patterns: Patterns,
}

/// The parameters of a URL of the image component of Next.js.
#[derive(Debug)]
pub(super) struct Params {
    /// The parameter `url` as given, percent-decoded once.
    pub(super) text: String,
    /// The parameter `url`, normalized.
    pub(super) url: Url,
    /// Whether `url` is a path.
    pub(super) is_local: bool,
    /// Largest width of the result in px.
    pub(super) width: u32,
    /// Quality of the result, 1 to 100.
    pub(super) quality: u8,
}

impl Params {
    /// Parses and checks the query of a target.
    ///
    /// # Errors
    /// The message of Next.js about the first check that fails.
    pub(super) fn read(query: &str, checks: &Checks) -> Result<Self, Refusal> {
        let text = only(query, "url", "\"url\" parameter")?;
        let (url, is_local) = checks.source(&text)?;
        let w = only(query, "w", WIDTH)?;
        let no_width = || Refusal::in_words(format!("{WIDTH} must be an integer greater than 0"));
        let width = whole(&w).ok_or_else(no_width)?;
        let q = only(query, "q", QUALITY)?;
        let no_quality =
            || Refusal::in_words(format!("{QUALITY} must be an integer between 1 and 100"));
        let quality = whole(&q).ok_or_else(no_quality)?;
        if width == 0 {
            return Err(no_width());
        }
        let quality = u8::try_from(quality).ok();
        Ok(Self {
            width: checks.width(width)?,
            quality: match quality.filter(|quality| (1..=100).contains(quality)) {
                Some(quality) => checks.quality(quality, &q)?,
                None => return Err(no_quality()),
            },
            text,
            url,
            is_local,
        })
    }
}

impl Checks {
    /// Returns the source that `url` names, and whether it is a path.
    fn source(&self, text: &str) -> Result<(Url, bool), Refusal> {
        let wrong = |why: &str| Refusal::in_words(format!("\"url\" parameter {why}"));
        if text.encode_utf16().count() > MOST_UNITS {
            return Err(wrong("is too long"));
        }
        if text.starts_with("//") {
            return Err(wrong("cannot be a protocol-relative URL (//)"));
        }
        let is_local = text.starts_with('/');
        if is_local && has_dots(text.split(['?', '#']).next().unwrap_or_default()) {
            return Err(wrong("is not allowed"));
        }
        let url = match is_local {
            true => Url::parse(BASE).and_then(|base| base.join(text)),
            false => Url::parse(text),
        };
        let url = url.map_err(|_| wrong("is invalid"))?;
        if is_local && self.is_own(url.path()) {
            return Err(wrong("cannot be recursive"));
        }
        if !["http", "https"].contains(&url.scheme()) {
            return Err(wrong("is invalid"));
        }
        let permitted = match is_local {
            // A text such as `/\host/path` would resolve to a URL of another host.
            true => url.host_str() == Some("n") && self.patterns.permit_path(&url),
            false => self.patterns.permit_url(&url),
        };
        match permitted {
            true => Ok((url, is_local)),
            false => Err(wrong("is not allowed")),
        }
    }

    /// Whether a path is that of the dialect's own URLs, or ends in it.
    fn is_own(&self, path: &str) -> bool {
        let path = percent::decode(path).unwrap_or_else(|_| path.to_owned());
        self.prefixes.iter().any(|prefix| {
            let mut ends = path
                .match_indices(&**prefix)
                .map(|(at, _)| at + prefix.len());
            ends.any(|end| path[end..].is_empty() || path[end..].starts_with('/'))
        })
    }

    fn width(&self, width: u64) -> Result<u32, Refusal> {
        let px = u32::try_from(width).ok();
        px.filter(|px| self.widths.is_empty() || self.widths.contains(px))
            .ok_or_else(|| Refusal::in_words(format!("{WIDTH} of {width} is not allowed")))
    }

    fn quality(&self, quality: u8, text: &str) -> Result<u8, Refusal> {
        match self.qualities.is_empty() || self.qualities.contains(&quality) {
            true => Ok(quality),
            false => Err(Refusal::in_words(format!(
                "{QUALITY} of {text} is not allowed"
            ))),
        }
    }

    /// Returns a permitted width and quality for examples: 256 and 75, or else the first ones that are listed.
    pub(super) fn example_values(&self) -> (u32, u8) {
        fn one<T: Copy + PartialEq>(preferred_value: T, all: &[T]) -> T {
            let first = all.first().copied().unwrap_or(preferred_value);
            if all.contains(&preferred_value) {
                preferred_value
            } else {
                first
            }
        }
        (one(256, &self.widths), one(75, &self.qualities))
    }
}

/// Returns the decoded value of a parameter that must occur exactly once. `name` is its name in messages.
fn only(query: &str, key: &str, name: &str) -> Result<String, Refusal> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    let mut values = pairs
        .filter(|(name_in_query, _)| name_in_query == key)
        .map(|(_, value)| value);
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(Refusal::in_words(format!("{name} cannot be an array"))),
        (Some(value), None) if !value.is_empty() => Ok(value.into_owned()),
        _ => Err(Refusal::in_words(format!("{name} is required"))),
    }
}

/// Parses a text of digits. Larger numbers saturate.
fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Returns the one of `formats` with the highest weight in the header `Accept`; the first of them if several have that
/// weight. `None` if the header names none of them, or if `*/*` or `image/*` has a higher weight and some of `formats`
/// is not named.
pub(super) fn preferred(formats: &[&'static str], accept: &str) -> Option<&'static str> {
    let ranges: Vec<(String, f64)> = accept::ranges(accept)
        .map(|range| (range.name.to_ascii_lowercase(), range.weight.unwrap_or(1.0)))
        .collect();
    let weight_of = |format: &str| {
        let name = format!("image/{format}");
        let range = ranges.iter().find(|(range, _)| *range == name);
        range.map(|(_, weight)| *weight)
    };
    let mut best: Option<(&'static str, f64)> = None;
    for format in formats {
        let weight = weight_of(format).unwrap_or_default();
        if weight > best.map_or(0.0, |(_, most)| most) {
            best = Some((format, weight));
        }
    }
    let (format, weight) = best?;
    let others = ranges
        .iter()
        .filter(|(range, _)| ["*/*", "image/*"].contains(&&**range));
    let most = others.map(|(_, weight)| *weight).fold(0.0, f64::max);
    let is_other = most > weight && formats.iter().any(|format| weight_of(format).is_none());
    (!is_other).then_some(format)
}
