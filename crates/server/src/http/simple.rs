//! What can be told about a request from the received bytes without rewriting hyper's parser: where its head ends
//! (found by the same parser that hyper uses), and whether anything but its target affects the answer.

use std::mem::MaybeUninit;

use httparse::{Header, Request, Status};
use hyper::Method;

/// What the received bytes turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen<'a> {
    /// One whole request that is simple.
    Simple(Simple<'a>),
    /// One whole request without a body that is not simple.
    Whole,
    /// Anything else: a part of a request, several requests, one with a body, or none.
    Other,
}

/// A GET or HEAD request whose answer depends on nothing but these fields.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Simple<'a> {
    pub(crate) method: Method,
    /// Path and query as received, not decoded.
    pub(crate) target: &'a str,
    pub(crate) after: AfterReply,
    pub(crate) accept: Option<&'a [u8]>,
    pub(crate) traceparent: Option<&'a [u8]>,
    x_forwarded_for: Option<&'a [u8]>,
    forwarded: Option<&'a [u8]>,
}

/// What happens to the connection after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterReply {
    /// It stays open, and another request may follow.
    Kept,
    /// It is closed because the client asks for it.
    Closed,
    /// It is closed because the request is HTTP/1.0, which closes connections unless the client asks otherwise.
    ClosedByHttp10,
}

impl AfterReply {
    pub(crate) fn closes(self) -> bool {
        self != Self::Kept
    }
}

impl<'a> Simple<'a> {
    #[cfg(test)]
    pub(crate) fn new(method: Method, target: &'a str, accept: Option<&'a [u8]>) -> Self {
        Self {
            method,
            target,
            after: AfterReply::Kept,
            accept,
            traceparent: None,
            x_forwarded_for: None,
            forwarded: None,
        }
    }

    /// Returns the value of the header with this name, in which a proxy may say who the client is.
    pub(crate) fn client(&self, name: &str) -> Option<&'a [u8]> {
        match name {
            "forwarded" => self.forwarded,
            _ => self.x_forwarded_for,
        }
    }

    /// The target without its query.
    pub(crate) fn path(&self) -> &str {
        self.target
            .split_once('?')
            .map_or(self.target, |(path, _)| path)
    }
}

impl<'a> Seen<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
        let mut request = Request::new(&mut []);
        match request.parse_with_uninit_headers(bytes, &mut headers) {
            Ok(Status::Complete(length)) if length == bytes.len() => {}
            _ => return Self::Other,
        }
        let is = |header: &Header<'_>, names: &[&str]| {
            names
                .iter()
                .any(|name| header.name.eq_ignore_ascii_case(name))
        };
        if request.headers.iter().any(|header| is(header, FRAMING)) {
            return Self::Other;
        }
        let method = match request.method {
            Some("GET") => Method::GET,
            Some("HEAD") => Method::HEAD,
            _ => return Self::Whole,
        };
        let target = request.path.filter(|target| target.starts_with('/'));
        let Some(target) = target else {
            return Self::Whole;
        };
        let mut after = match request.version {
            Some(1) => AfterReply::Kept,
            _ => AfterReply::ClosedByHttp10,
        };
        let (mut hosts, mut accept) = (0, None);
        let (mut x_forwarded_for, mut forwarded, mut traceparent) = (None, None, None);
        for header in &*request.headers {
            if is(header, &["host"]) {
                hosts += 1;
            } else if is(header, &["accept"]) && accept.is_none() {
                accept = Some(header.value);
            } else if is(header, &["x-forwarded-for"]) && x_forwarded_for.is_none() {
                x_forwarded_for = Some(header.value);
            } else if is(header, &["forwarded"]) && forwarded.is_none() {
                forwarded = Some(header.value);
            } else if is(header, &["traceparent"]) && traceparent.is_none() {
                traceparent = Some(header.value);
            } else if is(header, &["connection"]) {
                after = match (after, header.value.to_ascii_lowercase().as_slice()) {
                    (AfterReply::Kept, b"close") => AfterReply::Closed,
                    (AfterReply::Kept, b"keep-alive") => AfterReply::Kept,
                    (AfterReply::ClosedByHttp10, b"close") => AfterReply::ClosedByHttp10,
                    _ => return Self::Whole,
                };
            } else if is(header, DECIDING) {
                return Self::Whole;
            }
        }
        match (hosts, after) {
            (1, _) | (0, AfterReply::ClosedByHttp10) => Self::Simple(Simple {
                method,
                target,
                after,
                accept,
                traceparent,
                x_forwarded_for,
                forwarded,
            }),
            _ => Self::Whole,
        }
    }
}

