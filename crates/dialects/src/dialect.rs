//! The trait of dialects, and the targets that they read.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;

use crate::errors::{ErrorStyle, OWN_ERRORS};
use crate::refusal::Refusal;
use crate::request::{Ask, ImageRequest};

/// One URL language, or dialect. Each has a folder of its own and one entry in [`crate::ALL`].
pub trait Dialect: fmt::Debug + Send + Sync {
    /// Returns an example target in this dialect. `path` is that of the source, with a leading slash and
    /// percent-encoded.
    fn example(&self, path: &str) -> String;

    /// Returns the style in which this dialect answers errors: status, body and headers.
    fn errors(&self) -> ErrorStyle {
        OWN_ERRORS
    }

    /// Returns the style in which errors of this request are answered; by default that of the dialect.
    fn errors_of(&self, request: &ImageRequest) -> ErrorStyle {
        match request.ask {
            Ask::File => OWN_ERRORS,
            _ => self.errors(),
        }
    }

    /// Whether the dialect reads every target, because it is mounted at `/` and its URLs have no mark of their own.
    /// Such a dialect is tried after those that read only some targets.
    fn reads_everything(&self) -> bool {
        false
    }

    /// Whether URLs of this dialect can be told from paths of plain files. If not, a URL that another dialect reads as
    /// well is taken for the other dialect's.
    fn marks_its_urls(&self) -> bool {
        true
    }

    /// Returns what the target asks for, or `None` if it is not in this dialect.
    ///
    /// # Errors
    /// A target in this dialect that is invalid, or asks for something that is not allowed.
    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal>;

    /// Returns regular expressions that find the source in this dialect's targets, for load balancers. Each is applied
    /// to the raw target from its first slash on, and its only group is the source. They stay within the syntax that
    /// PCRE and RE2 share, escape parentheses that are not groups, and have no quotes.
    fn source_patterns(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the canonical target in this dialect for a request, or `None` if the dialect cannot express it. Parsed
    /// again, the target gives the same request; `Dialects::write` drops it otherwise.
    fn write(&self, request: &ImageRequest) -> Option<String>;
}

/// The headers of a request.
pub trait Headers {
    /// Returns the first value of a header. `name` is in lower case.
    fn get(&self, name: &str) -> Option<&str>;
}

/// The target of a request as received, before any decoding.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Path and query.
    pub whole: &'a str,
    /// The path, up to the first `?`.
    pub path: &'a str,
    /// The query after the first `?`.
    pub query: Option<&'a str>,
    /// What precedes the path in the URL that the client sent: `/~SIGNATURE`, or nothing.
    pub front: &'a str,
    /// Whether a rewrite rule made the path and query. Clients might not reach such a target directly.
    pub is_rewritten: bool,
    headers: Option<&'a HeadersRead<'a>>,
}

/// Request headers, with a record of those that have been read.
pub(crate) struct HeadersRead<'a> {
    headers: &'a dyn Headers,
    names: RefCell<Vec<&'static str>>,
    /// Whether the request has at least one of the headers that have been read.
    is_any_present: Cell<bool>,
}

impl<'a> HeadersRead<'a> {
    pub(crate) fn new(headers: &'a dyn Headers) -> Self {
        Self {
            headers,
            names: RefCell::default(),
            is_any_present: Cell::default(),
        }
    }

    /// Returns the first value of a header; `name` is in lower case. The read is recorded.
    pub(crate) fn get(&self, name: &'static str) -> Option<&'a str> {
        self.names.borrow_mut().push(name);
        let value = self.headers.get(name);
        self.is_any_present
            .set(self.is_any_present.get() || value.is_some());
        value
    }

    /// Whether the request has one of the headers that have been read.
    pub(crate) fn has_any(&self) -> bool {
        self.is_any_present.get()
    }

    /// Returns the names of the headers that have been read, sorted.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let mut names = self.names.into_inner();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl<'a> Target<'a> {
    /// Splits a target without headers into path and query.
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
            is_rewritten: false,
            headers: None,
        }
    }

    /// Returns this target with the request's headers.
    pub(crate) fn with_headers(self, headers: &'a HeadersRead<'a>) -> Self {
        Self {
            headers: Some(headers),
            ..self
        }
    }

    /// Returns this target with `front` as the text that precedes its path, such as `/~SIGNATURE`.
    pub(crate) fn with_front(self, front: &'a str) -> Self {
        Self { front, ..self }
    }

    /// Returns this target with the path and query that a rewrite rule makes of it.
    pub(crate) fn rewritten<'b>(self, whole: &'b str) -> Target<'b>
    where
        'a: 'b,
    {
        Target {
            front: self.front,
            is_rewritten: true,
            headers: self.headers,
            ..Target::new(whole)
        }
    }

    /// Returns the first value of a request header; `name` is in lower case. The read is recorded, so that the server
    /// parses the target again for a client that sends another value.
    #[must_use]
    pub fn header(&self, name: &'static str) -> Option<&'a str> {
        self.headers?.get(name)
    }

    /// Returns the raw path below a dialect's prefix, without the slash between the two, or `None` if the path is not
    /// below it.
    #[must_use]
    pub fn below(&self, prefix: &str) -> Option<&'a str> {
        self.path.strip_prefix(prefix)?.strip_prefix('/')
    }
}

/// Prints path and query, and leaves out the headers.
impl fmt::Debug for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.whole).finish()
    }
}

/// Puts a slash in front of a target without one. HTTP always sends the slash, but users forget it at a command line.
pub(crate) fn with_slash(target: &str) -> Cow<'_, str> {
    match target.starts_with('/') {
        true => Cow::Borrowed(target),
        false => Cow::Owned(format!("/{target}")),
    }
}
