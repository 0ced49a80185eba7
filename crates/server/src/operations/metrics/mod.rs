//! The server's metrics: what `/metrics` shows, and what is exported to a collector. Both are made from one
//! `MetricSet`, so a metric that is added here needs nothing more.
//!
//! Names and units follow the conventions of Prometheus: prefix `andon_`, base units, `_total` on counters. Metrics
//! about requests come from the entries of the access log, so that a metric and a log line never disagree. Current
//! values (memory, threads, open files) are read when the metrics are requested.

pub(crate) mod admission;
pub(crate) mod cache;
mod dialects;
pub(crate) mod exports;
pub(crate) mod origins;
mod process;
pub(crate) mod processes;
pub(crate) mod store;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use andon_cache::Stats;
use serde_json::{Value, json};

use self::dialects::{ByDialect, Served};
use crate::admission::Gauges;
use crate::operations::entry::Entry;
use crate::operations::history::{History, Totals};
use crate::operations::slowest::Slowest;
use crate::prometheus::{Exemplar, Histogram, MetricSet};
use crate::sources::undrawn;

/// Everything that is counted since the server's start. Reloads do not reset it.
#[derive(Debug)]
pub(crate) struct Metrics {
    start: SystemTime,
    requests: [AtomicU64; CLASSES.len()],
    bytes: AtomicU64,
    answers: Histogram,
    stages: [Histogram; STAGES.len()],
    refusals: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    connections: AtomicI64,
    closed_idle: AtomicU64,
    rejected_connection: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
    last_reload_failed: AtomicBool,
    by_dialect: ByDialect,
    /// Counters of the telemetry that was sent to collectors.
    pub(crate) exports: std::sync::Arc<exports::Exports>,
    /// The server's activity in the last 15 minutes, for the live dashboard.
    pub(crate) history: History,
    /// The slowest requests, for the live dashboard.
    pub(crate) slowest: Slowest,
}

/// The classes by which the statuses of requests are counted. The status 499, which is never sent, counts as
/// `client_left`.
const CLASSES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", "client_left"];

/// The stages of an answer that log entries name. `cache` is a hit, measured from its look-up on. `wait` is waiting for
/// another request that makes the same result.
const STAGES: [&str; 10] = [
    "cache", "store", "wait", "receive", "fetch", "measure", "queue", "decode", "resize", "encode",
];

/// The stages of an answer that take place on worker threads.
const WORK: [&str; 3] = ["decode", "resize", "encode"];

impl Default for Metrics {
    fn default() -> Self {
        Self {
            start: SystemTime::now(),
            requests: Default::default(),
            bytes: AtomicU64::default(),
            answers: Histogram::default(),
            stages: Default::default(),
            refusals: Mutex::default(),
            connections: AtomicI64::default(),
            closed_idle: AtomicU64::default(),
            rejected_connection: AtomicU64::default(),
            reloads: AtomicU64::default(),
            failed_reloads: AtomicU64::default(),
            last_reload_failed: AtomicBool::default(),
            by_dialect: ByDialect::default(),
            exports: std::sync::Arc::default(),
            history: History::default(),
            slowest: Slowest::default(),
        }
    }
}

impl Metrics {
    /// Counts one request.
    pub(crate) fn count(&self, entry: &Entry) {
        let class = match entry.status.as_u16() {
            499 => 4,
            200..=299 => 0,
            300..=399 => 1,
            400..=499 => 2,
            _ => 3,
        };
        self.requests[class].fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(entry.bytes, Ordering::Relaxed);
        match &entry.trace {
            None => self.answers.observe(entry.total),
            Some(trace) => self.answers.observe_named(Exemplar {
                trace_id: trace.id().to_owned(),
                span_id: trace.span().to_owned(),
                took: entry.total,
                at: entry.time,
            }),
        }
        for (stage, time) in &entry.stages {
            if let Some(index) = STAGES.iter().position(|name| name == stage) {
                self.stages[index].observe(*time);
            }
        }
        self.by_dialect.count(entry);
        self.slowest.note(entry);
        if let Some((cause, fault, _)) = &entry.error {
            *self.refusals().entry((cause, fault)).or_default() += 1;
        }
    }

    /// Counts a connection as open until the guard is dropped.
    pub(crate) fn open_connection(self: &std::sync::Arc<Self>) -> OpenConnection {
        self.connections.fetch_add(1, Ordering::Relaxed);
        OpenConnection(self.clone())
    }

