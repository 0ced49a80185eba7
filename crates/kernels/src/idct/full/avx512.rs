//! The full inverse DCT with AVX-512: four blocks side by side, one in each 128-bit lane, with the arithmetic of
//! `avx2.rs` at twice the width.

use std::arch::x86_64::*;

use super::{
    BITS, COLUMNS, INNER, OUTER, PART_0, PART_1, PART_2, PART_3, ROWS, SUMS_02, SUMS_13, avx2,
};

/// Transforms four blocks at a time, and the remaining ones with [`avx2`].
#[target_feature(enable = "avx2,avx512f,avx512bw")]
pub(in super::super) fn to_8x8(
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    let words: [i16; 64] = factors.map(|factor| factor as i16);
    let (upper, lower) = words.split_at(32);
    let factors_of = [load(upper), load(lower)];
    let mut fours = coefficients.chunks_exact(256);
    for (b, four) in fours.by_ref().enumerate() {
        let lines = four_blocks(four, factors_of);
        for (y, samples) in lines.into_iter().enumerate() {
            let at = y * line + 32 * b;
            // SAFETY: both sides are 32 bytes, and the slice is as long as its range.
            unsafe {
                _mm256_storeu_si256(rows[at..at + 32].as_mut_ptr().cast(), samples);
            }
        }
    }
    let done = (coefficients.len() - fours.remainder().len()) / 64;
    avx2::from_block(done, coefficients, factors, rows, line);
}

/// Loads 32 words.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[i16]) -> __m512i {
    let words = &words[..32];
    // SAFETY: 32 i16 are 64 bytes.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Loads and dequantises four rows, from row `first` on, of each of four blocks. The vectors, each of which has rows of
/// one block, are rearranged so that each has one row of all four blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn four_rows(blocks: &[i16], first: usize, factors: __m512i) -> [__m512i; 4] {
    let half = |block: usize| {
        let at = 64 * block + 8 * first;
        _mm512_mullo_epi16(load(&blocks[at..at + 32]), factors)
    };
    let (a, b, c, d) = (half(0), half(1), half(2), half(3));
    let even = [
        _mm512_shuffle_i32x4::<0x88>(a, b),
        _mm512_shuffle_i32x4::<0x88>(c, d),
    ];
    let odd = [
        _mm512_shuffle_i32x4::<0xdd>(a, b),
        _mm512_shuffle_i32x4::<0xdd>(c, d),
    ];
    [
        _mm512_shuffle_i32x4::<0x88>(even[0], even[1]),
        _mm512_shuffle_i32x4::<0x88>(odd[0], odd[1]),
        _mm512_shuffle_i32x4::<0xdd>(even[0], even[1]),
        _mm512_shuffle_i32x4::<0xdd>(odd[0], odd[1]),
    ]
}

/// Returns the samples of four adjacent blocks: eight rows of thirty-two.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn four_blocks(blocks: &[i16], factors: [__m512i; 2]) -> [__m256i; 8] {
    let [r0, r1, r2, r3] = four_rows(blocks, 0, factors[0]);
    let [r4, r5, r6, r7] = four_rows(blocks, 4, factors[1]);
    let input = [r0, r1, r2, r3, r4, r5, r6, r7];
    let mut high = input[1];
    for row in &input[2..] {
        high = _mm512_or_si512(high, *row);
    }
    // Columns that do not vary are frequent in smooth parts of an image.
    let columns = if _mm512_test_epi16_mask(high, high) == 0 {
        // The exact result of the pass over the columns for a single frequency: four times the input, saturated.
        let twice = _mm512_adds_epi16(input[0], input[0]);
        [_mm512_adds_epi16(twice, twice); 8]
    } else {
        idct8::<COLUMNS>(input)
    };
    let samples = idct8::<ROWS>(transpose(columns));
    let grey = _mm512_set1_epi16(128);
    // The samples are in columns. Pairs of columns are packed to bytes, then the bytes are transposed.
    let mut bytes = [_mm512_setzero_si512(); 4];
    for (bytes, pair) in bytes.iter_mut().zip(samples.chunks_exact(2)) {
        *bytes = _mm512_packus_epi16(
            _mm512_adds_epi16(pair[0], grey),
            _mm512_adds_epi16(pair[1], grey),
        );
    }
    // Columns 0 and 4, 1 and 5 … are paired: three rounds of interleaving.
    let a = _mm512_unpacklo_epi8(bytes[0], bytes[2]);
    let b = _mm512_unpackhi_epi8(bytes[0], bytes[2]);
    let c = _mm512_unpacklo_epi8(bytes[1], bytes[3]);
    let d = _mm512_unpackhi_epi8(bytes[1], bytes[3]);
    let even0 = _mm512_unpacklo_epi8(a, c);
    let even1 = _mm512_unpackhi_epi8(a, c);
    let odd0 = _mm512_unpacklo_epi8(b, d);
    let odd1 = _mm512_unpackhi_epi8(b, d);
    let lines = [
        _mm512_unpacklo_epi8(even0, odd0),
        _mm512_unpackhi_epi8(even0, odd0),
        _mm512_unpacklo_epi8(even1, odd1),
        _mm512_unpackhi_epi8(even1, odd1),
    ];
    // Each lane has two rows of its block: the first rows are put together, then the second rows.
    let order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    let mut out = [_mm256_setzero_si256(); 8];
    for (pair, two) in out.chunks_exact_mut(2).zip(lines) {
        let apart = _mm512_permutexvar_epi64(order, two);
        pair[0] = _mm512_castsi512_si256(apart);
        pair[1] = _mm512_extracti64x4_epi64::<1>(apart);
    }
    out
}

