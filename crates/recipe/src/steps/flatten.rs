//! `flatten:ffffff`: removes transparency.

use std::fmt;

use super::{Declared, Geometry};
use crate::resolve::Image;
use crate::{Arg, Colour, Facts, ParseError, Word};

/// Composite the image over an opaque colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flatten(pub Colour);

const WORD: Word = Word {
    name: "flatten",
    args: &[Arg::colour("colour").help("an opaque colour")],
    help: "shows a colour where the image is transparent",
    example: "flatten:ffffff",
};

impl Declared for Flatten {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [colour] = WORD.texts(parts)?;
        let colour: Colour = colour.parse()?;
        match colour.a {
            u8::MAX => Ok(Self(colour)),
            _ => Err(WORD.wrong(parts, "an opaque colour, as in `flatten:ffffff`")),
        }
    }
}

impl Geometry for Flatten {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.0)
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        if image.alpha {
            image.lay((image.width, image.height), (0, 0), self.0);
        }
        Ok(())
    }

    fn size(&self, size: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        Some(size)
    }
}
