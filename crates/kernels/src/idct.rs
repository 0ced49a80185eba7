//! Inverse DCTs of 8×8 blocks: in full, or the N×N transform of the lowest N×N frequencies for small
//! pictures.
//!
//! With JPEG's scaling (T.81, A.3.3) the orthonormal N×N inverse transform times N/8 keeps the mean of
//! a block. For N = 1 that is the DC coefficient / 8, for N = 2 sums and differences / 8.

mod full;

use crate::cpu::with_modern_instructions;

/// √2·cos(π/8) and √2·cos(3π/8) with 13 fractional bits.
const COS1: i32 = 10703;
const COS3: i32 = 4433;

/// Makes samples of one row of blocks.
///
/// - `side`: samples per block side, 1, 2, 4 or 8 (N).
/// - `coefficients`: N² per block, quantised, row-major by vertical then horizontal frequency.
/// - `factors`: the quantisation factors in the same order (the first N² count).
/// - `rows`: N rows one after the other, each N × the number of blocks long.
///
/// Error against the exact transform: at most 1 level. For N = 8 it is libjpeg's accurate integer transform,
/// bit for bit.
///
/// # Panics
/// When the slices do not fit each other or `side` is none of 1, 2, 4, 8: a bug of the caller.
pub fn blocks_to_rows(side: usize, coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8]) {
    assert!(
        matches!(side, 1 | 2 | 4 | 8),
        "an inverse DCT to {side}×{side}"
    );
    assert_eq!(
        coefficients.len(),
        rows.len(),
        "coefficients and samples of {side}×{side} blocks"
    );
    #[cfg(target_arch = "x86_64")]
    if side > 1 && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was just detected.
        unsafe {
            match side {
                2 => avx2::to_2x2(coefficients, factors, rows),
                8 => full::avx2::to_8x8(coefficients, factors, rows),
                _ => avx2::to_4x4(coefficients, factors, rows),
            }
        }
        return;
    }
    with_modern_instructions(
        #[inline(always)]
        || blocks_to_rows_scalar(side, coefficients, factors, rows),
    );
}

#[inline(always)]
fn blocks_to_rows_scalar(side: usize, coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8]) {
    match side {
        1 => to_1x1(coefficients, factors[0], rows),
        2 => to_2x2(coefficients, factors, rows),
        8 => full::to_8x8(coefficients, factors, rows),
        _ => to_4x4(coefficients, factors, rows),
    }
}

#[inline(always)]
fn to_1x1(coefficients: &[i16], factor: i32, row: &mut [u8]) {
    for (sample, &dc) in row.iter_mut().zip(coefficients) {
        *sample = level(i32::from(dc).wrapping_mul(factor), 3);
    }
}

fn to_2x2(coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8]) {
    let (top, bottom) = rows.split_at_mut(rows.len() / 2);
    let pairs = top.chunks_exact_mut(2).zip(bottom.chunks_exact_mut(2));
    for (block, (top, bottom)) in coefficients.chunks_exact(4).zip(pairs) {
        let c: [i32; 4] = std::array::from_fn(|i| i32::from(dequantise(block[i], factors[i])));
        top[0] = level(c[0] + c[1] + c[2] + c[3], 3);
        top[1] = level(c[0] - c[1] + c[2] - c[3], 3);
        bottom[0] = level(c[0] + c[1] - c[2] - c[3], 3);
        bottom[1] = level(c[0] - c[1] - c[2] + c[3], 3);
    }
}

fn to_4x4(coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8]) {
    let line = rows.len() / 4;
    for (b, block) in coefficients.chunks_exact(16).enumerate() {
        let row = |v: usize| -> [i32; 4] {
            std::array::from_fn(|u| i32::from(dequantise(block[4 * v + u], factors[4 * v + u])))
        };
        // Down the columns, keeping 1 fractional bit; then along the rows.
        let columns = idct4([row(0), row(1), row(2), row(3)], 12);
        let samples = transpose(idct4(transpose(columns), 17));
        for (y, samples) in samples.iter().enumerate() {
            let at = y * line + 4 * b;
            rows[at..at + 4].copy_from_slice(&samples.map(|x| (x + 128).clamp(0, 255) as u8));
        }
    }
}

