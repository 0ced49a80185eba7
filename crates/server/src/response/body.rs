//! Bodies of replies: bytes in memory that all their receivers share, or a large file that is read piece by piece as
//! its client takes it, so that slow clients hold a piece in memory and not the file.

use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{self, Frame, SizeHint};
use tokio::sync::watch;

use crate::error::Error;
use crate::origins::OpenFile;
use crate::sources::fetch::Fetcher;

/// The body of a reply.
#[derive(Debug)]
pub(crate) enum Body {
    /// Bytes in memory.
    Whole(Bytes),
    /// A file, sent in pieces.
    Pieces(Pieces),
    /// Server-sent events, until there are no more.
    Events(Events),
}

/// A stream of events. The client gets the newest event whenever it is ready for one; a slow client misses the others.
pub(crate) struct Events(Option<NextEvent>);

type NextEvent = Pin<Box<dyn Future<Output = Option<(Bytes, watch::Receiver<Bytes>)>> + Send>>;

/// A file or a part of it, read in pieces.
pub(crate) struct Pieces {
    file: Arc<OpenFile>,
    fetcher: Fetcher,
    remaining: Range<u64>,
    /// The first bytes of the file if they have been read already.
    beginning: Bytes,
    reading: Option<Reading>,
}

type Reading = Pin<Box<dyn Future<Output = Result<Bytes, Error>> + Send>>;

impl Body {
    /// Returns the number of bytes that are still to be sent; 0 for events, whose length is unknown.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Pieces(pieces) => pieces.remaining.end - pieces.remaining.start,
            // The stream has no known length.
            Self::Events(_) => 0,
        }
    }

    /// Returns the maximum number of bytes that the body holds in memory.
    pub(crate) fn memory(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Pieces(_) => self.length().min(2 * PIECE as u64),
            Self::Events(_) => 0,
        }
    }

    /// Reduces the body to a part of it, which must lie within the body.
    pub(crate) fn cut_to(&mut self, part: Range<u64>) {
        match self {
            Self::Whole(bytes) => {
                let within =
                    |at: u64| usize::try_from(at).map_or(bytes.len(), |at| at.min(bytes.len()));
                *bytes = bytes.slice(within(part.start)..within(part.end));
            }
            Self::Pieces(pieces) => {
                let start = pieces.remaining.start;
                pieces.remaining = start + part.start..pieces.remaining.end.min(start + part.end);
            }
            Self::Events(_) => {}
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Pieces(pieces) => pieces
                .poll(cx)
                .map(|piece| piece.map(|piece| piece.map(Frame::data))),
            Self::Events(events) => events
                .poll(cx)
                .map(|event| event.map(|it| Ok(Frame::data(it)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Events(events) => events.0.is_none(),
            _ => self.length() == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Events(_) => SizeHint::default(),
            _ => SizeHint::with_exact(self.length()),
        }
    }
}

impl Body {
    pub(crate) fn events(updates: watch::Receiver<Bytes>) -> Self {
        Self::Events(Events(Some(Events::after(updates))))
    }
}

impl Events {
    fn after(mut updates: watch::Receiver<Bytes>) -> NextEvent {
        Box::pin(async move {
            updates.changed().await.ok()?;
            let event = updates.borrow_and_update().clone();
            Some((event, updates))
        })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(next) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let event = ready!(next.as_mut().poll(cx));
        let (event, next) = event
            .map(|(event, updates)| (event, Self::after(updates)))
            .unzip();
        self.0 = next;
        Poll::Ready(event)
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Events")
    }
}

impl Pieces {
    /// Creates a body of the whole file, whose `beginning` was read already.
    pub(crate) fn of(file: Arc<OpenFile>, beginning: Bytes, fetcher: Fetcher) -> Self {
        Self {
            remaining: 0..file.identity.size,
            file,
            fetcher,
            beginning,
            reading: None,
        }
    }

    /// Returns the next piece. If the file has changed, the body ends with an error, because the bytes sent so far and the
    /// present content of the file do not belong together.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.remaining.is_empty() {
            return Poll::Ready(None);
        }
        if self.remaining.start == 0 && !self.beginning.is_empty() {
            let beginning = std::mem::take(&mut self.beginning);
            return Poll::Ready(Some(Ok(self.advance(beginning))));
        }
        let (file, fetcher) = (&self.file, &self.fetcher);
        let start = self.remaining.start;
        let reading = self.reading.get_or_insert_with(|| {
            let (file, fetcher) = (file.clone(), fetcher.clone());
            let read = move |file: &Arc<OpenFile>, blocking| file.piece(start, PIECE, blocking);
            Box::pin(async move { Ok(fetcher.read(file, read).await?.1) })
        });
        let outcome = ready!(reading.as_mut().poll(cx));
        self.reading = None;
        Poll::Ready(match outcome {
            Ok(piece) => Some(Ok(self.advance(piece))),
            Err(error) => {
                self.remaining = 0..0;
                Some(Err(io::Error::other(error)))
            }
        })
    }

    /// Cuts a piece to the remaining part of the file, and advances by its length.
    fn advance(&mut self, mut piece: Bytes) -> Bytes {
        let length = self.remaining.end - self.remaining.start;
        piece.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        self.remaining.start += piece.len() as u64;
        piece
    }
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pieces")
            .field("left", &self.remaining)
            .finish_non_exhaustive()
    }
}

