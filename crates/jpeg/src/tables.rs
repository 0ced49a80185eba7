//! The quantisation tables that the encoder writes.

use std::sync::LazyLock;

use andon_kernels::symbols::ZIGZAG;

use crate::image::Subsampling;

/// A quantisation table in the file's (zigzag) order.
pub(crate) type Table = [u16; 64];

/// Returns the quantisation tables of luma and chroma for a quality of 1 to 100, in zigzag order.
pub(crate) fn tables(quality: u8, sub: Subsampling) -> [Table; 2] {
    let scale = scale(quality);
    let table = |weights: [f32; 64]| {
        weights.map(|weight| (weight * scale).round().clamp(1.0, 255.0) as u16)
    };
    // A wave in a subsampled plane is longer on the screen, by the factor of the subsampling.
    let (h, v) = (2.0 / f32::from(sub.h), 2.0 / f32::from(sub.v));
    [table(*LUMA), table(weights(&CHROMA_WEIGHTS, h, v))]
}

/// Returns the quality whose luma table is `luma`, or `None` if there is no such quality.
pub(crate) fn quality(luma: &Table) -> Option<u8> {
    (1..=100).find(|&quality| {
        let scale = scale(quality);
        let mut pairs = LUMA.iter().zip(luma);
        pairs.all(|(weight, &step)| (weight * scale).round().clamp(1.0, 255.0) as u16 == step)
    })
}

/// Returns the factor that turns the weights of frequencies into the quantisation steps of a quality.
fn scale(quality: u8) -> f32 {
    let quality = f32::from(quality);
    let index = SCALES.partition_point(|&(node, _)| node < quality);
    let index = index.clamp(1, SCALES.len() - 1);
    let ((q0, s0), (q1, s1)) = (SCALES[index - 1], SCALES[index]);
    (s0.ln() + (quality - q0) * (s1.ln() - s0.ln()) / (q1 - q0)).exp()
}

static LUMA: LazyLock<[f32; 64]> = LazyLock::new(|| weights(&LUMA_WEIGHTS, 1.0, 1.0));

/// Returns the weights of all frequencies, in zigzag order: `nodes` at the distances [`RADII`] from frequency 0,
/// interpolated between them. Horizontal frequencies are multiplied by `h` and vertical ones by `v` first.
fn weights(nodes: &[f32; 8], h: f32, v: f32) -> [f32; 64] {
    ZIGZAG.map(|place| {
        let (u, v) = (h * f32::from(place % 8), v * f32::from(place / 8));
        let radius = u.hypot(v).min(RADII[7]);
        let index = RADII.partition_point(|&node| node < radius).clamp(1, 7);
        let part = (radius - RADII[index - 1]) / (RADII[index] - RADII[index - 1]);
        nodes[index - 1] + (nodes[index] - nodes[index - 1]) * part
    })
}

/// Distances from frequency 0, in the plane of horizontal and vertical frequencies, for which the weights are listed.
/// Between them, weights are interpolated linearly.
const RADII: [f32; 8] = [0.0, 1.0, 1.5, 2.3, 3.3, 4.8, 7.0, 9.9];
/// Weights of luma at the distances `RADII`, found by a search for the fewest bytes at equal SSIMULACRA2 and equal SSIM
/// of luma, for sixteen photos at 400 px. At a scale of 1 they are the quantisation steps.
const LUMA_WEIGHTS: [f32; 8] = [8.3, 10.1, 12.6, 18.9, 21.0, 25.0, 33.2, 45.2];
const CHROMA_WEIGHTS: [f32; 8] = [11.6, 15.8, 19.4, 26.0, 34.8, 46.5, 70.0, 84.0];

/// The scale of the quantisation weights for each listed quality. With it, files score on average the same as those of
/// libjpeg-turbo at that quality, by SSIMULACRA2 of sixteen photos at 400 and 1200 px, 4:2:0 (`./dev bench encode`).
/// Each pair is a quality and its scale.
const SCALES: [(f32, f32); 21] = [
    (1.0, 30.0),
    (3.0, 21.8),
    (6.0, 12.8),
    (10.0, 7.1),
    (15.0, 4.58),
    (20.0, 3.27),
    (30.0, 2.15),
    (40.0, 1.6),
    (50.0, 1.27),
    (60.0, 1.07),
    (70.0, 0.82),
    (75.0, 0.68),
    (80.0, 0.553),
    (85.0, 0.436),
    (90.0, 0.298),
    (92.0, 0.247),
    (94.0, 0.181),
    (96.0, 0.121),
    (98.0, 0.067),
    (99.0, 0.041),
    // With this factor all steps are 1.
    (100.0, 0.015),
];
