//! Counters of the telemetry that was sent to a collector by OTLP, and of the telemetry that was lost.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::prometheus::MetricSet;

/// A kind of telemetry. Each kind has its own endpoint, queue and configuration key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Metrics,
    Logs,
}

impl Signal {
    pub(crate) const ALL: [Self; 3] = [Self::Traces, Self::Metrics, Self::Logs];

    /// Returns the name of this kind of telemetry in configuration keys, labels of metrics and URL paths of collectors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
            Self::Logs => "logs",
        }
    }
}

/// Counters of each signal: spans, data points of metrics, log records.
#[derive(Debug, Default)]
pub(crate) struct Exports {
    sent: [AtomicU64; Signal::ALL.len()],
    dropped: [AtomicU64; Signal::ALL.len()],
}

impl Exports {
    /// Counts spans, data points or log records that the collector has accepted.
    pub(crate) fn count_sent(&self, signal: Signal, count: usize) {
        self.sent[signal as usize].fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Counts spans, data points or log records that were lost: the queue was full, or the collector did not accept
    /// them.
    pub(crate) fn count_dropped(&self, signal: Signal, count: usize) {
        self.dropped[signal as usize].fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Adds the counters of all signals.
    pub(in crate::operations) fn write(&self, out: &mut MetricSet) {
        let mut counter = |name, help, counters: &[AtomicU64]| {
            out.counter(name, help);
            let counts = counters.iter().map(|it| it.load(Ordering::Relaxed));
            let names = Signal::ALL.into_iter().map(Signal::name);
            out.samples("signal", names.zip(counts));
        };
        counter(
            "andon_otlp_sent_total",
            "Spans, data points and log records that the collector accepted.",
            &self.sent,
        );
        counter(
            "andon_otlp_dropped_total",
            "Spans, data points and log records that were lost: the queue was full, or the collector did not accept them.",
            &self.dropped,
        );
    }
}
