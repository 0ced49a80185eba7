//! Benchmark of many clients, large images and little memory: the same load with and without a memory limit.
//!
//! 64 clients (by default) in closed loops request results of JPEG and PNG files of 8 to 24 megapixels, each in a size
//! and quality that was not requested before. A client that is rejected requests the same image again after the time in
//! `Retry-After`.
//!
//! Two servers with default configuration, caches included, run side by side, one of them under the limit. Only one of
//! them is loaded at a time: limited, free, free, limited, and so on, so that changes on the machine affect both alike.
//! Both get the same requests in the same order. Throughput counts work, not responses (see [`crate::work`]), because a
//! server with less memory may prefer other images.

mod images;
mod limit;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

use crate::goals::{self, Goal, Strictness};
use crate::http::client::Connection;
use crate::http::server::{ResultCaching, Server};
use crate::photos::Folder;
use crate::work::Prices;
use crate::{proc, raw};
use images::Images;
use limit::Limit;

/// Options of `./dev bench memory`.
#[derive(Args)]
pub(crate) struct MemoryArgs {
    /// Seconds of load on each server, split into turns.
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// Memory limit in MiB.
    #[arg(long, default_value_t = 512)]
    limit: u64,
    /// Number of clients, each in a closed loop.
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Ten seconds of load on each server, for a quick check whose results are not published.
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
    clients: usize,
    /// Number of image files from which results are requested.
    files: usize,
    /// Size of the largest file's image in megapixels.
    megapixels: f64,
    limit_bytes: u64,
    /// How the memory limit was set, as text.
    limit: String,
    unbounded: Load,
    limited: Load,
    pub(crate) goals: Vec<Goal>,
}

/// Results of one server.
#[derive(Serialize)]
struct Load {
    images_per_second: f64,
    /// Goodput: milliseconds of work in the rendered images per second (see [`crate::work`]).
    work_per_second: f64,
    /// Goodput of each of the server's turns, in milliseconds of work per second.
    work_by_turn: Vec<f64>,
    refused: usize,
    /// Share of PNG sources among the rendered images, in per cent.
    png_percent: f64,
    /// Requests that ended with neither an image nor a 503, including lost connections.
    others: usize,
    /// Peak of the server's resident memory in bytes (`VmHWM`). `None` if it could not be read at the end, as after a
    /// kill.
    peak_bytes: Option<u64>,
    /// Maximum number of bytes that were charged to the server's control group, including files in the page cache.
    /// `None` without a control group.
    group_peak_bytes: Option<u64>,
    /// Number of processes in the server's control group that the kernel killed. `None` without a control group.
    kills: Option<u64>,
    /// Whether the server was still running at the end.
    survived: bool,
}

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &MemoryArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let seconds = if args.quick { 10 } else { args.seconds };
    let time = Duration::from_secs(seconds);
    println!("making large images…");
    let images = Images::make(photos, args.quick)?;
    println!(
        "{} files, the largest of {:.1} megapixels; {} clients, {seconds} s each",
        images.names.len(),
        images.megapixels,
        args.clients
    );

    let limit_bytes = args.limit << 20;
    let (limit, none) = (Limit::of(limit_bytes)?, Limit::none());
    println!("the limit: {}", limit.describe());
    let mut limited = Side::start(&limit, &images)?;
    let mut free = Side::start(&none, &images)?;
    let turn = time / (2 * ROUNDS);
    for _ in 0..ROUNDS {
        limited.load(&images, args.clients, turn);
        free.load(&images, args.clients, turn);
        free.load(&images, args.clients, turn);
        limited.load(&images, args.clients, turn);
    }

    let samples = free
        .turns
        .iter()
        .flat_map(|turn| turn.renders.iter().copied());
    let prices = Prices::of(&samples.collect::<Vec<_>>());
    let limited = limited.finish(&images, &prices)?;
    let unbounded = free.finish(&images, &prices)?;
    limited.print("with the limit");
    unbounded.print("without");
    let goals = goals(&unbounded, &limited);
    goals::print(&goals);
    Ok(Run {
        machine,
        seconds,
        clients: args.clients,
        files: images.names.len(),
        megapixels: images.megapixels,
        limit_bytes,
        limit: limit.describe().to_owned(),
        unbounded,
        limited,
        goals,
    })
}

/// Number of times that the turns limited, free, free, limited are repeated. In each round both servers have two turns.
const ROUNDS: u32 = 2;

fn goals(unbounded: &Load, limited: &Load) -> Vec<Goal> {
    let work = 100.0 * limited.work_per_second / unbounded.work_per_second;
    // Under a limit on the address space the kernel kills no process, so the only criterion is whether the server
    // survived.
    let kills = limited.kills.unwrap_or(u64::from(!limited.survived));
    vec![
        Goal::at_most("kills", kills as f64, 0.0, "processes"),
        Goal::at_least(
            "alive at the end",
            f64::from(limited.survived),
            1.0,
            "servers",
        ),
        Goal::at_most(
            "neither image nor 503",
            limited.others as f64,
            0.0,
            "replies",
        ),
        Goal::at_least("throughput, as work", work, 90.0, "% of unbounded"),
    ]
}

