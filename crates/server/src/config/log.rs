//! The `[log]` table: what is logged to standard error, and in which format.

use serde::Deserialize;

/// The `[log]` table: what is logged to standard error, and in which format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// The format of the log.
    pub format: LogFormat,
    /// The least severe level that is logged; requests are logged at `info`.
    pub level: LogLevel,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text for people to read.
    #[default]
    Text,
    /// One JSON object per line, for programs.
    Json,
    /// No access log; the server's own messages are text.
    Off,
}

/// The severity of a log entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Something failed.
    Error,
    /// Something is wrong, but serving goes on: a full disk, a rejected configuration.
    Warn,
    /// Normal events: requests, reloads.
    #[default]
    Info,
    /// Details for finding bugs in the server.
    Debug,
    /// Everything there is to log.
    Trace,
}
