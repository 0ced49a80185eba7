//! A file that was served as it is, and what is the same in every reply with it.

use bytes::Bytes;

use crate::origins::Identity;

/// What is known of a file in the state that it was in.
#[derive(Debug)]
pub(crate) struct ServedFile {
    pub(crate) identity: Identity,
    /// Where the picture in it ends; how many bytes it has, if it is none.
    pub(crate) end: u64,
    /// The head of replies, as it goes over the wire, without what varies.
    pub(crate) wire: Bytes,
}
