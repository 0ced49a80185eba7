//! Refuses request heads that two servers could read in two different ways, before hyper reads them: lines that end in
//! a bare LF, and `Content-Length` together with `Transfer-Encoding` (RFC 9112, 2.2 and 6.1).
//!
//! hyper accepts the former, and in the latter silently drops the length. The byte that makes a head ambiguous is
//! replaced by a NUL, which no head may contain. hyper then answers 400 and closes the connection.

/// Checks the bytes that one connection receives for request heads that two servers could read in two different ways.
#[derive(Debug, Default)]
pub(super) struct Strict {
    place: Place,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// Whether the last received byte of the unfinished line was a CR.
    after_cr: bool,
    framing: Framing,
    /// Number of request heads that have been received whole.
    heads: usize,
}

#[derive(Debug, Default)]
enum Place {
    #[default]
    Head,
    /// In a body, of which this many bytes are still to come.
    Body(u64),
    /// No further request of this connection is answered, so nothing more is checked.
    Over,
}

/// What the lines of the current head say about the body, as far as they have been read.
#[derive(Debug, Default)]
struct Framing {
    is_begun: bool,
    length: Option<u64>,
    is_coded: bool,
}

impl Strict {
    /// Checks received bytes. If a request head is ambiguous, replaces the byte that makes it so by a NUL, and returns
    /// how many of the bytes hyper is to read before [`END`]. Returns `None` if hyper is to read all of them.
    pub(super) fn check(&mut self, bytes: &mut [u8]) -> Option<usize> {
        let mut from = 0;
        while from < bytes.len() {
            match &mut self.place {
                Place::Over => return None,
                Place::Body(left) => {
                    let count = (*left).min((bytes.len() - from) as u64);
                    from += count as usize;
                    *left -= count;
                    if *left == 0 {
                        self.place = Place::Head;
                    }
                }
                Place::Head => match bytes[from..].iter().position(|byte| *byte == b'\n') {
                    None => {
                        self.keep(&bytes[from..]);
                        return None;
                    }
                    Some(length) => {
                        let end = from + length;
                        if !self.take_line(&bytes[from..end]) {
                            bytes[end] = SPOILT;
                            self.place = Place::Over;
                            return Some(end + 1);
                        }
                        from = end + 1;
                    }
                },
            }
        }
        None
    }

    /// Whether all requests that have begun are complete, as far as is known.
    pub(super) fn is_between_requests(&self) -> bool {
        matches!(self.place, Place::Head) && !self.framing.is_begun && self.line.is_empty()
    }

    /// Returns how many request heads have been received whole. hyper may have refused the last one.
    pub(super) fn heads(&self) -> usize {
        self.heads
    }

    /// Stores the beginning of a line until its end arrives.
    fn keep(&mut self, part: &[u8]) {
        let room = LONGEST_LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
        self.after_cr = part.last() == Some(&b'\r');
    }

    /// Handles the end of a line, up to its LF. Returns false if the line makes the request head ambiguous.
    fn take_line(&mut self, end: &[u8]) -> bool {
        let ends_in_cr = match end {
            [] => self.after_cr,
            [.., last] => *last == b'\r',
        };
        self.after_cr = false;
        if !ends_in_cr {
            return false;
        }
        if self.line.is_empty() {
            let line = end.strip_suffix(b"\r").unwrap_or(end);
            return self.read(line);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(&end[..end.len().min(LONGEST_LINE)]);
        let is_valid = self.read(line.strip_suffix(b"\r").unwrap_or(&line));
        line.clear();
        self.line = line;
        is_valid
    }

    /// Handles a whole line of a request head. Returns false if the line makes the head ambiguous or invalid.
    fn read(&mut self, line: &[u8]) -> bool {
        let framing = &mut self.framing;
        if line.is_empty() {
            // Empty lines before a request are ignored.
            if !framing.is_begun {
                return true;
            }
            let Framing {
                length, is_coded, ..
            } = std::mem::take(framing);
            self.heads += 1;
            self.place = match (length, is_coded) {
                (Some(_), true) => return false,
                // The connection is closed after the reply to a request with a chunked body.
                (None, true) => Place::Over,
                (Some(1..), false) => Place::Body(length.unwrap_or(0)),
                (_, false) => Place::Head,
            };
            return true;
        }
        if !std::mem::replace(&mut framing.is_begun, true) {
            return true;
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let name = parts.next().unwrap_or_default();
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            framing.is_coded = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let value = parts.next().unwrap_or_default().trim_ascii();
            let length = str::from_utf8(value)
                .ok()
                .and_then(|text| text.parse().ok());
            match length {
                // A line of that length may have been cut, and its number with it.
                Some(length) if line.len() < LONGEST_LINE => framing.length = Some(length),
                // hyper refuses a length that is not a number, too.
                _ => return false,
            }
        }
        true
    }
}

/// The end of a request head, which follows the NUL in an ambiguous one: hyper does not examine a head that comes in
/// pieces before its end.
pub(super) const END: &[u8] = b"\r\n\r\n";

/// A byte that no head may contain.
const SPOILT: u8 = 0;

/// Number of bytes that are examined of a line that came in pieces, more than a `Content-Length` line needs.
const LONGEST_LINE: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bytes after they were checked in pieces of `piece` bytes.
    fn checked(bytes: &str, piece: usize) -> String {
        let mut strict = Strict::default();
        let mut bytes = bytes.as_bytes().to_vec();
        for piece in bytes.chunks_mut(piece) {
            if strict.check(piece).is_some() {
                break;
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    fn is_spoilt(bytes: &str) -> bool {
        let outcomes = [1, 2, 3, 7, 4096].map(|piece| checked(bytes, piece));
        assert!(outcomes.iter().all(|one| *one == outcomes[0]), "{bytes:?}");
        outcomes[0] != bytes
    }

    #[test]
    fn sound_requests_are_not_touched_however_they_come() {
        for bytes in [
            "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n\n\n\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length:0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\n\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nX: Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            assert!(!is_spoilt(bytes), "{bytes:?}");
        }
    }

    #[test]
    fn a_bare_lf_anywhere_in_a_head_spoils_it() {
        for bytes in [
            "\nGET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\nHost: h\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\n\r\n",
            "GET / HTTP/1.1\r\nHost: h\r\n\n",
            "GET / HTTP/1.1\r\nX: a\nY: b\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n\n\nGET / HTTP/1.1\n\r\n",
        ] {
            assert!(is_spoilt(bytes), "{bytes:?}");
            assert_eq!(checked(bytes, 4096).matches('\0').count(), 1, "{bytes:?}");
        }
    }

    #[test]
    fn a_length_beside_a_coding_spoils_the_head_in_either_order() {
        for bytes in [
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nCONTENT-LENGTH: 0\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3x\r\n\r\nabc",
        ] {
            assert!(is_spoilt(bytes), "{bytes:?}");
        }
        let zeros = "0".repeat(200);
        let long = format!("POST / HTTP/1.1\r\nContent-Length: {zeros}3\r\n\r\nabc");
        assert!(is_spoilt(&long));
    }
}
