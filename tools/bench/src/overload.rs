//! Benchmark of a server under overload: it first measures the capacity of the server, then offers ten times as much
//! (by default).
//!
//! The load is an open loop: requests are sent when they are due, whether or not earlier ones were answered, and
//! latencies count from that time. The clients share the server's cores. The results include how late they sent
//! requests and how much CPU time they used.
//!
//! Every image request has its own size and quality, so that no cached result can serve it, and the server caches no
//! decoded frames. In addition `/healthz` and a few images that were requested before are requested at a slow, steady
//! rate. Each of these images has to be a hit by its `Cache-Status`.
//!
//! **Goodput** counts work, not responses (see [`crate::work`]). Under overload the server prefers light images and
//! renders more of them than the capacity for the mixed load, so their number alone is misleading. **Peak** is the mean
//! of two closed loops, one before and one after everything else, because other activity on the machine changes, mostly
//! slowly.

mod open_loop;
mod phase;

use std::mem;
use std::num::NonZero;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;

use crate::goals::{self, Goal, Strictness};
use crate::http::client::{Connection, run_clients};
use crate::http::server::{ResultCaching, Server};
use crate::photos::Folder;
use crate::work::Prices;
use crate::{proc, raw};
use open_loop::Answer;
use phase::Phase;

/// Options of `./dev bench overload`.
#[derive(Args)]
pub(crate) struct OverloadArgs {
    /// Seconds of overload, and of the 80 % load before it. The peak is measured by a closed loop of half that time.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Offered load as a multiple of the server's capacity.
    #[arg(long, default_value_t = 10.0)]
    times: f64,
    /// Ten seconds of overload and of the 80 % load, for a quick check whose results are not published.
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
    /// Peak throughput, measured with closed loops of four connections per core, before and after everything else.
    peak: [Peak; 2],
    /// Phase in which the offered rate is 80 % of the peak throughput measured at the beginning.
    normal: Phase,
    /// Phase in which the offered rate is `times` times the peak throughput measured at the beginning.
    overload: Phase,
    /// The offered rate during the overload, divided by the peak throughput measured at the beginning.
    times: f64,
    /// Phase right after the overload, in which the offered rate is half of the peak throughput measured at the
    /// beginning.
    after: Phase,
    /// Recovery time in seconds. It has two parts: the time from the end of the overload to its last response, and the
    /// time in the phase `after` until its last response that was slow or no image. Slow means more than twice the p99
    /// of the phase `normal`.
    recovery_seconds: f64,
    pub(crate) goals: Vec<Goal>,
}

/// Throughput of a server that is fully busy but not overloaded.
#[derive(Serialize)]
struct Peak {
    images_per_second: f64,
    /// Goodput: milliseconds of work in the rendered images per second (see [`crate::work`]).
    work_per_second: f64,
}

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &OverloadArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let seconds = if args.quick { 10 } else { args.seconds };
    let time = Duration::from_secs(seconds);
    let server = Server::start(&photos.path, ResultCaching::WithoutFrames)?;
    let load = Load {
        server: &server,
        photos,
        next: AtomicUsize::new(REPEATED),
        repeated: (0..REPEATED).map(|number| url(photos, number)).collect(),
    };

    // Warm-up, in which predictions settle and file caches are filled.
    load.closed(Duration::from_secs(seconds.div_ceil(5)))?;
    let before = load.closed(time / 2)?;
    let rate = before.images.len() as f64 / before.seconds;
    println!("peak: {rate:.1} images/s before everything else");
    ensure!(rate > 0.0, "the server answered nothing");

    let normal = load.open(0.8 * rate, time)?;
    let overload = load.open(args.times * rate, time)?;
    let calm = load.open(0.5 * rate, CALM)?;
    let after = load.closed(time / 2)?;
    server.stop()?;

    let samples: Vec<_> = [&before, &after]
        .into_iter()
        .flat_map(|closed| &closed.images)
        .map(|(number, millis)| (class(photos, *number), *millis))
        .collect();
    let prices = Prices::of(&samples);
    let price = |numbers: &mut dyn Iterator<Item = usize>| {
        prices.sum(numbers.map(|number| class(photos, number)))
    };
    let peak = [before, after].map(|closed| Peak {
        images_per_second: closed.images.len() as f64 / closed.seconds,
        work_per_second: price(&mut closed.images.iter().map(|one| one.0)) / closed.seconds,
    });
    println!(
        "peak: {:.1} images/s after it; {:.0} and {:.0} ms of work/s",
        peak[1].images_per_second, peak[0].work_per_second, peak[1].work_per_second
    );
    let phase = |open: &Open, time, name: &str| {
        let work = |indices: &[usize]| price(&mut indices.iter().map(|index| open.first + index));
        let phase = Phase::of(&open.answers, time, open.client_cores, work);
        phase.print(name);
        phase
    };
    let mut run = Run {
        machine,
        seconds,
        normal: phase(&normal, time, "80 % of it"),
        overload: phase(&overload, time, &format!("{} times it", args.times)),
        times: args.times,
        after: phase(&calm, CALM, "50 %, right after"),
        peak,
        recovery_seconds: 0.0,
        goals: Vec::new(),
    };
    let drained = last_reply(&overload.answers) - time.as_secs_f64();
    run.recovery_seconds =
        drained.max(0.0) + recovery(&calm.answers, 2.0 * run.normal.accepted.p99_ms);
    run.goals = goals(&run);
    goals::print(&run.goals);
    Ok(run)
}

