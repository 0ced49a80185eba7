//! `[load]`: what is asked of the server, how fast, how often.

use andon_client::HttpVersion;
use serde::{Deserialize, Serialize};

use super::Seconds;

/// The load of one block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Load {
    /// Closed or open loop, or one request at a time.
    pub mode: Mode,
    /// Connections (closed loop), most connections (open loop).
    pub connections: u32,
    /// Requests of the measured window; 0: as long as `duration` or `design.block` say.
    pub requests: u64,
    /// Length of the measured window; nothing: `design.block`.
    pub duration: Option<Seconds>,
    /// Requests = connections × loops, as JMeter counts; 0: not used.
    pub loops: u64,
    /// Connections are opened one by one over this time, kept out of the figures.
    pub ramp: Seconds,
    /// Requests per second of an open loop.
    pub rate: f64,
    /// How an open loop's arrivals are spaced.
    pub arrivals: Arrivals,
    /// Are connections used again?
    pub keepalive: bool,
    /// HTTP/1.1 or HTTP/2 (prior knowledge).
    pub http: HttpVersion,
    /// A request without a whole reply by then has failed.
    pub timeout: Seconds,
    /// CPUs of the client, e.g. `1`; empty: all.
    pub cpus: String,
    /// Threads of the client.
    pub threads: u32,
    /// File with a list of URLs, one a line, as multi-URL ab reads it; relative to the scenario.
    pub urls: String,
    /// URLs in words; appended to the list.
    pub url: Vec<UrlEntry>,
    /// In which order they are asked.
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

/// What decides when the next request is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Each connection sends when its reply has come.
    #[default]
    Closed,
    /// Arrivals at `rate`, whatever the server does.
    Open,
    /// One connection, one request after the other, like curl in a loop.
    Single,
}

/// Spacing of an open loop's arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Equal.
    Constant,
    /// Exponential, as independent visitors are.
    #[default]
    Poisson,
}

/// The order of URLs; all from the scenario's seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UrlOrder {
    /// As listed, again and again; connections share one position.
    #[default]
    List,
    /// Shuffled anew each time round.
    Shuffle,
    /// Drawn by weight.
    Weighted,
}

/// One `[[load.url]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UrlEntry {
    /// The target, e.g. `/a.jpg?w=10`, sent as it is (placeholders replaced).
    pub path: String,
    /// Relative frequency for `order = "weighted"`.
    pub weight: f64,
    /// Method.
    pub method: String,
    /// Headers, `name: value`.
    pub headers: Vec<String>,
    /// File sent as the body, relative to the scenario.
    pub body: String,
    /// Expected status; 0: `check.status`.
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
