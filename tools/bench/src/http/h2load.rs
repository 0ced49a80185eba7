//! Runs the load generator h2load with HTTP/1.1 or HTTP/2 over TLS and reads its output.

use std::net::SocketAddr;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::proc;

/// An HTTP version used over TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

impl Protocol {
    /// Returns the protocol's ALPN name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::Http2 => "h2",
        }
    }

    /// Returns how many requests are sent concurrently on each connection.
    pub(crate) fn streams(self) -> usize {
        match self {
            Self::Http1 => 1,
            Self::Http2 => 10,
        }
    }
}

/// What h2load requests, and with which protocol and number of connections.
pub(crate) struct LoadRequest<'a> {
    pub(crate) url: &'a str,
    /// Expected length of each response body in bytes.
    pub(crate) body_bytes: usize,
    pub(crate) connections: usize,
    pub(crate) protocol: Protocol,
}

/// Results of requesting one URL with h2load for some seconds.
#[derive(Serialize)]
pub(crate) struct Load {
    pub(crate) requests_per_second: f64,
    /// CPU time of the server per request, in µs.
    pub(crate) server_microseconds: f64,
    /// CPU time of h2load per request, in µs.
    pub(crate) client_microseconds: f64,
    /// TLS version and cipher suite.
    pub(crate) tls: String,
}

/// Requests one URL for `seconds`. Every response must be complete and successful. `h2load` is the command that starts
/// the client, to which its options are appended. `pids` are the server's processes.
pub(crate) fn load(
    mut h2load: Command,
    address: SocketAddr,
    request: &LoadRequest<'_>,
    seconds: u64,
    pids: &[u32],
) -> Result<Load> {
    let (protocol, connections) = (request.protocol, request.connections);
    let before = (
        proc::cpu_seconds_of(pids)?,
        proc::cpu_seconds_of_children()?,
    );
    let output = h2load
        .args([
            format!("--npn-list={}", protocol.name()),
            format!("--max-concurrent-streams={}", protocol.streams()),
            format!("--tls13-ciphers={SUITE}"),
            "--threads=1".to_owned(),
            format!("--clients={connections}"),
            format!("--duration={seconds}"),
            format!("https://{address}{}", request.url),
        ])
        .output()
        .context("h2load")?;
    let after = (
        proc::cpu_seconds_of(pids)?,
        proc::cpu_seconds_of_children()?,
    );
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "h2load: {text}");
    let output_values = read(&text).with_context(|| format!("h2load: {text}"))?;
    ensure!(output_values.protocol == protocol.name(), "h2load: {text}");
    // Some requests are still in flight when the time is over.
    let most_requests = output_values.requests + connections * protocol.streams();
    let body_bytes =
        output_values.requests * request.body_bytes..=most_requests * request.body_bytes;
    ensure!(
        body_bytes.contains(&output_values.body_bytes),
        "bodies were cut: {text}"
    );
    let each = |seconds: f64| seconds * 1e6 / output_values.requests as f64;
    Ok(Load {
        requests_per_second: output_values.rate,
        server_microseconds: each(after.0 - before.0),
        client_microseconds: each(after.1 - before.1),
        tls: output_values.tls,
    })
}

struct Output {
    requests: usize,
    rate: f64,
    body_bytes: usize,
    tls: String,
    protocol: String,
}

/// Parses h2load's output. Returns `None` if the output has another form or if any request failed.
fn read(text: &str) -> Option<Output> {
    let after = |label: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(label))?;
        Some(line.trim())
    };
    let counted = after("requests:")?;
    let count = |what: &str| {
        let before = counted.split(", ").find_map(|it| it.strip_suffix(what))?;
        before.trim().parse::<usize>().ok()
    };
    let requests = count("done")?;
    if count("succeeded")? != requests {
        return None;
    }
    // "finished in 3.00s, 45266.67 req/s, 1.03GB/s"
    let rate = after("finished in")?.split(", ").nth(1)?;
    // "traffic: 3.1GB (3271557120) total, 7.6MB (7957440) headers (space savings 0.00%), 3.0GB (3263596055) data"
    let bodies = after("traffic:")?.rsplit_once('(')?.1;
    Some(Output {
        requests,
        rate: rate.strip_suffix("req/s")?.trim().parse().ok()?,
        body_bytes: bodies.strip_suffix(") data")?.parse().ok()?,
        tls: format!("{} {}", after("TLS Protocol:")?, after("Cipher:")?),
        protocol: after("Application protocol:")?.to_owned(),
    })
}

/// The TLS 1.3 cipher suite that browsers prefer, and also Andon and nginx.
const SUITE: &str = "TLS_AES_128_GCM_SHA256";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
starting benchmark...
TLS Protocol: TLSv1.3
Cipher: TLS_AES_128_GCM_SHA256
Server Temp Key: X25519 253 bits
Application protocol: h2

finished in 3.01s, 13624.67 req/s, 314.51MB/s
requests: 40874 total, 40974 started, 40874 done, 40874 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 40881 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 943.53MB (989364155) total, 399.81KB (409410) headers (space savings 95.42%), 941.98MB (987734000) data
";

    #[test]
    fn what_h2load_says_is_read() {
        let output_values = read(TEXT).unwrap();
        assert_eq!(
            (output_values.requests, output_values.body_bytes),
            (40_874, 987_734_000)
        );
        assert!((output_values.rate - 13_624.67).abs() < 1e-9);
        assert_eq!(output_values.tls, "TLSv1.3 TLS_AES_128_GCM_SHA256");
        assert_eq!(output_values.protocol, "h2");
    }

    #[test]
    fn a_load_with_a_bad_reply_is_none() {
        let bad = TEXT.replace("40874 succeeded, 0 failed", "40873 succeeded, 1 failed");
        assert!(read(&bad).is_none());
    }
}