/// Files of more than this many bytes are sent in pieces.
pub(crate) const MOST_WHOLE: u64 = 256 << 10;

/// Bytes of one piece. Each slow client holds at most two pieces: the one that it is receiving and the next.
pub(crate) const PIECE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::config::LimitsConfig;
    use crate::origins::{Blocking, Entry, Root};

    const LENGTH: usize = 3 * PIECE + 5;

    fn content() -> Vec<u8> {
        (0..LENGTH).map(|index| (index % 251) as u8).collect()
    }

    fn body(folder: &tempfile::TempDir) -> Body {
        std::fs::write(folder.path().join("a"), content()).unwrap();
        let root = Root::open(folder.path()).unwrap();
        let Entry::File(file) = root.entry("a", Blocking::Allowed).unwrap() else {
            panic!("no file");
        };
        let beginning = file.piece(0, PIECE, Blocking::Allowed).unwrap();
        let fetcher = Fetcher::new(&LimitsConfig::default());
        Body::Pieces(Pieces::of(Arc::new(file), beginning, fetcher))
    }

    #[tokio::test]
    async fn the_pieces_are_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let body = body(&folder);
        assert_eq!(body.length(), LENGTH as u64);
        assert!(body.collect().await.unwrap().to_bytes() == content());
    }

    #[tokio::test]
    async fn any_part_is_the_same_of_bytes_and_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let piece = PIECE as u64;
        let end = LENGTH as u64;
        for part in [
            0..1,
            7..piece,
            piece - 1..piece + 1,
            piece..end,
            5..end,
            9..9,
        ] {
            let mut whole = Body::from(Bytes::from(content()));
            let mut pieces = body(&folder);
            for body in [&mut whole, &mut pieces] {
                body.cut_to(part.clone());
                assert_eq!(body.length(), part.end - part.start);
            }
            let whole = whole.collect().await.unwrap().to_bytes();
            assert_eq!(whole, content()[part.start as usize..part.end as usize]);
            assert!(
                pieces.collect().await.unwrap().to_bytes() == whole,
                "{part:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_file_that_shrinks_or_changes_meanwhile_breaks_the_reply_off() {
        for shrunk in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let mut body = body(&folder);
            assert!(body.frame().await.unwrap().is_ok());
            let file = std::fs::OpenOptions::new()
                .write(true)
                .open(folder.path().join("a"))
                .unwrap();
            match shrunk {
                true => file.set_len(PIECE as u64).unwrap(),
                false => file.set_modified(std::time::UNIX_EPOCH).unwrap(),
            }
            assert!(body.frame().await.unwrap().is_err());
            assert!(body.frame().await.is_none());
        }
    }
}
