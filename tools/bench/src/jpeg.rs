//! Benchmark of Andon's JPEG decoder against libjpeg-turbo: decoding to planes on one thread. Run it with `./dev bench
//! jpeg`.

mod alone;
mod closeness;
mod speed;
mod turbo;

use std::path::{Path, PathBuf};

use andon_pixels::{Alone, Decode, Grid, Limits, Never, Plane, Scale, Scales};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::goals::{self, Goal, Strictness};
use crate::photos::Folder;
use crate::raw;

pub(crate) use alone::{JpegAloneArgs, alone};
use closeness::Closeness;
use speed::Speed;

/// Options of `./dev bench jpeg`.
#[derive(Args)]
pub(crate) struct JpegArgs {
    /// Fewer repeats, for a quick check whose results are not published.
    #[arg(long)]
    quick: bool,
    /// Measure only the image quality of small images, which other programs on the machine cannot affect.
    #[arg(long, conflicts_with_all = ["quick", "instructions"])]
    quality: bool,
    /// Also count instructions: each photo once under callgrind, which takes some minutes in total.
    #[arg(long)]
    instructions: bool,
    /// Folders with more photos. Missing ones are skipped.
    #[arg(long, value_delimiter = ',', default_value = "/usr/share/backgrounds")]
    more: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

impl JpegArgs {
    /// Returns the name under which the raw results of a run with these options are saved.
    pub(crate) fn kind(&self) -> &'static str {
        match (self.quality, self.instructions) {
            (true, _) => "bench-jpeg-quality",
            (false, true) => "bench-jpeg-instructions",
            (false, false) => "bench-jpeg",
        }
    }
}

/// A decoder under comparison.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Decoder {
    /// Andon's decoder.
    Ours,
    /// libjpeg-turbo's decoder.
    Turbo,
}

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    photos: Vec<Photo>,
    pub(crate) goals: Vec<Goal>,
}

#[derive(Serialize)]
struct Photo {
    name: String,
    progressive: bool,
    /// Speed and memory. `None` if only the image quality was measured.
    #[serde(flatten)]
    speed: Option<Speed>,
    closeness: Vec<Closeness>,
}

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &JpegArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    if !args.quality {
        println!("{}", speed::LEGEND);
    }
    println!("{}", closeness::LEGEND);
    let mut results = Vec::new();
    for folder in photos.with(&args.more)? {
        for name in &folder.names {
            let Some(photo) = Photo::measure(&folder.path.join(name), args)? else {
                println!("{name:36} is not for planes");
                continue;
            };
            photo.print();
            results.push(photo);
        }
    }
    ensure!(!results.is_empty(), "there was nothing to decode");
    closeness::summarise(&results);
    let mut goals = closeness::goals(&results);
    if !args.quality {
        goals.extend(speed::goals(&results));
    }
    goals::print(&goals);
    Ok(Run {
        machine,
        photos: results,
        goals,
    })
}

impl Photo {
    /// Measures one photo. Returns `None` if it does not have three components or libjpeg-turbo cannot decode it
    /// to planes.
    fn measure(path: &Path, args: &JpegArgs) -> Result<Option<Self>> {
        let file = std::fs::read(path).with_context(|| path.display().to_string())?;
        let info = crate::engines::engine().probe(&file)?;
        if info.model.planes() != 3 || decode(Decoder::Turbo, &file, 8).is_err() {
            return Ok(None);
        }
        let name = path.file_name().unwrap_or_default();
        let rounds = if args.quick { 3 } else { 9 };
        let speed = (!args.quality).then(|| Speed::measure(path, &file, rounds, args.instructions));
        Ok(Some(Self {
            name: name.to_string_lossy().into_owned(),
            progressive: info.progressive,
            speed: speed.transpose()?,
            closeness: closeness::measure(&file)?,
        }))
    }

    fn print(&self) {
        let kind = if self.progressive { "P" } else { "S" };
        print!("{:36} {kind}", self.name);
        if let Some(speed) = &self.speed {
            speed.print();
        }
        closeness::print(&self.closeness);
        println!();
    }
}

/// Decodes a file and discards the samples. Returns the number of samples. It is never inlined, because callgrind finds
/// it by its name.
#[inline(never)]
fn decode(decoder: Decoder, file: &[u8], eighths: u8) -> Result<usize> {
    let planes = planes(decoder, file, eighths)?;
    Ok(planes.iter().map(|plane| plane.samples().len()).sum())
}

/// Decodes the Y, Cb and Cr planes of a JPEG at `eighths`/8 of their size.
fn planes(decoder: Decoder, file: &[u8], eighths: u8) -> Result<Vec<Grid<u8>>> {
    match decoder {
        Decoder::Turbo => turbo::decode(file, eighths),
        Decoder::Ours => {
            let codec = andon_codecs::ALL
                .iter()
                .find(|codec| codec.name() == "jpeg");
            let codec = codec.context("there is no JPEG codec")?;
            let limits = Limits::default();
            let options = Decode {
                scales: Scales::both(Scale(eighths)),
                limits: &limits,
                interrupt: &Never,
                cores: &Alone,
                keep_metadata: false,
            };
            let frame = codec.decode(file, &codec.probe(file)?, &options)?.frame;
            ensure!(frame.planes.len() == 3, "not three planes");
            let narrow = frame.planes.into_iter().map(|plane| match plane {
                Plane::U8(grid) => Ok(grid),
                Plane::U16(_) => bail!("a JPEG of 16 bits"),
            });
            narrow.collect()
        }
    }
}
