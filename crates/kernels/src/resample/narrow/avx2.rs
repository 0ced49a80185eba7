//! The resampling kernels for 8-bit samples with AVX2. A register has 16 columns in the vertical pass, and 8 results in
//! the horizontal pass.

use std::arch::x86_64::*;

use super::{ALONG_ROUND, ALONG_SHIFT, DOWN_ROUND, DOWN_SHIFT, along_scalar, pack, whole};
use crate::resample::bands::{self, COLUMNS, Passes, Step};
use crate::resample::layout::Shape;
use crate::resample::weights::{GROUP, Weights};

pub(super) const PASSES: Passes<u8, i16> = Passes {
    rows_per_step: 2,
    fill,
    down,
    along,
    pack,
};

const SHAPE: Shape<i16> = Shape {
    lanes: 8,
    halves: true,
    taps: 2,
    pack,
    // Two adjacent samples, as byte indices. Indices beyond a register are not used.
    index: |offset| (2 * offset.min(6)).wrapping_mul(0x0101_0101) + 0x0302_0100,
};

/// Number of columns in a register.
const WIDE: usize = 16;

/// Interleaves two rows to pairs of 16-bit samples. Of every 16 columns, columns 0–3 and 8–11 come first, then the
/// others.
///
/// # Safety
/// The conditions of [`Passes::fill`] must hold.
#[target_feature(enable = "avx2")]
unsafe fn fill(above: &[u8], below: &[u8], step: &mut [u32]) {
    let rows = above.chunks(WIDE).zip(below.chunks(WIDE));
    for ((above, below), to) in rows.zip(step.chunks_exact_mut(WIDE)) {
        let (a, b) = (whole::<WIDE>(above), whole::<WIDE>(below));
        // SAFETY: 16 bytes each; the chunk has 16 columns.
        unsafe {
            let a = _mm256_cvtepu8_epi16(_mm_loadu_si128(a.as_ptr().cast()));
            let b = _mm256_cvtepu8_epi16(_mm_loadu_si128(b.as_ptr().cast()));
            let to = to.as_mut_ptr().cast::<__m256i>();
            _mm256_storeu_si256(to, _mm256_unpacklo_epi16(a, b));
            _mm256_storeu_si256(to.add(1), _mm256_unpackhi_epi16(a, b));
        }
    }
}

/// Filters source rows vertically: adds up the weighted source rows (`steps`) of each column.
///
/// # Safety
/// The conditions of [`Passes::down`] must hold.
#[target_feature(enable = "avx2")]
unsafe fn down(ring: &[u32], steps: &[Step], between: &mut [i16]) {
    let mut at = 0;
    while between.len() - at >= 4 * WIDE {
        // SAFETY: the caller guarantees as many columns of each step as `between` has.
        unsafe { down_columns::<4>(ring.as_ptr().add(at), steps, between.as_mut_ptr().add(at)) };
        at += 4 * WIDE;
    }
    while at < between.len() {
        // SAFETY: as above; `COLUMNS` is twice as many.
        unsafe { down_columns::<2>(ring.as_ptr().add(at), steps, between.as_mut_ptr().add(at)) };
        at += COLUMNS;
    }
}

/// Filters `N` × 16 columns vertically.
///
/// # Safety
/// Each step must have this many columns, which begin at `ring` plus the step's `at`, and `between` must have room for
/// as many.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn down_columns<const N: usize>(ring: *const u32, steps: &[Step], between: *mut i16) {
    let mut sums = [[_mm256_set1_epi32(DOWN_ROUND); 2]; N];
    for step in steps {
        let weights = _mm256_set1_epi32(step.weights as i32);
        for (index, [low, high]) in sums.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the columns.
            let (a, b) = unsafe {
                let columns = ring.add(step.at + index * WIDE).cast::<__m256i>();
                (
                    _mm256_loadu_si256(columns),
                    _mm256_loadu_si256(columns.add(1)),
                )
            };
            *low = _mm256_add_epi32(*low, _mm256_madd_epi16(a, weights));
            *high = _mm256_add_epi32(*high, _mm256_madd_epi16(b, weights));
        }
    }
    for (index, [low, high]) in sums.into_iter().enumerate() {
        let low = _mm256_srai_epi32::<{ DOWN_SHIFT as i32 }>(low);
        let high = _mm256_srai_epi32::<{ DOWN_SHIFT as i32 }>(high);
        // SAFETY: as above.
        unsafe {
            let to = between.add(index * WIDE).cast();
            _mm256_storeu_si256(to, _mm256_packs_epi32(low, high));
        }
    }
}

/// Filters rows horizontally, two rows at a time and 8 results each.
///
/// # Safety
/// The conditions of [`Passes::along`] must hold.
#[target_feature(enable = "avx2")]
unsafe fn along(between: &[i16], stride: usize, x: &Weights<u8>, out: &mut [u8]) {
    if x.lanes(&SHAPE).span > 8 {
        // SAFETY: the caller guarantees the rows.
        unsafe { along_far(between, stride, x, out) };
        return;
    }
    // SAFETY: as above.
    unsafe { bands::along(between, stride, x, out, along_rows::<2>, along_rows::<1>) };
}

