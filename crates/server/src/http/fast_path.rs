//! The fast path below hyper: requests that can be answered from memory are answered here, and hyper never sees them.
//!
//! It acts only while hyper waits for a request and holds no byte of one: after the fast path's own replies, and after
//! replies of hyper that are entirely on their way. A request that comes in pieces, with a body, or with another one
//! behind it leaves bytes with hyper that cannot be accounted for here. From then on, hyper alone handles such a
//! connection.

use std::io::{self, IoSlice};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::{self, JoinHandle};

use super::arrival::Arrival;
use super::send_file::SendFile;
use super::simple::{Seen, Simple};
use super::strict::{self, Strict};
use super::timeout_stream::{Activity, Answering, TimeoutStream};
use crate::origins::{OpenFile, READ_AHEAD};

/// Answers those requests that can be answered at once. The head is written to `head`, and the body is returned. `None`
/// means that nothing was changed.
pub(crate) trait FastResponder {
    fn answer(&self, asked: &Simple<'_>, sends_files: bool, head: &mut Vec<u8>)
    -> Option<FastBody>;
}

/// The body that follows the head of a reply.
#[derive(Debug)]
pub(crate) enum FastBody {
    Bytes(Bytes),
    /// A file from its beginning up to this offset in bytes.
    File(Arc<OpenFile>, u64),
}

/// The stream of a connection as hyper sees it.
#[derive(Debug)]
pub(crate) struct FastPath<S, A> {
    stream: TimeoutStream<S>,
    activity: Arc<Activity>,
    at_once: Arc<A>,
    strict: Strict,
    /// Number of requests so far; `None` once one came in pieces, with another one or with a body.
    whole: Option<usize>,
    /// Whether hyper waits for a request and has sent everything that it had to.
    quiet: bool,
    /// Whether the connection is closed after the current reply.
    closes: bool,
    /// Bytes that were received before the stream was first read.
    ahead: Vec<u8>,
    reply: Reply,
}

/// A reply of the fast path.
#[derive(Debug, Default)]
pub(super) struct Reply {
    head: Vec<u8>,
    body: FastBody,
    /// Number of bytes sent, of head and body together.
    pub(super) sent: u64,
    /// The task that reads the next piece of the file from disk.
    loading: Option<JoinHandle<()>>,
    answering: Option<Answering>,
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
            whole: Some(0),
            quiet: true,
            closes,
            ahead: arrival.bytes,
            reply,
        }
    }

    /// Examines received bytes and, if possible, answers them. Returns whether they are answered.
    fn receive(&mut self, bytes: &[u8]) -> bool {
        let seen = Seen::of(bytes);
        self.whole = match seen {
            Seen::Other => None,
            Seen::Whole | Seen::Simple(_) => self.whole.map(|whole| whole + 1),
        };
        if let (true, Seen::Simple(asked)) = (self.quiet, seen)
            && let Some(body) = {
                let sends_files = self.stream.sends_files();
                (self.at_once).answer(&asked, sends_files, &mut self.reply.head)
            }
        {
            self.closes = asked.after.closes();
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
        let before = reply.sent;
        let mut is_loaded = false;
        if let Some(loading) = &mut reply.loading {
            // If it could not be read, sending it fails as well.
            is_loaded = ready!(Pin::new(loading).poll(cx)).is_ok();
            reply.loading = None;
        }
        while let Some(left) = reply.left() {
            let stream = Pin::new(&mut *stream);
            let sent = match left {
                Left::Bytes(left) => stream.poll_write_vectored(cx, &left),
                Left::Head(head) => stream.poll_send_ahead(cx, head),
                // A fast client must not keep others waiting.
                Left::File(..) if reply.sent - before >= MOST_IN_TURN => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Left::File(file, part) => {
                    let part = part.start..part.end.min(part.start + READ_AHEAD);
                    // A slow client may have left it time to leave the system's memory.
                    if !std::mem::take(&mut is_loaded) && !file.is_cached(part.clone()) {
                        let file = file.clone();
                        let load = move || file.load(part);
                        reply.loading = Some(task::spawn_blocking(load));
                        return self.finish(cx);
                    }
                    let most = (part.end - part.start) as usize;
                    stream.poll_send_file(cx, file, part.start, most)
                }
            };
            match ready!(sent)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => reply.sent += sent as u64,
            }
        }
        reply.clear();
        Poll::Ready(Ok(()))
    }
}

