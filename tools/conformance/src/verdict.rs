//! What came of a row.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What came of a row.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Verdict {
    /// As it should be.
    Passed {
        /// To the last bit, where that can be said.
        exact: bool,
        /// What of it could not be judged.
        left: Vec<String>,
    },
    /// The response is not the known answer; the reason.
    Missed(String),
}

impl Verdict {
    pub(crate) fn missed(&self) -> bool {
        matches!(self, Self::Missed(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed { left, .. } if !left.is_empty() => {
                write!(f, "ok, but not judged: {}", left.join(", "))
            }
            Self::Passed { exact: true, .. } => f.write_str("ok, to the bit"),
            Self::Passed { .. } => f.write_str("ok"),
            Self::Missed(why) => write!(f, "MISSED: {why}"),
        }
    }
}
