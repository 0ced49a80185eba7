//! The access log: one line per request on standard error, as text or JSON. Like all lines, these are written through
//! [`Lines`]. Requests of sampled traces are exported as well, if `[trace]` says so.

use std::sync::Arc;

use crate::config::{Config, LogFormat, LogLevel};
use crate::operations::entry::Entry;
use crate::operations::logging::Lines;
use crate::operations::metrics::Metrics;
#[cfg(feature = "otlp")]
use crate::operations::spans::Exporter;

/// The destination of access log entries.
#[derive(Debug)]
pub(crate) struct AccessLog {
    format: LogFormat,
    lines: &'static Lines,
    metrics: Arc<Metrics>,
    #[cfg(feature = "otlp")]
    spans: Option<Exporter>,
}

impl AccessLog {
    /// Starts the log. Entries are counted in `metrics` as well. Needs a tokio runtime.
    pub(crate) fn new(config: &Config, metrics: Arc<Metrics>) -> Self {
        let format = match config.log.level {
            LogLevel::Error | LogLevel::Warn => LogFormat::Off,
            LogLevel::Info | LogLevel::Debug | LogLevel::Trace => config.log.format,
        };
        Self {
            format,
            lines: Lines::of_this_process(),
            metrics,
            #[cfg(feature = "otlp")]
            spans: config.trace.otlp.as_ref().map(Exporter::start),
        }
    }

    /// Writes an entry to the log and counts it.
    pub(crate) fn record(&self, entry: &Entry) {
        self.metrics.count(entry);
        #[cfg(feature = "otlp")]
        if let Some(spans) = &self.spans {
            spans.export(entry);
        }
        let line = match self.format {
            LogFormat::Off => return,
            LogFormat::Text => entry.text(),
            LogFormat::Json => entry.json(),
        };
        self.lines.push(line);
    }

    /// Waits until everything recorded so far is written and exported.
    pub(crate) async fn finish(self) {
        #[cfg(feature = "otlp")]
        if let Some(spans) = self.spans {
            spans.finish().await;
        }
        self.lines.flush().await;
    }
}
