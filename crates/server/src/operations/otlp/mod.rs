//! Traces, metrics and logs for a collector (OTLP over HTTP).
//!
//! The client that begins a trace decides whether it is recorded: a request is exported when its `traceparent` header
//! says that it is sampled. Requests never wait for the collector: telemetry that it does not accept in time is dropped
//! and counted.
//!
//! Messages are written by hand in protobuf's JSON, which every receiver of OTLP over HTTP reads: the crates with
//! OpenTelemetry's types bring gRPC along. `demo/protocols` compares the messages with OpenTelemetry's definitions.

mod collector;
mod logs;
mod metrics;
mod outbox;
mod spans;
mod values;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) use self::collector::Collector;
pub(crate) use self::logs::Events;
use self::outbox::Outbox;
use crate::config::OtlpConfig;
use crate::operations::entry::Entry;
use crate::operations::metrics::exports::{Exports, Signal};
use crate::prometheus::MetricSet;

/// Queues telemetry and sends it to a collector from background tasks.
#[derive(Debug)]
pub(crate) struct Exporter {
    traces: Option<Outbox>,
    metrics: Option<Outbox>,
    logs: Option<Arc<Outbox>>,
    /// Whether the server's own log lines are exported.
    lines: bool,
    /// Whether requests are exported as log records.
    requests: bool,
    /// Time between two exports of metrics.
    interval: Duration,
    /// Set to true when the server ends.
    ending: watch::Sender<bool>,
    /// The task that reads the metrics at each interval.
    reading: Mutex<Option<JoinHandle<()>>>,
}

impl Exporter {
    /// Starts an exporter to this collector, which counts in `exports` what was sent and what was lost. `requests` says
    /// whether requests may be log records, which the level of the log may rule out. Needs a tokio runtime.
    pub(super) fn start(
        config: &OtlpConfig,
        collector: Collector,
        exports: &Arc<Exports>,
        requests: bool,
    ) -> Self {
        let (ending, is_ending) = watch::channel(false);
        let collector = Arc::new(collector);
        let requests = requests && config.access_log;
        let outbox = |is_enabled: bool, signal| {
            let (collector, exports) = (collector.clone(), exports.clone());
            is_enabled.then(|| Outbox::start(signal, collector, exports, is_ending.clone()))
        };
        Self {
            traces: outbox(config.traces, Signal::Traces),
            metrics: outbox(config.metrics, Signal::Metrics),
            logs: outbox(config.logs || requests, Signal::Logs).map(Arc::new),
            lines: config.logs,
            requests,
            interval: config.interval.0,
            ending,
            reading: Mutex::default(),
        }
    }

    /// Exports a request: its spans if its trace is sampled, and its log record if requests are logged.
    pub(super) fn record(&self, entry: &Entry) {
        let trace = entry.trace.as_ref().filter(|trace| trace.is_sampled());
        if let (Some(outbox), Some(trace)) = (&self.traces, trace) {
            let spans = spans::of(entry, trace);
            let count = spans.len();
            outbox.push(spans, count);
        }
        if let (Some(outbox), true) = (&self.logs, self.requests) {
            outbox.push(vec![logs::of_request(entry)], 1);
        }
    }

    /// Exports the log lines of this process from now on, and calls `export` at each interval until it returns false.
    /// `export` is to read the metrics and export them. Needs a tokio runtime.
    pub(crate) fn attach(&self, export: impl Fn() -> bool + Send + 'static) {
        if let (Some(outbox), true) = (&self.logs, self.lines) {
            logs::attach(outbox);
        }
        if self.metrics.is_none() {
            return;
        }
        let interval = self.interval;
        let reading = tokio::spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                if !export() {
                    return;
                }
            }
        });
        // No code panics while it holds the lock.
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) = Some(reading);
    }

    /// Stops exporting log lines and metrics. Returns when the task that reads metrics has ended.
    pub(crate) async fn detach(&self) {
        if let Some(reading) = self.stop() {
            // An error means that the task was stopped, as intended.
            let _ = reading.await;
        }
    }

    /// Detaches the exporter, and returns the task that read metrics, which may still be about to end.
    fn stop(&self) -> Option<JoinHandle<()>> {
        if let Some(outbox) = &self.logs {
            logs::detach(outbox);
        }
        // No code panics while it holds the lock.
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        reading.take().inspect(JoinHandle::abort)
    }

    /// Exports metrics, if `otlp.metrics` is set.
    pub(crate) fn export(&self, set: &MetricSet) {
        if let Some(outbox) = &self.metrics {
            let (metrics, count) = metrics::of(set, SystemTime::now());
            outbox.push(metrics, count);
        }
    }

    /// Sends what is still queued, and gives up after a few seconds.
    pub(super) async fn finish(mut self) {
        self.detach().await;
        self.ending.send_replace(true);
        let logs = self.logs.take().and_then(Arc::into_inner);
        let rest = [self.traces.take(), self.metrics.take(), logs];
        let finishing = join_all(rest.into_iter().flatten().map(Outbox::finish));
        // Give up if the collector hangs.
        let _ = tokio::time::timeout(LAST, finishing).await;
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        drop(self.stop());
    }
}

/// Time limit for sending what is still queued at shutdown.
const LAST: Duration = Duration::from_secs(5);
