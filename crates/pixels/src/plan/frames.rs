//! The frames of a source that a plan reads.

use crate::codec::{AnimationDecoder, AnimationEncoder};

/// Which of the source's frames are read.
#[derive(Clone, Copy)]
pub(crate) enum Frames {
    /// Only the first frame, as a still image.
    First,
    /// One frame of an animation, as a still image. The first frame is number 1.
    Nth {
        number: u32,
        decoder: &'static dyn AnimationDecoder,
    },
    /// All frames, as an animation, or up to as many of the first frames as the recipe allows.
    All {
        count: u32,
        decoder: &'static dyn AnimationDecoder,
        encoder: &'static dyn AnimationEncoder,
    },
}

impl Frames {
    /// Whether the source's first frame is read as a still image.
    pub(crate) fn is_first(self) -> bool {
        matches!(self, Self::First)
    }

    /// Returns how many frames the result has.
    pub(crate) fn result_count(self) -> u32 {
        match self {
            Self::First | Self::Nth { .. } => 1,
            Self::All { count, .. } => count,
        }
    }

    /// Returns how many frames have to be composed.
    pub(crate) fn count(self) -> u32 {
        match self {
            Self::First => 1,
            Self::Nth { number, .. } => number,
            Self::All { count, .. } => count,
        }
    }
}