/// Thirty-two 8-point inverse DCTs side by side, bit-identical to the scalar version.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn idct8<const SHIFT: u32>(x: [__m512i; 8]) -> [__m512i; 8] {
    let sum = _mm512_add_epi16(x[0], x[4]);
    let difference = _mm512_sub_epi16(x[0], x[4]);
    let (a, b) = (_mm512_add_epi16(x[3], x[7]), _mm512_add_epi16(x[1], x[5]));
    let low = |a, b| _mm512_unpacklo_epi16(a, b);
    let high = |a, b| _mm512_unpackhi_epi16(a, b);
    let zero = _mm512_setzero_si512();
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
        *out = _mm512_packs_epi32(lower, upper);
    }
    out
}

/// Inputs of sixteen 8-point transforms, 32 bits for each transform: a word in the upper half (`flat0`, `flat1`) or a
/// pair of words (all others).
struct Frequencies {
    flat0: __m512i,
    flat1: __m512i,
    two_six: __m512i,
    sums: __m512i,
    seven_one: __m512i,
    five_three: __m512i,
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn half<const SHIFT: u32>(x: Frequencies) -> [__m512i; 8] {
    let sum = |words, factors: [i32; 2]| {
        let pair = (factors[1] << 16) | (factors[0] & 0xffff);
        _mm512_madd_epi16(words, _mm512_set1_epi32(pair))
    };
    let round = _mm512_set1_epi32(1 << (SHIFT - 1));
    let flat = |x| _mm512_add_epi32(_mm512_srai_epi32::<{ 16 - BITS }>(x), round);
    let (flat0, flat1) = (flat(x.flat0), flat(x.flat1));
    let (outer, inner) = (sum(x.two_six, OUTER), sum(x.two_six, INNER));
    let (for_02, for_13) = (sum(x.sums, SUMS_02), sum(x.sums, SUMS_13));
    let even = [
        _mm512_add_epi32(flat0, outer),
        _mm512_add_epi32(flat1, inner),
        _mm512_sub_epi32(flat1, inner),
        _mm512_sub_epi32(flat0, outer),
    ];
    let odd = [
        _mm512_add_epi32(sum(x.seven_one, PART_3), for_13),
        _mm512_add_epi32(sum(x.five_three, PART_2), for_02),
        _mm512_add_epi32(sum(x.five_three, PART_1), for_13),
        _mm512_add_epi32(sum(x.seven_one, PART_0), for_02),
    ];
    let mut out = [round; 8];
    for n in 0..4 {
        out[n] = _mm512_srai_epi32::<SHIFT>(_mm512_add_epi32(even[n], odd[n]));
        out[7 - n] = _mm512_srai_epi32::<SHIFT>(_mm512_sub_epi32(even[n], odd[n]));
    }
    out
}

/// Transposes the 8×8 words of each 128-bit lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn transpose(m: [__m512i; 8]) -> [__m512i; 8] {
    let round = |m: [__m512i; 8]| {
        let mut out = [_mm512_setzero_si512(); 8];
        for (i, pair) in out.chunks_exact_mut(2).enumerate() {
            pair[0] = _mm512_unpacklo_epi16(m[i], m[i + 4]);
            pair[1] = _mm512_unpackhi_epi16(m[i], m[i + 4]);
        }
        out
    };
    round(round(round(m)))
}
