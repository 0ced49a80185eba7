//! `POST /_andon/purge`: removes results from the cache. It requires the administrator's token.

use std::fmt;

use andon_cache::Selector;
use andon_recipe::unknown;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Body;
use hyper::header::{self, HeaderMap};
use serde::Deserialize;

use crate::error::Error;

/// The body of a purge request: a JSON object with exactly one of these keys, which selects what is removed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum PurgeRequest {
    /// The results of one URL, in every format that is negotiated for it: path and query as they are written in the URL.
    Url(String),
    /// All results made from the source with this path.
    Source(String),
    /// All results made from sources whose path begins with this prefix.
    Prefix(String),
    /// All results with this tag, such as `overlay:star.png` or `type:image/webp`.
    Tag(String),
}

/// A purge request after it was checked.
#[derive(Debug)]
pub(crate) enum Purge {
    /// Remove the results of this URL.
    Url(String),
    /// Remove the results that this selector finds in the cache.
    Results(Selector),
}

/// A digest of the administrator's token.
pub(crate) struct Token([u8; 32]);

/// Shows neither the token nor its digest.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    pub(crate) fn new(secret: &str) -> Self {
        Self(digest(secret.as_bytes()))
    }

    /// Whether the request carries this token, as `Authorization: Bearer …`.
    pub(crate) fn opens(&self, headers: &HeaderMap) -> bool {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return false;
        };
        let value = value.as_bytes();
        let (scheme, token) = value.split_at(value.len().min(SCHEME.len()));
        scheme.eq_ignore_ascii_case(SCHEME) && are_equal(&digest(token), &self.0)
    }
}

const SCHEME: &[u8] = b"Bearer ";

/// Whether two digests are equal. All bytes of both are compared, however early they differ, so that the time does not
/// show how much of a guessed token's digest is right.
fn are_equal(left: &[u8; 32], right: &[u8; 32]) -> bool {
    let differing = left
        .iter()
        .zip(right)
        .fold(0, |differing, (left, right)| differing | (left ^ right));
    std::hint::black_box(differing) == 0
}

fn digest(token: &[u8]) -> [u8; 32] {
    *blake3::hash(token).as_bytes()
}

/// Reads the body of a purge request.
///
/// # Errors
/// A sentence for the client about what is wrong with the body.
pub(crate) async fn read<B>(body: B) -> Result<PurgeRequest, String>
where
    B: Body<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let body = Limited::new(body, MOST_BYTES).collect().await;
    let bytes = body
        .map_err(|error| format!("the order could not be read: {error}"))?
        .to_bytes();
    serde_json::from_slice(&bytes).map_err(|error| {
        format!(
            "the order is not understood ({error}); write it like {{\"source\": \"/trip/a.jpg\"}}, or with url, prefix or tag"
        )
    })
}

impl PurgeRequest {
    /// Converts the request to a selector for the cache, or to the URL whose results are selected.
    ///
    /// # Errors
    /// If the request could never select anything.
    pub(crate) fn into_purge(self) -> Result<Purge, Error> {
        Ok(Purge::Results(match self {
            Self::Url(url) => return Ok(Purge::Url(with_slash(&url)?)),
            Self::Source(path) => Selector::Source(with_slash(&path)?),
            Self::Prefix(path) => Selector::Prefix(with_slash(&path)?),
            Self::Tag(tag) => Selector::Tag(checked_tag(tag)?),
        }))
    }
}

/// Returns a path with exactly one leading slash.
///
/// # Errors
/// If the text is a URL with a scheme.
fn with_slash(path: &str) -> Result<String, Error> {
    match !path.starts_with('/') && path.contains("://") {
        true => Err(Error::PurgeRequest(format!(
            "`{path}` has a scheme and a host; write the path alone, such as /trip/a.jpg, or /{path} for a source of `http.urls`"
        ))),
        false => Ok(format!("/{}", path.trim_start_matches('/'))),
    }
}

/// Returns the tag, or an error if no result can have such a tag.
fn checked_tag(tag: String) -> Result<String, Error> {
    let (kind, name) = tag.split_once(':').unwrap_or((&tag, ""));
    let wrong = |what: String| {
        let how = "write it like overlay:star.png or type:image/webp";
        Err(Error::PurgeRequest(format!("{what}; {how}")))
    };
    match kind {
        "overlay" if !name.is_empty() => Ok(tag),
        "type" if name.contains('/') => Ok(tag),
        "type" => wrong(format!("`{tag}` names no media type")),
        "overlay" => wrong(format!("`{tag}` names no image")),
        kind => wrong(unknown("kind of tag", kind, &["overlay", "type"])),
    }
}

const MOST_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let token = Token::new("a token of some length");
        let opens = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_static(value));
            token.opens(&headers)
        };
        assert!(opens("Bearer a token of some length"));
        assert!(opens("bearer a token of some length"));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Basic a token of some length",
            "Bearer a token of some lengti",
            "Bearer a token of some lengt",
            "Bearer a token of some length ",
        ] {
            assert!(!opens(wrong), "{wrong}");
        }
        assert!(!token.opens(&HeaderMap::new()));
    }
}
