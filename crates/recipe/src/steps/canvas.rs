//! `canvas:300x300:ffffff`: a background of fixed size.

use std::fmt;

use super::{Declared, Geometry, pixels};
use crate::resolve::{Image, side};
use crate::{Arg, Colour, Facts, Length, ParseError, Word};

/// Place the image on a canvas of fixed size. Parts beyond the canvas are cropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// Width in px, at least 1.
    pub w: u32,
    /// Height in px, at least 1.
    pub h: u32,
    /// Colour of the canvas.
    pub colour: Colour,
    /// Position of the image's left and top edge on the canvas, in px; `None` if the image is centred.
    pub at: Option<(i32, i32)>,
}

const WORD: Word = Word {
    name: "canvas",
    args: &[
        Arg::whole("width", 1, MOST)
            .unit("px")
            .help("width of the canvas"),
        Arg::whole("height", 1, MOST)
            .after('x')
            .unit("px")
            .help("height of the canvas"),
        Arg::colour("colour").help("what shows around and through the image"),
        Arg::whole("x", -MOST, MOST)
            .unit("px")
            .default(CENTRED)
            .help("left edge of the image on the canvas"),
        Arg::whole("y", -MOST, MOST)
            .unit("px")
            .default(CENTRED)
            .help("top edge of the image on the canvas"),
    ],
    help: "lays the image on a canvas of fixed size; what hangs over is cut off",
    example: "canvas:300x300:ffffff",
};

const MOST: i64 = Length::MAX_PX as i64;
const CENTRED: &str = "centred";

impl Declared for Canvas {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [w, h, colour, x, y] = WORD.texts(parts)?;
        let at = match (x, y) {
            (CENTRED, CENTRED) => None,
            (_, CENTRED) => return Err(WORD.form(parts)),
            (x, y) => Some((pixels(x)?, pixels(y)?)),
        };
        Ok(Self {
            w: pixels(w)?,
            h: pixels(h)?,
            colour: colour.parse()?,
            at,
        })
    }
}

impl Geometry for Canvas {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}x{}:{}", self.w, self.h, self.colour)?;
        self.at.map_or(Ok(()), |(x, y)| write!(f, ":{x}:{y}"))
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let scaled = |side: f64| (side * image.dpr).round();
        let (w, h) = (side(scaled(self.w.into())), side(scaled(self.h.into())));
        let centred = |room: u32, length: u32| (i64::from(room) - i64::from(length)).div_euclid(2);
        let at = match self.at {
            Some((x, y)) => (scaled(x.into()) as i64, scaled(y.into()) as i64),
            None => (centred(w, image.width), centred(h, image.height)),
        };
        image.lay((w, h), at, self.colour);
        Ok(())
    }

    fn size(&self, _: (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        Some((self.w, self.h))
    }

    fn farthest(&self) -> f64 {
        let (x, y) = self.at.unwrap_or_default();
        let lengths = [self.w.into(), self.h.into(), x.into(), y.into()];
        lengths.into_iter().fold(0.0, f64::max)
    }
}
