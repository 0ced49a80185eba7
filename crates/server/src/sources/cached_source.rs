//! A source file in memory, which several requests may use at a time.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::OnceCell;

use crate::origins::Reservation;

/// The place of a file in the cache. It is filled once the file has been read.
pub(super) type Place = OnceCell<Loaded>;

/// The content of a file that was read.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) bytes: Bytes,
    /// The reservation of memory for the bytes, shared by all requests that use the file.
    pub(super) hold: Arc<Reservation>,
}

/// A file in memory; it stays in the cache while any clone of this is alive.
#[derive(Clone, Debug)]
pub(crate) struct CachedSource {
    /// The content of the file.
    pub(crate) bytes: Bytes,
    /// The reservation of memory for the bytes, shared by all requests that use the file.
    pub(crate) hold: Arc<Reservation>,
    /// Keeps the file in the cache.
    pub(super) _place: Arc<Place>,
}
