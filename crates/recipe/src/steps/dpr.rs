//! `dpr:2`: the number of device pixels per CSS pixel.

use std::fmt;

use super::{Declared, Geometry};
use crate::resolve::Image;
use crate::{Arg, ParseError, Word};

/// Multiply the pixels of later boxes, margins and canvases, and of crops after a scaling, by this ratio of device
/// pixels to CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dpr(pub f64);

const WORD: Word = Word {
    name: "dpr",
    args: &[Arg::number("ratio", 0.1, 10.0).help("device pixels per CSS pixel")],
    help: "multiplies the pixels of later boxes, margins and canvases, and of crops after a scaling; texts and overlays keep theirs",
    example: "dpr:2",
};

impl Declared for Dpr {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [ratio] = WORD.texts(parts)?;
        WORD.args[0].read_number(ratio).map(Self)
    }
}

impl Geometry for Dpr {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.0)
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        image.dpr = self.0;
        Ok(())
    }

    fn comes_before_trim(&self) -> bool {
        true
    }
}
