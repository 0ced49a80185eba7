//! Inverse DCTs to small blocks with NEON, several blocks side by side. 16-bit products are accumulated in 32 bits as
//! they are made (`smlal`).

use std::arch::aarch64::*;

use super::{COS1, COS3, two_lines};

/// Transforms eight blocks at a time to 2×2 samples each. The load instruction separates their four frequencies.
#[target_feature(enable = "neon")]
pub(in super::super) fn to_2x2(
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    let (top, bottom) = two_lines(rows, line, coefficients.len() / 2);
    let eights = coefficients
        .chunks(32)
        .zip(top.chunks_mut(16).zip(bottom.chunks_mut(16)));
    for (blocks, (top, bottom)) in eights {
        let lines = eight_blocks(&whole(blocks), factors);
        for (line, to) in lines.iter().zip([top, bottom]) {
            match to.first_chunk_mut::<16>() {
                Some(to) => *to = *line,
                None => to.copy_from_slice(&line[..to.len()]),
            }
        }
    }
}

/// Returns 32 coefficients, padded with zeros if there are fewer.
#[inline]
fn whole(blocks: &[i16]) -> [i16; 32] {
    blocks.try_into().unwrap_or_else(|_| {
        let mut whole = [0; 32];
        whole[..blocks.len()].copy_from_slice(blocks);
        whole
    })
}

/// Dequantises eight adjacent blocks and returns their samples: two rows of sixteen.
#[inline]
#[target_feature(enable = "neon")]
fn eight_blocks(blocks: &[i16; 32], factors: &[i32; 64]) -> [[u8; 16]; 2] {
    // SAFETY: an array of 32 i16 is 64 bytes.
    let int16x8x4_t(a, b, c, d) = unsafe { vld4q_s16(blocks.as_ptr()) };
    let a = vmulq_n_s16(a, factors[0] as i16);
    let b = vmulq_n_s16(b, factors[1] as i16);
    let c = vmulq_n_s16(c, factors[2] as i16);
    let d = vmulq_n_s16(d, factors[3] as i16);
    // In 32 bits, lanes 0–3 and lanes 4–7: first the left columns, then the right ones.
    let [flat, wave] = [(a, b), (c, d)].map(|(a, b)| {
        let (low_a, low_b) = (vget_low_s16(a), vget_low_s16(b));
        [
            [vaddl_s16(low_a, low_b), vaddl_high_s16(a, b)],
            [vsubl_s16(low_a, low_b), vsubl_high_s16(a, b)],
        ]
    });
    let column = |n: usize| {
        let (flat, wave): ([int32x4_t; 2], [int32x4_t; 2]) = (flat[n], wave[n]);
        [
            levels([vaddq_s32(flat[0], wave[0]), vaddq_s32(flat[1], wave[1])]),
            levels([vsubq_s32(flat[0], wave[0]), vsubq_s32(flat[1], wave[1])]),
        ]
    };
    let (left, right) = (column(0), column(1));
    std::array::from_fn(|y| {
        let line = vcombine_u8(vzip1_u8(left[y], right[y]), vzip2_u8(left[y], right[y]));
        let mut samples = [0; 16];
        // SAFETY: an array of 16 bytes.
        unsafe { vst1q_u8(samples.as_mut_ptr(), line) };
        samples
    })
}

/// Converts eight sums to samples: shifts out 3 fractional bits with rounding, and adds 128.
#[inline]
#[target_feature(enable = "neon")]
fn levels(sums: [int32x4_t; 2]) -> uint8x8_t {
    let words = vcombine_s16(vqrshrn_n_s32::<3>(sums[0]), vqrshrn_n_s32::<3>(sums[1]));
    vadd_u8(vreinterpret_u8_s8(vqmovn_s16(words)), vdup_n_u8(128))
}

/// Transforms two blocks at a time to 4×4 samples each, one in each half of a register.
#[target_feature(enable = "neon")]
pub(in super::super) fn to_4x4(
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    let factors: [i16; 16] = std::array::from_fn(|i| factors[i] as i16);
    let width = coefficients.len() / 4;
    for (b, pair) in coefficients.chunks(32).enumerate() {
        let lines = two_blocks(&whole(pair), &factors);
        for (y, samples) in lines.into_iter().enumerate() {
            let samples = vget_lane_u64::<0>(vreinterpret_u64_u8(samples)).to_le_bytes();
            let to = &mut rows[y * line..][8 * b..width.min(8 * b + 8)];
            match to.first_chunk_mut::<8>() {
                Some(to) => *to = samples,
                None => to.copy_from_slice(&samples[..to.len()]),
            }
        }
    }
}

