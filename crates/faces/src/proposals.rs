//! The first stage of detection: windows at every scale pass through boosted cascades, which reject most of them after
//! a few patterns.

use crate::image::Gray;
use crate::pattern::patterns;
use crate::windows::Window;

/// Side in px of the windows that cascades evaluate.
pub(crate) const SIDE: usize = 40;

/// Distance between neighbouring windows, in px.
const STEP: usize = 4;

/// Size of the image at one scale of the search for faces, relative to its size at the previous, larger scale.
const SCALE: f64 = 0.8;

/// Number of patterns in a group: after each group, a cascade checks whether to reject the window.
pub(crate) const GROUP: usize = 10;

/// Number of weights for a pattern: one for each value that it may have.
pub(crate) const VALUES: usize = 256;

/// Standard deviation of a window's samples up to which the window counts as flat and is rejected.
const FLAT: f64 = 10.0;

/// A cascade of weak classifiers, each of which adds a weight for the pattern at its position.
#[derive(Debug)]
pub(crate) struct Cascade {
    /// Column and row of each pattern in a window, in px.
    pub(crate) places: Vec<(usize, usize)>,
    /// Weights of all values of the first pattern, then of the second, and so on.
    pub(crate) weights: Vec<f32>,
    /// For each group of patterns, the minimum sum of weights that a window must have reached after the group. A window
    /// with less is rejected.
    pub(crate) least: Vec<f32>,
}

impl Cascade {
    /// Returns the positions of the patterns as offsets from the first sample of a window, in an image of this width.
    fn offsets(&self, width: usize) -> Vec<usize> {
        self.places.iter().map(|(x, y)| y * width + x).collect()
    }

    /// Returns the sum of weights for the window that begins at `start`, or `None` if the window is rejected.
    fn score(&self, patterns: &[u8], offsets: &[usize], start: usize) -> Option<f32> {
        let groups = offsets
            .chunks(GROUP)
            .zip(self.weights.chunks(GROUP * VALUES));
        let mut score = 0.0;
        for ((offsets, weights), least) in groups.zip(&self.least) {
            for (offset, weights) in offsets.iter().zip(weights.chunks_exact(VALUES)) {
                score += weights[usize::from(patterns[start + offset])];
            }
            if score < *least {
                return None;
            }
        }
        Some(score)
    }
}

/// Returns the windows that each cascade accepts, or `None` as soon as `is_wanted` returns `false`.
pub(crate) fn of(
    image: Gray<'_>,
    cascades: &[Cascade],
    is_wanted: &dyn Fn() -> bool,
) -> Option<Vec<Vec<Window>>> {
    let mut candidates = vec![Vec::new(); cascades.len()];
    let mut scale = 1.0;
    loop {
        let side = |side: usize| (side as f64 * scale) as usize;
        let (width, height) = (side(image.width()), side(image.height()));
        if width.min(height) < SIDE {
            return Some(candidates);
        }
        let samples = image.scaled(width, height);
        let patterns = patterns(&samples, width, height);
        let offsets: Vec<_> = cascades.iter().map(|it| it.offsets(width)).collect();
        let whole = |px: usize| (px as f64 / scale + 0.5) as i64;
        for y in (0..=height - SIDE).step_by(STEP) {
            if !is_wanted() {
                return None;
            }
            for x in (0..=width - SIDE).step_by(STEP) {
                let start = y * width + x;
                let all = cascades.iter().zip(&offsets).zip(&mut candidates);
                for ((cascade, offsets), candidates) in all {
                    let score = cascade.score(&patterns, offsets, start);
                    if let Some(score) = score.filter(|_| !is_flat(&samples, width, start)) {
                        candidates.push(Window {
                            x: whole(x),
                            y: whole(y),
                            side: whole(SIDE),
                            score,
                        });
                    }
                }
            }
        }
        scale *= SCALE;
    }
}

fn is_flat(samples: &[u8], width: usize, start: usize) -> bool {
    let (mut sum, mut squares) = (0_u32, 0_u32);
    for row in samples[start..].chunks(width).take(SIDE) {
        for sample in &row[..SIDE] {
            let level = u32::from(*sample);
            sum += level;
            squares += level * level;
        }
    }
    let area = (SIDE * SIDE) as f64;
    let mean = f64::from(sum) / area;
    f64::from(squares) / area - mean * mean <= FLAT * FLAT
}
