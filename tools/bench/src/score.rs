//! Benchmark of how close the results of the recipe option `score:`, and so those of `q:auto`, come to the requested
//! SSIMULACRA2 score. Run it with `./dev bench score`.
//!
//! The result is decoded and scored against a lossless result of the same image operations, through the public
//! interface as a user would do it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use fast_ssim2::Ssimulacra2Reference;
use serde::Serialize;

use crate::engines::render;
use crate::frames::{decode, prepared, rgb};
use crate::goals::{self, Goal, Strictness};
use crate::photos::Folder;
use crate::quality::scored;
use crate::raw;

/// Options of `./dev bench score`.
#[derive(Args)]
pub(crate) struct ScoreArgs {
    /// Three photos at 400 px, for a quick check whose results are not published.
    #[arg(long)]
    quick: bool,
    /// Requested scores; 75 is that of `q:auto`.
    #[arg(long, value_delimiter = ',', default_value = "60,75,85")]
    asked: Vec<u8>,
    /// Folders with more photos. Missing ones are skipped.
    #[arg(long, value_delimiter = ',', default_value = "../shared/photos")]
    more: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    results: Vec<ScoreResult>,
    pub(crate) goals: Vec<Goal>,
}

/// Result of one photo at one size, in one format and for one requested score.
#[derive(Serialize)]
struct ScoreResult {
    photo: String,
    side: u32,
    format: &'static str,
    asked: u8,
    bytes: usize,
    ssimulacra2: f64,
}

impl ScoreResult {
    fn over(&self) -> f64 {
        self.ssimulacra2 - f64::from(self.asked)
    }
}

const FORMATS: [&str; 4] = ["jpeg", "webp", "avif", "jxl"];
/// Maximum distance from the requested score, in points, that counts as near.
const NEAR: f64 = 2.0;
/// Share of the images that must be near the requested score.
const SHARE: f64 = 0.95;

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &ScoreArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let mut paths = photos.paths(&args.more)?;
    let sides: &[u32] = if args.quick { &[400] } else { &[400, 1200] };
    paths.truncate(if args.quick { 3 } else { paths.len() });
    let mut results = Vec::new();
    for path in &paths {
        for &side in sides {
            reach(path, side, &args.asked, &mut results)?;
        }
    }
    println!("            within ±{NEAR}   over: least  mean  most");
    for &asked in &args.asked {
        for format in FORMATS {
            let these = |one: &&ScoreResult| one.asked == asked && one.format == format;
            let over: Vec<f64> = results
                .iter()
                .filter(these)
                .map(ScoreResult::over)
                .collect();
            println!(
                "score:{asked:<3} {format:6}{:>6.0} %{:>14.1}{:>6.1}{:>6.1}",
                100.0 * near(&over),
                over.iter().copied().fold(f64::INFINITY, f64::min),
                crate::stats::mean(over.iter().copied()),
                over.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            );
        }
    }
    for far in results.iter().filter(|one| one.over().abs() > NEAR) {
        let ScoreResult {
            photo,
            side,
            format,
            asked,
            ssimulacra2,
            ..
        } = far;
        println!("{photo} at {side} px as {format}: {ssimulacra2:.1}, not {asked}");
    }
    let goals = args.asked.iter().map(|&asked| {
        let these = results.iter().filter(|one| one.asked == asked);
        let over: Vec<f64> = these.map(ScoreResult::over).collect();
        let name = format!("score:{asked}: photos and sizes within ±{NEAR} points");
        Goal::at_least(name, near(&over), SHARE, "")
    });
    let goals: Vec<_> = goals.collect();
    goals::print(&goals);
    Ok(Run {
        machine,
        results,
        goals,
    })
}

fn near(over: &[f64]) -> f64 {
    let near = over.iter().filter(|over| over.abs() <= NEAR).count();
    near as f64 / over.len() as f64
}

/// Measures one photo at one size, in all formats and for all requested scores.
fn reach(path: &Path, side: u32, asked: &[u8], results: &mut Vec<ScoreResult>) -> Result<()> {
    let photo = std::fs::read(path).with_context(|| path.display().to_string())?;
    let steps = format!("fit:{side}x{side}");
    let exact = rgb(&prepared(&photo, &steps)?)?;
    let reference = Ssimulacra2Reference::new(&exact.slice()?).context("a reference")?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    for format in FORMATS {
        for &asked in asked {
            let recipe =
                format!("orient,{steps},profile:drop,metadata:none,as:{format},score:{asked}");
            let file = render(&recipe, &photo)?;
            results.push(ScoreResult {
                photo: name.clone().into_owned(),
                side,
                format,
                asked,
                bytes: file.len(),
                ssimulacra2: scored(&reference, &rgb(&decode(format, &file)?)?)?,
            });
        }
    }
    Ok(())
}
