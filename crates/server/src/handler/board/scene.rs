//! The state of the server at one moment, as the dashboard shows it.

use std::sync::Arc;
use std::time::Duration;

use andon_isolation::{Counts, Death};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::admission::AtWork;
use crate::handler::App;
use crate::handler::readiness::Readiness;
use crate::operations::metrics::Metrics;
use crate::origins::RESULTS;
use crate::results::making::Maker;

/// Returns the state of the worker processes as JSON.
fn processes(now: &Counts) -> Value {
    let deaths = Death::ALL.iter().zip(now.deaths);
    let deaths: Vec<Value> = deaths
        .map(|(it, count)| json!([it.name(), count]))
        .collect();
    json!({
        "busy": now.busy, "idle": now.idle, "resident": now.resident, "jobs": now.jobs,
        "deaths": deaths, "suspects": now.suspects,
    })
}

/// The parts of the server that the dashboard's state is read from.
pub(super) struct Scene {
    maker: Arc<Maker>,
    metrics: Arc<Metrics>,
    readiness: Arc<Readiness>,
}

impl Scene {
    pub(super) fn of(app: &App) -> Self {
        Self {
            maker: app.maker.clone(),
            metrics: app.metrics.clone(),
            readiness: app.readiness.clone(),
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.readiness.is_stopping()
    }

    /// Starts or stops recording slow requests. They are recorded only while somebody watches the dashboard.
    pub(super) fn watch(&self, is_watched: bool) {
        self.metrics.slowest.watch(is_watched);
    }

    /// Returns the current state as one server-sent event.
    pub(super) fn event(&self) -> Bytes {
        format!("data: {}\n\n", self.to_json()).into()
    }

    fn to_json(&self) -> Value {
        let now = self.maker.admission.gauges();
        let workers: Vec<Value> = self.maker.admission.at_work().iter().map(worker).collect();
        let counters = now.counters;
        let rejection = |cause: &str, count: u64, advice: &str| json!({ "cause": cause, "count": count, "advice": advice });
        let stats = self.maker.results.cache.stats();
        let memory = stats.memory;
        let tier = |name: &str, [hits, stale, misses, entries, bytes, limit]: [u64; 6]| {
            json!({
                "name": name, "hits": hits, "stale": stale, "misses": misses,
                "entries": entries, "bytes": bytes, "limit": limit,
            })
        };
        let mut tiers = vec![tier(
            "memory",
            [
                memory.hits,
                memory.stale,
                memory.misses,
                memory.entries,
                memory.bytes,
                memory.limit,
            ],
        )];
        tiers.extend(stats.disk.map(|disk| {
            let numbers = [
                disk.hits,
                disk.stale,
                disk.misses,
                disk.entries,
                disk.bytes,
                disk.limit,
            ];
            tier("disk", numbers)
        }));
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "workers": workers,
            "processes": andon_isolation::installed().map(|pool| processes(&pool.counts())),
            "queue": { "waiting": now.waiting, "delay_ms": millis(now.predicted_wait) },
            "memory": { "reserved": now.budget_used, "budget": now.budget_total },
            "done": counters.done,
            "tiers": tiers,
            "rejections": [
                rejection("queue", counters.refused_count, "The queue is full: more workers or machines, or a longer `queue`."),
                rejection("wait", counters.refused_wait, "The predicted delay is over `target_wait`: more workers or machines, or a larger cache."),
                rejection("deadline", counters.refused_deadline, "Images would miss `timeouts.request`: look for slow ones below."),
                rejection("stuck", counters.refused_stuck, "All worker threads were stuck: restart the server, and look for the images below."),
                rejection("memory", counters.refused_memory, "An image alone is over `memory_budget`: raise it, or lower `limits.pixels`."),
            ],
            "metrics": self.metrics.to_json(),
            "origins": self.origins(),
            "slowest": self.slowest(),
            "threads": now.threads,
            "last": self.metrics.history.last(),
        })
    }

    fn origins(&self) -> Vec<Value> {
        let readings = self.maker.resolver.origins().readings();
        let origin = |reading: crate::origins::Reading<'_>| {
            let results = reading.figures.results();
            let total = |names: &[&str]| -> u64 {
                let counts = RESULTS.iter().zip(results);
                counts
                    .filter(|(name, _)| names.contains(name))
                    .map(|(_, count)| count)
                    .sum()
            };
            let good = total(&["ok", "not_modified"]);
            let missing = total(&["not_found"]);
            json!({
                "name": reading.name,
                "good": good,
                "missing": missing,
                "failed": results.iter().sum::<u64>() - good - missing,
                "bytes": reading.figures.bytes(),
                "busy": reading.line.map(|line| line.busy),
                "slots": reading.line.map(|line| line.slots),
            })
        };
        readings.map(origin).collect()
    }

    fn slowest(&self) -> Vec<Value> {
        let slowest = self.metrics.slowest.read().into_iter();
        let row = |(ago, entry): (Duration, crate::operations::entry::Entry)| {
            let stages = entry.stages.iter();
            let stages: Vec<Value> = stages
                .map(|(name, time)| json!([name, millis(*time)]))
                .collect();
            json!({
                "target": entry.shortened_target(),
                "status": entry.status.as_u16(),
                "ms": millis(entry.total),
                "ago_s": ago.as_secs(),
                "stages": stages,
            })
        };
        slowest.map(row).collect()
    }
}

fn worker(work: &Option<AtWork>) -> Value {
    let Some(work) = work else { return Value::Null };
    let (from, to) = work.kind;
    json!({
        "job": format!("{from} to {to}"),
        "plan": work.plan.as_ref().map(ToString::to_string),
        "along": work.along,
        "age_ms": millis(work.since.elapsed()),
    })
}

/// Converts a duration to milliseconds, rounded to tenths.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}
