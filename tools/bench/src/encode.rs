//! Benchmark of encoders on the same small images: time, and bytes at equal quality. Run it with `./dev bench encode`.
//!
//! Every encoder encodes each image at several quality settings. For each setting, the size of the file and its
//! SSIMULACRA2 score, SSIM and PSNR are measured. The size at any other score is interpolated: the logarithm of the
//! bytes is linear in the score between two neighbouring settings. All encoders but JPEG XL's subsample chroma to
//! 4:2:0.

mod turbo;

use std::path::PathBuf;

use andon_pixels::{Encode, Frame, Image, Model, Never, Plane, Subsampling};
use anyhow::{Context as _, Result};
use clap::Args;
use fast_ssim2::Ssimulacra2Reference;
use serde::Serialize;

use crate::compare::cpu_seconds;
use crate::frames::{codec, convert, decode, prepared, rgb};
use crate::goals::{self, Goal, Strictness};
use crate::photos::Folder;
use crate::quality::{self, Rgb, RgbF, scored};
use crate::stats::{geometric_mean, mean, timed};
use crate::{peers, raw};

/// Options of `./dev bench encode`.
#[derive(Args)]
pub(crate) struct EncodeArgs {
    /// Three photos at 400 px, for a quick check whose results are not published.
    #[arg(long)]
    quick: bool,
    /// Only encoders whose names contain this text (libjpeg-turbo always runs).
    #[arg(long, default_value = "")]
    encoder: String,
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
    results: Vec<Measurement>,
    pub(crate) goals: Vec<Goal>,
}

/// Results of one encoder on one photo at one size.
#[derive(Serialize)]
struct Measurement {
    photo: String,
    side: u32,
    encoder: &'static str,
    rungs: Vec<Rung>,
}

#[derive(Clone, Serialize)]
struct Rung {
    quality: u8,
    bytes: usize,
    /// Wall-clock seconds of the encoding.
    seconds: f64,
    /// CPU seconds of all threads that the encoder uses.
    cpu_seconds: f64,
    ssimulacra2: f64,
    /// SSIM of luma.
    ssim: f64,
    /// PSNR of R, G and B, in dB.
    psnr: f64,
}

/// An encoder under test, and the quality settings at which it is measured, in ascending order.
struct Encoder {
    name: &'static str,
    backend: Backend,
    ladder: &'static [u8],
}

