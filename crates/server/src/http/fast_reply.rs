//! Replies of the fast path: what they consist of, and how much of it is sent.

use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use tokio::task::JoinHandle;

use super::simple::Simple;
use super::timeout_stream::Answering;
use crate::origins::OpenFile;

/// Answers requests that need no waiting.
pub(crate) trait FastResponder {
    /// Writes the head of the reply to `head` and returns the body. Returns `None`, with `head` unchanged, if the request
    /// has to be answered by hyper. A large file is only returned if `sends_files`.
    fn answer(
        &self,
        request: &Simple<'_>,
        sends_files: bool,
        head: &mut Vec<u8>,
    ) -> Option<FastBody>;
}

/// The body that follows the head of a reply.
#[derive(Debug)]
pub(crate) enum FastBody {
    Bytes(Bytes),
    /// A file from its beginning up to this offset in bytes.
    File(Arc<OpenFile>, u64),
}

/// A reply of the fast path.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) head: Vec<u8>,
    pub(super) body: FastBody,
    /// Number of bytes sent, of head and body together.
    pub(super) sent_bytes: u64,
    /// The task that reads the next piece of the file from disk.
    pub(super) loading: Option<JoinHandle<()>>,
    /// Keeps the connection from being taken for idle while the reply is sent.
    pub(super) answering: Option<Answering>,
}

impl Default for FastBody {
    fn default() -> Self {
        Self::Bytes(Bytes::new())
    }
}

/// The part of a reply that is to be sent next.
pub(super) enum Remainder<'a> {
    /// All that is left of head and body.
    Bytes([IoSlice<'a>; 2]),
    /// What is left of the head, which a file follows.
    Head(&'a [u8]),
    /// This range of the file, in bytes. The head has been sent.
    File(&'a Arc<OpenFile>, Range<u64>),
}

impl Reply {
    /// Creates a reply of which nothing has been sent.
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

    /// Returns the part that is to be sent next, or `None` if the whole reply has been sent.
    pub(super) fn remainder(&self) -> Option<Remainder<'_>> {
        let head = self.head.len() as u64;
        let from_head = &self.head[self.sent_bytes.min(head) as usize..];
        let from_body = self.sent_bytes.saturating_sub(head);
        (self.sent_bytes < self.length()).then(|| match &self.body {
            FastBody::Bytes(bytes) => {
                let from_body = &bytes[from_body as usize..];
                Remainder::Bytes([IoSlice::new(from_head), IoSlice::new(from_body)])
            }
            FastBody::File(..) if !from_head.is_empty() => Remainder::Head(from_head),
            FastBody::File(file, end) => Remainder::File(file, from_body..*end),
        })
    }

    /// Resets the reply. The memory of the head is kept for the next one, and the body is released so that it can leave
    /// the cache.
    pub(super) fn clear(&mut self) {
        self.head.clear();
        self.body = FastBody::default();
        self.sent_bytes = 0;
        self.loading = None;
        self.answering = None;
    }
}

/// Bytes of a file that are sent before other connections get their turn, and maximum length in bytes of a reply that
/// is sent while its connection is accepted.
pub(super) const MOST_IN_TURN: u64 = 1 << 20;
