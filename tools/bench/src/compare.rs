//! Compares Andon with libvips, ImageMagick and GD at shrinking photos: every photo × longest side × output format.
//! These contestants take turns in the order ABBA (forwards, then backwards), so that disturbances on the machine
//! affect all of them alike.

mod targets;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::engines::{Contestant, Format, Job, engine};
use crate::goals::Goal;
use crate::photos::Folder;
use crate::quality::{psnr, ssim};
use crate::stats::median;
use crate::{memory, peers, raw, reference};

/// Settings of a comparison. Every photo is rendered by each contestant, with each longest side, in each format.
pub(crate) struct Setup {
    /// Longest sides of the results, in px.
    pub(crate) sides: Vec<u32>,
    /// Output formats.
    pub(crate) formats: Vec<Format>,
    /// Contestants to measure.
    pub(crate) contestants: Vec<Contestant>,
    /// Number of rounds. In each round the contestants run forwards and then backwards, which gives two samples each.
    pub(crate) rounds: usize,
}

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    /// Description of the machine and the libraries.
    pub(crate) machine: raw::Machine,
    /// Number of rounds, each forwards and backwards through the contestants.
    pub(crate) rounds: usize,
    /// Results for every photo × longest side × format × contestant.
    pub(crate) results: Vec<Measurement>,
    /// Peak memory of each contestant, measured alone in a process.
    pub(crate) memory: Vec<memory::Peak>,
    /// Goals that Andon must reach in comparison with libvips, with their outcome.
    pub(crate) goals: Vec<Goal>,
}

/// Results of one contestant on one photo, at one size and in one format.
#[derive(Serialize)]
pub(crate) struct Measurement {
    pub(crate) photo: String,
    pub(crate) side: u32,
    pub(crate) format: Format,
    pub(crate) contestant: Contestant,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Andon's plan for rendering the photo, as text. `None` for the other contestants.
    pub(crate) plan: Option<String>,
    /// Wall-clock seconds of each rendering of the photo, in order.
    pub(crate) seconds: Vec<f64>,
    /// CPU seconds of the whole process for each rendering of the photo, in order.
    pub(crate) cpu_seconds: Vec<f64>,
    /// Median of `seconds`.
    pub(crate) median_seconds: f64,
    /// Median of `cpu_seconds`.
    pub(crate) median_cpu_seconds: f64,
    pub(crate) bytes: usize,
    pub(crate) psnr: f64,
    pub(crate) ssim: f64,
}

/// Runs the whole comparison and reports its progress on stderr.
pub(crate) fn run(setup: &Setup, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let mut results = Vec::new();
    for (index, name) in photos.names.iter().enumerate() {
        eprintln!("{} of {}: {name}", index + 1, photos.names.len());
        let photo = photos.read(name)?;
        let full = peers::decode(&photo)?;
        for &side in &setup.sides {
            let first = peers::vips(&photo, side, Format::Jpeg)?;
            let small = peers::decode(&first)?;
            let perfect = reference::resize(&full, small.width, small.height);
            for &format in &setup.formats {
                let job = Job {
                    photo: &photo,
                    side,
                    size: (small.width as u32, small.height as u32),
                    format,
                };
                for mut measured in race(setup, name, &job)? {
                    let output = measured.contestant.run(&job)?;
                    let image = peers::decode(&output)?;
                    ensure!(
                        (image.width, image.height) == (small.width, small.height),
                        "{} made {}x{} of {name}, not {}x{}",
                        measured.contestant.name(),
                        image.width,
                        image.height,
                        small.width,
                        small.height
                    );
                    measured.bytes = output.len();
                    measured.psnr = psnr(&perfect, &image);
                    measured.ssim = ssim(&perfect, &image);
                    results.push(measured);
                }
            }
        }
    }
    eprintln!("memory, each alone in a process");
    let memory = memory::all(setup, photos)?;
    Ok(Run {
        machine,
        rounds: setup.rounds,
        goals: targets::judge(&results),
        results,
        memory,
    })
}

/// Returns one contestant's results for one format and longest side. The order of the photos is the same for every
/// contestant.
pub(crate) fn of(
    results: &[Measurement],
    contestant: Contestant,
    format: Format,
    side: u32,
) -> Vec<&Measurement> {
    results
        .iter()
        .filter(|one| (one.contestant, one.format, one.side) == (contestant, format, side))
        .collect()
}

/// Returns the longest sides (in px) that were measured with this format, ascending.
pub(crate) fn sides(results: &[Measurement], format: Format) -> Vec<u32> {
    let mut sides: Vec<u32> = results
        .iter()
        .filter(|one| one.format == format)
        .map(|one| one.side)
        .collect();
    sides.sort_unstable();
    sides.dedup();
    sides
}

/// For each photo, returns how many times as fast `ours` is as `theirs`, by median time.
pub(crate) fn ratios(ours: &[&Measurement], theirs: &[&Measurement]) -> Vec<f64> {
    ours.iter()
        .zip(theirs)
        .map(|(our, their)| their.median_seconds / our.median_seconds)
        .collect()
}

/// Renders one photo repeatedly, at one size and in one format, with all contestants in turns, and returns one
/// measurement per contestant.
fn race(setup: &Setup, name: &str, job: &Job<'_>) -> Result<Vec<Measurement>> {
    let mut all = Vec::new();
    for &contestant in &setup.contestants {
        // One untimed run first: caches, lazily started threads, first-use tables.
        contestant.run(job)?;
        all.push(Measurement {
            photo: name.to_owned(),
            side: job.side,
            format: job.format,
            contestant,
            width: job.size.0,
            height: job.size.1,
            plan: match contestant {
                Contestant::Andon => Some(plan(job)?),
                _ => None,
            },
            seconds: Vec::new(),
            cpu_seconds: Vec::new(),
            median_seconds: f64::NAN,
            median_cpu_seconds: f64::NAN,
            bytes: 0,
            psnr: f64::NAN,
            ssim: f64::NAN,
        });
    }
    for _ in 0..setup.rounds {
        let forwards = 0..all.len();
        let backwards = (0..all.len()).rev();
        for index in forwards.chain(backwards) {
            let one = &mut all[index];
            let (wall, cpu) = (Instant::now(), cpu_seconds());
            let output = one.contestant.run(job)?;
            one.cpu_seconds.push(cpu_seconds() - cpu);
            one.seconds.push(wall.elapsed().as_secs_f64());
            drop(output);
        }
    }
    for one in &mut all {
        one.median_seconds = median(&one.seconds);
        one.median_cpu_seconds = median(&one.cpu_seconds);
    }
    Ok(all)
}

fn plan(job: &Job<'_>) -> Result<String> {
    let recipe: andon_recipe::Recipe = job.recipe().parse().context("recipe")?;
    Ok(engine().plan(&recipe, job.photo)?.to_string())
}

/// Returns the CPU time in seconds that all threads of this process have used so far.
pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
