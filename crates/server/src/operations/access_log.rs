//! The access log: one line per request on standard error, as text or JSON. Like all lines, these are written through
//! [`Lines`]. Requests are exported as well, as `[otlp]` says.

use std::sync::Arc;

use crate::config::{Config, LogFormat, LogLevel};
use crate::operations::entry::Entry;
use crate::operations::logging::Lines;
use crate::operations::metrics::Metrics;
use crate::operations::otlp::{Collector, Exporter};

/// The destination of access log entries.
#[derive(Debug)]
pub(crate) struct AccessLog {
    format: LogFormat,
    lines: &'static Lines,
    metrics: Arc<Metrics>,
    /// The exporter to the collector, if there is one.
    pub(crate) exporter: Option<Exporter>,
}

impl AccessLog {
    /// Starts the log. Entries are counted in `metrics` as well, and exported to `collector`, if there is one. Needs a
    /// tokio runtime.
    pub(crate) fn new(
        config: &Config,
        metrics: Arc<Metrics>,
        collector: Option<Collector>,
    ) -> Self {
        let format = match has_requests(config) {
            true => config.log.format,
            false => LogFormat::Off,
        };
        let start = |collector| {
            let requests = has_requests(config);
            Exporter::start(&config.otlp, collector, &metrics.exports, requests)
        };
        Self {
            format,
            lines: Lines::of_this_process(),
            exporter: collector.map(start),
            metrics,
        }
    }

    /// Writes an entry to the log and counts it.
    pub(crate) fn record(&self, entry: &Entry) {
        self.metrics.count(entry);
        if let Some(exporter) = &self.exporter {
            exporter.record(entry);
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
        if let Some(exporter) = self.exporter {
            exporter.finish().await;
        }
        self.lines.flush().await;
    }
}

/// Whether the level of the log is one at which requests are logged.
fn has_requests(config: &Config) -> bool {
    match config.log.level {
        LogLevel::Error | LogLevel::Warn => false,
        LogLevel::Info | LogLevel::Debug | LogLevel::Trace => true,
    }
}
