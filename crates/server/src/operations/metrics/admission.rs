//! Metrics of the queue for worker threads, and of the memory that is reserved for its work.

use crate::admission::Gauges;
use crate::prometheus::{Metric, MetricSet};

/// Writes how many image headers are being read, and how many of these have taken too long.
pub(crate) fn write_headers(out: &mut MetricSet, counts: [usize; 2]) {
    out.metrics(HEADERS, Some(&counts));
}

/// Writes the metrics of the admission of images to worker threads. Reloads do not reset them.
pub(crate) fn write(out: &mut MetricSet, now: &Gauges) {
    out.metrics(LOAD, Some(now));
    out.counter(
        "andon_admission_total",
        "Images that asked for a worker thread, by what became of it.",
    );
    let counters = &now.counters;
    let outcomes = [
        ("admitted", counters.admitted),
        ("refused_count", counters.refused_count),
        ("refused_wait", counters.refused_wait),
        ("refused_deadline", counters.refused_deadline),
        ("refused_memory", counters.refused_memory),
        ("refused_stuck", counters.refused_stuck),
        ("dropped", counters.dropped),
        ("done", counters.done),
        ("panicked", counters.panicked),
    ];
    out.samples("outcome", outcomes);
    out.metrics(WORK, Some(now));
}

/// The image headers that are being read, and those that are stuck.
const HEADERS: &[Metric<[usize; 2]>] = &[
    Metric::Gauge(
        "andon_headers_reading",
        "Image headers that are being read by threads of their own.",
        |[reading, _]| *reading as f64,
    ),
    Metric::Gauge(
        "andon_headers_stuck",
        "Image headers that have been read for more than 5 s; each takes a thread.",
        |[_, stuck]| *stuck as f64,
    ),
];

const LOAD: &[Metric<Gauges>] = &[
    Metric::Gauge(
        "andon_queue_length",
        "Images that wait for a worker thread.",
        |now| now.waiting as f64,
    ),
    Metric::Gauge("andon_pixel_jobs", "Images on a worker thread.", |now| {
        now.running as f64
    }),
    Metric::Gauge(
        "andon_worker_threads",
        "Threads that work on images.",
        |now| now.threads as f64,
    ),
    Metric::Gauge(
        "andon_workers_stuck",
        "Worker threads at a job whose deadline passed more than 10 s ago.",
        |now| now.stuck as f64,
    ),
    Metric::Gauge(
        "andon_predicted_wait_seconds",
        "Predicted queueing delay of a new lowest-priority request.",
        |now| now.predicted_wait.as_secs_f64(),
    ),
    Metric::Gauge(
        "andon_memory_planned_bytes",
        "Planned peaks of everything that is worked on.",
        |now| now.budget_used as f64,
    ),
    Metric::Gauge(
        "andon_memory_budget_bytes",
        "What the planned peaks may come to.",
        |now| now.budget_total as f64,
    ),
    Metric::Gauge(
        "andon_frame_cache_bytes",
        "Decoded frames that are cached for further sizes of their images.",
        |now| now.frames_bytes as f64,
    ),
    Metric::Gauge(
        "andon_free_buffers_bytes",
        "Buffers of finished work that are kept for the next, within the budget.",
        |now| now.free_buffers_bytes as f64,
    ),
];

const WORK: &[Metric<Gauges>] = &[
    Metric::Counter(
        "andon_stolen_tasks_total",
        "Tasks that an idle worker thread stole from another one's image.",
        |now| now.counters.stolen as f64,
    ),
    Metric::Counter("andon_decodes_total", "Source images decoded.", |now| {
        now.counters.decodes as f64
    }),
    Metric::Counter(
        "andon_decodes_shared_total",
        "Results that began with an image decoded for another size of it.",
        |now| now.counters.decodes_shared as f64,
    ),
    Metric::Counter(
        "andon_frame_cache_hits_total",
        "Results that began with a decoded frame from the frame cache.",
        |now| now.counters.frame_hits as f64,
    ),
];
