//! Conditional requests, answered without reading the source, let alone decoding it.
//!
//! The entity tag of a reply is strong: it is made from everything that the bytes of the body depend on.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::HeaderMap;
use hyper::header::{self, HeaderName};

use crate::origins::{Identity, SourceValidators};

/// The validators of a reply, with which a client can check its copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validators {
    /// The entity tag, quotes included.
    pub etag: String,
    /// When the source was last changed, in whole seconds and never in the future; `None` if it is not known.
    pub modified: Option<SystemTime>,
}

/// The state of an overlay image, on which a result depends besides its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// A text that differs for every state of the image.
    version: String,
    /// When the image was last changed, if that is known.
    modified: Option<SystemTime>,
}

impl State {
    /// Returns the state of a file.
    pub(crate) fn of_file(identity: &Identity) -> Self {
        Self {
            version: identity.version(),
            modified: Some(identity.modified()),
        }
    }

    /// Returns the state of an image that was fetched from an origin.
    pub(crate) fn of_fetched(validators: &SourceValidators) -> Self {
        Self {
            version: validators.identity.clone(),
            modified: validators.modified(),
        }
    }
}

impl Validators {
    /// Computes the validators of a result that is made from a file and from overlay images, each with its name. `result`
    /// is the text of the result's recipe and the server's revision.
    #[must_use]
    pub(crate) fn new(result: &str, source: &Identity, overlays: &[(String, State)]) -> Self {
        let mut digest = Digest::of(result);
        digest.text(&source.version());
        Self::with_overlays(digest, Some(source.modified()), overlays)
    }

    /// Computes the validators of a result whose source was fetched from an origin. `result` is the text of its recipe and
    /// the server's revision.
    #[must_use]
    pub(crate) fn of_fetched(
        result: &str,
        source: &SourceValidators,
        overlays: &[(String, State)],
    ) -> Self {
        let mut digest = Digest::of(result);
        digest.text(&source.identity);
        Self::with_overlays(digest, source.modified(), overlays)
    }

    fn with_overlays(
        mut digest: Digest,
        modified: Option<SystemTime>,
        overlays: &[(String, State)],
    ) -> Self {
        for (name, state) in overlays {
            digest.text(name);
            digest.text(&state.version);
        }
        // If the date of a single image is unknown, so is the newest of all.
        let newest = overlays.iter().fold(modified, |newest, (_, state)| {
            newest
                .zip(state.modified)
                .map(|(one, other)| one.max(other))
        });
        Self {
            etag: format!("\"{digest}\""),
            modified: newest.map(|newest| whole_seconds(newest.min(SystemTime::now()))),
        }
    }

    /// Whether the client's copy is the current one, so that 304 is the answer. `If-None-Match` decides or, without it,
    /// `If-Modified-Since` (RFC 9110, 13.2.2).
    #[must_use]
    pub fn unchanged(&self, headers: &HeaderMap) -> bool {
        if headers.contains_key(header::IF_NONE_MATCH) {
            return texts(headers, &header::IF_NONE_MATCH)
                .any(|list| names(list, &self.etag, Comparison::Weak));
        }
        texts(headers, &header::IF_MODIFIED_SINCE)
            .next()
            .and_then(|date| httpdate::parse_http_date(date).ok())
            .zip(self.modified)
            .is_some_and(|(since, modified)| modified <= since)
    }
}

/// Whether the client requires a state of the resource other than that of this reply, so that 412 is the answer.
/// `If-Match` decides or, without it, `If-Unmodified-Since` (RFC 9110, 13.2.2).
pub(crate) fn is_another(request: &HeaderMap, reply: &HeaderMap) -> bool {
    if request.contains_key(header::IF_MATCH) {
        let etag = reply.get(header::ETAG).and_then(|it| it.to_str().ok());
        let is_listed = etag.is_some_and(|etag| {
            texts(request, &header::IF_MATCH).any(|list| names(list, etag, Comparison::Strong))
        });
        return !is_listed;
    }
    let date = |headers: &HeaderMap, name| {
        let text = texts(headers, name).next()?;
        httpdate::parse_http_date(text).ok()
    };
    date(request, &header::IF_UNMODIFIED_SINCE)
        .zip(date(reply, &header::LAST_MODIFIED))
        .is_some_and(|(since, modified)| modified > since)
}

/// Whether the request says which state of the resource the client has, by `If-None-Match` or `If-Modified-Since`.
pub(crate) fn is_conditional(headers: &HeaderMap) -> bool {
    headers.contains_key(header::IF_NONE_MATCH) || headers.contains_key(header::IF_MODIFIED_SINCE)
}

fn texts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
}

/// How entity tags are compared (RFC 9110, 8.8.3.2).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// A weak entity tag matches nothing.
    Strong,
    Weak,
}

