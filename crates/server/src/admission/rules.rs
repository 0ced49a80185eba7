//! The rules by which the queue admits requests, and what it says to those that it refuses.

use std::time::Duration;

use crate::config::Config;
use crate::error::{Cause, Error, Rejection};

/// Time since the server started.
pub type Now = Duration;

/// The configured rules of the queue. A reload may change all of them.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Number of worker threads.
    pub threads: usize,
    /// The most requests that may be admitted in addition to those that run: a backstop.
    pub most_waiting: usize,
    /// The longest predicted wait that is admitted under lasting overload.
    pub target_wait: Duration,
    /// The longest predicted wait that is ever admitted.
    pub max_wait: Duration,
}

/// A request that is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which rule the request failed.
    pub cause: Cause,
    /// How long the request would have waited at its own turn. For [`Cause::Count`], this is the wait behind all
    /// others; for `Cause::Deadline`, the time of its own work is included.
    pub wait: Duration,
    /// The limit that `wait` exceeds; zero for [`Cause::Count`].
    pub limit: Duration,
}

impl Rules {
    /// Returns the rules of a configuration.
    pub(super) fn of(config: &Config) -> Self {
        Self {
            threads: config.workers(),
            most_waiting: config.queue,
            target_wait: config.target_wait.0,
            max_wait: config.max_wait.0,
        }
    }

    /// Number of requests below which everything with a predicted wait of up to `max_wait` is admitted. It allows for
    /// that many clients that wait for each reply. Predictions are sometimes wrong, above all on a server that was just
    /// started, and so few jobs are never overload.
    fn always_admitted(&self) -> usize {
        self.threads
            .saturating_mul(CLIENTS_PER_THREAD)
            .max(CLIENTS_AT_LEAST)
    }

    /// Returns the longest wait that is admitted at `now`, while there are `admitted` requests and the predicted wait
    /// has been above the target since `over_target`, if it is.
    pub(super) fn limit(&self, admitted: usize, now: Now, over_target: Option<Now>) -> Duration {
        let is_burst = |since: Now| now.saturating_sub(since) <= BURST;
        if admitted < self.always_admitted() || over_target.is_none_or(is_burst) {
            self.max_wait
        } else {
            self.target_wait.min(self.max_wait)
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let Refusal { cause, wait, limit } = refusal;
        let seconds = wait.as_secs_f64().ceil();
        Self::Refused(Rejection {
            cause,
            wait,
            limit,
            retry_after: (seconds as u32).clamp(1, LONGEST_RETRY),
        })
    }
}

/// How long the predicted wait may be above the target before it counts as overload: long enough for a page full of
/// images to request them all.
const BURST: Duration = Duration::from_millis(100);

/// Clients per worker thread that are always admitted, with one request each at a time.
const CLIENTS_PER_THREAD: usize = 32;

/// The least number of clients that are always admitted, however few threads there are.
const CLIENTS_AT_LEAST: usize = 64;

/// The longest `Retry-After` in seconds: no client should stay away longer because of a wrong prediction.
const LONGEST_RETRY: u32 = 60;
