//! The fast path below hyper: requests that can be answered from memory are answered here, and hyper never sees them.
//!
//! It acts only while hyper waits for a request and holds no byte of one: after the fast path's own replies, and after
//! replies of hyper that are entirely on their way. A request that comes in pieces, with a body, or with another one
//! behind it leaves bytes in hyper's buffer, and how many is not known here. From then on, hyper alone handles such a
//! connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task;

use super::arrival::Arrival;
use super::fast_reply::{FastResponder, MOST_IN_TURN, Remainder, Reply};
use super::send_file::SendFile;
use super::simple::Seen;
use super::strict::{self, Strict};
use super::timeout_stream::{Activity, TimeoutStream};
use crate::origins::READ_AHEAD;

/// The stream of a connection as hyper sees it.
#[derive(Debug)]
pub(crate) struct FastPath<S, A> {
    stream: TimeoutStream<S>,
    activity: Arc<Activity>,
    at_once: Arc<A>,
    strict: Strict,
    /// Number of requests so far; `None` after a request that came in pieces, together with another one or with a body:
    /// hyper alone handles the connection from then on.
    requests: Option<usize>,
    /// Whether hyper waits for a request and has sent everything that it had to.
    quiet: bool,
    /// Whether the connection is closed after the current reply.
    closes: bool,
    /// Bytes that were received when the connection was accepted, and that hyper has not read yet.
    ahead: Vec<u8>,
    reply: Reply,
}

impl<S, A> FastPath<S, A>
where
    S: AsyncRead + SendFile + Unpin,
    A: FastResponder,
{
    pub(crate) fn new(
        stream: TimeoutStream<S>,
        activity: Arc<Activity>,
        at_once: Arc<A>,
        arrival: Arrival,
    ) -> Self {
        let closes = arrival.reply.is_some();
        let mut reply = arrival.reply.unwrap_or_default();
        reply.answering = closes.then(|| activity.answering());
        Self {
            stream,
            activity,
            at_once,
            strict: Strict::default(),
            requests: Some(0),
            quiet: true,
            closes,
            ahead: arrival.bytes,
            reply,
        }
    }

    /// Examines received bytes and, if possible, answers them. Returns whether they are answered.
    fn receive(&mut self, bytes: &[u8]) -> bool {
        let received = Seen::of(bytes);
        self.requests = match received {
            Seen::Other => None,
            Seen::Whole | Seen::Simple(_) => self.requests.map(|count| count + 1),
        };
        if let (true, Seen::Simple(simple)) = (self.quiet, received)
            && let Some(body) = {
                let sends_files = self.stream.sends_files();
                (self.at_once).answer(&simple, sends_files, &mut self.reply.head)
            }
        {
            self.closes = simple.after.closes();
            self.reply.body = body;
            self.reply.answering = Some(self.activity.answering());
            return true;
        }
        self.quiet = false;
        false
    }

    /// Sends what is left of the fast path's own reply.
    fn finish(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, reply, .. } = self;
        if reply.answering.is_none() {
            return Poll::Ready(Ok(()));
        }
        let before = reply.sent_bytes;
        let mut is_loaded = false;
        if let Some(loading) = &mut reply.loading {
            // If the piece could not be read, sending it fails as well and reports the error.
            is_loaded = ready!(Pin::new(loading).poll(cx)).is_ok();
            reply.loading = None;
        }
        while let Some(remainder) = reply.remainder() {
            let stream = Pin::new(&mut *stream);
            let outcome = match remainder {
                Remainder::Bytes(slices) => stream.poll_write_vectored(cx, &slices),
                Remainder::Head(head) => stream.poll_send_ahead(cx, head),
                // Other connections get their turn now, even if this client is ready for more.
                Remainder::File(..) if reply.sent_bytes - before >= MOST_IN_TURN => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Remainder::File(file, part) => {
                    let part = part.start..part.end.min(part.start + READ_AHEAD);
                    // The system may have dropped the piece from its cache while a slow client received earlier ones.
                    if !std::mem::take(&mut is_loaded) && !file.is_cached(part.clone()) {
                        let file = file.clone();
                        let load = move || file.load(part);
                        reply.loading = Some(task::spawn_blocking(load));
                        return self.finish(cx);
                    }
                    let length = (part.end - part.start) as usize;
                    stream.poll_send_file(cx, file, part.start, length)
                }
            };
            match ready!(outcome)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => reply.sent_bytes += count as u64,
            }
        }
        reply.clear();
        Poll::Ready(Ok(()))
    }
}

impl<S, A> AsyncRead for FastPath<S, A>
where
    S: AsyncRead + SendFile + Unpin,
    A: FastResponder,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        loop {
            ready!(this.finish(cx))?;
            if this.closes {
                // An empty read tells hyper that the client has left, so that it shuts the stream down.
                return Poll::Ready(Ok(()));
            }
            if this.ahead.is_empty() {
                ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
            } else {
                let length = this.ahead.len().min(buffer.remaining());
                buffer.put_slice(&this.ahead[..length]);
                this.ahead.drain(..length);
            }
            if let Some(length) = this.strict.check(&mut buffer.filled_mut()[before..]) {
                buffer.set_filled(before + length);
                buffer.put_slice(&strict::END[..strict::END.len().min(buffer.remaining())]);
            }
            if !this.receive(&buffer.filled()[before..]) {
                return Poll::Ready(Ok(()));
            }
            buffer.set_filled(before);
        }
    }
}

impl<S, A> AsyncWrite for FastPath<S, A>
where
    S: AsyncRead + SendFile + Unpin,
    A: FastResponder,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.finish(cx))?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.finish(cx))?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Flushes the stream and checks whether hyper waits for a request. hyper calls this when it has written all its
    /// bytes, and each time that it has been polled.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.finish(cx))?;
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        let is_next_expected = self.requests == Some(self.activity.request_count());
        self.quiet = is_next_expected && !self.activity.is_answering();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.finish(cx))?;
        if self.closes && self.stream.sends_files() {
            // A socket has no buffer of its own to flush, and hyper drops it next, which closes both directions with one
            // system call.
            return Poll::Ready(Ok(()));
        }
        // The client may still be sending after a request that was refused or left unanswered, for example its body.
        let is_refused = self.strict.heads() > self.activity.request_count();
        if is_refused || !self.strict.is_between_requests() {
            self.stream.expects_more();
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
