//! Passes outside of the timed blocks: system calls per request, instructions per request.

use serde::{Deserialize, Serialize};

use super::Reading;

/// One variant's counting pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Index of its variant.
    pub variant: u32,
    /// How it counted: `tracepoints`, `ptrace`, `callgrind`; or why it could not: `not available: …`.
    pub method: String,
    /// Requests that were sent while it counted.
    pub requests: u64,
    /// Mean time per request in seconds while counting, through that without: what observing cost. 0 if unknown.
    pub slowdown: f64,
    /// Per system call, children included, the same pass without requests taken off.
    pub syscalls: Vec<SyscallRow>,
    /// Instructions per request (callgrind), start-up taken off; `None` if not counted.
    pub instructions: Option<f64>,
    /// Witnesses that are read from this pass.
    pub witnesses: Vec<Reading>,
}

/// One system call's row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyscallRow {
    /// Its name, e.g. `openat`.
    pub name: String,
    /// Calls per request.
    pub calls: f64,
    /// Calls per request that failed; 0 where the method cannot tell.
    pub errors: f64,
    /// Microseconds of one call; 0 where the method cannot tell.
    pub microseconds: f64,
}
