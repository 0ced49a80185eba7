//! Searches for a quality: by the length of the file, or by how well the image is preserved.

mod length;
mod score;

use andon_recipe::{Goal, Output, options};

pub(crate) use length::Length;
pub(crate) use score::{Candidate, Scored};

/// A search for the quality, named after its criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Searches by the length of the file.
    Length(Length),
    /// Searches by the score of the image.
    Score(Scored),
}

impl Search {
    /// Returns the search that an output asks for, if it asks for one. `inherited` is the source image's own quality.
    pub(super) fn of(output: &Output, inherited: Option<u8>) -> Option<Self> {
        let length = |bytes, shortest| {
            Some(Self::Length(Length {
                bytes,
                shortest,
                quality: inherited.unwrap_or(100).max(1),
            }))
        };
        match output.goal {
            Some(Goal::Bytes(bytes)) => length(bytes, false),
            Some(Goal::BytesOrShortest(bytes)) => length(bytes, true),
            Some(Goal::Score(score)) => Some(Self::Score(Scored { score })),
            _ => None,
        }
    }

    /// Returns how many encodes the search takes at most.
    pub(crate) fn tries(self) -> u32 {
        match self {
            Self::Length(length) => length.tries(),
            Self::Score(_) => Scored::TRIES,
        }
    }

    /// Returns the quality that the search begins with.
    pub(super) fn first(self) -> u8 {
        match self {
            Self::Length(length) => length.first(),
            Self::Score(scored) => scored.first(),
        }
    }

    /// Returns the word that requested the search, with its value, as in a recipe.
    pub(super) fn piece(self) -> String {
        match self {
            Self::Length(length) => format!("{}:{}", options::MAX.name, length.bytes),
            Self::Score(scored) => format!("{}:{}", options::SCORE.name, scored.score),
        }
    }
}
