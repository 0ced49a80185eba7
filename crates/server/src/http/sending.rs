//! A reply's body while it is sent: the connection counts as being answered until its last byte is on
//! the way.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, SizeHint};

use super::timeout_stream::Answering;

/// A body and what tells that it is not yet over.
#[derive(Debug)]
pub(crate) struct Sending<B> {
    body: B,
    _answering: Answering,
}

impl<B> Sending<B> {
    pub(crate) fn new(body: B, answering: Answering) -> Self {
        Self {
            body,
            _answering: answering,
        }
    }
}

impl<B: Body + Unpin> Body for Sending<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
