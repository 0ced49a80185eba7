//! Stops HTTP/2 clients that send endless frames that request no HTTP response: PING and SETTINGS must be acknowledged,
//! while WINDOW_UPDATE, PRIORITY, RST_STREAM, empty DATA and unknown frames must be examined.
//!
//! A connection starts with an allowance for such frames. Requests, bytes of responses and time add to it, because
//! legitimate clients send such frames along with those: a PING for each round trip, a WINDOW_UPDATE for each piece
//! received. When the allowance is used up, everything that follows is replaced by frames that no client may send. The
//! HTTP/2 library answers these with GOAWAY (ENHANCE_YOUR_CALM) before it closes the connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// The stream of one HTTP/2 connection as the HTTP/2 library sees it.
#[derive(Debug)]
pub(crate) struct ControlFrames<S> {
    stream: S,
    frames: Frames,
    allowance: Allowance,
    /// What is left of [`ENDING`], which the library reads instead of the client's frames once the client has sent too
    /// many; `None` before that.
    ending: Option<&'static [u8]>,
}

impl<S> ControlFrames<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            frames: Frames::Preface(0),
            allowance: Allowance::default(),
            ending: None,
        }
    }

    /// Examines received bytes. Returns how many of them the library may read, or `None` for all.
    fn look_at(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            let (count, frame) = self.frames.take(&bytes[at..]);
            at += count;
            if let Some(frame) = frame {
                self.allowance.spend(frame);
            }
            if self.allowance.is_spent() && self.frames.is_between() {
                return Some(at);
            }
        }
        None
    }

    fn wrote(&mut self, outcome: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = outcome {
            self.allowance.add(*bytes as u64 / BYTES_PER_UNIT);
        }
    }
}

/// The position of the next byte in the client's sequence of frames.
#[derive(Clone, Copy, Debug)]
enum Frames {
    /// In the connection preface, of which this many bytes have been received.
    Preface(usize),
    /// In a frame header, of which this many bytes have been received.
    Head([u8; HEAD], usize),
    /// In a frame's payload, of which this many bytes are missing.
    Payload(usize),
}

/// The relevant fields of a frame header.
#[derive(Clone, Copy, Debug)]
struct Frame {
    length: usize,
    kind: u8,
    flags: u8,
}

impl Frames {
    /// Consumes some of `bytes`, which must not be empty. Returns how many, and the frame whose header they complete.
    fn take(&mut self, bytes: &[u8]) -> (usize, Option<Frame>) {
        match self {
            Self::Preface(have) => {
                let count = bytes.len().min(PREFACE - *have);
                *have += count;
                if *have == PREFACE {
                    *self = Self::Head([0; HEAD], 0);
                }
                (count, None)
            }
            Self::Payload(left) => {
                let count = bytes.len().min(*left);
                *left -= count;
                if *left == 0 {
                    *self = Self::Head([0; HEAD], 0);
                }
                (count, None)
            }
            Self::Head(head, have) => {
                let count = bytes.len().min(HEAD - *have);
                head[*have..*have + count].copy_from_slice(&bytes[..count]);
                *have += count;
                if *have < HEAD {
                    return (count, None);
                }
                let [a, b, c, kind, flags, ..] = *head;
                let length = u32::from_be_bytes([0, a, b, c]) as usize;
                *self = match length {
                    0 => Self::Head([0; HEAD], 0),
                    length => Self::Payload(length),
                };
                let frame = Frame {
                    length,
                    kind,
                    flags,
                };
                (count, Some(frame))
            }
        }
    }

    /// Whether the next byte begins a frame.
    fn is_between(&self) -> bool {
        matches!(self, Self::Head(_, 0))
    }
}

/// How many more frames that request no HTTP response a client may send, counted in units: a frame that must be
/// acknowledged costs [`ACKNOWLEDGED`] units, any other one unit.
#[derive(Debug)]
struct Allowance {
    units: u64,
    since: Instant,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            units: MOST_UNITS,
            since: Instant::now(),
        }
    }
}

impl Allowance {
    fn add(&mut self, units: u64) {
        self.units = self.units.saturating_add(units).min(MOST_UNITS);
    }

    fn spend(&mut self, frame: Frame) {
        let cost = match (frame.kind, frame.length) {
            (HEADERS, _) => return self.add(UNITS_PER_REQUEST),
            // A frame that may consist of padding only: the library reopens the window for padding at once, so the window
            // does not limit how many of them a client sends.
            (DATA, 1..=MOST_PADDED) if frame.flags & PADDED != 0 => 1,
            (DATA, 1..) | (CONTINUATION, _) => return,
            (PING | SETTINGS, _) if frame.flags & ACK == 0 => ACKNOWLEDGED,
            _ => 1,
        };
        if self.units <= cost {
            let elapsed = self.since.elapsed();
            let units = elapsed.as_secs_f64() * UNITS_PER_SECOND;
            self.since += elapsed;
            self.add(units as u64);
        }
        self.units = self.units.saturating_sub(cost);
    }

    fn is_spent(&self) -> bool {
        self.units == 0
    }
}

/// Length of the connection preface in bytes.
const PREFACE: usize = 24;

/// Length of a frame header in bytes.
const HEAD: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;

/// The flag of an acknowledgement (SETTINGS, PING).
const ACK: u8 = 1;

/// The flag of DATA frames with padding. `MOST_PADDED` is the length in bytes of the longest frame that may consist of
/// padding only.
const PADDED: u8 = 8;
const MOST_PADDED: usize = 256;

/// Initial and maximum allowance of a connection in units. A PING costs ten units, so that this is enough for a
/// thousand.
const MOST_UNITS: u64 = 10_000;

/// Cost in units of a frame that has to be acknowledged. Any other frame costs one unit.
const ACKNOWLEDGED: u64 = 10;

