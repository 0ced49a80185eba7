//! Requests images from Andon or from sharp in closed loops, and measures the server meanwhile.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, ensure};
use serde::Serialize;

use super::photo_sets::{self, Set};
use super::sharp::Sharp;
use crate::http::client::{Connection, run_clients};
use crate::http::server::{ResultCaching, Server};
use crate::proc;

/// A server under comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Andon,
    Sharp,
}

/// Which files and sizes are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Work {
    /// Each request is for another file, fitted into a square with sides of `side` px.
    Side { side: u32 },
    /// Each file in the seven widths of a page's `srcset`, one after the other. None of these images was requested
    /// before.
    Srcset,
    /// A few files in eight sizes of at most 400 px. Each file has been requested in a larger size before.
    Second,
}

/// Results of one server under one kind of load.
#[derive(Serialize)]
pub(super) struct Load {
    pub(super) images: usize,
    pub(super) seconds: f64,
    /// CPU seconds of the server.
    pub(super) cpu_seconds: f64,
    peak_bytes: u64,
}

const SRCSET: [u32; 7] = [160, 320, 480, 640, 960, 1280, 1920];

/// Number of files that have been requested at [`KNOWN_SIDE`] before the measurement of `Work::Second` begins.
const KNOWN: usize = 32;
/// Side in px of the square into which files were fitted when they were requested before the measurement of
/// `Work::Second`.
const KNOWN_SIDE: u32 = 800;
/// Number of sizes in which `Work::Second` requests each file.
const SECOND_SIZES: usize = 8;

/// Starts a server with empty caches, measures it under one kind of load and stops it.
pub(super) fn measure(
    peer: Peer,
    set: &Set,
    work: Work,
    connections: usize,
    seconds: f64,
) -> Result<Load> {
    let folder = photo_sets::folder()?;
    let load = |address, pid| ask(peer, address, pid, set, work, connections, seconds);
    match peer {
        Peer::Andon => {
            let server = Server::start(&folder, ResultCaching::WithoutLog)?;
            let load = load(server.address(), server.pid())?;
            server.stop()?;
            Ok(load)
        }
        Peer::Sharp => {
            let server = Sharp::start(&folder)?;
            load(server.address(), server.pid())
        }
    }
}

/// Returns the path at which a server returns the named photo fitted into a square of `side` px.
pub(super) fn url(peer: Peer, side: u32, name: &str) -> String {
    match peer {
        Peer::Andon => format!("/r/fit:{side}x{side},as:jpeg,q:80/{name}"),
        Peer::Sharp => format!("/{side}/{name}"),
    }
}

fn ask(
    peer: Peer,
    address: SocketAddr,
    pid: u32,
    set: &Set,
    work: Work,
    connections: usize,
    seconds: f64,
) -> Result<Load> {
    // The warm-up uses names that the load does not reach. After it, both servers have loaded their code and started
    // their threads.
    let (load_names, warm_up_names) = set.names.split_at(set.names.len() - 4 * connections);
    let warm_up: Vec<(u32, &String)> = warm_up_names.iter().map(|name| (300, name)).collect();
    let mut end = warm_up.len();
    closed_loops(peer, address, connections, &|number| {
        (number < end).then(|| warm_up[number])
    })?;
    if work == Work::Second {
        end = KNOWN;
        closed_loops(peer, address, connections, &|number| {
            (number < end).then(|| (KNOWN_SIDE, &load_names[number]))
        })?;
    }
    let request = |number: usize| match work {
        Work::Side { side } => load_names.get(number).map(|name| (side, name)),
        Work::Srcset => load_names
            .get(number / SRCSET.len())
            .map(|name| (SRCSET[number % SRCSET.len()], name)),
        Work::Second => {
            let round = number / KNOWN;
            (round < SECOND_SIZES).then(|| (400 - 8 * round as u32, &load_names[number % KNOWN]))
        }
    };
    let before = proc::cpu_seconds(pid)?;
    let start = Instant::now();
    let images = closed_loops(peer, address, connections, &|number| {
        let in_time = work == Work::Second || start.elapsed().as_secs_f64() < seconds;
        let request = request(number);
        debug_assert!(
            work == Work::Second || request.is_some(),
            "there are too few names"
        );
        request.filter(|_| in_time)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    ensure!(
        work == Work::Second || request(images).is_some(),
        "all {} names were requested; the load is too long",
        load_names.len()
    );
    Ok(Load {
        images,
        seconds,
        cpu_seconds: proc::cpu_seconds(pid)? - before,
        peak_bytes: proc::status_bytes(&pid.to_string(), "VmHWM")?,
    })
}

/// Sends requests on all connections, each in a closed loop, until `request` returns `None`. Returns the number of
/// responses.
fn closed_loops<'a>(
    peer: Peer,
    address: SocketAddr,
    connections: usize,
    request: &(impl Fn(usize) -> Option<(u32, &'a String)> + Sync),
) -> Result<usize> {
    let (next, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    run_clients(connections, || {
        let mut connection = Connection::to(address)?;
        while let Some((side, name)) = request(next.fetch_add(1, Ordering::Relaxed)) {
            connection.get(&url(peer, side, name))?;
            answered.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(answered.into_inner())
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Side { side } => write!(f, "{side} px"),
            Self::Srcset => f.write_str("seven widths"),
            Self::Second => f.write_str("second size"),
        }
    }
}