enum Backend {
    /// Andon's encoder for the format of this name, with default options.
    Ours(&'static str),
    /// libjpeg-turbo with optimised Huffman tables, encoding from Y, Cb and Cr planes.
    Turbo,
    /// libvips' encoder for the format of this suffix. Options that the suffix does not name have libvips' defaults,
    /// which sharp uses too.
    Vips(&'static std::ffi::CStr),
}

const YARDSTICK: &str = "libjpeg-turbo";
const OURS: &str = "Andon JPEG";
const LADDER: &[u8] = &[30, 45, 60, 75, 86, 93];
const ENCODERS: [Encoder; 9] = [
    Encoder {
        name: YARDSTICK,
        backend: Backend::Turbo,
        ladder: LADDER,
    },
    Encoder {
        name: OURS,
        backend: Backend::Ours("jpeg"),
        ladder: LADDER,
    },
    Encoder {
        name: "Andon WebP",
        backend: Backend::Ours("webp"),
        ladder: LADDER,
    },
    Encoder {
        name: "Andon AVIF",
        backend: Backend::Ours("avif"),
        // With 4:2:0, some photos reach a score of 85 only at quality 97.
        ladder: &[30, 45, 60, 75, 86, 93, 97],
    },
    Encoder {
        name: "Andon JPEG XL",
        backend: Backend::Ours("jxl"),
        ladder: LADDER,
    },
    Encoder {
        name: "libvips JPEG",
        backend: Backend::Vips(c".jpg[strip]"),
        ladder: LADDER,
    },
    Encoder {
        name: "libvips WebP",
        backend: Backend::Vips(c".webp[strip]"),
        ladder: LADDER,
    },
    Encoder {
        name: "libvips AVIF",
        backend: Backend::Vips(c".avif[strip,subsample-mode=on]"),
        ladder: &[25, 35, 45, 55, 68, 80, 90],
    },
    Encoder {
        name: "libvips JPEG XL",
        backend: Backend::Vips(c".jxl[strip]"),
        ladder: LADDER,
    },
];

const SCORES: [f64; 4] = [60.0, 70.0, 75.0, 85.0];

const LEGEND: &str = "\
ms      of processor time, of all threads, to write one image at about SSIMULACRA2 70: geometric mean over photos,
        best of three. libvips' encoders of AVIF and JPEG XL use several threads, whatever VIPS_CONCURRENCY says.
bytes   of libjpeg-turbo's (optimised Huffman tables) at equal SSIMULACRA2: geometric mean
SSIM    the same at the SSIM of luma, and PSNR of RGB, that libjpeg-turbo has at SSIMULACRA2 70";

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &EncodeArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    println!("{LEGEND}");
    let mut paths = photos.paths(&args.more)?;
    let sides: &[u32] = if args.quick { &[400] } else { &[400, 1200] };
    paths.truncate(if args.quick { 3 } else { paths.len() });
    let mut results = Vec::new();
    for &side in sides {
        for path in &paths {
            let image = SmallImage::of(path, side)?;
            for encoder in &ENCODERS {
                if encoder.name == YARDSTICK || encoder.name.contains(&args.encoder) {
                    results.push(image.measure(encoder)?);
                }
            }
        }
        print(&results, side);
    }
    let goals = goals(&results, sides);
    goals::print(&goals);
    Ok(Run {
        machine,
        results,
        goals,
    })
}

/// A small image to encode, in the forms that the encoders read and in those with which their results are compared.
struct SmallImage {
    name: String,
    side: u32,
    frame: Frame,
    rgb: Rgb,
    exact: RgbF,
    reference: Ssimulacra2Reference,
}

impl SmallImage {
    fn of(path: &std::path::Path, side: u32) -> Result<Self> {
        let photo = std::fs::read(path).with_context(|| path.display().to_string())?;
        let frame = prepared(&photo, &format!("fit:{side}x{side}"))?;
        let frame = even(&frame)?;
        let rgb = rgb(&frame)?;
        Ok(Self {
            name: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            side,
            exact: rgb.exact(),
            reference: Ssimulacra2Reference::new(&rgb.slice()?).context("a reference")?,
            frame,
            rgb,
        })
    }

    fn measure(&self, encoder: &Encoder) -> Result<Measurement> {
        let rungs = encoder.ladder.iter().map(|&quality| {
            let rounds = if quality == encoder.ladder[2] { 3 } else { 1 };
            let (file, seconds, cpu_seconds) = self.encode(encoder, quality, rounds)?;
            let name = match encoder.backend {
                Backend::Ours(name) => name,
                Backend::Turbo => "jpeg",
                Backend::Vips(suffix) => match &suffix.to_bytes()[..4] {
                    b".jpg" => "jpeg",
                    b".web" => "webp",
                    b".avi" => "avif",
                    _ => "jxl",
                },
            };
            let read = rgb(&decode(name, &file)?)?;
            Ok(Rung {
                quality,
                bytes: file.len(),
                seconds,
                cpu_seconds,
                ssimulacra2: scored(&self.reference, &read)?,
                ssim: quality::ssim(&self.exact, &read),
                psnr: quality::psnr(&self.exact, &read),
            })
        });
        Ok(Measurement {
            photo: self.name.clone(),
            side: self.side,
            encoder: encoder.name,
            rungs: rungs.collect::<Result<_>>().with_context(|| encoder.name)?,
        })
    }

