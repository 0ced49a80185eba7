//! Inverse DCTs to 1×1, 2×2 and 4×4 samples.
//!
//! Products with the constants are products of 16-bit words, and are summed in 32 bits, as vector instructions do.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;

use super::{dequantise, saturate};

/// √2·cos(π/8) with 13 fractional bits.
const COS1: i32 = 10703;
/// √2·cos(3π/8) with 13 fractional bits.
const COS3: i32 = 4433;

#[inline(always)]
pub(super) fn to_1x1(coefficients: &[i16], factor: i32, row: &mut [u8]) {
    for (sample, &dc) in row.iter_mut().zip(coefficients) {
        *sample = level(i32::from(dc).wrapping_mul(factor), 3);
    }
}

pub(super) fn to_2x2(coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8], line: usize) {
    let (top, bottom) = two_lines(rows, line, coefficients.len() / 2);
    let pairs = top.chunks_exact_mut(2).zip(bottom.chunks_exact_mut(2));
    for (block, (top, bottom)) in coefficients.chunks_exact(4).zip(pairs) {
        let c: [i32; 4] = std::array::from_fn(|i| i32::from(dequantise(block[i], factors[i])));
        top[0] = level(c[0] + c[1] + c[2] + c[3], 3);
        top[1] = level(c[0] - c[1] + c[2] - c[3], 3);
        bottom[0] = level(c[0] + c[1] - c[2] - c[3], 3);
        bottom[1] = level(c[0] - c[1] - c[2] + c[3], 3);
    }
}

/// Returns the two rows of samples of a row of 2×2 blocks, each `width` samples long.
fn two_lines(rows: &mut [u8], line: usize, width: usize) -> (&mut [u8], &mut [u8]) {
    let (top, bottom) = rows.split_at_mut(line);
    (&mut top[..width], &mut bottom[..width])
}

pub(super) fn to_4x4(coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8], line: usize) {
    for (b, block) in coefficients.chunks_exact(16).enumerate() {
        let row = |v: usize| -> [i32; 4] {
            std::array::from_fn(|u| i32::from(dequantise(block[4 * v + u], factors[4 * v + u])))
        };
        // First the columns, whose results keep 1 fractional bit, then the rows.
        let columns = idct4([row(0), row(1), row(2), row(3)], 12);
        let samples = transpose(idct4(transpose(columns), 17));
        for (y, samples) in samples.iter().enumerate() {
            let at = y * line + 4 * b;
            rows[at..at + 4].copy_from_slice(&samples.map(|x| (x + 128).clamp(0, 255) as u8));
        }
    }
}

/// Four 4-point inverse DCTs side by side. They are not normalised: if only frequency 0 is present, every output
/// equals it. The results carry the 13 fractional bits of the constants, are shifted right by `shift` bits with
/// rounding, and are saturated to 16 bits.
fn idct4(rows: [[i32; 4]; 4], shift: u32) -> [[i32; 4]; 4] {
    let mut out = [[0; 4]; 4];
    for lane in 0..4 {
        let [a, b, c, d] = [rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane]];
        let even0 = a.wrapping_add(c).wrapping_shl(13);
        let even1 = a.wrapping_sub(c).wrapping_shl(13);
        let odd0 = b.wrapping_mul(COS1).wrapping_add(d.wrapping_mul(COS3));
        let odd1 = b.wrapping_mul(COS3).wrapping_sub(d.wrapping_mul(COS1));
        let round = 1 << (shift - 1);
        let cut = |x: i32| i32::from(saturate(x.wrapping_add(round) >> shift));
        out[0][lane] = cut(even0.wrapping_add(odd0));
        out[1][lane] = cut(even1.wrapping_add(odd1));
        out[2][lane] = cut(even1.wrapping_sub(odd1));
        out[3][lane] = cut(even0.wrapping_sub(odd0));
    }
    out
}

fn transpose(m: [[i32; 4]; 4]) -> [[i32; 4]; 4] {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

/// Returns a level-shifted sample: `value` / 2^`shift`, rounded, plus 128, clamped to 0 to 255.
#[inline(always)]
fn level(value: i32, shift: u32) -> u8 {
    ((value.wrapping_add(1 << (shift - 1)) >> shift).wrapping_add(128)).clamp(0, 255) as u8
}
