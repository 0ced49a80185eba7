//! The outcome of judging a row of the manifest: a file and the expected answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The outcome of judging a row: a file and the expected answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Verdict {
    /// The response is the expected answer: a correct image, or a refusal.
    Passed {
        /// Whether the image is known to match the expected answer exactly.
        exact: bool,
        /// Parts of the expected answer that could not be judged.
        gaps: Vec<String>,
    },
    /// The response is not the expected answer. The text is the reason.
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
            Self::Passed { gaps, .. } if !gaps.is_empty() => {
                write!(f, "ok, but not judged: {}", gaps.join(", "))
            }
            Self::Passed { exact: true, .. } => f.write_str("ok, to the bit"),
            Self::Passed { .. } => f.write_str("ok"),
            Self::Missed(why) => write!(f, "MISSED: {why}"),
        }
    }
}
