//! How much goes on in a block of luma: errors hide where much does.

use std::ops::Range;

use andon_kernels::cpu;
use andon_pixels::Grid;

/// The strengths of the blocks in these rows of blocks, row by row: 0 where nothing goes on, and straight with the logarithm
/// of what does up to 65535.
///
/// Of the quarters of a block the quietest counts: what the others hide, reaches into it.
pub(super) fn strengths(plane: &Grid<u8>, rows: &Range<usize>) -> Vec<u16> {
    let wide = plane.width().div_ceil(8) as usize;
    let mut out = Vec::with_capacity(wide * rows.len());
    let mut quiet = vec![0; wide];
    let mut sums = vec![0; 8 * wide];
    for row in rows.clone() {
        let top = 8 * row as u32;
        quiet.fill(u16::MAX);
        for top in (top..plane.height()).step_by(4).take(2) {
            cpu::with_modern_instructions(
                #[inline(always)]
                || {
                    sums.fill(0);
                    for y in top..(top + 4).min(plane.height()) {
                        let below = (y + 1).min(plane.height() - 1);
                        add_differences(plane.row(y), plane.row(below), &mut sums);
                    }
                    for (quiet, sums) in quiet.iter_mut().zip(sums.chunks_exact(8)) {
                        let (left, right) = sums.split_at(4);
                        let left: u16 = left.iter().sum();
                        let right: u16 = right.iter().sum();
                        *quiet = left.min(right).min(*quiet);
                    }
                },
            );
        }
        out.extend(quiet.iter().map(|&sum| {
            let strength = (log2(u32::from(sum) + 16) - QUIET) / (BUSY - QUIET);
            (strength.clamp(0.0, 1.0) * 65_535.0) as u16
        }));
    }
    out
}

/// Of each sample, to its right and to the one below. Nothing is to the right of the last one.
#[inline(always)]
fn add_differences(row: &[u8], below: &[u8], sums: &mut [u16]) {
    // Not `chain`, of which no compiler makes vectors.
    let pairs = row.iter().zip(&row[1..]).zip(below);
    for (sum, ((&sample, &right), &below)) in sums.iter_mut().zip(pairs) {
        *sum += u16::from(sample.abs_diff(right)) + u16::from(sample.abs_diff(below));
    }
    let last = row.len() - 1;
    sums[last] += u16::from(row[last].abs_diff(below[last]));
}

/// Logarithms of 16 and the differences in a quarter, of 16 samples with two neighbours each, at strengths of 0 and 65535.
const QUIET: f32 = 4.0 + 3.84;
const BUSY: f32 = 4.0 + 8.84;

/// Straight between powers of two: at most 0.09 less.
fn log2(n: u32) -> f32 {
    let whole = n.ilog2();
    whole as f32 + (n as f32 / (1 << whole) as f32 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quietest_quarter_of_a_block_counts_also_where_the_picture_ends_within_it() {
        for (width, height) in [(1, 1), (5, 3), (8, 8), (9, 20), (53, 16), (100, 41)] {
            let mut state = 1u32;
            let samples = (0..width * height).map(|at| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8 >> (at % width / 8 % 8)
            });
            let plane = Grid::from_samples(width, height, samples.collect()).unwrap();
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
                    // Below the picture there is no quarter; to its right a quiet one.
                    let there = quarters.iter().filter(|(_, y)| top + y < height);
                    let quiet = there.map(|(x, y)| quarter(left + x, top + y)).min();
                    let strength = (log2(quiet.unwrap() + 16) - QUIET) / (BUSY - QUIET);
                    expected.push((strength.clamp(0.0, 1.0) * 65_535.0) as u16);
                }
            }
            let (wide, high) = (width.div_ceil(8) as usize, height.div_ceil(8) as usize);
            for half in 0..=high {
                let mut found = strengths(&plane, &(0..half));
                assert_eq!(found.len(), half * wide);
                found.extend(strengths(&plane, &(half..high)));
                assert_eq!(found, expected, "{width}×{height}");
            }
        }
    }
}
