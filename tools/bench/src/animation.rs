//! Benchmark of converting GIFs to animated WebP with Andon and with libvips: frames per second, and memory for 10 and
//! for 1,000 frames. Run it with `./dev bench animation`.
//!
//! The GIFs are generated from a photo. In one kind a window pans over the photo and every pixel changes. In the other
//! a patch wanders over a still background and few pixels change.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use andon_pixels::{Delay, Encode, Engine, Frame, Grid, Head, Limits, Metadata, Model, Never};
use andon_pixels::{Plane, Timed};
use andon_recipe::Recipe;
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::frames::{codec, convert, prepared};
use crate::goals::{self, Goal, Strictness};
use crate::photos::Folder;
use crate::proc::status_bytes;
use crate::quality::{Rgb, psnr};
use crate::stats::{geometric_mean, median};
use crate::{compare, memory, peers, raw};

/// Options of `./dev bench animation`.
#[derive(Args)]
pub(crate) struct AnimationArgs {
    /// Fewer frames and repeats, for a quick check whose results are not published.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// Arguments of the hidden task `animation-alone`, which converts one GIF with one contestant to measure its memory.
#[derive(Args)]
pub(crate) struct AloneArgs {
    contestant: Contestant,
    gif: PathBuf,
}

/// A converter from GIF to WebP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Contestant {
    Andon,
    Vips,
}

/// How the frames of a generated GIF differ from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Motion {
    /// A window pans over the photo, so every pixel changes.
    Pan,
    /// A patch of 64×64 px wanders over a still background.
    Patch,
}

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    width: u32,
    height: u32,
    results: Vec<Measurement>,
    memory: Vec<Peak>,
    pub(crate) goals: Vec<Goal>,
}

/// Results of one contestant on one GIF.
#[derive(Serialize)]
struct Measurement {
    motion: Motion,
    frames: u32,
    /// Longest side of the result in px. `None` keeps the GIF's size.
    side: Option<u32>,
    contestant: Contestant,
    /// Wall-clock seconds of each run, in order. The contestants take turns in the order ABBA.
    seconds: Vec<f64>,
    cpu_seconds: Vec<f64>,
    frames_per_second: f64,
    bytes: usize,
    /// PSNR in dB against the GIF's own frames. `None` if the result has another size.
    psnr: Option<f64>,
}

/// Peak memory of one contestant, alone in a process.
#[derive(Serialize)]
struct Peak {
    contestant: Contestant,
    frames: u32,
    gif_bytes: usize,
    result_bytes: u64,
    /// Growth from the resident memory with the GIF loaded to the peak, in bytes. The result is included.
    peak_bytes: u64,
}

const WIDTH: u32 = 480;
const HEIGHT: u32 = 360;

/// Bytes of one frame's red, green, blue and opacity samples.
const CANVAS: u64 = WIDTH as u64 * HEIGHT as u64 * 4;

const SIDES: [Option<u32>; 2] = [None, Some(240)];

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &AnimationArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let name = photos.names.first().context("a photo")?;
    let ground = prepared(&photos.read(name)?, "cover:800x600,crop:800x600")?;
    let ground = convert(ground, Model::Rgb)?;
    let (frames, rounds) = if args.quick { (30, 1) } else { (100, 3) };
    let mut results = Vec::new();
    for motion in [Motion::Pan, Motion::Patch] {
        let gif = gif(&ground, motion, frames)?;
        for side in SIDES {
            results.extend(race(&gif, motion, frames, side, rounds)?);
        }
    }
    let memory = peaks(&ground)?;
    let goals = judge(&results, &memory);
    print(&results, &memory);
    goals::print(&goals);
    Ok(Run {
        machine,
        width: WIDTH,
        height: HEIGHT,
        results,
        memory,
        goals,
    })
}

/// Creates a GIF of `frames` frames from the image `ground`.
fn gif(ground: &Frame, motion: Motion, frames: u32) -> Result<Vec<u8>> {
    encode_gif((0..frames).map(|number| view(ground, motion, number)))
}

/// Encodes these frames as a GIF.
fn encode_gif(frames: impl Iterator<Item = Result<Frame>>) -> Result<Vec<u8>> {
    let mut frames = frames.peekable();
    let Some(Ok(first)) = frames.peek() else {
        bail!("a GIF without a first frame");
    };
    let head = Head {
        width: first.width,
        height: first.height,
        traits: first.traits(),
        plays: 0,
        metadata: Metadata::default(),
    };
    let encoder = codec("gif")?
        .encoder()
        .and_then(|encoder| encoder.animation());
    let encoder = encoder.context("GIF holds animations")?;
    let mut writer = encoder.writer(&head, &Encode::default(), &Never)?;
    let delay = Delay {
        ticks: 4,
        per_second: 100,
    };
    for frame in frames {
        let frame = frame?;
        writer.push(Timed { frame, delay })?;
    }
    Ok(writer.finish()?)
}

