//! The results of fetches from origins of all kinds.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use andon_recipe::Colour;
use bytes::Bytes;
use hyper::HeaderMap;
use hyper::header::{self, HeaderName};
use serde::{Deserialize, Serialize};

use super::budget::{Budget, Reservation};
use super::file::Identity;
use super::freshness::Freshness;

/// The result of a fetch, which may be conditional.
#[derive(Debug)]
pub enum Fetched {
    /// The whole source, because the fetch was unconditional or the source has changed.
    Body(Source),
    /// The state of the source that the caller has is current (status 304), with this new freshness.
    NotModified(Freshness),
}

/// A complete source.
#[derive(Clone, Debug)]
pub struct Source {
    /// The content of the source.
    pub bytes: Bytes,
    /// Validators that distinguish this state of the source from any other.
    pub validators: SourceValidators,
    /// How long the origin allows the source to be used.
    pub freshness: Freshness,
    /// Whether the end of the source was marked. A response over plain TCP without a length ends with its connection,
    /// and only a decoder can tell whether it is complete.
    pub bounded: bool,
    /// The media type that the origin states. It is never trusted: an image's type is recognized by its first bytes.
    pub media_type: Option<String>,
    /// The reservation of the memory that the bytes take.
    pub hold: Arc<Reservation>,
}

impl Source {
    /// Returns a one-pixel bitmap of this colour, as a source that never changes.
    pub(crate) async fn of_colour(colour: Colour, budget: &Budget) -> Self {
        let words: [u32; 3] = [126, 0, 122];
        // The header has version 4: 1×1 px of 32 bits, the masks of red, green, blue and alpha, sRGB.
        let header: [u32; 27] = {
            let mut header = [0; 27];
            header[..6].copy_from_slice(&[108, 1, 1, 32 << 16 | 1, 3, 4]);
            header[10..15].copy_from_slice(&[
                0x00ff_0000,
                0x0000_ff00,
                0x0000_00ff,
                0xff00_0000,
                0x7352_4742,
            ]);
            header
        };
        let words = words
            .iter()
            .chain(&header)
            .flat_map(|word| word.to_le_bytes());
        let pixel = [colour.b, colour.g, colour.r, colour.a];
        let bytes: Vec<u8> = b"BM".iter().copied().chain(words).chain(pixel).collect();
        Self {
            bytes: bytes.into(),
            validators: SourceValidators {
                identity: format!("colour {colour}"),
                etag: None,
                last_modified: None,
            },
            freshness: Freshness {
                fresh_for: Some(Duration::from_secs(365 * 24 * 60 * 60)),
                ..Freshness::default()
            },
            bounded: true,
            media_type: None,
            hold: Arc::new(budget.held.take(126).await),
        }
    }
}

/// Validators that distinguish one state of a source from another. They are stored with every result of the source, and
/// sent to the origin to revalidate it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceValidators {
    /// A text that differs for every state of every source. It is meant for digests, not for people.
    pub identity: String,
    /// The origin's entity tag, as it was received.
    pub etag: Option<String>,
    /// The origin's modification date, as it was received.
    pub last_modified: Option<String>,
}

impl SourceValidators {
    /// Derives the validators of a response for the source called `name` from its headers and bytes.
    ///
    /// An identity must change whenever a byte does. Only a version or a strong entity tag guarantees that, or a
    /// modification date that is old enough. If the origin sends none of them, the identity is a digest of the bytes.
    pub(super) fn of_reply(name: &str, headers: &HeaderMap, bytes: &[u8]) -> Self {
        let etag = text(headers, &header::ETAG);
        let last_modified = text(headers, &header::LAST_MODIFIED);
        let version = text(headers, &VERSION).filter(|version| *version != "null");
        let strong_tag = etag.filter(|tag| tag.starts_with('"') && tag.len() > 2);
        let length = bytes.len();
        let identity = match (version, strong_tag) {
            (Some(version), _) => format!("version {version} of {name}"),
            (None, Some(tag)) => format!("etag {tag} {length} of {name}"),
            (None, None) => match last_modified.filter(|date| lies_back(date, headers)) {
                Some(date) => format!("date {date} {length} of {name}"),
                None => format!("blake3 {}", blake3::hash(bytes)),
            },
        };
        Self {
            identity,
            etag: etag.map(str::to_owned),
            last_modified: last_modified.map(str::to_owned),
        }
    }

    /// Returns the validators of a file.
    pub(super) fn of_file(identity: &Identity) -> Self {
        Self {
            identity: identity.version(),
            etag: None,
            last_modified: Some(httpdate::fmt_http_date(identity.modified())),
        }
    }

    /// Returns the time of the source's last change, if the origin states it.
    #[must_use]
    pub fn modified(&self) -> Option<SystemTime> {
        httpdate::parse_http_date(self.last_modified.as_deref()?).ok()
    }
}

/// Whether a modification date is old enough to distinguish states of a source. Dates count whole seconds, so a second
/// change within the same second would go unnoticed: the origin's own clock has to be at least 60 s ahead (RFC 9110,
/// 8.8.2.2).
fn lies_back(date: &str, headers: &HeaderMap) -> bool {
    let read = |text: &str| httpdate::parse_http_date(text).ok();
    let now = text(headers, &header::DATE).and_then(read);
    match (read(date), now) {
        (Some(date), Some(now)) => now
            .duration_since(date)
            .is_ok_and(|since| since.as_secs() >= 60),
        _ => false,
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The header in which S3 sends the version of an object.
const VERSION: HeaderName = HeaderName::from_static("x-amz-version-id");

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    fn identity(headers: &[(HeaderName, &str)], bytes: &[u8]) -> String {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        SourceValidators::of_reply("n", &map, bytes).identity
    }

    #[test]
    fn a_version_goes_before_a_strong_tag_and_that_before_an_old_date() {
        let version = (VERSION, "v1");
        let tag = (header::ETAG, "\"t\"");
        let modified = (header::LAST_MODIFIED, DATE);
        let now = (header::DATE, "Sun, 06 Nov 1994 08:50:37 GMT");
        let all = [version, tag.clone(), modified.clone(), now.clone()];
        assert_eq!(identity(&all, b"1"), "version v1 of n");
        assert_eq!(identity(&all[1..], b"1"), "etag \"t\" 1 of n");
        assert_eq!(identity(&all[2..], b"1"), format!("date {DATE} 1 of n"));
        let unversioned = (VERSION, "null");
        assert_eq!(identity(&[unversioned, tag], b"1"), "etag \"t\" 1 of n");
    }

    #[test]
    fn what_promises_too_little_leaves_it_to_the_bytes() {
        let young = [
            (header::LAST_MODIFIED, DATE),
            (header::DATE, "Sun, 06 Nov 1994 08:50:36 GMT"),
        ];
        for headers in [
            &[][..],
            &[(header::ETAG, "W/\"weak\"")],
            &[(header::ETAG, "\"\"")],
            &[(header::LAST_MODIFIED, DATE)],
            &young,
        ] {
            let one = identity(headers, b"1");
            assert!(one.starts_with("blake3 "), "{one}");
            assert_eq!(one, identity(headers, b"1"));
            assert_ne!(one, identity(headers, b"2"));
        }
    }
}
