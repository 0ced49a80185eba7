//! `[load]`: which requests are sent to the server, at what rate and how many.

use andon_client::HttpVersion;
use serde::{Deserialize, Serialize};

use super::Seconds;

/// The load of one block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Load {
    /// Closed or open loop, or one request at a time.
    pub mode: Mode,
    /// Number of connections in a closed loop, or their maximum in an open loop.
    pub connections: u32,
    /// Number of requests in the measured window. 0: the window's length is `duration` or `design.block`.
    pub requests: u64,
    /// Length of the measured window. Without it, `design.block` applies.
    pub duration: Option<Seconds>,
    /// Requests per connection, as JMeter counts: the window has `connections` × `loops` requests. 0: not used.
    pub loops: u64,
    /// Time over which the connections are opened one by one. It is not part of the measurement.
    pub ramp: Seconds,
    /// Arrivals per second in an open loop.
    pub rate: f64,
    /// How an open loop's arrivals are spaced.
    pub arrivals: Arrivals,
    /// Whether connections are reused.
    pub keepalive: bool,
    /// HTTP/1.1, or HTTP/2 with prior knowledge.
    pub http: HttpVersion,
    /// Time after which a request without a complete reply has failed.
    pub timeout: Seconds,
    /// CPUs that the client may use, e.g. `1`. Empty for all.
    pub cpus: String,
    /// Number of the client's threads.
    pub threads: u32,
    /// File with a list of URLs, one per line, as the multi-URL patch of ab reads it. The path is relative to the
    /// scenario.
    pub urls: String,
    /// URLs written out one by one, appended to the list.
    pub url: Vec<UrlEntry>,
    /// The order in which the URLs are requested.
    pub order: UrlOrder,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            mode: Mode::Closed,
            connections: 10,
            requests: 0,
            duration: None,
            loops: 0,
            ramp: Seconds(0.0),
            rate: 0.0,
            arrivals: Arrivals::Poisson,
            keepalive: true,
            http: HttpVersion::One,
            timeout: Seconds(30.0),
            cpus: String::new(),
            threads: 1,
            urls: String::new(),
            url: Vec::new(),
            order: UrlOrder::List,
        }
    }
}

/// Determines when the next request is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Closed loop: each connection sends its next request when the reply to the last one has arrived.
    #[default]
    Closed,
    /// Open loop: requests arrive at `rate`, whatever the server does.
    Open,
    /// One connection, one request after the other, like curl in a loop.
    Single,
}

/// Spacing of the arrivals in an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Equal intervals.
    Constant,
    /// Exponentially distributed intervals, as between independent visitors.
    #[default]
    Poisson,
}

/// The order in which URLs are requested. Randomness comes from the scenario's seed only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UrlOrder {
    /// As listed, over and over. All connections share one position in the list.
    #[default]
    List,
    /// The whole list in a new random order each time.
    Shuffle,
    /// Drawn at random according to the weights.
    Weighted,
}

/// One `[[load.url]]`: a request with its weight and expected status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UrlEntry {
    /// Request target, e.g. `/a.jpg?w=10`, sent as it is once placeholders are replaced.
    pub path: String,
    /// Relative frequency for `order = "weighted"`.
    pub weight: f64,
    /// HTTP method.
    pub method: String,
    /// Headers, each written `name: value`.
    pub headers: Vec<String>,
    /// File sent as the request body, relative to the scenario.
    pub body: String,
    /// Expected status code. 0: `check.status` applies.
    pub status: u16,
}

impl Default for UrlEntry {
    fn default() -> Self {
        Self {
            path: String::new(),
            weight: 1.0,
            method: "GET".into(),
            headers: Vec::new(),
            body: String::new(),
            status: 0,
        }
    }
}
