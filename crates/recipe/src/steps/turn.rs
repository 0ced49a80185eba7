//! `turn:90`: turns the image by quarters.

use std::fmt;

use super::{Declared, Geometry};
use crate::choices::Choices;
use crate::resolve::Image;
use crate::{Arg, Facts, Orientation, ParseError, Word};

/// A clockwise turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A quarter turn clockwise, 90°.
    R90,
    /// A half turn, 180°.
    R180,
    /// Three quarter turns clockwise, 270°.
    R270,
}

const WORD: Word = Word {
    name: "turn",
    args: &[Arg::choice("angle", Turn::CHOICES.words)
        .unit("degrees clockwise")
        .help("how far")],
    help: "turns by quarters",
    example: "turn:90",
};

impl Turn {
    /// The angles in degrees, as recipes write them.
    pub(crate) const CHOICES: Choices<Self> = Choices {
        words: &["90", "180", "270"],
        values: &[Self::R90, Self::R180, Self::R270],
    };
}

impl Declared for Turn {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        Self::CHOICES.read(&WORD, parts)
    }
}

impl Geometry for Turn {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", Self::CHOICES.word(*self))
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        image.turn(Orientation::default().then(*self));
        Ok(())
    }

    fn size(&self, (width, height): (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        let turn = Orientation::default().then(*self);
        Some(turn.size(width, height))
    }

    fn comes_before_trim(&self) -> bool {
        true
    }
}
