//! Sends files from the system's memory to a socket without copying them (`sendfile`).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{SendFlags, send};
use tokio::io::{AsyncWrite, Interest};
use tokio::net::TcpStream;

use super::Wire;
use crate::origins::OpenFile;

/// A stream to which the system can send files without copying them, if it is a TCP socket. Streams that are encrypted,
/// or whose type is known only at run time, do not support this.
pub(crate) trait SendFile: AsyncWrite {
    /// Whether the system can send files to this stream without copying them.
    fn sends_files(&self) -> bool {
        false
    }

    /// Sends some of `bytes`, and lets the system send them in one packet with the bytes that follow. Returns how many were
    /// sent.
    fn poll_send_ahead(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write(cx, bytes)
    }

    /// Sends at most `max_bytes` bytes of a file, starting at offset `start`. Returns how many were sent.
    fn poll_send_file(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        _file: &OpenFile,
        _start: u64,
        _max_bytes: usize,
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::Unsupported.into()))
    }
}

impl SendFile for TcpStream {
    fn sends_files(&self) -> bool {
        true
    }

    fn poll_send_ahead(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let flags = SendFlags::MORE | SendFlags::NOSIGNAL;
        when_writable(&self, cx, || Ok(send(&*self, bytes, flags)?))
    }

    fn poll_send_file(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        file: &OpenFile,
        start: u64,
        max_bytes: usize,
    ) -> Poll<io::Result<usize>> {
        when_writable(&self, cx, || file.send_to(&*self, start, max_bytes))
    }
}

fn when_writable(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    mut send: impl FnMut() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        match stream.try_io(Interest::WRITABLE, &mut send) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return Poll::Ready(outcome),
        }
    }
}

impl SendFile for Box<dyn Wire> {}

/// An in-memory stream for tests, to which files are copied.
#[cfg(test)]
impl SendFile for tokio::io::DuplexStream {
    fn sends_files(&self) -> bool {
        true
    }

    fn poll_send_file(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        file: &OpenFile,
        start: u64,
        max_bytes: usize,
    ) -> Poll<io::Result<usize>> {
        let piece = file.piece(start, max_bytes, crate::origins::Blocking::Allowed);
        let piece = piece.map_err(io::Error::other)?;
        self.poll_write(cx, &piece)
    }
}
