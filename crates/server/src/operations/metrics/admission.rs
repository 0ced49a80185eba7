//! Metrics of the queue for pixel threads, and of the memory planned for it.

use crate::admission::Gauges;
use crate::prometheus::Exposition;

/// Writes how many image headers are being read, and how many of these have taken too long.
pub(crate) fn write_headers(out: &mut Exposition, [reading, stuck]: [usize; 2]) {
    for (name, help, value) in [
        (
            "andon_headers_reading",
            "Image headers that are being read by threads of their own.",
            reading,
        ),
        (
            "andon_headers_stuck",
            "Image headers that have been read for more than 5 s; each takes a thread.",
            stuck,
        ),
    ] {
        out.gauge(name, help);
        out.value(value as f64);
    }
}

/// Writes the metrics of admission. Reloads do not reset them.
pub(crate) fn write(out: &mut Exposition, now: &Gauges) {
    for (name, help, value) in [
        (
            "andon_queue_length",
            "Images that wait for a pixel thread.",
            now.waiting as f64,
        ),
        (
            "andon_pixel_jobs",
            "Images on a pixel thread.",
            now.running as f64,
        ),
        (
            "andon_worker_threads",
            "Threads that work on images.",
            now.threads as f64,
        ),
        (
            "andon_workers_stuck",
            "Worker threads at a job whose deadline passed more than 10 s ago.",
            now.stuck as f64,
        ),
        (
            "andon_predicted_wait_seconds",
            "Predicted queueing delay of a new lowest-priority request.",
            now.predicted_wait.as_secs_f64(),
        ),
        (
            "andon_memory_planned_bytes",
            "Planned peaks of everything that is worked on.",
            now.budget_used as f64,
        ),
        (
            "andon_memory_budget_bytes",
            "What the planned peaks may come to.",
            now.budget_total as f64,
        ),
        (
            "andon_frame_cache_bytes",
            "Decoded frames that are cached for further sizes of their images.",
            now.frames_bytes as f64,
        ),
        (
            "andon_free_buffers_bytes",
            "Buffers of finished work that are kept for the next, within the budget.",
            now.free_buffers_bytes as f64,
        ),
    ] {
        out.gauge(name, help);
        out.value(value);
    }
    let counted = &now.counters;
    out.counter(
        "andon_admission_total",
        "Images that asked for a pixel thread, by what became of it.",
    );
    for (outcome, count) in [
        ("admitted", counted.admitted),
        ("refused_count", counted.refused_count),
        ("refused_wait", counted.refused_wait),
        ("refused_deadline", counted.refused_deadline),
        ("refused_memory", counted.refused_memory),
        ("refused_stuck", counted.refused_stuck),
        ("dropped", counted.dropped),
        ("done", counted.done),
        ("panicked", counted.panicked),
    ] {
        out.sample("", &[("outcome", outcome)], count as f64);
    }
    for (name, help, count) in [
        (
            "andon_stolen_tasks_total",
            "Tasks that an idle worker thread stole from another one's image.",
            counted.stolen,
        ),
        (
            "andon_decodes_total",
            "Source images decoded.",
            counted.decodes,
        ),
        (
            "andon_decodes_shared_total",
            "Results that began with an image decoded for another size of it.",
            counted.decodes_shared,
        ),
        (
            "andon_frame_cache_hits_total",
            "Results that began with a decoded frame from the frame cache.",
            counted.frame_hits,
        ),
    ] {
        out.counter(name, help);
        out.value(count as f64);
    }
}