    /// Encodes the image `rounds` times. Returns the file and the shortest wall-clock and CPU time in seconds.
    /// Preparing the planes is not timed.
    fn encode(&self, encoder: &Encoder, quality: u8, rounds: u32) -> Result<(Vec<u8>, f64, f64)> {
        let (mut best, mut best_cpu) = (f64::INFINITY, f64::INFINITY);
        let mut file = Vec::new();
        let thinned = convert(self.frame.clone(), Model::ycbcr(Subsampling::C420))?;
        for _ in 0..rounds {
            let (output, seconds, cpu_seconds) = match encoder.backend {
                Backend::Turbo => timed_with_cpu(|| turbo::encode(&thinned, quality))?,
                Backend::Vips(suffix) => {
                    timed_with_cpu(|| peers::vips_encode(&self.rgb, suffix, quality))?
                }
                Backend::Ours(name) => {
                    let encoder = codec(name)?.encoder().context("it is not written")?;
                    let options = Encode {
                        quality: Some(quality),
                        chroma: (name != "jxl").then_some(Subsampling::C420),
                        ..Encode::default()
                    };
                    let accepted = encoder.accepts(thinned.traits(), &options);
                    let frame = match accepted.model {
                        Model::Rgb => convert(self.frame.clone(), Model::Rgb)?,
                        model => convert(thinned.clone(), model)?,
                    };
                    let image = Image::still(frame);
                    timed_with_cpu(|| Ok(encoder.encode(&image, &options, &Never)?))?
                }
            };
            best = best.min(seconds);
            best_cpu = best_cpu.min(cpu_seconds);
            file = output;
        }
        Ok((file, best, best_cpu))
    }
}

/// Returns the result of `work` and the wall-clock and CPU seconds that it took.
fn timed_with_cpu<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64, f64)> {
    let before = cpu_seconds();
    let (result, seconds) = timed(work)?;
    Ok((result, seconds, cpu_seconds() - before))
}

/// Crops the frame to an even width and height. libjpeg-turbo's planes API reads luma in whole 2×2 groups for 4:2:0.
fn even(frame: &Frame) -> Result<Frame> {
    let (width, height) = (frame.width & !1, frame.height & !1);
    let planes = frame.planes.iter().map(|plane| {
        let grid = plane.as_u8().context("an image of 8 bits")?;
        Ok(Plane::U8(grid.part(0..width, 0..height)))
    });
    let planes = planes.collect::<Result<_>>()?;
    let cut = Frame::new(frame.model, width, height, planes, None)?;
    Ok(cut.with_colour(frame.colour.clone()))
}

impl Measurement {
    /// Returns the natural logarithm of the bytes at which the metric `of` has this value, interpolated between the
    /// measured quality settings.
    fn bytes_at(&self, of: fn(&Rung) -> f64, value: f64) -> f64 {
        along(&self.rungs, of, |rung| (rung.bytes as f64).ln(), value)
    }
}

/// Interpolates `y` linearly at the place where `x` has the value `at`, between the two quality settings around it.
/// Outside the measured range, the two nearest settings are extrapolated.
fn along(rungs: &[Rung], x: fn(&Rung) -> f64, y: fn(&Rung) -> f64, at: f64) -> f64 {
    let after = rungs
        .partition_point(|rung| x(rung) < at)
        .clamp(1, rungs.len() - 1);
    let (a, b) = (&rungs[after - 1], &rungs[after]);
    y(a) + (at - x(a)) * (y(b) - y(a)) / (x(b) - x(a))
}

const SCORE: fn(&Rung) -> f64 = |rung| rung.ssimulacra2;
/// SSIM as −10·log₁₀(1 − SSIM), in dB. On this scale it grows about linearly with the logarithm of the bytes.
const SIMILARITY: fn(&Rung) -> f64 = |rung| -10.0 * (1.0 - rung.ssim).log10();
const PSNR: fn(&Rung) -> f64 = |rung| rung.psnr;

/// Pairs an encoder's results at one size with those of libjpeg-turbo for the same photos.
fn pairs<'a>(
    results: &'a [Measurement],
    encoder: &'a str,
    side: u32,
) -> impl Iterator<Item = (&'a Measurement, &'a Measurement)> + Clone {
    let of = move |name: &'a str| {
        let named = move |one: &&Measurement| one.encoder == name && one.side == side;
        results.iter().filter(named)
    };
    of(encoder).zip(of(YARDSTICK))
}