/// Filters `N` rows horizontally.
///
/// # Safety
/// Each row must have `bands::slack` samples beyond the input, and `out` must have room for `N` result rows.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn along_rows<const N: usize>(rows: [*const i16; N], x: &Weights<u8>, out: &mut [u8]) {
    let lanes = x.lanes(&SHAPE);
    let width = x.output();
    let mut weights = lanes.weights.as_ptr();
    for (index, group) in lanes.groups.iter().enumerate() {
        let mut sums = [_mm256_set1_epi32(ALONG_ROUND); N];
        let [left, right] = group.bases.map(|base| base as usize);
        // SAFETY: there are 8 indices per group, and 8 weights for each of its steps. The samples of a step begin at
        // most `taps` after a result's start, and the 8 samples from there on are within the slack.
        unsafe {
            let places = _mm256_loadu_si256(lanes.indices.as_ptr().add(8 * index).cast());
            for step in 0..group.steps as usize {
                let weight = _mm256_loadu_si256(weights.cast());
                weights = weights.add(8);
                for (sum, row) in sums.iter_mut().zip(rows) {
                    let from = |base: usize| row.add(base + 2 * step).cast();
                    let near = _mm256_loadu2_m128i(from(right), from(left));
                    let samples = _mm256_shuffle_epi8(near, places);
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(samples, weight));
                }
            }
        }
        let first = 8 * index;
        let count = (width - first).min(8);
        for (row, sum) in sums.into_iter().enumerate() {
            let bytes = results(sum);
            let to = &mut out[row * width + first..][..count];
            match to.first_chunk_mut::<8>() {
                Some(to) => *to = bytes,
                None => to.copy_from_slice(&bytes[..count]),
            }
        }
    }
}

/// Converts 8 sums to samples.
#[target_feature(enable = "avx2")]
#[inline]
fn results(sums: __m256i) -> [u8; 8] {
    let cut = _mm256_srai_epi32::<{ ALONG_SHIFT as i32 }>(sums);
    let words = _mm256_packs_epi32(cut, cut);
    let bytes = _mm256_packus_epi16(words, words);
    let left = _mm256_extract_epi32::<0>(bytes) as u32;
    let right = _mm256_extract_epi32::<4>(bytes) as u32;
    (u64::from(left) | u64::from(right) << 32).to_le_bytes()
}

/// Filters rows horizontally when the input samples of neighbouring results lie too far apart for a permutation. A
/// register takes 8 samples of each of two results, whose sums are added up at the end.
///
/// # Safety
/// The conditions of [`Passes::along`] must hold.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn along_far(between: &[i16], stride: usize, x: &Weights<u8>, out: &mut [u8]) {
    let width = x.output();
    for (between, out) in between.chunks(stride).zip(out.chunks_exact_mut(width)) {
        // SAFETY: the caller guarantees the row.
        unsafe { along_far_row(between, x, out) };
        along_scalar(between, x, width / 8 * 8..width, out);
    }
}

/// Filters one row horizontally, for all complete groups of 8 results. The caller computes the remaining results.
///
/// # Safety
/// `between` must have `x.taps` samples from the first input sample of every result on.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn along_far_row(between: &[i16], x: &Weights<u8>, out: &mut [u8]) {
    let round = _mm256_set1_epi32(ALONG_ROUND);
    let eights = x
        .starts
        .chunks_exact(8)
        .zip(x.pairs().chunks_exact(8 * x.taps));
    for ((starts, weights), out) in eights.zip(out.chunks_exact_mut(8)) {
        let mut sums = [_mm256_setzero_si256(); 4];
        for (group, weights) in weights.chunks_exact(8 * GROUP).enumerate() {
            // SAFETY: the caller guarantees 8 samples from each start and group on.
            let samples = |result: usize| unsafe {
                between
                    .as_ptr()
                    .add(starts[result] as usize + group * GROUP)
                    .cast::<__m128i>()
            };
            for (result, (sum, weights)) in sums
                .iter_mut()
                .zip(weights.chunks_exact(2 * GROUP))
                .enumerate()
            {
                // SAFETY: as above; the weights are 16 i16, 32 bytes.
                let (samples, weights) = unsafe {
                    (
                        _mm256_loadu2_m128i(samples(result + 4), samples(result)),
                        _mm256_loadu_si256(weights.as_ptr().cast()),
                    )
                };
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(samples, weights));
            }
        }
        let pairs =
            |a, b| _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (first, second) = (pairs(sums[0], sums[1]), pairs(sums[2], sums[3]));
        let sum = _mm256_add_epi32(
            _mm256_unpacklo_epi64(first, second),
            _mm256_unpackhi_epi64(first, second),
        );
        out.copy_from_slice(&results(_mm256_add_epi32(sum, round)));
    }
}
