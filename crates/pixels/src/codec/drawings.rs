//! Making files of a vector format, for text and plain colours that are laid over an image.

use andon_recipe::Colour;

/// Makes files of a format that is drawn at any size. They are then decoded as any other file of the format.
pub trait Drawings: Send + Sync {
    /// Returns a file that shows a text on a transparent ground.
    fn text(&self, text: &Text<'_>) -> Vec<u8>;

    /// Returns a file of one pixel of this colour.
    fn solid(&self, colour: Colour) -> Vec<u8>;

    /// Returns the characters of `text` for which no font has a glyph, each once. They are not drawn.
    fn undrawn_letters(&self, text: &str) -> Vec<char>;
}

/// A text to draw. Lengths are in px.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// Width of the image to draw on.
    pub width: u32,
    /// Height of the image to draw on.
    pub height: u32,
    /// Size of the font.
    pub size: f64,
    /// Colour of the letters.
    pub colour: Colour,
    /// Which point of its baseline a line's position is.
    pub anchor: Anchor,
    /// The lines, each with the position of its anchor.
    pub lines: Vec<((f64, f64), &'a str)>,
}

/// Which point of a line's baseline is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Where the line starts.
    Start,
    /// Its middle.
    Middle,
    /// Where the line ends.
    End,
}
