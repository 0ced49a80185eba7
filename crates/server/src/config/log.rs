//! `[log]`: what is written down on standard error, and how.

use serde::Deserialize;

/// `[log]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// The shape of a line.
    pub format: LogFormat,
    /// The least that is written down; requests are `info`.
    pub level: LogLevel,
}

/// The shape of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For eyes.
    #[default]
    Text,
    /// One JSON object per line, for programs.
    Json,
    /// No lines about requests; what the server says about itself is text.
    Off,
}

/// How much a line matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Something broke.
    Error,
    /// Something is wrong, and serving goes on: a disk that is full, a configuration that is refused.
    Warn,
    /// What happens: requests, reloads.
    #[default]
    Info,
    /// For those who look for a fault of ours.
    Debug,
    /// Every line that there is.
    Trace,
}
