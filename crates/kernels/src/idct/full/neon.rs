//! The full inverse DCT with NEON: one block at a time, one row per register. 16-bit products are accumulated in 32 bits
//! as they are made (`smlal`).

use std::arch::aarch64::*;

use super::{BITS, COLUMNS, INNER, OUTER, PART_0, PART_1, PART_2, PART_3, ROWS, SUMS_02, SUMS_13};

#[target_feature(enable = "neon")]
pub(in super::super) fn to_8x8(
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    let factors: [i16; 64] = factors.map(|factor| factor as i16);
    for (b, block) in coefficients.chunks_exact(64).enumerate() {
        for (n, pair) in samples(block, &factors).into_iter().enumerate() {
            let at = 2 * n * line + 8 * b;
            // SAFETY: each slice is 8 bytes.
            unsafe {
                vst1_u8(rows[at..at + 8].as_mut_ptr(), vget_low_u8(pair));
                vst1_u8(
                    rows[at + line..at + line + 8].as_mut_ptr(),
                    vget_high_u8(pair),
                );
            }
        }
    }
}

/// Returns the samples of a block: eight rows, two per register.
#[inline]
#[target_feature(enable = "neon")]
fn samples(block: &[i16], factors: &[i16; 64]) -> [uint8x16_t; 4] {
    let row = |v: usize| {
        let (coefficients, factors) = (&block[8 * v..8 * v + 8], &factors[8 * v..8 * v + 8]);
        // SAFETY: each slice is 8 i16, which are 16 bytes.
        unsafe {
            vmulq_s16(
                vld1q_s16(coefficients.as_ptr()),
                vld1q_s16(factors.as_ptr()),
            )
        }
    };
    let input: [int16x8_t; 8] = std::array::from_fn(row);
    let mut high = input[1];
    for &row in &input[2..] {
        high = vorrq_s16(high, row);
    }
    // Columns that do not vary are frequent in smooth parts of an image.
    let columns = if vmaxvq_u16(vreinterpretq_u16_s16(high)) == 0 {
        // The exact result of the pass over the columns for a single frequency: four times the input, saturated.
        [vqshlq_n_s16::<2>(input[0]); 8]
    } else {
        const CUT: i32 = COLUMNS as i32;
        idct8::<CUT>(input)
            .map(|[a, b]| vcombine_s16(vqshrn_n_s32::<CUT>(a), vqshrn_n_s32::<CUT>(b)))
    };
    // The shift has two steps: taking the upper halves, and narrowing to bytes, which shifts by the remaining bits.
    const REST: i32 = ROWS as i32 - 16;
    let columns = idct8::<{ ROWS as i32 }>(transpose(columns)).map(|[a, b]| {
        let words = vcombine_s16(vshrn_n_s32::<16>(a), vshrn_n_s32::<16>(b));
        vreinterpret_u8_s8(vqshrn_n_s16::<REST>(words))
    });
    lines(columns).map(|pair| vaddq_u8(pair, vdupq_n_u8(128)))
}

/// Eight 8-point inverse DCTs side by side, each result in 32 bits (lanes 0–3, lanes 4–7). The results are not yet
/// shifted right by `CUT` bits, but the rounding term is already added.
#[inline]
#[target_feature(enable = "neon")]
fn idct8<const CUT: i32>(x: [int16x8_t; 8]) -> [[int32x4_t; 2]; 8] {
    let lower = half::<CUT>(x, |words| vget_low_s16(words));
    let upper = half::<CUT>(x, |words| vget_high_s16(words));
    std::array::from_fn(|n| [lower[n], upper[n]])
}

/// Four 8-point inverse DCTs: those of the words that `half` selects, the lower or the upper ones.
#[inline]
#[target_feature(enable = "neon")]
fn half<const CUT: i32>(
    x: [int16x8_t; 8],
    half: impl Fn(int16x8_t) -> int16x4_t,
) -> [int32x4_t; 8] {
    let add = |sum, factors: [i32; 2], a, b| {
        let first = vmlal_n_s16(sum, half(a), factors[0] as i16);
        vmlal_n_s16(first, half(b), factors[1] as i16)
    };
    let zero = vdupq_n_s32(0);
    let round = vdupq_n_s32(1 << (CUT - 1));
    let flat0 = vmlal_n_s16(round, half(vaddq_s16(x[0], x[4])), 1 << BITS);
    let flat1 = vmlal_n_s16(round, half(vsubq_s16(x[0], x[4])), 1 << BITS);
    let (outer, inner) = (add(zero, OUTER, x[2], x[6]), add(zero, INNER, x[2], x[6]));
    let (a, b) = (vaddq_s16(x[3], x[7]), vaddq_s16(x[1], x[5]));
    let (for_02, for_13) = (add(zero, SUMS_02, a, b), add(zero, SUMS_13, a, b));
    let even = [
        vaddq_s32(flat0, outer),
        vaddq_s32(flat1, inner),
        vsubq_s32(flat1, inner),
        vsubq_s32(flat0, outer),
    ];
    let odd = [
        add(for_13, PART_3, x[7], x[1]),
        add(for_02, PART_2, x[5], x[3]),
        add(for_13, PART_1, x[5], x[3]),
        add(for_02, PART_0, x[7], x[1]),
    ];
    let mut out = [zero; 8];
    for n in 0..4 {
        out[n] = vaddq_s32(even[n], odd[n]);
        out[7 - n] = vsubq_s32(even[n], odd[n]);
    }
    out
}

/// Transposes 8×8 words.
#[inline]
#[target_feature(enable = "neon")]
fn transpose(m: [int16x8_t; 8]) -> [int16x8_t; 8] {
    let round = |m: [int16x8_t; 8]| {
        let mut out = m;
        for (i, pair) in out.chunks_exact_mut(2).enumerate() {
            pair[0] = vzip1q_s16(m[i], m[i + 4]);
            pair[1] = vzip2q_s16(m[i], m[i + 4]);
        }
        out
    };
    round(round(round(m)))
}

/// Transposes 8×8 bytes to rows, two per register.
#[inline]
#[target_feature(enable = "neon")]
fn lines(columns: [uint8x8_t; 8]) -> [uint8x16_t; 4] {
    let [c0, c1, c2, c3, c4, c5, c6, c7] = columns;
    let round = |m: [uint8x16_t; 4]| {
        [
            vzip1q_u8(m[0], m[2]),
            vzip2q_u8(m[0], m[2]),
            vzip1q_u8(m[1], m[3]),
            vzip2q_u8(m[1], m[3]),
        ]
    };
    round(round(round([
        vcombine_u8(c0, c1),
        vcombine_u8(c2, c3),
        vcombine_u8(c4, c5),
        vcombine_u8(c6, c7),
    ])))
}
