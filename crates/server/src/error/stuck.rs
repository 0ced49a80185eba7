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

/// A kind of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Those that decode, transform and encode.
    Workers,
    /// Those that read headers and plan.
    Headers,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            threads,
            count,
            since,
        } = self;
        let kind = match threads {
            Threads::Workers => "worker threads",
            Threads::Headers => "threads that read image headers",
        };
        write!(
            f,
            "{count} of {count} {kind} have been stuck for {:.0} s; new images cannot be made until one returns or the server is restarted",
            since.as_secs_f64()
        )
    }
}