/// Whether the list of entity tags contains `etag` or is `*`.
fn names(list: &str, etag: &str, comparison: Comparison) -> bool {
    let mut rest = list.trim();
    if rest == "*" {
        return true;
    }
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let opaque = rest.strip_prefix("W/").unwrap_or(rest);
        // A tag may hold commas: its end is the second quote, not the next comma.
        let Some(length) = opaque
            .strip_prefix('"')
            .and_then(|inside| inside.find('"'))
            .map(|inside| inside + 2)
        else {
            return false;
        };
        let counts = comparison == Comparison::Weak || opaque.len() == rest.len();
        if counts && &opaque[..length] == etag {
            return true;
        }
        rest = &opaque[length..];
    }
}

fn whole_seconds(time: SystemTime) -> SystemTime {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => UNIX_EPOCH + std::time::Duration::from_secs(since.as_secs()),
        Err(_) => UNIX_EPOCH,
    }
}

/// FNV-1a over 128 bits. It does not resist deliberate collisions and need not, because an entity tag is only compared
/// with those of other states of the same URL. Unlike `std`'s hashers, it stays the same after an upgrade of the
/// compiler.
struct Digest(u128);

impl Default for Digest {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Digest {
    fn of(result: &str) -> Self {
        let mut digest = Self::default();
        digest.text(result);
        digest
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte))
                .wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    /// Adds a text, preceded by its length so that two texts never run into one another.
    fn text(&mut self, text: &str) {
        self.bytes(&(text.len() as u64).to_le_bytes());
        self.bytes(text.as_bytes());
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    const SOURCE: Identity = Identity {
        modified_ns: 1_700_000_000_500_000_000,
        size: 10,
        inode: 3,
        device: 1,
    };

    fn validators() -> Validators {
        Validators::new("fit:10x10", &SOURCE, &[])
    }

    fn unchanged(headers: &[(HeaderName, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        validators().unchanged(&map)
    }

    #[test]
    fn the_tag_changes_with_the_recipe_and_with_every_part_of_a_file() {
        let tag = |recipe: &str, source: Identity, overlays: &[(String, State)]| {
            Validators::new(recipe, &source, overlays).etag
        };
        let file = |identity: Identity| State::of_file(&identity);
        let icon = ("icon.png".to_owned(), file(SOURCE));
        let tags = [
            tag("fit:10x10", SOURCE, &[]),
            tag("fit:10x11", SOURCE, &[]),
            tag(
                "fit:10x10",
                Identity {
                    modified_ns: 1_700_000_000_500_000_001,
                    ..SOURCE
                },
                &[],
            ),
            tag("fit:10x10", Identity { size: 11, ..SOURCE }, &[]),
            tag("fit:10x10", SOURCE, std::slice::from_ref(&icon)),
            tag(
                "fit:10x10",
                SOURCE,
                &[(icon.0, file(Identity { size: 9, ..SOURCE }))],
            ),
        ];
        for (index, one) in tags.iter().enumerate() {
            assert!(!tags[..index].contains(one), "tag {index} is not new");
        }
        assert_eq!(tags[0], tag("fit:10x10", SOURCE, &[]));
    }

    #[test]
    fn the_tag_is_the_same_for_a_copy_on_another_machine() {
        let copy = Identity {
            inode: 4,
            device: 2,
            ..SOURCE
        };
        assert_eq!(
            Validators::new("", &copy, &[]).etag,
            Validators::new("", &SOURCE, &[]).etag
        );
    }

    #[test]
    fn if_none_match_reads_lists_weak_tags_and_the_star() {
        let etag = validators().etag;
        let name = || header::IF_NONE_MATCH;
        assert!(unchanged(&[(name(), &etag)]));
        assert!(unchanged(&[(name(), "*")]));
        assert!(unchanged(&[(name(), &format!("W/{etag}"))]));
        assert!(unchanged(&[(
            name(),
            &format!("\"a,b\" ,W/\"c\",, {etag}")
        )]));
        assert!(unchanged(&[(name(), "\"a\""), (name(), &etag)]));
        assert!(!unchanged(&[(name(), "\"a\", W/\"b\"")]));
        assert!(!unchanged(&[(name(), etag.trim_matches('"'))]));
        assert!(!unchanged(&[(name(), "\"unfinished")]));
        assert!(!unchanged(&[(name(), "")]));
    }

    #[test]
    fn if_modified_since_counts_only_without_if_none_match() {
        let date = |seconds: u64| {
            httpdate::fmt_http_date(UNIX_EPOCH + std::time::Duration::from_secs(seconds))
        };
        let since = |seconds| (header::IF_MODIFIED_SINCE, date(seconds));
        let (name, same) = since(1_700_000_000);
        assert!(unchanged(&[(name.clone(), &same)]));
        assert!(unchanged(&[(name.clone(), &since(1_700_000_001).1)]));
        assert!(!unchanged(&[(name.clone(), &since(1_699_999_999).1)]));
        assert!(!unchanged(&[(name.clone(), "yesterday")]));
        assert!(!unchanged(&[
            (name, &same),
            (header::IF_NONE_MATCH, "\"other\"")
        ]));
    }

    #[test]
    fn the_last_change_is_never_in_the_future() {
        let future = Identity {
            modified_ns: 99_999_999_999_000_000_000,
            ..SOURCE
        };
        assert!(Validators::new("", &future, &[]).modified.unwrap() <= SystemTime::now());
    }
}
