//! Classifies received bytes, without duplicating hyper's parser: whether they are exactly one request (the end of its head
//! is found by the parser that hyper uses), and whether its answer depends on more than a few of its fields.

use std::mem::MaybeUninit;

use httparse::{Header, Request, Status};
use hyper::Method;

/// What the received bytes consist of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen<'a> {
    /// One whole GET or HEAD request whose answer depends on nothing but the fields of `Simple`.
    Simple(Simple<'a>),
    /// One whole request without a body whose answer may depend on more than the fields of `Simple`.
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
    /// The connection stays open, and another request may follow.
    Kept,
    /// The connection is closed because the client asks for it.
    Closed,
    /// The connection is closed because the request is HTTP/1.0, which closes connections unless the client asks
    /// otherwise.
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

    /// Reads a header other than `Host`. Returns `false` if the answer to a request with this header depends on more
    /// than the fields of `Simple`.
    fn read(&mut self, header: &Header<'a>) -> bool {
        let field = if is(header, &["accept"]) {
            &mut self.accept
        } else if is(header, &["x-forwarded-for"]) {
            &mut self.x_forwarded_for
        } else if is(header, &["forwarded"]) {
            &mut self.forwarded
        } else if is(header, &["traceparent"]) {
            &mut self.traceparent
        } else if is(header, &["connection"]) {
            self.after = match (self.after, header.value.to_ascii_lowercase().as_slice()) {
                (AfterReply::Kept, b"close") => AfterReply::Closed,
                (AfterReply::Kept, b"keep-alive") => AfterReply::Kept,
                (AfterReply::ClosedByHttp10, b"close") => AfterReply::ClosedByHttp10,
                _ => return false,
            };
            return true;
        } else {
            return !is(header, DECIDING);
        };
        // A request that repeats one of these headers is not simple.
        field.replace(header.value).is_none()
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
        let mut simple = Simple {
            method,
            target,
            after: match request.version {
                Some(1) => AfterReply::Kept,
                _ => AfterReply::ClosedByHttp10,
            },
            accept: None,
            traceparent: None,
            x_forwarded_for: None,
            forwarded: None,
        };
        let mut hosts = 0;
        for header in &*request.headers {
            if is(header, &["host"]) {
                hosts += 1;
            } else if !simple.read(header) {
                return Self::Whole;
            }
        }
        match (hosts, simple.after) {
            (1, _) | (0, AfterReply::ClosedByHttp10) => Self::Simple(simple),
            _ => Self::Whole,
        }
    }
}

fn is(header: &Header<'_>, names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| header.name.eq_ignore_ascii_case(name))
}

/// Headers that determine where a request ends, or that ask for a change of the protocol after the request.
const FRAMING: &[&str] = &["content-length", "transfer-encoding", "upgrade"];

/// Headers that the answer to a request may depend on and for which `Simple` has no field. hyper answers requests with
/// one of them.
const DECIDING: &[&str] = &[
    "expect",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "range",
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
