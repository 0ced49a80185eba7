//! The forward DCT with AVX-512: four blocks side by side, one in each 128-bit lane, with the arithmetic of `avx2.rs` at
//! twice the width. The blocks are quantised one after the other, so that the tables stay in registers.

use std::arch::asm;
use std::arch::x86_64::*;

use super::{BITS, INNER, OUTER, PART_0, PART_1, PART_2, PART_3, Quantiser, SUMS_02, SUMS_13};
use crate::idct::full::avx512::transpose;
use crate::symbols::Row;

/// AVX-512 version of the transform to symbols.
///
/// # Safety
/// The processor must support `Level::Avx512`, and [`is_there`](crate::symbols::avx512::is_there) must be true.
#[target_feature(
    enable = "avx2,avx512f,avx512bw,avx512vl,avx512cd,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(super) unsafe fn rows_to_symbols(
    rows: &[u8],
    quantiser: &Quantiser,
    strengths: &[u16],
    to: &mut Row<'_>,
) -> usize {
    let line = rows.len() / 8;
    let tables = Tables::of(quantiser);
    let mut at = 0;
    for (n, strengths) in strengths.chunks(4).enumerate() {
        let (first, count) = (4 * n, strengths.len());
        let mask = u32::MAX >> (32 - 8 * count);
        let samples = std::array::from_fn(|y| {
            let row = &rows[y * line + 8 * first..][..8 * count];
            // SAFETY: the mask lets through as many bytes as the slice has.
            unsafe { _mm256_maskz_loadu_epi8(mask, row.as_ptr().cast()) }
        });
        let blocks = four_blocks(samples);
        for (n, (coefficients, &strength)) in blocks.into_iter().zip(strengths).enumerate() {
            let levels = tables.quantise(coefficients, strength);
            at += to.take_registers(first + n, at, levels);
        }
    }
    at
}

/// Returns the coefficients of four adjacent blocks, each in two registers: horizontal frequencies 0 to 3 and 4 to 7.
/// Each register of `samples` holds a row of all four blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn four_blocks(samples: [__m256i; 8]) -> [[__m512i; 2]; 4] {
    let gray = _mm512_set1_epi16(128);
    let mut lines = [gray; 8];
    for (line, samples) in lines.iter_mut().zip(samples) {
        *line = _mm512_sub_epi16(_mm512_cvtepu8_epi16(samples), gray);
    }
    let whole = |x| _mm512_slli_epi16::<2>(x);
    let columns = fdct8::<{ BITS - 2 }>(lines, whole);
    let half = _mm512_set1_epi16(2);
    let whole = |x| _mm512_srai_epi16::<2>(_mm512_add_epi16(x, half));
    let [c0, c1, c2, c3, c4, c5, c6, c7] = fdct8::<{ BITS + 2 }>(transpose(columns), whole);
    let left = by_block([c0, c1, c2, c3]);
    let right = by_block([c4, c5, c6, c7]);
    [
        [left[0], right[0]],
        [left[1], right[1]],
        [left[2], right[2]],
        [left[3], right[3]],
    ]
}

/// Transposes a matrix of 4×4 lanes of 128 bits, one row per register.
#[inline]
#[target_feature(enable = "avx512f")]
fn by_block([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let near = [
        _mm512_shuffle_i32x4::<0x44>(a, b),
        _mm512_shuffle_i32x4::<0x44>(c, d),
    ];
    let far = [
        _mm512_shuffle_i32x4::<0xee>(a, b),
        _mm512_shuffle_i32x4::<0xee>(c, d),
    ];
    [
        _mm512_shuffle_i32x4::<0x88>(near[0], near[1]),
        _mm512_shuffle_i32x4::<0xdd>(near[0], near[1]),
        _mm512_shuffle_i32x4::<0x88>(far[0], far[1]),
        _mm512_shuffle_i32x4::<0xdd>(far[0], far[1]),
    ]
}

/// A [`Quantiser`] in registers: each table is split into its first and second 32 entries.
struct Tables {
    rounding: [__m512i; 2],
    reciprocals: [__m512i; 2],
    /// Shift counts that are equivalent to multiplying by [`Quantiser::scales`].
    shifts: [__m512i; 2],
    thresholds: [__m512i; 2],
    slopes: [__m512i; 2],
}

impl Tables {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(quantiser: &Quantiser) -> Self {
        let halves = |table: &[u16; 64]| {
            let from = table.as_ptr();
            // SAFETY: an array of 64 u16 is two registers long.
            unsafe {
                [
                    _mm512_loadu_si512(from.cast()),
                    _mm512_loadu_si512(from.add(32).cast()),
                ]
            }
        };
        let shifts = quantiser
            .scales
            .map(|scale| 16 - scale.trailing_zeros() as u16);
        Self {
            rounding: halves(&quantiser.rounding),
            reciprocals: halves(&quantiser.reciprocals),
            shifts: halves(&shifts),
            thresholds: halves(&quantiser.thresholds),
            slopes: halves(&quantiser.slopes),
        }
    }

    /// Quantises the coefficients of one block to levels.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn quantise(&self, coefficients: [__m512i; 2], strength: u16) -> [__m512i; 2] {
        let strength = _mm512_set1_epi16(strength as i16);
        let mut levels = coefficients;
        for (n, level) in levels.iter_mut().enumerate() {
            let negative = _mm512_movepi16_mask(*level);
            let strong = _mm512_abs_epi16(*level);
            let more = upper_half(self.slopes[n], strength);
            let threshold = _mm512_add_epi16(self.thresholds[n], more);
            let kept = _mm512_cmpge_epu16_mask(strong, threshold);
            let rounded = _mm512_add_epi16(strong, self.rounding[n]);
            let size = upper_half(rounded, self.reciprocals[n]);
            let size = _mm512_maskz_srlv_epi16(kept, size, self.shifts[n]);
            *level = _mm512_mask_sub_epi16(size, negative, _mm512_setzero_si512(), size);
        }
        levels
    }
}

