//! The forward DCT with AVX2: two blocks side by side, one in each 128-bit lane, with sums of products of 16-bit pairs
//! (`vpmaddwd`).

use std::arch::asm;
use std::arch::x86_64::*;

use super::{BITS, INNER, OUTER, PART_0, PART_1, PART_2, PART_3, Quantiser, SUMS_02, SUMS_13};
use crate::idct::full::avx2::transpose;

#[target_feature(enable = "avx2")]
pub(super) fn rows_to_levels(
    rows: &[u8],
    line: usize,
    quantiser: &Quantiser,
    strengths: &[u16],
    levels: &mut [i16],
    masks: &mut [u64],
) {
    let mut pairs = levels.chunks_exact_mut(128);
    for (b, pair) in pairs.by_ref().enumerate() {
        let samples = std::array::from_fn(|y| {
            let row = &rows[y * line + 16 * b..][..16];
            // SAFETY: the slice is 16 bytes.
            unsafe { _mm_loadu_si128(row.as_ptr().cast()) }
        });
        let (left, right) = pair.split_at_mut(64);
        let strengths = [strengths[2 * b], strengths[2 * b + 1]];
        let [first, second] = two_blocks(samples, quantiser, strengths, left, right);
        masks[2 * b] = first;
        masks[2 * b + 1] = second;
    }
    let rest = pairs.into_remainder();
    if rest.len() == 64 {
        let b = strengths.len() - 1;
        let samples = std::array::from_fn(|y| {
            let row = &rows[y * line + 8 * b..][..8];
            // SAFETY: the slice is 8 bytes.
            unsafe { _mm_loadl_epi64(row.as_ptr().cast()) }
        });
        let mut unused = [0; 64];
        let [first, _] = two_blocks(samples, quantiser, [strengths[b]; 2], rest, &mut unused);
        masks[b] = first;
    }
}

/// Computes the levels and masks of two adjacent blocks. Each register of `samples` holds a row of both.
#[inline]
#[target_feature(enable = "avx2")]
fn two_blocks(
    samples: [__m128i; 8],
    quantiser: &Quantiser,
    strengths: [u16; 2],
    left: &mut [i16],
    right: &mut [i16],
) -> [u64; 2] {
    let gray = _mm256_set1_epi16(128);
    let mut lines = [gray; 8];
    for (line, samples) in lines.iter_mut().zip(samples) {
        *line = _mm256_sub_epi16(_mm256_cvtepu8_epi16(samples), gray);
    }
    let whole = |x| _mm256_slli_epi16::<2>(x);
    let columns = fdct8::<{ BITS as i32 - 2 }>(lines, whole);
    let half = _mm256_set1_epi16(2);
    let whole = |x| _mm256_srai_epi16::<2>(_mm256_add_epi16(x, half));
    let across = fdct8::<{ BITS as i32 + 2 }>(transpose(columns), whole);

    let strengths = _mm256_set_m128i(
        _mm_set1_epi16(strengths[1] as i16),
        _mm_set1_epi16(strengths[0] as i16),
    );
    let mut out = across;
    for (u, line) in out.iter_mut().enumerate() {
        *line = quantise(*line, quantiser, u, strengths);
        // SAFETY: both sides are 16 bytes, and the slices are as long as their ranges.
        unsafe {
            _mm_storeu_si128(
                left[8 * u..8 * u + 8].as_mut_ptr().cast(),
                _mm256_castsi256_si128(*line),
            );
            _mm_storeu_si128(
                right[8 * u..8 * u + 8].as_mut_ptr().cast(),
                _mm256_extracti128_si256::<1>(*line),
            );
        }
    }
    // A byte for each level, and a bit for each byte. The left block has two rows of them, and so has the right one.
    let mut masks = [0; 2];
    for (n, pair) in out.chunks_exact(2).enumerate() {
        let bytes = _mm256_packs_epi16(pair[0], pair[1]);
        let zeros = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
        let there = !(_mm256_movemask_epi8(zeros) as u32);
        masks[0] |= u64::from(there & 0xffff) << (16 * n);
        masks[1] |= u64::from(there >> 16) << (16 * n);
    }
    masks
}

