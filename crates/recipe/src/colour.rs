//! Colours and their text form.

use std::fmt;
use std::str::FromStr;

use crate::ParseError;

/// A colour in sRGB with straight alpha (255 is opaque). It is written `rrggbb`, or `rrggbbaa` if it is not opaque. CSS
/// names are also parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
    /// Alpha.
    pub a: u8,
}

impl Colour {
    /// Opaque white.
    pub const WHITE: Self = Self {
        r: 255,
        g: 255,
        b: 255,
        a: 255,
    };

    /// Opaque black.
    pub const BLACK: Self = Self {
        r: 0,
        g: 0,
        b: 0,
        a: 255,
    };

    /// Fully transparent black.
    pub const CLEAR: Self = Self {
        r: 0,
        g: 0,
        b: 0,
        a: 0,
    };

    /// The accepted texts for a colour, described for error messages.
    pub(crate) const FORM: &str =
        "a colour of 6 or 8 hex digits such as `ff8800`, or a CSS name such as `white`";

    /// Returns the colour as an argument with a colon before it; an empty text for [`Self::CLEAR`], which has to be the
    /// argument's default.
    pub(crate) fn unless_clear(self) -> String {
        match self {
            Self::CLEAR => String::new(),
            colour => format!(":{colour}"),
        }
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
            _ if text == "transparent" => Ok(Self::CLEAR),
            _ => Self::named(text).ok_or_else(|| ParseError::new(text, Self::FORM)),
        }
    }
}
