//! What a target asks for, whichever dialect it is written in.

use std::borrow::Cow;
use std::sync::Arc;

use andon_recipe::{Colour, Output, Recipe, Rules};

use crate::dialect::Refusal;
use crate::document::Document;
use crate::errors::{ErrorStyle, OWN_ERRORS};
use crate::percent;
use crate::signature::Checksum;

/// A target, read.
#[derive(Clone, Debug)]
pub struct ImageRequest {
    /// What is to be sent.
    pub ask: Ask,
    /// The path or URL of the image that the result is made of.
    pub source: Source,
    /// How; [`Recipe::original`] for a file as it is.
    pub rules: Arc<dyn Rules>,
    /// Warnings for the operator: options that were ignored, or whose meaning upstream is undefined.
    pub notes: Vec<String>,
    /// How the dialect wants it answered.
    pub style: AnswerStyle,
    /// Has its dialect found a signature of its own that covers all of the URL?
    pub is_signed: bool,
}

/// What is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The source as it is, which need not be an image.
    File,
    /// An image made of the source by the rules.
    Picture,
    /// Facts about the source and about the image that the rules would make of it.
    Describe(Arc<dyn Document>),
    /// Another URL.
    Redirect(Redirect),
    /// A text, whatever there is.
    Text {
        /// Its media type.
        media_type: &'static str,
        /// The text.
        text: String,
    },
}

/// Where a client should look instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The target there.
    pub to: String,
    /// The status: 301, 302, 303, 307 or 308.
    pub status: u16,
}

/// Where a source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Below the roots of the origins: percent-decoded exactly once, without empty segments. It may be empty. Dot
    /// segments stand for themselves.
    Path(String),
    /// `//` and a path as it stands in a URL, where that says more than the decoded path: an empty segment, or the escape of
    /// a character that need not be escaped (`%2F`, `%2B`). A web server or a bucket is asked for just that; in a folder it
    /// is the decoded path.
    Escaped(String),
    /// An absolute URL, decoded once. Only those are served that the server's origins allow.
    Url(String),
}

/// What a URL names in place of a source that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Another source, of which the same is made.
    Picture(Source),
    /// An absolute URL that clients are sent to.
    Redirect(String),
}

/// How a dialect wants a request answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerStyle {
    /// How errors are answered.
    pub errors: ErrorStyle,
    /// Send exactly what the rules make: no format chosen by `Accept` unless the URL asks for that, and never
    /// the source in place of a result that is larger.
    pub exact: bool,
    /// The exception: a result that was only re-encoded and is larger than its source is replaced by the source.
    pub never_grows: bool,
    /// Label the result with the media type of the source's file name, even where that is wrong.
    pub type_by_name: bool,
    /// The canonical target, if this one is another.
    pub canonical: Option<String>,
    /// Headers of replies with the result, and of 304: name in lower case, and value. [`Self::EXTENSION`] in a value
    /// stands for that of the result's format.
    pub headers: Vec<(&'static str, String)>,
    /// How many bytes the source may have, if the URL says it.
    pub most_bytes: Option<u64>,
    /// The digest that the source must have, if the URL says one.
    pub checksum: Option<Checksum>,
    /// When the URL expires, in seconds since 1970.
    pub expires: Option<u64>,
    /// How that is answered: a moment may stand in the dialect's language, or in a signature in front of it.
    pub expired: ErrorStyle,
    /// For how many seconds clients may keep the result, where neither the operator nor the origin says that.
    pub max_age: Option<u64>,
    /// What is sent where the source cannot be had.
    pub fallback: Option<Fallback>,
    /// The request headers that decided about the request, in lower case.
    pub reads: Vec<&'static str>,
}

impl AnswerStyle {
    /// The extension of a result's format, in headers.
    pub const EXTENSION: &str = "{ext}";

    /// Is what the rules make always sent, even where it is larger than the source?
    #[must_use]
    pub fn sends_what_is_made(&self) -> bool {
        self.exact && !self.never_grows
    }
}

impl Default for AnswerStyle {
    fn default() -> Self {
        Self {
            errors: OWN_ERRORS,
            exact: false,
            never_grows: false,
            type_by_name: false,
            canonical: None,
            headers: Vec::new(),
            most_bytes: None,
            checksum: None,
            expires: None,
            expired: OWN_ERRORS,
            max_age: None,
            fallback: None,
            reads: Vec::new(),
        }
    }
}

impl ImageRequest {
    /// A request for an image made of a source.
    #[must_use]
    pub fn picture(source: Source, rules: impl Rules + 'static) -> Self {
        Self {
            ask: Ask::Picture,
            source,
            rules: Arc::new(rules),
            notes: Vec::new(),
            style: AnswerStyle::default(),
            is_signed: false,
        }
    }

    /// A request for a file as it is.
    #[must_use]
    pub fn file(source: Source) -> Self {
        Self {
            ask: Ask::File,
            ..Self::picture(source, Recipe::original())
        }
    }

