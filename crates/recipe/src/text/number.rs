//! Text form of lengths and colours.

use std::fmt;
use std::str::FromStr;

use super::ParseError;
use crate::{Colour, Length};

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `f64` prints the shortest decimals that read back as the same number, never an exponent.
        match self {
            Self::Px(px) => write!(f, "{px}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for Length {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let length = match text.strip_suffix('%') {
            Some(number) => decimal(number).and_then(Self::percent),
            None => decimal(text).and_then(Self::px),
        };
        length.ok_or_else(|| {
            ParseError::new(
                text,
                format!(
                    "pixels up to {} such as `250`, or percent up to {} such as `50%`",
                    Self::MAX_PX,
                    Self::MAX_PERCENT
                ),
            )
        })
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { r, g, b, a } = self;
        write!(f, "{r:02x}{g:02x}{b:02x}")?;
        if *a < 255 {
            write!(f, "{a:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for Colour {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let digits: Option<Vec<u8>> = text
            .chars()
            .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
            .collect();
        let channel = |pair: &[u8]| pair[0] << 4 | pair[1];
        match digits.as_deref() {
            Some(digits) if matches!(digits.len(), 6 | 8) => Ok(Self {
                r: channel(&digits[0..2]),
                g: channel(&digits[2..4]),
                b: channel(&digits[4..6]),
                a: digits.get(6..8).map_or(255, channel),
            }),
            _ => Err(ParseError::new(
                text,
                "a colour of 6 or 8 hex digits such as `ff8800`",
            )),
        }
    }
}

/// Parses a decimal number without sign and exponent.
fn decimal(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    plain.then(|| text.parse().ok()).flatten()
}
