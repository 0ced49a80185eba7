//! What a dialect is, and what it reads.

use std::fmt;

use crate::request::{ErrorStyle, ImageRequest};

/// One URL language: one folder, one line in [`crate::ALL`].
pub trait Dialect: fmt::Debug + Send + Sync {
    /// A target in its language, with [`crate::EXAMPLE_SOURCE`] as its file.
    fn example(&self) -> String;

    /// The status of its errors.
    fn errors(&self) -> ErrorStyle {
        ErrorStyle::Own
    }

    /// What the target asks for; `None` when it is not in this language.
    ///
    /// # Errors
    /// A target in this language that asks for what may not be.
    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal>;

    /// The target that asks for the same in its canonical form; `None` for what cannot be said in this language.
    /// It is read back as the same request.
    fn write(&self, request: &ImageRequest) -> Option<String>;
}

/// The target of a request, as received: nothing is decoded yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Path and query.
    pub whole: &'a str,
    /// The path, up to the first `?`.
    pub path: &'a str,
    /// The query after it.
    pub query: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// Splits a target.
    #[must_use]
    pub fn new(whole: &'a str) -> Self {
        match whole.split_once('?') {
            Some((path, query)) => Self {
                whole,
                path,
                query: Some(query),
            },
            None => Self {
                whole,
                path: whole,
                query: None,
            },
        }
    }

    /// The raw path below a dialect's prefix, without the slash between them.
    #[must_use]
    pub fn below(&self, prefix: &str) -> Option<&'a str> {
        self.path.strip_prefix(prefix)?.strip_prefix('/')
    }
}

/// A target that cannot be served, through the client's fault. `Display` is one plain sentence that may
/// be shown to the public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The offending value, shortened.
    pub value: String,
    /// What is wrong and what would do.
    pub why: String,
    /// How it is answered.
    pub errors: ErrorStyle,
}

impl Refusal {
    pub(crate) fn new(value: &str, why: impl Into<String>) -> Self {
        Self {
            value: shorten(value),
            why: why.into(),
            errors: ErrorStyle::Own,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be served: {}", self.value, self.why)
    }
}

impl std::error::Error for Refusal {}

/// A value from a URL as messages may show it.
pub(crate) fn shorten(value: &str) -> String {
    shorten_to(60, value)
}

/// The first `most` characters of a text.
pub(crate) fn shorten_to(most: usize, text: &str) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
