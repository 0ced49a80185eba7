//! `cover:400x300`: scales the image to cover a box, and crops it to the box.

use std::fmt;

use super::fit::{ENLARGE, growth};
use super::{Declared, Focus, Geometry};
use crate::resolve::{Image, side};
use crate::{Arg, Gravity, Length, ParseError, Word};

/// Scale to cover a box, keeping the aspect ratio, and crop to the box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cover {
    /// Width of the box.
    pub w: Length,
    /// Height of the box.
    pub h: Length,
    /// The part of the image that is kept.
    pub gravity: Gravity,
    /// Whether the image may be enlarged. Otherwise an image smaller than the box is only cropped to it, unless it is a
    /// vector image.
    pub enlarge: bool,
}

const WORD: Word = Word {
    name: "cover",
    args: &[
        Arg::length("width").help("width of the result"),
        Arg::length("height")
            .after('x')
            .help("height of the result"),
        Gravity::ARG,
        ENLARGE,
    ],
    help: "scales to cover a box, keeps the aspect ratio and crops what hangs over",
    example: "cover:400x300:north",
};

impl Declared for Cover {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [w, h, gravity, enlarge] = WORD.texts(parts).map_err(|error| {
            let measured = parts.iter().find(|part| Focus::is_measured(part));
            match measured {
                Some(word) => ParseError::new(
                    word,
                    format!("{}; `focus:{word}` before it keeps that", error.expected),
                ),
                None => error,
            }
        })?;
        Ok(Self {
            w: w.parse()?,
            h: h.parse()?,
            gravity: Gravity::CHOICES.value(gravity)?,
            enlarge: !enlarge.is_empty(),
        })
    }
}

impl Geometry for Cover {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (gravity, growth) = (self.gravity.suffix(), growth(self.enlarge));
        write!(f, ":{}x{}{gravity}{growth}", self.w, self.h)
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let (w, h) = image.boxed(self.w, self.h)?;
        let (width, height) = (f64::from(image.width), f64::from(image.height));
        let shrinks = w < width && h < height;
        if image.may_grow(self.enlarge) || shrinks {
            if w * height >= h * width {
                image.scale(side(w), side((height * w / width).max(h)));
            } else {
                image.scale(side((width * h / height).max(w)), side(h));
            }
        }
        let part = (side(w).min(image.width), side(h).min(image.height));
        image.keep(image.kept(part, self.gravity), part);
        Ok(())
    }
}
