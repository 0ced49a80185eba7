//! Requests, parsed from targets of any dialect.

use std::borrow::Cow;
use std::sync::Arc;

use andon_recipe::{Colour, Output, Recipe, Rules};

use crate::document::Document;
use crate::errors::{ErrorStyle, OWN_ERRORS};
use crate::percent;
use crate::refusal::Refusal;
use crate::signature::Checksum;

/// What a target asks for: the source, what to do with it, and how to respond.
#[derive(Clone, Debug)]
pub struct ImageRequest {
    /// What to send to the client.
    pub ask: Ask,
    /// The path or URL of the image that the result is made of.
    pub source: Source,
    /// How the result is made from the source; [`Recipe::original`] for a file that is sent unchanged.
    pub rules: Arc<dyn Rules>,
    /// The rules that the URL gives without the request's headers, if the headers changed them.
    pub stated: Option<Arc<dyn Rules>>,
    /// Warnings for the operator: options that were ignored, or that are undefined in the program that the dialect
    /// comes from.
    pub notes: Vec<String>,
    /// How the dialect responds to the request.
    pub style: AnswerStyle,
    /// Whether the dialect has verified a signature of its own that covers the whole URL.
    pub is_signed: bool,
    /// Whether the rules refuse what `[permitted]` does not list.
    pub is_limited: bool,
    /// Whether the client hints of `[client_hints]` act on the rules.
    pub is_hinted: bool,
}

/// What to send to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The unchanged source, which need not be an image.
    File,
    /// An image made from the source by the rules.
    Image,
    /// Facts about the source and about the image that the rules would make of it.
    Describe(Arc<dyn Document>),
    /// A redirect to another URL.
    Redirect(Redirect),
    /// A fixed text, which depends on no source.
    Text {
        /// The media type of the text.
        media_type: &'static str,
        /// The text.
        text: String,
    },
}

/// A redirect response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The URL or target that the client is redirected to.
    pub to: String,
    /// The HTTP status: 301, 302, 303, 307 or 308.
    pub status: u16,
}

/// The location of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A path below the roots of the origins, percent-decoded exactly once and without empty segments. It may be empty.
    /// Dot segments are not resolved.
    Path(String),
    /// `//` and a path as written in the URL, for paths that decoding would change: those with an empty segment, or
    /// with the escape of a character that needs none (`%2F`, `%2B`). Web servers and buckets are asked for exactly
    /// this text. In a folder, the decoded path is used.
    Escaped(String),
    /// An absolute URL, decoded once. Only URLs that the server's origins allow are served.
    Url(String),
}

/// What a URL names as a substitute for a source that is not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Another source, to which the same rules are applied.
    Image(Source),
    /// An absolute URL that clients are redirected to.
    Redirect(String),
}

/// How a dialect responds to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerStyle {
    /// Name of the dialect that read the target; `files` if it is the path of a plain file.
    pub dialect: &'static str,
    /// The style of error responses.
    pub errors: ErrorStyle,
    /// Whether exactly the result of the rules is sent: no format is selected by `Accept` unless the URL asks for that,
    /// and the source is never sent in place of a larger result.
    pub exact: bool,
    /// An exception to `exact`: whether the source is sent in place of a result that was only re-encoded and is larger.
    pub never_grows: bool,
    /// Whether the media type follows from the source's file name, even if it does not match the result.
    pub type_by_name: bool,
    /// The canonical target, if it differs from the one that was parsed.
    pub canonical: Option<String>,
    /// Extra headers of responses with the result and of 304 responses: name in lower case, and value.
    /// [`Self::EXTENSION`] or [`Self::LONG_EXTENSION`] in a value is replaced by the extension of the result's format.
    pub headers: Vec<(&'static str, String)>,
    /// The maximum size of the source in bytes, if the URL sets one.
    pub most_bytes: Option<u64>,
    /// The digest that the source must have, if the URL sets one.
    pub checksum: Option<Checksum>,
    /// When the URL expires, in seconds since 1970.
    pub expires: Option<u64>,
    /// The error style for an expired URL: that of the dialect if its own part of the URL expires first, and the
    /// server's own if a signature in front of that part does.
    pub expired: ErrorStyle,
    /// For how many seconds clients may cache the result, if neither the operator nor the origin sets that.
    pub max_age: Option<u64>,
    /// Limits for how long clients may cache the result, whatever the origin sets, unless that is `private` or
    /// `no-store`, or the operator sets something else.
    pub keeping: Option<Keeping>,
    /// The pattern of `Cache-Control` for `max_age` and `keeping`; `{}` stands for the number of seconds.
    pub lifetime: &'static str,
    /// What to send if the source is not available.
    pub fallback: Option<Fallback>,
    /// The request headers that were read to parse the target, in lower case.
    pub reads: Vec<&'static str>,
}

