//! What the client measured in the measured window of one block.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Latencies;

/// Results of the measured window as seen by the client. Warm-up and ramp-up are not included.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoadResult {
    /// Length of the measured window in seconds. A window that ends after a number of requests closes with the end of
    /// the last one.
    pub seconds: f64,
    /// Number of connections that the load uses.
    pub connections: u32,
    /// Number of requests of the measured window that have ended, good or bad.
    pub sent: u64,
    /// Number of replies that arrived complete and as expected.
    pub completed: u64,
    /// Numbers of failed requests, by kind of failure.
    pub failures: Failures,
    /// Number of arrivals of an open loop that were due within the window but never sent, since every connection was
    /// busy.
    pub missed_sends: u64,
    /// Bytes received, including approximate sizes of the heads.
    pub bytes_total: u64,
    /// Bytes received in reply bodies.
    pub bytes_body: u64,
    /// Time of good replies from the intended start (closed loop: the true start) to the last byte. In an open loop it
    /// is free of coordinated omission.
    pub total: Latencies,
    /// Time from the true start to the last byte: what closed-loop tools print.
    pub service: Latencies,
    /// Time to connect. Empty if connections were kept alive, so that none was opened.
    pub connect: Latencies,
    /// Time from the true start to the reply's head.
    pub waiting: Latencies,
    /// Time from the intended to the true start: how late the client itself was (open loop).
    pub send_lag: Latencies,
    /// Results for each of the first thousand URLs, in the order of the scenario's list.
    pub urls: Vec<UrlResult>,
    /// Results of each connection.
    pub per_connection: Vec<ConnectionUse>,
    /// Mean number of requests in flight: the sum of all service times divided by the length of the window.
    pub in_flight: f64,
    /// Time slices of the window, of equal length, for drift and timelines.
    pub bins: Vec<Bin>,
    /// An evenly taken sample of single replies for the scatter figure, at most a few thousand.
    pub points: Vec<Point>,
    /// The distinct replies and how often each came.
    pub bodies: Vec<BodySeen>,
}

/// Numbers of requests without a good reply, by kind of failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// Number of requests for which no connection could be opened.
    pub connect: u64,
    /// Number of requests whose complete reply did not arrive in time.
    pub timeout: u64,
    /// Number of requests whose connection broke before the reply was complete.
    pub cut: u64,
    /// Number of replies with another status than expected.
    pub status: u64,
    /// Number of replies with another media type than expected.
    pub media_type: u64,
    /// Number of replies whose length differed from that of the URL's first reply (counted only if the scenario asks
    /// for it).
    pub length: u64,
}

impl Failures {
    /// Returns the number of failures of all kinds.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    /// Returns for each kind of failure its name in reports and its count.
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

/// Formats the total and the kinds, e.g. `3 (timeout 1, status 2)`.
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

/// Results of the requests for one URL in the measured window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UrlResult {
    /// The target as sent, e.g. `/resize/w/150/h/150/a.jpg`.
    pub url: String,
    /// Number of replies that arrived complete and as expected.
    pub completed: u64,
    /// Number of requests without a good reply.
    pub failures: u64,
    /// Bytes received in bodies of good replies.
    pub bytes_body: u64,
    /// Latencies, measured as in `LoadResult::total`.
    pub total: Latencies,
    /// Why the first failed request failed, e.g. `connection refused` or `status 415, expected 200`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Results of one connection, which show whether it was starved.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ConnectionUse {
    /// Number of good replies that the connection received.
    pub completed: u64,
    /// Longest time between two replies, in seconds. Failures and the edges of the window count as replies.
    pub longest_wait: f64,
}

/// A time slice of the measured window.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Bin {
    /// Start of the slice, in seconds since the window opened.
    pub at: f64,
    /// Length of the slice in seconds.
    pub seconds: f64,
    /// Number of good replies that ended within the slice.
    pub completed: u64,
    /// Median latency in seconds; 0 without good replies.
    pub p50: f64,
    /// 99th percentile of latency in seconds; 0 without good replies.
    pub p99: f64,
    /// Number of good replies that took longer than the latency target of a capacity test; 0 in other runs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One request in the sample of the scatter figure.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Point {
    /// When the request ended, in seconds since the window opened.
    pub at: f64,
    /// Latency of the request in seconds.
    pub latency: f64,
    /// Index of the request's URL.
    pub url: u32,
    /// Whether the reply was as expected.
    pub good: bool,
}

/// A distinct reply to one URL, and how often it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodySeen {
    /// Index of the URL.
    pub url: u32,
    /// The reply.
    pub reply: Reply,
    /// How often the reply came.
    pub count: u64,
}

/// The properties by which replies to one URL are told apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type` without parameters, in lower case; empty if the reply has none.
    pub media_type: String,
    /// Length of the body in bytes.
    pub length: u64,
    /// BLAKE3 hash of the body in hex, under which it is stored in `bodies/`. Empty if bodies are not hashed.
    pub hash: String,
}

/// Resources that the client used in the measured window.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ClientCost {
    /// CPU seconds of the client's threads.
    pub cpu_seconds: f64,
    /// Number of threads that sent requests.
    pub threads: u32,
    /// Share of the threads' time in which they used a CPU, 0 to 1. Near 1, the client was the bottleneck.
    pub busy: f64,
    /// Requests per second that the same client reached against a null responder, with the same kind of load and bodies
    /// of about the same size; 0 if this was not measured.
    pub ceiling: f64,
}
