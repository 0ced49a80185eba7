//! `orient`: turns the image upright by the orientation that is stored with the source.

use super::{Declared, Geometry, Step};
use crate::resolve::Image;
use crate::{Facts, ParseError, Word};

/// Turn the image upright by its stored (EXIF) orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orient;

const WORD: Word = Word {
    name: "orient",
    args: &[],
    help: "turns the image upright here; without it, that comes first. Which way is up is what browsers read: EXIF in \
           JPEG and PNG, the header of AVIF, HEIC, JPEG XL and TIFF, nothing in WebP and GIF",
    example: "orient",
};

impl Declared for Orient {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        WORD.texts(parts).map(|[]| Self)
    }
}

impl Geometry for Orient {
    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let stored = image.facts.orientation;
        if !image.upright && !stored.is_upright() {
            image.push(Step::Orient(*self));
            image.moved(stored);
        }
        image.upright = true;
        Ok(())
    }

    fn size(&self, (width, height): (u32, u32), facts: &Facts) -> Option<(u32, u32)> {
        Some(facts.orientation.size(width, height))
    }

    fn comes_before_trim(&self) -> bool {
        true
    }
}
