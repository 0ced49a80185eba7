//! The comparison: every photograph × side × format, all contestants in turn, there and back (ABBA), so
//! that whatever the machine does meanwhile falls on everyone alike.

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

/// What is compared.
pub(crate) struct Setup {
    /// Longest sides.
    pub(crate) sides: Vec<u32>,
    /// Output formats.
    pub(crate) formats: Vec<Format>,
    /// Who runs.
    pub(crate) contestants: Vec<Contestant>,
    /// Times there and back; each gives two samples.
    pub(crate) rounds: usize,
}

/// The results of a run, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    /// The machine and the libraries.
    pub(crate) machine: raw::Machine,
    /// Times there and back.
    pub(crate) rounds: usize,
    /// Every photograph × side × format × contestant.
    pub(crate) results: Vec<Measured>,
    /// Peak memory of each contestant, alone in a process.
    pub(crate) memory: Vec<memory::Peak>,
    /// What Andon has to come to beside libvips.
    pub(crate) goals: Vec<Goal>,
}

/// One contestant on one photograph.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) photo: String,
    pub(crate) side: u32,
    pub(crate) format: Format,
    pub(crate) contestant: Contestant,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Andon's plan; nothing for the peers.
    pub(crate) plan: Option<String>,
    /// Wall-clock seconds of each run, in order.
    pub(crate) seconds: Vec<f64>,
    /// Processor seconds of the whole process for each run.
    pub(crate) cpu_seconds: Vec<f64>,
    /// Median of `seconds`.
    pub(crate) median_seconds: f64,
    /// Median of `cpu_seconds`.
    pub(crate) median_cpu_seconds: f64,
    pub(crate) bytes: usize,
    pub(crate) psnr: f64,
    pub(crate) ssim: f64,
}

/// Measures everything; tells on stderr how far it is.
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
                    let picture = peers::decode(&output)?;
                    ensure!(
                        (picture.width, picture.height) == (small.width, small.height),
                        "{} made {}x{} of {name}, not {}x{}",
                        measured.contestant.name(),
                        picture.width,
                        picture.height,
                        small.width,
                        small.height
                    );
                    measured.bytes = output.len();
                    measured.psnr = psnr(&perfect, &picture);
                    measured.ssim = ssim(&perfect, &picture);
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

/// One contestant's photographs of one format and side, in the same order for each contestant.
pub(crate) fn of(
    results: &[Measured],
    contestant: Contestant,
    format: Format,
    side: u32,
) -> Vec<&Measured> {
    results
        .iter()
        .filter(|one| (one.contestant, one.format, one.side) == (contestant, format, side))
        .collect()
}

/// The longest sides that were measured with this format, ascending.
pub(crate) fn sides(results: &[Measured], format: Format) -> Vec<u32> {
    let mut sides: Vec<u32> = results
        .iter()
        .filter(|one| one.format == format)
        .map(|one| one.side)
        .collect();
    sides.sort_unstable();
    sides.dedup();
    sides
}

/// For each photograph, how many times as many images the first makes as the second.
pub(crate) fn ratios(ours: &[&Measured], theirs: &[&Measured]) -> Vec<f64> {
    ours.iter()
        .zip(theirs)
        .map(|(our, their)| their.median_seconds / our.median_seconds)
        .collect()
}

/// All contestants on one job, interleaved.
fn race(setup: &Setup, name: &str, job: &Job<'_>) -> Result<Vec<Measured>> {
    let mut all = Vec::new();
    for &contestant in &setup.contestants {
        // Once outside the clock: caches, lazily started threads, first-use tables.
        contestant.run(job)?;
        all.push(Measured {
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
        let there = 0..all.len();
        let back = (0..all.len()).rev();
        for index in there.chain(back) {
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

/// Processor time of all threads of this process.
pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
