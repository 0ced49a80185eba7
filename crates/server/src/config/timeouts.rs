//! `[timeouts]`: how long things may take.

use std::time::Duration;

use andon_settings::check;
use serde::Deserialize;

use super::{ConfigError, Span};

/// `[timeouts]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// From the first byte of a request to the end of its headers (on a new connection: from its
    /// opening). A slower client is dropped.
    pub header: Span,
    /// From the end of an upload's headers to the end of its body. A slower one is answered with 408.
    pub body: Span,
    /// How long a connection may idle between two requests.
    pub keep_alive: Span,
    /// How long a client may take no byte of a reply that waits for it. A slower one is dropped.
    pub write: Span,
    /// For one answer: waiting, reading and pixel work together. Then 503.
    pub request: Span,
    /// How long the server goes on accepting once it is told to stop, while `/readyz` says so.
    pub grace: Span,
    /// How long accepted requests may take to finish after that.
    pub shutdown: Span,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = |seconds| Span(Duration::from_secs(seconds));
        Self {
            header: seconds(10),
            body: seconds(30),
            keep_alive: seconds(75),
            write: seconds(30),
            request: seconds(30),
            grace: seconds(0),
            shutdown: seconds(30),
        }
    }
}

impl Timeouts {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        for (key, span) in [
            ("header", self.header),
            ("body", self.body),
            ("keep_alive", self.keep_alive),
            ("write", self.write),
            ("request", self.request),
            ("shutdown", self.shutdown),
        ] {
            check(
                (SHORTEST..=LONGEST).contains(&span.0),
                format!("timeouts.{key}"),
                || {
                    let said = span.0;
                    format!(
                        "{said:?} is not between \"10ms\", within which nothing is done, and a day (\"24h\")"
                    )
                },
            )?;
        }
        check(self.grace.0 <= LONGEST, "timeouts.grace", || {
            "must be at most a day (\"24h\")".to_owned()
        })
    }
}

const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(24 * 3600);
