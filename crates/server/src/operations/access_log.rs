//! The access log: one line per request on standard error, text or JSON. Lines take the way of all
//! lines, [`Lines`].

use std::sync::Arc;

use crate::config::{LogConfig, LogFormat, LogLevel};
use crate::operations::entry::Entry;
use crate::operations::logging::Lines;
use crate::operations::metrics::Metrics;

/// Where entries go.
#[derive(Debug)]
pub(crate) struct AccessLog {
    format: LogFormat,
    lines: &'static Lines,
    metrics: Arc<Metrics>,
}

impl AccessLog {
    /// Entries are counted in `metrics` too.
    pub(crate) fn new(config: LogConfig, metrics: Arc<Metrics>) -> Self {
        let format = match config.level {
            LogLevel::Error | LogLevel::Warn => LogFormat::Off,
            LogLevel::Info | LogLevel::Debug | LogLevel::Trace => config.format,
        };
        Self {
            format,
            lines: Lines::of_this_process(),
            metrics,
        }
    }

    /// Writes one entry down, and counts it.
    pub(crate) fn record(&self, entry: &Entry) {
        self.metrics.count(entry);
        let line = match self.format {
            LogFormat::Off => return,
            LogFormat::Text => entry.text(),
            LogFormat::Json => entry.json(),
        };
        self.lines.push(line);
    }

    /// Waits until everything that was recorded so far is written.
    pub(crate) async fn finish(self) {
        self.lines.flush().await;
    }
}
