//! What a dialect is, and what comes out of it.

use std::fmt;
use std::sync::Arc;

use andon_recipe::{Output, Recipe, Rules};

use crate::percent;

/// One URL language: one file or folder, one entry in [`crate::ALL`].
pub trait Dialect: fmt::Debug + Send + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &'static str;

    /// A target in its language; tests read it.
    fn example(&self) -> &'static str;

    /// What the target asks for; `None` when it is not in this language.
    ///
    /// # Errors
    /// A target in this language that asks for what may not be.
    fn wish(&self, target: &Target<'_>) -> Result<Option<Wish>, Refusal>;
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
}

/// What a request asks for.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The file, relative to the origin's root: percent-decoded exactly once, without empty and `.`
    /// segments, `..` resolved. It may be empty; one that would climb out begins with `..`, and no
    /// origin has it.
    pub source: String,
    /// What is wanted of it.
    pub rules: Arc<dyn Rules>,
    /// Warnings for the operator: options that were ignored, or whose meaning upstream is undefined.
    pub notes: Vec<String>,
    /// False for a plain file, which need not be a picture.
    pub transformed: bool,
    /// Answer with the module's quirks, in everything the server decides.
    pub strict: bool,
    /// Label the result with the media type of the source's file name, even where that is wrong.
    pub keep_source_type: bool,
}

impl Wish {
    /// Has the result written otherwise.
    pub fn write_as(&mut self, output: Output) {
        if output != *self.rules.output() {
            self.rules = self.rules.with_output(output);
        }
    }

    /// A request for a file as it is.
    ///
    /// # Errors
    /// A path that does not decode.
    pub fn plain_file(raw_path: &str) -> Result<Self, Refusal> {
        Ok(Self {
            source: relative(&percent::decode(raw_path)?),
            rules: Arc::new(Recipe::original()),
            notes: Vec::new(),
            transformed: false,
            strict: false,
            keep_source_type: false,
        })
    }
}

/// A decoded path as a source is named: every equivalent path (`//a`, `./a`, `b/../a`) becomes the same
/// text, so that it shares one cache entry. A slash at the end stays: it asks for a folder.
pub(crate) fn relative(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    let asks_for_folder = matches!(path.rsplit('/').next(), Some("" | "." | ".."));
    if asks_for_folder && !kept.is_empty() {
        kept.push("");
    }
    kept.join("/")
}

/// A target that cannot be served, through the client's fault. `Display` is one plain sentence that may
/// be shown to the public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The offending value, shortened.
    pub value: String,
    /// What is wrong and what would do.
    pub why: String,
    /// It is to be answered with the module's quirks.
    pub strict: bool,
}

impl Refusal {
    pub(crate) fn new(value: &str, why: impl Into<String>) -> Self {
        Self {
            value: shorten(value),
            why: why.into(),
            strict: false,
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
