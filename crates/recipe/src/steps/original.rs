//! `original`: the source's own bytes.

use super::{Declared, Geometry};
use crate::resolve::Image;
use crate::{Facts, ParseError, Word};

/// Return the source's own bytes. Must be the only step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original;

const WORD: Word = Word {
    name: "original",
    args: &[],
    help: "the source's own bytes; stands alone",
    example: "original",
};

impl Declared for Original {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        WORD.texts(parts).map(|[]| Self)
    }
}

impl Geometry for Original {
    fn apply(&self, _: &mut Image<'_>) -> Result<(), String> {
        Ok(())
    }

    fn size(&self, size: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        Some(size)
    }
}
