//! Benchmark of tiles of a huge JPEG over HTTP, as requested by IIIF viewers. Run it with `./dev bench tiles`.
//!
//! The image is generated: 100 megapixels of real photos side by side, once without restart markers and once with one
//! after every row of MCUs. Tiles of 512 px are requested from a server with one worker. Their times are compared with
//! one thread that only decodes the whole file in memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use andon_pixels::{Encode, Frame, Grid, Image, Model, Never, Plane, Subsampling};
use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;

use crate::frames::{codec, convert, decode, prepared};
use crate::goals::{self, Goal, Strictness};
use crate::http::client::Connection;
use crate::http::server::{ResultCaching, Server};
use crate::photos::Folder;
use crate::raw;
use crate::stats::{median, quantile, timed};

/// Options of `./dev bench tiles`.
#[derive(Args)]
pub(crate) struct TilesArgs {
    /// Fewer tiles, for a quick check whose results are not published.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    pub(crate) strictness: Strictness,
}

/// The results of one run of this benchmark, saved under `runs/`.
#[derive(Serialize)]
pub(crate) struct Run {
    machine: raw::Machine,
    width: u32,
    height: u32,
    images: Vec<FileResult>,
    pub(crate) goals: Vec<Goal>,
}

/// Results for the file with restart markers or the one without. Times are in milliseconds.
#[derive(Serialize)]
struct FileResult {
    markers: Markers,
    bytes: usize,
    /// Times in ms for decoding the whole file on one thread.
    full_ms: Vec<f64>,
    /// Times in ms for tiles from a server without a memory cache, which stores no index of the file's compressed data,
    /// so that each tile takes a full decode.
    without_index_ms: Vec<f64>,
    /// Time in ms for the first tile, for which the server also builds the index of the file's compressed data.
    first_ms: f64,
    /// Times in ms for the tiles after the first, in order. Each shows another part of the image.
    later_ms: Vec<f64>,
    median_ms: f64,
    p95_ms: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Markers {
    None,
    EveryRow,
}

const WIDTH: u32 = 12_160;
const HEIGHT: u32 = 8_224;
const TILE: u32 = 512;
/// Width and height in px of the photos that the image is composed of.
const PHOTO: u32 = 2048;
/// Maximum time of a tile, as a share of the time of a full decode.
const GOAL: f64 = 0.1;

/// Runs the benchmark, prints the results and returns them.
pub(crate) fn run(args: &TilesArgs, photos: &Folder) -> Result<Run> {
    let machine = raw::Machine::here()?;
    let folder = tempfile::Builder::new()
        .prefix("andon-bench-tiles-")
        .tempdir()?;
    make(folder.path(), photos)?;
    let count = if args.quick { 40 } else { 200 };
    let mut images = Vec::new();
    for markers in [Markers::None, Markers::EveryRow] {
        images.push(FileResult::measure(folder.path(), markers, count)?);
    }
    println!("tiles of {TILE} px of {WIDTH}×{HEIGHT} px, in ms");
    for image in &images {
        println!(
            "  restart markers {:9} {:5.1} MB: decode {:6.1}, tile without index {:6.1}, first {:6.1}, later {:5.1} (p95 {:5.1})",
            image.markers.word(),
            image.bytes as f64 / 1e6,
            median(&image.full_ms),
            median(&image.without_index_ms),
            image.first_ms,
            image.median_ms,
            image.p95_ms,
        );
    }
    let goals: Vec<Goal> = images.iter().flat_map(FileResult::goals).collect();
    goals::print(&goals);
    Ok(Run {
        machine,
        width: WIDTH,
        height: HEIGHT,
        images,
        goals,
    })
}

impl Markers {
    fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::EveryRow => "every row",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::None => "plain.jpg",
            Self::EveryRow => "restart.jpg",
        }
    }
}

