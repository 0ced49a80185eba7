//! Many clients, large pictures, little memory: the same load with and without a limit.
//!
//! 64 clients in a closed loop ask for results of JPEG and PNG files of 8 to 24 megapixels, each for a size
//! that nobody asked for before. Whoever is refused comes back for the same picture when it was told to.
//!
//! The server is as it comes, its cache included. It runs without a limit before and after, so that what
//! changes on the machine meanwhile weighs on both sides. Throughput counts work, not replies (see
//! [`crate::work`]): whoever has less memory may prefer other pictures.

mod limit;
mod pictures;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

use crate::goals::{self, Goal};
use crate::http::client::Connection;
use crate::http::server::{Keeping, Server};
use crate::photos::Folder;
use crate::work::Prices;
use crate::{proc, raw};
use limit::Limit;
use pictures::Pictures;

/// Options of `./dev bench memory`.
#[derive(Args)]
pub(crate) struct MemoryArgs {
    /// Seconds with the limit, and without it: half before, half after.
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
    /// Fail if a goal is missed.
    #[arg(long)]
    pub(crate) strict: bool,
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
    /// Before and after.
    unbounded: [Load; 2],
    limited: Load,
    pub(crate) goals: Vec<Goal>,
}

/// One run's outcome.
#[derive(Serialize)]
struct Load {
    pictures_per_second: f64,
    /// The work in them, in milliseconds per second.
    work_per_second: f64,
    refused: usize,
    /// The share of PNG files among the pictures, in per cent.
    png_percent: f64,
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
    let measure = |limit: &Limit, time| load(limit, &pictures, args.clients, time);
    let before = measure(&none, time / 2)?;
    let limit_bytes = args.limit << 20;
    let limit = Limit::of(limit_bytes)?;
    println!("the limit: {}", limit.describe());
    let limited = measure(&limit, time)?;
    let after = measure(&none, time / 2)?;

    let seen: Vec<_> = [&before, &after]
        .into_iter()
        .flat_map(|watched| watched.made.iter().copied())
        .collect();
    let prices = Prices::of(&seen);
    let unbounded = [before, after].map(|watched| watched.load(&pictures, &prices));
    let limited = limited.load(&pictures, &prices);
    unbounded[0].print("without, before");
    limited.print("with the limit");
    unbounded[1].print("without, after");
    let goals = goals(&unbounded, &limited);
    goals::print(&goals);
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
        goals,
    })
}

fn goals(unbounded: &[Load; 2], limited: &Load) -> Vec<Goal> {
    let free = f64::midpoint(unbounded[0].work_per_second, unbounded[1].work_per_second);
    let work = 100.0 * limited.work_per_second / free;
    // Under a limit on addresses nothing is killed; whether it lives tells all.
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
            "neither picture nor 503",
            limited.others as f64,
            0.0,
            "replies",
        ),
        Goal::at_least("throughput, as work", work, 90.0, "% of unbounded"),
    ]
}

/// One run, not yet priced.
struct Watched {
    /// Files, by number, and milliseconds of work.
    made: Vec<(usize, f64)>,
    seconds: f64,
    refused: usize,
    others: usize,
    peak_bytes: Option<u64>,
    group_peak_bytes: Option<u64>,
    kills: Option<u64>,
    survived: bool,
}

fn load(limit: &Limit, pictures: &Pictures, clients: usize, time: Duration) -> Result<Watched> {
    let server = Server::spawn(limit.command()?, &pictures.path, Keeping::Default, "")?;
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
    let watched = Watched {
        made: counts
            .made
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner),
        seconds,
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
    Ok(watched)
}

impl Watched {
    fn load(self, pictures: &Pictures, prices: &Prices) -> Load {
        let count = self.made.len() as f64;
        let is_png = |file: usize| pictures.names[file].ends_with(".png");
        let pngs = self.made.iter().filter(|(file, _)| is_png(*file)).count();
        Load {
            pictures_per_second: count / self.seconds,
            work_per_second: prices.sum(self.made.iter().map(|one| one.0)) / self.seconds,
            png_percent: 100.0 * pngs as f64 / count,
            refused: self.refused,
            others: self.others,
            peak_bytes: self.peak_bytes,
            group_peak_bytes: self.group_peak_bytes,
            kills: self.kills,
            survived: self.survived,
        }
    }
}

#[derive(Default)]
struct Counts {
    next: AtomicUsize,
    made: Mutex<Vec<(usize, f64)>>,
    refused: AtomicUsize,
    others: AtomicUsize,
}

fn client(server: &Server, pictures: &Pictures, counts: &Counts, start: Instant, time: Duration) {
    let mut connection = None;
    while start.elapsed() < time {
        let number = counts.next.fetch_add(1, Ordering::Relaxed);
        let url = pictures.url(number);
        while start.elapsed() < time {
            match one(&mut connection, server, &url) {
                Ok(Answer::Picture { work_ms }) => {
                    let mut made = counts.made.lock().unwrap_or_else(PoisonError::into_inner);
                    made.push((pictures.file(number), work_ms));
                    break;
                }
                Ok(Answer::Refusal { retry_after }) => {
                    counts.refused.fetch_add(1, Ordering::Relaxed);
                    let left = time.saturating_sub(start.elapsed());
                    thread::sleep(Duration::from_secs(retry_after).min(left));
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
    Picture {
        work_ms: f64,
    },
    /// Seconds to stay away.
    Refusal {
        retry_after: u64,
    },
}

/// Asks once.
fn one(connection: &mut Option<Connection>, server: &Server, url: &str) -> Result<Answer> {
    let open = match connection {
        Some(open) => open,
        None => connection.insert(Connection::open(server)?),
    };
    let reply = open.ask(url)?;
    match reply.status {
        200 => Ok(Answer::Picture {
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
            "{name:16} {:.2} pictures/s ({:.0} ms of work/s, {:.0} % of them of PNG), {} refused, {} others, peak {} resident, {} in the group, {} kills, {}",
            self.pictures_per_second,
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
