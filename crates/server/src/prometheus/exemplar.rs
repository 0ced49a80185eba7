//! Exemplars: the trace of one request as an example of a histogram bucket.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// One observation in a histogram bucket, with the span of the request that it measured.
#[derive(Clone, Debug)]
pub(crate) struct Exemplar {
    /// The trace's id: 32 hexadecimal digits.
    pub(crate) trace_id: String,
    /// The id of the request's span: 16 hexadecimal digits.
    pub(crate) span_id: String,
    pub(crate) took: Duration,
    /// When the observation was made.
    pub(crate) at: SystemTime,
}

/// Writes the exemplar as OpenMetrics appends it to a sample: labels, value, and seconds since 1970.
impl fmt::Display for Exemplar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            trace_id,
            span_id,
            took,
            at,
        } = self;
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        write!(
            f,
            "{{trace_id=\"{trace_id}\",span_id=\"{span_id}\"}} {} {:.3}",
            took.as_secs_f64(),
            since.as_secs_f64()
        )
    }
}
