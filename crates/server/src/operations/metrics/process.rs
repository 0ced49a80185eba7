//! Metrics of the process, under the names that every Prometheus exporter uses for them. Values that the system does
//! not provide are left out.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Resource, getrlimit};

use crate::prometheus::MetricSet;

pub(crate) fn write(out: &mut MetricSet, start: SystemTime) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(kibibytes) = field(&status, "VmRSS:") {
        out.gauge(
            "process_resident_memory_bytes",
            "Memory of the process that is in RAM.",
        );
        out.value(kibibytes * 1024.0);
    }
    if let Some(threads) = field(&status, "Threads:") {
        out.gauge("process_threads", "Threads of the process.");
        out.value(threads);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        out.gauge("process_open_fds", "Open files and sockets.");
        // Not counting the descriptor that lists the folder.
        out.value(open.count().saturating_sub(1) as f64);
    }
    if let Some(limit) = getrlimit(Resource::Nofile).current {
        out.gauge("process_max_fds", "Files and sockets that may be open.");
        out.value(limit as f64);
    }
    if let Ok(since) = start.duration_since(UNIX_EPOCH) {
        out.gauge(
            "process_start_time_seconds",
            "When the server started, in seconds since 1970.",
        );
        out.value(since.as_secs_f64());
    }
    if let Some(seconds) = processor_seconds() {
        out.counter(
            "process_cpu_seconds_total",
            "Processor time, user and system.",
        );
        out.value(seconds);
    }
}

/// Returns the number after `name` in `status`, the text of `/proc/self/status`.
fn field(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the CPU time of the process in seconds. `/proc/self/stat` counts it in ticks, after a process name that may
/// contain anything but is in parentheses.
pub(super) fn processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    let total = ticks()? + ticks()?;
    Some(total / rustix::param::clock_ticks_per_second() as f64)
}