    /// Counts an idle connection that was closed in favour of another one.
    pub(crate) fn closed_idle(&self) {
        self.closed_idle.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection that was closed as soon as it was accepted.
    pub(crate) fn rejected_connection(&self) {
        self.rejected_connection.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a reload of the configuration. `is_ok` says whether it succeeded.
    pub(crate) fn count_reload(&self, is_ok: bool) {
        let counter = if is_ok {
            &self.reloads
        } else {
            &self.failed_reloads
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.last_reload_failed.store(!is_ok, Ordering::Relaxed);
    }

    /// Adds a sample to the history of metrics that the dashboard shows, with the load and the cache as they are now.
    pub(crate) fn remember(&self, load: &Gauges, cache: &Stats) {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counts = self.all_dialects();
        let (memory, disk) = (&cache.memory, cache.disk.as_ref());
        let rejections = load.counters;
        let stages = STAGES.iter().zip(&self.stages);
        let work = stages
            .filter(|(stage, _)| WORK.contains(stage))
            .map(|(_, it)| it.seconds());
        let totals = Totals {
            requests: std::array::from_fn(|class| of(&self.requests[class])),
            rejected: rejections.refused_count
                + rejections.refused_wait
                + rejections.refused_deadline
                + rejections.refused_memory
                + rejections.refused_stuck,
            answers: self.answers.counts(),
            cpu: process::processor_seconds().unwrap_or_default(),
            work: work.sum(),
            // Look-ups that miss in memory continue on the disk, which then counts the misses.
            lookups: [
                memory.hits + disk.map_or(0, |disk| disk.hits),
                memory.stale + disk.map_or(0, |disk| disk.stale),
                disk.map_or(memory.misses, |disk| disk.misses),
            ],
            result_bytes: counts.result_bytes,
            source_bytes: counts.source_bytes,
            waiting: load.waiting,
            running: load.running,
        };
        self.history.add(totals, Instant::now());
    }

    /// Returns the numbers of requests, errors and bytes, summed over all URL dialects.
    fn all_dialects(&self) -> Served {
        let counts = self.by_dialect.read();
        counts.fold(Served::default(), |sum, (_, count)| sum.plus(count))
    }

    /// Returns the metrics that the live dashboard shows, as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let requests: Vec<_> = CLASSES.iter().zip(self.requests.iter().map(of)).collect();
        let errors: Vec<_> = (self.refusals().iter())
            .map(|((cause, fault), count)| (*cause, *fault, *count))
            .collect();
        let dialect = |(name, counts): (&str, Served)| {
            json!({
                "name": name,
                "requests": counts.requests,
                "errors": counts.errors,
                "bytes": counts.bytes,
                "result_bytes": counts.result_bytes,
                "source_bytes": counts.source_bytes,
            })
        };
        let dialects: Vec<Value> = self.by_dialect.read().map(dialect).collect();
        let up = self.start.elapsed().unwrap_or_default();
        json!({
            "up_s": up.as_secs(),
            "requests": requests,
            "errors": errors,
            "dialects": dialects,
            "connections": self.connections.load(Ordering::Relaxed),
            "reloads": {
                "done": of(&self.reloads),
                "refused": of(&self.failed_reloads),
                "failed": self.last_reload_failed.load(Ordering::Relaxed),
            },
        })
    }

    /// Returns when the server started, at which its counters were 0.
    pub(crate) fn start(&self) -> SystemTime {
        self.start
    }

    /// Writes all metrics that [`Metrics`] counts, and those of the process.
    pub(crate) fn write(&self, out: &mut MetricSet) {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        out.gauge("andon_build_info", "The version that runs; always 1.");
        out.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);

        out.counter(
            "andon_requests_total",
            "Requests by the class of their status.",
        );
        for (class, count) in CLASSES.iter().zip(&self.requests) {
            out.sample(&[("status", class)], of(count));
        }
        out.counter("andon_response_bytes_total", "Bytes of response bodies.");
        out.value(of(&self.bytes));
        out.counter(
            "andon_errors_total",
            "Error responses, by cause and by whose fault it was.",
        );
        for ((cause, fault), count) in self.refusals().iter() {
            out.sample(&[("cause", cause), ("fault", fault)], *count as f64);
        }
        self.by_dialect.write(out);
        out.histogram(
            "andon_request_duration_seconds",
            "From a request's head to its reply, sending not included.",
        );
        self.answers.write(out, &[]);
        out.histogram(
            "andon_stage_duration_seconds",
            "What the time of answers went into.",
        );
        for (stage, histogram) in STAGES.iter().zip(&self.stages) {
            histogram.write(out, &[("stage", stage)]);
        }
        out.gauge("andon_connections", "Open connections.");
        out.value(self.connections.load(Ordering::Relaxed) as f64);
        out.counter(
            "andon_connections_rejected_total",
            "Connections closed at the connection limits: idle ones, and new ones.",
        );
        out.sample(&[("which", "idle")], of(&self.closed_idle));
        out.sample(&[("which", "new")], of(&self.rejected_connection));
        out.counter(
            "andon_results_lacking_letters_total",
            "Results with text for some of whose characters no font has a glyph.",
        );
        out.value(undrawn::results() as f64);
        out.counter("andon_reloads_total", "Reloads of the configuration.");
        out.sample(&[("outcome", "done")], of(&self.reloads));
        out.sample(&[("outcome", "refused")], of(&self.failed_reloads));
        out.gauge(
            "andon_last_reload_successful",
            "1 unless the last reload was refused.",
        );
        let has_failed = self.last_reload_failed.load(Ordering::Relaxed);
        out.value(f64::from(u8::from(!has_failed)));
        self.exports.write(out);
        process::write(out, self.start);
    }

    /// Locks the counts of errors. No code panics while it holds this lock, so poisoning is ignored.
    fn refusals(&self) -> MutexGuard<'_, BTreeMap<(&'static str, &'static str), u64>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard that counts one open connection.
#[derive(Debug)]
pub(crate) struct OpenConnection(std::sync::Arc<Metrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
