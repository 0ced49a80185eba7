//! A stream with timeouts. A client that does not finish the head of its request, or does not take its reply, is
//! dropped, so that it does not hold a connection longer than allowed.
//!
//! A connection that ends while its client still sends is not closed at once, because the system would reset it, and
//! replies on their way would be lost. What the client sends is read and discarded for a while.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

use super::send_file::SendFile;
use crate::origins::OpenFile;

/// The state of a connection apart from its bytes: whether requests are being answered, and since when it has been idle.
/// The stream and the service on top of it update the state, and the connection limits choose by it which connection to
/// evict.
#[derive(Debug)]
pub(crate) struct Activity {
    start: Instant,
    /// Number of replies that are being made or sent.
    answers: AtomicUsize,
    /// Number of requests so far.
    requests: AtomicUsize,
    /// Whether the stream currently accepts no bytes.
    stuck: AtomicBool,
    /// When the last reply ended or, before the first one, the connection was opened, in ms after `start`.
    waits_since: AtomicU64,
    /// Number of replies whose memory is counted, on HTTP/2 connections.
    counted_replies: AtomicUsize,
    /// When `counted_replies` last rose from zero, or `MOVED` further bytes were written, in ms after `start`.
    moved_at: AtomicU64,
    /// Number of bytes written since `moved_at`.
    moved_bytes: AtomicU64,
    /// Waker of the reading task. It is woken when the last reply ends, so that the idle timeout starts then.
    idle_waker: Mutex<Option<Waker>>,
    eviction: Notify,
}

impl Default for Activity {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            answers: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            stuck: AtomicBool::new(false),
            waits_since: AtomicU64::new(0),
            counted_replies: AtomicUsize::new(0),
            moved_at: AtomicU64::new(0),
            moved_bytes: AtomicU64::new(0),
            idle_waker: Mutex::default(),
            eviction: Notify::new(),
        }
    }
}

impl Activity {
    /// Records that the head of a request is complete. The request counts as being answered until the guard is dropped.
    pub(crate) fn answering(self: &Arc<Self>) -> Answering {
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        Answering(self.clone())
    }

    pub(crate) fn is_answering(&self) -> bool {
        self.answers.load(Ordering::Relaxed) > 0
    }

    /// Whether a request is being answered. If so, wakes the task of `cx` as soon as none is.
    fn is_answering_still(&self, cx: &Context<'_>) -> bool {
        if !self.is_answering() {
            return false;
        }
        // No code panics while it holds the lock.
        let mut waker = self
            .idle_waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &mut *waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        // Check again: the last reply may have ended before the waker was stored.
        self.is_answering()
    }

