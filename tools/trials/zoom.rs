//! `zoom:2`: the middle of the image, enlarged to the size of the whole image.

use std::fmt;

use super::{Declared, Geometry};
use crate::resolve::{Image, side};
use crate::{Arg, Gravity, ParseError, Word};

/// Show the middle of the image, enlarged by this factor, at the size of the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zoom(pub f64);

const WORD: Word = Word {
    name: "zoom",
    args: &[Arg::number("factor", 1.0, 100.0).help("how much larger the middle is shown")],
    help: "enlarges the middle to the size of the whole",
    example: "zoom:2",
};

impl Declared for Zoom {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [factor] = WORD.texts(parts)?;
        WORD.args[0].read_number(factor).map(Self)
    }
}

impl Geometry for Zoom {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.0)
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let whole = (image.width, image.height);
        let part = (
            side(f64::from(image.width) / self.0),
            side(f64::from(image.height) / self.0),
        );
        image.keep(image.kept(part, Gravity::Centre), part);
        image.scale(whole.0, whole.1);
        Ok(())
    }
}
