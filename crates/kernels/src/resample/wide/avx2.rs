//! The resampling kernels for 16-bit samples with AVX2. A register has 8 columns in the vertical pass, and 8 results in
//! the horizontal pass.

use std::arch::x86_64::*;

use super::{MAX, pack};
use crate::resample::bands::{COLUMNS, Passes, Step};
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
    lanes: 8,
    halves: false,
    taps: 1,
    pack,
    index: |offset| offset,
};

/// Number of lanes in a register.
const WIDE: usize = 8;

/// Converts a source row to floats, the form that [`down`] multiplies.
///
/// # Safety
/// The conditions of [`Passes::fill`] must hold.
#[target_feature(enable = "avx2,fma")]
unsafe fn fill(row: &[u16], _: &[u16], step: &mut [u32]) {
    for (to, &sample) in step.iter_mut().zip(row) {
        *to = f32::from(sample).to_bits();
    }
}

/// Filters source rows vertically: adds up the weighted source rows (`steps`) of each column.
///
/// # Safety
/// The conditions of [`Passes::down`] must hold.
#[target_feature(enable = "avx2,fma")]
unsafe fn down(ring: &[u32], steps: &[Step], between: &mut [f32]) {
    let mut at = 0;
    while between.len() - at >= 2 * COLUMNS {
        // SAFETY: the caller guarantees as many columns of each step as `between` has.
        unsafe { down_columns::<8>(ring.as_ptr().add(at), steps, between.as_mut_ptr().add(at)) };
        at += 2 * COLUMNS;
    }
    while at < between.len() {
        // SAFETY: as above.
        unsafe { down_columns::<4>(ring.as_ptr().add(at), steps, between.as_mut_ptr().add(at)) };
        at += COLUMNS;
    }
}

/// Filters `N` × 8 columns vertically.
///
/// # Safety
/// Each step must have this many columns, which begin at `ring` plus the step's `at`, and `between` must have room for
/// as many.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn down_columns<const N: usize>(ring: *const u32, steps: &[Step], between: *mut f32) {
    let mut sums = [_mm256_setzero_ps(); N];
    for step in steps {
        let weight = _mm256_set1_ps(f32::from_bits(step.weights));
        for (index, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the columns.
            let samples = unsafe { _mm256_loadu_ps(ring.add(step.at + index * WIDE).cast()) };
            *sum = _mm256_fmadd_ps(weight, samples, *sum);
        }
    }
    for (index, sum) in sums.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { _mm256_storeu_ps(between.add(index * WIDE), sum) };
    }
}

/// Filters rows horizontally, 8 results at a time.
///
/// # Safety
/// The conditions of [`Passes::along`] must hold.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn along(between: &[f32], stride: usize, x: &Weights<u16>, out: &mut [u16]) {
    let lanes = x.lanes(&SHAPE);
    let width = x.output();
    for (row, out) in between.chunks(stride).zip(out.chunks_exact_mut(width)) {
        let mut weights = lanes.weights.as_ptr();
        for (index, (group, out)) in lanes.groups.iter().zip(out.chunks_mut(WIDE)).enumerate() {
            let mut sum = _mm256_setzero_ps();
            // SAFETY: there are 8 indices per group, and 8 weights for each of its steps. The samples of a step begin
            // at most `taps` after a result's start, so they are within the row and its slack.
            unsafe {
                let places = _mm256_loadu_si256(lanes.indices.as_ptr().add(WIDE * index).cast());
                let from = row.as_ptr().add(group.bases[0] as usize);
                for step in 0..group.steps as usize {
                    let weight = _mm256_loadu_ps(weights.cast());
                    weights = weights.add(WIDE);
                    let samples = gather(from.add(step), places, group.span);
                    sum = _mm256_fmadd_ps(weight, samples, sum);
                }
            }
            let sum = _mm256_min_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), _mm256_set1_ps(MAX));
            let rounded = _mm256_cvttps_epi32(_mm256_add_ps(sum, _mm256_set1_ps(0.5)));
            let words = _mm256_packus_epi32(rounded, rounded);
            let words = _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b1000>(words));
            let mut results = [0; WIDE];
            // SAFETY: the results are 8 values of 16 bits.
            unsafe { _mm_storeu_si128(results.as_mut_ptr().cast(), words) };
            match out.first_chunk_mut::<WIDE>() {
                Some(out) => *out = results,
                None => out.copy_from_slice(&results[..out.len()]),
            }
        }
    }
}

/// Loads the samples at 8 indices, all of which are less than `span`.
///
/// # Safety
/// At least 16 samples, and at least `span`, must be readable from `from` on.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn gather(from: *const f32, places: __m256i, span: u32) -> __m256 {
    // SAFETY: the caller guarantees the samples.
    unsafe {
        if span as usize > 2 * WIDE {
            return _mm256_i32gather_ps::<4>(from, places);
        }
        // A permutation uses only the lower bits of its indices.
        let near = _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), places);
        if span as usize <= WIDE {
            return near;
        }
        let far = _mm256_permutevar8x32_ps(_mm256_loadu_ps(from.add(WIDE)), places);
        let beyond = _mm256_cmpgt_epi32(places, _mm256_set1_epi32(WIDE as i32 - 1));
        _mm256_blendv_ps(near, far, _mm256_castsi256_ps(beyond))
    }
}
