//! Parses a query into decoded parameters. The first value of each parameter counts.

use andon_recipe::Colour;

use super::options::OPTIONS;
use crate::colours;
use crate::options::{About, MOST_NOTES, Values};
use crate::percent;
use crate::refusal::{Refusal, shorten};
use crate::signature::base64;

/// Parameters that mark a query as one of imgix's, but do not change the image.
const MARKS: [&str; 3] = ["s", "ixlib", "ixid"];

/// Parses a query, and adds notes on parameters that are unknown or not supported. Returns `None` if the query has no
/// parameter of this dialect.
pub(super) fn read(query: &str, notes: &mut Vec<String>) -> Result<Option<Values>, Refusal> {
    let mut values = Values::default();
    let mut ignored = Vec::new();
    let mut is_own = false;
    for piece in query.split('&').filter(|piece| !piece.is_empty()) {
        let (key, value) = pair(piece)?;
        let row = OPTIONS.named(key);
        is_own |= row.is_some() || MARKS.contains(&key);
        let (key, why) = match row {
            Some(row) if row.about != About::Unsupported => {
                values.add(row, value);
                continue;
            }
            Some(row) => (row.name(), "it is not supported"),
            None if MARKS.contains(&key) => continue,
            None => (key, "there is no such parameter"),
        };
        ignored.push(format!("{}: {why}; it is ignored", shorten(key)));
    }
    ignored.truncate(MOST_NOTES);
    notes.extend(ignored);
    Ok(is_own.then_some(values))
}

/// Splits a parameter into its key and its decoded value. The value is base64 if the key ends in `64`.
fn pair(piece: &str) -> Result<(&str, String), Refusal> {
    let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
    let value = percent::decode(&value.replace('+', " "))?;
    let base64_key = key.strip_suffix("64");
    Ok(
        match base64_key.and_then(|key| Some((key, base64::read(&value)?))) {
            Some((key, bytes)) => (key, String::from_utf8_lossy(&bytes).into_owned()),
            None => (key, value),
        },
    )
}

/// Parses a switch: `true`, `1`, `false` or `0`; `None` for any other text.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Parses a colour: the digits RGB, ARGB, RRGGBB or AARRGGBB, possibly after `#`, or a CSS name.
pub(super) fn colour(text: &str) -> Option<Colour> {
    let hex = colours::argb(text.strip_prefix('#').unwrap_or(text));
    hex.or_else(|| Colour::named(text))
}

/// Converts a length to px. A number of at most 1 is a share of the side `whole`, in px.
pub(super) fn share_or_px(number: f64, whole: u32) -> f64 {
    match number {
        ..=1.0 => number * f64::from(whole),
        px => px,
    }
}

/// Returns the query as `key=value` pairs separated by `&`, sorted and percent-encoded.
pub(super) fn canonical(query: &Values) -> String {
    query.canonical("&", |value| {
        let text = percent::encode(value, "/").replace('&', "%26");
        text.replace('+', "%2B").replace(';', "%3B")
    })
}
