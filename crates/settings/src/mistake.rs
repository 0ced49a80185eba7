//! An error in a TOML document, as data: the messages of serde and toml may change with any version, so Andon's are
//! written from this data instead.

use std::fmt;
use std::ops::Range;

use serde::de;

/// An error in a TOML document, and the byte range in the text that it is about.
#[derive(Debug)]
pub struct Mistake {
    pub(crate) kind: Kind,
    pub(crate) span: Option<Range<usize>>,
}

/// The kinds of mistakes in a configuration.
#[derive(Debug)]
pub(crate) enum Kind {
    /// An unknown key, and the names of the fields that the type has.
    Key(String, &'static [&'static str]),
    /// An unknown word for an enum, and the words for its variants.
    Word(String, &'static [&'static str]),
    /// A missing key, for a field without a default.
    Missing(&'static str),
    /// A table where a list is expected.
    OneTable,
    /// Any other error, as a sentence.
    Other(String),
}

impl Mistake {
    /// Sets the byte range of the error, unless a narrower one is already set.
    pub(crate) fn at(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl From<Kind> for Mistake {
    fn from(kind: Kind) -> Self {
        Self { kind, span: None }
    }
}

impl From<toml::de::Error> for Mistake {
    fn from(error: toml::de::Error) -> Self {
        let mut message = error.message().to_owned();
        if message.contains("escape") {
            message.push_str(
                "; in single quotes, as in '(\\d+)', a backslash is nothing but a backslash",
            );
        }
        if message == "duplicate key" {
            message.push_str(": a key, and the header of a table such as [metrics], stands in a file once; put the lines together");
        }
        Self {
            kind: Kind::Other(message),
            span: error.span(),
        }
    }
}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Kind::Other(what.to_string()).into()
    }

    fn unknown_field(field: &str, fields: &'static [&'static str]) -> Self {
        Kind::Key(field.to_owned(), fields).into()
    }

    fn unknown_variant(word: &str, words: &'static [&'static str]) -> Self {
        Kind::Word(word.to_owned(), words).into()
    }

    fn missing_field(field: &'static str) -> Self {
        Kind::Missing(field).into()
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Key(key, _) => write!(f, "unknown key `{key}`"),
            Kind::Word(word, _) => write!(f, "unknown value `{word}`"),
            Kind::Missing(key) => write!(f, "the key `{key}` is missing here"),
            Kind::OneTable => f.write_str("expected a list, not a table"),
            Kind::Other(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Mistake {}
