//! The full inverse DCT with AVX2: two blocks side by side, with sums of products of 16-bit pairs (`vpmaddwd`) in every
//! step of the transform.

use std::arch::x86_64::*;

use super::{BITS, COLUMNS, INNER, OUTER, PART_0, PART_1, PART_2, PART_3, ROWS, SUMS_02, SUMS_13};

/// Transforms all blocks, two at a time, one in each 128-bit lane.
#[target_feature(enable = "avx2")]
pub(in super::super) fn to_8x8(
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    from_block(0, coefficients, factors, rows, line);
}

/// Transforms block `first` and those after it.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn from_block(
    first: usize,
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    let factors: [i16; 64] = factors.map(|factor| factor as i16);
    let mut pairs = coefficients[64 * first..].chunks_exact(128);
    for (b, pair) in pairs.by_ref().enumerate() {
        let (left, right) = pair.split_at(64);
        let lines = two_blocks(left, right, &factors);
        for (y, samples) in lines.into_iter().enumerate() {
            let at = y * line + 8 * first + 16 * b;
            // SAFETY: both sides are 16 bytes, and the slice is as long as its range.
            unsafe {
                _mm_storeu_si128(rows[at..at + 16].as_mut_ptr().cast(), samples);
            }
        }
    }
    let rest = pairs.remainder();
    if rest.len() == 64 {
        let lines = two_blocks(rest, rest, &factors);
        for (y, samples) in lines.into_iter().enumerate() {
            let at = y * line + coefficients.len() / 8 - 8;
            let samples = _mm_cvtsi128_si64(samples).to_le_bytes();
            rows[at..at + 8].copy_from_slice(&samples);
        }
    }
}

/// Loads and dequantises row `v` of both blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn row(left: &[i16], right: &[i16], factors: &[i16; 64], v: usize) -> __m256i {
    let (left, right) = (&left[8 * v..8 * v + 8], &right[8 * v..8 * v + 8]);
    let factors = &factors[8 * v..8 * v + 8];
    // SAFETY: each slice is 8 i16, which are 16 bytes.
    let (coefficients, factors) = unsafe {
        (
            _mm256_loadu2_m128i(right.as_ptr().cast(), left.as_ptr().cast()),
            _mm256_broadcastsi128_si256(_mm_loadu_si128(factors.as_ptr().cast())),
        )
    };
    _mm256_mullo_epi16(coefficients, factors)
}

/// Returns the samples of two adjacent blocks: eight rows of sixteen.
#[inline]
#[target_feature(enable = "avx2")]
fn two_blocks(left: &[i16], right: &[i16], factors: &[i16; 64]) -> [__m128i; 8] {
    let input = [
        row(left, right, factors, 0),
        row(left, right, factors, 1),
        row(left, right, factors, 2),
        row(left, right, factors, 3),
        row(left, right, factors, 4),
        row(left, right, factors, 5),
        row(left, right, factors, 6),
        row(left, right, factors, 7),
    ];
    let mut high = input[1];
    for row in &input[2..] {
        high = _mm256_or_si256(high, *row);
    }
    // Columns that do not vary are frequent in smooth parts of an image.
    let columns = if _mm256_testz_si256(high, high) != 0 {
        // The exact result of the pass over the columns for a single frequency: four times the input, saturated.
        let twice = _mm256_adds_epi16(input[0], input[0]);
        [_mm256_adds_epi16(twice, twice); 8]
    } else {
        idct8::<{ COLUMNS as i32 }>(input)
    };
    let samples = idct8::<{ ROWS as i32 }>(transpose(columns));
    let grey = _mm256_set1_epi16(128);
    // The samples are in columns. Pairs of columns are packed to bytes, then the bytes are transposed.
    let mut bytes = [_mm256_setzero_si256(); 4];
    for (bytes, pair) in bytes.iter_mut().zip(samples.chunks_exact(2)) {
        *bytes = _mm256_packus_epi16(
            _mm256_adds_epi16(pair[0], grey),
            _mm256_adds_epi16(pair[1], grey),
        );
    }
    // Columns 0 and 4, 1 and 5 … are paired: three rounds of interleaving.
    let a = _mm256_unpacklo_epi8(bytes[0], bytes[2]);
    let b = _mm256_unpackhi_epi8(bytes[0], bytes[2]);
    let c = _mm256_unpacklo_epi8(bytes[1], bytes[3]);
    let d = _mm256_unpackhi_epi8(bytes[1], bytes[3]);
    let even0 = _mm256_unpacklo_epi8(a, c);
    let even1 = _mm256_unpackhi_epi8(a, c);
    let odd0 = _mm256_unpacklo_epi8(b, d);
    let odd1 = _mm256_unpackhi_epi8(b, d);
    let lines = [
        _mm256_unpacklo_epi8(even0, odd0),
        _mm256_unpackhi_epi8(even0, odd0),
        _mm256_unpacklo_epi8(even1, odd1),
        _mm256_unpackhi_epi8(even1, odd1),
    ];
    let mut out = [_mm_setzero_si128(); 8];
    for (pair, two) in out.chunks_exact_mut(2).zip(lines) {
        let (first, second) = (
            _mm256_castsi256_si128(two),
            _mm256_extracti128_si256::<1>(two),
        );
        pair[0] = _mm_unpacklo_epi64(first, second);
        pair[1] = _mm_unpackhi_epi64(first, second);
    }
    out
}

