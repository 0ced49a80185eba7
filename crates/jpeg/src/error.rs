//! Why an image was not decoded or encoded.

use std::fmt;

use andon_kernels::cores::Unfinished;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an image was not decoded or encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The file is invalid. The text describes what is wrong with it, as in "it has no frame header".
    Broken(&'static str),
    /// The file is a JPEG with a feature that this crate does not support.
    Unsupported(Feature),
    /// The planes cannot be written as a JPEG. The text gives the reason.
    Unfit(&'static str),
    /// The work was interrupted because the result is no longer needed.
    Interrupted,
    /// The image exceeds a limit that the caller has set.
    Limit {
        /// The limit that is exceeded.
        bound: Bound,
        /// The value that the image needs, in the unit of the limit.
        value: u64,
        /// The limit that the caller has set.
        limit: u64,
    },
    /// The work panicked on another core, which is a bug of this crate.
    Panicked,
}

impl Error {
    /// The error for all rare features that this crate does not support.
    pub(crate) const UNSUPPORTED: Self = Self::Unsupported(Feature::Rare);
}

/// A feature of JPEG that this crate does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The lossless processes of T.81 (SOF3, SOF11).
    Lossless,
    /// The hierarchical processes of T.81.
    Hierarchical,
    /// Samples of this many bits, other than 8.
    Depth(u8),
    /// This number of components, other than 1, 3 and 4.
    Components(u8),
    /// The sampling factor of a component does not divide the largest one, as with 2 and 3.
    Sampling,
    /// Something rare in the frame or its scans: arithmetic coding, four components, unusual sampling, a missing table,
    /// or a component that occurs twice.
    Rare,
}

/// A quantity that a caller can limit for a decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Allocated memory, in bytes.
    Memory,
    /// Number of scans that are read.
    Scans,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lossless => f.write_str("lossless coding"),
            Self::Hierarchical => f.write_str("hierarchical coding"),
            Self::Depth(bits) => write!(f, "{bits} bits a sample"),
            Self::Components(count) => write!(f, "{count} components"),
            Self::Sampling => f.write_str("sampling factors that do not divide each other"),
            Self::Rare => f.write_str("a rare kind of frame or scan"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(why) => write!(f, "this JPEG is broken: {why}"),
            Self::Unsupported(feature) => {
                write!(f, "this JPEG uses {feature}, which is not supported")
            }
            Self::Unfit(why) => write!(f, "these planes do not fit a JPEG: {why}"),
            Self::Interrupted => f.write_str("the work was interrupted"),
            Self::Limit {
                bound,
                value,
                limit,
            } => {
                let what = match bound {
                    Bound::Memory => "bytes of memory",
                    Bound::Scans => "scans",
                };
                write!(f, "{value} {what} are over the limit of {limit}")
            }
            Self::Panicked => f.write_str("work on another core panicked"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Unfinished> for Error {
    fn from(why: Unfinished) -> Self {
        match why {
            Unfinished::Interrupted => Self::Interrupted,
            Unfinished::Panicked => Self::Panicked,
        }
    }
}
