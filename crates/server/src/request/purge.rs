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

/// The body of a purge request: exactly one of these says what is removed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum PurgeRequest {
    /// One result, in every format that is negotiated for it: path and query as they stand in its URL.
    Url(String),
    /// Everything made from one source, by its path.
    Source(String),
    /// Everything made from sources whose path begins with this prefix.
    Prefix(String),
    /// Everything with this tag, such as `material:star.png` or `type:image/webp`.
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

/// Shows nothing of the token.
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
        let Some(given) = headers.get(header::AUTHORIZATION) else {
            return false;
        };
        let given = given.as_bytes();
        let (scheme, token) = given.split_at(given.len().min(SCHEME.len()));
        scheme.eq_ignore_ascii_case(SCHEME) && same(&digest(token), &self.0)
    }
}

const SCHEME: &[u8] = b"Bearer ";

/// Whether two digests are equal. All bytes of both are compared, however early they differ. Digests have the same
/// length, and the little that the time taken could reveal says nothing about the token.
fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let differing = one
        .iter()
        .zip(other)
        .fold(0, |differing, (one, other)| differing | (one ^ other));
    std::hint::black_box(differing) == 0
}

fn digest(token: &[u8]) -> [u8; 32] {
    *blake3::hash(token).as_bytes()
}

/// Reads a purge request.
///
/// # Errors
/// A sentence about what is wrong with it.
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
    /// Converts the request to a selector for the cache, or to the URL whose results are meant.
    ///
    /// # Errors
    /// For a request that could never match anything.
    pub(crate) fn checked(self) -> Result<Purge, Error> {
        Ok(Purge::Results(match self {
            Self::Url(url) => return Ok(Purge::Url(rooted(&url)?)),
            Self::Source(path) => Selector::Source(rooted(&path)?),
            Self::Prefix(path) => Selector::Prefix(rooted(&path)?),
            Self::Tag(tag) => Selector::Tag(known(tag)?),
        }))
    }
}

/// Returns a path with one leading slash.
fn rooted(path: &str) -> Result<String, Error> {
    match !path.starts_with('/') && path.contains("://") {
        true => Err(Error::PurgeRequest(format!(
            "`{path}` has a scheme and a host; write the path alone, such as /trip/a.jpg, or /{path} for a source of `http.urls`"
        ))),
        false => Ok(format!("/{}", path.trim_start_matches('/'))),
    }
}

/// Returns the tag if a result can have such a tag.
fn known(tag: String) -> Result<String, Error> {
    let (kind, name) = tag.split_once(':').unwrap_or((&tag, ""));
    let wrong = |what: String| {
        let how = "write it like material:star.png or type:image/webp";
        Err(Error::PurgeRequest(format!("{what}; {how}")))
    };
    match kind {
        "material" if !name.is_empty() => Ok(tag),
        "type" if name.contains('/') => Ok(tag),
        "type" => wrong(format!("`{tag}` names no media type")),
        "material" => wrong(format!("`{tag}` names no image")),
        kind => wrong(unknown("kind of tag", kind, &["material", "type"])),
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
