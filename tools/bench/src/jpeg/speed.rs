//! Costs of decoding: CPU time, instructions and memory.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::{Decoder, Photo, alone, decode};
use crate::goals::Goal;
use crate::proc::thread_ms;
use crate::stats::{geometric_mean, median};

pub(super) const LEGEND: &str =
    "one thread, processor time in ms: ours / libjpeg-turbo's planes, at 1/8, 1/4, 1/2, 1/1";

/// Goals for the speed as a multiple of libjpeg-turbo's. Each entry consists of whether the image is progressive, the
/// scale in eighths, and the goal.
const SPEED: [(bool, u8, f64); 6] = [
    (false, 1, 2.0),
    (false, 2, 1.6),
    (false, 4, 1.25),
    (false, 8, 1.0),
    (true, 1, 5.0),
    (true, 2, 2.5),
];
/// Minimum of libjpeg-turbo's memory divided by Andon's, for progressive images at 1/8.
const MEMORY: f64 = 16.0;

/// Costs of decoding one photo.
#[derive(Serialize)]
pub(super) struct Speed {
    scales: Vec<AtScale>,
    memory: alone::Memory,
}

#[derive(Serialize)]
struct AtScale {
    eighths: u8,
    /// Median CPU time of Andon in ms.
    ours_ms: f64,
    /// Median CPU time of libjpeg-turbo in ms.
    turbo_ms: f64,
    ours_instructions: Option<u64>,
    turbo_instructions: Option<u64>,
}

impl Speed {
    pub(super) fn measure(
        path: &Path,
        file: &[u8],
        rounds: usize,
        instructions: bool,
    ) -> Result<Self> {
        let mut scales = Vec::new();
        for eighths in [1, 2, 4, 8] {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..rounds {
                for (decoder, times) in [Decoder::Ours, Decoder::Turbo].into_iter().zip(&mut times)
                {
                    let before = thread_ms();
                    decode(decoder, file, eighths)?;
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
        Ok(Self {
            scales,
            memory: alone::memory(path)?,
        })
    }

    pub(super) fn print(&self) {
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
        print!("  memory at 1/8: {:.1}×", self.memory.ratio());
    }
}

/// Returns the goals for speed and memory. Those for progressive images are missed if no photo is progressive, those
/// for sequential images if none is sequential.
pub(super) fn goals(photos: &[Photo]) -> Vec<Goal> {
    let of = |progressive| {
        photos
            .iter()
            .filter(move |one| one.progressive == progressive)
            .filter_map(|one| one.speed.as_ref())
    };
    let speed = |(progressive, eighths, goal)| {
        let scales = of(progressive).flat_map(|one| &one.scales);
        let ratios = scales
            .filter(move |scale| scale.eighths == eighths)
            .map(|scale| scale.turbo_ms / scale.ours_ms);
        let kind = if progressive {
            "progressive"
        } else {
            "sequential"
        };
        let name = format!("{kind} at {eighths}/8, speed");
        Goal::at_least(name, geometric_mean(ratios), goal, "×")
    };
    let memory = geometric_mean(of(true).map(|one| one.memory.ratio()));
    let memory = Goal::at_least("progressive at 1/8, memory", memory, MEMORY, "×");
    SPEED.into_iter().map(speed).chain([memory]).collect()
}
