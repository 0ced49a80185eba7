//! Requests that are rejected because of load.

use std::fmt;
use std::time::Duration;

/// A request was rejected because of load. `Display` is part of a public sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The limit for which the request was rejected.
    pub cause: Cause,
    /// Estimated time that the request would have waited. For [`Cause::Deadline`], it includes the request's own work.
    pub wait: Duration,
    /// The limit that `wait` exceeds; zero for [`Cause::Count`].
    pub limit: Duration,
    /// Number of whole seconds after which a retry may succeed: when the request would have had its turn or, for
    /// [`Cause::Deadline`], its result.
    pub retry_after: u32,
}

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The queue is full (`queue`).
    Count,
    /// The predicted wait is too long (`target_wait`, `max_wait`).
    Wait,
    /// The request would not be ready by its deadline.
    Deadline,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wait, limit) = (self.wait.as_secs_f64(), self.limit.as_secs_f64());
        match self.cause {
            Cause::Count => write!(f, "overloaded: the queue is full")?,
            Cause::Wait => write!(
                f,
                "overloaded: the predicted queueing delay is {wait:.1} s, the limit is {limit:.1} s"
            )?,
            Cause::Deadline => write!(
                f,
                "overloaded: the image would be ready in {wait:.1} s, the request times out in {limit:.1} s"
            )?,
        }
        write!(f, "; retry in {} s", self.retry_after)
    }
}

impl Cause {
    /// Returns the cause's label in logs and metrics, a single word.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Count => "queue",
            Self::Wait => "busy",
            Self::Deadline => "deadline",
        }
    }
}