impl FileResult {
    fn measure(folder: &Path, markers: Markers, count: u32) -> Result<Self> {
        let file = fs::read(folder.join(markers.file()))?;
        let mut full_ms = Vec::new();
        for _ in 0..3 {
            let (frame, seconds) = timed(|| decode("jpeg", &file))?;
            ensure!((frame.width, frame.height) == (WIDTH, HEIGHT));
            full_ms.push(1e3 * seconds);
        }
        let url = |number| {
            let (x, y) = place(number);
            let file = markers.file();
            format!("/iiif/3/{file}/{x},{y},{TILE},{TILE}/max/0/default.jpg")
        };
        let lines = "workers = 1\niiif.prefix = \"/iiif/3\"";
        let ask = |connection: &mut Connection, number| {
            let (body, seconds) = timed(|| connection.get(&url(number)))?;
            Ok::<_, anyhow::Error>((body, 1e3 * seconds))
        };
        let plain = Server::configured(folder, ResultCaching::Nothing, lines)?;
        let mut connection = Connection::open(&plain)?;
        let mut bodies = Vec::new();
        let mut without_index_ms = Vec::new();
        for number in 0..4 {
            let (body, ms) = ask(&mut connection, number)?;
            bodies.push(body);
            without_index_ms.push(ms);
        }
        plain.stop()?;
        let server = Server::configured(folder, ResultCaching::Default, lines)?;
        let mut connection = Connection::open(&server)?;
        let mut times = Vec::new();
        for number in 0..count {
            let (body, ms) = ask(&mut connection, number)?;
            let same = bodies
                .get(number as usize)
                .is_none_or(|plain| *plain == body);
            ensure!(same, "tile {number} is another one through the index");
            times.push(ms);
        }
        server.stop()?;
        let later_ms = times.split_off(1);
        Ok(Self {
            markers,
            bytes: file.len(),
            full_ms,
            without_index_ms,
            first_ms: times[0],
            median_ms: median(&later_ms),
            p95_ms: quantile(&later_ms, 0.95),
            later_ms,
        })
    }

    fn goals(&self) -> [Goal; 3] {
        let goal = |what: &str, ms: f64| {
            let name = format!("{what}, restart markers {}", self.markers.word());
            Goal::at_most(name, ms / median(&self.full_ms), GOAL, "of a full decode")
        };
        [
            goal("second tile", self.later_ms[0]),
            goal("median of later tiles", self.median_ms),
            goal("p95 of later tiles", self.p95_ms),
        ]
    }
}

/// Returns the left and top edge in px of tile `number`. The tiles are spread over the whole image, and all are
/// different.
fn place(number: u32) -> (u32, u32) {
    let (across, down) = (WIDTH / TILE, HEIGHT / TILE);
    // 151 and the number of tiles, 23 × 16, have no common factor.
    let place = number * 151 % (across * down);
    (place % across * TILE, place / across * TILE)
}

/// Writes the image to a folder, once without restart markers and once with them.
fn make(folder: &Path, photos: &Folder) -> Result<()> {
    let model = Model::ycbcr(Subsampling::C420);
    let steps = format!("cover:{PHOTO}x{PHOTO}:centre:enlarge");
    let mut parts = Vec::new();
    for name in &photos.names {
        parts.push(convert(prepared(&photos.read(name)?, &steps)?, model)?);
    }
    let planes = (0..3).map(|index| side_by_side(&parts, model, index));
    let frame = Frame::new(model, WIDTH, HEIGHT, planes.collect::<Result<_>>()?, None)?;
    drop(parts);
    let options = Encode {
        quality: Some(85),
        chroma: Some(Subsampling::C420),
        ..Encode::default()
    };
    let encoder = codec("jpeg")?.encoder().context("JPEG is written")?;
    let file = encoder.encode(&Image::still(frame), &options, &Never)?;
    let plain = folder.join(Markers::None.file());
    fs::write(&plain, file)?;
    let status = Command::new("jpegtran")
        .args(["-restart", "1", "-outfile"])
        .arg(folder.join(Markers::EveryRow.file()))
        .arg(&plain)
        .status()
        .context("jpegtran, of libjpeg-turbo-progs")?;
    ensure!(status.success(), "jpegtran: {status}");
    Ok(())
}

/// Composes one plane of the image from all photos, which are repeated. Each row begins with another photo.
fn side_by_side(parts: &[Frame], model: Model, index: usize) -> Result<Plane> {
    let (width, height) = model.plane_size(index, WIDTH, HEIGHT);
    let (side, _) = model.plane_size(index, PHOTO, PHOTO);
    let mut samples = Vec::with_capacity(width as usize * height as usize);
    for y in 0..height {
        for column in 0..width.div_ceil(side) {
            let part = &parts[(y / side * 5 + column) as usize % parts.len()];
            let part = part.planes[index].as_u8().context("8 bits")?;
            let length = side.min(width - column * side) as usize;
            samples.extend_from_slice(&part.row(y % side)[..length]);
        }
    }
    Ok(Plane::U8(Grid::from_samples(width, height, samples)?))
}
