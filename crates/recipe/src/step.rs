//! The steps of a recipe. Geometry is typed, because sizes are computed from it and it is combined into one read of the
//! source. Effects are open words.

mod material;

use crate::text::ParseError;
use crate::words;

/// One step, which acts on the result of the step before.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Answer with the source's own bytes. Must be the only step.
    Original,
    /// Turn the image upright by its stored (EXIF) orientation.
    Orient,
    /// Decode at N/8 (1 to 7) if the format can: each side becomes `ceil(side × N / 8)`. Must come before any other
    /// geometry except turns and flips.
    Shrink(u8),
    /// Turn clockwise by quarter turns.
    Turn(Turn),
    /// Mirror the image.
    Flip(Flip),
    /// Turn clockwise by any angle. The image grows to hold all of it.
    Rotate {
        /// Angle in degrees, -360 to 360.
        degrees: f64,
        /// Colour of the corners that the turned image leaves free.
        colour: Colour,
    },
    /// Cut off a uniform border: pixels that differ from the one in the upper left corner by no more than this many
    /// levels of 255. Needs the measurements of [`Rules::measures`](crate::Rules::measures).
    Trim(u8),
    /// Crop to a part of the image.
    Crop(Crop),
    /// Scale to fit inside a box, keeping the aspect ratio.
    Fit {
        /// The box, one side of which may be open.
        inside: Bounds,
        /// Whether the image may be enlarged.
        enlarge: bool,
    },
    /// Scale to cover a box, keeping the aspect ratio, and crop what hangs over.
    Cover {
        /// Width of the box.
        w: Length,
        /// Height of the box.
        h: Length,
        /// Which part of the image is kept.
        gravity: Gravity,
        /// Whether the image may be enlarged. Otherwise an image smaller than the box is only cropped to it.
        enlarge: bool,
    },
    /// Scale to exactly this size, ignoring the aspect ratio.
    Exact {
        /// Width.
        w: Length,
        /// Height.
        h: Length,
    },
    /// Add margins.
    Pad(Pad),
    /// Lay the image on a canvas of fixed size. What hangs over is cut off.
    Canvas(Canvas),
    /// Show an opaque colour where the image is transparent.
    Flatten(Colour),
    /// Set the point that later crops keep in view, unless they name a gravity.
    Focus {
        /// Distance from the left edge.
        x: Length,
        /// Distance from the top edge.
        y: Length,
    },
    /// Make later crops keep in view what draws the eye. Needs the measurements of
    /// [`Rules::measures`](crate::Rules::measures).
    Salient,
    /// Make later crops keep faces in view or, if there are none, what draws the eye. Needs the measurements of
    /// [`Rules::measures`](crate::Rules::measures).
    Faces,
    /// Blur faces with this standard deviation in px or, if `None`, with a share of the size of each face. Needs the
    /// measurements of [`Rules::measures`](crate::Rules::measures).
    BlurFaces(Option<f64>),
    /// Multiply the pixels of later boxes, margins and canvases, and of crops after a scaling, by this ratio of device
    /// pixels to CSS pixels.
    Dpr(f64),
    /// Apply an effect.
    Effect(Effect),
}

impl Step {
    /// Whether the step depends on a measurement that does not decide the size of the result.
    #[must_use]
    pub fn is_to_be_measured(&self) -> bool {
        matches!(self, Self::Salient | Self::Faces | Self::BlurFaces(_))
    }
}

/// A clockwise turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A quarter turn, 90°.
    R90,
    /// A half turn, 180°.
    R180,
    /// Three quarter turns, 270°.
    R270,
}

/// The direction in which an image is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flip {
    /// Left to right.
    Horizontal,
    /// Top to bottom.
    Vertical,
    /// Both, which equals a half turn.
    Both,
}

/// A length along one side of the image, finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// Pixels.
    Px(f64),
    /// Per cent of the image's side.
    Percent(f64),
}

