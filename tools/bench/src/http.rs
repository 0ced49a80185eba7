//! Benchmark of the server under load: closed loops (ten connections by default) over the photos.
//!
//! The first part measures how close the throughput is to cores × the rate of one thread, how many threads are runnable
//! at once, whether memory stays constant, and whether the server ever starts a process. The second part compares
//! cached hits with nginx, the third files and hits with a new connection for each request, the fourth hits over TLS.
//! The fifth measures how much sooner a single image is ready with all cores, and the sixth compares Andon with a
//! server built on sharp.

pub(crate) mod client;
mod delivery;
mod h2load;
mod hits;
mod lone;
mod nginx;
mod peers;
pub(crate) mod server;
mod strace;
mod tls;
mod turns;
mod wrk;

use std::num::NonZero;
use std::thread;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::engines::render;
use crate::photos::Folder;
use crate::proc::Threads;
use crate::raw;
use delivery::Delivery;
use hits::Hits;
use lone::Lone;
use peers::Peers;
use server::{ResultCaching, Server};
use tls::TlsHits;

/// Options of `./dev bench http`.
#[derive(Args)]
pub(crate) struct HttpArgs {
    /// Number of requests. Memory is measured after a tenth of them and after all.
    #[arg(long, default_value_t = 10_000)]
    requests: usize,
    /// Number of connections, each in a closed loop.
    #[arg(long, default_value_t = 10)]
    connections: usize,
    /// Run only this part.
    #[arg(long)]
    part: Option<Part>,
    /// Leave out the additional run in which strace counts processes and threads.
    #[arg(long)]
    no_strace: bool,
    /// Compare with sharp in one short round only, for a quick check whose results are not published.
    #[arg(long)]
    quick: bool,
}

impl HttpArgs {
    /// Returns the name under which the raw results of a run with these options are saved.
    pub(crate) fn kind(&self) -> &'static str {
        match self.part {
            None => "bench-http",
            Some(Part::Pixels) => "bench-http-pixels",
            Some(Part::Hits) => "bench-http-hits",
            Some(Part::Delivery) => "bench-http-delivery",
            Some(Part::Tls) => "bench-http-tls",
            Some(Part::Lone) => "bench-http-lone",
            Some(Part::Peers) => "bench-http-peers",
        }
    }
}

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Rendering images, with no results cached.
    Pixels,
    /// Cached results from memory, compared with nginx.
    Hits,
    /// Unchanged files, and cached results with a new connection for each request, compared with nginx.
    Delivery,
    /// Cached results from memory over TLS, with HTTP/1.1 and HTTP/2.
    Tls,
    /// A single large photo on an otherwise idle server, and what work stealing costs under load.
    Lone,
    /// Comparison with a server built on sharp, with the same photos. Each file is requested once.
    Peers,
}

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    #[serde(flatten)]
    pixels: Option<Pixels>,
    cached_hits: Option<Hits>,
    delivery: Option<Delivery>,
    cached_hits_over_tls: Option<TlsHits>,
    lone_request: Option<Lone>,
    peers: Option<Peers>,
}

/// Results of rendering images without a result cache.
#[derive(Serialize)]
struct Pixels {
    urls: usize,
    requests: usize,
    connections: usize,
    /// Images per second of the engine alone on one thread, before and after the server's run.
    one_thread_rates: [f64; 2],
    /// Responses per second of the server.
    throughput: f64,
    /// Throughput as a share of the ideal one, which is the engine's rate on one thread times the number of cores.
    of_ideal: f64,
    /// The server's threads at the moment with the highest number of runnable ones.
    busiest: Threads,
    /// Resident memory in bytes after a tenth of the requests.
    rss_early_bytes: u64,
    /// Resident memory in bytes after all requests.
    rss_late_bytes: u64,
    /// Processes, execs and threads that strace counted during another run of as many requests. `None` without strace.
    processes: Option<strace::Counts>,
}

/// One of the different requests that the clients send in turn.
pub(crate) struct Request {
    /// Path of the request.
    pub(crate) url: String,
    /// Name of the photo in the URL, so that the engine alone can do the same work.
    photo: String,
    /// The recipe in the URL, so that the engine alone can do the same work.
    recipe: String,
}

