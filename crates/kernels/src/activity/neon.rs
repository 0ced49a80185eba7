//! Two blocks at a time: differences are added up in pairs of columns (`vpadal`).

use std::arch::aarch64::*;

/// As many blocks as there are whole registers of, which it returns.
///
/// # Safety
/// The level must be there. All rows must be as long as the first one and reach over all blocks but the last one.
#[target_feature(enable = "neon")]
pub(super) unsafe fn quieter_halves(rows: &[&[u8]], quiet: &mut [u16]) -> usize {
    let width = rows[0].len();
    let mut done = 0;
    for two in quiet.as_chunks_mut::<2>().0 {
        let at = 8 * done;
        // The last sample has a neighbour, too.
        if at + 17 > width {
            break;
        }
        let mut sums = vdupq_n_u16(0);
        // SAFETY: 17 samples of each row are there from `at` on.
        let load = |row: &[u8], at| unsafe { vld1q_u8(row.as_ptr().add(at)) };
        let mut here = load(rows[0], at);
        for pair in rows.windows(2) {
            let below = load(pair[1], at);
            sums = vpadalq_u8(sums, vabdq_u8(here, load(pair[0], at + 1)));
            sums = vpadalq_u8(sums, vabdq_u8(here, below));
            here = below;
        }
        // Halves of blocks, and the lesser one of each two.
        let halves = vpaddlq_u16(sums);
        let lesser = vpmin_u32(vget_low_u32(halves), vget_high_u32(halves));
        two[0] = two[0].min(vget_lane_u32::<0>(lesser) as u16);
        two[1] = two[1].min(vget_lane_u32::<1>(lesser) as u16);
        done += 2;
    }
    done
}
