//! Making files of a vector format, for text and plain colours that are laid over an image.

use andon_recipe::Colour;

use crate::error::Result;

/// Makes files of a format that is drawn at any size. They are then decoded as any other file of the format.
pub trait Drawings: Send + Sync {
    /// Returns a file that shows a text on a transparent ground.
    ///
    /// # Errors
    /// `Unsupported` if the fonts cannot show this text.
    fn text(&self, text: &Text<'_>) -> Result<Vec<u8>>;

    /// Returns a file of one pixel of this colour.
    fn solid(&self, colour: Colour) -> Vec<u8>;

    /// Returns the characters of `text` for which no font has a glyph, each once. They are not drawn.
    fn undrawn_letters(&self, text: &str) -> Vec<char>;

    /// Returns the families that `font`, as in [`Text::font`], asks for and that are not there.
    fn unknown_families(&self, font: &str) -> Vec<String>;

    /// Returns a name of the fonts, which is another for any other set of them; empty for those that every build has.
    /// Everything that shows text depends on it.
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
    /// The families to draw it with, the most wanted first, and words for their style, such as `Noto Serif,bold,italic`;
    /// empty for the default family.
    pub font: &'a str,
    /// Where on the image it is, from left to right and from top to bottom.
    pub gravity: (Anchor, Anchor),
    /// Distance from the sides at which it is. Less than 0: it hangs over.
    pub margin: (f64, f64),
    /// Width and height of the box that it has to fit into; 0 where it may be as long as it is.
    pub area: (f64, f64),
    /// Where a line starts within the box, or within the longest line.
    pub align: Align,
    /// What happens to text that does not fit into its box.
    pub overflow: Overflow,
    /// In which direction lines follow each other.
    pub writing: Writing,
    /// Where lines may be broken.
    pub breaks: Breaks,
    /// Where a text that is too long is cut.
    pub cut: Cut,
    /// Additional distance between characters. Less than 0: they are closer together.
    pub tracking: f64,
    /// Additional distance between lines. Less than 0: they are closer together.
    pub leading: f64,
    /// A line around the letters.
    pub outline: Option<Outline>,
    /// Clockwise angle in degrees by which the lines are turned about their middle.
    pub turn: f64,
    /// Whether turned lines keep their middle where it is. Otherwise what they cover lies on the image as the gravity
    /// says.
    pub keeps_middle: bool,
    /// If the image is a tile that is to be repeated, the room beside the text in it. The tile is as large as the text
    /// needs, and at most as large as the image.
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
    /// Its end is left out.
    End,
    /// Its beginning is left out.
    Start,
    /// Its middle is left out.
    Middle,
}

/// A line around the letters of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline {
    /// How far it reaches beyond the letters, in px.
    pub width: f64,
    /// Its colour. What is behind translucent letters shows it, too.
    pub colour: Colour,
}

/// Room beside a text, in px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// Left and right together.
    pub across: f64,
    /// Above and below together.
    pub down: f64,
}

/// A place along one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning: left, top.
    Start,
    /// Its middle.
    Middle,
    /// Its end: right, bottom.
    End,
}

/// How a line is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left side; in columns, at the top.
    Left,
    /// In the middle.
    Centre,
    /// At the right side; in columns, at the bottom.
    Right,
    /// At the side where the paragraph's script begins a line.
    Start,
    /// At the side where the paragraph's script ends a line.
    End,
    /// At both sides, by wider spaces. The last line of a paragraph is at its start.
    Justify,
}

/// What happens to text that does not fit into its box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Lines are broken at the box's width, and may be more than its height has room for.
    Wrap,
    /// The font is made smaller.
    Shrink,
    /// What does not fit is cut off, and an ellipsis stands for it.
    Ellipsis,
    /// What does not fit is cut off.
    Clip,
}

/// In which direction lines follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Lines from top to bottom.
    Horizontal,
    /// Columns from right to left, with letters of scripts that have no columns turned.
    Vertical,
}
