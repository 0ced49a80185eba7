//! What a dialect is, and what it reads.

use std::cell::RefCell;
use std::fmt;

use crate::errors::{ErrorStyle, Fault, OWN_ERRORS};
use crate::request::{Ask, ImageRequest};

/// One URL language: one folder, one line in [`crate::ALL`].
pub trait Dialect: fmt::Debug + Send + Sync {
    /// A target in its language, with [`crate::EXAMPLE_SOURCE`] as its file.
    fn example(&self) -> String;

    /// The status and text by which this dialect answers errors.
    fn errors(&self) -> ErrorStyle {
        OWN_ERRORS
    }

    /// How errors of a request for this are answered.
    fn errors_of(&self, ask: &Ask) -> ErrorStyle {
        match ask {
            Ask::File => OWN_ERRORS,
            _ => self.errors(),
        }
    }

    /// Does it read every target, because it is mounted at `/` and its language has no mark of its own? Then it is asked
    /// after those that read only some.
    fn reads_everything(&self) -> bool {
        false
    }

    /// What the target asks for; `None` when it is not in this language.
    ///
    /// # Errors
    /// A target in this language that asks for what may not be.
    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal>;

    /// Where the source is in targets of this language, for load balancers: regular expressions over the raw target from
    /// its first slash on, whose one group is the source. They use what PCRE and RE2 have in common, no bare parenthesis
    /// but for groups, and no quotes.
    fn source_patterns(&self) -> Vec<String> {
        Vec::new()
    }

    /// The target that asks for the same in its canonical form; `None` for what cannot be said in this language.
    /// It is read back as the same request.
    fn write(&self, request: &ImageRequest) -> Option<String>;
}

/// The headers of a request.
pub trait Headers {
    /// The first value of a header; its name in lower case.
    fn get(&self, name: &str) -> Option<&str>;
}

/// The target of a request, as received: nothing is decoded yet.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Path and query.
    pub whole: &'a str,
    /// The path, up to the first `?`.
    pub path: &'a str,
    /// The query after it.
    pub query: Option<&'a str>,
    /// What stands before the path in the URL that the client knows: `/~SIGNATURE`, or nothing.
    pub front: &'a str,
    headers: Option<&'a HeadersRead<'a>>,
}

/// Headers, and which of them were looked at.
pub(crate) struct HeadersRead<'a> {
    headers: &'a dyn Headers,
    names: RefCell<Vec<&'static str>>,
}

impl<'a> HeadersRead<'a> {
    pub(crate) fn new(headers: &'a dyn Headers) -> Self {
        Self {
            headers,
            names: RefCell::default(),
        }
    }

    /// The names of those that were looked at, sorted.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let mut names = self.names.into_inner();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl<'a> Target<'a> {
    /// Splits a target that came without headers.
    #[must_use]
    pub fn new(whole: &'a str) -> Self {
        let (path, query) = match whole.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (whole, None),
        };
        Self {
            whole,
            path,
            query,
            front: "",
            headers: None,
        }
    }

    /// This target, with the headers that came with it.
    pub(crate) fn with_headers(self, headers: &'a HeadersRead<'a>) -> Self {
        Self {
            headers: Some(headers),
            ..self
        }
    }

    /// This target, with what stands before its path.
    pub(crate) fn behind(self, front: &'a str) -> Self {
        Self { front, ..self }
    }

    /// This target with another path and query.
    pub(crate) fn moved<'b>(self, whole: &'b str) -> Target<'b>
    where
        'a: 'b,
    {
        Target {
            front: self.front,
            headers: self.headers,
            ..Target::new(whole)
        }
    }

    /// The first value of a header that came with it; its name in lower case. The server parses the target again for a
    /// client that sends another value.
    #[must_use]
    pub fn header(&self, name: &'static str) -> Option<&'a str> {
        let read = self.headers?;
        read.names.borrow_mut().push(name);
        read.headers.get(name)
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
    /// The reason, with the offending value and what would be accepted.
    pub why: String,
    /// What kind of fault it is.
    pub fault: Fault,
    /// The style in which the refusal is answered.
    pub errors: ErrorStyle,
}

impl Refusal {
    /// A refusal of a target that asks for what may not be.
    #[must_use]
    pub fn new(value: &str, why: impl Into<String>) -> Self {
        Self::of(Fault::Url, value, why)
    }

    /// A refusal for another fault.
    #[must_use]
    pub fn of(fault: Fault, value: &str, why: impl Into<String>) -> Self {
        Self {
            value: shorten(value),
            why: why.into(),
            fault,
            errors: OWN_ERRORS,
        }
    }
}

/// The headers are left out.
impl fmt::Debug for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.whole).finish()
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