/// Quantises the coefficients of horizontal frequency `u` to levels.
#[inline]
#[target_feature(enable = "avx2")]
fn quantise(coefficients: __m256i, quantiser: &Quantiser, u: usize, strengths: __m256i) -> __m256i {
    let of = |table: &[u16; 64]| {
        let part = &table[8 * u..8 * u + 8];
        // SAFETY: the slice is 8 u16, which are 16 bytes.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(part.as_ptr().cast()) })
    };
    let strong = _mm256_abs_epi16(coefficients);
    let threshold = _mm256_add_epi16(
        of(&quantiser.thresholds),
        upper_half(of(&quantiser.slopes), strengths),
    );
    let kept = _mm256_cmpeq_epi16(_mm256_max_epu16(strong, threshold), strong);
    let rounded = _mm256_add_epi16(strong, of(&quantiser.rounding));
    let level = upper_half(rounded, of(&quantiser.reciprocals));
    let level = upper_half(level, of(&quantiser.scales));
    _mm256_sign_epi16(_mm256_and_si256(level, kept), coefficients)
}

/// Returns the upper halves of the products of unsigned 16-bit words. Inline assembly, because the compiler turns two
/// of the intrinsics in a row into 32-bit multiplications.
#[inline]
#[target_feature(enable = "avx2")]
fn upper_half(a: __m256i, b: __m256i) -> __m256i {
    let product;
    // SAFETY: the processor supports the instruction, which only reads and writes registers.
    unsafe {
        asm!(
            "vpmulhuw {product}, {a}, {b}",
            product = lateout(ymm_reg) product,
            a = in(ymm_reg) a,
            b = in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    product
}

/// Sixteen 8-point forward DCTs side by side, bit-identical to the scalar version.
#[inline]
#[target_feature(enable = "avx2")]
fn fdct8<const SHIFT: i32>(x: [__m256i; 8], whole: impl Fn(__m256i) -> __m256i) -> [__m256i; 8] {
    let sum = |n: usize| _mm256_add_epi16(x[n], x[7 - n]);
    let difference = |n: usize| _mm256_sub_epi16(x[n], x[7 - n]);
    let (s0, s1, s2, s3) = (sum(0), sum(1), sum(2), sum(3));
    let (d0, d1, d2, d3) = (difference(0), difference(1), difference(2), difference(3));
    let (outer, inner) = (_mm256_add_epi16(s0, s3), _mm256_add_epi16(s1, s2));
    let flat = whole(_mm256_add_epi16(outer, inner));
    let four = whole(_mm256_sub_epi16(outer, inner));
    let (outer, inner) = (_mm256_sub_epi16(s0, s3), _mm256_sub_epi16(s1, s2));
    let (a, b) = (_mm256_add_epi16(d3, d1), _mm256_add_epi16(d2, d0));
    let low = |a, b| _mm256_unpacklo_epi16(a, b);
    let high = |a, b| _mm256_unpackhi_epi16(a, b);
    let lower = half::<SHIFT>(low(outer, inner), low(a, b), low(d3, d0), low(d2, d1));
    let upper = half::<SHIFT>(high(outer, inner), high(a, b), high(d3, d0), high(d2, d1));
    let both = |n: usize| _mm256_packs_epi32(lower[n], upper[n]);
    [
        flat,
        both(2),
        both(0),
        both(3),
        four,
        both(4),
        both(1),
        both(5),
    ]
}

/// Returns frequencies 2, 6, 1, 3, 5 and 7 of eight transforms, 32 bits each.
#[inline]
#[target_feature(enable = "avx2")]
fn half<const SHIFT: i32>(
    even: __m256i,
    sums: __m256i,
    three_zero: __m256i,
    two_one: __m256i,
) -> [__m256i; 6] {
    let dot = |words, factors: [i32; 2]| {
        let pair = (factors[1] << 16) | (factors[0] & 0xffff);
        _mm256_madd_epi16(words, _mm256_set1_epi32(pair))
    };
    let round = _mm256_set1_epi32(1 << (SHIFT - 1));
    let cut = |x| _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(x, round));
    let (for_37, for_15) = (dot(sums, SUMS_02), dot(sums, SUMS_13));
    [
        cut(dot(even, OUTER)),
        cut(dot(even, INNER)),
        cut(_mm256_add_epi32(dot(three_zero, PART_3), for_15)),
        cut(_mm256_add_epi32(dot(two_one, PART_2), for_37)),
        cut(_mm256_add_epi32(dot(two_one, PART_1), for_15)),
        cut(_mm256_add_epi32(dot(three_zero, PART_0), for_37)),
    ]
}
