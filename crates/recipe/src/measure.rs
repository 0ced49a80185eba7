//! Measurements of a source's pixels that rules may need before they can be resolved to whole pixels.

use std::fmt;

/// A measurement of a source's pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The part that is left when a uniform border is cut off. A pixel belongs to the border if no channel, with
    /// colours multiplied by opacity, differs from that of the pixel in the corner by more than the tolerance.
    Trim {
        /// How far a border pixel may differ from the pixel in the corner, in levels of 255.
        tolerance: u8,
        /// Corner to compare with in the image as stored: whether it is at the right, and whether it is at the bottom.
        corner: (bool, bool),
    },
    /// The part that is left when a uniform border is cut off. A pixel belongs to the border if its Euclidean distance
    /// from the pixel in the corner, over all channels as stored, is not above the tolerance.
    TrimDistance {
        /// Maximum colour distance of a border pixel from the pixel in the corner, in levels of 255: 0 to 510.
        tolerance: u16,
        /// Corner to compare with in the image as stored: whether it is at the right, and whether it is at the bottom.
        corner: (bool, bool),
    },
    /// The part that is left when a border of a given colour is cut off. A pixel belongs to the border if, composited
    /// on magenta, none of its channels differs from that colour by more than the tolerance.
    TrimColour {
        /// How far a border pixel may differ from the colour, in levels of 255.
        tolerance: u8,
        /// Red, green and blue of the border.
        colour: [u8; 3],
    },
    /// The area of the image that draws the eye.
    Salient,
    /// The areas of the image that show faces.
    Faces,
}

impl Measure {
    /// Whether the size of the result depends on this measurement.
    #[must_use]
    pub fn decides_size(self) -> bool {
        !matches!(self, Self::Salient | Self::Faces)
    }
}

/// A rectangle of a source as it is stored, in px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// X coordinate of the rectangle's left edge in the stored image, in px.
    pub x: u32,
    /// Y coordinate of the rectangle's top edge in the stored image, in px.
    pub y: u32,
    /// Width in px, at least 1.
    pub w: u32,
    /// Height in px, at least 1.
    pub h: u32,
}

/// Results of the measurements that were made of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured(Vec<(Measure, Vec<Area>)>);

impl Measured {
    /// Returns the result of a measurement that finds at most one area. Returns `None` if the measurement was not made
    /// or found nothing.
    #[must_use]
    pub fn area(&self, measure: Measure) -> Option<Area> {
        self.areas(measure)?.first().copied()
    }

    /// Returns all areas found by a measurement, which may be none. Returns `None` if the measurement was not made.
    #[must_use]
    pub fn areas(&self, measure: Measure) -> Option<&[Area]> {
        let entry = self.0.iter().find(|(other, _)| *other == measure);
        entry.map(|(_, areas)| &**areas)
    }
}

impl Measured {
    /// Returns the results of those measurements that decide the size of a result.
    #[must_use]
    pub fn of_sizes(&self) -> Self {
        let decides = |(measure, _): &&(Measure, Vec<Area>)| measure.decides_size();
        Self(self.0.iter().filter(decides).cloned().collect())
    }
}

impl FromIterator<(Measure, Vec<Area>)> for Measured {
    fn from_iter<I: IntoIterator<Item = (Measure, Vec<Area>)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// Collects the results of measurements that find one area each.
impl FromIterator<(Measure, Area)> for Measured {
    fn from_iter<I: IntoIterator<Item = (Measure, Area)>>(entries: I) -> Self {
        let one = |(measure, area)| (measure, vec![area]);
        entries.into_iter().map(one).collect()
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
