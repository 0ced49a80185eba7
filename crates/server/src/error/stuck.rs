//! Threads that do not come back from their work, so that nothing new can be begun.

use std::fmt;
use std::time::Duration;

/// All threads of a kind are stuck. `Display` is a public sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Which threads.
    pub threads: Threads,
    /// How many there are, each of them stuck.
    pub count: usize,
    /// For how long all of them have been.
    pub since: Duration,
}

impl Stuck {
    /// Can no worker process be started?
    pub(crate) fn of_processes() -> Option<Self> {
        let failed = andon_isolation::installed()?.failed()?;
        Some(Self {
            threads: Threads::Processes,
            count: 1,
            since: failed.elapsed(),
        })
    }
}

/// A kind of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Those that decode, transform and encode.
    Workers,
    /// Those that read headers and plan.
    Headers,
    /// Processes that read the formats of others: none can be started.
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