/// Returns the upper halves of the products of unsigned 16-bit words. Inline assembly, because the compiler turns the
/// intrinsic into 32-bit multiplications here, which accounted for a tenth of the running time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn upper_half(a: __m512i, b: __m512i) -> __m512i {
    let product;
    // SAFETY: the processor supports the instruction, which only reads and writes registers.
    unsafe {
        asm!(
            "vpmulhuw {product}, {a}, {b}",
            product = lateout(zmm_reg) product,
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    product
}

/// Thirty-two 8-point forward DCTs side by side, bit-identical to the scalar version.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn fdct8<const SHIFT: u32>(x: [__m512i; 8], whole: impl Fn(__m512i) -> __m512i) -> [__m512i; 8] {
    let sum = |n: usize| _mm512_add_epi16(x[n], x[7 - n]);
    let difference = |n: usize| _mm512_sub_epi16(x[n], x[7 - n]);
    let (s0, s1, s2, s3) = (sum(0), sum(1), sum(2), sum(3));
    let (d0, d1, d2, d3) = (difference(0), difference(1), difference(2), difference(3));
    let (outer, inner) = (_mm512_add_epi16(s0, s3), _mm512_add_epi16(s1, s2));
    let flat = whole(_mm512_add_epi16(outer, inner));
    let four = whole(_mm512_sub_epi16(outer, inner));
    let (outer, inner) = (_mm512_sub_epi16(s0, s3), _mm512_sub_epi16(s1, s2));
    let (a, b) = (_mm512_add_epi16(d3, d1), _mm512_add_epi16(d2, d0));
    let low = |a, b| _mm512_unpacklo_epi16(a, b);
    let high = |a, b| _mm512_unpackhi_epi16(a, b);
    let lower = half::<SHIFT>(low(outer, inner), low(a, b), low(d3, d0), low(d2, d1));
    let upper = half::<SHIFT>(high(outer, inner), high(a, b), high(d3, d0), high(d2, d1));
    let both = |n: usize| _mm512_packs_epi32(lower[n], upper[n]);
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

/// Returns frequencies 2, 6, 1, 3, 5 and 7 of sixteen transforms, 32 bits each.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn half<const SHIFT: u32>(
    even: __m512i,
    sums: __m512i,
    three_zero: __m512i,
    two_one: __m512i,
) -> [__m512i; 6] {
    let dot = |words, factors: [i32; 2]| {
        let pair = (factors[1] << 16) | (factors[0] & 0xffff);
        _mm512_madd_epi16(words, _mm512_set1_epi32(pair))
    };
    let round = _mm512_set1_epi32(1 << (SHIFT - 1));
    let cut = |x| _mm512_srai_epi32::<SHIFT>(_mm512_add_epi32(x, round));
    let (for_37, for_15) = (dot(sums, SUMS_02), dot(sums, SUMS_13));
    [
        cut(dot(even, OUTER)),
        cut(dot(even, INNER)),
        cut(_mm512_add_epi32(dot(three_zero, PART_3), for_15)),
        cut(_mm512_add_epi32(dot(two_one, PART_2), for_37)),
        cut(_mm512_add_epi32(dot(two_one, PART_1), for_15)),
        cut(_mm512_add_epi32(dot(three_zero, PART_0), for_37)),
    ]
}
