//! Runs the load generator wrk and reads its output.

use std::net::SocketAddr;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::proc;

/// Results of requesting one URL with wrk for some seconds.
#[derive(Serialize)]
pub(crate) struct Load {
    pub(crate) requests_per_second: f64,
    pub(crate) p99_milliseconds: f64,
    /// CPU time of the server per request, in µs.
    pub(crate) server_microseconds: f64,
    /// CPU time of wrk per request, in µs.
    pub(crate) client_microseconds: f64,
}

/// Whether connections are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Connections {
    /// Each connection is kept alive and serves one request after the other.
    Kept,
    /// Each request opens a new connection.
    ForEachRequest,
}

/// Requests one URL for `seconds` over `connections` at a time. Every response must be complete and successful. `pids`
/// are the server's processes.
pub(crate) fn load(
    address: SocketAddr,
    url: &str,
    (connections, kind): (usize, Connections),
    seconds: u64,
    pids: &[u32],
) -> Result<Load> {
    let header: &[&str] = match kind {
        Connections::Kept => &[],
        Connections::ForEachRequest => &["-H", "Connection: close"],
    };
    let before = (
        proc::cpu_seconds_of(pids)?,
        proc::cpu_seconds_of_children()?,
    );
    let output = Command::new("wrk")
        .args([
            format!("-t{THREADS}"),
            format!("-c{connections}"),
            format!("-d{seconds}s"),
        ])
        .args(header)
        .args(["--latency", &format!("http://{address}{url}")])
        .output()
        .context("wrk")?;
    let after = (
        proc::cpu_seconds_of(pids)?,
        proc::cpu_seconds_of_children()?,
    );
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "wrk: {text}");
    let output_values = read(&text).with_context(|| format!("wrk: {text}"))?;
    let each = |seconds: f64| seconds * 1e6 / output_values.requests;
    Ok(Load {
        requests_per_second: output_values.rate,
        p99_milliseconds: output_values.p99,
        server_microseconds: each(after.0 - before.0),
        client_microseconds: each(after.1 - before.1),
    })
}

struct Output {
    requests: f64,
    rate: f64,
    p99: f64,
}

/// Parses wrk's output. Returns `None` if the output has another form or if any request failed.
fn read(text: &str) -> Option<Output> {
    let after = |label: &str| {
        let line = text
            .lines()
            .map(str::trim)
            .find_map(|line| line.strip_prefix(label))?;
        Some(line.trim())
    };
    if text.contains("Socket errors") || text.contains("Non-2xx") {
        return None;
    }
    let requests = text.lines().find(|line| line.contains(" requests in "))?;
    Some(Output {
        requests: requests.split_whitespace().next()?.parse().ok()?,
        rate: after("Requests/sec:")?.parse().ok()?,
        p99: milliseconds(after("99%")?)?,
    })
}

fn milliseconds(text: &str) -> Option<f64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..end].parse().ok()?;
    match &text[end..] {
        "us" => Some(number / 1e3),
        "ms" => Some(number),
        "s" => Some(number * 1e3),
        _ => None,
    }
}

/// Number of threads of wrk, among which it divides the connections.
const THREADS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Running 2s test @ http://127.0.0.1:1/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   102.09us  123.45us   9.75ms   97.06%
  Latency Distribution
     50%   80.00us
     99%    1.50ms
  207612 requests in 2.00s, 7.69GB read
Requests/sec: 103806.12
Transfer/sec:      3.85GB
";

    #[test]
    fn what_wrk_says_is_read() {
        let output_values = read(TEXT).unwrap();
        assert!((output_values.rate - 103_806.12).abs() < 1e-9);
        assert!((output_values.requests - 207_612.0).abs() < 1e-9);
        assert!((output_values.p99 - 1.5).abs() < 1e-9);
    }

    #[test]
    fn a_load_with_a_bad_reply_is_none() {
        let bad = TEXT.replace(
            "Requests/sec",
            "  Non-2xx or 3xx responses: 3\nRequests/sec",
        );
        assert!(read(&bad).is_none());
    }
}