/// Returns frame `number` of the generated GIF: with `Motion::Pan` a moving window of the image `ground`, with
/// `Motion::Patch` a fixed window of `ground` in which a moving patch shows another part of it.
fn view(ground: &Frame, motion: Motion, number: u32) -> Result<Frame> {
    // The window moves to and fro within the ground, at 3 and 2 px per frame.
    let swing = |at: u32, range: u32| range - (at % (2 * range)).abs_diff(range);
    let (across, down) = (ground.width - WIDTH, ground.height - HEIGHT);
    let place = (swing(3 * number, across), swing(2 * number, down));
    let planes = ground.planes.iter().map(|plane| {
        let ground = plane.as_u8().context("an image of 8 bits")?;
        let pixel = |x: u32, y: u32| match motion {
            Motion::Pan => (x + place.0, y + place.1),
            Motion::Patch => {
                let inside = |at: u32, start: u32| (start..start + 64).contains(&at);
                let patched = inside(x, place.0) && inside(y, place.1);
                if patched { (x + 160, y + 160) } else { (x, y) }
            }
        };
        let places = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
        let samples = places.map(|(x, y)| {
            let (x, y) = pixel(x, y);
            ground.row(y)[x as usize]
        });
        let grid = Grid::from_samples(WIDTH, HEIGHT, samples.collect())?;
        Ok(Plane::U8(grid))
    });
    let planes = planes.collect::<Result<_>>()?;
    Ok(Frame::new(Model::Rgb, WIDTH, HEIGHT, planes, None)?)
}

impl Contestant {
    const ALL: [Self; 2] = [Self::Andon, Self::Vips];

    fn name(self) -> &'static str {
        match self {
            Self::Andon => "Andon",
            Self::Vips => "libvips",
        }
    }

    fn run(self, gif: &[u8], side: Option<u32>) -> Result<Vec<u8>> {
        if self == Self::Vips {
            return peers::vips_animation(gif, side);
        }
        let size = side.map_or(String::new(), |side| format!("fit:{side}x{side},"));
        let recipe: Recipe = format!("{size}as:webp,q:80").parse()?;
        let limits = Limits {
            frames: 1000,
            animation_pixels: 1000 * u64::from(WIDTH * HEIGHT),
            ..Limits::default()
        };
        let engine = Engine::new(andon_codecs::ALL, limits);
        let plan = engine.plan(&recipe, gif)?;
        let output = engine.run(&plan, andon_pixels::Run::of(gif))?;
        output.body.context("the original was passed through")
    }
}

/// Measures Andon and libvips on one GIF. They take turns.
fn race(
    gif: &[u8],
    motion: Motion,
    frames: u32,
    side: Option<u32>,
    rounds: usize,
) -> Result<Vec<Measurement>> {
    eprintln!("{motion:?}, longest side {}", side.unwrap_or(WIDTH));
    let source = peers::decode_frames(gif)?;
    let reference = source.exact();
    let mut all = Vec::new();
    for contestant in Contestant::ALL {
        // The first run is not timed: it warms up, and its result is judged.
        let file = contestant.run(gif, side)?;
        let frames_shown: Rgb = peers::decode_frames(&file)?;
        let scale = side.map_or(1.0, |side| f64::from(side) / f64::from(WIDTH));
        let height = (f64::from(HEIGHT) * scale) as usize * frames as usize;
        ensure!(
            frames_shown.height == height,
            "{} wrote {} rows of pixels, not {height}",
            contestant.name(),
            frames_shown.height
        );
        all.push(Measurement {
            motion,
            frames,
            side,
            contestant,
            seconds: Vec::new(),
            cpu_seconds: Vec::new(),
            frames_per_second: f64::NAN,
            bytes: file.len(),
            psnr: side.is_none().then(|| psnr(&reference, &frames_shown)),
        });
    }
    for _ in 0..rounds {
        for index in [0, 1, 1, 0] {
            let one = &mut all[index];
            let (wall, cpu) = (Instant::now(), compare::cpu_seconds());
            one.contestant.run(gif, side)?;
            one.cpu_seconds.push(compare::cpu_seconds() - cpu);
            one.seconds.push(wall.elapsed().as_secs_f64());
        }
    }
    for one in &mut all {
        one.frames_per_second = f64::from(frames) / median(&one.seconds);
    }
    Ok(all)
}