impl Default for FastBody {
    fn default() -> Self {
        Self::Bytes(Bytes::new())
    }
}

/// The part of a reply that is to be sent next.
pub(super) enum Left<'a> {
    /// All that is left of head and body.
    Bytes([IoSlice<'a>; 2]),
    /// What is left of the head, which a file follows.
    Head(&'a [u8]),
    File(&'a Arc<OpenFile>, Range<u64>),
}

impl Reply {
    pub(super) fn new(head: Vec<u8>, body: FastBody) -> Self {
        Self {
            head,
            body,
            ..Self::default()
        }
    }

    /// Returns the length of head and body in bytes.
    pub(super) fn length(&self) -> u64 {
        let body = match &self.body {
            FastBody::Bytes(bytes) => bytes.len() as u64,
            FastBody::File(_, end) => *end,
        };
        self.head.len() as u64 + body
    }

    pub(super) fn left(&self) -> Option<Left<'_>> {
        let head = self.head.len() as u64;
        let from_head = &self.head[self.sent.min(head) as usize..];
        let from_body = self.sent.saturating_sub(head);
        (self.sent < self.length()).then(|| match &self.body {
            FastBody::Bytes(bytes) => {
                let from_body = &bytes[from_body as usize..];
                Left::Bytes([IoSlice::new(from_head), IoSlice::new(from_body)])
            }
            FastBody::File(..) if !from_head.is_empty() => Left::Head(from_head),
            FastBody::File(file, end) => Left::File(file, from_body..*end),
        })
    }

    /// Resets the reply. The memory of the head is kept for the next one, and the body is released so that it can leave
    /// the cache.
    fn clear(&mut self) {
        self.head.clear();
        self.body = FastBody::default();
        self.sent = 0;
        self.loading = None;
        self.answering = None;
    }
}

/// Bytes of a file that are sent before other connections get their turn, and maximum length in bytes of a reply that
/// is sent while its connection is accepted.
pub(super) const MOST_IN_TURN: u64 = 1 << 20;

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
                // As if the client had left: hyper has nothing to answer, and shuts the stream down.
                return Poll::Ready(Ok(()));
            }
            if this.ahead.is_empty() {
                ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
            } else {
                let most = this.ahead.len().min(buffer.remaining());
                buffer.put_slice(&this.ahead[..most]);
                this.ahead.drain(..most);
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

    /// Flushes the stream and checks whether hyper waits for a request. hyper calls this when everything it holds is
    /// written, and at the end of every round.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.finish(cx))?;
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        let answered = self.whole == Some(self.activity.asked());
        self.quiet = answered && !self.activity.is_answering();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.finish(cx))?;
        if self.closes && self.stream.sends_files() {
            // A socket holds nothing back. hyper drops it next, which ends both directions with one call.
            return Poll::Ready(Ok(()));
        }
        if !self.strict.is_between_requests() {
            self.stream.expects_more();
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::super::timeout_stream::Waits;
    use super::*;
    use crate::origins::{Blocking, Entry, Root};

    const HIT: &str = "GET /hit HTTP/1.1\r\nHost: h\r\n\r\n";
    const MISS: &str = "GET /miss HTTP/1.1\r\nHost: h\r\n\r\n";
    const REPLY: &str = "head,body";

    struct Hits;

    impl FastResponder for Hits {
        fn answer(
            &self,
            asked: &Simple<'_>,
            sends_files: bool,
            head: &mut Vec<u8>,
        ) -> Option<FastBody> {
            assert!(sends_files);
            let body = match asked.target {
                "/hit" => FastBody::Bytes(Bytes::from_static(b"body")),
                "/file" => FastBody::File(Arc::new(file()), 4),
                _ => return None,
            };
            head.extend_from_slice(b"head,");
            Some(body)
        }
    }

    /// Returns a file that begins with the image "body", followed by other bytes.
    fn file() -> OpenFile {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "body and more").unwrap();
        let root = Root::open(folder.path()).unwrap();
        match root.entry("a", Blocking::Allowed).unwrap() {
            Entry::File(file) => file,
            Entry::Folder => panic!("no file"),
        }
    }

    type Lane = FastPath<DuplexStream, Hits>;

    /// Returns a client, hyper's side of the connection, and the activity that both share. The stream between them
    /// holds `holds` bytes.
    fn lane(holds: usize) -> (DuplexStream, Lane, Arc<Activity>) {
        lane_after(Arrival::default(), holds)
    }

    fn lane_after(arrival: Arrival, holds: usize) -> (DuplexStream, Lane, Arc<Activity>) {
        let (client, server) = duplex(holds);
        let activity = Arc::new(Activity::default());
        let waits = Waits {
            idle: Duration::from_secs(10),
            head: Duration::from_secs(10),
            write: Duration::from_secs(10),
            stalled: None,
        };
        let stream = TimeoutStream::new(server, activity.clone(), waits);
        let lane = FastPath::new(stream, activity.clone(), Arc::new(Hits), arrival);
        (client, lane, activity)
    }

    async fn read(lane: &mut Lane) -> String {
        let mut buffer = [0; 1024];
        let length = lane.read(&mut buffer).await.unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }

    async fn reply(client: &mut DuplexStream) -> String {
        let mut reply = [0; REPLY.len()];
        client.read_exact(&mut reply).await.unwrap();
        String::from_utf8_lossy(&reply).into_owned()
    }

    /// Checks that hyper reads what is sent, without a reply of the fast path.
    async fn hyper_gets(client: &mut DuplexStream, lane: &mut Lane, bytes: &str) {
        client.write_all(bytes.as_bytes()).await.unwrap();
        assert_eq!(read(lane).await, bytes);
    }

    #[tokio::test]
    async fn hyper_hears_only_of_what_cannot_be_answered_at_once() {
        let (mut client, mut lane, activity) = lane(1024);
        let asking = tokio::spawn(async move {
            for _ in 0..3 {
                client.write_all(HIT.as_bytes()).await.unwrap();
                assert_eq!(reply(&mut client).await, REPLY);
            }
            client.write_all(MISS.as_bytes()).await.unwrap();
            client
        });
        assert_eq!(read(&mut lane).await, MISS);
        assert_eq!(activity.asked(), 3);
        assert!(!activity.is_answering());
        asking.await.unwrap();
    }

    #[tokio::test]
    async fn what_came_before_it_was_read_from_comes_first() {
        let arrival = Arrival {
            bytes: format!("{HIT}{}", &MISS[..9]).into(),
            reply: None,
        };
        let (mut client, mut lane, _) = lane_after(arrival, 1024);
        client.write_all(&MISS.as_bytes()[9..]).await.unwrap();
        assert_eq!(read(&mut lane).await, format!("{HIT}{}", &MISS[..9]));
        assert_eq!(read(&mut lane).await, &MISS[9..]);

        let arrival = Arrival {
            bytes: HIT.into(),
            reply: None,
        };
        let (mut client, mut lane, _) = lane_after(arrival, 1024);
        hyper_gets(&mut client, &mut lane, MISS).await;
        assert_eq!(reply(&mut client).await, REPLY);
    }

    #[tokio::test]
    async fn a_reply_that_was_begun_is_finished_and_the_connection_closed() {
        let mut begun = Reply::new(
            b"head,".into(),
            FastBody::Bytes(Bytes::from_static(b"body")),
        );
        begun.sent = 3;
        let arrival = Arrival {
            bytes: Vec::new(),
            reply: Some(begun),
        };
        let (mut client, mut lane, activity) = lane_after(arrival, 2);
        assert!(activity.is_answering());
        let closing = tokio::spawn(async move {
            assert_eq!(read(&mut lane).await, "");
            lane.shutdown().await.unwrap();
        });
        let mut rest = String::new();
        client.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "d,body");
        closing.await.unwrap();
        assert!(!activity.is_answering());
    }

    #[tokio::test]
    async fn the_fast_path_opens_again_when_hypers_reply_is_on_its_way() {
        let (mut client, mut lane, activity) = lane(1024);
        hyper_gets(&mut client, &mut lane, MISS).await;
        let answering = activity.answering();
        lane.write_all(b"first").await.unwrap();
        lane.flush().await.unwrap();
        hyper_gets(&mut client, &mut lane, HIT).await;
        let second = activity.answering();
        drop(answering);
        lane.write_all(b" second").await.unwrap();
        drop(second);
        hyper_gets(&mut client, &mut lane, HIT).await;
        drop(activity.answering());
        lane.write_all(b" third.").await.unwrap();
        lane.flush().await.unwrap();

        client.write_all(HIT.as_bytes()).await.unwrap();
        client.shutdown().await.unwrap();
        assert_eq!(read(&mut lane).await, "");
        drop(lane);
        let mut all = String::new();
        client.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, format!("first second third.{REPLY}"));
    }

    #[tokio::test]
    async fn whose_requests_do_not_come_one_by_one_is_hypers_for_good() {
        for bytes in [
            &HIT[..7],
            &HIT.repeat(2),
            "GET /hit HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
        ] {
            let (mut client, mut lane, activity) = lane(1024);
            hyper_gets(&mut client, &mut lane, bytes).await;
            drop(activity.answering());
            lane.flush().await.unwrap();
            hyper_gets(&mut client, &mut lane, HIT).await;
        }
    }

    #[tokio::test]
    async fn a_client_that_takes_its_replies_in_pieces_gets_all_of_them() {
        let (mut client, mut lane, activity) = lane(4);
        let asking = tokio::spawn(async move {
            for _ in 0..20 {
                client.write_all(MISS.as_bytes()).await.unwrap();
                assert_eq!(reply(&mut client).await, REPLY);
            }
            client
        });
        for _ in 0..20 {
            // A stream so narrow brings requests in pieces; this one came whole.
            let mut request = [0; MISS.len()];
            lane.stream.read_exact(&mut request).await.unwrap();
            assert!(lane.receive(HIT.as_bytes()));
            lane.flush().await.unwrap();
            assert!(!activity.is_answering());
        }
        asking.await.unwrap();
    }

    #[tokio::test]
    async fn hyper_is_told_of_the_end_after_the_reply_to_a_last_request() {
        let (mut client, mut lane, activity) = lane(4);
        let asking = tokio::spawn(async move {
            let mut all = String::new();
            client.read_to_string(&mut all).await.unwrap();
            all
        });
        assert!(lane.receive(b"GET /hit HTTP/1.0\r\n\r\n"));
        assert_eq!(lane.read(&mut [0; 64]).await.unwrap(), 0);
        lane.shutdown().await.unwrap();
        drop(lane);
        assert_eq!(asking.await.unwrap(), REPLY);
        assert!(!activity.is_answering());
    }

    #[tokio::test]
    async fn a_file_is_sent_as_far_as_it_is_wanted() {
        let (mut client, mut lane, activity) = lane(3);
        let asking = tokio::spawn(async move { reply(&mut client).await });
        assert!(lane.receive(b"GET /file HTTP/1.1\r\nHost: h\r\n\r\n"));
        lane.flush().await.unwrap();
        assert_eq!(asking.await.unwrap(), REPLY);
        assert!(!activity.is_answering());
    }

    #[tokio::test]
    async fn a_connection_is_shut_down_after_its_reply() {
        let (mut client, mut lane, activity) = lane(4);
        assert!(lane.receive(HIT.as_bytes()));
        let ending = tokio::spawn(async move {
            lane.shutdown().await.unwrap();
        });
        let mut all = String::new();
        client.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, REPLY);
        ending.await.unwrap();
        assert!(!activity.is_answering());
    }
    #[tokio::test(start_paused = true)]
    async fn a_connection_that_asks_on_is_kept_and_one_that_asks_nothing_more_is_not() {
        let (mut client, mut lane, _) = lane(1024);
        let asking = tokio::spawn(async move {
            for _ in 0..5 {
                client.write_all(HIT.as_bytes()).await.unwrap();
                assert_eq!(reply(&mut client).await, REPLY);
                tokio::time::sleep(Duration::from_secs(9)).await;
            }
            client
        });
        let began = tokio::time::Instant::now();
        let error = lane.read(&mut [0; 1024]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= Duration::from_secs(4 * 9 + 10));
        asking.await.unwrap();
    }
}