fn goals(run: &Run) -> Vec<Goal> {
    let phases = [&run.normal, &run.overload, &run.after];
    let peak = f64::midpoint(run.peak[0].work_per_second, run.peak[1].work_per_second);
    let goodput = 100.0 * run.overload.work_per_second / peak;
    let slowest_hits = phases.map(|phase| phase.hits.p99_ms).into_iter();
    let misses: usize = phases.iter().map(|phase| phase.missed).sum();
    let others: usize = phases.iter().map(|phase| phase.others).sum();
    vec![
        Goal::at_least("goodput, as work", goodput, 95.0, "% of peak"),
        Goal::at_most("admitted p99", run.overload.accepted.p99_ms, 1500.0, "ms"),
        Goal::at_most("rejected p99", run.overload.refused.p99_ms, 10.0, "ms"),
        Goal::at_most(
            "rejected at 80 % load",
            run.normal.refused.count as f64,
            0.0,
            "replies",
        ),
        Goal::at_most(
            "hits p99, in the slowest phase",
            // NaN, which means that there were no hits, counts as the largest value.
            slowest_hits.max_by(f64::total_cmp).unwrap_or(f64::NAN),
            10.0,
            "ms",
        ),
        Goal::at_most("hits that were none", misses as f64, 0.0, "replies"),
        Goal::at_most("neither image nor 503", others as f64, 0.0, "replies"),
        Goal::at_most("normal again after", run.recovery_seconds, 1.0, "s"),
    ]
}

struct Load<'a> {
    server: &'a Server,
    photos: &'a Folder,
    /// Number of the next image. Only the images in `repeated` are requested more than once.
    next: AtomicUsize,
    /// Paths of the images that are requested repeatedly.
    repeated: Vec<String>,
}

/// Results of a closed loop.
struct Closed {
    /// Number and milliseconds of work of each rendered image.
    images: Vec<(usize, f64)>,
    seconds: f64,
}

/// Results of an open loop.
struct Open {
    /// Number of the first image that was requested. The others have the numbers after it.
    first: usize,
    answers: Vec<Answer>,
    client_cores: f64,
}

impl Load<'_> {
    /// Runs a closed loop for `time` with four connections per core, which keep all threads busy without long waits.
    fn closed(&self, time: Duration) -> Result<Closed> {
        let connections = 4 * thread::available_parallelism().map_or(1, NonZero::get);
        let start = Instant::now();
        let images = Mutex::new(Vec::new());
        run_clients(connections, || {
            let mut connection = Connection::open(self.server)?;
            while start.elapsed() < time {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                let reply = connection.ask(&url(self.photos, number))?;
                if reply.status == 200 {
                    lock(&images).push((number, reply.work_ms()));
                }
            }
            Ok(())
        })?;
        Ok(Closed {
            seconds: start.elapsed().as_secs_f64(),
            images: mem::take(&mut *lock(&images)),
        })
    }

    /// Runs an open loop of `rate` image requests per second, plus requests for `/healthz` and for repeated images.
    fn open(&self, rate: f64, time: Duration) -> Result<Open> {
        let mut connection = Connection::open(self.server)?;
        for url in &self.repeated {
            connection.get(url)?;
        }
        let due = open_loop::random_moments(rate, time);
        let first = self.next.fetch_add(due.len(), Ordering::Relaxed);
        let url = |index| url(self.photos, first + index);
        let (start, busy) = (Instant::now(), proc::cpu_seconds(process::id())?);
        let answers = open_loop::run(self.server, &due, url, time, &self.repeated)?;
        let busy = proc::cpu_seconds(process::id())? - busy;
        Ok(Open {
            first,
            answers,
            client_cores: busy / start.elapsed().as_secs_f64(),
        })
    }
}

/// Returns the path of image `number`. There are 401 sizes and 35 qualities of each photo. 401 is prime, so
/// numbers far apart also give different images.
fn url(photos: &Folder, number: usize) -> String {
    let photo = &photos.names[number % photos.names.len()];
    let side = SMALLEST + number % SIDES;
    let quality = 60 + number / SIDES % 35;
    format!("/small_light(dw={side},dh={side},da=l,q={quality},of=jpg)/{photo}")
}

/// Returns the class of image `number`. Images of one class show the same photo in a similar size and take about the
/// same time to render.
fn class(photos: &Folder, number: usize) -> usize {
    let size = number % SIDES * SIZES / SIDES;
    number % photos.names.len() * SIZES + size
}

/// Returns the seconds from the start of a phase to the last response to an image request that was slow or no image:
/// slower than `slow_ms`, or with a status other than 200.
fn recovery(answers: &[Answer], slow_ms: f64) -> f64 {
    last_reply(
        answers
            .iter()
            .filter(|answer| answer.status != 200 || answer.took_ms > slow_ms),
    )
}

/// Returns the seconds from the start of a phase to the last response to an image request. Responses of other kinds do
/// not count.
fn last_reply<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> f64 {
    answers
        .into_iter()
        .filter(|answer| answer.kind == open_loop::Kind::Image)
        .map(|answer| answer.due_seconds + answer.took_ms / 1e3)
        .fold(0.0, f64::max)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Minimum of the longest side that is requested, in px.
const SMALLEST: usize = 200;

/// Number of different sizes that are requested.
const SIDES: usize = 401;

/// Number of classes that the sizes are grouped into.
const SIZES: usize = 4;

/// Number of images that are requested repeatedly.
const REPEATED: usize = 16;

/// Duration of the phase after the overload, in which the offered rate is half of the peak throughput.
const CALM: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_image_is_asked_for_twice_in_a_whole_run() {
        let photos = Folder {
            path: "photos".into(),
            names: (0..16).map(|number| format!("{number}.jpg")).collect(),
        };
        let urls: HashSet<_> = (0..200_000).map(|number| url(&photos, number)).collect();
        assert_eq!(urls.len(), 200_000);
    }
}