/// Sixteen 8-point inverse DCTs side by side, bit-identical to the scalar version.
#[inline]
#[target_feature(enable = "avx2")]
fn idct8<const SHIFT: i32>(x: [__m256i; 8]) -> [__m256i; 8] {
    let sum = _mm256_add_epi16(x[0], x[4]);
    let difference = _mm256_sub_epi16(x[0], x[4]);
    let (a, b) = (_mm256_add_epi16(x[3], x[7]), _mm256_add_epi16(x[1], x[5]));
    let low = |a, b| _mm256_unpacklo_epi16(a, b);
    let high = |a, b| _mm256_unpackhi_epi16(a, b);
    let zero = _mm256_setzero_si256();
    let lower = half::<SHIFT>(Frequencies {
        flat0: low(zero, sum),
        flat1: low(zero, difference),
        two_six: low(x[2], x[6]),
        sums: low(a, b),
        seven_one: low(x[7], x[1]),
        five_three: low(x[5], x[3]),
    });
    let upper = half::<SHIFT>(Frequencies {
        flat0: high(zero, sum),
        flat1: high(zero, difference),
        two_six: high(x[2], x[6]),
        sums: high(a, b),
        seven_one: high(x[7], x[1]),
        five_three: high(x[5], x[3]),
    });
    let mut out = [zero; 8];
    for (out, (lower, upper)) in out.iter_mut().zip(lower.into_iter().zip(upper)) {
        *out = _mm256_packs_epi32(lower, upper);
    }
    out
}

/// Inputs of eight 8-point transforms, 32 bits for each transform: a word in the upper half (`flat0`, `flat1`) or a
/// pair of words (all others).
struct Frequencies {
    flat0: __m256i,
    flat1: __m256i,
    two_six: __m256i,
    sums: __m256i,
    seven_one: __m256i,
    five_three: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn half<const SHIFT: i32>(x: Frequencies) -> [__m256i; 8] {
    let sum = |words, factors: [i32; 2]| {
        let pair = (factors[1] << 16) | (factors[0] & 0xffff);
        _mm256_madd_epi16(words, _mm256_set1_epi32(pair))
    };
    let round = _mm256_set1_epi32(1 << (SHIFT - 1));
    let flat = |x| _mm256_add_epi32(_mm256_srai_epi32::<{ 16 - BITS as i32 }>(x), round);
    let (flat0, flat1) = (flat(x.flat0), flat(x.flat1));
    let (outer, inner) = (sum(x.two_six, OUTER), sum(x.two_six, INNER));
    let (for_02, for_13) = (sum(x.sums, SUMS_02), sum(x.sums, SUMS_13));
    let even = [
        _mm256_add_epi32(flat0, outer),
        _mm256_add_epi32(flat1, inner),
        _mm256_sub_epi32(flat1, inner),
        _mm256_sub_epi32(flat0, outer),
    ];
    let odd = [
        _mm256_add_epi32(sum(x.seven_one, PART_3), for_13),
        _mm256_add_epi32(sum(x.five_three, PART_2), for_02),
        _mm256_add_epi32(sum(x.five_three, PART_1), for_13),
        _mm256_add_epi32(sum(x.seven_one, PART_0), for_02),
    ];
    let mut out = [round; 8];
    for n in 0..4 {
        out[n] = _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(even[n], odd[n]));
        out[7 - n] = _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(even[n], odd[n]));
    }
    out
}

/// Transposes the 8×8 words of each 128-bit lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn transpose(m: [__m256i; 8]) -> [__m256i; 8] {
    let round = |m: [__m256i; 8]| {
        let mut out = [_mm256_setzero_si256(); 8];
        for (i, pair) in out.chunks_exact_mut(2).enumerate() {
            pair[0] = _mm256_unpacklo_epi16(m[i], m[i + 4]);
            pair[1] = _mm256_unpackhi_epi16(m[i], m[i + 4]);
        }
        out
    };
    round(round(round(m)))
}
