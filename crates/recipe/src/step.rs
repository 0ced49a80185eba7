//! The steps of a recipe. Geometry is typed because sizes are computed and reads are combined from it;
//! effects are open words.

mod material;

use crate::text::ParseError;
use crate::words;

/// One step, acting on what the step before left.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Answer with the source's own bytes. Stands alone.
    Original,
    /// Turn upright by the EXIF orientation.
    Orient,
    /// Decode at N/8 (1 to 7) where the format can: each side becomes `ceil(side × N / 8)`. Before any
    /// other geometry but turns.
    Shrink(u8),
    /// Turn clockwise by quarters.
    Turn(Turn),
    /// Mirror.
    Flip(Flip),
    /// Turn clockwise by any angle; the image grows to hold all of it.
    Rotate {
        /// Degrees, -360 to 360.
        degrees: f64,
        /// What the corners show.
        colour: Colour,
    },
    /// Cut a uniform border off: what differs from the corner's pixel by no more than this many levels
    /// of 255. After [`Rules::measures`](crate::Rules::measures).
    Trim(u8),
    /// Keep a part.
    Crop(Crop),
    /// Scale to fit inside a box, aspect kept.
    Fit {
        /// The box; one side may be open.
        inside: Bounds,
        /// May the image grow?
        enlarge: bool,
    },
    /// Scale to cover a box, aspect kept, and crop what hangs over.
    Cover {
        /// Width of the box.
        w: Length,
        /// Height of the box.
        h: Length,
        /// Which part is kept.
        gravity: Gravity,
        /// May the image grow? Otherwise an image smaller than the box is only cropped to it.
        enlarge: bool,
    },
    /// Scale to exactly this size, whatever becomes of the aspect.
    Exact {
        /// Width.
        w: Length,
        /// Height.
        h: Length,
    },
    /// Add margins.
    Pad(Pad),
    /// Lay on a ground of fixed size; what hangs over is cut off.
    Canvas(Canvas),
    /// Lay on an opaque colour where the image is transparent.
    Flatten(Colour),
    /// The point that later crops keep in view, unless they name a gravity.
    Focus {
        /// From the left edge.
        x: Length,
        /// From the top edge.
        y: Length,
    },
    /// Later crops keep in view where the eye is drawn. After [`Rules::measures`](crate::Rules::measures).
    Salient,
    /// Later crops keep faces in view, or where the eye is drawn if there are none. After
    /// [`Rules::measures`](crate::Rules::measures).
    Faces,
    /// Blur faces, by this many px or by a share of the size of each. After
    /// [`Rules::measures`](crate::Rules::measures).
    BlurFaces(Option<f64>),
    /// Pixels of later boxes, margins and canvases are multiplied by this: device pixels per CSS pixel.
    Dpr(f64),
    /// An effect.
    Effect(Effect),
}

impl Step {
    /// Does it wait for an answer to a question that does not decide sizes?
    #[must_use]
    pub fn is_to_be_measured(&self) -> bool {
        matches!(self, Self::Salient | Self::Faces | Self::BlurFaces(_))
    }
}

/// A clockwise turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A quarter.
    R90,
    /// A half.
    R180,
    /// Three quarters.
    R270,
}

/// A mirroring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flip {
    /// Left to right.
    Horizontal,
    /// Top to bottom.
    Vertical,
    /// Both, which is a half turn.
    Both,
}

/// A length along one side of the image. Finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Pixels.
    Px(f64),
    /// Hundredths of the image's side.
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

    /// To hundredths of a pixel or ten thousandths of a percent, which is less than any image shows:
    /// lengths that look alike become one.
    #[must_use]
    pub fn rounded(self) -> Self {
        match self {
            Self::Px(px) => Self::Px((px * 1e2).round() / 1e2),
            Self::Percent(percent) => Self::Percent((percent * 1e4).round() / 1e4),
        }
    }

    /// In pixels, along a side of `side` px.
    #[must_use]
    pub fn of(self, side: f64) -> f64 {
        match self {
            Self::Px(px) => px,
            Self::Percent(percent) => side * percent * 0.01,
        }
    }
}