impl Length {
    /// Largest length in pixels that the text of a recipe can express.
    pub const MAX_PX: f64 = 1e6;
    /// Largest length in per cent that the text of a recipe can express.
    pub const MAX_PERCENT: f64 = 1e5;

    /// Creates a length in pixels; `None` unless `px` is 0 to [`Self::MAX_PX`].
    #[must_use]
    pub fn px(px: f64) -> Option<Self> {
        // Adding 0 makes -0, whose text would not read back, a plain 0.
        (0.0..=Self::MAX_PX)
            .contains(&px)
            .then_some(Self::Px(px + 0.0))
    }

    /// Creates a length in per cent; `None` unless `percent` is 0 to [`Self::MAX_PERCENT`].
    #[must_use]
    pub fn percent(percent: f64) -> Option<Self> {
        (0.0..=Self::MAX_PERCENT)
            .contains(&percent)
            .then_some(Self::Percent(percent + 0.0))
    }

    /// Rounds to hundredths of a pixel or ten thousandths of a per cent, which is finer than any image shows, so that
    /// lengths that look alike become equal.
    #[must_use]
    pub fn rounded(self) -> Self {
        match self {
            Self::Px(px) => Self::Px((px * 1e2).round() / 1e2),
            Self::Percent(percent) => Self::Percent((percent * 1e4).round() / 1e4),
        }
    }

    /// Returns the length in pixels along a side of `side` px.
    #[must_use]
    pub fn of(self, side: f64) -> f64 {
        match self {
            Self::Px(px) => px,
            Self::Percent(percent) => side * percent * 0.01,
        }
    }
}

/// The part of the image that a crop keeps, limited to what lies inside the image.
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
    /// A part of a given size, placed by gravity.
    Towards {
        /// Width.
        w: Length,
        /// Height.
        h: Length,
        /// The side or corner of the image at which the part lies.
        gravity: Gravity,
    },
}

/// A box of which one side or both are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// Only the width; the height follows from the aspect ratio.
    Width(Length),
    /// Only the height; the width follows from the aspect ratio.
    Height(Length),
    /// Width and height.
    Both(Length, Length),
}

/// The side or corner that is kept when something is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gravity {
    /// The middle, or what a `focus` step keeps in view.
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
    /// All gravities, in the order of [`words::GRAVITIES`].
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

    /// Returns the gravity that leaves this many halves of the free space (0, 1 or 2) left of and above the kept part;
    /// the middle for other numbers.
    #[must_use]
    pub fn at(halves: (u32, u32)) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|gravity| gravity.halves() == halves)
            .unwrap_or_default()
    }

    /// Returns how many halves of the free space (0, 1 or 2) lie left of and above the kept part.
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

/// A colour in sRGB with straight alpha (255 is opaque). It is written `rrggbb`, or `rrggbbaa` if it is not opaque.
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

    /// Fully transparent black.
    pub const CLEAR: Self = Self {
        r: 0,
        g: 0,
        b: 0,
        a: 0,
    };
}

/// Margins in px and their colour.
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

/// A canvas of fixed size on which an image is laid.
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

/// One effect: an open word and its arguments, which the engine that knows the word checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The word: lower-case letters, digits and `-`.
    pub name: String,
    /// Arguments, decoded. In the text, characters that would end an argument are escaped.
    pub args: Vec<String>,
}

impl Effect {
    /// Name of the effect that composes with an image from a file. Its first argument is the file's name.
    pub const OVER: &str = "over";

    /// Name of the effect that composes with an image from a file in a given size, opacity and mode.
    pub const OVERLAY: &str = "overlay";

    /// Name of the effect that blurs a rectangle.
    pub const BLUR_AREA: &str = "blur-area";

    /// Shapes that the `mask` effect can cut out of an image.
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

    /// Creates an effect whose word is well formed and has no other meaning.
    ///
    /// # Errors
    /// [`ParseError`] if the word is not a lower-case letter followed by lower-case letters, digits and `-`, or if it
    /// is a word of the language.
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
