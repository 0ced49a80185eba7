//! How much goes on in a block of luma: errors hide where much does.

use andon_kernels::cpu;
use andon_pixels::Grid;

/// The strengths of all blocks, row by row: 0 where nothing goes on, and straight with the logarithm of what does up to
/// 65535.
///
/// Of the quarters of a block the quietest counts: what the others hide, reaches into it.
pub(super) fn strengths(plane: &Grid<u8>) -> Vec<u16> {
    let wide = plane.width().div_ceil(8) as usize;
    let mut out = Vec::with_capacity(wide * plane.height().div_ceil(8) as usize);
    let mut quiet = vec![0; wide];
    let mut sums = vec![0; 8 * wide];
    for top in (0..plane.height()).step_by(8) {
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

/// Of each sample, to its right and to the one below.
#[inline(always)]
fn add_differences(row: &[u8], below: &[u8], sums: &mut [u16]) {
    let right = row[1..].iter().chain(row.last());
    for (((sum, &sample), &right), &below) in sums.iter_mut().zip(row).zip(right).zip(below) {
        *sum += u16::from(sample.abs_diff(right)) + u16::from(sample.abs_diff(below));
    }
}

/// Logarithms of 16 and the differences in a quarter, of 16 samples with two neighbours each, at strengths of 0 and 65535.
const QUIET: f32 = 4.0 + 3.84;
const BUSY: f32 = 4.0 + 8.84;

/// Straight between powers of two: at most 0.09 less.
fn log2(n: u32) -> f32 {
    let whole = n.ilog2();
    whole as f32 + (n as f32 / (1 << whole) as f32 - 1.0)
}
