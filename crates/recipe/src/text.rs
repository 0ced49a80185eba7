//! The canonical text, both ways.

/// Why a text is not a recipe: what was wrong, where, and what would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The offending piece.
    pub piece: String,
    /// What is expected there.
    pub expected: String,
}
