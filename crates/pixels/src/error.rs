//! Errors, each of which names the offending value and the way out.

use std::fmt;

use andon_kernels::cores::Unfinished;
use andon_recipe::Blame;

use crate::limits::Bound;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate. Its `Display` is one plain sentence that may be shown to the public.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The bytes are not an image of a known format.
    UnknownFormat,
    /// The bytes claim a format but break its rules.
    Broken {
        /// The format's name.
        format: &'static str,
        /// What is wrong, in a few words.
        why: String,
    },
    /// The image uses a feature of its format that is not supported.
    Unsupported {
        /// The format's name.
        format: &'static str,
        /// The feature that is not supported.
        what: String,
    },
    /// A value exceeds a limit of [`crate::Limits`], of the server or of a format.
    Limit {
        /// The limit that is exceeded.
        bound: Bound,
        /// The value that is over the limit.
        value: u64,
        /// The limit, in the same unit as `value`.
        limit: u64,
    },
    /// The recipe asks for something impossible: an unknown effect, bad arguments, no pixels left.
    Recipe {
        /// The offending part of the recipe.
        piece: String,
        /// The reason, with the offending value and what would be accepted.
        why: String,
    },
    /// The recipe asks for something that cannot be done with this source.
    Unfit {
        /// The offending part of the recipe.
        piece: String,
        /// The reason, with the offending value and what would be accepted.
        why: String,
    },
    /// The recipe asks for something that the operator does not permit.
    NotPermitted {
        /// The offending part of the recipe.
        piece: String,
        /// The reason, with what is permitted.
        why: String,
    },
    /// Images of this format are read only if the caller asks for the format.
    NotRead {
        /// The format's name.
        format: &'static str,
    },
    /// The process that read or wrote the image ended without a result.
    Crashed {
        /// The format's name.
        format: &'static str,
        /// How the process ended, in a few words.
        how: String,
    },
    /// Processes that read this image ended without a result several times, so it is not tried again for a while.
    Suspect {
        /// The format's name.
        format: &'static str,
    },
    /// The deadline passed or the client left.
    Interrupted,
    /// A bug in Andon that was caught; the text describes it.
    Internal(String),
}

impl Error {
    /// Converts the error of a request whose [rules](andon_recipe::Rules) cannot be resolved to a recipe for a source.
    #[must_use]
    pub fn of_rules(error: andon_recipe::ResolveError) -> Self {
        let andon_recipe::ResolveError { piece, why, blame } = error;
        match blame {
            Blame::Request => Self::Recipe { piece, why },
            Blame::Source => Self::Unfit { piece, why },
            Blame::Permission => Self::NotPermitted { piece, why },
        }
    }

    /// Returns a short identifier of the error, for logs and programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UnknownFormat => "unknown_format",
            Self::Broken { .. } => "broken",
            Self::Unsupported { .. } | Self::NotRead { .. } => "unsupported",
            Self::Limit { .. } => "limit",
            Self::Recipe { .. } => "recipe",
            Self::Unfit { .. } => "unfit",
            Self::NotPermitted { .. } => "not_permitted",
            Self::Crashed { .. } => "crashed",
            Self::Suspect { .. } => "suspect",
            Self::Interrupted => "interrupted",
            Self::Internal(_) => "internal",
        }
    }

    /// Returns the HTTP status for this error.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::Recipe { .. } | Self::NotPermitted { .. } => 400,
            Self::UnknownFormat
            | Self::Broken { .. }
            | Self::Unsupported { .. }
            | Self::NotRead { .. } => 415,
            Self::Unfit { .. } | Self::Suspect { .. } | Self::Limit { .. } => 422,
            Self::Crashed { .. } | Self::Internal(_) => 500,
            Self::Interrupted => 503,
        }
    }

    /// Creates an `Unsupported` error.
    pub fn unsupported(format: &'static str, what: impl Into<String>) -> Self {
        Self::Unsupported {
            format,
            what: what.into(),
        }
    }

    /// Creates a `Broken` error.
    pub fn broken(format: &'static str, why: impl Into<String>) -> Self {
        Self::Broken {
            format,
            why: why.into(),
        }
    }
}

impl From<Unfinished> for Error {
    fn from(why: Unfinished) -> Self {
        match why {
            Unfinished::Interrupted => Self::Interrupted,
            Unfinished::Panicked => Self::Internal("work on a lent core panicked".to_owned()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFormat => f.write_str("this is not an image of a known format"),
            Self::Broken { format, why } => write!(f, "this {format} image is broken: {why}"),
            Self::Unsupported { format, what } => {
                write!(f, "this {format} image uses {what}, which is not supported")
            }
            Self::Limit {
                bound,
                value,
                limit,
            } if *bound == Bound::CPU => {
                let seconds = |nanos: &u64| *nanos as f64 / 1e9;
                write!(
                    f,
                    "{:.2} s of processor time are planned, over the limit of {:.2} s for a source of this length; a \
                     smaller size, fewer operations or a lower effort take less",
                    seconds(value),
                    seconds(limit)
                )
            }
            Self::Limit {
                bound,
                value,
                limit,
            } => {
                write!(
                    f,
                    "{bound} {value} is over the limit of {limit} {}",
                    bound.unit
                )
            }
            Self::Recipe { piece, why }
            | Self::Unfit { piece, why }
            | Self::NotPermitted { piece, why } => {
                write!(f, "`{piece}` cannot be done: {why}")
            }
            Self::NotRead { format } => write!(
                f,
                "{format} images are not read unless their format is asked for, by its name among the formats"
            ),
            Self::Crashed { format, how } => write!(
                f,
                "the process that worked on this {format} image ended without an answer: {how}"
            ),
            Self::Suspect { format } => write!(
                f,
                "the processes that read this {format} image ended without an answer, more than once; it is not tried \
                 again for some time, or until a purge"
            ),
            Self::Interrupted => {
                f.write_str("the work was stopped because its deadline passed or its client left")
            }
            Self::Internal(why) => write!(f, "internal error: {why}"),
        }
    }
}

impl std::error::Error for Error {}