/// Units that a request adds to the allowance, enough for ten PINGs.
const UNITS_PER_REQUEST: u64 = 100;

/// Units that each second adds to the allowance, enough for ten PINGs.
const UNITS_PER_SECOND: f64 = 100.0;

/// Bytes of responses that add one unit to the allowance. A client that opens its window for every hundred bytes is
/// slow but legitimate.
const BYTES_PER_UNIT: u64 = 100;

/// Frames that make the library end the connection: the headers of a request without an end, in more CONTINUATION
/// frames than the library accepts, each of them empty, and then a PING among them, which violates the protocol in any
/// case.
const ENDING: &[u8] = &ending();

const PIECES: usize = 64;

const fn ending() -> [u8; (PIECES + 1) * HEAD + HEAD + 8] {
    let mut bytes = [0; (PIECES + 1) * HEAD + HEAD + 8];
    let mut frame = 0;
    while frame <= PIECES {
        let at = frame * HEAD;
        bytes[at + 3] = if frame == 0 { HEADERS } else { CONTINUATION };
        // The largest stream identifier.
        bytes[at + 5] = 0x7f;
        bytes[at + 6] = 0xff;
        bytes[at + 7] = 0xff;
        bytes[at + 8] = 0xff;
        frame += 1;
    }
    let at = frame * HEAD;
    bytes[at + 2] = 8;
    bytes[at + 3] = PING;
    bytes
}

impl<S: AsyncRead + Unpin> AsyncRead for ControlFrames<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.ending.is_none() {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
            match this.look_at(&buffer.filled()[before..]) {
                None => return Poll::Ready(Ok(())),
                Some(length) => {
                    tracing::debug!("an HTTP/2 client sends frames without end");
                    this.ending = Some(ENDING);
                    buffer.set_filled(before + length);
                }
            }
        }
        // After the last of these bytes, an empty read signals the end of the stream.
        if let Some(ending) = &mut this.ending {
            let (now, later) = ending.split_at(ending.len().min(buffer.remaining()));
            buffer.put_slice(now);
            *ending = later;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ControlFrames<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(&outcome);
        outcome
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.wrote(&outcome);
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &1u32.to_be_bytes(), payload].concat()
    }

    fn preface() -> Vec<u8> {
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()
    }

    /// Returns what the library reads, up to the end, if a client sends `sent` in pieces of `piece` bytes.
    async fn read(sent: Vec<u8>, piece: usize) -> Vec<u8> {
        let (mut client, server) = duplex(piece);
        let mut server = ControlFrames::new(server);
        let sending = tokio::spawn(async move {
            // It may break off before everything is sent.
            let _ = client.write_all(&sent).await;
        });
        let mut bytes = Vec::new();
        server.read_to_end(&mut bytes).await.unwrap();
        drop(server);
        sending.await.unwrap();
        bytes
    }

    #[tokio::test]
    async fn a_flood_ends_between_two_frames_however_they_come() {
        for (kind, flags, payload, most) in [
            (PING, 0, &[7; 8][..], 1000),
            (SETTINGS, 0, &[], 1000),
            (SETTINGS, 0, &[0, 4, 0, 0, 0, 0], 1000),
            (2, 0, &[0; 5], 10_000),
            (8, 0, &[0, 0, 0, 1], 10_000),
            (0xbe, 0, &[], 10_000),
            (DATA, 0, &[], 10_000),
            (DATA, PADDED, &[0], 10_000),
        ] {
            let one = frame(kind, flags, payload);
            for piece in [7, 4096, 1 << 20] {
                let sent = [preface(), one.repeat(3 * most)].concat();
                let read = read(sent, piece).await;
                let before = read.len() - ENDING.len();
                assert!(read.ends_with(ENDING), "{kind} in pieces of {piece}");
                assert_eq!((before - PREFACE) % one.len(), 0, "{kind}: a cut frame");
                let frames = (before - PREFACE) / one.len();
                // Time adds some.
                assert!((most..2 * most).contains(&frames), "{kind}: {frames}");
            }
        }
    }

    #[tokio::test]
    async fn what_sound_clients_send_is_not_touched() {
        let request = frame(HEADERS, 5, &[0x82; 50]);
        let along = [frame(PING, 0, &[7; 8]).repeat(9), request].concat();
        for sent in [
            frame(PING, ACK, &[7; 8]).repeat(5000),
            frame(PING, 0, &[7; 8]).repeat(900),
            along.repeat(500),
            frame(DATA, 0, &[7; 100]).repeat(20_000),
            [vec![0xff, 0xff, 0xff], vec![0; 6], vec![7; 1 << 20]].concat(),
        ] {
            let sent = [preface(), sent].concat();
            assert!(read(sent.clone(), 4096).await == sent);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn time_and_bytes_of_responses_allow_more() {
        type Server = ControlFrames<DuplexStream>;
        let (mut client, server) = duplex(1 << 20);
        let mut server: Server = ControlFrames::new(server);
        let pings = frame(PING, 0, &[7; 8]).repeat(900);
        client.write_all(&preface()).await.unwrap();
        for round in 0..20 {
            client.write_all(&pings).await.unwrap();
            let mut bytes = vec![0; pings.len() + if round == 0 { PREFACE } else { 0 }];
            server.read_exact(&mut bytes).await.unwrap();
            assert!(bytes.ends_with(&pings), "round {round}");
            match round % 2 {
                0 => tokio::time::advance(std::time::Duration::from_secs(100)).await,
                _ => {
                    for _ in 0..10 {
                        server.write_all(&[7; 100_000]).await.unwrap();
                        client.read_exact(&mut [0; 100_000]).await.unwrap();
                    }
                }
            }
        }
    }
}