/// The part that a crop keeps. What lies outside the image is not there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crop {
    /// A rectangle.
    At {
        /// Left edge.
        x: Length,
        /// Top edge.
        y: Length,
        /// Width.
        w: Length,
        /// Height.
        h: Length,
    },
    /// A size, kept at the gravity.
    Towards {
        /// Width.
        w: Length,
        /// Height.
        h: Length,
        /// The side or corner at which the crop or overlay lies.
        gravity: Gravity,
    },
}

/// A box with one or both sides given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// The width; the height follows.
    Width(Length),
    /// The height; the width follows.
    Height(Length),
    /// Width and height.
    Both(Length, Length),
}

/// The side or corner that is kept when something is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gravity {
    /// The middle, or the point that `focus` names.
    #[default]
    Centre,
    /// The top.
    North,
    /// The right.
    East,
    /// The bottom.
    South,
    /// The left.
    West,
    /// The upper right corner.
    NorthEast,
    /// The lower right corner.
    SouthEast,
    /// The lower left corner.
    SouthWest,
    /// The upper left corner.
    NorthWest,
}

impl Gravity {
    /// All of them, in the order of [`words::GRAVITIES`].
    pub(crate) const ALL: [Self; 9] = [
        Self::Centre,
        Self::North,
        Self::East,
        Self::South,
        Self::West,
        Self::NorthEast,
        Self::SouthEast,
        Self::SouthWest,
        Self::NorthWest,
    ];

    /// Which halves of the free space lie left of and above what is kept: 0, 1 or 2 of 2.
    pub(crate) fn halves(self) -> (u32, u32) {
        match self {
            Self::Centre => (1, 1),
            Self::North => (1, 0),
            Self::East => (2, 1),
            Self::South => (1, 2),
            Self::West => (0, 1),
            Self::NorthEast => (2, 0),
            Self::SouthEast => (2, 2),
            Self::SouthWest => (0, 2),
            Self::NorthWest => (0, 0),
        }
    }
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

impl Colour {
    /// Opaque white.
    pub const WHITE: Self = Self {
        r: 255,
        g: 255,
        b: 255,
        a: 255,
    };

    /// Transparent black: nothing at all.
    pub const CLEAR: Self = Self {
        r: 0,
        g: 0,
        b: 0,
        a: 0,
    };
}

/// Margins in px, and what they show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pad {
    /// Above.
    pub top: u32,
    /// To the right.
    pub right: u32,
    /// Below.
    pub bottom: u32,
    /// To the left.
    pub left: u32,
    /// Their colour.
    pub colour: Colour,
}

/// A ground of fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// Width in px, at least 1.
    pub w: u32,
    /// Height in px, at least 1.
    pub h: u32,
    /// The ground's colour.
    pub colour: Colour,
    /// Where the image's left and top edge lie on it, in px; absent: centred.
    pub at: Option<(i32, i32)>,
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
    /// The effect that composes with an image from a file: its first argument is the file's name.
    pub const OVER: &str = "over";

    /// The effect that composes with an image from a file, in a size, opacity and mode.
    pub const OVERLAY: &str = "overlay";

    /// The effect that blurs a rectangle.
    pub const BLUR_AREA: &str = "blur-area";

    /// The shapes of the effect that cuts one out of an image.
    pub const MASKS: &[&str] = &[
        "circle",
        "ellipse",
        "triangle",
        "triangle-180",
        "pentagon",
        "pentagon-180",
        "hexagon",
        "square",
        "star",
        "heart",
    ];

    /// An effect whose word is well formed and means nothing else.
    ///
    /// # Errors
    /// [`ParseError`] when the word is not lower-case letters, digits and `-` after a letter, or is a
    /// word of the language.
    pub fn new(name: &str, args: Vec<String>) -> Result<Self, ParseError> {
        let word = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !word || words::is_taken(name) {
            return Err(ParseError::new(
                name,
                "a step, or an effect's word of lower-case letters, digits and `-`",
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            args,
        })
    }
}