/// Runs the selected parts, prints the results and returns them.
pub(crate) fn run(args: &HttpArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let is_selected = |part| args.part.is_none_or(|only| only == part);
    let pixels = is_selected(Part::Pixels).then(|| pixels(args, photos));
    let hits = is_selected(Part::Hits).then(|| hits::run(args.connections, photos));
    let delivery = is_selected(Part::Delivery).then(|| delivery::run(args.connections, photos));
    let tls = is_selected(Part::Tls).then(|| tls::run(args.connections, photos));
    let lone = is_selected(Part::Lone).then(|| lone::run(args.connections, photos));
    let peers = is_selected(Part::Peers).then(|| peers::run(args.connections, photos, args.quick));
    Ok(Run {
        machine,
        pixels: pixels.transpose()?,
        cached_hits: hits.transpose()?,
        delivery: delivery.transpose()?,
        cached_hits_over_tls: tls.transpose()?,
        lone_request: lone.transpose()?,
        peers: peers.transpose()?,
    })
}

fn pixels(args: &HttpArgs, photos: &Folder) -> Result<Pixels> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let requests = requests(photos);
    let urls: Vec<String> = requests.iter().map(|request| request.url.clone()).collect();

    println!(
        "{} photos × 3 sizes × 2 formats, {} connections",
        photos.names.len(),
        args.connections
    );
    let before = one_thread_rate(&requests, photos)?;
    println!("engine alone, one thread:  {before:.1} images/s");

    let server = Server::start(&photos.path, ResultCaching::Nothing)?;
    same_bodies(&requests, photos, &server)?;
    let early = args.requests / 10;
    let first = client::load(&server, &urls, args.connections, 0, early)?;
    let rss_early_bytes = server.rss()?;
    let second = client::load(
        &server,
        &urls,
        args.connections,
        early,
        args.requests - early,
    )?;
    let rss_late_bytes = server.rss()?;
    server.stop()?;
    let after = one_thread_rate(&requests, photos)?;
    println!("engine alone, once more:   {after:.1} images/s");

    let throughput = args.requests as f64 / (first.seconds + second.seconds);
    let of_ideal = throughput / (cores as f64 * f64::midpoint(before, after));
    let busiest = if first.busiest.runnable.len() > second.busiest.runnable.len() {
        first.busiest
    } else {
        second.busiest
    };
    println!(
        "server, {cores} cores:           {throughput:.1} replies/s = {:.0} % of cores × one thread",
        of_ideal * 100.0
    );
    println!(
        "threads:                   {}, at most {} runnable at once ({})",
        busiest.all,
        busiest.runnable.len(),
        busiest.runnable.join(", ")
    );
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "resident memory:           {:.0} MiB after {early} requests, {:.0} MiB after {} ({:+.1} %)",
        mib(rss_early_bytes),
        mib(rss_late_bytes),
        args.requests,
        (rss_late_bytes as f64 / rss_early_bytes as f64 - 1.0) * 100.0
    );

    let processes = if args.no_strace {
        None
    } else {
        let counts = strace::watch(&photos.path, &urls, args.connections, args.requests)?;
        println!(
            "under strace:              {} requests, {} processes started, {} execve, {} threads started",
            args.requests, counts.processes, counts.execs, counts.threads
        );
        Some(counts)
    };
    Ok(Pixels {
        urls: urls.len(),
        requests: args.requests,
        connections: args.connections,
        one_thread_rates: [before, after],
        throughput,
        of_ideal,
        busiest,
        rss_early_bytes,
        rss_late_bytes,
        processes,
    })
}

/// Returns requests for every photo in three sizes and two formats. Neighbouring requests are for different
/// photos.
fn requests(photos: &Folder) -> Vec<Request> {
    let mut requests = Vec::new();
    for (format, of) in [("jpeg", "jpg"), ("webp", "webp")] {
        for side in [150, 400, 1200] {
            for photo in &photos.names {
                requests.push(Request {
                    url: format!("/small_light(dw={side},dh={side},da=l,q=80,of={of})/{photo}"),
                    photo: photo.clone(),
                    recipe: format!("fit:{side}x{side},as:{format},q:80"),
                });
            }
        }
    }
    requests
}

/// Renders every request once with the engine alone on this thread and returns the images per second.
fn one_thread_rate(requests: &[Request], photos: &Folder) -> Result<f64> {
    let mut seconds = 0.0;
    for request in requests {
        let photo = photos.read(&request.photo)?;
        let start = Instant::now();
        render(&request.recipe, &photo)?;
        seconds += start.elapsed().as_secs_f64();
    }
    Ok(requests.len() as f64 / seconds)
}

/// Checks that the server does the same work as the engine alone: for every request the bytes must be equal.
fn same_bodies(requests: &[Request], photos: &Folder, server: &Server) -> Result<()> {
    let mut connection = client::Connection::open(server)?;
    for request in requests {
        let expected = render(&request.recipe, &photos.read(&request.photo)?)?;
        let body = connection.get(&request.url)?;
        ensure!(
            body == expected,
            "{} is not what {} gives",
            request.url,
            request.recipe
        );
    }
    Ok(())
}
