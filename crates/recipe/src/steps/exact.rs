//! `exact:400x300`: scales to a size and ignores the aspect ratio.

use std::fmt;

use super::{Declared, Geometry, Step};
use crate::resolve::{Image, side};
use crate::{Arg, Facts, Length, ParseError, Word};

/// Scale to exactly this size, ignoring the aspect ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// Width to scale to.
    pub w: Length,
    /// Height to scale to.
    pub h: Length,
}

const WORD: Word = Word {
    name: "exact",
    args: &[
        Arg::length("width").help("width of the result"),
        Arg::length("height")
            .after('x')
            .help("height of the result"),
    ],
    help: "scales to exactly this size, larger or smaller, and ignores the aspect ratio",
    example: "exact:400x300",
};

impl Step {
    /// Creates a scaling to exactly this size in whole pixels.
    #[must_use]
    pub fn exact(w: u32, h: u32) -> Self {
        Self::Exact(Exact {
            w: Length::Px(w.into()),
            h: Length::Px(h.into()),
        })
    }
}

impl Declared for Exact {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [w, h] = WORD.texts(parts)?;
        Ok(Self {
            w: w.parse()?,
            h: h.parse()?,
        })
    }
}

impl Geometry for Exact {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}x{}", self.w, self.h)
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let (w, h) = image.boxed(self.w, self.h)?;
        image.scale(side(w), side(h));
        Ok(())
    }

    fn size(&self, _: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        Some((self.w.whole()?, self.h.whole()?))
    }

    fn farthest(&self) -> f64 {
        self.w.of(0.0).max(self.h.of(0.0))
    }
}
