//! `rotate:12.5`: rotates the image by any angle.

use std::fmt;

use super::{Declared, Geometry, Step};
use crate::resolve::{Image, side};
use crate::{Arg, Colour, Facts, Orientation, ParseError, Word};

/// Rotate clockwise by any angle. The canvas grows to hold the whole image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotate {
    /// Angle in degrees, -360 to 360.
    pub degrees: f64,
    /// Colour of the corners that the rotated image leaves free.
    pub colour: Colour,
}

const WORD: Word = Word {
    name: "rotate",
    args: &[
        Arg::number("degrees", -360.0, 360.0)
            .unit("degrees clockwise")
            .help("how far"),
        Arg::colour("colour")
            .default("00000000")
            .help("what the corners show"),
    ],
    help: "turns by any angle; the image grows to hold all of it",
    example: "rotate:12.5:ffffff",
};

impl Declared for Rotate {
    const WORDS: &'static [&'static Word] = &[&WORD];

    fn read(parts: &[String]) -> Result<Self, ParseError> {
        let [degrees, colour] = WORD.texts(parts)?;
        Ok(Self {
            degrees: WORD.args[0].read_number(degrees)?,
            colour: colour.parse()?,
        })
    }
}

impl Geometry for Rotate {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}{}", self.degrees, self.colour.unless_clear())
    }

    fn apply(&self, image: &mut Image<'_>) -> Result<(), String> {
        let degrees = self.degrees.rem_euclid(360.0);
        if degrees % 90.0 == 0.0 {
            image.turn(Orientation {
                mirror: false,
                quarters: (degrees / 90.0) as u8,
            });
            return Ok(());
        }
        let (width, height) = rotated_size(image.width, image.height, degrees);
        image.push(Step::Rotate(Self { degrees, ..*self }));
        // The centre of the image stays the centre.
        let middle = (f64::from(image.width) / 2.0, f64::from(image.height) / 2.0);
        image.carry(|(x, y)| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let (x, y) = (x - middle.0, y - middle.1);
            (
                x * cos - y * sin + f64::from(width) / 2.0,
                x * sin + y * cos + f64::from(height) / 2.0,
            )
        });
        (image.width, image.height) = (width, height);
        image.alpha |= self.colour.a < u8::MAX;
        Ok(())
    }

    fn size(&self, (width, height): (u32, u32), _: &Facts) -> Option<(u32, u32)> {
        Some(rotated_size(width, height, self.degrees))
    }
}

/// Returns the size in px of the bounding box of an image rotated by any angle, rounded to the nearest px.
#[must_use]
pub fn rotated_size(width: u32, height: u32, degrees: f64) -> (u32, u32) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let (w, h) = (f64::from(width), f64::from(height));
    (
        side(w * cos.abs() + h * sin.abs()),
        side(w * sin.abs() + h * cos.abs()),
    )
}
