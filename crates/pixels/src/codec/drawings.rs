//! Generates vector files from text and plain colours, to be laid over an image.

use andon_recipe::Colour;

use crate::error::Result;

/// Generates files of a vector format from text and colours. They are then decoded like any other file of the format.
pub trait Drawings: Send + Sync {
    /// Returns a file that shows a text on a transparent background.
    ///
    /// # Errors
    /// `Unsupported` if the fonts cannot show this text.
    fn text(&self, text: &Text<'_>) -> Result<Vec<u8>>;

    /// Returns a file that shows one pixel of this colour.
    fn solid(&self, colour: Colour) -> Vec<u8>;

    /// Returns the characters of `text` for which no font has a glyph, each once. They are not drawn.
    fn undrawn_letters(&self, text: &str) -> Vec<char>;

    /// Returns the font families that `font` requests but that are not installed. `font` is written as in
    /// [`Text::font`].
    fn unknown_families(&self, font: &str) -> Vec<String>;

    /// Returns an identifier of the installed set of fonts, empty for the fonts that every build includes. Images with
    /// text depend on it, so it is part of their cache keys.
    fn fonts(&self) -> String;
}

/// A text to draw. Lengths are in px.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// The text, with line ends between its paragraphs.
    pub text: &'a str,
    /// Width of the image to draw on.
    pub width: u32,
    /// Height of the image to draw on.
    pub height: u32,
    /// Size of the font.
    pub size: f64,
    /// Colour of the letters.
    pub colour: Colour,
    /// The font families in order of preference, and words for their style, such as `Noto Serif,bold,italic`; empty for
    /// the default family.
    pub font: &'a str,
    /// Position of the text on the image, horizontally and vertically.
    pub gravity: (Anchor, Anchor),
    /// Distance of the text from the sides that `gravity` names, horizontally and vertically. With a negative margin
    /// the text extends beyond the image.
    pub margin: (f64, f64),
    /// Width and height of the box that the text has to fit into; 0 for a side without a limit.
    pub area: (f64, f64),
    /// How lines are aligned within the box or, without a box, within the longest line.
    pub align: Align,
    /// What happens to text that does not fit into its box.
    pub overflow: Overflow,
    /// Whether lines run horizontally or vertically.
    pub writing: Writing,
    /// Where lines may be broken.
    pub breaks: Breaks,
    /// Where a text that is too long is cut.
    pub cut: Cut,
    /// Additional distance between characters; negative values bring them closer together.
    pub tracking: f64,
    /// Additional distance between lines; negative values bring them closer together.
    pub leading: f64,
    /// A line around the letters, if they have one.
    pub outline: Option<Outline>,
    /// Clockwise angle in degrees by which the lines are turned about their middle.
    pub turn: f64,
    /// Whether the middle of the text stays in place when its lines are turned. Otherwise the bounding box of the
    /// turned lines is placed by `gravity`.
    pub keeps_middle: bool,
    /// The gaps around the text if the file is a tile to be repeated; `None` for a single text. A tile is as large as
    /// the text and its gaps, and at most `width` × `height`.
    pub tile: Option<Room>,
}

/// Where lines may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaks {
    /// Where Unicode Standard Annex 14 allows it, and within words that are longer than a line.
    Words,
    /// Between any two characters.
    Characters,
}

/// Where a text that is too long is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The end of the text is left out.
    End,
    /// The beginning of the text is left out.
    Start,
    /// The middle of the text is left out.
    Middle,
}

/// A line around the letters of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline {
    /// How far the line reaches beyond the letters, in px.
    pub width: f64,
    /// Colour of the outline. If the letters are translucent, it shows through them.
    pub colour: Colour,
}

/// Gaps around a text, in px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// Total width in px of the gaps to the left and right of a text.
    pub across: f64,
    /// Total height in px of the gaps above and below a text.
    pub down: f64,
}

/// A position along one axis of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The beginning of the axis: left or top.
    Start,
    /// The middle of the axis.
    Middle,
    /// The end of the axis: right or bottom.
    End,
}

/// How the lines of a text are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left side or, if the text is written vertically, at the top.
    Left,
    /// In the middle.
    Centre,
    /// At the right side or, if the text is written vertically, at the bottom.
    Right,
    /// At the side where the paragraph's script begins a line.
    Start,
    /// At the side where the paragraph's script ends a line.
    End,
    /// At both sides, by wider spaces. The last line of a paragraph is aligned at its start.
    Justify,
}

/// What happens to text that does not fit into its box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Lines are broken at the box's width, and may exceed its height.
    Wrap,
    /// The font is made smaller until the text fits.
    Shrink,
    /// The excess text is cut off and replaced by an ellipsis.
    Ellipsis,
    /// The excess text is cut off.
    Clip,
}

/// Whether lines of text run horizontally or vertically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Horizontal lines, from top to bottom.
    Horizontal,
    /// Vertical lines, from right to left. Letters of scripts that are only written horizontally are turned.
    Vertical,
}
