//! Counting passes outside the timed blocks: system calls per request and instructions per request.

use serde::{Deserialize, Serialize};

use super::Reading;

/// Counts of one variant's system calls or instructions per request, made in a pass outside the timed blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Index of the variant in the run's header.
    pub variant: u32,
    /// The method of counting, e.g. `strace 6.1` or `callgrind 3.19.0`, or why nothing could be counted: `not
    /// available: …`.
    pub method: String,
    /// Number of requests that the results are based on. Two measurements, one with this many requests more than the
    /// other, are subtracted.
    pub requests: u64,
    /// Mean time per request while counting divided by that without counting, which shows the cost of observation; 0 if
    /// unknown.
    pub slowdown: f64,
    /// One row per system call, including those of child processes. Calls that the server makes without requests are
    /// subtracted.
    pub syscalls: Vec<SyscallRow>,
    /// Instructions per request, counted by callgrind, with start-up subtracted; `None` if not counted.
    pub instructions: Option<f64>,
    /// Readings of the variant's assertions about system calls, which only this counting pass can evaluate.
    #[serde(alias = "witnesses")]
    pub assertions: Vec<Reading>,
}

/// Rate, failures and duration of one system call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyscallRow {
    /// Name of the call, e.g. `openat`.
    pub name: String,
    /// Number of calls of this system call per request.
    pub calls: f64,
    /// Failed calls per request; 0 where the method cannot tell.
    pub errors: f64,
    /// Mean wall-clock time of one call in µs, including waiting and the cost of observation; 0 if unknown.
    pub microseconds: f64,
}
