//! Metrics of the worker processes.

use andon_isolation::{Counts, Death};

use crate::prometheus::Exposition;

/// Writes the metrics of the worker processes. They are those of the whole program, so reloads do not reset them.
pub(crate) fn write(out: &mut Exposition, now: &Counts) {
    out.gauge("andon_processes", "Worker processes, by what they do.");
    for (state, count) in [("idle", now.idle), ("busy", now.busy)] {
        out.sample("", &[("state", state)], count as f64);
    }
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
    for (death, count) in Death::ALL.into_iter().zip(now.deaths) {
        out.sample("", &[("cause", death.name())], count as f64);
    }
    out.gauge(
        "andon_process_suspects",
        "Source files on which a worker process ended; from the second time on they are refused for sandbox.suspect.",
    );
    out.value(now.suspects as f64);
}
