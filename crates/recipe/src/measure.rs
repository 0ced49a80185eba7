//! What rules may have to know of a source's pixels before they come to whole pixels.

use std::fmt;

/// A question about a source's pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Which part is left when its uniform border is cut off?
    Trim {
        /// How far a pixel may differ from the one in the corner and still be border, in levels of 255.
        tolerance: u8,
        /// Where that corner is, in the image as stored: at the right, at the bottom?
        corner: (bool, bool),
    },
    /// The border to cut off, where a pixel is border if its distance from the one in the corner, of all channels as stored
    /// together, is no more than this many levels.
    TrimDistance {
        /// 0 to 510.
        tolerance: u16,
        /// The corner to compare with, in the image as stored: at the right, at the bottom?
        corner: (bool, bool),
    },
    /// The border to cut off, where a pixel is border if no channel of it, laid on magenta, is further from a colour.
    TrimColour {
        /// Levels of 255.
        tolerance: u8,
        /// Red, green, blue.
        colour: [u8; 3],
    },
    /// What draws the eye?
    Salient,
    /// Which parts are faces?
    Faces,
}

impl Measure {
    /// Does the size of the result depend on the answer?
    #[must_use]
    pub fn decides_size(self) -> bool {
        !matches!(self, Self::Salient | Self::Faces)
    }
}

/// A part of a source as it is stored, in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Left edge.
    pub x: u32,
    /// Top edge.
    pub y: u32,
    /// Width, at least 1.
    pub w: u32,
    /// Height, at least 1.
    pub h: u32,
}

/// The answers for one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured(Vec<(Measure, Vec<Area>)>);

impl Measured {
    /// The answer to a question with one answer, if it was asked.
    #[must_use]
    pub fn area(&self, asked: Measure) -> Option<Area> {
        self.areas(asked)?.first().copied()
    }

    /// All that was found, which may be nothing, if it was asked.
    #[must_use]
    pub fn areas(&self, asked: Measure) -> Option<&[Area]> {
        let answer = self.0.iter().find(|(measure, _)| *measure == asked);
        answer.map(|(_, areas)| &**areas)
    }
}

impl FromIterator<(Measure, Vec<Area>)> for Measured {
    fn from_iter<I: IntoIterator<Item = (Measure, Vec<Area>)>>(answers: I) -> Self {
        Self(answers.into_iter().collect())
    }
}

/// Of questions with one answer each.
impl FromIterator<(Measure, Area)> for Measured {
    fn from_iter<I: IntoIterator<Item = (Measure, Area)>>(answers: I) -> Self {
        let one = |(measure, area)| (measure, vec![area]);
        answers.into_iter().map(one).collect()
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, tolerance, (right, bottom)) = match *self {
            Self::Salient => return f.write_str("salient"),
            Self::Faces => return f.write_str("faces"),
            Self::TrimColour {
                tolerance,
                colour: [r, g, b],
            } => return write!(f, "trim:{tolerance} from {r:02x}{g:02x}{b:02x}"),
            Self::Trim { tolerance, corner } => ("trim", tolerance.into(), corner),
            Self::TrimDistance { tolerance, corner } => ("trim distance", tolerance, corner),
        };
        let down = if bottom { "lower" } else { "upper" };
        let across = if right { "right" } else { "left" };
        write!(f, "{name}:{tolerance} from the {down} {across}")
    }
}
