//! `flip:h`: mirrors the image.

use std::fmt;

use super::{Declared, Geometry};
use crate::choices::Choices;
use crate::resolve::Image;
use crate::{Arg, Facts, Orientation, ParseError, Word};

/// The direction in which an image is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flip {
    /// Left to right.
    Horizontal,
    /// Top to bottom.
    Vertical,
    /// Both, which equals a half turn.
    Both,
}

const WORD: Word = Word {
    name: "flip",
    args: &[Arg::choice("direction", Flip::CHOICES.words)
        .help("h: left to right; v: top to bottom; hv: both")],
    help: "mirrors the image",
    example: "flip:h",
};

impl Flip {
    /// The words for the directions of mirroring.
    pub(crate) const CHOICES: Choices<Self> = Choices {
        words: &["h", "v", "hv"],
        values: &[Self::Horizontal, Self::Vertical, Self::Both],
    };
}

impl Declared for Flip {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        Self::CHOICES.read(&WORD, parts)
    }
}

impl Geometry for Flip {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", Self::CHOICES.word(*self))
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        image.turn(Orientation::default().flipped(*self));
        Ok(())
    }

    fn size(&self, size: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        Some(size)
    }

    fn comes_before_trim(&self) -> bool {
        true
    }
}