/// A server under load, with its results so far.
struct Side<'a> {
    limit: &'a Limit,
    server: Server,
    counts: Counts,
    turns: Vec<Turn>,
}

/// Results of one turn of load, before images are weighted with the work that they take.
struct Turn {
    /// Source file (by index) and milliseconds of work of each rendered image.
    renders: Vec<(usize, f64)>,
    seconds: f64,
}

impl<'a> Side<'a> {
    fn start(limit: &'a Limit, images: &Images) -> Result<Self> {
        Ok(Self {
            limit,
            server: Server::spawn(limit.command()?, &images.path, ResultCaching::Default, "")?,
            counts: Counts::default(),
            turns: Vec::new(),
        })
    }

    /// Runs one turn of load. It ends when all pending requests have been answered.
    fn load(&mut self, images: &Images, clients: usize, time: Duration) {
        let (server, counts) = (&self.server, &self.counts);
        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 0..clients {
                scope.spawn(|| client(server, images, counts, start, time));
            }
        });
        let mut renders = counts
            .renders
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.turns.push(Turn {
            renders: std::mem::take(&mut renders),
            seconds: start.elapsed().as_secs_f64(),
        });
    }

    fn finish(self, images: &Images, prices: &Prices) -> Result<Load> {
        // A server that responds now was never killed, because nothing restarts it.
        let survived =
            Connection::open(&self.server).is_ok_and(|mut one| one.get("/healthz").is_ok());
        let pid = self.server.pid().to_string();
        let all = || {
            self.turns
                .iter()
                .flat_map(|turn| &turn.renders)
                .map(|one| one.0)
        };
        let is_png = |file: &usize| images.names[*file].ends_with(".png");
        let (count, pngs) = (all().count() as f64, all().filter(is_png).count() as f64);
        let seconds: f64 = self.turns.iter().map(|turn| turn.seconds).sum();
        let by_turn = self.turns.iter().map(|turn| {
            let work = prices.sum(turn.renders.iter().map(|one| one.0));
            work / turn.seconds
        });
        let load = Load {
            images_per_second: count / seconds,
            work_per_second: prices.sum(all()) / seconds,
            work_by_turn: by_turn.collect(),
            refused: self.counts.refused.into_inner(),
            png_percent: 100.0 * pngs / count,
            others: self.counts.others.into_inner(),
            peak_bytes: proc::status_bytes(&pid, "VmHWM").ok(),
            group_peak_bytes: self.limit.peak_bytes(),
            kills: self.limit.kills(),
            survived,
        };
        if survived {
            self.server.stop()?;
        }
        Ok(load)
    }
}

#[derive(Default)]
struct Counts {
    next: AtomicUsize,
    renders: Mutex<Vec<(usize, f64)>>,
    refused: AtomicUsize,
    others: AtomicUsize,
}

fn client(server: &Server, images: &Images, counts: &Counts, start: Instant, time: Duration) {
    let mut connection = None;
    while start.elapsed() < time {
        let number = counts.next.fetch_add(1, Ordering::Relaxed);
        let url = images.url(number);
        while start.elapsed() < time {
            match one(&mut connection, server, &url) {
                Ok(Answer::Image { work_ms }) => {
                    let mut renders = counts
                        .renders
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    renders.push((images.file(number), work_ms));
                    break;
                }
                Ok(Answer::Refusal { retry_after }) => {
                    counts.refused.fetch_add(1, Ordering::Relaxed);
                    let time_left = time.saturating_sub(start.elapsed());
                    thread::sleep(Duration::from_secs(retry_after).min(time_left));
                }
                Err(_) => {
                    counts.others.fetch_add(1, Ordering::Relaxed);
                    connection = None;
                    thread::sleep(Duration::from_millis(100));
                }
            }
        }
    }
}

enum Answer {
    Image {
        work_ms: f64,
    },
    /// A 503, with the seconds after which the client may retry.
    Refusal {
        retry_after: u64,
    },
}

/// Sends one request, on a new connection if there is none.
fn one(connection: &mut Option<Connection>, server: &Server, url: &str) -> Result<Answer> {
    let open = match connection {
        Some(open) => open,
        None => connection.insert(Connection::open(server)?),
    };
    let reply = open.ask(url)?;
    match reply.status {
        200 => Ok(Answer::Image {
            work_ms: reply.work_ms(),
        }),
        503 => Ok(Answer::Refusal {
            retry_after: reply.retry_after.unwrap_or(1),
        }),
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
            "{name:16} {:.2} images/s ({:.0} ms of work/s, {:.0} % of them of PNG), {} refused, {} others, peak {} resident, {} in the group, {} kills, {}",
            self.images_per_second,
            self.work_per_second,
            self.png_percent,
            self.refused,
            self.others,
            mib(self.peak_bytes),
            mib(self.group_peak_bytes),
            self.kills.map_or("?".to_owned(), |kills| kills.to_string()),
            if self.survived { "alive" } else { "DEAD" }
        );
    }
}
