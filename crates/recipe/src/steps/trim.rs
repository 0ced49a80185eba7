//! `trim:10`: cuts off a uniform border.

use std::fmt;

use super::{Declared, Geometry};
use crate::resolve::Image;
use crate::{Area, Arg, Measure, ParseError, Word};

/// Cut off a uniform border: pixels that differ from the one in the upper left corner by no more than this many levels
/// of 255. Needs the measurements of [`Rules::measures`](crate::Rules::measures).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim(pub u8);

const WORD: Word = Word {
    name: "trim",
    args: &[Arg::whole("tolerance", 0, 255)
        .unit("levels of 255")
        .default("10")
        .help(
            "how far opacity, or red, green or blue times opacity, may differ from the pixel in the upper left corner \
             and still be border",
        )],
    help: "cuts a uniform border off, be it of one colour or transparent; comes before other geometry, except orient, \
           turn and flip. Images of one colour stay as they are. Exact for formats that are always decoded in full \
           (PNG, GIF) and up to 4 megapixels; larger JPEG and WebP images are measured on a reduced decode: up to 7 \
           pixels of border may stay on each side, and a detail thinner than a reduced pixel (8 pixels at most) may be \
           cut off. Of an animation, only what is border in every frame is cut off",
    example: "trim:10",
};

impl Trim {
    /// Returns the measurement on the stored image that finds the border of the image after the turns and flips of the
    /// preceding steps.
    pub(crate) fn border(self, image: &Image<'_>) -> Measure {
        Measure::Trim {
            tolerance: self.0,
            corner: image.total_turn.first_corner(),
        }
    }
}

impl Declared for Trim {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        WORD.whole(parts).map(Self)
    }
}

impl Geometry for Trim {
    // The default is printed too, because readers would not understand a bare `trim`.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.0)
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let Some(Area { x, y, w, h }) = image.facts.measured.area(self.border(image)) else {
            return Err("the border was not measured".to_owned());
        };
        let stored = (image.facts.width.into(), image.facts.height.into());
        let [left, top, ..] = (image.total_turn).part([x, y, x + w, y + h].map(f64::from), stored);
        let (w, h) = image.total_turn.size(w, h);
        image.cut(left as u32, top as u32, w, h);
        Ok(())
    }
}
