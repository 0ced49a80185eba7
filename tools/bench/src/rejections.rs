//! Benchmark of clients that wait for each response before they send the next request, on many distinct photos. The
//! server must not reject any request, neither right after its start nor later.
//!
//! Every request differs from all others, so that no cache can serve it.

mod photo_set;

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;

use crate::goals::{self, Goal, Strictness};
use crate::http::client::{Connection, run_clients};
use crate::http::server::{ResultCaching, Server};
use crate::photos::Folder;
use crate::stats::Latency;
use crate::{proc, raw};
use photo_set::PhotoSet;

/// Options of `./dev bench rejections`.
#[derive(Args)]
pub(crate) struct RejectionsArgs {
    /// Seconds of each load: one on a fresh server, and one more on the same server.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Numbers of connections per core.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 32])]
    connections: Vec<usize>,
    /// Numbers of worker threads of the server.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    workers: Vec<usize>,
    /// Five seconds of each load, on a quarter of the photos, for a quick check whose results are not published.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    seconds: u64,
    photos: PhotoSet,
    cases: Vec<Case>,
    pub(crate) goals: Vec<Goal>,
}

/// Results of one server with one number of connections.
#[derive(Serialize)]
struct Case {
    workers: usize,
    connections_per_core: usize,
    connections: usize,
    fresh: Load,
    warm: Load,
    /// Peak of the server's resident memory in bytes (`VmHWM`).
    peak_bytes: u64,
}

/// Results of one load. All times are in milliseconds.
#[derive(Serialize)]
struct Load {
    requests: usize,
    rejected: usize,
    /// Body of the first rejection.
    rejection: Option<String>,
    /// Responses that are neither an image nor a rejection.
    others: usize,
    per_second: f64,
    latency: Latency,
    /// Time that requests waited for a worker thread, as reported in `Server-Timing`.
    queued: Latency,
}

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &RejectionsArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let (seconds, count) = if args.quick {
        (5, PHOTOS / 4)
    } else {
        (args.seconds, PHOTOS)
    };
    let set = PhotoSet::make(photos, count)?;
    let mut cases = Vec::new();
    for workers in &args.workers {
        for connections in &args.connections {
            let time = Duration::from_secs(seconds);
            let case = Case::measure(&set, *workers, *connections, time)?;
            case.print();
            cases.push(case);
        }
    }
    let goals = goals(&cases);
    goals::print(&goals);
    Ok(Run {
        machine,
        seconds,
        photos: set,
        cases,
        goals,
    })
}

fn goals(cases: &[Case]) -> Vec<Goal> {
    let loads = || cases.iter().flat_map(|case| [&case.fresh, &case.warm]);
    let rejected: usize = loads().map(|load| load.rejected).sum();
    let others: usize = loads().map(|load| load.others).sum();
    let fewest = loads().map(|load| load.requests).min().unwrap_or(0);
    vec![
        Goal::at_most("rejections", rejected as f64, 0.0, "replies"),
        Goal::at_most("neither image nor 503", others as f64, 0.0, "replies"),
        Goal::at_least("requests in each load", fewest as f64, 1.0, "requests"),
    ]
}

impl Case {
    fn measure(
        set: &PhotoSet,
        workers: usize,
        connections_per_core: usize,
        time: Duration,
    ) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let connections = connections_per_core * cores;
        let keys = format!("workers = {workers}");
        let server = Server::configured(&set.path, ResultCaching::Default, &keys)?;
        let next = AtomicUsize::new(0);
        let fresh = load(&server, set, &next, connections, time)?;
        let warm = load(&server, set, &next, connections, time)?;
        let request_count = next.into_inner();
        ensure!(
            request_count <= set.requests(),
            "after {} requests the cache could answer; make --seconds fewer",
            set.requests()
        );
        let peak_bytes = proc::status_bytes(&server.pid().to_string(), "VmHWM")?;
        server.stop()?;
        Ok(Self {
            workers,
            connections_per_core,
            connections,
            fresh,
            warm,
            peak_bytes,
        })
    }

    fn print(&self) {
        for (name, load) in [("fresh", &self.fresh), ("warm", &self.warm)] {
            println!(
                "{} worker(s), {:3} connections, {name:5} {:5} requests, {:.1}/s, {} rejected, {} others; latency p50 {:.0} ms, p99 {:.0} ms; queued p50 {:.0} ms, p99 {:.0} ms, at most {:.0} ms",
                self.workers,
                self.connections,
                load.requests,
                load.per_second,
                load.rejected,
                load.others,
                load.latency.p50_ms,
                load.latency.p99_ms,
                load.queued.p50_ms,
                load.queued.p99_ms,
                load.queued.longest_ms
            );
            if let Some(rejection) = &load.rejection {
                println!("  {rejection}");
            }
        }
    }
}

/// Results that all clients collect.
#[derive(Default)]
struct Tally {
    latencies: Vec<f64>,
    queued: Vec<f64>,
    rejected: usize,
    rejection: Option<String>,
    others: usize,
}

fn load(
    server: &Server,
    set: &PhotoSet,
    next: &AtomicUsize,
    connections: usize,
    time: Duration,
) -> Result<Load> {
    let start = Instant::now();
    let tally = Mutex::new(Tally::default());
    let client = || -> Result<()> {
        let mut connection = Connection::open(server)?;
        while start.elapsed() < time {
            let url = set.url(next.fetch_add(1, Ordering::Relaxed));
            let request_start = Instant::now();
            let reply = connection.ask(&url)?;
            let took = request_start.elapsed().as_secs_f64() * 1e3;
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            match reply.status {
                200 => {
                    tally.latencies.push(took);
                    tally.queued.push(reply.queued_ms());
                }
                503 => {
                    tally.rejected += 1;
                    let text = || String::from_utf8_lossy(&reply.body).trim().to_owned();
                    tally.rejection.get_or_insert_with(text);
                }
                _ => tally.others += 1,
            }
        }
        Ok(())
    };
    run_clients(connections, client)?;
    let seconds = start.elapsed().as_secs_f64();
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Load {
        requests: tally.latencies.len() + tally.rejected + tally.others,
        rejected: tally.rejected,
        rejection: tally.rejection,
        others: tally.others,
        per_second: tally.latencies.len() as f64 / seconds,
        latency: Latency::of(tally.latencies),
        queued: Latency::of(tally.queued),
    })
}

/// Number of distinct photos.
const PHOTOS: usize = 96;
