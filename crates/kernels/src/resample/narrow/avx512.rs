//! The resampling kernels for 8-bit samples with AVX-512. A register has 32 columns in the vertical pass, and 16 results
//! in the horizontal pass. One instruction computes two products and adds them to a sum (VNNI).

use std::arch::x86_64::*;

use super::{ALONG_ROUND, ALONG_SHIFT, DOWN_ROUND, DOWN_SHIFT, avx2, pack};
use crate::resample::bands::{self, COLUMNS, Passes, Step};
use crate::resample::layout::Shape;
use crate::resample::weights::Weights;

pub(super) const PASSES: Passes<u8, i16> = Passes {
    rows_per_step: 2,
    fill,
    down,
    along,
    pack,
};

const SHAPE: Shape<i16> = Shape {
    lanes: 16,
    halves: false,
    taps: 2,
    pack,
    // Two adjacent samples, as indices of 16-bit words.
    index: |offset| offset | (offset + 1) << 16,
};

/// Interleaves two rows to pairs of 16-bit samples. Of every 32 columns, columns 0–3, 8–11, 16–19 and 24–27 come first,
/// then the others.
///
/// # Safety
/// The conditions of [`Passes::fill`] must hold.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn fill(above: &[u8], below: &[u8], step: &mut [u32]) {
    for (index, to) in step.chunks_exact_mut(COLUMNS).enumerate() {
        let at = index * COLUMNS;
        let Some(left) = above.len().checked_sub(at) else {
            break;
        };
        let mask = u32::MAX.checked_shr(32_u32.saturating_sub(left as u32));
        let mask = mask.unwrap_or(0);
        // SAFETY: both rows have the columns that the mask lets through; the chunk has 32.
        unsafe {
            let a = _mm256_maskz_loadu_epi8(mask, above.as_ptr().add(at).cast());
            let b = _mm256_maskz_loadu_epi8(mask, below.as_ptr().add(at).cast());
            let (a, b) = (_mm512_cvtepu8_epi16(a), _mm512_cvtepu8_epi16(b));
            let to = to.as_mut_ptr().cast::<__m512i>();
            _mm512_storeu_si512(to, _mm512_unpacklo_epi16(a, b));
            _mm512_storeu_si512(to.add(1), _mm512_unpackhi_epi16(a, b));
        }
    }
}

/// Filters source rows vertically: adds up the weighted source rows (`steps`) of each column.
///
/// # Safety
/// The conditions of [`Passes::down`] must hold.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn down(ring: &[u32], steps: &[Step], between: &mut [i16]) {
    let mut at = 0;
    while between.len() - at >= 4 * COLUMNS {
        // SAFETY: the caller guarantees as many columns of each step as `between` has.
        unsafe { down_columns::<4>(ring.as_ptr().add(at), steps, between.as_mut_ptr().add(at)) };
        at += 4 * COLUMNS;
    }
    while at < between.len() {
        // SAFETY: as above.
        unsafe { down_columns::<1>(ring.as_ptr().add(at), steps, between.as_mut_ptr().add(at)) };
        at += COLUMNS;
    }
}

/// Filters `N` × 32 columns vertically.
///
/// # Safety
/// Each step must have this many columns, which begin at `ring` plus the step's `at`, and `between` must have room for
/// as many.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
unsafe fn down_columns<const N: usize>(ring: *const u32, steps: &[Step], between: *mut i16) {
    let mut sums = [[_mm512_set1_epi32(DOWN_ROUND); 2]; N];
    for step in steps {
        let weights = _mm512_set1_epi32(step.weights as i32);
        for (index, [low, high]) in sums.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the columns.
            unsafe {
                let columns = ring.add(step.at + index * COLUMNS).cast::<__m512i>();
                *low = _mm512_dpwssd_epi32(*low, _mm512_loadu_si512(columns), weights);
                *high = _mm512_dpwssd_epi32(*high, _mm512_loadu_si512(columns.add(1)), weights);
            }
        }
    }
    for (index, [low, high]) in sums.into_iter().enumerate() {
        let low = _mm512_srai_epi32::<DOWN_SHIFT>(low);
        let high = _mm512_srai_epi32::<DOWN_SHIFT>(high);
        // SAFETY: as above.
        unsafe {
            let to = between.add(index * COLUMNS).cast();
            _mm512_storeu_si512(to, _mm512_packs_epi32(low, high));
        }
    }
}

/// Filters rows horizontally, four rows at a time and 16 results each. When the input samples of neighbouring results
/// lie too far apart for a permutation, the AVX2 version is used.
///
/// # Safety
/// The conditions of [`Passes::along`] must hold.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn along(between: &[i16], stride: usize, x: &Weights<u8>, out: &mut [u8]) {
    if x.lanes(&SHAPE).span > 64 {
        // SAFETY: the caller guarantees the rows.
        unsafe { avx2::along_far(between, stride, x, out) };
        return;
    }
    // SAFETY: as above.
    unsafe { bands::along(between, stride, x, out, along_rows::<4>, along_rows::<1>) };
}

/// Filters `N` rows horizontally.
///
/// # Safety
/// Each row must have `bands::slack` samples beyond the input, and `out` must have room for `N` result rows.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
unsafe fn along_rows<const N: usize>(rows: [*const i16; N], x: &Weights<u8>, out: &mut [u8]) {
    let lanes = x.lanes(&SHAPE);
    let width = x.output();
    let mut weights = lanes.weights.as_ptr();
    for (index, group) in lanes.groups.iter().enumerate() {
        let mut sums = [_mm512_set1_epi32(ALONG_ROUND); N];
        let at = group.bases[0] as usize;
        // SAFETY: there are 16 indices per group, and 16 weights for each of its steps. The samples of a step begin at
        // most `taps` after a result's start, and the 64 samples from there on are within the slack.
        unsafe {
            let places = _mm512_loadu_si512(lanes.indices.as_ptr().add(16 * index).cast());
            for step in 0..group.steps as usize {
                let weight = _mm512_loadu_si512(weights.cast());
                weights = weights.add(16);
                for (sum, row) in sums.iter_mut().zip(rows) {
                    let from = row.add(at + 2 * step);
                    let near = _mm512_loadu_si512(from.cast());
                    let samples = if group.span <= 32 {
                        _mm512_permutexvar_epi16(places, near)
                    } else {
                        let far = _mm512_loadu_si512(from.add(32).cast());
                        _mm512_permutex2var_epi16(near, places, far)
                    };
                    *sum = _mm512_dpwssd_epi32(*sum, samples, weight);
                }
            }
        }
        let first = 16 * index;
        let count = (width - first).min(16);
        let mask = u16::MAX >> (16 - count);
        for (row, sum) in sums.into_iter().enumerate() {
            let cut = _mm512_srai_epi32::<ALONG_SHIFT>(sum);
            let bytes = _mm512_cvtusepi32_epi8(_mm512_max_epi32(cut, _mm512_setzero_si512()));
            // SAFETY: `count` results of that row are left.
            unsafe {
                let to = out.as_mut_ptr().add(row * width + first);
                _mm_mask_storeu_epi8(to.cast(), mask, bytes);
            }
        }
    }
}
