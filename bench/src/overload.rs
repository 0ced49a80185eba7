//! More than the server can do: capacity is measured first, then five times as much is offered.
//!
//! Predictions favour light work, so that more pictures may be made under overload than the mixed load's
//! capacity: the photographs that were refused are the heavier ones.
//!
//! The load is open: requests come when they are due, whether or not earlier ones were answered, and their
//! latencies count from when they were due. The clients run on the same cores as the server. Every request
//! asks for a size of its own, so that no cache can answer; beside them, at a slow steady rate, `/healthz`
//! and one picture that was asked for before (a hit, where there is a cache) are asked for throughout.

mod open_loop;
mod phase;

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;

use crate::http::client::Connection;
use crate::http::server::{Keeping, Server};
use crate::photos::Folder;
use crate::raw;
use open_loop::Answer;
use phase::Phase;

/// Options of `./dev bench overload`.
#[derive(Args)]
pub(crate) struct OverloadArgs {
    /// Seconds of overload, and of each measurement before it.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How many times its capacity the server is offered.
    #[arg(long, default_value_t = 5.0)]
    times: f64,
    /// Ten seconds each: a first look, not a result to publish.
    #[arg(long)]
    quick: bool,
}

/// All that was measured, as it is saved.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    seconds: u64,
    /// Pictures/s in a closed loop of four connections per core.
    capacity: f64,
    /// 80 % of the capacity, offered.
    normal: Phase,
    /// `times` the capacity, offered.
    overload: Phase,
    times: f64,
    /// Half of the capacity, right after the overload.
    after: Phase,
    /// Pictures/s under overload over the capacity.
    goodput_of_peak: f64,
    /// p99 of what was accepted: under overload over 80 % load.
    p99_ratio: f64,
    /// Seconds from the end of the overload to the last refusal, or to the last reply that took more than
    /// twice the p99 of 80 % load.
    recovery_seconds: f64,
}

/// Measures, prints, hands the numbers back.
pub(crate) fn run(args: &OverloadArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let seconds = if args.quick { 10 } else { args.seconds };
    let phase = Duration::from_secs(seconds);
    let server = Server::start(&photos.path, Keeping::Default)?;
    let load = Load {
        server: &server,
        photos,
        next: AtomicUsize::new(0),
    };

    // Predictions settle, caches of files fill.
    load.closed(Duration::from_secs(seconds.div_ceil(5)))?;
    let capacity = load.closed(phase)?;
    println!("capacity:              {capacity:.1} pictures/s");
    ensure!(capacity > 0.0, "the server answered nothing");

    let normal = Phase::of(&load.open(0.8 * capacity, phase)?, phase);
    normal.print("80 % of it");
    let answers = load.open(args.times * capacity, phase)?;
    let overload = Phase::of(&answers, phase);
    overload.print(&format!("{} times it", args.times));
    let calm = Duration::from_secs(10);
    let answers = load.open(0.5 * capacity, calm)?;
    let after = Phase::of(&answers, calm);
    after.print("50 %, right after");
    server.stop()?;

    let goodput_of_peak = overload.pictures_per_second / capacity;
    let p99_ratio = overload.accepted.p99_ms / normal.accepted.p99_ms;
    let recovery_seconds = recovery(&answers, 2.0 * normal.accepted.p99_ms);
    println!("goodput of capacity:   {:.1} %", goodput_of_peak * 100.0);
    println!("accepted p99:          {p99_ratio:.2} × that of 80 % load");
    println!("normal again after:    {recovery_seconds:.2} s");
    Ok(Run {
        machine,
        seconds,
        capacity,
        normal,
        overload,
        times: args.times,
        after,
        goodput_of_peak,
        p99_ratio,
        recovery_seconds,
    })
}

struct Load<'a> {
    server: &'a Server,
    photos: &'a Folder,
    /// The number of the next picture: none is asked for twice.
    next: AtomicUsize,
}

impl Load<'_> {
    /// Pictures/s with as many connections as keep all threads busy and nobody waiting for long.
    fn closed(&self, time: Duration) -> Result<f64> {
        let connections = 4 * thread::available_parallelism().map_or(1, NonZero::get);
        let start = Instant::now();
        let pictures = AtomicUsize::new(0);
        thread::scope(|scope| {
            let clients: Vec<_> = (0..connections)
                .map(|_| {
                    scope.spawn(|| {
                        let mut connection = Connection::open(self.server)?;
                        while start.elapsed() < time {
                            let reply = connection.ask(&self.url())?;
                            pictures.fetch_add(usize::from(reply.status == 200), Ordering::Relaxed);
                        }
                        Ok(())
                    })
                })
                .collect();
            clients.into_iter().try_for_each(joined)
        })?;
        Ok(pictures.into_inner() as f64 / start.elapsed().as_secs_f64())
    }

    /// What became of `rate` requests per second, and of those beside them.
    fn open(&self, rate: f64, time: Duration) -> Result<Vec<Answer>> {
        let first = self.next.load(Ordering::Relaxed);
        let count = (rate * time.as_secs_f64()) as usize;
        self.next.fetch_add(count, Ordering::Relaxed);
        open_loop::run(self.server, rate, time, |index| {
            url(self.photos, first + index)
        })
    }

    fn url(&self) -> String {
        url(self.photos, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// The picture of this number: 401 widths and 35 qualities of each photograph. 401 is prime, so that
/// numbers far apart differ, too.
fn url(photos: &Folder, number: usize) -> String {
    let photo = &photos.names[number % photos.names.len()];
    let side = 200 + number % 401;
    let quality = 60 + number / 401 % 35;
    format!("/small_light(dw={side},dh={side},da=l,q={quality},of=jpg)/{photo}")
}

/// Seconds until everything is as it was.
fn recovery(answers: &[Answer], slow_ms: f64) -> f64 {
    answers
        .iter()
        .filter(|answer| answer.kind == open_loop::Kind::Picture)
        .filter(|answer| answer.status != 200 || answer.took_ms > slow_ms)
        .map(|answer| answer.due_seconds + answer.took_ms / 1e3)
        .fold(0.0, f64::max)
}

fn joined(thread: thread::ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    thread
        .join()
        .unwrap_or_else(|_| anyhow::bail!("a client thread panicked"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_picture_is_asked_for_twice_in_a_whole_run() {
        let photos = Folder {
            path: "photos".into(),
            names: (0..16).map(|number| format!("{number}.jpg")).collect(),
        };
        let urls: HashSet<_> = (0..200_000).map(|number| url(&photos, number)).collect();
        assert_eq!(urls.len(), 200_000);
    }
}
