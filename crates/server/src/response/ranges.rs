//! The `Range` header: a part of a body. Only one range at a time is supported; a request for several gets the whole
//! body, which is always allowed.

use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};

use crate::response::Reply;

/// The part of a body that a client requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedRange {
    /// The whole body, also if the header is invalid.
    Whole,
    /// A part: the positions of its first and last byte.
    Part(u64, u64),
    /// A part that lies outside the body.
    Nothing,
}

/// Reduces the reply to a GET to the requested range. For other methods, ranges have no meaning.
pub(crate) fn apply(head: &Parts, reply: &mut Reply) {
    if reply.status() != StatusCode::OK {
        return;
    }
    let length = reply.body().length();
    let out = reply.headers_mut();
    out.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let headers = &head.headers;
    let range = match headers.get(header::RANGE) {
        Some(range) if head.method == Method::GET => range,
        _ => return,
    };
    if headers.get_all(header::RANGE).iter().count() > 1 || !still_holds(headers, out) {
        return;
    }
    let (status, part, content_range) =
        match parse_range(range.to_str().unwrap_or_default(), length) {
            RequestedRange::Whole => return,
            RequestedRange::Part(first, last) => (
                StatusCode::PARTIAL_CONTENT,
                first..last + 1,
                format!("bytes {first}-{last}/{length}"),
            ),
            RequestedRange::Nothing => (
                StatusCode::RANGE_NOT_SATISFIABLE,
                0..0,
                format!("bytes */{length}"),
            ),
        };
    if let Ok(content_range) = HeaderValue::from_str(&content_range) {
        out.insert(header::CONTENT_RANGE, content_range);
        *reply.status_mut() = status;
        reply.body_mut().cut_to(part);
    }
}

/// Whether the requested range belongs to the same state of the resource as this reply (`If-Range`). Only a strong entity
/// tag or the exact date can confirm that.
fn still_holds(request: &HeaderMap, reply: &HeaderMap) -> bool {
    match request.get(header::IF_RANGE) {
        None => true,
        Some(validator) if validator.as_bytes().starts_with(b"\"") => {
            Some(validator) == reply.get(header::ETAG)
        }
        Some(validator) => Some(validator) == reply.get(header::LAST_MODIFIED),
    }
}

fn parse_range(range: &str, length: u64) -> RequestedRange {
    let Some((unit, set)) = range.split_once('=') else {
        return RequestedRange::Whole;
    };
    let Some((first, last)) = set.trim().split_once('-') else {
        return RequestedRange::Whole;
    };
    if !unit.trim().eq_ignore_ascii_case("bytes") || set.contains(',') {
        return RequestedRange::Whole;
    }
    // Digits only, because `parse` alone would accept a sign. A number that is too large lies past the end.
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (number(first), number(last)) {
        (None, Some(suffix)) if first.is_empty() => match suffix.min(length) {
            0 => RequestedRange::Nothing,
            suffix => RequestedRange::Part(length - suffix, length - 1),
        },
        (Some(first), None) if last.is_empty() => match first < length {
            true => RequestedRange::Part(first, length - 1),
            false => RequestedRange::Nothing,
        },
        (Some(first), Some(last)) if first <= last => match first < length {
            true => RequestedRange::Part(first, last.min(length - 1)),
            false => RequestedRange::Nothing,
        },
        _ => RequestedRange::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_of_bytes_is_read_and_all_else_means_the_whole() {
        for (range, expected) in [
            ("bytes=0-0", RequestedRange::Part(0, 0)),
            ("bytes=2-4", RequestedRange::Part(2, 4)),
            ("Bytes=2-400", RequestedRange::Part(2, 9)),
            ("bytes=9-", RequestedRange::Part(9, 9)),
            ("bytes=-3", RequestedRange::Part(7, 9)),
            ("bytes=-99999999999999999999999", RequestedRange::Part(0, 9)),
            ("bytes=10-", RequestedRange::Nothing),
            ("bytes=99999999999999999999999-", RequestedRange::Nothing),
            ("bytes=-0", RequestedRange::Nothing),
            ("bytes=4-2", RequestedRange::Whole),
            ("bytes=0-1,3-4", RequestedRange::Whole),
            ("bytes=+1-2", RequestedRange::Whole),
            ("bytes=-", RequestedRange::Whole),
            ("bytes=a-b", RequestedRange::Whole),
            ("lines=0-1", RequestedRange::Whole),
            ("", RequestedRange::Whole),
        ] {
            assert_eq!(parse_range(range, 10), expected, "{range}");
        }
        assert_eq!(parse_range("bytes=0-", 0), RequestedRange::Nothing);
    }
}
