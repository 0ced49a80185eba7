//! Why a target cannot be served.

use std::fmt;

use crate::errors::{ErrorStyle, Fault, OWN_ERRORS};

/// Why a target cannot be served, which is the client's fault. `Display` is one plain sentence for the public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The offending value, shortened.
    pub value: String,
    /// The reason, with the offending value and what would be accepted.
    pub why: String,
    /// The kind of fault, which decides the status.
    pub fault: Fault,
    /// The style of the error response.
    pub errors: ErrorStyle,
    /// Whether `why` is the whole message, as in a dialect that has the messages of another server.
    pub is_whole: bool,
    /// The code for this reason in the dialect's own error responses; empty if there is none.
    pub code: &'static str,
}

impl Refusal {
    /// Creates a refusal with `Fault::Url`: the target is invalid, or asks for something that is not allowed.
    #[must_use]
    pub fn new(value: &str, why: impl Into<String>) -> Self {
        Self::of(Fault::Url, value, why)
    }

    /// Creates a refusal with `Fault::Url` whose whole message is `text`.
    #[must_use]
    pub(crate) fn in_words(text: impl Into<String>) -> Self {
        Self {
            is_whole: true,
            ..Self::new("", text)
        }
    }

    /// Creates a refusal with any kind of fault. The value is shortened, and the style is `OWN_ERRORS`.
    #[must_use]
    pub fn of(fault: Fault, value: &str, why: impl Into<String>) -> Self {
        Self {
            value: shorten(value),
            why: why.into(),
            fault,
            errors: OWN_ERRORS,
            is_whole: false,
            code: "",
        }
    }

    /// Returns this refusal with a code for the dialect's own error responses.
    pub(crate) fn with_code(self, code: &'static str) -> Self {
        Self { code, ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_whole {
            true => f.write_str(&self.why),
            false => write!(f, "`{}` cannot be served: {}", self.value, self.why),
        }
    }
}

impl std::error::Error for Refusal {}

/// Shortens a value from a URL to at most 60 characters, for messages.
pub(crate) fn shorten(value: &str) -> String {
    shorten_to(60, value)
}

/// Returns the first `most` characters of a text, followed by `…` if it is longer.
pub(crate) fn shorten_to(most: usize, text: &str) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
