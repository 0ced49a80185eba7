//! What a client has sent by the time its connection is accepted.
//!
//! Proxies that open a connection for each request, as nginx does by default, have sent the request by then. A reply
//! from memory is written right away. Unless the client is slow to receive it, neither a reactor nor hyper ever sees
//! such a connection.

use std::net::TcpStream;

use rustix::io::{Errno, writev};
use rustix::net::{RecvFlags, recv};

use super::fast_reply::{FastResponder, MOST_IN_TURN, Remainder, Reply};
use super::simple::Seen;
use super::strict::Strict;

/// The bytes that a new connection brought, if they are still to be parsed, or the rest of the reply to them.
#[derive(Debug, Default)]
pub(crate) struct Arrival {
    /// Bytes of requests that are still to be parsed.
    pub(super) bytes: Vec<u8>,
    /// The reply to the connection's only request, if some of it is still to be sent.
    pub(super) reply: Option<Reply>,
}

impl Arrival {
    /// Reads the available bytes. If they are the only request of this connection and can be answered at once, answers
    /// it. `None` means that nothing is left to do: the request is answered, or the client has left.
    pub(crate) fn of(stream: &TcpStream, at_once: &impl FastResponder) -> Option<Self> {
        let mut bytes = [0; MOST_BYTES];
        let Ok((_, length)) = recv(stream, &mut bytes[..], RecvFlags::empty()) else {
            // Nothing has arrived yet, or the connection is broken, which the next read reports.
            return Some(Self::default());
        };
        let bytes = &mut bytes[..length];
        // `answer` may overwrite a byte that makes the head ambiguous, so keep a copy of what was received.
        let received_bytes = bytes.to_vec();
        match answer(bytes, at_once) {
            Some(reply) => send(stream, reply).map(|reply| Self {
                bytes: Vec::new(),
                reply: Some(reply),
            }),
            None => Some(Self {
                bytes: received_bytes,
                reply: None,
            }),
        }
    }
}

/// Returns the reply to the bytes, if they are the only request of the connection and can be answered at once.
fn answer(bytes: &mut [u8], at_once: &impl FastResponder) -> Option<Reply> {
    if Strict::default().check(bytes).is_some() {
        return None;
    }
    let Seen::Simple(simple) = Seen::of(bytes) else {
        return None;
    };
    if !simple.after.closes() {
        return None;
    }
    let mut head = Vec::new();
    let body = at_once.answer(&simple, true, &mut head)?;
    Some(Reply::new(head, body))
}

/// Sends as much of the reply as the stream accepts without waiting. Returns the unsent rest, or `None` if the whole
/// reply is sent or the client has closed the connection.
fn send(stream: &TcpStream, mut reply: Reply) -> Option<Reply> {
    if reply.length() > MOST_IN_TURN {
        return Some(reply);
    }
    // A file is left to the task of the connection, because reading it may have to wait for the disk.
    while let Some(Remainder::Bytes(slices)) = reply.remainder() {
        match writev(stream, &slices) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Some(reply),
            Ok(0) | Err(_) => return None,
            Ok(count) => reply.sent_bytes += count as u64,
        }
    }
    reply.remainder().is_some().then_some(reply)
}

/// Maximum number of bytes that are read, more than a simple request has.
const MOST_BYTES: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{Shutdown, TcpListener};

    use bytes::Bytes;
    use rustix::net::sockopt;

    use super::*;
    use crate::http::{FastBody, Simple};

    /// Answers every request with this body.
    struct Always(Bytes);

    impl FastResponder for Always {
        fn answer(&self, _: &Simple<'_>, _: bool, head: &mut Vec<u8>) -> Option<FastBody> {
            head.extend_from_slice(b"head,");
            Some(FastBody::Bytes(self.0.clone()))
        }
    }

    /// Returns a client that has sent these bytes, and the server's end of its connection.
    fn sent(bytes: &[u8]) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(bytes).unwrap();
        let (server, _) = listener.accept().unwrap();
        if !bytes.is_empty() {
            // Until they are there.
            server.peek(&mut [0]).unwrap();
        }
        server.set_nonblocking(true).unwrap();
        (client, server)
    }

    #[test]
    fn the_only_request_of_a_connection_is_answered() {
        for request in [
            "GET /hit HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
            "GET /hit HTTP/1.0\r\n\r\n",
        ] {
            let (mut client, server) = sent(request.as_bytes());
            let body = Always(Bytes::from_static(b"body"));
            assert!(Arrival::of(&server, &body).is_none());
            drop(server);
            let mut reply = String::new();
            client.read_to_string(&mut reply).unwrap();
            assert_eq!(reply, "head,body");
        }
    }

    #[test]
    fn whatever_else_has_come_is_handed_on_as_it_came() {
        for bytes in [
            "",
            "GET /hit HTTP/1.1\r\nHost: h\r\n\r\n",
            "GET /hit HTTP/1.0\r\n",
            "GET /hit HTTP/1.0\n\n",
            "GET /hit HTTP/1.0\r\n\r\nGET /hit HTTP/1.0\r\n\r\n",
            "\x16\x03\x01",
        ] {
            let (_client, server) = sent(bytes.as_bytes());
            let body = Always(Bytes::from_static(b"body"));
            let arrival = Arrival::of(&server, &body).expect("not answered");
            assert_eq!(arrival.bytes, bytes.as_bytes());
            assert!(arrival.reply.is_none());
        }
    }

    #[test]
    fn a_reply_that_the_stream_does_not_take_is_handed_on() {
        let (_client, server) = sent(b"GET /hit HTTP/1.0\r\n\r\n");
        let too_long = Always(Bytes::from(vec![7; 1 + MOST_IN_TURN as usize]));
        let arrival = Arrival::of(&server, &too_long).expect("nothing of it");
        assert_eq!(
            arrival.reply.expect("a reply that is not begun").sent_bytes,
            0
        );

        let (mut client, server) = sent(b"GET /hit HTTP/1.0\r\n\r\n");
        sockopt::set_socket_send_buffer_size(&server, 4096).unwrap();
        let body = Bytes::from(vec![7; MOST_IN_TURN as usize / 2]);
        let arrival = Arrival::of(&server, &Always(body.clone())).expect("not all of it");
        let reply = arrival.reply.expect("a reply that is begun");
        assert!((1..body.len() as u64).contains(&reply.sent_bytes));
        server.shutdown(Shutdown::Write).unwrap();
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, reply.sent_bytes);
        assert_eq!(&bytes[..9], b"head,\x07\x07\x07\x07");
    }

    #[test]
    fn of_a_connection_that_takes_nothing_more_nothing_remains() {
        let (_client, server) = sent(b"GET /hit HTTP/1.0\r\n\r\n");
        server.shutdown(Shutdown::Write).unwrap();
        let body = Always(Bytes::from_static(b"body"));
        assert!(Arrival::of(&server, &body).is_none());
    }
}
