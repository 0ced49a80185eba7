//! Sizes and times as people write them: `256MiB`, `1.5s`.

use std::fmt;
use std::time::Duration;

use andon_recipe::Colour;
use serde::Deserialize;

/// A number of bytes, written as `65536`, `"64KiB"` or `"1.5GB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "Written")]
pub struct Bytes(pub u64);

/// A length of time, written with its unit: `"250ms"`, `"10s"`, `"2m"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(pub Duration);

/// An opaque colour, written as `"ffffff"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Background(pub Colour);

impl Default for Background {
    fn default() -> Self {
        Self(Colour::WHITE)
    }
}

impl TryFrom<String> for Background {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let colour = text.parse::<Colour>().ok().filter(|colour| colour.a == 255);
        let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        colour
            .filter(|_| digits && text.len() == 6)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no opaque colour; write it like \"ffffff\""))
    }
}

/// A size as it is written in the configuration file. A size may be a bare number; a time may not, because its unit
/// would not be obvious.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a size such as 65536 or \"64KiB\"")]
enum Written {
    Number(u64),
    Text(String),
}

impl TryFrom<Written> for Bytes {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let text = match written {
            Written::Number(bytes) => bytes.to_string(),
            Written::Text(text) => text,
        };
        let has_no_unit = text.trim().bytes().all(|byte| byte.is_ascii_digit());
        if has_no_unit && (1..LEAST_BARE).contains(&text.trim().parse().unwrap_or(0)) {
            return Err(format!(
                "{text} would be as many bytes; write the unit that is meant, such as \"{text}MiB\", or \"{text}B\""
            ));
        }
        parse_scaled(&text, SIZES)
            .map(|bytes| Self(bytes as u64))
            .ok_or_else(|| {
                format!("`{text}` is no size; write it like \"64KiB\", \"256MiB\" or \"1.5GB\"")
            })
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_scaled(&text, TIMES)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map(Self)
            .ok_or_else(|| {
                format!("`{text}` is no time; write it like \"250ms\", \"10s\" or \"2m\"")
            })
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, factor) in [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
            if self.0 >= factor {
                return write!(f, "{:.1} {unit}", self.0 as f64 / factor as f64);
            }
        }
        write!(f, "{} B", self.0)
    }
}

fn parse_scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = units.iter().find(|(name, _)| *name == unit.trim())?.1;
    Some(number.parse::<f64>().ok()? * factor)
}

/// The smallest number of bytes that may be written without a unit. A smaller number is probably meant in another unit.
const LEAST_BARE: u64 = 1024;

const SIZES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

const TIMES: &[(&str, f64)] = &[("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<u64, String> {
        Bytes::try_from(Written::Text(text.to_owned())).map(|bytes| bytes.0)
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("256MiB"), Ok(256 << 20));
        assert_eq!(bytes("1.5 GiB"), Ok(3 << 29));
        assert_eq!(bytes("10KB"), Ok(10_000));
        assert_eq!(bytes("64B"), Ok(64));
        assert_eq!(bytes("65536"), Ok(65_536));
        for wrong in ["", "MiB", "-1MiB", "12 parsecs", "1.2.3KB", "64", "1"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_need_a_unit() {
        let span = |text: &str| Span::try_from(text.to_owned()).map(|span| span.0);
        assert_eq!(span("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(span("2m"), Ok(Duration::from_secs(120)));
        assert!(span("30").is_err());
    }

    #[test]
    fn sizes_are_written_for_people() {
        assert_eq!(Bytes(1536).to_string(), "1.5 KiB");
        assert_eq!(Bytes(12).to_string(), "12 B");
    }
}
