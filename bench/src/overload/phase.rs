//! What one stretch of load came to.

use std::time::Duration;

use serde::Serialize;

use super::open_loop::{Answer, Kind};
use crate::stats::quantile;

/// One stretch.
#[derive(Serialize)]
pub(super) struct Phase {
    /// Requests for pictures per second, as they were sent.
    offered_per_second: f64,
    /// Those that were answered with a picture.
    pub(super) pictures_per_second: f64,
    pub(super) accepted: Latency,
    /// 503.
    refused: Latency,
    /// Anything else: there should be none.
    others: usize,
    /// The picture that was asked for before.
    repeated: Latency,
    repeated_refused: usize,
    health: Latency,
}

/// How long replies of one kind took, from when they were due.
#[derive(Serialize)]
pub(super) struct Latency {
    count: usize,
    p50_ms: f64,
    pub(super) p99_ms: f64,
    longest_ms: f64,
}

impl Phase {
    pub(super) fn of(answers: &[Answer], time: Duration) -> Self {
        let latency = |kind, status| {
            let times: Vec<f64> = answers
                .iter()
                .filter(|answer| (answer.kind, answer.status) == (kind, status))
                .map(|answer| answer.took_ms)
                .collect();
            Latency::of(&times)
        };
        let pictures = || answers.iter().filter(|answer| answer.kind == Kind::Picture);
        let end = pictures()
            .filter(|answer| answer.status == 200)
            .map(|answer| answer.due_seconds + answer.took_ms / 1e3)
            .fold(time.as_secs_f64(), f64::max);
        let accepted = latency(Kind::Picture, 200);
        Self {
            offered_per_second: pictures().count() as f64 / time.as_secs_f64(),
            // The last ones were ready some time after the last was sent.
            pictures_per_second: accepted.count as f64 / end,
            accepted,
            refused: latency(Kind::Picture, 503),
            others: pictures()
                .filter(|answer| !matches!(answer.status, 200 | 503))
                .count(),
            repeated: latency(Kind::Repeat, 200),
            repeated_refused: latency(Kind::Repeat, 503).count,
            health: latency(Kind::Health, 200),
        }
    }

    pub(super) fn print(&self, name: &str) {
        println!(
            "{name:22} {:.1}/s offered, {:.1}/s made (p50 {:.0} ms, p99 {:.0} ms), {} refused (p99 {:.1} ms), {} others",
            self.offered_per_second,
            self.pictures_per_second,
            self.accepted.p50_ms,
            self.accepted.p99_ms,
            self.refused.count,
            self.refused.p99_ms,
            self.others
        );
        println!(
            "{:22} /healthz p99 {:.1} ms; the same picture again: {} made (p99 {:.1} ms), {} refused",
            "",
            self.health.p99_ms,
            self.repeated.count,
            self.repeated.p99_ms,
            self.repeated_refused
        );
    }
}

impl Latency {
    fn of(times: &[f64]) -> Self {
        Self {
            count: times.len(),
            p50_ms: quantile(times, 0.5),
            p99_ms: quantile(times, 0.99),
            longest_ms: quantile(times, 1.0),
        }
    }
}
