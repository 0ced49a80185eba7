//! Storage through which nodes share results: named objects, each written atomically.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

/// Future of a bucket's answer.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, BucketError>> + Send + 'a>>;

/// An object store bucket, or a folder used like one. Others who can write to it may put anything there, so what it
/// returns must not be trusted before its seal is checked.
pub trait Bucket: fmt::Debug + Send + Sync + 'static {
    /// Returns the object of this name, or `Object::Unchanged` if it still is the version `known`.
    ///
    /// # Errors
    /// `Failed`.
    fn get<'a>(&'a self, name: &'a str, known: Option<&'a Version>) -> Answer<'a, Object>;

    /// Writes an object, replacing the version `over`. If that is `None`, there must be no object of this name yet.
    ///
    /// # Errors
    /// `Conflict` if there is another version, and `Failed`.
    fn put<'a>(&'a self, name: &'a str, body: Bytes, over: Option<&'a Version>) -> Answer<'a, ()>;
}

/// What a bucket has under a name.
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
    /// The object has been written by someone else.
    #[error("another version is there")]
    Conflict,
    /// The operation failed, or the bucket cannot be reached.
    #[error("{0}")]
    Failed(String),
}

/// Largest size in bytes of an object that is written or read. Larger results stay on the node that made them.
pub const MOST_BYTES: usize = 32 << 20;
