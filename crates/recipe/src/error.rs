//! The error for a text that cannot be parsed.

use std::fmt;

/// Error for a text that is not a recipe: the offending piece, and what would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The offending piece of the text.
    pub piece: String,
    /// What would be accepted in place of the offending piece of the text.
    pub expected: String,
}

impl ParseError {
    /// Creates the error for a piece of a text, with the text that was expected instead.
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
