//! The canonical text, both ways.
//!
//! Stages stand between commas, their arguments between colons:
//!
//! ```text
//! orient,crop:10:10:50%x50%,cover:400x300,canvas:400x300:ffffff,blur:0x1.5,as:webp,q:80
//! ```
//!
//! Printing is canonical (one order, shortest numbers, nothing that says the default), so equal wishes
//! have equal texts. Parsing takes stages in any order; effects act in the order they are written.

use std::fmt;

mod escape;
mod number;
mod parse;
mod print;

/// Why a text is not a recipe: what was wrong, where, and what would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The offending piece.
    pub piece: String,
    /// What is expected there.
    pub expected: String,
}

impl ParseError {
    pub(crate) fn new(piece: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            piece: piece.into(),
            expected: expected.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no part of a recipe: expected {}",
            self.piece, self.expected
        )
    }
}

impl std::error::Error for ParseError {}

/// The text of a recipe that changes nothing but the encoding.
pub(crate) const SAME: &str = "same";

/// Words that effects may not take, because they mean something else already.
pub(crate) const STAGES: &[&str] = &[
    SAME,
    "original",
    "hint",
    "strip",
    "orient",
    "turn",
    "crop",
    "fit",
    "cover",
    "exact",
    "enlarge",
    "canvas",
    "flatten",
    "srgb",
    "as",
    "q",
    "progressive",
    "chroma",
    "effort",
    "frame",
];

#[cfg(test)]
mod tests;