/// A coefficient times its factor in 16 bits, which hold every coefficient of a valid file; those of a
/// corrupt one wrap.
#[inline(always)]
fn dequantise(coefficient: i16, factor: i32) -> i16 {
    coefficient.wrapping_mul(factor as i16)
}

/// Four 4-point inverse DCTs side by side, unnormalised (a constant c comes out as c), the 13
/// fractional bits of the constants cut down by `shift`.
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

/// To 16 bits, as vector packing does.
fn saturate(x: i32) -> i16 {
    x.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

fn transpose(m: [[i32; 4]; 4]) -> [[i32; 4]; 4] {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

/// A level-shifted sample: `value` / 2^`shift`, rounded, around 128.
#[inline(always)]
fn level(value: i32, shift: u32) -> u8 {
    ((value.wrapping_add(1 << (shift - 1)) >> shift).wrapping_add(128)).clamp(0, 255) as u8
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{COS1, COS3};

    /// Four blocks at a time.
    #[target_feature(enable = "avx2")]
    pub(super) fn to_2x2(coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8]) {
        let factors: [i16; 16] = std::array::from_fn(|i| factors[i % 4] as i16);
        // SAFETY: an array of 16 i16 is 32 bytes.
        let factors = unsafe { _mm256_loadu_si256(factors.as_ptr().cast()) };
        let (top, bottom) = rows.split_at_mut(rows.len() / 2);
        let quads = coefficients
            .chunks(16)
            .zip(top.chunks_mut(8).zip(bottom.chunks_mut(8)));
        for (blocks, (top, bottom)) in quads {
            let mut four = [0i16; 16];
            let blocks = match blocks.first_chunk::<16>() {
                Some(blocks) => blocks,
                None => {
                    four[..blocks.len()].copy_from_slice(blocks);
                    &four
                }
            };
            // SAFETY: an array of 16 i16 is 32 bytes.
            let blocks = unsafe { _mm256_loadu_si256(blocks.as_ptr().cast()) };
            let lines = four_blocks(_mm256_mullo_epi16(blocks, factors));
            let width = top.len();
            top.copy_from_slice(&lines[0].to_le_bytes()[..width]);
            bottom.copy_from_slice(&lines[1].to_le_bytes()[..width]);
        }
    }

    /// The samples of four dequantised blocks: two lines of eight.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn four_blocks(blocks: __m256i) -> [u64; 2] {
        // Per block (a+b, c+d) and (a−b, c−d), then sums and differences of those.
        let sums = _mm256_madd_epi16(blocks, _mm256_set1_epi16(1));
        let differences = _mm256_madd_epi16(blocks, _mm256_set1_epi32(-0xffff));
        let first = _mm256_unpacklo_epi32(sums, differences);
        let second = _mm256_unpackhi_epi32(sums, differences);
        let upper = _mm256_unpacklo_epi64(first, second);
        let lower = _mm256_unpackhi_epi64(first, second);
        let level = |x: __m256i| {
            let rounded = _mm256_add_epi32(x, _mm256_set1_epi32((128 << 3) + 4));
            _mm256_srai_epi32::<3>(rounded)
        };
        let words = _mm256_packs_epi32(
            level(_mm256_add_epi32(upper, lower)),
            level(_mm256_sub_epi32(upper, lower)),
        );
        let bytes = _mm256_packus_epi16(words, words);
        // Each lane now has two blocks' top and bottom lines.
        let lines = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
        [
            _mm256_extract_epi64::<0>(lines) as u64,
            _mm256_extract_epi64::<1>(lines) as u64,
        ]
    }

    /// Two blocks at a time, one in each 128-bit lane. Sums of products of 16-bit pairs
    /// (`vpmaddwd`) do both halves of a 4-point transform, bit for bit as the scalar twin.
    #[target_feature(enable = "avx2")]
    pub(super) fn to_4x4(coefficients: &[i16], factors: &[i32; 64], rows: &mut [u8]) {
        let line = rows.len() / 4;
        let factors: [i16; 16] = std::array::from_fn(|i| factors[i] as i16);
        // SAFETY: an array of 16 i16 is 32 bytes.
        let factors = unsafe { _mm256_loadu_si256(factors.as_ptr().cast()) };
        let mut pairs = coefficients.chunks_exact(32);
        for (b, pair) in pairs.by_ref().enumerate() {
            // SAFETY: a chunk of 32 i16 is 64 bytes.
            let (a, b_) = unsafe {
                (
                    _mm256_loadu_si256(pair.as_ptr().cast()),
                    _mm256_loadu_si256(pair.as_ptr().add(16).cast()),
                )
            };
            let lines = two_blocks(
                _mm256_mullo_epi16(a, factors),
                _mm256_mullo_epi16(b_, factors),
            );
            for (y, samples) in lines.into_iter().enumerate() {
                let at = y * line + 8 * b;
                rows[at..at + 8].copy_from_slice(&samples.to_le_bytes());
            }
        }
        let rest = pairs.remainder();
        if !rest.is_empty() {
            let mut pair = [0i16; 32];
            pair[..16].copy_from_slice(rest);
            // SAFETY: 16 i16 of 32.
            let a = unsafe { _mm256_loadu_si256(pair.as_ptr().cast()) };
            let lines = two_blocks(_mm256_mullo_epi16(a, factors), _mm256_setzero_si256());
            for (y, samples) in lines.into_iter().enumerate() {
                let at = y * line + line - 4;
                rows[at..at + 4].copy_from_slice(&samples.to_le_bytes()[..4]);
            }
        }
    }

    /// The samples of two dequantised blocks: four lines of eight.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn two_blocks(a: __m256i, b: __m256i) -> [u64; 4] {
        let upper = _mm256_permute2x128_si256::<0x20>(a, b);
        let lower = _mm256_permute2x128_si256::<0x31>(a, b);
        let [r0, r1, r2, r3] = idct4::<12>(
            _mm256_unpacklo_epi16(upper, lower),
            _mm256_unpackhi_epi16(upper, lower),
        );
        // Of each line's four values the even and the odd ones side by side, then lines beside lines.
        let halves = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15,
        ));
        let upper = _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_packs_epi32(r0, r1), halves));
        let lower = _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_packs_epi32(r2, r3), halves));
        let even = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(upper, lower));
        let odd = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(upper, lower));
        let [c0, c1, c2, c3] = idct4::<17>(even, odd);
        let grey = _mm256_set1_epi16(128);
        let left = _mm256_adds_epi16(_mm256_packs_epi32(c0, c1), grey);
        let right = _mm256_adds_epi16(_mm256_packs_epi32(c2, c3), grey);
        let columns = _mm256_packus_epi16(left, right);
        let transpose = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,
        ));
        let lines = _mm256_shuffle_epi8(columns, transpose);
        let lines = _mm256_permutevar8x32_epi32(lines, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        [
            _mm256_extract_epi64::<0>(lines) as u64,
            _mm256_extract_epi64::<1>(lines) as u64,
            _mm256_extract_epi64::<2>(lines) as u64,
            _mm256_extract_epi64::<3>(lines) as u64,
        ]
    }

    /// 4-point transforms of (0, 2) and (1, 3) pairs, rounded and cut by `SHIFT`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn idct4<const SHIFT: i32>(even: __m256i, odd: __m256i) -> [__m256i; 4] {
        let pair = |first: i32, second: i32| _mm256_set1_epi32((second << 16) | (first & 0xffff));
        let round = _mm256_set1_epi32(1 << (SHIFT - 1));
        let even0 = _mm256_add_epi32(_mm256_madd_epi16(even, pair(1 << 13, 1 << 13)), round);
        let even1 = _mm256_add_epi32(_mm256_madd_epi16(even, pair(1 << 13, -(1 << 13))), round);
        let odd0 = _mm256_madd_epi16(odd, pair(COS1, COS3));
        let odd1 = _mm256_madd_epi16(odd, pair(COS3, -COS1));
        [
            _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(even0, odd0)),
            _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(even1, odd1)),
            _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(even1, odd1)),
            _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(even0, odd0)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact transform, term by term.
    fn exact(side: usize, coefficients: &[f64]) -> Vec<f64> {
        let n = side as f64;
        let norm = |u: usize| {
            if u == 0 {
                (1.0 / n).sqrt()
            } else {
                (2.0 / n).sqrt()
            }
        };
        let wave = |x: usize, u: usize| {
            norm(u) * (std::f64::consts::PI * (2 * x + 1) as f64 * u as f64 / (2.0 * n)).cos()
        };
        let mut samples = Vec::new();
        for y in 0..side {
            for x in 0..side {
                let mut sum = 0.0;
                for v in 0..side {
                    for u in 0..side {
                        sum += coefficients[v * side + u] * wave(x, u) * wave(y, v);
                    }
                }
                samples.push((sum * n / 8.0 + 128.0).clamp(0.0, 255.0));
            }
        }
        samples
    }

    #[test]
    fn every_size_is_within_one_level_of_the_exact_transform_on_every_path() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as i32
        };
        for side in [1usize, 2, 4, 8] {
            let count = side * side;
            let blocks = 37;
            let factors: [i32; 64] = std::array::from_fn(|_| 1 + random() % 30);
            let coefficients: Vec<i16> = (0..blocks * count)
                .map(|i| {
                    (random() % if i % count == 0 { 60 } else { 9 }
                        - if i % count == 0 { 30 } else { 4 }) as i16
                })
                .collect();
            for path in [blocks_to_rows, blocks_to_rows_scalar] {
                let mut rows = vec![0; blocks * count];
                path(side, &coefficients, &factors, &mut rows);
                for (b, block) in coefficients.chunks(count).enumerate() {
                    let values: Vec<f64> = block
                        .iter()
                        .zip(&factors)
                        .map(|(&c, &q)| f64::from(c) * f64::from(q))
                        .collect();
                    for (i, want) in exact(side, &values).into_iter().enumerate() {
                        let got = rows[(i / side) * blocks * side + b * side + i % side];
                        assert!(
                            (f64::from(got) - want).abs() <= 1.0,
                            "{side}: {got} for {want}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_fast_path_equals_its_scalar_twin_bit_for_bit() {
        for (side, blocks) in [
            (2, 1usize),
            (2, 4),
            (2, 7),
            (4, 1),
            (4, 2),
            (4, 5),
            (4, 64),
            (8, 1),
            (8, 2),
            (8, 9),
        ] {
            let length = blocks * side * side;
            let coefficients: Vec<i16> = (0..length)
                .map(|i| ((i * 7919) % 401) as i16 - 200)
                .collect();
            let factors: [i32; 64] = std::array::from_fn(|i| 3 + 11 * i as i32);
            let (mut fast, mut twin) = (vec![0; length], vec![0; length]);
            blocks_to_rows(side, &coefficients, &factors, &mut fast);
            blocks_to_rows_scalar(side, &coefficients, &factors, &mut twin);
            assert_eq!(fast, twin, "{blocks} blocks to {side}×{side}");
        }
    }

    #[test]
    fn absurd_coefficients_of_corrupt_files_do_not_overflow() {
        for side in [1, 2, 4, 8] {
            let mut rows = vec![0; side * side];
            blocks_to_rows(side, &vec![i16::MIN; side * side], &[65535; 64], &mut rows);
        }
    }
}
