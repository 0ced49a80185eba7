//! The resampling kernels for 16-bit samples with NEON. A register has 4 columns in the vertical pass, and 4 results in
//! the horizontal pass.

use std::arch::aarch64::*;
use std::array;

use super::{MAX, pack};
use crate::resample::bands::{self, COLUMNS, Passes, Step};
use crate::resample::weights::Weights;

pub(super) const PASSES: Passes<u16, f32> = Passes {
    rows_per_step: 1,
    fill,
    down,
    along,
    pack,
};

/// Number of lanes in a register.
const WIDE: usize = 4;

/// Converts a source row to floats, the form that [`down`] multiplies.
///
/// # Safety
/// The conditions of [`Passes::fill`] must hold.
#[target_feature(enable = "neon")]
unsafe fn fill(row: &[u16], _: &[u16], step: &mut [u32]) {
    for (to, &sample) in step.iter_mut().zip(row) {
        *to = f32::from(sample).to_bits();
    }
}

/// Filters source rows vertically: adds up the weighted source rows (`steps`) of each column.
///
/// # Safety
/// The conditions of [`Passes::down`] must hold.
#[target_feature(enable = "neon")]
unsafe fn down(ring: &[u32], steps: &[Step], between: &mut [f32]) {
    for (index, between) in between.chunks_exact_mut(COLUMNS).enumerate() {
        // SAFETY: the caller guarantees as many columns of each step as `between` has.
        unsafe { down_columns(ring.as_ptr().add(index * COLUMNS), steps, between) };
    }
}

/// Filters [`COLUMNS`] columns vertically.
///
/// # Safety
/// Each step must have this many columns, which begin at `ring` plus the step's `at`, and `between` must have room for
/// as many.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn down_columns(ring: *const u32, steps: &[Step], between: &mut [f32]) {
    let mut sums = [vdupq_n_f32(0.0); COLUMNS / WIDE];
    for step in steps {
        let weight = vdupq_n_f32(f32::from_bits(step.weights));
        for (index, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the columns.
            let samples = unsafe { vld1q_f32(ring.add(step.at + index * WIDE).cast()) };
            *sum = vfmaq_f32(*sum, weight, samples);
        }
    }
    for (sum, to) in sums.into_iter().zip(between.chunks_exact_mut(WIDE)) {
        // SAFETY: the chunk is 4 floats.
        unsafe { vst1q_f32(to.as_mut_ptr(), sum) };
    }
}

/// Filters rows horizontally.
///
/// # Safety
/// The conditions of [`Passes::along`] must hold.
#[target_feature(enable = "neon")]
unsafe fn along(between: &[f32], stride: usize, x: &Weights<u16>, out: &mut [u16]) {
    // SAFETY: the caller guarantees the rows.
    unsafe { bands::along(between, stride, x, out, along_rows::<4>, along_rows::<1>) };
}

/// Filters `N` rows horizontally, four results at a time, one to a lane. Four neighbouring samples for each of the
/// results are loaded and transposed, so that each lane adds up the weighted samples of one result from left to right.
///
/// # Safety
/// Each row must have [`bands::slack`] samples beyond the input, and `out` must have room for `N` result rows.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn along_rows<const N: usize>(rows: [*const f32; N], x: &Weights<u16>, out: &mut [u16]) {
    let width = x.output();
    for first in (0..width).step_by(WIDE) {
        // Lanes without a result repeat the last result, which is not stored for them.
        let lanes: [_; WIDE] = array::from_fn(|lane| x.of((first + lane).min(width - 1)));
        let mut sums = [vdupq_n_f32(0.0); N];
        for at in (0..x.taps).step_by(WIDE) {
            // SAFETY: the slices are 4 weights.
            let weights =
                lanes.map(|(_, weights)| unsafe { vld1q_f32(weights[at..][..WIDE].as_ptr()) });
            let weights = transpose(weights);
            for (sum, row) in sums.iter_mut().zip(rows) {
                // SAFETY: `x.taps` samples from each start on are within the slack.
                let samples = lanes.map(|(start, _)| unsafe { vld1q_f32(row.add(start + at)) });
                for (weight, samples) in weights.into_iter().zip(transpose(samples)) {
                    *sum = vfmaq_f32(*sum, weight, samples);
                }
            }
        }
        let count = (width - first).min(WIDE);
        for (row, sum) in sums.into_iter().enumerate() {
            let results = results(sum);
            let to = &mut out[row * width + first..][..count];
            match to.first_chunk_mut::<WIDE>() {
                Some(to) => *to = results,
                None => to.copy_from_slice(&results[..count]),
            }
        }
    }
}

/// Converts 4 sums to samples.
#[target_feature(enable = "neon")]
#[inline]
fn results(sums: float32x4_t) -> [u16; WIDE] {
    let sums = vminq_f32(vmaxq_f32(sums, vdupq_n_f32(0.0)), vdupq_n_f32(MAX));
    let rounded = vcvtq_u32_f32(vaddq_f32(sums, vdupq_n_f32(0.5)));
    let mut results = [0; WIDE];
    // SAFETY: an array of 4 u16.
    unsafe { vst1_u16(results.as_mut_ptr(), vmovn_u32(rounded)) };
    results
}

#[target_feature(enable = "neon")]
#[inline]
fn transpose(m: [float32x4_t; WIDE]) -> [float32x4_t; WIDE] {
    let pairs = |a, b| {
        [
            vreinterpretq_f64_f32(vtrn1q_f32(a, b)),
            vreinterpretq_f64_f32(vtrn2q_f32(a, b)),
        ]
    };
    let (upper, lower) = (pairs(m[0], m[1]), pairs(m[2], m[3]));
    [
        vtrn1q_f64(upper[0], lower[0]),
        vtrn1q_f64(upper[1], lower[1]),
        vtrn2q_f64(upper[0], lower[0]),
        vtrn2q_f64(upper[1], lower[1]),
    ]
    .map(|row| vreinterpretq_f32_f64(row))
}
