//! Comparison with nginx for responses that need no image work: unchanged files, and cached hits with a new connection
//! for each request. Both servers send the same bytes on the same cores, in one interleaved run for each kind of
//! response. The client (wrk) shares these cores.

use std::net::SocketAddr;
use std::path::Path;
use std::{env, fs};

use anyhow::{Result, ensure};
use serde::Serialize;

use super::client::Connection;
use super::hits::{self, Side};
use super::nginx::Nginx;
use super::server::{ResultCaching, Server};
use super::turns::in_turn;
use super::wrk;
use super::wrk::Connections::{self, ForEachRequest, Kept};
use crate::photos::Folder;

/// Results of the comparison of Andon with nginx for unchanged files, and for cached hits with a new connection for
/// each request.
#[derive(Serialize)]
pub(crate) struct Delivery {
    connections: usize,
    seconds_each: u64,
    nginx_version: String,
    /// nginx's configurations for serving files and for cached hits.
    nginx_configurations: [String; 2],
    rows: Vec<Row>,
}

/// Results of both servers for one kind of response: an unchanged file, or a cached hit on a new connection.
#[derive(Serialize)]
struct Row {
    what: String,
    body_bytes: usize,
    connection: Connections,
    andon: Side,
    nginx: Side,
    /// Andon's median requests per second divided by nginx's.
    rate_ratio: f64,
    /// Andon's CPU time per request divided by nginx's.
    processor_ratio: f64,
}

/// Address of a server, and the ids of the processes that handle its requests.
type Place = (SocketAddr, Vec<u32>);

/// Compares Andon with nginx for unchanged files, and for cached hits with a new connection for each request. Prints
/// the results.
pub(crate) fn run(connections: usize, photos: &Folder) -> Result<Delivery> {
    let files = tempfile::tempdir_in(env::temp_dir())?;
    let andon = Server::start(&photos.path, ResultCaching::WithoutLog)?;
    let (hit, small) = hits::image(&andon, photos)?;
    fs::write(files.path().join("small.jpg"), &small)?;
    let sizes = photos.names.iter().map(|name| {
        let bytes = fs::metadata(photos.path.join(name))?.len();
        Ok((bytes, name))
    });
    let mut sizes = sizes.collect::<Result<Vec<_>>>()?;
    sizes.sort();
    let middle = sizes.get(sizes.len() / 2);
    for (to, photo) in [("middle.jpg", middle), ("large.jpg", sizes.last())] {
        if let Some((_, photo)) = photo {
            fs::copy(photos.path.join(photo), files.path().join(to))?;
        }
    }
    let of_files = Server::start(files.path(), ResultCaching::WithoutLog)?;
    let (nginx, nginx_of_files) = (
        Nginx::in_front_of(andon.address())?,
        Nginx::serving(files.path())?,
    );
    let hits: [Place; 2] = [
        (andon.address(), vec![andon.pid()]),
        (nginx.address(), nginx.workers()?),
    ];
    let static_files: [Place; 2] = [
        (of_files.address(), vec![of_files.pid()]),
        (nginx_of_files.address(), nginx_of_files.workers()?),
    ];
    let kinds = [
        ("file", "/small.jpg", &static_files, Kept),
        ("file", "/middle.jpg", &static_files, Kept),
        ("file", "/large.jpg", &static_files, Kept),
        ("file", "/small.jpg", &static_files, ForEachRequest),
        ("cached hit", hit.as_str(), &hits, ForEachRequest),
    ];
    let mut rows = Vec::new();
    for (what, url, places, kind) in kinds {
        let row = row(what, url, places, (connections, kind))?;
        row.print();
        rows.push(row);
    }
    let delivery = Delivery {
        connections,
        seconds_each: SECONDS,
        nginx_version: nginx.version()?,
        nginx_configurations: [
            read(&nginx_of_files.configuration())?,
            read(&nginx.configuration())?,
        ],
        rows,
    };
    for nginx in [nginx, nginx_of_files] {
        nginx.stop()?;
    }
    for andon in [andon, of_files] {
        andon.stop()?;
    }
    Ok(delivery)
}

fn row(
    what: &str,
    url: &str,
    places: &[Place; 2],
    connections: (usize, Connections),
) -> Result<Row> {
    let mut bodies = Vec::new();
    for (address, pids) in places {
        let mut connection = Connection::to(*address)?;
        // The second response may be sent in another way than the first.
        connection.get(url)?;
        bodies.push(connection.get(url)?);
        wrk::load(*address, url, connections, WARM_UP, pids)?;
    }
    ensure!(bodies[0] == bodies[1], "{url}: not the same bytes");
    let runs = in_turn(ROUNDS, |side| {
        let (address, pids) = &places[side];
        wrk::load(*address, url, connections, SECONDS, pids)
    })?;
    let [andon, nginx] = runs.map(Side::of);
    Ok(Row {
        what: what.to_owned(),
        body_bytes: bodies[0].len(),
        connection: connections.1,
        rate_ratio: andon.requests_per_second / nginx.requests_per_second,
        processor_ratio: andon.microseconds_per_request / nginx.microseconds_per_request,
        andon,
        nginx,
    })
}

impl Row {
    fn print(&self) {
        let connection = match self.connection {
            Kept => "kept",
            ForEachRequest => "for each",
        };
        println!(
            "{:10} of {:>7} bytes, connection {connection:8}  {:>6.0} and {:>6.0} requests/s, {:>5.1} and {:>5.1} µs of processor: \
             {:.2} times nginx's rate, {:.2} of its processor time",
            self.what,
            self.body_bytes,
            self.andon.requests_per_second,
            self.nginx.requests_per_second,
            self.andon.microseconds_per_request,
            self.nginx.microseconds_per_request,
            self.rate_ratio,
            self.processor_ratio
        );
    }
}

fn read(path: &Path) -> Result<String> {
    Ok(fs::read_to_string(path)?)
}

/// Number of measured runs of each server.
const ROUNDS: usize = 6;

const SECONDS: u64 = 2;

const WARM_UP: u64 = 1;
