//! What the client saw in one block's measured window.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Latencies;

/// The measured window, as the client saw it. Warm-up and ramp-up are not in it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoadResult {
    /// Length of the window in seconds: from its first intended start to its last completion.
    pub seconds: f64,
    /// Connections asked for.
    pub connections: u32,
    /// Requests begun.
    pub sent: u64,
    /// Replies that arrived whole and as expected.
    pub completed: u64,
    /// What went wrong, by kind.
    pub failures: Failures,
    /// Arrivals that an open loop should have sent within the window but could not: every connection was taken.
    pub missed_sends: u64,
    /// Bytes received, heads included.
    pub bytes_total: u64,
    /// Bytes of bodies received.
    pub bytes_body: u64,
    /// From the intended start (closed loop: the true start) to the last byte. Free of coordinated omission in
    /// an open loop.
    pub total: Latencies,
    /// From the true start to the last byte: what closed-loop tools print.
    pub service: Latencies,
    /// Connecting; empty where connections were kept.
    pub connect: Latencies,
    /// From the true start to the reply's head.
    pub waiting: Latencies,
    /// From the intended to the true start: what the client itself came late (open loop).
    pub send_lag: Latencies,
    /// Each URL's own figures, in the order of the scenario's list; of the first thousand.
    pub urls: Vec<UrlResult>,
    /// What each connection got.
    pub per_connection: Vec<ConnectionUse>,
    /// Requests in flight, averaged over the window: the sum of all service times through its length.
    pub in_flight: f64,
    /// The window in slices of equal length, for drift and timelines.
    pub bins: Vec<Bin>,
    /// A sample of single replies for the scatter figure: at most a few thousand, evenly taken.
    pub points: Vec<Point>,
    /// Distinct replies and how often each came.
    pub bodies: Vec<BodySeen>,
}

/// Requests without a good reply, by what went wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// No connection.
    pub connect: u64,
    /// No whole reply in time.
    pub timeout: u64,
    /// The connection broke before the reply was whole.
    pub cut: u64,
    /// Not the expected status.
    pub status: u64,
    /// Not the expected media type.
    pub media_type: u64,
    /// A length other than this URL's first reply (only where the scenario asks for it).
    pub length: u64,
}

impl Failures {
    /// All kinds together.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    /// Each kind with its name in reports.
    fn kinds(&self) -> [(&'static str, u64); 6] {
        [
            ("connect", self.connect),
            ("timeout", self.timeout),
            ("cut", self.cut),
            ("status", self.status),
            ("type", self.media_type),
            ("length", self.length),
        ]
    }
}

/// `3 (timeout 1, status 2)`.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.all())?;
        let kinds = self.kinds().into_iter().filter(|(_, count)| *count > 0);
        let kinds: Vec<String> = kinds
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        if kinds.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", kinds.join(", "))
    }
}

impl std::ops::AddAssign for Failures {
    fn add_assign(&mut self, more: Self) {
        self.connect += more.connect;
        self.timeout += more.timeout;
        self.cut += more.cut;
        self.status += more.status;
        self.media_type += more.media_type;
        self.length += more.length;
    }
}

/// One URL's share.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UrlResult {
    /// The target as sent, e.g. `/resize/w/150/h/150/a.jpg`.
    pub url: String,
    /// Replies that arrived whole and as expected.
    pub completed: u64,
    /// The others.
    pub failures: u64,
    /// Bytes of bodies.
    pub bytes_body: u64,
    /// As `LoadResult::total`.
    pub total: Latencies,
    /// Why its first failure was one: `connection refused`, `status 415, expected 200`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One connection's share: shows starved ones.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ConnectionUse {
    /// Replies.
    pub completed: u64,
    /// The longest time between two replies, in seconds; the window's edges count as replies.
    pub longest_wait: f64,
}

/// A slice of the window.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Bin {
    /// Its start, seconds since the window's.
    pub at: f64,
    /// Its length in seconds.
    pub seconds: f64,
    /// Replies that ended in it.
    pub completed: u64,
    /// Median latency in seconds; 0 without replies.
    pub p50: f64,
    /// 99th percentile in seconds; 0 without replies.
    pub p99: f64,
    /// Replies that were late, where a time was told beyond which they are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One reply of the sample.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// When it ended, seconds since the window's start.
    pub at: f64,
    /// Its latency in seconds.
    pub latency: f64,
    /// Index of its URL.
    pub url: u32,
    /// Was it as expected?
    pub good: bool,
}

/// A distinct reply of one URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodySeen {
    /// Index of the URL.
    pub url: u32,
    /// The response with the body.
    pub reply: Reply,
    /// The number of times that this response came.
    pub count: u64,
}

/// What makes replies of one URL equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type` without parameters, lower-case; empty without.
    pub media_type: String,
    /// Length of the body in bytes.
    pub length: u64,
    /// BLAKE3 of the body, in hex; the body is in `bodies/` under this name. Empty when bodies are not hashed.
    pub hash: String,
}

/// What the client itself cost in the window.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ClientCost {
    /// CPU seconds of its threads.
    pub cpu_seconds: f64,
    /// Threads that sent.
    pub threads: u32,
    /// Share of its threads' time that it was busy, 0 to 1: near 1, the client was the bottleneck.
    pub busy: f64,
    /// Requests per second that the same client reached against a null responder with the same kind of load and
    /// bodies of about the same size; 0 where it was not tried.
    pub ceiling: f64,
}