    /// Returns how many requests the connection has carried so far.
    pub(crate) fn request_count(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns how long the connection has been idle, or `None` while a request is being answered or the stream accepts no
    /// bytes.
    pub(crate) fn idle_time(&self) -> Option<Duration> {
        if self.is_answering() || self.stuck.load(Ordering::Relaxed) {
            return None;
        }
        let since = Duration::from_millis(self.waits_since.load(Ordering::Relaxed));
        Some(self.start.elapsed().saturating_sub(since))
    }

    /// Records that the memory of a reply is counted, until the guard is dropped.
    pub(super) fn hold(self: &Arc<Self>) -> Held {
        if self.counted_replies.fetch_add(1, Ordering::Relaxed) == 0 {
            self.moved_at.store(self.now(), Ordering::Relaxed);
        }
        Held(self.clone())
    }

    /// Returns how long the client has taken fewer than `MOVED` bytes of the replies whose memory is counted, or `None`
    /// if there are no such replies.
    pub(super) fn stall_time(&self) -> Option<Duration> {
        if self.counted_replies.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let since = Duration::from_millis(self.moved_at.load(Ordering::Relaxed));
        Some(self.start.elapsed().saturating_sub(since))
    }

    /// Records that the client has taken `bytes` more bytes.
    fn moves(&self, bytes: usize) {
        let bytes = bytes as u64;
        if self.moved_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes >= MOVED {
            self.moved_bytes.store(0, Ordering::Relaxed);
            self.moved_at.store(self.now(), Ordering::Relaxed);
        }
    }

    /// Returns the current time in ms after `start`.
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Tells the connection to end, because another connection needs its slot or another reply its memory.
    pub(crate) fn evict(&self) {
        self.eviction.notify_one();
    }

    /// Waits until the connection has to end.
    pub(crate) async fn eviction(&self) {
        self.eviction.notified().await;
    }
}

/// A guard for a request that is being answered.
#[derive(Debug)]
pub(crate) struct Answering(Arc<Activity>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.waits_since.store(self.0.now(), Ordering::Relaxed);
        if self.0.answers.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        let waker = self.0.idle_waker.lock();
        let waker = waker.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A guard for a reply whose memory is counted.
#[derive(Debug)]
pub(super) struct Held(Arc<Activity>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.counted_replies.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Number of bytes that a client must take so that it does not count as stalled: the size of the largest HTTP/2 frame.
/// With a lower value, a client could occupy memory by taking one byte at a time.
const MOVED: u64 = 16 << 10;

/// A stream that enforces the timeouts of its connection.
#[derive(Debug)]
pub(crate) struct TimeoutStream<S> {
    stream: S,
    activity: Arc<Activity>,
    idle: Timer,
    head: Timer,
    write: Timer,
    stall: Option<Timer>,
    /// Whether the client may be in the middle of a request.
    expects_more: bool,
    lingering: Option<Lingering>,
}

/// The end of a connection: the server's direction is shut down, and the client's is read to its end.
#[derive(Debug)]
struct Lingering {
    timer: Timer,
    /// Maximum number of bytes that are still read and discarded.
    remaining: usize,
}

/// The timeouts of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    /// Longest time between a reply and the first byte of the next request.
    pub(crate) idle: Duration,
    /// Longest time from the first byte of a request, or from the opening of the connection, to the end of the
    /// request's head.
    pub(crate) head: Duration,
    /// Longest time during which the stream accepts no bytes.
    pub(crate) write: Duration,
    /// Longest time during which replies are being made or sent and no bytes are written. Only HTTP/2 needs this limit,
    /// because its clients can refuse the bytes of a reply by keeping its flow-control window closed.
    pub(crate) stall: Option<Duration>,
}

impl<S> TimeoutStream<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>, waits: Waits) -> Self {
        let mut timeout = Self {
            stream,
            activity,
            idle: Timer::new(waits.idle),
            head: Timer::new(waits.head),
            write: Timer::new(waits.write),
            stall: waits.stall.map(Timer::new),
            expects_more: false,
            lingering: None,
        };
        timeout.head.start();
        timeout
    }

    /// Records that the client has not sent all of its request, so that the rest is awaited when the connection ends.
    pub(super) fn expects_more(&mut self) {
        self.expects_more = true;
    }