/// Limits for how long clients may cache a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeping {
    /// The minimum number of seconds.
    pub least: u64,
    /// The maximum number of seconds.
    pub most: u64,
}

impl AnswerStyle {
    /// Returns the value of `Cache-Control` for a result that clients may cache for this many seconds.
    #[must_use]
    pub fn cached_for(&self, seconds: u64) -> String {
        let (least, most) = self.keeping.map_or((0, u64::MAX), |it| (it.least, it.most));
        let seconds = seconds.max(least).min(most);
        self.lifetime.replace("{}", &seconds.to_string())
    }

    /// Placeholder in header values for the file extension of the result's format.
    pub const EXTENSION: &str = "{ext}";

    /// Placeholder like [`Self::EXTENSION`], for the longer one of two usual extensions: `jpeg` rather than `jpg`.
    pub const LONG_EXTENSION: &str = "{extension}";

    /// Whether the result is always sent, even if it is larger than the source.
    #[must_use]
    pub fn sends_what_is_made(&self) -> bool {
        self.exact && !self.never_grows
    }
}

impl Default for AnswerStyle {
    fn default() -> Self {
        Self {
            dialect: FILES,
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
            keeping: None,
            lifetime: "max-age={}",
            fallback: None,
            reads: Vec::new(),
        }
    }
}

impl ImageRequest {
    /// Creates a request for an image made from a source.
    #[must_use]
    pub fn image(source: Source, rules: impl Rules + 'static) -> Self {
        Self {
            ask: Ask::Image,
            source,
            rules: Arc::new(rules),
            stated: None,
            notes: Vec::new(),
            style: AnswerStyle::default(),
            is_signed: false,
            is_limited: false,
            is_hinted: false,
        }
    }

    /// Creates a request for a file that is sent unchanged.
    #[must_use]
    pub fn file(source: Source) -> Self {
        Self {
            ask: Ask::File,
            ..Self::image(source, Recipe::original())
        }
    }

    /// Creates a request for a fixed text, for which no source is opened.
    #[must_use]
    pub fn text(media_type: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            ask: Ask::Text { media_type, text },
            ..Self::file(Source::Path(String::new()))
        }
    }

    /// Whether the source is sent unchanged. It need not be an image.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.ask == Ask::File
    }

    /// Changes the output settings of the rules, and of [`Self::stated`].
    pub fn change_output(&mut self, change: impl Fn(&mut Output)) {
        for rules in [&mut self.rules].into_iter().chain(&mut self.stated) {
            let mut output = rules.output().clone();
            change(&mut output);
            if output != *rules.output() {
                *rules = rules.with_output(output);
            }
        }
    }
}

impl Source {
    /// Creates a source from a raw path of a target.
    ///
    /// # Errors
    /// A path that cannot be decoded.
    pub fn from_raw(raw: &str) -> Result<Self, Refusal> {
        let path = percent::decode(raw)?;
        let raw = raw.trim_start_matches('/');
        let path = relative(&path);
        let is_plain = percent::is_plain(raw) && !raw.contains("//");
        Ok(
            match !is_plain && percent::is_path(raw) && raw != percent::encode(&path, "/") {
                true => Self::Escaped(format!("//{raw}")),
                false => Self::Path(path),
            },
        )
    }

    /// Creates the source at the decoded path `path`, with the escapes that the end of the target's raw path `raw` uses for
    /// it. Text before it in `raw`, such as options, is ignored.
    pub(crate) fn at_the_end(raw: &str, path: String) -> Self {
        let ends = raw.match_indices('/').map(|(at, _)| &raw[at + 1..]);
        let is_it = |end: &&str| percent::decode(end).is_ok_and(|it| relative(&it) == path);
        let end = ends.chain([raw]).find(is_it);
        let source = end.and_then(|raw| Self::from_raw(raw).ok());
        source.unwrap_or(Self::Path(path))
    }

    /// Creates a source from a raw path of a target, or from an absolute URL in its place. The URL is decoded only if
    /// it is escaped as a whole.
    ///
    /// # Errors
    /// A text that cannot be decoded.
    pub(crate) fn path_or_url(raw: &str) -> Result<Self, Refusal> {
        let text_decoded = percent::decode(raw)?;
        match Self::url(raw).or_else(|| Self::url(&text_decoded)) {
            Some(url) => Ok(url),
            None => Self::from_raw(raw),
        }
    }

