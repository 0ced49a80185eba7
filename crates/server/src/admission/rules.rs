//! The rules by which the queue admits requests, and its rejections.

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
    /// Maximum number of admitted requests in addition to the running ones, as a backstop.
    pub most_waiting: usize,
    /// The longest predicted wait that is admitted under lasting overload.
    pub target_wait: Duration,
    /// The longest predicted wait that is ever admitted.
    pub max_wait: Duration,
}

/// A request that is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that the request violates.
    pub cause: Cause,
    /// Predicted queueing delay at the request's own turn. For [`Cause::Count`], this is the delay behind all other
    /// requests; for `Cause::Deadline`, it includes the time of the request's own work.
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

    /// Returns the number of requests below which everything with a predicted wait of up to `max_wait` is admitted.
    /// With fewer clients than this, each of which waits for its response, no request is rejected because of a wrong
    /// prediction, which is likely above all on a server that has just started. So few requests never count as
    /// overload.
    fn always_admitted(&self) -> usize {
        self.threads
            .saturating_mul(CLIENTS_PER_THREAD)
            .max(LEAST_CLIENTS)
    }

    /// Returns the longest wait that is admitted at `now`, while there are `count` requests. `over_target_since` is the
    /// time since which the predicted wait has been above `target_wait`, if it is.
    pub(super) fn limit(&self, count: usize, now: Now, over_target_since: Option<Now>) -> Duration {
        let is_burst = |since: Now| now.saturating_sub(since) <= BURST;
        if count < self.always_admitted() || over_target_since.is_none_or(is_burst) {
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

/// How long the predicted wait may be above `Rules::target_wait` before it counts as overload: the time in which a page
/// full of images requests all of them.
const BURST: Duration = Duration::from_millis(100);

/// Clients per worker thread that are always admitted, with one request each at a time.
const CLIENTS_PER_THREAD: usize = 32;

/// The least number of clients that are always admitted, however few threads there are.
const LEAST_CLIENTS: usize = 64;

/// The longest `Retry-After` in seconds, because no client should stay away longer due to a wrong prediction.
const LONGEST_RETRY: u32 = 60;
