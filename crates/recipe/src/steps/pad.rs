//! `pad:10:20:10:20`: adds margins.

use std::fmt;

use super::{Declared, Geometry, pixels};
use crate::resolve::Image;
use crate::{Arg, Colour, Length, ParseError, Word};

/// Add margins in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pad {
    /// Margin above, in px.
    pub top: u32,
    /// Margin to the right, in px.
    pub right: u32,
    /// Margin below, in px.
    pub bottom: u32,
    /// Margin to the left, in px.
    pub left: u32,
    /// Colour of the margins.
    pub colour: Colour,
}

const WORD: Word = Word {
    name: "pad",
    args: &[
        margin("top", "margin above"),
        margin("right", "margin to the right"),
        margin("bottom", "margin below"),
        margin("left", "margin to the left"),
        Arg::colour("colour")
            .default("00000000")
            .help("what the margins show"),
    ],
    help: "adds margins",
    example: "pad:10:20:10:20:ffffff",
};

const fn margin(name: &'static str, help: &'static str) -> Arg {
    let most = Length::MAX_PX as i64;
    Arg::whole(name, 0, most).unit("px").help(help)
}

impl Declared for Pad {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [top, right, bottom, left, colour] = WORD.texts(parts)?;
        Ok(Self {
            top: pixels(top)?,
            right: pixels(right)?,
            bottom: pixels(bottom)?,
            left: pixels(left)?,
            colour: colour.parse()?,
        })
    }
}

impl Geometry for Pad {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            top,
            right,
            bottom,
            left,
            colour,
        } = self;
        let colour = colour.unless_clear();
        write!(f, ":{top}:{right}:{bottom}:{left}{colour}")
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let scaled = |side: u32| (f64::from(side) * image.dpr).round() as u32;
        let grown = |side: u32, before, after| {
            side.saturating_add(scaled(before))
                .saturating_add(scaled(after))
        };
        let width = grown(image.width, self.left, self.right);
        let height = grown(image.height, self.top, self.bottom);
        let at = (scaled(self.left).into(), scaled(self.top).into());
        if (width, height) != (image.width, image.height) {
            image.lay((width, height), at, self.colour);
        }
        Ok(())
    }
}
