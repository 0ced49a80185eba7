//! The `[timeouts]` table: time limits of connections, requests and the shutdown.

use std::time::Duration;

use andon_settings::check;
use serde::Deserialize;

use super::{ConfigError, Span};

/// The `[timeouts]` table: time limits of connections, requests and the shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// Time limit from the first byte of a request, or from the opening of its connection, to the end of its headers. Slower
    /// clients are disconnected.
    pub header: Span,
    /// Time limit from the end of an upload's headers to the end of its body. Slower uploads are answered with 408.
    pub body: Span,
    /// How long a connection may idle between two requests.
    pub keep_alive: Span,
    /// How long a client may read nothing of a reply that is ready for it. Slower clients are disconnected.
    pub write: Span,
    /// Time limit for one reply: waiting, reading and processing together. After that, the request is answered with 503.
    pub request: Span,
    /// How long the server goes on accepting connections after a signal to stop, while `/readyz` answers 503.
    pub grace: Span,
    /// How long accepted requests may take to finish after the `grace` period.
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
                    let time = span.0;
                    format!(
                        "{time:?} is not between \"10ms\", within which nothing is done, and a day (\"24h\")"
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
