//! Why a server could not be started or ended.

use std::fmt;

use crate::scenario::ScenarioError;

/// The reason why a server could not be started or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchError {
    /// The scenario asks for something impossible.
    Scenario(ScenarioError),
    /// The server did not start, did not become ready, or did not end; or something around it failed: a hook (`before`,
    /// `after`), its work directory or its address.
    Server {
        /// What went wrong, as a sentence.
        what: String,
        /// The last lines that the server printed.
        output: Vec<String>,
    },
    /// Another process listens at the server's address.
    Taken {
        /// A sentence that names the other process.
        what: String,
        /// The last lines that the server printed.
        output: Vec<String>,
    },
}

impl LaunchError {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self::Server {
            what: what.into(),
            output: Vec::new(),
        }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Server { what, output } | Self::Taken { what, output } => {
                f.write_str(what)?;
                if !output.is_empty() {
                    f.write_str("\nits last output:")?;
                }
                output.iter().try_for_each(|line| write!(f, "\n  {line}"))
            }
        }
    }
}

impl std::error::Error for LaunchError {}

impl From<ScenarioError> for LaunchError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}