/// Dequantises two adjacent blocks and returns their samples: four rows of eight.
#[inline]
#[target_feature(enable = "neon")]
fn two_blocks(pair: &[i16; 32], factors: &[i16; 16]) -> [uint8x8_t; 4] {
    // Rows 0 and 1, or 2 and 3, of one block.
    let rows = |block: usize, half: usize| {
        // SAFETY: the ranges are 8 of the 32 i16 and 8 of the 16 i16.
        let (coefficients, factors) = unsafe {
            (
                vld1q_s16(pair[16 * block + 8 * half..][..8].as_ptr()),
                vld1q_s16(factors[8 * half..][..8].as_ptr()),
            )
        };
        vreinterpretq_s64_s16(vmulq_s16(coefficients, factors))
    };
    let (left, right) = ([rows(0, 0), rows(0, 1)], [rows(1, 0), rows(1, 1)]);
    let input = [
        vtrn1q_s64(left[0], right[0]),
        vtrn2q_s64(left[0], right[0]),
        vtrn1q_s64(left[1], right[1]),
        vtrn2q_s64(left[1], right[1]),
    ];
    let columns = idct4(input.map(|row| vreinterpretq_s16_s64(row)))
        .map(|[a, b]| vcombine_s16(vqrshrn_n_s32::<12>(a), vqrshrn_n_s32::<12>(b)));
    // The shift by 17 bits has two steps: 16 by taking upper halves, then one with rounding.
    let samples = idct4(transpose(columns))
        .map(|[a, b]| vcombine_s16(vshrn_n_s32::<16>(a), vshrn_n_s32::<16>(b)));
    transpose(samples).map(|line| {
        let around_0 = vqrshrn_n_s16::<1>(line);
        vadd_u8(vreinterpret_u8_s8(around_0), vdup_n_u8(128))
    })
}

/// Eight 4-point inverse DCTs side by side, each result in 32 bits (lanes 0–3, lanes 4–7) with 13 fractional bits more
/// than the input.
#[inline]
#[target_feature(enable = "neon")]
fn idct4(x: [int16x8_t; 4]) -> [[int32x4_t; 2]; 4] {
    let lower = half(x.map(|row| vget_low_s16(row)));
    let upper = half(x.map(|row| vget_high_s16(row)));
    std::array::from_fn(|n| [lower[n], upper[n]])
}

#[inline]
#[target_feature(enable = "neon")]
fn half([a, b, c, d]: [int16x4_t; 4]) -> [int32x4_t; 4] {
    let even0 = vshlq_n_s32::<13>(vaddl_s16(a, c));
    let even1 = vshlq_n_s32::<13>(vsubl_s16(a, c));
    let odd0 = vmlal_n_s16(vmull_n_s16(b, COS1 as i16), d, COS3 as i16);
    let odd1 = vmlsl_n_s16(vmull_n_s16(b, COS3 as i16), d, COS1 as i16);
    [
        vaddq_s32(even0, odd0),
        vaddq_s32(even1, odd1),
        vsubq_s32(even1, odd1),
        vsubq_s32(even0, odd0),
    ]
}

/// Transposes the 4×4 words of each half of the registers.
#[inline]
#[target_feature(enable = "neon")]
fn transpose(m: [int16x8_t; 4]) -> [int16x8_t; 4] {
    let words = |a, b| {
        [
            vreinterpretq_s32_s16(vtrn1q_s16(a, b)),
            vreinterpretq_s32_s16(vtrn2q_s16(a, b)),
        ]
    };
    let (upper, lower) = (words(m[0], m[1]), words(m[2], m[3]));
    [
        vtrn1q_s32(upper[0], lower[0]),
        vtrn1q_s32(upper[1], lower[1]),
        vtrn2q_s32(upper[0], lower[0]),
        vtrn2q_s32(upper[1], lower[1]),
    ]
    .map(|line| vreinterpretq_s16_s32(line))
}
