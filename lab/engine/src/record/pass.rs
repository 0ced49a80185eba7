//! Passes outside of the timed blocks: system calls per request, instructions per request.

use serde::{Deserialize, Serialize};

use super::Reading;

/// One variant's counting pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Index of its variant.
    pub variant: u32,
    /// What counted: `strace 6.1`, `callgrind 3.19.0`; or why nothing could: `not available: …`.
    pub method: String,
    /// Requests that the figures are of: those in which two windows differ.
    pub requests: u64,
    /// Mean time per request in seconds while counting, through that without: what observing cost. 0 if unknown.
    pub slowdown: f64,
    /// Per system call, children included, the same pass without requests taken off.
    pub syscalls: Vec<SyscallRow>,
    /// Instructions per request (callgrind), start-up taken off; `None` if not counted.
    pub instructions: Option<f64>,
    /// Assertions that are read from this pass.
    #[serde(alias = "witnesses")]
    pub assertions: Vec<Reading>,
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
    /// Microseconds of one call by the wall clock, waiting and the cost of watching included; 0 if not known.
    pub microseconds: f64,
}
