//! The targets of redirects. Only redirects to http or https are followed, and never from https to http. The connector
//! decides whether it may connect to the target.

use hyper::StatusCode;
use hyper::header::{self, HeaderMap};
use url::Url;

use crate::config::UrlPattern;
use crate::error::{OriginError, RedirectError};

/// Whether this status is a redirect.
pub(super) fn is_one(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Returns the target of a redirect from `url`. The target has to match one of `patterns`, if there are any.
pub(super) fn next(
    url: &Url,
    headers: &HeaderMap,
    patterns: &[UrlPattern],
) -> Result<Url, OriginError> {
    let location = headers
        .get(header::LOCATION)
        .ok_or(OriginError::Redirect(RedirectError::Nowhere))?;
    let mut next = url
        .join(&ascii(location.as_bytes()))
        .map_err(|_| OriginError::Redirect(RedirectError::Nowhere))?;
    match (url.scheme(), next.scheme()) {
        (_, "https") | ("http", "http") => {}
        ("https", "http") => return Err(OriginError::Redirect(RedirectError::Downgrade)),
        _ => return Err(OriginError::Redirect(RedirectError::Scheme)),
    }
    // Credentials in a URL are never sent. Removing them cannot fail for a URL with a host.
    let _ = next.set_username("");
    let _ = next.set_password(None);
    match patterns.is_empty() || patterns.iter().any(|it| it.permits(&next)) {
        true => Ok(next),
        false => {
            // The query may contain a signature, which must not be logged.
            next.set_query(None);
            next.set_fragment(None);
            let error = RedirectError::Unlisted(next.into());
            Err(OriginError::Redirect(error))
        }
    }
}

/// Percent-encodes control characters and non-ASCII bytes of a `Location` header, as browsers do.
fn ascii(location: &[u8]) -> String {
    percent_encoding::percent_encode(location, percent_encoding::CONTROLS).to_string()
}

/// Returns the error for more than `limit` redirects.
pub(super) fn too_many(limit: u32) -> OriginError {
    OriginError::Redirect(RedirectError::TooMany { limit })
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn from(url: &str, location: &str) -> Result<String, OriginError> {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::LOCATION,
            HeaderValue::from_bytes(location.as_bytes()).unwrap(),
        );
        next(&url.parse().unwrap(), &headers, &[]).map(String::from)
    }

    #[test]
    fn places_are_read_from_where_we_are() {
        for (location, expected) in [
            ("/c", "http://a.test/c"),
            ("c?d", "http://a.test/b/c?d"),
            ("//other.test/x", "http://other.test/x"),
            ("https://a.test/", "https://a.test/"),
            ("http://user:secret@b.test/", "http://b.test/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("/日.png?ü", "http://a.test/%E6%97%A5.png?%C3%BC"),
        ] {
            assert_eq!(from("http://a.test/b/x", location).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn only_http_and_https_are_followed_and_never_downwards() {
        for location in [
            "file:///etc/hostname",
            "gopher://a.test/",
            "ftp://a.test/x",
            "data:image/gif;base64,R0lGODlhAQABAAAAACw=",
            "unix:/run/x.sock",
            "javascript:alert(1)",
        ] {
            let detour = from("http://a.test/", location);
            assert_eq!(
                detour,
                Err(OriginError::Redirect(RedirectError::Scheme)),
                "{location}"
            );
        }
        let detour = from("https://a.test/", "http://a.test/");
        assert_eq!(detour, Err(OriginError::Redirect(RedirectError::Downgrade)));
        let detour = from("http://a.test/", "http://[::1/");
        assert_eq!(detour, Err(OriginError::Redirect(RedirectError::Nowhere)));
        let detour = next(&"http://a.test/".parse().unwrap(), &HeaderMap::new(), &[]);
        assert_eq!(detour, Err(OriginError::Redirect(RedirectError::Nowhere)));
    }
}
