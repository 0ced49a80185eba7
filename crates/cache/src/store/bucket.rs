//! Storage through which nodes share results: named objects, each written atomically.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

/// Future of the result of a bucket's operation.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, BucketError>> + Send + 'a>>;

/// A bucket of an object store, or a folder used like one. Everyone who can write to it may put anything there, so
/// objects must not be trusted before their seals (keyed digests) are checked.
pub trait Bucket: fmt::Debug + Send + Sync + 'static {
    /// Returns the object of this name, or [`Object::Unchanged`] if its version still is `version`.
    ///
    /// # Errors
    /// [`BucketError::Failed`] if the object cannot be read.
    fn get<'a>(&'a self, name: &'a str, version: Option<&'a Version>) -> Answer<'a, Object>;

    /// Writes an object, replacing the version `old`. If `old` is `None`, there must be no object of this name yet.
    ///
    /// # Errors
    /// [`BucketError::Conflict`] if the bucket has another version, [`BucketError::Failed`] if the object cannot be
    /// written.
    fn put<'a>(&'a self, name: &'a str, body: Bytes, old: Option<&'a Version>) -> Answer<'a, ()>;
}

/// The result of reading an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// There is no object of that name.
    Missing,
    /// The object still is the version that the caller knows.
    Unchanged,
    /// The whole object, and its version.
    Here(Bytes, Version),
}

/// A version of an object, as identified by its bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// The object's entity tag.
    pub tag: Option<String>,
    /// The version number, for buckets that count versions.
    pub number: Option<String>,
}

/// Why an operation of a bucket failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// The bucket has another version of the object than the one to replace.
    #[error("another version is there")]
    Conflict,
    /// The operation failed, or the bucket cannot be reached.
    #[error("{0}")]
    Failed(String),
}

/// Largest size in bytes of an object that is written or read. Larger results are stored only on the node that made
/// them.
pub const MOST_BYTES: usize = 32 << 20;
