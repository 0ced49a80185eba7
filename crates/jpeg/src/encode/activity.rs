//! Measures the activity of luma in each block, because errors are less visible where activity is high.

use std::array;
use std::ops::Range;

use andon_kernels::activity::quieter_halves;

use crate::image::Plane;

/// Returns a number for each block in these rows of blocks, row by row: its strength, by which the encoder raises the
/// threshold below which the block's coefficients become 0. Strength is 0 for low activity, and grows linearly with
/// the logarithm of the activity, up to 65535.
///
/// Only the quietest quarter of a block counts, because the error of a coefficient extends over the whole block, and is
/// visible there however busy the other quarters are.
pub(super) fn strengths(plane: Plane<&[u8]>, rows: &Range<usize>) -> Vec<u16> {
    let wide = plane.width.div_ceil(8) as usize;
    let mut out = Vec::with_capacity(wide * rows.len());
    let mut quiet = vec![0; wide];
    for row in rows.clone() {
        quiet.fill(u16::MAX);
        let high = plane.height;
        for top in (8 * row as u32..high).step_by(4).take(2) {
            // Below the last row of the image, that row is repeated.
            let neighbours: [&[u8]; 5] =
                array::from_fn(|y| plane.row((top + y as u32).min(high - 1)));
            let count = (high - top).min(4) as usize;
            quieter_halves(&neighbours[..=count], &mut quiet);
        }
        out.extend(quiet.iter().map(|&sum| {
            let strength = (log2(u32::from(sum) + 16) - QUIET) / (BUSY - QUIET);
            (strength.clamp(0.0, 1.0) * 65_535.0) as u16
        }));
    }
    out
}

/// The value of log₂(16 + activity) of a block's quietest quarter up to which the block's strength (see [`strengths`])
/// is 0. The activity of a quarter block is the sum of the absolute differences between its 16 samples and their right
/// and lower neighbours.
const QUIET: f32 = 4.0 + 3.84;
/// The value of log₂(16 + activity) of a block's quietest quarter from which on the block's strength (see
/// [`strengths`]) is 65535, the maximum.
const BUSY: f32 = 4.0 + 8.84;

/// Approximates log₂ by interpolating linearly between powers of two. The result is at most 0.09 too small.
fn log2(n: u32) -> f32 {
    let exponent = n.ilog2();
    exponent as f32 + (n as f32 / (1 << exponent) as f32 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quietest_quarter_of_a_block_counts_also_where_the_image_ends_within_it() {
        for (width, height) in [(1, 1), (5, 3), (8, 8), (9, 20), (53, 16), (100, 41)] {
            let mut state = 1u32;
            let samples = (0..width * height).map(|at| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8 >> (at % width / 8 % 8)
            });
            let samples: Vec<u8> = samples.collect();
            let plane = Plane {
                width,
                height,
                samples: &samples[..],
            };
            let at = |x: u32, y: u32| plane.row(y.min(height - 1))[x.min(width - 1) as usize];
            let difference = |x: u32, y: u32| {
                let neighbours = [at(x + 1, y), at(x, y + 1)];
                let differences = neighbours.map(|other| u32::from(at(x, y).abs_diff(other)));
                differences.iter().sum::<u32>()
            };
            let quarter = |left: u32, top: u32| {
                let rows = top..(top + 4).min(height);
                let columns = left..(left + 4).min(width);
                let row = |y| columns.clone().map(move |x| difference(x, y));
                rows.flat_map(row).sum::<u32>()
            };
            let mut expected = Vec::new();
            for top in (0..height).step_by(8) {
                for left in (0..width).step_by(8) {
                    let quarters = [(0, 0), (4, 0), (0, 4), (4, 4)];
                    // Below the image there is no quarter; to its right a quiet one.
                    let there = quarters.iter().filter(|(_, y)| top + y < height);
                    let quiet = there.map(|(x, y)| quarter(left + x, top + y)).min();
                    let strength = (log2(quiet.unwrap() + 16) - QUIET) / (BUSY - QUIET);
                    expected.push((strength.clamp(0.0, 1.0) * 65_535.0) as u16);
                }
            }
            let (wide, high) = (width.div_ceil(8) as usize, height.div_ceil(8) as usize);
            for half in 0..=high {
                let mut found = strengths(plane, &(0..half));
                assert_eq!(found.len(), half * wide);
                found.extend(strengths(plane, &(half..high)));
                assert_eq!(found, expected, "{width}×{height}");
            }
        }
    }
}
