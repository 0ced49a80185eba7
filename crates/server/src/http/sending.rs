//! The body of a reply while it is sent. Its connection counts as answering until the last byte is on its way. If memory
//! is reserved for the reply, it stays reserved until the client has taken the last byte.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::reply_memory::ReplyHold;
use super::timeout_stream::Answering;

/// A body with its guards: until it is dropped, its connection counts as answering, and its memory stays reserved.
#[derive(Debug)]
pub(crate) struct Sending<B> {
    body: B,
    hold: Option<Arc<ReplyHold>>,
    _answering: Answering,
}

impl<B> Sending<B> {
    pub(crate) fn new(body: B, hold: Option<ReplyHold>, answering: Answering) -> Self {
        Self {
            body,
            hold: hold.map(Arc::new),
            _answering: answering,
        }
    }
}

/// Bytes of a body that hyper may hold after it has dropped the body itself. They keep the reply's memory reserved.
struct Piece {
    bytes: Bytes,
    _hold: Arc<ReplyHold>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Sending<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Self { body, hold, .. } = &mut *self;
        let frame = ready!(Pin::new(body).poll_frame(cx));
        let Some(hold) = hold else {
            return Poll::Ready(frame);
        };
        let piece = |bytes| {
            Bytes::from_owner(Piece {
                bytes,
                _hold: hold.clone(),
            })
        };
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
