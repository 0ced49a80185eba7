//! The requests that a server once received, with their times, read from access logs in order to replay them.

mod balancer;
mod custom;
mod json;
mod line;
mod w3c;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;

/// The requests of an access log or a list, in order to replay them.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// Requests, sorted by time.
    pub requests: Vec<Request>,
    /// Number of requests that cannot be replayed, by reason.
    pub left_out: BTreeMap<String, u64>,
}

/// One request to replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Seconds from the beginning of the first request to the beginning of this one.
    pub at: f64,
    /// `GET` or `HEAD`.
    pub method: String,
    /// The request target as the client sent it.
    pub target: String,
    /// The expected status: the logged status, or 200 if the request failed because of the server or the network, or if
    /// the status depended on headers that logs do not contain (206 and 304). 0 for a list without statuses.
    pub status: u16,
}

impl Past {
    /// Reads an access log: Andon's own, as text or JSON; the common or combined format of Apache and nginx; JSON of
    /// nginx, Caddy, Traefik and content delivery networks; the W3C extended format of Amazon CloudFront and other
    /// servers; the formats of AWS load balancers; or any format whose lines contain a method, a target, a status and a
    /// time. The log may be compressed by gzip. If its times have a resolution of one second, the requests of a second
    /// are spread evenly over that second.
    ///
    /// # Errors
    /// If the log cannot be read, or its compression is not supported.
    pub fn of_log(mut log: impl BufRead) -> std::io::Result<Self> {
        let beginning = log.fill_buf()?;
        if beginning.starts_with(GZIP) {
            return Self::of_lines(BufReader::new(MultiGzDecoder::new(log)));
        }
        refuse_compressed(beginning)?;
        Self::of_lines(log)
    }

    fn of_lines(log: impl BufRead) -> std::io::Result<Self> {
        let mut past = Self::default();
        let mut lines = line::Lines::default();
        let mut entries: Vec<(f64, bool, Request)> = Vec::new();
        for line in log.split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if line.is_empty() {
                continue;
            }
            let Some(result) = lines.parse(line) else {
                continue;
            };
            match result {
                Ok(entry) => entries.push((
                    entry.began,
                    entry.whole_second,
                    Request {
                        at: 0.0,
                        method: entry.method,
                        target: entry.target,
                        status: good(entry.status),
                    },
                )),
                Err(why) => *past.left_out.entry(why.to_owned()).or_default() += 1,
            }
        }
        // Sorted, because servers log a request when it ends.
        entries.sort_by(|a, b| a.0.total_cmp(&b.0));
        let first = entries.first().map_or(0.0, |(began, ..)| *began);
        for together in entries.chunk_by(|a, b| a.1 && a.0 == b.0) {
            let share = 1.0 / together.len() as f64;
            for (at, (began, whole_second, request)) in together.iter().enumerate() {
                let spread = if *whole_second {
                    at as f64 * share
                } else {
                    0.0
                };
                past.requests.push(Request {
                    at: began - first + spread,
                    ..request.clone()
                });
            }
        }
        Ok(past)
    }

    /// Creates one request for each of these targets, in this order, at `rate` requests per second.
    #[must_use]
    pub fn of_list(targets: &[String], rate: f64) -> Self {
        let request = |(at, target): (usize, &String)| Request {
            at: at as f64 / rate,
            method: "GET".to_owned(),
            target: target.clone(),
            status: 0,
        };
        Self {
            requests: targets.iter().enumerate().map(request).collect(),
            left_out: BTreeMap::new(),
        }
    }

    /// Returns the time in seconds from the beginning of the first request to that of the last.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.requests.last().map_or(0.0, |last| last.at)
    }

    /// Keeps the requests of the first `seconds`, and drops the others.
    pub fn cut(&mut self, seconds: f64) {
        self.requests.retain(|request| request.at < seconds);
    }
}

/// Returns an error if the log begins with the magic bytes of an unsupported compression.
fn refuse_compressed(beginning: &[u8]) -> std::io::Result<()> {
    let mut formats = COMPRESSED.iter();
    let Some((_, name, example)) = formats.find(|(magic, ..)| beginning.starts_with(magic)) else {
        return Ok(());
    };
    let why = format!("it is compressed by {name}: unpack it first ({example})");
    Err(std::io::Error::new(std::io::ErrorKind::InvalidData, why))
}

/// The magic bytes of gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// Unsupported compressions: the magic bytes, the name of the format, and a command that decompresses such a file.
const COMPRESSED: [(&[u8], &str, &str); 3] = [
    (
        b"\x28\xb5\x2f\xfd",
        "zstd",
        "zstdcat access.log.1.zst > access.log.1",
    ),
    (b"\xfd7zXZ\0", "xz", "xzcat access.log.1.xz > access.log.1"),
    (
        b"BZh91AY&SY",
        "bzip2",
        "bzcat access.log.1.bz2 > access.log.1",
    ),
];

/// Returns the status to expect from a server that works correctly, given the logged status.
fn good(status: u16) -> u16 {
    match status {
        // Caused by conditional and range headers, which logs do not contain.
        206 | 304 => 200,
        // The client disconnected, or the server was too slow, overloaded or broken.
        408 | 429 | 499 | 500.. => 200,
        other => other,
    }
}

#[cfg(test)]
mod tests;
