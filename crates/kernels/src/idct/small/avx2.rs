//! Inverse DCTs to small blocks with AVX2. Sums of products of 16-bit pairs (`vpmaddwd`) compute both halves of a
//! 4-point transform.

use std::arch::x86_64::*;

use super::{COS1, COS3, two_lines};

/// Transforms four blocks at a time to 2×2 samples each.
#[target_feature(enable = "avx2")]
pub(in super::super) fn to_2x2(
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    let factors: [i16; 16] = std::array::from_fn(|i| factors[i % 4] as i16);
    // SAFETY: an array of 16 i16 is 32 bytes.
    let factors = unsafe { _mm256_loadu_si256(factors.as_ptr().cast()) };
    let (top, bottom) = two_lines(rows, line, coefficients.len() / 2);
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
        for (line, to) in lines.iter().zip([top, bottom]) {
            let line = line.to_le_bytes();
            match to.first_chunk_mut::<8>() {
                Some(to) => *to = line,
                None => to.copy_from_slice(&line[..to.len()]),
            }
        }
    }
}

/// Returns the samples of four adjacent dequantised blocks: two rows of eight.
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
    // Each lane now has the top and the bottom row of two blocks.
    let lines = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
    [
        _mm256_extract_epi64::<0>(lines) as u64,
        _mm256_extract_epi64::<1>(lines) as u64,
    ]
}

/// Transforms two blocks at a time to 4×4 samples each, one in each 128-bit lane.
#[target_feature(enable = "avx2")]
pub(in super::super) fn to_4x4(
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
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
        // SAFETY: the range is 16 of the 32 i16.
        let a = unsafe { _mm256_loadu_si256(pair.as_ptr().cast()) };
        let lines = two_blocks(_mm256_mullo_epi16(a, factors), _mm256_setzero_si256());
        for (y, samples) in lines.into_iter().enumerate() {
            let at = y * line + coefficients.len() / 4 - 4;
            rows[at..at + 4].copy_from_slice(&samples.to_le_bytes()[..4]);
        }
    }
}

/// Returns the samples of two adjacent dequantised blocks: four rows of eight.
#[inline]
#[target_feature(enable = "avx2")]
fn two_blocks(a: __m256i, b: __m256i) -> [u64; 4] {
    let upper = _mm256_permute2x128_si256::<0x20>(a, b);
    let lower = _mm256_permute2x128_si256::<0x31>(a, b);
    let [r0, r1, r2, r3] = idct4::<12>(
        _mm256_unpacklo_epi16(upper, lower),
        _mm256_unpackhi_epi16(upper, lower),
    );
    // In each row, the even and the odd values are separated, then rows are put next to each other.
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

/// 4-point inverse DCTs of (0, 2) and (1, 3) pairs of frequencies, rounded and shifted right by `SHIFT` bits.
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
