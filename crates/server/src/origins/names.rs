//! Names of sources: a percent-decoded path below `/`, `//` followed by a percent-encoded path, or a URL.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::error::Error;

/// The beginning of an escaped path, which distinguishes it from a decoded path and from a URL.
pub(super) const ESCAPED: &str = "//";

/// Returns the error for a missing source.
pub(super) fn missing(source: &str) -> Error {
    Error::Missing {
        path: source.trim_start_matches('/').to_owned(),
    }
}

/// Returns the normalized URL with the query exactly as in `text`, because URL parsers escape apostrophes in queries.
pub(super) fn with_query_of(text: &str, url: &Url) -> String {
    let is_query =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?%".contains(&byte);
    match (text.split_once('?'), url.as_str().split_once('?')) {
        (Some((_, query)), Some((before, _))) if query.bytes().all(is_query) => {
            format!("{before}?{query}")
        }
        _ => url.to_string(),
    }
}

/// Returns the percent-decoded path of a URL below `base`, whatever its other parts (such as a query).
pub(super) fn path_below(base: &Url, url: &Url) -> Option<String> {
    let path = url.path().strip_prefix(base.path().trim_end_matches('/'))?;
    // Invalid UTF-8 is replaced, so that a path with it is still checked.
    let path = percent_decode_str(path.strip_prefix('/')?).decode_utf8_lossy();
    (base.origin() == url.origin()).then(|| path.into_owned())
}

/// Returns the rest of an escaped path below a prefix, without the slash between them.
pub(super) fn beyond<'a>(raw: &'a str, prefix: &str) -> Option<&'a str> {
    let mut rest = raw;
    for segment in prefix.split('/').filter(|segment| !segment.is_empty()) {
        let (first, following) = rest.trim_start_matches('/').split_once('/')?;
        if percent_decode_str(first).decode_utf8().ok()? != segment {
            return None;
        }
        rest = following;
    }
    Some(rest)
}

/// Percent-encodes a path for a URL, segment by segment.
pub(super) fn encoded(path: &str) -> String {
    let segments = path.split('/');
    let encoded: Vec<String> = segments
        .map(|segment| utf8_percent_encode(segment, SEGMENT).to_string())
        .collect();
    encoded.join("/")
}

/// The bytes to percent-encode in a path segment: all except those that RFC 3986 allows there.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');
