//! The resampling kernels for 16-bit samples with AVX-512. A register has 16 columns in the vertical pass, and 16
//! results in the horizontal pass.

use std::arch::x86_64::*;

use super::{MAX, avx2, pack};
use crate::resample::bands::{self, COLUMNS, Passes, Step};
use crate::resample::layout::Shape;
use crate::resample::weights::Weights;

pub(super) const PASSES: Passes<u16, f32> = Passes {
    rows_per_step: 1,
    fill,
    down,
    along,
    pack,
};

const SHAPE: Shape<f32> = Shape {
    lanes: 16,
    halves: false,
    taps: 1,
    pack,
    index: |offset| offset,
};

/// Number of lanes in a register.
const WIDE: usize = 16;

/// Converts a source row to floats, the form that [`down`] multiplies.
///
/// # Safety
/// The conditions of [`Passes::fill`] must hold.
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl")]
unsafe fn fill(row: &[u16], _: &[u16], step: &mut [u32]) {
    for (samples, to) in row.chunks(WIDE).zip(step.chunks_exact_mut(WIDE)) {
        let mask = u16::MAX >> (WIDE - samples.len());
        // SAFETY: there are as many samples as the mask lets through, and 16 columns.
        unsafe {
            let samples = _mm256_maskz_loadu_epi16(mask, samples.as_ptr().cast());
            let floats = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(samples));
            _mm512_storeu_ps(to.as_mut_ptr().cast(), floats);
        }
    }
}

/// Filters source rows vertically: adds up the weighted source rows (`steps`) of each column.
///
/// # Safety
/// The conditions of [`Passes::down`] must hold.
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl")]
unsafe fn down(ring: &[u32], steps: &[Step], between: &mut [f32]) {
    let mut at = 0;
    while between.len() - at >= 4 * COLUMNS {
        // SAFETY: the caller guarantees as many columns of each step as `between` has.
        unsafe { down_columns::<8>(ring.as_ptr().add(at), steps, between.as_mut_ptr().add(at)) };
        at += 4 * COLUMNS;
    }
    while at < between.len() {
        // SAFETY: as above.
        unsafe { down_columns::<2>(ring.as_ptr().add(at), steps, between.as_mut_ptr().add(at)) };
        at += COLUMNS;
    }
}

/// Filters `N` × 16 columns vertically.
///
/// # Safety
/// Each step must have this many columns, which begin at `ring` plus the step's `at`, and `between` must have room for
/// as many.
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl")]
#[inline]
unsafe fn down_columns<const N: usize>(ring: *const u32, steps: &[Step], between: *mut f32) {
    let mut sums = [_mm512_setzero_ps(); N];
    for step in steps {
        let weight = _mm512_set1_ps(f32::from_bits(step.weights));
        for (index, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the columns.
            let samples = unsafe { _mm512_loadu_ps(ring.add(step.at + index * WIDE).cast()) };
            *sum = _mm512_fmadd_ps(weight, samples, *sum);
        }
    }
    for (index, sum) in sums.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { _mm512_storeu_ps(between.add(index * WIDE), sum) };
    }
}

/// Filters rows horizontally, four rows at a time and 16 results each. When the input samples of neighbouring results
/// lie too far apart for a permutation, the AVX2 version is used.
///
/// # Safety
/// The conditions of [`Passes::along`] must hold.
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl")]
unsafe fn along(between: &[f32], stride: usize, x: &Weights<u16>, out: &mut [u16]) {
    if x.lanes(&SHAPE).span > 4 * WIDE {
        // SAFETY: the caller guarantees the rows.
        unsafe { avx2::along(between, stride, x, out) };
        return;
    }
    // SAFETY: as above.
    unsafe { bands::along(between, stride, x, out, along_rows::<4>, along_rows::<1>) };
}

/// Filters `N` rows horizontally.
///
/// # Safety
/// Each row must have `bands::slack` samples beyond the input, and `out` must have room for `N` result rows.
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl")]
#[inline]
unsafe fn along_rows<const N: usize>(rows: [*const f32; N], x: &Weights<u16>, out: &mut [u16]) {
    let lanes = x.lanes(&SHAPE);
    let width = x.output();
    let mut weights = lanes.weights.as_ptr();
    for (index, group) in lanes.groups.iter().enumerate() {
        let mut sums = [_mm512_setzero_ps(); N];
        let at = group.bases[0] as usize;
        // SAFETY: there are 16 indices per group, and 16 weights for each of its steps. The samples of a step begin at
        // most `taps` after a result's start, and the 64 samples from there on are within the slack.
        unsafe {
            let places = _mm512_loadu_si512(lanes.indices.as_ptr().add(WIDE * index).cast());
            for step in 0..group.steps as usize {
                let weight = _mm512_loadu_ps(weights.cast());
                weights = weights.add(WIDE);
                for (sum, row) in sums.iter_mut().zip(rows) {
                    let samples = gather(row.add(at + step), places, group.span);
                    *sum = _mm512_fmadd_ps(weight, samples, *sum);
                }
            }
        }
        let first = WIDE * index;
        let mask = u16::MAX >> (WIDE - (width - first).min(WIDE));
        for (row, sum) in sums.into_iter().enumerate() {
            let sum = _mm512_min_ps(_mm512_max_ps(sum, _mm512_setzero_ps()), _mm512_set1_ps(MAX));
            let rounded = _mm512_cvttps_epi32(_mm512_add_ps(sum, _mm512_set1_ps(0.5)));
            // SAFETY: the mask lets through as many results as are left of that row.
            unsafe {
                let to = out.as_mut_ptr().add(row * width + first);
                _mm256_mask_storeu_epi16(to.cast(), mask, _mm512_cvtepi32_epi16(rounded));
            }
        }
    }
}

/// Loads the samples at 16 indices, all of which are less than `span`, which is at most 64.
///
/// # Safety
/// At least 64 samples must be readable from `from` on.
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512vl")]
#[inline]
unsafe fn gather(from: *const f32, places: __m512i, span: u32) -> __m512 {
    // SAFETY: the caller guarantees the samples.
    unsafe {
        let (a, b) = (_mm512_loadu_ps(from), _mm512_loadu_ps(from.add(WIDE)));
        let near = _mm512_permutex2var_ps(a, places, b);
        if span as usize <= 2 * WIDE {
            return near;
        }
        let (c, d) = (
            _mm512_loadu_ps(from.add(2 * WIDE)),
            _mm512_loadu_ps(from.add(3 * WIDE)),
        );
        let beyond = _mm512_cmpge_epi32_mask(places, _mm512_set1_epi32(2 * WIDE as i32));
        // A permutation uses only the lower bits of its indices.
        _mm512_mask_mov_ps(near, beyond, _mm512_permutex2var_ps(c, places, d))
    }
}
