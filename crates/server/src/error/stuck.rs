//! The error for threads that do not return from their work, so that no new work can be started.

use std::fmt;
use std::time::Duration;

/// The error that all threads of one kind are stuck, or that worker processes cannot be started. `Display` is a public
/// sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The kind of threads that are stuck.
    pub threads: Threads,
    /// Number of threads of this kind, all of them stuck.
    pub count: usize,
    /// How long all of them have been stuck.
    pub since: Duration,
}

impl Stuck {
    /// Returns an error if worker processes currently cannot be started.
    pub(crate) fn of_processes() -> Option<Self> {
        let failure_start = andon_isolation::installed()?.failed()?;
        Some(Self {
            threads: Threads::Processes,
            count: 1,
            since: failure_start.elapsed(),
        })
    }
}

/// A kind of threads, or the worker processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Worker threads, which decode, transform and encode.
    Workers,
    /// Threads that read image headers and plan.
    Headers,
    /// Worker processes, in which third-party code reads formats.
    Processes,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            threads,
            count,
            since,
        } = self;
        let seconds = since.as_secs();
        let kind = match threads {
            Threads::Workers => "worker threads",
            Threads::Headers => "threads that read image headers",
            Threads::Processes => {
                return write!(
                    f,
                    "for {seconds} s no worker process could be started; formats that are read in one cannot be read until that is possible (it is tried every second)"
                );
            }
        };
        write!(
            f,
            "{count} of {count} {kind} have been stuck for {seconds} s; new images cannot be made until one returns or the server is restarted"
        )
    }
}
