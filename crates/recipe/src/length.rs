//! Lengths and their text form.

use std::fmt;
use std::str::FromStr;

use crate::ParseError;

/// A length along one side of the image, finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Pixels.
    Px(f64),
    /// Percentage of the image's width or height.
    Percent(f64),
}

impl Length {
    /// Largest length in pixels that the text of a recipe can express.
    pub const MAX_PX: f64 = 1e6;
    /// Largest length in percent that the text of a recipe can express.
    pub const MAX_PERCENT: f64 = 1e5;

    /// Creates a length in pixels; `None` unless `px` is 0 to [`Self::MAX_PX`].
    #[must_use]
    pub fn px(px: f64) -> Option<Self> {
        // Adding 0 makes -0, whose text would not read back, a plain 0.
        (0.0..=Self::MAX_PX)
            .contains(&px)
            .then_some(Self::Px(px + 0.0))
    }

    /// Creates a length in percent; `None` unless `percent` is 0 to [`Self::MAX_PERCENT`].
    #[must_use]
    pub fn percent(percent: f64) -> Option<Self> {
        (0.0..=Self::MAX_PERCENT)
            .contains(&percent)
            .then_some(Self::Percent(percent + 0.0))
    }

    /// Rounds to hundredths of a pixel or ten thousandths of a percent, which is finer than any image shows, so that
    /// lengths that look alike become equal.
    #[must_use]
    pub fn rounded(self) -> Self {
        match self {
            Self::Px(px) => Self::Px((px * 1e2).round() / 1e2),
            Self::Percent(percent) => Self::Percent((percent * 1e4).round() / 1e4),
        }
    }

    /// Returns the length in pixels along a side of `side` px.
    #[must_use]
    pub fn of(self, side: f64) -> f64 {
        match self {
            Self::Px(px) => px,
            Self::Percent(percent) => side * percent * 0.01,
        }
    }

    /// Returns the length in pixels along a side of `side` px, where lengths given in pixels are multiplied by `dpr`.
    pub(crate) fn scaled(self, side: f64, dpr: f64) -> f64 {
        match self {
            Self::Px(px) => px * dpr,
            Self::Percent(_) => self.of(side),
        }
    }

    /// Returns the whole pixels of a resolved length; `None` for percent.
    pub(crate) fn whole(self) -> Option<u32> {
        match self {
            Self::Px(px) => Some(px as u32),
            Self::Percent(_) => None,
        }
    }
}

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

/// Parses a decimal number without sign and exponent.
fn decimal(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    plain.then(|| text.parse().ok()).flatten()
}