/// Measures the peak memory of every contestant, each alone in a process, for GIFs of 10 and of 1,000 frames.
fn peaks(ground: &Frame) -> Result<Vec<Peak>> {
    let mut peaks = Vec::new();
    for frames in [10, 1000] {
        eprintln!("memory, {frames} frames");
        let path = env::temp_dir().join(format!("andon-bench-{}.gif", std::process::id()));
        let gif = gif(ground, Motion::Patch, frames)?;
        fs::write(&path, &gif)?;
        for contestant in Contestant::ALL {
            let (result_bytes, peak_bytes) = alone_in_a_process(contestant, &path)?;
            peaks.push(Peak {
                contestant,
                frames,
                gif_bytes: gif.len(),
                result_bytes,
                peak_bytes,
            });
        }
        fs::remove_file(&path)?;
    }
    Ok(peaks)
}

fn alone_in_a_process(contestant: Contestant, gif: &Path) -> Result<(u64, u64)> {
    let child = Command::new(env::current_exe()?)
        .args(["animation-alone", &memory::word(&contestant)])
        .arg(gif)
        .output()?;
    let errors = String::from_utf8_lossy(&child.stderr);
    ensure!(child.status.success(), "{}: {errors}", contestant.name());
    let text = String::from_utf8(child.stdout)?;
    let (result, peak) = text.trim().split_once(' ').context("two numbers")?;
    Ok((result.parse()?, peak.parse()?))
}

/// The task of a child process that measures one contestant: converts the GIF, and prints the length of the result and
/// the growth of the process's memory, both in bytes.
pub(crate) fn alone(args: &AloneArgs) -> Result<()> {
    // A tiny image first, so that code and tables that are loaded once do not count as memory for frames.
    let flat = |level| Grid::filled(16, 16, level);
    let tiny = [40, 200].map(|level| {
        let planes = [flat(level), flat(90), flat(level)].map(Plane::U8).to_vec();
        Ok(Frame::new(Model::Rgb, 16, 16, planes, None)?)
    });
    args.contestant.run(&encode_gif(tiny.into_iter())?, None)?;
    let gif = fs::read(&args.gif)?;
    let before = status_bytes("self", "VmRSS")?;
    let result = args.contestant.run(&gif, None)?;
    let peak = status_bytes("self", "VmHWM")?;
    println!("{} {}", result.len(), peak.saturating_sub(before));
    Ok(())
}

/// Returns Andon's frames per second divided by libvips', for every GIF and size.
fn ratios(results: &[Measurement]) -> impl Iterator<Item = f64> {
    results
        .chunks_exact(2)
        .map(|pair| pair[0].frames_per_second / pair[1].frames_per_second)
}

impl Peak {
    /// Returns the peak memory without the result's bytes, divided by the size of one canvas (`CANVAS` bytes).
    fn canvases(&self) -> f64 {
        self.peak_bytes.saturating_sub(self.result_bytes) as f64 / CANVAS as f64
    }
}

fn judge(results: &[Measurement], memory: &[Peak]) -> Vec<Goal> {
    let mut goals: Vec<Goal> = results
        .chunks_exact(2)
        .zip(ratios(results))
        .map(|(pair, ratio)| {
            let side = pair[0].side.unwrap_or(WIDTH);
            let name = format!("GIF to WebP, {:?}, {side} px", pair[0].motion);
            Goal::at_least(name, ratio, 1.0, "× libvips")
        })
        .collect();
    let mean = geometric_mean(ratios(results));
    goals.push(Goal::at_least(
        "GIF to WebP, geometric mean",
        mean,
        2.0,
        "× libvips",
    ));
    let ours = memory
        .iter()
        .filter(|peak| peak.contestant == Contestant::Andon);
    goals.extend(ours.map(|peak| {
        let name = format!("peak memory, {} frames", peak.frames);
        Goal::at_most(name, peak.canvases(), 6.0, "canvases")
    }));
    goals
}

fn print(results: &[Measurement], memory: &[Peak]) {
    println!("GIF → WebP at q 80, frames of {WIDTH}×{HEIGHT} px, one thread");
    println!(
        "{:7}{:>6}  {:9}{:>10}{:>12}{:>10}{:>8}",
        "motion", "px", "", "frames/s", "CPU ms/fr.", "bytes", "PSNR"
    );
    for one in results {
        println!(
            "{:7}{:>6}  {:9}{:>10.1}{:>12.2}{:>10}{:>8}",
            format!("{:?}", one.motion),
            one.side.unwrap_or(WIDTH),
            one.contestant.name(),
            one.frames_per_second,
            1e3 * median(&one.cpu_seconds) / f64::from(one.frames),
            one.bytes,
            one.psnr.map_or(String::new(), |psnr| format!("{psnr:.2}")),
        );
    }
    for peak in memory {
        println!(
            "{:9}{:>5} frames: {:.1} MiB = {:.1} canvases beside GIF and result",
            peak.contestant.name(),
            peak.frames,
            peak.peak_bytes as f64 / f64::from(1 << 20),
            peak.canvases(),
        );
    }
}