    /// Creates a source from a path or an absolute URL that is escaped as a whole, slashes included. Only the decoded
    /// text counts, not how it was escaped.
    ///
    /// # Errors
    /// A text that cannot be decoded.
    pub(crate) fn escaped_path_or_url(raw: &str) -> Result<Self, Refusal> {
        let text_decoded = percent::decode(raw)?;
        let url = Self::url(raw).or_else(|| Self::url(&text_decoded));
        Ok(url.unwrap_or_else(|| Self::from_path(&text_decoded)))
    }

    /// Creates a source from an absolute URL; `None` if the text does not begin with `http:/`, `https:/` or the scheme
    /// of a bucket's URL (`s3:/`, `gs:/`, `abs:/`). The scheme may be in any case, and one slash is enough, because
    /// proxies that merge slashes leave one of two.
    pub(crate) fn url(text: &str) -> Option<Self> {
        ["http:/", "https:/", "s3:/", "gs:/", "abs:/"]
            .into_iter()
            .find_map(|scheme| {
                let (first, rest) = text.split_at_checked(scheme.len())?;
                let rest = rest.trim_start_matches('/');
                first
                    .eq_ignore_ascii_case(scheme)
                    .then(|| Self::Url(format!("{scheme}/{rest}")))
            })
    }

    /// Returns the source for the name of an overlay image: a decoded path below the origins if it begins with `/`, or
    /// an absolute URL. `None` for the name of a file in the folder of overlay images.
    #[must_use]
    pub fn of_overlay(name: &str) -> Option<Self> {
        match name.starts_with('/') {
            true => Some(Self::from_path(name)),
            false => Self::url(name),
        }
    }

    /// Returns the name of an overlay image that comes from this source; the reverse of [`Source::of_overlay`].
    pub(crate) fn overlay_name(&self) -> String {
        match self {
            Self::Url(url) => url.clone(),
            path => format!("/{}", path.place()),
        }
    }

    /// Creates a source from a decoded path. A trailing slash is kept: it asks for a folder.
    #[must_use]
    pub fn from_path(path: &str) -> Self {
        let path = path.trim_start_matches('/');
        match path.contains("//") {
            true => Self::Escaped(format!("//{}", percent::encode(path, "/"))),
            false => Self::Path(path.to_owned()),
        }
    }

    /// Returns the percent-decoded path without empty segments, or the URL. Rules about sources are matched against
    /// this text.
    #[must_use]
    pub fn place(&self) -> Cow<'_, str> {
        match self {
            Self::Path(text) | Self::Url(text) => text.into(),
            Self::Escaped(_) => relative(&self.literal()).into(),
        }
    }

    /// Returns the percent-decoded path with all of its slashes, or the URL.
    #[must_use]
    pub fn literal(&self) -> Cow<'_, str> {
        match self {
            Self::Path(text) | Self::Url(text) => text.into(),
            // Decoding has succeeded when the source was created.
            Self::Escaped(text) => percent::decode(&text[2..]).unwrap_or_default().into(),
        }
    }

    /// Returns the path as written in URLs, without a leading slash; `None` for a URL.
    #[must_use]
    pub fn escaped(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Path(path) => Some(percent::encode(path, "/").into()),
            Self::Escaped(text) => Some(text[2..].into()),
            Self::Url(_) => None,
        }
    }

    /// Creates the source of a generated image of 1 px in this colour. Nothing is fetched for it.
    #[must_use]
    pub fn of_colour(colour: Colour) -> Self {
        Self::Url(format!("{COLOUR}{colour}"))
    }

    /// Returns the colour of a generated image; `None` for any other source.
    #[must_use]
    pub fn colour(&self) -> Option<Colour> {
        self.as_str().strip_prefix(COLOUR)?.parse().ok()
    }

    /// Returns the text that distinguishes the source from every other source.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Path(text) | Self::Escaped(text) | Self::Url(text) => text,
        }
    }
}

/// The name that plain files have in place of a dialect's.
pub const FILES: &str = "files";

/// Prefix of the URL of a generated image of one colour.
const COLOUR: &str = "color://";

/// Returns a decoded path in the form that identifies a source: without a leading slash and without empty segments. A
/// trailing slash is kept.
pub(crate) fn relative(path: &str) -> String {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    let mut parts: Vec<&str> = segments.collect();
    if path.ends_with('/') && !parts.is_empty() {
        parts.push("");
    }
    parts.join("/")
}
