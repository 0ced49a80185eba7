//! `[log]`: how requests are written down.

use serde::Deserialize;

/// `[log]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// The shape of a line.
    pub format: LogFormat,
}

/// The shape of an access log line; lines go to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For eyes.
    #[default]
    Text,
    /// One JSON object per line, for programs.
    Json,
    /// None.
    Off,
}
