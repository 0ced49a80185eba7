//! Benchmark of a single photo: how much sooner it is ready with idle cores than with one thread.
//!
//! The sources of 4 and of 20 megapixels are generated with Andon's own encoder. Two servers run side by side, one of
//! them with `workers = 1`, and are requested alternately. Neither caches decoded frames, so each request has to decode
//! its photo. Then a server with work stealing and one without it are loaded alternately, to show that work stealing
//! costs nothing while no core is idle. Last, a server with all workers is compared with a server with one worker under
//! load. This shows how much faster the machine's cores are together than a single one: two cores of a virtual machine
//! may be two threads of one core.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::client::{self, Connection};
use super::server::{ResultCaching, Server};
use crate::engines::render;
use crate::photos::Folder;
use crate::stats::{geometric_mean, median};

/// Results of the benchmark of a single photo on an otherwise idle server, and of servers under load.
#[derive(Serialize)]
pub(super) struct Lone {
    images: Vec<ImageResult>,
    /// Geometric means of the speed-up over all photos, for each size of the photos and of the results.
    geometric_means: Vec<Mean>,
    /// Responses per second with work stealing divided by those without, for each pair of rounds of load.
    lending_under_load: Vec<f64>,
    /// Median of `lending_under_load`.
    median_under_load: f64,
    /// Responses per second of a server with all workers divided by those of a server with one worker, for each pair of
    /// rounds of load. Work stealing is off, so each image is rendered by a single worker.
    all_workers_under_load: Vec<f64>,
    /// Median of `all_workers_under_load`: the maximum speed-up of a single photo.
    most: f64,
}

/// Geometric mean of the speed-up over photos of one size.
#[derive(Serialize)]
struct Mean {
    megapixels: u32,
    side: u32,
    ratio: f64,
}

#[derive(Serialize)]
struct ImageResult {
    name: String,
    bytes: usize,
    /// Longest side of the result in px.
    side: u32,
    /// Median time in ms with one worker.
    one_worker_ms: f64,
    /// Median time in ms with all workers.
    all_workers_ms: f64,
    ratio: f64,
}

/// Runs the benchmark and prints the results.
pub(super) fn run(connections: usize, photos: &Folder) -> Result<Lone> {
    let sources = Sources::make(photos)?;
    println!("\na lone photo, `workers = 1` and all of them:");
    let one = Server::configured(&sources.path, ResultCaching::NotEvenFrames, "workers = 1")?;
    let all = Server::configured(&sources.path, ResultCaching::NotEvenFrames, "")?;
    let mut images = Vec::new();
    for side in SIDES {
        for (name, bytes) in &sources.files {
            let image = ImageResult::measure(name, *bytes, side, &one, &all)?;
            println!(
                "  {:45} to {side:4} px {:>8.1} ms {:>8.1} ms   {:.2} ×",
                image.name, image.one_worker_ms, image.all_workers_ms, image.ratio
            );
            images.push(image);
        }
    }
    one.stop()?;
    all.stop()?;
    let mut geometric_means = Vec::new();
    for (megapixels, goal) in GOALS {
        for side in SIDES {
            let of_size = |it: &&ImageResult| {
                it.side == side && it.name.starts_with(&format!("{megapixels}-"))
            };
            let ratio = geometric_mean(images.iter().filter(of_size).map(|it| it.ratio));
            println!(
                "  {megapixels} megapixels to {side} px, geometric mean: {ratio:.2} × (goal: {goal:.2}) {}",
                verdict(ratio >= goal)
            );
            geometric_means.push(Mean {
                megapixels,
                side,
                ratio,
            });
        }
    }

    let lending_under_load = under_load(&sources, connections, ["", ALONE])?;
    let median_under_load = median(&lending_under_load);
    println!(
        "  {connections} connections: {median_under_load:.3} of the throughput without lending (goal: {LEAST}) {}",
        verdict(median_under_load >= LEAST)
    );
    let all_workers_under_load = under_load(&sources, connections, [ALONE, "workers = 1"])?;
    let most = median(&all_workers_under_load);
    println!(
        "  {connections} connections: all workers are {most:.2} times as fast as one; a lone photo cannot gain more here"
    );
    Ok(Lone {
        images,
        geometric_means,
        lending_under_load,
        median_under_load,
        all_workers_under_load,
        most,
    })
}

/// Longest sides of the results in px.
const SIDES: [u32; 3] = [400, 1200, 1600];
/// Longest side in px of the images that are requested from servers under load.
const LOAD_SIDE: u32 = 1600;
/// Number of requests for each image. The time of the first one does not count.
const REPEATS: usize = 16;
/// Sizes of the photos in megapixels, each with the speed-up that all workers have to reach for a single image.
const GOALS: [(u32, f64); 2] = [(4, 1.0 / 0.65), (20, 1.3)];
/// Minimum throughput with work stealing, as a share of the throughput without it.
const LEAST: f64 = 0.98;

