//! `fit:250x250`: scales to fit inside a box.

use std::fmt;

use super::{Declared, Geometry};
use crate::resolve::{Image, side};
use crate::{Arg, Length, ParseError, Word};

/// Scale to fit inside a box, keeping the aspect ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The box, one side of which may be open.
    pub inside: Bounds,
    /// Whether the image may be enlarged; vector images always may.
    pub enlarge: bool,
}

/// A box of which one side or both are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// Only the width; the height follows from the aspect ratio.
    Width(Length),
    /// Only the height; the width follows from the aspect ratio.
    Height(Length),
    /// Width and height.
    Both(Length, Length),
}

/// The argument that lets an image grow.
pub(super) const ENLARGE: Arg = Arg::choice("enlarge", &["enlarge"])
    .default("")
    .help("the image may grow; vector images do without it");

/// Returns `:enlarge` if the image may be enlarged, otherwise an empty text.
pub(super) fn growth(enlarge: bool) -> &'static str {
    if enlarge { ":enlarge" } else { "" }
}

/// Parses a side of the box that an image is fitted into. `None` for one that is left out or 0 px (`0`, `00`, `0.0`),
/// as many scripts and servers write an open side.
fn side_or_open(text: &str) -> Result<Option<Length>, ParseError> {
    match text {
        "" => Ok(None),
        text => Ok(Some(text.parse()?).filter(|length| *length != Length::Px(0.0))),
    }
}

const WORD: Word = Word {
    name: "fit",
    args: &[
        Arg::side("width").help("width of the box; may be left out, or 0"),
        Arg::side("height")
            .after('x')
            .help("height of the box; may be left out, or 0"),
        ENLARGE,
    ],
    help: "scales to fit inside a box and keeps the aspect ratio; sides are rounded to the nearest pixel",
    example: "fit:250x250",
};

impl Declared for Fit {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [w, h, enlarge] = WORD.texts(parts)?;
        let inside = match (side_or_open(w)?, side_or_open(h)?) {
            (None, None) => {
                return Err(WORD.wrong(parts, "`fit:WIDTHxHEIGHT` with at least one side"));
            }
            (Some(w), None) => Bounds::Width(w),
            (None, Some(h)) => Bounds::Height(h),
            (Some(w), Some(h)) => Bounds::Both(w, h),
        };
        Ok(Self {
            inside,
            enlarge: !enlarge.is_empty(),
        })
    }
}

impl Geometry for Fit {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inside {
            Bounds::Width(w) => write!(f, ":{w}x"),
            Bounds::Height(h) => write!(f, ":x{h}"),
            Bounds::Both(w, h) => write!(f, ":{w}x{h}"),
        }?;
        f.write_str(growth(self.enlarge))
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let whole = Length::Percent(100.0);
        let (w, h) = match self.inside {
            Bounds::Both(w, h) => image.boxed(w, h)?,
            Bounds::Width(w) => (image.boxed(w, whole)?.0, f64::INFINITY),
            Bounds::Height(h) => (f64::INFINITY, image.boxed(whole, h)?.1),
        };
        let (width, height) = (f64::from(image.width), f64::from(image.height));
        if !image.may_grow(self.enlarge) && w >= width && h >= height {
            return Ok(());
        }
        if w * height <= h * width {
            image.scale(side(w), side(height * w / width));
        } else {
            image.scale(side(width * h / height), side(h));
        }
        Ok(())
    }
}
