//! The parts of a recipe. Geometry is a closed set because the planner reasons about it; effects
//! and formats are open words.

use crate::text::{ParseError, STAGES};

/// Everything that is wanted of one picture. The default changes nothing but the encoding.
///
/// The fields stand in the order in which they act.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// When to answer with the source's own bytes.
    pub original: Original,
    /// Decode a JPEG shrunk to N/8, never below this size (width, height in px), and measure every
    /// length that follows on the shrunken picture: ngx_small_light's `jpeghint` to the letter.
    /// Without it the planner shrinks on load by itself and lengths mean the full picture.
    pub hint: Option<(u32, u32)>,
    /// Drop ICC, EXIF and every other profile, without converting.
    pub strip: bool,
    /// Turn the picture upright by its EXIF orientation.
    pub orient: bool,
    /// Then turn it by this much.
    pub turn: Turn,
    /// The part of the (upright, turned) picture to use; acts only together with scaling.
    pub region: Region,
    /// The size that part is brought to.
    pub size: Size,
    /// A ground of fixed size to lay the picture on.
    pub canvas: Option<Canvas>,
    /// What shows through a picture that is not opaque; a canvas leaves nothing to show through.
    pub flatten: Flatten,
    /// Convert a CMYK picture to sRGB.
    pub srgb: bool,
    /// Effects in the order in which they act.
    pub effects: Vec<Effect>,
    /// How the result is written.
    pub output: Output,
}

impl Colour {
    /// What pictures are flattened over unless something else is said.
    pub const WHITE: Self = Self {
        r: 255,
        g: 255,
        b: 255,
        a: 255,
    };
}

impl Recipe {
    /// The files that its `over` effects compose with, by name.
    pub fn materials(&self) -> impl Iterator<Item = &str> {
        self.effects
            .iter()
            .filter(|effect| effect.name == Effect::OVER)
            .filter_map(|effect| effect.args.first())
            .map(String::as_str)
    }
}

/// When the source's bytes are the answer, untouched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Original {
    /// Never.
    #[default]
    Never,
    /// Always: the recipe of a plain file request.
    Always,
    /// When the region is smaller than the asked size on both sides (small_light `pt=ptss`).
    IfSmaller,
    /// When the region is larger than the asked size on one side (small_light `pt=ptls`).
    IfLarger,
}

/// A length along one side of the picture. Finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Pixels; fractions are kept until the layout truncates them.
    Px(f64),
    /// Hundredths of the picture's side.
    Percent(f64),
}

impl Length {
    /// The most pixels that a text can say.
    pub const MAX_PX: f64 = 1e6;
    /// The most percent that a text can say.
    pub const MAX_PERCENT: f64 = 1e5;

    /// Pixels; `None` unless 0 to [`Self::MAX_PX`].
    #[must_use]
    pub fn px(px: f64) -> Option<Self> {
        // Adding 0 makes -0, whose text would not read back, a plain 0.
        (0.0..=Self::MAX_PX)
            .contains(&px)
            .then_some(Self::Px(px + 0.0))
    }

    /// Percent; `None` unless 0 to [`Self::MAX_PERCENT`].
    #[must_use]
    pub fn percent(percent: f64) -> Option<Self> {
        (0.0..=Self::MAX_PERCENT)
            .contains(&percent)
            .then_some(Self::Percent(percent + 0.0))
    }

    /// To hundredths of a pixel or ten thousandths of a percent, which is less than any picture shows:
    /// lengths that look alike become one.
    #[must_use]
    pub fn rounded(self) -> Self {
        match self {
            Self::Px(px) => Self::Px((px * 1e2).round() / 1e2),
            Self::Percent(percent) => Self::Percent((percent * 1e4).round() / 1e4),
        }
    }
}

/// A part of the picture. An absent `x` or `y` is 0; an absent `w` or `h` is the whole side (not what
/// remains after `x` or `y`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Region {
    /// Left edge.
    pub x: Option<Length>,
    /// Top edge.
    pub y: Option<Length>,
    /// Width.
    pub w: Option<Length>,
    /// Height.
    pub h: Option<Length>,
}