fn verdict(reached: bool) -> &'static str {
    if reached { "PASS" } else { "FAIL" }
}

fn url(name: &str, side: u32) -> String {
    format!("/small_light(dw={side},dh={side},da=l,q=80,of=jpg)/{name}")
}

impl ImageResult {
    fn measure(name: &str, bytes: usize, side: u32, one: &Server, all: &Server) -> Result<Self> {
        let mut connections = [Connection::open(one)?, Connection::open(all)?];
        let mut times = [Vec::new(), Vec::new()];
        for repeat in 0..REPEATS {
            let mut bodies = Vec::new();
            for (connection, times) in connections.iter_mut().zip(&mut times) {
                let start = Instant::now();
                bodies.push(connection.get(&url(name, side))?);
                if repeat > 0 {
                    times.push(start.elapsed().as_secs_f64() * 1e3);
                }
            }
            ensure!(
                bodies[0] == bodies[1],
                "{name}: lent cores change the image"
            );
        }
        let [one_worker_ms, all_workers_ms] = times.map(|times| median(&times));
        Ok(Self {
            name: name.to_owned(),
            bytes,
            side,
            one_worker_ms,
            all_workers_ms,
            ratio: one_worker_ms / all_workers_ms,
        })
    }
}

/// Returns the throughput of a server with the first of the two configuration `lines`, divided by that of one with the
/// second, for each pair of rounds of load. The order of the servers alternates from pair to pair.
fn under_load(sources: &Sources, connections: usize, lines: [&str; 2]) -> Result<Vec<f64>> {
    let urls: Vec<String> = (sources.files.iter())
        .map(|(name, _)| url(name, LOAD_SIDE))
        .collect();
    let server = |lines| Server::configured(&sources.path, ResultCaching::NotEvenFrames, lines);
    let [first, second] = [server(lines[0])?, server(lines[1])?];
    let round = |server: &Server| -> Result<f64> {
        let count = urls.len() * ROUNDS_OF_URLS;
        let load = client::load(server, &urls, connections, 0, count)?;
        Ok(count as f64 / load.seconds)
    };
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        let (one, other) = if pair % 2 == 0 {
            let one = round(&first)?;
            (one, round(&second)?)
        } else {
            let second_rate = round(&second)?;
            (round(&first)?, second_rate)
        };
        ratios.push(one / other);
    }
    first.stop()?;
    second.stop()?;
    Ok(ratios)
}

/// Configuration line that turns work stealing off.
const ALONE: &str = "steal_work = false";

/// Number of requests for each URL in one round of load.
const ROUNDS_OF_URLS: usize = 20;
const PAIRS: usize = 8;

/// A folder with photos of each size in [`GOALS`], each as every kind of JPEG in [`KINDS`]. It is removed when this is
/// dropped.
struct Sources {
    path: PathBuf,
    /// Name and size in bytes of each file.
    files: Vec<(String, usize)>,
}

impl Sources {
    fn make(photos: &Folder) -> Result<Self> {
        let path = env::temp_dir().join(format!("andon-bench-lone-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        let mut sources = Self {
            path,
            files: Vec::new(),
        };
        // The two photos differ in detail.
        let chosen = [photos.names.first(), photos.names.last()];
        for photo in chosen.into_iter().flatten() {
            let bytes = photos.read(photo)?;
            for ((megapixels, size), (kind, options)) in SIZES
                .iter()
                .flat_map(|size| KINDS.map(|kind| (*size, kind)))
            {
                let recipe = format!("exact:{size},as:jpeg,q:90,{options}");
                let body = render(&recipe, &bytes)?;
                let name = format!("{megapixels}-{}-{kind}.jpg", photo.trim_end_matches(".jpg"));
                fs::write(sources.path.join(&name), &body).with_context(|| name.clone())?;
                sources.files.push((name, body.len()));
            }
        }
        Ok(sources)
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        // An error is harmless: the folder is below the system's temporary folder.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Sizes of the photos: megapixels, and width × height in px.
const SIZES: [(u32, &str); 2] = [(4, "2448x1632"), (20, "5472x3648")];

/// Kinds of JPEG by name, with the encoding options of their recipes.
const KINDS: [(&str, &str); 3] = [
    ("sequential-420", "chroma:420"),
    ("sequential-444", "chroma:444"),
    ("progressive-420", "progressive,chroma:420"),
];
