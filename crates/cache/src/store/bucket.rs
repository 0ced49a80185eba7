//! What nodes share results through: objects by name, written whole or not at all.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

/// An answer under way.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, BucketError>> + Send + 'a>>;

/// A bucket, or a folder that is used like one. Whoever else can write to it may put anything there: what comes
/// back is not to be believed before its seal is checked.
pub trait Bucket: fmt::Debug + Send + Sync + 'static {
    /// The object of this name, unless it still is the version that is `known`.
    ///
    /// # Errors
    /// `Failed`.
    fn get<'a>(&'a self, name: &'a str, known: Option<&'a Version>) -> Answer<'a, Object>;

    /// Writes an object: in place of this version, or where there is none yet.
    ///
    /// # Errors
    /// `Conflict`, where another is there; `Failed`.
    fn put<'a>(&'a self, name: &'a str, body: Bytes, over: Option<&'a Version>) -> Answer<'a, ()>;
}

/// What a bucket has under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// There is no object of that name.
    Missing,
    /// The object is the version that was known already.
    Unchanged,
    /// The object, whole, and its version.
    Here(Bytes, Version),
}

/// One version of an object, as its bucket tells it from others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// Its entity tag.
    pub tag: Option<String>,
    /// Its number, where the bucket counts them.
    pub number: Option<String>,
}

/// Why a bucket did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// Somebody else has written the object.
    #[error("another version is there")]
    Conflict,
    /// It failed, or cannot be reached.
    #[error("{0}")]
    Failed(String),
}

/// Bytes of an object that is written or read; larger results stay with the node that made them.
pub const MOST_BYTES: usize = 32 << 20;
