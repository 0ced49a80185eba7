//! The results of one phase of load.

use std::time::Duration;

use serde::Serialize;

use super::open_loop::{Answer, Kind};
use crate::stats::Latency;

/// The results of one phase. Latencies count from when a request was due.
#[derive(Serialize)]
pub(super) struct Phase {
    /// Image requests that were sent, per second.
    offered_per_second: f64,
    /// Image requests that were answered with an image, per second.
    pub(super) images_per_second: f64,
    /// Goodput: milliseconds of work in the rendered images per second (see [`crate::work`]).
    pub(super) work_per_second: f64,
    pub(super) accepted: Latency,
    /// Latency of image requests whose response was a 503.
    pub(super) refused: Latency,
    /// Image requests whose status was neither 200 nor 503. There should be none.
    pub(super) others: usize,
    /// Latency of repeated images that were cache hits.
    pub(super) hits: Latency,
    /// Repeated images that were no cache hits. There should be none.
    pub(super) missed: usize,
    health: Latency,
    /// How late the requests of all kinds were sent.
    late: Latency,
    /// CPU time of the clients, in cores: 1.0 is one busy core.
    client_cores: f64,
}

impl Phase {
    /// Computes the results from all `answers` to a load of length `time`. `work` returns the milliseconds of work in
    /// the images with the given indices.
    pub(super) fn of(
        answers: &[Answer],
        time: Duration,
        client_cores: f64,
        work: impl Fn(&[usize]) -> f64,
    ) -> Self {
        let of_kind = |kind| answers.iter().filter(move |answer| answer.kind == kind);
        let images = || of_kind(Kind::Image);
        let with_status = |status| images().filter(move |answer| answer.status == status);
        let took = |answer: &Answer| answer.took_ms;
        // The last images were ready some time after the last request was sent.
        let end = with_status(200)
            .map(|answer| answer.due_seconds + answer.took_ms / 1e3)
            .fold(time.as_secs_f64(), f64::max);
        let indices: Vec<usize> = with_status(200).map(|answer| answer.index).collect();
        Self {
            offered_per_second: images().count() as f64 / time.as_secs_f64(),
            images_per_second: indices.len() as f64 / end,
            work_per_second: work(&indices) / end,
            accepted: Latency::of(with_status(200).map(took)),
            refused: Latency::of(with_status(503).map(took)),
            others: images()
                .filter(|answer| !matches!(answer.status, 200 | 503))
                .count(),
            hits: Latency::of(of_kind(Kind::Repeat).filter(|answer| answer.hit).map(took)),
            missed: of_kind(Kind::Repeat).filter(|answer| !answer.hit).count(),
            health: Latency::of(of_kind(Kind::Health).map(took)),
            late: Latency::of(answers.iter().map(|answer| answer.late_ms)),
            client_cores,
        }
    }

    pub(super) fn print(&self, name: &str) {
        println!(
            "{name:18} {:.1}/s offered, {:.1}/s made ({:.0} ms of work/s, p50 {:.0} ms, p99 {:.0} ms), {} refused (p50 {:.1} ms, p99 {:.1} ms), {} others",
            self.offered_per_second,
            self.images_per_second,
            self.work_per_second,
            self.accepted.p50_ms,
            self.accepted.p99_ms,
            self.refused.count,
            self.refused.p50_ms,
            self.refused.p99_ms,
            self.others
        );
        println!(
            "{:18} {} hits (p50 {:.1} ms, p99 {:.1} ms), {} misses; /healthz p99 {:.1} ms; sent late p99 {:.1} ms; clients on {:.2} cores",
            "",
            self.hits.count,
            self.hits.p50_ms,
            self.hits.p99_ms,
            self.missed,
            self.health.p99_ms,
            self.late.p99_ms,
            self.client_cores
        );
    }
}