/// Headers that say where a request ends, or that the connection changes its protocol after it.
const FRAMING: &[&str] = &["content-length", "transfer-encoding", "upgrade"];

/// Headers that an answer may depend on, apart from the target, `Host` and the first `Accept`.
const DECIDING: &[&str] = &[
    "accept",
    "expect",
    "forwarded",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "range",
    "traceparent",
    "x-forwarded-for",
];

/// Maximum number of headers, the same as hyper accepts.
const MOST_HEADERS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn with(headers: &str) -> String {
        format!("GET /a?b HTTP/1.1\r\nHost: h\r\n{headers}\r\n")
    }

    #[test]
    fn what_decides_about_nothing_is_not_looked_at() {
        for headers in [
            "",
            "User-Agent: x\r\nCookie: a=b\r\nconnection: Keep-Alive\r\n",
        ] {
            let expected = Simple::new(Method::GET, "/a?b", None);
            assert_eq!(expected.path(), "/a");
            assert_eq!(Seen::of(with(headers).as_bytes()), Seen::Simple(expected));
        }
    }

    #[test]
    fn what_decides_about_the_answer_makes_a_request_less_simple() {
        for headers in [
            "RANGE: bytes=0-1\r\n",
            "If-None-Match: \"a\"\r\n",
            "Origin: https://a\r\n",
            "Connection: upgrade\r\n",
            "Connection: close\r\nConnection: keep-alive\r\n",
            "Host: second\r\n",
            "Accept: a/b\r\nAccept: c/d\r\n",
            "Traceparent: a\r\ntraceparent: b\r\n",
        ] {
            assert_eq!(Seen::of(with(headers).as_bytes()), Seen::Whole, "{headers}");
        }
        for head in [
            "POST / HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
        ] {
            assert_eq!(Seen::of(head.as_bytes()), Seen::Whole, "{head}");
        }
    }

    #[test]
    fn a_connection_is_closed_where_the_client_or_its_protocol_wants_that() {
        for (head, after) in [
            ("1.1\r\nHost: h\r\n", AfterReply::Kept),
            (
                "1.1\r\nHost: h\r\nConnection: Close\r\n",
                AfterReply::Closed,
            ),
            ("1.0\r\n", AfterReply::ClosedByHttp10),
            (
                "1.0\r\nHost: h\r\nconnection: close\r\n",
                AfterReply::ClosedByHttp10,
            ),
        ] {
            let head = format!("GET / HTTP/{head}\r\n");
            let Seen::Simple(asked) = Seen::of(head.as_bytes()) else {
                panic!("{head}");
            };
            assert_eq!(asked.after, after, "{head}");
        }
    }

    #[test]
    fn anything_but_one_whole_head_is_something_else() {
        let head = with("");
        let second = format!("{head}{head}");
        for bytes in [&second, &second[..head.len() + 1], "", "\0\r\n\r\n"] {
            assert_eq!(Seen::of(bytes.as_bytes()), Seen::Other, "{bytes}");
        }
        for end in 1..head.len() {
            assert_eq!(Seen::of(&head.as_bytes()[..end]), Seen::Other);
        }
        for headers in ["Content-Length: 0\r\n", "transfer-encoding: chunked\r\n"] {
            assert_eq!(Seen::of(with(headers).as_bytes()), Seen::Other);
        }
    }
}