    /// Is the source sent as it is, whatever it is?
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.ask == Ask::File
    }

    /// Has the result written otherwise.
    pub fn write_as(&mut self, output: Output) {
        if output != *self.rules.output() {
            self.rules = self.rules.with_output(output);
        }
    }
}

impl Source {
    /// A raw path of a target.
    ///
    /// # Errors
    /// A path that does not decode.
    pub fn from_raw(raw: &str) -> Result<Self, Refusal> {
        let decoded = percent::decode(raw)?;
        let raw = raw.trim_start_matches('/');
        let path = relative(&decoded);
        let is_plain = percent::is_plain(raw) && !raw.contains("//");
        Ok(
            match !is_plain && percent::is_path(raw) && raw != percent::encode(&path, "/") {
                true => Self::Escaped(format!("//{raw}")),
                false => Self::Path(path),
            },
        )
    }

    /// What is left of a raw path of a target behind all that does not belong to its source, which is at this decoded path.
    pub(crate) fn at_the_end(raw: &str, path: String) -> Self {
        let ends = raw.match_indices('/').map(|(at, _)| &raw[at + 1..]);
        let is_it = |end: &&str| percent::decode(end).is_ok_and(|it| relative(&it) == path);
        let end = ends.chain([raw]).find(is_it);
        let source = end.and_then(|raw| Self::from_raw(raw).ok());
        source.unwrap_or(Self::Path(path))
    }

    /// A raw path of a target, or an absolute URL in its place: one that is escaped as a whole is unescaped, and any other
    /// is what it is.
    ///
    /// # Errors
    /// A text that does not decode.
    pub(crate) fn path_or_url(raw: &str) -> Result<Self, Refusal> {
        let decoded = percent::decode(raw)?;
        match Self::url(raw).or_else(|| Self::url(&decoded)) {
            Some(url) => Ok(url),
            None => Self::from_raw(raw),
        }
    }

    /// A path or an absolute URL that is escaped as a whole, slashes included: what it is decoded to is meant, and nothing of
    /// how it was escaped.
    ///
    /// # Errors
    /// A text that does not decode.
    pub(crate) fn escaped_path_or_url(raw: &str) -> Result<Self, Refusal> {
        let decoded = percent::decode(raw)?;
        let url = Self::url(raw).or_else(|| Self::url(&decoded));
        Ok(url.unwrap_or_else(|| Self::from_path(&decoded)))
    }

    /// A text as an absolute URL, if it begins as one. Its scheme may be in any case, and proxies that merge slashes leave one
    /// of its two.
    pub(crate) fn url(text: &str) -> Option<Self> {
        ["http:/", "https:/"].into_iter().find_map(|scheme| {
            let (first, rest) = text.split_at_checked(scheme.len())?;
            let rest = rest.trim_start_matches('/');
            first
                .eq_ignore_ascii_case(scheme)
                .then(|| Self::Url(format!("{scheme}/{rest}")))
        })
    }

    /// A decoded path. A slash at its end stays: it asks for a folder.
    #[must_use]
    pub fn from_path(path: &str) -> Self {
        let path = path.trim_start_matches('/');
        match path.contains("//") {
            true => Self::Escaped(format!("//{}", percent::encode(path, "/"))),
            false => Self::Path(path.to_owned()),
        }
    }

    /// The path without empty segments, percent-decoded, or the URL: what rules for sources are about.
    #[must_use]
    pub fn place(&self) -> Cow<'_, str> {
        match self {
            Self::Path(text) | Self::Url(text) => text.into(),
            Self::Escaped(_) => relative(&self.literal()).into(),
        }
    }

    /// The path percent-decoded, with every slash, or the URL.
    #[must_use]
    pub fn literal(&self) -> Cow<'_, str> {
        match self {
            Self::Path(text) | Self::Url(text) => text.into(),
            // It has been decoded before.
            Self::Escaped(text) => percent::decode(&text[2..]).unwrap_or_default().into(),
        }
    }

    /// The path as it stands in a URL, without a slash before it; none for a URL.
    #[must_use]
    pub fn escaped(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Path(path) => Some(percent::encode(path, "/").into()),
            Self::Escaped(text) => Some(text[2..].into()),
            Self::Url(_) => None,
        }
    }

    /// An image of one px in this colour, which is made and not fetched.
    #[must_use]
    pub fn of_colour(colour: Colour) -> Self {
        Self::Url(format!("{COLOUR}{colour}"))
    }

    /// The colour of an image that is made.
    #[must_use]
    pub fn colour(&self) -> Option<Colour> {
        self.as_str().strip_prefix(COLOUR)?.parse().ok()
    }

    /// The text that tells it from every other source.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Path(text) | Self::Escaped(text) | Self::Url(text) => text,
        }
    }
}

/// What the URL of an image of one colour begins with.
const COLOUR: &str = "color://";

/// A decoded path as a source is named.
pub(crate) fn relative(path: &str) -> String {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    let mut kept: Vec<&str> = segments.collect();
    if path.ends_with('/') && !kept.is_empty() {
        kept.push("");
    }
    kept.join("/")
}
