//! Parses arguments as imgproxy does: numbers in Go's syntax, and Booleans that are never an error.

use crate::colours;
use andon_recipe::Colour;

/// A message that says what is wrong with an argument.
pub(super) type Wrong = String;

/// Parses a whole number within a range: digits with an optional `+` or `-`.
pub(super) fn int(text: &str, least: i64, most: i64) -> Result<i64, Wrong> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: Option<i64> = is_number.then(|| text.parse().ok()).flatten();
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("`{text}` is no whole number from {least} to {most}"))
}

/// Parses a non-negative whole number: a length in px or a count. Numbers too large for any image saturate.
pub(super) fn size(text: &str) -> Result<u32, Wrong> {
    Ok(u32::try_from(int(text, 0, i64::MAX)?).unwrap_or(u32::MAX))
}

/// Parses a decimal number within a range, with an optional exponent.
pub(super) fn number(text: &str, least: f64, most: f64) -> Result<f64, Wrong> {
    let is_number_byte = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let number: Option<f64> = text
        .bytes()
        .all(is_number_byte)
        .then(|| text.parse().ok())
        .flatten();
    number
        .filter(|number| number.is_finite() && (least..=most).contains(number))
        // Adding 0 turns -0 into 0.
        .map(|number| number + 0.0)
        .ok_or_else(|| format!("`{text}` is no number from {least} to {most}"))
}

/// Reads a number above 0.
pub(super) fn positive(text: &str) -> Result<f64, Wrong> {
    number(text, f64::MIN_POSITIVE, f64::MAX)
}

/// Reads a number that is not negative.
pub(super) fn not_negative(text: &str) -> Result<f64, Wrong> {
    number(text, 0.0, f64::MAX)
}

/// Parses a Boolean in Go's syntax. Any other text is false.
pub(super) fn truth(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "TRUE" | "true" | "True")
}

/// Whether the text is a Boolean in Go's syntax.
pub(super) fn is_truth(text: &str) -> bool {
    truth(text) || matches!(text, "0" | "f" | "F" | "FALSE" | "false" | "False")
}

/// Reads a colour of 3 or 6 hexadecimal digits.
pub(super) fn colour(text: &str) -> Result<Colour, Wrong> {
    let channels = colours::channels(text).filter(|channels| channels.len() == 3);
    let colour = channels.and_then(|channels| colours::rgba(&channels));
    colour.ok_or_else(|| format!("`{text}` is no colour of 3 or 6 hexadecimal digits"))
}

/// Reads a share from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, Wrong> {
    number(text, 0.0, 1.0)
}

/// Reads a quality in per cent.
pub(super) fn percent(text: &str) -> Result<u8, Wrong> {
    Ok(int(text, 0, 100)? as u8)
}

/// Reads a number of bytes.
pub(super) fn bytes(text: &str) -> Result<u64, Wrong> {
    Ok(int(text, 0, i64::MAX)?.unsigned_abs())
}

/// Reads a finite number.
pub(super) fn any(text: &str) -> Result<f64, Wrong> {
    number(text, f64::MIN, f64::MAX)
}

/// Parses a Boolean as [`truth`] does, and never fails: it has the signature of the other parsers.
pub(super) fn yes(text: &str) -> Result<bool, Wrong> {
    Ok(truth(text))
}