    /// Passes on the outcome of a write, or an error if the write has timed out.
    fn with_timeout<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        self.activity
            .stuck
            .store(outcome.is_pending(), Ordering::Relaxed);
        match outcome {
            Poll::Ready(result) => {
                self.write.stop();
                if let Some(stall) = &mut self.stall {
                    stall.stop();
                }
                Poll::Ready(result)
            }
            Poll::Pending => {
                self.write.start();
                self.write
                    .poll(cx)
                    .map(|()| Err(timed_out("the reply is not taken")))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut this.stream).poll_read(cx, buffer);
        let is_answering = match outcome.is_pending() {
            true => this.activity.is_answering_still(cx),
            false => this.activity.is_answering(),
        };
        if is_answering {
            this.idle.stop();
            this.head.stop();
            return match &mut this.stall {
                Some(stall) if outcome.is_pending() => {
                    stall.start();
                    stall
                        .poll(cx)
                        .map(|()| Err(timed_out("the replies are not taken")))
                }
                _ => outcome,
            };
        }
        if buffer.filled().len() > before {
            this.idle.stop();
            this.head.start();
        }
        if outcome.is_pending() {
            let (timer, what) = match this.head.runs() {
                true => (&mut this.head, "the request's head is not finished"),
                false => (&mut this.idle, "nothing more is asked for"),
            };
            timer.start();
            return timer.poll(cx).map(|()| Err(timed_out(what)));
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> TimeoutStream<S> {
    /// Sends a part of a reply.
    fn send(
        &mut self,
        cx: &mut Context<'_>,
        send: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        // A reply is being sent, so the head of its request was complete.
        self.head.stop();
        let outcome = send(Pin::new(&mut self.stream), cx);
        if let (Some(_), Poll::Ready(Ok(bytes))) = (&self.stall, &outcome) {
            self.activity.moves(*bytes);
        }
        self.with_timeout(cx, outcome)
    }
}

impl<S: AsyncRead + Unpin> TimeoutStream<S> {
    /// Reads and discards what the client still sends. Ready when the client has sent everything, when `MOST_LINGER` bytes
    /// were discarded, or when the time is up.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let lingering = self.lingering.get_or_insert_with(|| Lingering {
            timer: Timer::new(LINGER),
            remaining: MOST_LINGER,
        });
        let mut scratch = [0; 4096];
        while lingering.remaining > 0 {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    lingering.remaining = lingering.remaining.saturating_sub(buffer.filled().len());
                    self.expects_more = true;
                }
                Poll::Ready(_) => break,
                Poll::Pending if self.expects_more => {
                    lingering.timer.start();
                    return lingering.timer.poll(cx);
                }
                Poll::Pending => break,
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.send(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.send(cx, |stream, cx| stream.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(cx);
        self.with_timeout(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            let outcome = Pin::new(&mut self.stream).poll_shutdown(cx);
            ready!(self.with_timeout(cx, outcome))?;
        }
        self.linger(cx).map(Ok)
    }
}

/// How long the server reads and discards what a client still sends after its connection was shut down; `MOST_LINGER`
/// limits the bytes. A client that sends more does not read its reply.
const LINGER: Duration = Duration::from_secs(5);
const MOST_LINGER: usize = 64 << 20;

impl<S: AsyncRead + SendFile + Unpin> SendFile for TimeoutStream<S> {
    fn sends_files(&self) -> bool {
        self.stream.sends_files()
    }

    fn poll_send_ahead(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.send(cx, |stream, cx| stream.poll_send_ahead(cx, bytes))
    }

    fn poll_send_file(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        file: &OpenFile,
        start: u64,
        max_bytes: usize,
    ) -> Poll<io::Result<usize>> {
        self.send(cx, |stream, cx| {
            stream.poll_send_file(cx, file, start, max_bytes)
        })
    }
}

/// A timer for waits that begin often and mostly end early. Starting and stopping it only changes a field. An alarm is
/// set only while the task waits, and one that was set for an earlier wait is not cancelled.
#[derive(Debug)]
struct Timer {
    length: Duration,
    since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    fn new(length: Duration) -> Self {
        Self {
            length,
            since: None,
            alarm: None,
        }
    }

    /// Starts the timer, unless it is running already.
    fn start(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    fn stop(&mut self) {
        self.since = None;
    }

    fn runs(&self) -> bool {
        self.since.is_some()
    }

    /// Ready when the timer is running and its time is up.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(since) = self.since else {
            return Poll::Pending;
        };
        let end = since + self.length;
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
        loop {
            ready!(alarm.as_mut().poll(cx));
            if alarm.deadline() >= end {
                return Poll::Ready(());
            }
            alarm.as_mut().reset(end);
        }
    }
}

fn timed_out(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

#[cfg(test)]
mod tests;