/// The size a region is brought to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Width; when only one side is given the other follows by aspect.
    pub w: Option<Length>,
    /// Height.
    pub h: Option<Length>,
    /// What to do when both sides are given; without effect, and without text, otherwise.
    pub fit: Fit,
    /// Scale and crop even if that does not make the picture smaller.
    pub enlarge: bool,
}

/// How a region meets a box whose sides are both given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// As large as fits inside the box, aspect kept.
    #[default]
    Inside,
    /// As small as covers the box, aspect kept; the overhang stays (a canvas cuts it off).
    Cover,
    /// Exactly the box, aspect lost.
    Exact,
}

/// A clockwise turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// None.
    #[default]
    R0,
    /// A quarter.
    R90,
    /// A half.
    R180,
    /// Three quarters.
    R270,
}

/// A colour in sRGB with straight alpha (255 is opaque). Written `rrggbb`, or `rrggbbaa` when not
/// opaque.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
    /// Alpha.
    pub a: u8,
}

/// An opaque ground of fixed size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Width in px, at least 1.
    pub w: u32,
    /// Height in px, at least 1.
    pub h: u32,
    /// Left edge of the picture on it; percent of the picture's width. Absent: centred by the asked
    /// size.
    pub x: Option<Length>,
    /// Top edge, likewise.
    pub y: Option<Length>,
    /// The ground's colour; its alpha has no visible effect.
    pub colour: Colour,
}

/// What shows through a picture that is not opaque.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flatten {
    /// White, if the result's format cannot keep opacity; otherwise opacity is kept.
    #[default]
    IfNeeded,
    /// This colour, whatever the format. Its alpha has no effect.
    Over(Colour),
    /// Nothing: opacity that the format cannot keep is dropped, and hidden colours show, as in
    /// ngx_small_light.
    Drop,
}

/// One effect: an open word and its arguments, checked by the engine that knows the word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The word: lower-case letters, digits and `-`.
    pub name: String,
    /// Its arguments, decoded (the text escapes what would end them).
    pub args: Vec<String>,
}

impl Effect {
    /// The effect that composes with a picture from a file: its first argument is the file's name.
    pub const OVER: &str = "over";

    /// An effect whose word is well formed and means nothing else.
    ///
    /// # Errors
    /// [`ParseError`] when the word is not lower-case letters, digits and `-` after a letter, or is a
    /// stage's.
    pub fn new(name: &str, args: Vec<String>) -> Result<Self, ParseError> {
        let word = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !word || STAGES.contains(&name) {
            return Err(ParseError::new(
                name,
                "a stage, or an effect's word of lower-case letters, digits and `-`",
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            args,
        })
    }
}

/// The name of a picture format: lower-case letters and digits, such as `jpeg` or `webp`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormatName(pub(crate) String);

impl FormatName {
    /// A name of 1 to 16 lower-case letters and digits.
    ///
    /// # Errors
    /// [`ParseError`] for any other text.
    pub fn new(name: &str) -> Result<Self, ParseError> {
        let word = (1..=16).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if word {
            Ok(Self(name.to_owned()))
        } else {
            Err(ParseError::new(
                name,
                "a format's name in lower-case letters and digits such as `webp`",
            ))
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Chroma subsampling of a written picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chroma {
    /// 4:4:4, none.
    C444,
    /// 4:2:2, half horizontally.
    C422,
    /// 4:2:0, half both ways.
    C420,
    /// 4:4:0, half vertically.
    C440,
    /// 4:1:1, a quarter horizontally.
    C411,
}

/// How the result is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The format; absent: the source's own.
    pub format: Option<FormatName>,
    /// 1 to 1000 (PNG counts zlib level × 10 + filter; other formats act on 100 at most). Absent: the
    /// source's own quality where it can be told, else the format's default.
    pub quality: Option<u16>,
    /// Progressive JPEG, Adam7 PNG, interlaced GIF.
    pub progressive: bool,
    /// Chroma subsampling; absent: a JPEG source's own, else by quality.
    pub chroma: Option<Chroma>,
    /// The number of the frame to show as a still picture, from 1. Absent: a picture that moves goes on moving where
    /// the format can say so, and is shown by its first frame elsewhere.
    pub frame: Option<u32>,
    /// Encoder effort, 0 (fast) to 9 (small); absent: the format's fast default.
    pub effort: Option<u8>,
}
