//! Sides and corners of an image.

use crate::Arg;
use crate::choices::Choices;

/// The side or corner that is kept when something is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gravity {
    /// The middle, or the area that a `focus` step keeps in view.
    #[default]
    Centre,
    /// The top edge, in the middle.
    North,
    /// The right edge, in the middle.
    East,
    /// The bottom edge, in the middle.
    South,
    /// The left edge, in the middle.
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

/// Names of the middle, sides and corners in arguments.
pub const GRAVITIES: &[&str] = Gravity::CHOICES.words;

impl Gravity {
    /// The word of every gravity.
    pub(crate) const CHOICES: Choices<Self> = Choices {
        words: &[
            "centre",
            "north",
            "east",
            "south",
            "west",
            "northeast",
            "southeast",
            "southwest",
            "northwest",
        ],
        values: &[
            Self::Centre,
            Self::North,
            Self::East,
            Self::South,
            Self::West,
            Self::NorthEast,
            Self::SouthEast,
            Self::SouthWest,
            Self::NorthWest,
        ],
    };

    /// The argument that tells which part of an image a step keeps.
    pub(crate) const ARG: Arg = Arg::choice("gravity", Self::CHOICES.words)
        .default("centre")
        .help("which part is kept");

    /// Returns the gravity as an argument with a colon before it, such as `:north`; an empty text for the middle, which
    /// is the default.
    pub(crate) fn suffix(self) -> String {
        match self {
            Self::Centre => String::new(),
            gravity => format!(":{}", Self::CHOICES.word(gravity)),
        }
    }

    /// Returns the gravity that leaves this many halves of the free space (0, 1 or 2) left of and above the kept part;
    /// the middle for other numbers.
    #[must_use]
    pub fn at(halves: (u32, u32)) -> Self {
        let mut all = Self::CHOICES.values.iter().copied();
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
