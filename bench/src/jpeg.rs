//! Our JPEG decoder against libjpeg-turbo, planes against planes, on one thread: `./dev bench jpeg`.

mod alone;
mod turbo;

use std::path::{Path, PathBuf};

use andon_pixels::{Alone, Decode, Limits, Never, Scale, Scales};
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::goals::{self, Goal, Strictness};
use crate::photos::Folder;
use crate::proc::thread_ms;
use crate::raw;
use crate::stats::{geometric_mean, median};

pub(crate) use alone::{JpegAloneArgs, alone};

/// Options of `./dev bench jpeg`.
#[derive(Args)]
pub(crate) struct JpegArgs {
    /// Fewer repeats: a first look, not a result to publish.
    #[arg(long)]
    quick: bool,
    /// Count instructions, too: each photograph once under callgrind, some minutes in all.
    #[arg(long)]
    instructions: bool,
    /// Folders with more photographs, passed over where they are absent.
    #[arg(long, value_delimiter = ',', default_value = "/usr/share/backgrounds")]
    more: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// Who decodes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Decoder {
    /// Andon's.
    Ours,
    /// libjpeg-turbo's.
    Turbo,
}

/// All that was measured, as it is saved.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    photographs: Vec<Photograph>,
    pub(crate) goals: Vec<Goal>,
}

#[derive(Serialize)]
struct Photograph {
    name: String,
    progressive: bool,
    scales: Vec<AtScale>,
    memory: alone::Memory,
}

#[derive(Serialize)]
struct AtScale {
    eighths: u8,
    /// Medians of processor time.
    ours_ms: f64,
    turbo_ms: f64,
    ours_instructions: Option<u64>,
    turbo_instructions: Option<u64>,
}

/// Times libjpeg-turbo: sequential pictures, progressive ones, eighths.
const SPEED: [(bool, u8, f64); 6] = [
    (false, 1, 2.0),
    (false, 2, 1.6),
    (false, 4, 1.25),
    (false, 8, 1.0),
    (true, 1, 5.0),
    (true, 2, 2.5),
];
/// libjpeg-turbo's memory over ours, progressive at 1/8.
const MEMORY: f64 = 16.0;

/// Measures, prints, hands the numbers back.
pub(crate) fn run(args: &JpegArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let rounds = if args.quick { 3 } else { 9 };
    println!(
        "one thread, processor time in ms: ours / libjpeg-turbo's planes, at 1/8, 1/4, 1/2, 1/1"
    );
    let mut photographs = Vec::new();
    let more = args
        .more
        .iter()
        .filter_map(|folder| Folder::open(folder).ok());
    for folder in std::iter::once(Folder::open(&photos.path)?).chain(more) {
        for name in &folder.names {
            let path = folder.path.join(name);
            let Some(photograph) = Photograph::measure(&path, rounds, args.instructions)? else {
                println!("{name:36} is not for planes");
                continue;
            };
            photograph.print();
            photographs.push(photograph);
        }
    }
    ensure!(!photographs.is_empty(), "there was nothing to decode");
    let goals = goals(&photographs);
    goals::print(&goals);
    Ok(Run {
        machine,
        photographs,
        goals,
    })
}

fn goals(photographs: &[Photograph]) -> Vec<Goal> {
    let kind = |progressive: bool| {
        if progressive {
            "progressive"
        } else {
            "sequential"
        }
    };
    let of = |progressive| {
        photographs
            .iter()
            .filter(move |one| one.progressive == progressive)
    };
    let speed = |(progressive, eighths, goal)| {
        let scales = of(progressive).flat_map(|one| &one.scales);
        let ratios = scales
            .filter(move |scale| scale.eighths == eighths)
            .map(|scale| scale.turbo_ms / scale.ours_ms);
        let name = format!("{} at {eighths}/8, speed", kind(progressive));
        Goal::at_least(name, geometric_mean(ratios), goal, "×")
    };
    let memory = geometric_mean(of(true).map(|one| one.memory.ratio()));
    SPEED
        .into_iter()
        .map(speed)
        .chain([Goal::at_least(
            "progressive at 1/8, memory",
            memory,
            MEMORY,
            "×",
        )])
        .collect()
}

impl Photograph {
    /// `None`: not three components that libjpeg-turbo's planes API knows.
    fn measure(path: &Path, rounds: usize, instructions: bool) -> Result<Option<Self>> {
        let file = std::fs::read(path).with_context(|| path.display().to_string())?;
        let info = crate::engines::engine().probe(&file)?;
        if info.model.planes() != 3 || decode(Decoder::Turbo, &file, 8).is_err() {
            return Ok(None);
        }
        let mut scales = Vec::new();
        for eighths in [1, 2, 4, 8] {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..rounds {
                for (decoder, times) in [Decoder::Ours, Decoder::Turbo].into_iter().zip(&mut times)
                {
                    let before = thread_ms();
                    decode(decoder, &file, eighths)?;
                    times.push(thread_ms() - before);
                }
            }
            let count = |decoder| {
                instructions
                    .then(|| alone::instructions(decoder, path, eighths))
                    .transpose()
            };
            scales.push(AtScale {
                eighths,
                ours_ms: median(&times[0]),
                turbo_ms: median(&times[1]),
                ours_instructions: count(Decoder::Ours)?,
                turbo_instructions: count(Decoder::Turbo)?,
            });
        }
        let name = path.file_name().unwrap_or_default();
        Ok(Some(Self {
            name: name.to_string_lossy().into_owned(),
            progressive: info.progressive,
            scales,
            memory: alone::memory(path)?,
        }))
    }

    fn print(&self) {
        print!(
            "{:36} {}",
            self.name,
            if self.progressive { "P" } else { "S" }
        );
        for scale in &self.scales {
            let ratio = scale.turbo_ms / scale.ours_ms;
            print!(
                "  {:6.1}/{:6.1} {ratio:5.2}×",
                scale.ours_ms, scale.turbo_ms
            );
            if let (Some(ours), Some(turbo)) = (scale.ours_instructions, scale.turbo_instructions) {
                print!(" ({:.2}×)", turbo as f64 / ours as f64);
            }
        }
        println!("  memory at 1/8: {:.1}×", self.memory.ratio());
    }
}

/// Decodes and throws away; gives how many samples there were. Never inlined: callgrind knows it by name.
#[inline(never)]
fn decode(decoder: Decoder, file: &[u8], eighths: u8) -> Result<usize> {
    match decoder {
        Decoder::Turbo => turbo::decode(file, eighths),
        Decoder::Ours => {
            let codec = andon_codecs::ALL
                .iter()
                .find(|codec| codec.name() == "jpeg");
            let codec = codec.context("there is no JPEG codec")?;
            let limits = Limits::default();
            let how = Decode {
                scales: Scales::both(Scale(eighths)),
                limits: &limits,
                interrupt: &Never,
                cores: &Alone,
                keep_metadata: false,
            };
            let image = codec.decode(file, &codec.probe(file)?, &how)?;
            let frame = image.frames.first().context("a picture without a frame")?;
            ensure!(frame.planes.len() == 3, "not three planes");
            let grids = frame.planes.iter().filter_map(|plane| plane.as_u8());
            Ok(grids.map(|grid| grid.samples().len()).sum())
        }
    }
}
