//! Comparison of cached hits over TLS: Andon's memory cache and nginx's `proxy_cache`, with HTTP/1.1 and HTTP/2, the
//! same certificate and the same cipher suite, in one interleaved run. The servers are pinned to one core and h2load to
//! another.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tempfile::TempDir;

use super::client::Connection;
use super::h2load::{self, Load, LoadRequest, Protocol};
use super::hits;
use super::nginx::Nginx;
use super::server::{ResultCaching, Server};
use super::turns::in_turn;
use crate::photos::Folder;
use crate::stats::median;

/// Results of the comparison of Andon's and nginx's cached hits over TLS.
#[derive(Serialize)]
pub(crate) struct TlsHits {
    url: String,
    body_bytes: usize,
    connections: usize,
    seconds_each: u64,
    nginx_version: String,
    nginx_configuration: String,
    compared: Vec<Comparison>,
}

/// Results of Andon and nginx with one version of HTTP.
#[derive(Serialize)]
struct Comparison {
    protocol: &'static str,
    /// Number of concurrent requests per connection.
    streams: usize,
    andon: Side,
    nginx: Side,
    /// Andon's median requests per second divided by nginx's.
    ratio: f64,
}

/// Results of one server with one version of HTTP: medians, and the runs from which they were computed.
#[derive(Serialize)]
struct Side {
    requests_per_second: f64,
    /// CPU time of the server per request, in µs.
    microseconds_per_request: f64,
    /// CPU time of h2load per request, in µs.
    client_microseconds_per_request: f64,
    runs: Vec<Load>,
}

/// Compares Andon's and nginx's cached hits over TLS and prints the results.
pub(crate) fn run(connections: usize, photos: &Folder) -> Result<TlsHits> {
    let certificate = Certificate::issue()?;
    let secure = free_address()?;
    let andon = Server::spawn(
        on_core(SERVER, &Server::binary()?),
        &photos.path,
        ResultCaching::WithoutLog,
        &format!(
            "[tls]\nlisten = [\"{secure}\"]\ncertificate = {:?}\nkey = {:?}\n",
            certificate.certificate(),
            certificate.key()
        ),
    )?;
    let (url, body) = hits::image(&andon, photos)?;
    // nginx fetched what it has cached without TLS.
    let nginx = Nginx::with_tls(
        on_core(SERVER, "nginx".as_ref()),
        &certificate,
        andon.address(),
    )?;
    let again = Connection::to(andon.address())?.get(&url)?;
    ensure!(again == body, "{url}: other bytes the second time");

    let servers = [
        (secure, vec![andon.pid()]),
        (nginx.address(), nginx.workers()?),
    ];
    let mut compared = Vec::new();
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let request = LoadRequest {
            url: &url,
            body_bytes: body.len(),
            connections,
            protocol,
        };
        compared.push(compare(&request, &servers)?);
    }
    let hits = TlsHits {
        body_bytes: body.len(),
        url,
        connections,
        seconds_each: SECONDS,
        nginx_version: nginx.version()?,
        nginx_configuration: fs::read_to_string(nginx.configuration())?,
        compared,
    };
    nginx.stop()?;
    andon.stop()?;
    hits.print();
    Ok(hits)
}

/// Measures Andon and nginx alternately and checks that both negotiated the same TLS version and cipher.
fn compare(request: &LoadRequest<'_>, servers: &[(SocketAddr, Vec<u32>); 2]) -> Result<Comparison> {
    let load = |side: usize, seconds| {
        let (address, pids) = &servers[side];
        let client = on_core(CLIENT, "h2load".as_ref());
        h2load::load(client, *address, request, seconds, pids)
    };
    for side in [0, 1] {
        load(side, WARM_UP)?;
    }
    let runs = in_turn(ROUNDS, |side| load(side, SECONDS))?;
    let tls = &runs[0][0].tls;
    let alike = runs.iter().flatten().all(|run| run.tls == *tls);
    ensure!(alike, "the servers negotiated different ciphers");
    let [andon, nginx] = runs.map(Side::of);
    Ok(Comparison {
        protocol: request.protocol.name(),
        streams: request.protocol.streams(),
        ratio: andon.requests_per_second / nginx.requests_per_second,
        andon,
        nginx,
    })
}

impl Side {
    fn of(runs: Vec<Load>) -> Self {
        let median_of = |what: fn(&Load) -> f64| {
            let values: Vec<f64> = runs.iter().map(what).collect();
            median(&values)
        };
        Self {
            requests_per_second: median_of(|run| run.requests_per_second),
            microseconds_per_request: median_of(|run| run.server_microseconds),
            client_microseconds_per_request: median_of(|run| run.client_microseconds),
            runs,
        }
    }
}

impl TlsHits {
    fn print(&self) {
        println!(
            "cached hits over TLS:      {} bytes, {} connections, medians of {} runs of {} s each",
            self.body_bytes, self.connections, ROUNDS, self.seconds_each
        );
        for compared in &self.compared {
            println!(
                "  {}, {} requests at a time, {}",
                compared.protocol,
                self.connections * compared.streams,
                compared.andon.runs[0].tls
            );
            for (name, side) in [("andon", &compared.andon), ("nginx", &compared.nginx)] {
                println!(
                    "    {name}  {:>8.0} requests/s, {:.2} µs of processor each (and {:.2} µs of h2load's)",
                    side.requests_per_second,
                    side.microseconds_per_request,
                    side.client_microseconds_per_request
                );
            }
            println!("    {:.2} times as many as nginx", compared.ratio);
        }
    }
}

/// Folder with a self-signed certificate, generated for this run, and its private key.
pub(super) struct Certificate(TempDir);

impl Certificate {
    fn issue() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let output = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-nodes", "-days", "1"])
            .args(["-pkeyopt", "ec_paramgen_curve:P-256"])
            .args(["-subj", "/CN=localhost", "-out", "cert.pem"])
            .args(["-keyout", "key.pem"])
            .current_dir(&folder)
            .output()
            .context("openssl")?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "openssl: {text}");
        Ok(Self(folder))
    }

    pub(super) fn certificate(&self) -> PathBuf {
        self.0.path().join("cert.pem")
    }

    pub(super) fn key(&self) -> PathBuf {
        self.0.path().join("key.pem")
    }
}

/// Returns a command that runs a program pinned to one core.
fn on_core(core: &str, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", core]).arg(program);
    command
}

/// Returns a local address whose port was free a moment ago.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Number of the core on which Andon and nginx run.
const SERVER: &str = "0";
/// Number of the core on which h2load runs.
const CLIENT: &str = "1";

/// Number of measured runs of each server.
const ROUNDS: usize = 10;

/// Duration of one measured run, in seconds.
const SECONDS: u64 = 3;

const WARM_UP: u64 = 1;
