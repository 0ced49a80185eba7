//! The resampling kernels for 8-bit samples with NEON. A register has 8 columns in the vertical pass, and 8 samples of
//! one result in the horizontal pass. Products are accumulated in 32 bits as they are made (`smlal`).

use std::arch::aarch64::*;

use super::{ALONG_ROUND, ALONG_SHIFT, DOWN_ROUND, DOWN_SHIFT, pack, whole};
use crate::resample::bands::{self, COLUMNS, Passes, Step};
use crate::resample::weights::{GROUP, Weights};

pub(super) const PASSES: Passes<u8, i16> = Passes {
    rows_per_step: 2,
    fill,
    down,
    along,
    pack,
};

/// Number of columns in a register.
const WIDE: usize = 8;

/// Widens two rows to 16 bits: of every 8 columns, first the samples of one row, then those of the other.
///
/// # Safety
/// The conditions of [`Passes::fill`] must hold.
#[target_feature(enable = "neon")]
unsafe fn fill(above: &[u8], below: &[u8], step: &mut [u32]) {
    let rows = above.chunks(WIDE).zip(below.chunks(WIDE));
    for ((above, below), to) in rows.zip(step.chunks_exact_mut(WIDE)) {
        let (a, b) = (whole::<WIDE>(above), whole::<WIDE>(below));
        // SAFETY: 8 bytes each; the chunk is twice 8 times 16 bits.
        unsafe {
            let to = to.as_mut_ptr().cast::<u16>();
            vst1q_u16(to, vmovl_u8(vld1_u8(a.as_ptr())));
            vst1q_u16(to.add(WIDE), vmovl_u8(vld1_u8(b.as_ptr())));
        }
    }
}

/// Filters source rows vertically: adds up the weighted source rows (`steps`) of each column.
///
/// # Safety
/// The conditions of [`Passes::down`] must hold.
#[target_feature(enable = "neon")]
unsafe fn down(ring: &[u32], steps: &[Step], between: &mut [i16]) {
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
unsafe fn down_columns(ring: *const u32, steps: &[Step], between: &mut [i16]) {
    let mut sums = [[vdupq_n_s32(DOWN_ROUND); 2]; COLUMNS / WIDE];
    for step in steps {
        let weights = vreinterpret_s16_u32(vdup_n_u32(step.weights));
        for (index, [low, high]) in sums.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the columns.
            let (a, b) = unsafe {
                let columns = ring.add(step.at + index * WIDE).cast::<i16>();
                (vld1q_s16(columns), vld1q_s16(columns.add(WIDE)))
            };
            *low = vmlal_lane_s16::<0>(*low, vget_low_s16(a), weights);
            *low = vmlal_lane_s16::<1>(*low, vget_low_s16(b), weights);
            *high = vmlal_high_lane_s16::<0>(*high, a, weights);
            *high = vmlal_high_lane_s16::<1>(*high, b, weights);
        }
    }
    for ([low, high], to) in sums.into_iter().zip(between.chunks_exact_mut(WIDE)) {
        const SHIFT: i32 = DOWN_SHIFT as i32;
        let words = vcombine_s16(vqshrn_n_s32::<SHIFT>(low), vqshrn_n_s32::<SHIFT>(high));
        // SAFETY: the chunk is 8 i16.
        unsafe { vst1q_s16(to.as_mut_ptr(), words) };
    }
}

/// Filters rows horizontally.
///
/// # Safety
/// The conditions of [`Passes::along`] must hold.
#[target_feature(enable = "neon")]
unsafe fn along(between: &[i16], stride: usize, x: &Weights<u8>, out: &mut [u8]) {
    // SAFETY: the caller guarantees the rows.
    unsafe { bands::along(between, stride, x, out, along_rows::<2>, along_rows::<1>) };
}

/// Filters `N` rows horizontally, four results at a time. The partial sums of each result are added up at the end.
///
/// # Safety
/// Each row must have [`bands::slack`] samples beyond the input, and `out` must have room for `N` result rows.
#[target_feature(enable = "neon")]
#[inline]
unsafe fn along_rows<const N: usize>(rows: [*const i16; N], x: &Weights<u8>, out: &mut [u8]) {
    let width = x.output();
    for first in (0..width).step_by(4) {
        let mut sums = [[vdupq_n_s32(0); 4]; N];
        for lane in 0..4 {
            // Lanes without a result repeat the last result, which is not stored for them.
            let (start, weights) = x.of((first + lane).min(width - 1));
            for (group, weights) in weights.chunks_exact(GROUP).enumerate() {
                // SAFETY: there are 8 weights, and as many samples of each row are within the slack.
                unsafe {
                    let weights = vld1q_s16(weights.as_ptr());
                    for (sums, row) in sums.iter_mut().zip(rows) {
                        let samples = vld1q_s16(row.add(start + group * GROUP));
                        let low = (vget_low_s16(samples), vget_low_s16(weights));
                        sums[lane] = vmlal_s16(sums[lane], low.0, low.1);
                        sums[lane] = vmlal_high_s16(sums[lane], samples, weights);
                    }
                }
            }
        }
        let count = (width - first).min(4);
        for (row, [a, b, c, d]) in sums.into_iter().enumerate() {
            let bytes = results(vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d)));
            let to = &mut out[row * width + first..][..count];
            match to.first_chunk_mut::<4>() {
                Some(to) => *to = bytes,
                None => to.copy_from_slice(&bytes[..count]),
            }
        }
    }
}

/// Converts 4 sums to samples.
#[target_feature(enable = "neon")]
#[inline]
fn results(sums: int32x4_t) -> [u8; 4] {
    // The shift has two steps: taking the upper halves, and narrowing to bytes, which shifts by the remaining bits.
    let words = vshrn_n_s32::<16>(vaddq_s32(sums, vdupq_n_s32(ALONG_ROUND)));
    let bytes = vqshrun_n_s16::<{ ALONG_SHIFT as i32 - 16 }>(vcombine_s16(words, words));
    vget_lane_u32::<0>(vreinterpret_u32_u8(bytes)).to_le_bytes()
}
