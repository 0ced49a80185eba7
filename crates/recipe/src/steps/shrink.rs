//! `shrink:4`: decodes at a reduced scale.

use std::fmt;

use super::{Declared, Geometry, Step};
use crate::resolve::Image;
use crate::{Arg, Facts, ParseError, Word};

/// Decode at N/8 (1 to 7) if the format supports it: each side becomes `ceil(side × N / 8)`. Must come before any other
/// geometry except turns and flips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shrink(pub u8);

const WORD: Word = Word {
    name: "shrink",
    args: &[Arg::whole("eighths", 1, 7).help("the scale is this many eighths")],
    help: "decodes smaller, where the format can; comes first, except for orient, turn and flip",
    example: "shrink:4",
};

impl Declared for Shrink {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        WORD.whole(parts).map(Self)
    }
}

impl Geometry for Shrink {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.0)
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        if !image.is_only_turned() {
            return Err("it must come before all steps but orient, turn and flip".to_owned());
        }
        if image.facts.shrinks
            && let Some((width, height)) = self.size((image.width, image.height), image.facts)
        {
            image.push(Step::Shrink(*self));
            image.resized(width, height);
        }
        Ok(())
    }

    fn size(&self, (width, height): (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        let shrunk = |side: u32| (u64::from(side) * u64::from(self.0)).div_ceil(8) as u32;
        Some((shrunk(width), shrunk(height)))
    }
}
