//! Many clients, large pictures, little memory: the same load with and without a limit.
//!
//! 64 clients in a closed loop ask for results of JPEG and PNG files of 8 to 24 megapixels, each for a size
//! that nobody asked for before. Whoever is refused comes back when it was told to.

mod limit;
mod pictures;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

use crate::http::client::Connection;
use crate::http::server::{Keeping, Server};
use crate::photos::Folder;
use crate::{proc, raw};
use limit::Limit;
use pictures::Pictures;

/// Options of `./dev bench memory`.
#[derive(Args)]
pub(crate) struct MemoryArgs {
    /// Seconds of each of the two runs.
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// The limit, in MiB.
    #[arg(long, default_value_t = 512)]
    limit: u64,
    /// Clients, each in a closed loop.
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Ten seconds each: a first look, not a result to publish.
    #[arg(long)]
    quick: bool,
}

/// All that was measured, as it is saved.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    seconds: u64,
    clients: usize,
    /// Files, and megapixels of the largest.
    files: usize,
    megapixels: f64,
    limit_bytes: u64,
    /// How the limit was set.
    limit: String,
    unbounded: Load,
    limited: Load,
    /// Pictures/s with the limit over those without.
    of_unbounded: f64,
}

/// One run's outcome.
#[derive(Serialize)]
struct Load {
    pictures_per_second: f64,
    refused: usize,
    /// Anything that is no picture and no 503, lost connections among them.
    others: usize,
    /// The server's resident bytes at their peak (`VmHWM`).
    peak_bytes: Option<u64>,
    /// The most bytes that the control group was charged with, files in the page cache included.
    group_peak_bytes: Option<u64>,
    /// Processes of the group that the kernel killed.
    kills: Option<u64>,
    /// Was the server still there at the end?
    survived: bool,
}

/// Measures, prints, hands the numbers back.
pub(crate) fn run(args: &MemoryArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let seconds = if args.quick { 10 } else { args.seconds };
    let time = Duration::from_secs(seconds);
    println!("making large pictures…");
    let pictures = Pictures::make(photos, args.quick)?;
    println!(
        "{} files, the largest of {:.1} megapixels; {} clients, {seconds} s each",
        pictures.names.len(),
        pictures.megapixels,
        args.clients
    );

    let none = Limit::none();
    let unbounded = load(&none, &pictures, args.clients, time)?;
    unbounded.print("without a limit");
    let limit_bytes = args.limit << 20;
    let limit = Limit::of(limit_bytes)?;
    println!("the limit: {}", limit.describe());
    let limited = load(&limit, &pictures, args.clients, time)?;
    limited.print("with it");
    let of_unbounded = limited.pictures_per_second / unbounded.pictures_per_second;
    println!(
        "throughput:      {:.1} % of unbounded",
        of_unbounded * 100.0
    );
    Ok(Run {
        machine,
        seconds,
        clients: args.clients,
        files: pictures.names.len(),
        megapixels: pictures.megapixels,
        limit_bytes,
        limit: limit.describe().to_owned(),
        unbounded,
        limited,
        of_unbounded,
    })
}

fn load(limit: &Limit, pictures: &Pictures, clients: usize, time: Duration) -> Result<Load> {
    let server = Server::spawn(limit.command()?, &pictures.path, Keeping::Nothing, "")?;
    let counts = Counts::default();
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| client(&server, pictures, &counts, start, time));
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let peak_bytes = proc::status_bytes(&server.pid().to_string(), "VmHWM").ok();
    // A client that is answered now is answered by a server that was never killed: none starts it again.
    let survived = Connection::open(&server).is_ok_and(|mut one| one.get("/healthz").is_ok());
    let load = Load {
        pictures_per_second: counts.pictures.into_inner() as f64 / seconds,
        refused: counts.refused.into_inner(),
        others: counts.others.into_inner(),
        peak_bytes,
        group_peak_bytes: limit.peak_bytes(),
        kills: limit.kills(),
        survived,
    };
    if survived {
        server.stop()?;
    }
    Ok(load)
}

#[derive(Default)]
struct Counts {
    next: AtomicUsize,
    pictures: AtomicUsize,
    refused: AtomicUsize,
    others: AtomicUsize,
}

fn client(server: &Server, pictures: &Pictures, counts: &Counts, start: Instant, time: Duration) {
    let mut connection = None;
    while start.elapsed() < time {
        let number = counts.next.fetch_add(1, Ordering::Relaxed);
        match one(&mut connection, server, &pictures.url(number)) {
            Ok(None) => counts.pictures.fetch_add(1, Ordering::Relaxed),
            Ok(Some(seconds)) => {
                let left = time.saturating_sub(start.elapsed());
                thread::sleep(Duration::from_secs(seconds).min(left));
                counts.refused.fetch_add(1, Ordering::Relaxed)
            }
            Err(_) => {
                connection = None;
                thread::sleep(Duration::from_millis(100));
                counts.others.fetch_add(1, Ordering::Relaxed)
            }
        };
    }
}

/// Asks once: nothing for a picture, the seconds to stay away for a refusal.
fn one(connection: &mut Option<Connection>, server: &Server, url: &str) -> Result<Option<u64>> {
    let open = match connection {
        Some(open) => open,
        None => connection.insert(Connection::open(server)?),
    };
    let reply = open.ask(url)?;
    match reply.status {
        200 => Ok(None),
        503 => Ok(Some(reply.retry_after.unwrap_or(1))),
        status => bail!("{url}: status {status}"),
    }
}

impl Load {
    fn print(&self, name: &str) {
        let mib = |bytes: Option<u64>| match bytes {
            Some(bytes) => format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20)),
            None => "?".to_owned(),
        };
        println!(
            "{name:16} {:.2} pictures/s, {} refused, {} others, peak {} resident, {} in the group, {} kills, {}",
            self.pictures_per_second,
            self.refused,
            self.others,
            mib(self.peak_bytes),
            mib(self.group_peak_bytes),
            self.kills.map_or("?".to_owned(), |kills| kills.to_string()),
            if self.survived { "alive" } else { "DEAD" }
        );
    }
}