/// Returns the bytes that an encoder needs, divided by those that libjpeg-turbo needs, as geometric mean over the
/// photos. Both files have the same value of the metric `of`: the one that libjpeg-turbo reaches at the SSIMULACRA2
/// score `score`.
fn ratio(
    results: &[Measurement],
    encoder: &str,
    side: u32,
    score: f64,
    of: fn(&Rung) -> f64,
) -> f64 {
    geometric_mean(pairs(results, encoder, side).map(|(one, turbo)| {
        let value = along(&turbo.rungs, SCORE, of, score);
        (one.bytes_at(of, value) - turbo.bytes_at(SCORE, score)).exp()
    }))
}

fn milliseconds(results: &[Measurement], encoder: &str, side: u32) -> f64 {
    geometric_mean(pairs(results, encoder, side).map(|(one, _)| 1e3 * one.rungs[2].cpu_seconds))
}

fn print(results: &[Measurement], side: u32) {
    let count = pairs(results, YARDSTICK, side).count();
    println!("\nlongest side {side} px, {count} photos");
    println!(
        "{:18}{:>8}{:>32}{:>8}{:>8}   score at rungs 2 to 5",
        "", "ms", "bytes at 60     70     75     85", "SSIM", "PSNR"
    );
    for encoder in &ENCODERS {
        if pairs(results, encoder.name, side).next().is_none() {
            continue;
        }
        print!(
            "{:18}{:>8.2}   ",
            encoder.name,
            milliseconds(results, encoder.name, side)
        );
        for score in SCORES {
            print!("{:>7.3}", ratio(results, encoder.name, side, score, SCORE));
        }
        for of in [SIMILARITY, PSNR] {
            print!("{:>8.3}", ratio(results, encoder.name, side, 70.0, of));
        }
        print!("   ");
        for rung in 1..5 {
            let scores = pairs(results, encoder.name, side).map(|(one, _)| SCORE(&one.rungs[rung]));
            print!("{:>6.1}", mean(scores));
        }
        println!();
    }
}

fn goals(results: &[Measurement], sides: &[u32]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for &side in sides {
        let measured = |encoder: &str| pairs(results, encoder, side).next().is_some();
        let named = |what: &str| format!("{what}, {side} px");
        for (encoder, limit) in [(OURS, 0.9), ("Andon JPEG XL", 0.78)] {
            if measured(encoder) {
                let bytes = ratio(results, encoder, side, 70.0, SCORE);
                let what = format!("{encoder}: bytes of libjpeg-turbo's at SSIMULACRA2 70");
                goals.push(Goal::at_most(named(&what), bytes, limit, ""));
            }
        }
        if measured(OURS) {
            let bytes = ratio(results, OURS, side, 70.0, SIMILARITY);
            let what = format!("{OURS}: at equal SSIM");
            goals.push(Goal::at_most(named(&what), bytes, 1.0, ""));
            let time = milliseconds(results, OURS, side) / milliseconds(results, YARDSTICK, side);
            let what = format!("{OURS}: time of libjpeg-turbo's");
            goals.push(Goal::at_most(named(&what), time, 1.5, ""));
        }
        for (format, faster, scores) in [("AVIF", 3.0, &SCORES[..]), ("WebP", 1.5, &[70.0])] {
            let [ours, theirs] = ["Andon", "libvips"].map(|who| format!("{who} {format}"));
            if !measured(&ours) || !measured(&theirs) {
                continue;
            }
            let speed = milliseconds(results, &theirs, side) / milliseconds(results, &ours, side);
            let what = format!("{ours}: images/s of libvips', per core");
            goals.push(Goal::at_least(named(&what), speed, faster, ""));
            for &score in scores {
                let [ours_bytes, theirs_bytes] =
                    [&ours, &theirs].map(|who| ratio(results, who, side, score, SCORE));
                let what = format!("{ours}: bytes of libvips' at SSIMULACRA2 {score}");
                goals.push(Goal::at_most(
                    named(&what),
                    ours_bytes / theirs_bytes,
                    1.0,
                    "",
                ));
            }
        }
    }
    goals
}
