//! The processing of sharp, a library for Node.js on top of libvips, for the dialects of programs that use it.
//!
//! A [`Pipeline`] holds sharp's options. Whatever the order in which they were set, sharp applies them in an order of
//! its own (`lib/resize.js` and `src/pipeline.cc` of version 0.34.5), which `steps` follows to the pixel.

mod output;
mod resize;
mod rules;
mod steps;
mod wish;

use andon_recipe::Colour;

pub(crate) use output::{Encoding, Format, quality};
pub(crate) use resize::{Fit, Position, Resize};
pub(crate) use rules::{SharpRules, options_of};

use crate::colours;

/// sharp's options for one image.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipeline {
    /// When the image is turned upright by its EXIF orientation; `None`: never.
    pub(crate) upright: Option<Upright>,
    /// A rectangle that is cropped to before scaling: left, top, width and height in px.
    pub(crate) part: Option<[u32; 4]>,
    /// A rectangle that is cropped to after scaling and rotating: left, top, width and height in px.
    pub(crate) later_part: Option<[u32; 4]>,
    /// Tolerance for trimming a border, in levels of 255; `None`: no border is trimmed.
    pub(crate) trim: Option<u8>,
    /// Clockwise turn in degrees.
    pub(crate) degrees: f64,
    /// Colour of the corners that a rotation uncovers; `None`: black.
    pub(crate) corners: Option<Colour>,
    /// Whether the image is turned and mirrored before scaling instead of after it.
    pub(crate) turns_first: bool,
    /// Whether top and bottom are mirrored.
    pub(crate) flip: bool,
    /// Whether left and right are mirrored.
    pub(crate) flop: bool,
    /// How the image is scaled.
    pub(crate) resize: Resize,
    /// Margins that are added, in px (top, right, bottom and left), and their colour.
    pub(crate) margins: Option<([u32; 4], Colour)>,
    /// Colour that replaces transparency; `None`: transparency is kept.
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
    /// After cropping to [`Pipeline::part`], which then refers to the stored image.
    AfterPart,
}

/// Parses a CSS colour, as [`colours::css`] does.
///
/// # Errors
/// sharp's message about a text that is not a colour.
pub(crate) fn colour(text: &str) -> Result<Colour, String> {
    let colour = colours::css(text);
    colour.ok_or_else(|| format!("Unable to parse color from string: {text}"))
}

/// Returns sharp's message about an invalid value. `what` is what it expects, `name` the option, and `kind`
/// JavaScript's name for the value's type.
pub(crate) fn expected(what: &str, name: &str, value: &str, kind: &str) -> String {
    format!("Expected {what} for {name} but received {value} of type {kind}")
}

/// Returns sharp's message about HEIF output without a named compression.
pub(crate) fn no_heif() -> String {
    expected("one of: av1, hevc", "compression", "undefined", "undefined")
}
