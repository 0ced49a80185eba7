//! Metrics of the worker processes.

use andon_isolation::{Counts, Death};

use crate::prometheus::MetricSet;

/// Writes the metrics of the worker processes. They are those of the whole program, so reloads do not reset them.
pub(crate) fn write(out: &mut MetricSet, now: &Counts) {
    out.gauge("andon_processes", "Worker processes, by what they do.");
    out.samples("state", [("idle", now.idle), ("busy", now.busy)]);
    out.gauge(
        "andon_processes_resident_bytes",
        "Memory of the worker processes after their last jobs.",
    );
    out.value(now.resident as f64);
    out.counter(
        "andon_processes_started_total",
        "Worker processes that were started.",
    );
    out.value(now.started as f64);
    out.counter(
        "andon_process_jobs_total",
        "Jobs that worker processes have answered.",
    );
    out.value(now.jobs as f64);
    out.counter(
        "andon_process_deaths_total",
        "Worker processes that ended before their time, by the cause: a crash, too much processor time, not stopping when told, \
         the system, an answer that was none.",
    );
    let causes = Death::ALL.into_iter().map(Death::name);
    out.samples("cause", causes.zip(now.deaths));
    out.gauge(
        "andon_process_suspects",
        "Source files on which a worker process ended; from the second time on they are refused for sandbox.suspect.",
    );
    out.value(now.suspects as f64);
}
