//! Measures local activity with NEON, two blocks at a time: differences are added up in pairs of columns (`vpadal`).

use std::arch::aarch64::*;

/// NEON version of [`super::quieter_halves`] for as many of the first blocks as whole registers cover. Returns the
/// number of these blocks.
///
/// # Safety
/// The processor must support NEON. All rows must be as long as the first one, and `quiet` must have a value for each
/// of their blocks.
#[target_feature(enable = "neon")]
pub(super) unsafe fn quieter_halves(rows: &[&[u8]], quiet: &mut [u16]) -> usize {
    // Every register needs one more sample, the neighbour of its last one.
    let Some(last) = rows[0].len().checked_sub(17).map(|at| at / 8) else {
        return 0;
    };
    // The last two blocks may overlap with those before. Computing a block twice gives the same result.
    for block in (0..last).step_by(2).chain([last]) {
        // SAFETY: there are 17 samples from the block's first one on.
        let lesser = unsafe { two_blocks(rows, 8 * block) };
        for (quiet, lesser) in quiet[block..block + 2].iter_mut().zip(lesser) {
            *quiet = lesser.min(*quiet);
        }
    }
    last + 2
}

/// Returns the activities of the quieter halves of the two blocks from column `at` on.
///
/// # Safety
/// Each row must have 17 samples from column `at` on.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn two_blocks(rows: &[&[u8]], at: usize) -> [u16; 2] {
    // SAFETY: the caller guarantees the samples.
    let load = |row: &[u8], at| unsafe { vld1q_u8(row.as_ptr().add(at)) };
    let mut sums = vdupq_n_u16(0);
    let mut here = load(rows[0], at);
    for pair in rows.windows(2) {
        let below = load(pair[1], at);
        sums = vpadalq_u8(sums, vabdq_u8(here, load(pair[0], at + 1)));
        sums = vpadalq_u8(sums, vabdq_u8(here, below));
        here = below;
    }
    let halves = vpaddlq_u16(sums);
    let lesser = vpmin_u32(vget_low_u32(halves), vget_high_u32(halves));
    [
        vget_lane_u32::<0>(lesser) as u16,
        vget_lane_u32::<1>(lesser) as u16,
    ]
}
