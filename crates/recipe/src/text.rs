//! The canonical text, both ways.
//!
//! Steps stand between commas, their arguments between colons:
//!
//! ```text
//! orient,crop:10:10:50%x50%,cover:400x300,pad:0:8:0:8:ffffff,blur:0x1.5,as:webp,q:80
//! ```
//!
//! Steps act in the order in which they are written. How the result is written may be said anywhere, and
//! is printed last. Numbers are printed as short as they can be, and defaults not at all.

use std::fmt;

mod escape;
mod number;
mod parse;
mod print;

/// Error for a text that is not a recipe: the offending piece, and what would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The offending piece.
    pub piece: String,
    /// What would be accepted in place of the piece.
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

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::any_recipe;
