//! Gradients of a window of 40 × 40 px, summed over the cells of patches: the inputs of the neural networks that detect
//! faces.

use crate::proposals::SIDE;

/// Number of sums for each cell of a patch. dx and dy are the horizontal and vertical differences at a pixel. The sums
/// are those of dx and of |dx|, once over the pixels with dy ≥ 0 and once over those with dy < 0, and those of dy and
/// of |dy|, once over the pixels with dx ≥ 0 and once over those with dx < 0.
const SUMS: usize = 8;

/// Number of values that describe a patch: the sums of its 2 × 2 cells.
pub(crate) const NUMBERS: usize = 4 * SUMS;

/// Minimum width and height of a patch, in px.
const SMALLEST: usize = 16;

/// Distance from the left or top edge of one patch to that of the next, in px.
const STEP: usize = 16;

/// Aspect ratios of patches: width to height.
const SHAPES: [(usize, usize); 5] = [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2)];

/// A rectangle in a window, in px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Patch {
    x: usize,
    y: usize,
    w: usize,
    h: usize,
}

impl Patch {
    /// Returns all patches, in the order in which the face detection model numbers them.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (across, down) in SHAPES {
            for h in (SMALLEST..=SIDE).filter(|h| h.is_multiple_of(2) && h.is_multiple_of(down)) {
                let w = h / down * across;
                if !w.is_multiple_of(2) || !(SMALLEST..=SIDE).contains(&w) {
                    continue;
                }
                for y in (0..=SIDE - h).step_by(STEP) {
                    let row = (0..=SIDE - w).step_by(STEP);
                    all.extend(row.map(|x| Self { x, y, w, h }));
                }
            }
        }
        all
    }
}

/// Integral images of a window's gradients: for each pixel, the sums over all pixels left of and above it.
pub(crate) struct Gradients(Vec<[i32; SUMS]>);

/// Number of positions in a row of the integral images: one more than the window is wide in px.
const STRIDE: usize = SIDE + 1;

impl Gradients {
    /// Computes the gradients of a window of [`SIDE`] × [`SIDE`] samples.
    pub(crate) fn of(window: &[u8]) -> Self {
        let at = |x: usize, y: usize| i32::from(window[y * SIDE + x]);
        let last = SIDE - 1;
        let mut sums = Vec::with_capacity(STRIDE * STRIDE);
        sums.resize(STRIDE, [0; SUMS]);
        for y in 0..SIDE {
            let mut row = [0; SUMS];
            sums.push(row);
            for x in 0..SIDE {
                // At an edge the difference to the only neighbour counts twice.
                let dx = match x {
                    0 => 2 * (at(1, y) - at(0, y)),
                    _ if x == last => 2 * (at(x, y) - at(x - 1, y)),
                    _ => at(x + 1, y) - at(x - 1, y),
                };
                let dy = match y {
                    0 => 2 * (at(x, 1) - at(x, 0)),
                    _ if y == last => 2 * (at(x, y) - at(x, y - 1)),
                    _ => at(x, y + 1) - at(x, y - 1),
                };
                let across = if dy < 0 { 2 } else { 0 };
                row[across] += dx;
                row[across + 1] += dx.abs();
                let down = if dx < 0 { 6 } else { 4 };
                row[down] += dy;
                row[down + 1] += dy.abs();
                let mut sum = sums[y * STRIDE + x + 1];
                for (sum, row) in sum.iter_mut().zip(row) {
                    *sum += row;
                }
                sums.push(sum);
            }
        }
        Self(sums)
    }

    /// Returns the values that describe a patch, scaled so that the sum of their squares is 1. All are 0 for a patch of
    /// a single colour.
    pub(crate) fn describe(&self, patch: &Patch) -> [f32; NUMBERS] {
        let (w, h) = (patch.w / 2, patch.h / 2);
        let mut sums = [0; NUMBERS];
        for (cell, sums) in sums.chunks_exact_mut(SUMS).enumerate() {
            let (x, y) = (patch.x + cell % 2 * w, patch.y + cell / 2 * h);
            let corner = |x: usize, y: usize| self.0[y * STRIDE + x];
            let corners = [
                corner(x, y),
                corner(x + w, y),
                corner(x, y + h),
                corner(x + w, y + h),
            ];
            for (index, sum) in sums.iter_mut().enumerate() {
                let [above_left, above, left, below_right] = corners.map(|corner| corner[index]);
                *sum = below_right - above - left + above_left;
            }
        }
        let squares = sums.iter().map(|sum| f64::from(*sum) * f64::from(*sum));
        let length = squares.sum::<f64>().sqrt() as f32;
        // Avoids a division by 0 for a patch of a single colour.
        let length = if length > 0.0 { length } else { 1.0 };
        sums.map(|sum| sum as f32 / length)
    }
}
