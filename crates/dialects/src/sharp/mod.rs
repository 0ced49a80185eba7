//! The arithmetic of sharp, a library for Node.js on libvips, for the dialects of programs that make their images with
//! it.
//!
//! A [`Pipeline`] holds sharp's options. Whatever the order in which they were set, sharp applies them in one of its own
//! (`lib/resize.js` and `src/pipeline.cc` of version 0.34.5), which `steps` follows to the pixel.

mod output;
mod resize;
mod rules;
mod steps;
mod wish;

use andon_recipe::Colour;

pub(crate) use output::{Format, Written, quality};
pub(crate) use resize::{Fit, Position, Resize};
pub(crate) use rules::{SharpRules, options_of};

use crate::colours;

/// sharp's options for one image.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipeline {
    /// When the image is turned upright by EXIF; `None`: never.
    pub(crate) upright: Option<Upright>,
    /// A rectangle to cut out of the image before it is scaled: left, top, width and height in px.
    pub(crate) part: Option<[u32; 4]>,
    /// A rectangle to cut out of the image after it is scaled and rotated: left, top, width and height in px.
    pub(crate) later_part: Option<[u32; 4]>,
    /// Tolerance of a border that is cut off, in levels of 255.
    pub(crate) trim: Option<u8>,
    /// Clockwise turn in degrees.
    pub(crate) degrees: f64,
    /// Colour of the corners that a turn leaves free; `None`: black.
    pub(crate) corners: Option<Colour>,
    /// Whether the image is turned and mirrored before it is scaled, and not after.
    pub(crate) turns_first: bool,
    /// Whether top and bottom are mirrored.
    pub(crate) flip: bool,
    /// Whether left and right are mirrored.
    pub(crate) flop: bool,
    /// How the image is scaled.
    pub(crate) resize: Resize,
    /// Margins in px, top, right, bottom and left, and their colour.
    pub(crate) margins: Option<([u32; 4], Colour)>,
    /// Colour behind transparent parts.
    pub(crate) ground: Option<Colour>,
    /// Effects as words of a recipe, in their order.
    pub(crate) effects: Vec<String>,
    /// Whether the image is scaled in linear light.
    pub(crate) linear: bool,
}

/// When an image is turned upright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upright {
    /// Before anything else.
    First,
    /// After a part was cut out of the stored image.
    AfterPart,
}

/// Reads a colour as sharp does, as far as it is a CSS colour of red, green and blue.
pub(crate) fn colour(text: &str) -> Result<Colour, String> {
    let colour = colours::css(text);
    colour.ok_or_else(|| format!("Unable to parse color from string: {text}"))
}

/// Returns the sentence with which sharp refuses a value. `kind`: JavaScript's name for the value's type.
pub(crate) fn expected(what: &str, name: &str, value: &str, kind: &str) -> String {
    format!("Expected {what} for {name} but received {value} of type {kind}")
}

/// Returns the sentence with which sharp refuses to write HEIF whose compression is not said.
pub(crate) fn no_heif() -> String {
    expected("one of: av1, hevc", "compression", "undefined", "undefined")
}
