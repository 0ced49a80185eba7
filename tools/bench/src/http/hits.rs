//! Comparison of cached hits: Andon's memory cache and nginx's `proxy_cache`, with the same bytes on the same cores in
//! one interleaved run. The client (wrk) shares these cores.

use std::fs;

use anyhow::{Result, ensure};
use serde::Serialize;

use super::client::{Connection, Reply};
use super::nginx::Nginx;
use super::server::{ResultCaching, Server};
use super::turns::in_turn;
use super::wrk::Connections::Kept;
use super::wrk::{self, Load};
use crate::photos::Folder;
use crate::stats::median;

/// Results of Andon and nginx, both serving the same cached image.
#[derive(Serialize)]
pub(crate) struct Hits {
    url: String,
    body_bytes: usize,
    connections: usize,
    seconds_each: u64,
    nginx_version: String,
    nginx_configuration: String,
    andon: Side,
    nginx: Side,
    /// Andon's median requests per second divided by nginx's.
    ratio: f64,
}

/// Results of Andon or of nginx: medians, and the runs from which they were computed.
#[derive(Serialize)]
pub(super) struct Side {
    pub(super) requests_per_second: f64,
    p99_milliseconds: f64,
    /// CPU time of the server per request, in µs.
    pub(super) microseconds_per_request: f64,
    /// CPU time of wrk per request, in µs.
    client_microseconds_per_request: f64,
    runs: Vec<Load>,
}

/// Compares Andon's memory cache with nginx's `proxy_cache` and prints the results.
pub(crate) fn run(connections: usize, photos: &Folder) -> Result<Hits> {
    let andon = Server::start(&photos.path, ResultCaching::WithoutLog)?;
    let (url, body) = image(&andon, photos)?;
    let nginx = Nginx::in_front_of(andon.address())?;
    for (address, status) in [
        (andon.address(), "cache-status: andon; hit"),
        (nginx.address(), "x-cache-status: hit"),
    ] {
        let mut connection = Connection::to(address)?;
        connection.ask(&url)?;
        let Reply {
            headers,
            body: again,
            ..
        } = connection.ask(&url)?;
        ensure!(again == body, "{url}: other bytes at {address}");
        let hit = headers.iter().any(|header| header.starts_with(status));
        ensure!(hit, "{url}: no hit at {address}: {headers:?}");
    }

    let servers = [
        (andon.address(), vec![andon.pid()]),
        (nginx.address(), nginx.workers()?),
    ];
    for (address, pids) in &servers {
        wrk::load(*address, &url, (connections, Kept), WARM_UP, pids)?;
    }
    let runs = in_turn(ROUNDS, |side| {
        let (address, pids) = &servers[side];
        wrk::load(*address, &url, (connections, Kept), SECONDS, pids)
    })?;
    let [andon_side, nginx_side] = runs.map(Side::of);
    let hits = Hits {
        body_bytes: body.len(),
        url,
        connections,
        seconds_each: SECONDS,
        nginx_version: nginx.version()?,
        nginx_configuration: fs::read_to_string(nginx.configuration())?,
        ratio: andon_side.requests_per_second / nginx_side.requests_per_second,
        andon: andon_side,
        nginx: nginx_side,
    };
    nginx.stop()?;
    andon.stop()?;
    hits.print();
    Ok(hits)
}

impl Side {
    pub(super) fn of(runs: Vec<Load>) -> Self {
        let median_of = |what: fn(&Load) -> f64| {
            let values: Vec<f64> = runs.iter().map(what).collect();
            median(&values)
        };
        Self {
            requests_per_second: median_of(|run| run.requests_per_second),
            p99_milliseconds: median_of(|run| run.p99_milliseconds),
            microseconds_per_request: median_of(|run| run.server_microseconds),
            client_microseconds_per_request: median_of(|run| run.client_microseconds),
            runs,
        }
    }
}

impl Hits {
    fn print(&self) {
        println!(
            "cached hits:               {} bytes, {} connections, medians of {} runs of {} s each",
            self.body_bytes,
            self.connections,
            self.andon.runs.len(),
            self.seconds_each
        );
        for (name, side) in [("andon", &self.andon), ("nginx", &self.nginx)] {
            println!(
                "  {name}  {:>8.0} requests/s, p99 {:.2} ms, {:.2} µs of processor each (and {:.2} µs of wrk's)",
                side.requests_per_second,
                side.p99_milliseconds,
                side.microseconds_per_request,
                side.client_microseconds_per_request
            );
        }
        println!("  {:.2} times as many as nginx", self.ratio);
    }
}

/// Requests a small image of each photo and returns the URL and body of the one whose length is nearest to
/// `WANTED_BYTES`.
pub(super) fn image(server: &Server, photos: &Folder) -> Result<(String, Vec<u8>)> {
    let mut connection = Connection::to(server.address())?;
    let mut best = (String::new(), Vec::new());
    for photo in &photos.names {
        let url = format!("/small_light(dw=450,dh=450,da=l,q=80,of=jpg)/{photo}");
        let body = connection.get(&url)?;
        if body.len().abs_diff(WANTED_BYTES) < best.1.len().abs_diff(WANTED_BYTES) {
            best = (url, body);
        }
    }
    Ok(best)
}

/// Desired length of the response body, in bytes.
const WANTED_BYTES: usize = 40_000;

/// Number of measured runs of each server.
const ROUNDS: usize = 10;

/// Duration of one measured run, in seconds.
const SECONDS: u64 = 3;

const WARM_UP: u64 = 1;
