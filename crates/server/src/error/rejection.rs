//! Refusals for load.

use std::fmt;
use std::time::Duration;

/// A refusal for load. `Display` is part of a public sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The limit for which the request was rejected.
    pub cause: Cause,
    /// How long the request would have waited, as far as anybody knows; for [`Cause::Deadline`], its work
    /// included.
    pub wait: Duration,
    /// The longest that it might have been; nothing for [`Cause::Count`].
    pub limit: Duration,
    /// Whole seconds after which the queue should be gone.
    pub retry_after: u32,
}

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// As many wait as may (`queue`).
    Count,
    /// The predicted wait is too long (`target_wait`, `max_wait`).
    Wait,
    /// It would not be ready by its deadline.
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
    /// One word for logs and metrics.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Count => "queue",
            Self::Wait => "busy",
            Self::Deadline => "deadline",
        }
    }
}
