//! 16-bit samples: 32-bit floats throughout. Fixed point would want weights in two parts to be as exact,
//! and so as many multiplications.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use super::bands;
use super::weights::Weights;
use super::{Source, sealed};
use crate::cpu::Level;

const MAX: f32 = u16::MAX as f32;

impl sealed::Resampled for u16 {
    type Weight = f32;

    #[inline(always)]
    fn round_weights(window: &[f64], _: usize, values: &mut [f32]) {
        for (value, &weight) in values.iter_mut().zip(window) {
            *value = weight as f32;
        }
    }

    fn rows(
        level: Level,
        source: Source<'_, Self>,
        x: &Weights<Self>,
        y: &Weights<Self>,
        rows: Range<usize>,
        out: &mut [Self],
    ) {
        match level {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the caller has looked for the level and checked the rest.
            Level::Avx2 => unsafe { bands::rows(&avx2::PASSES, source, x, y, rows, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx512 => unsafe { bands::rows(&avx512::PASSES, source, x, y, rows, out) },
            _ => rows_scalar(source, x, y, rows, out),
        }
    }
}

/// The twin: row by row of results, each sum in the order of its weights.
fn rows_scalar(
    source: Source<'_, u16>,
    x: &Weights<u16>,
    y: &Weights<u16>,
    rows: Range<usize>,
    out: &mut [u16],
) {
    let mut between = vec![0.0; x.input];
    for (row, out) in rows.zip(out.chunks_exact_mut(x.output())) {
        down_scalar(source, y, row, &mut between);
        for (result, out) in out.iter_mut().enumerate() {
            let (start, weights) = x.trimmed(result);
            let mut sum = 0.0;
            for (&weight, &sample) in weights.iter().zip(&between[start..]) {
                sum = f32::mul_add(weight, sample, sum);
            }
            *out = (sum.clamp(0.0, MAX) + 0.5) as u16;
        }
    }
}

fn down_scalar(source: Source<'_, u16>, y: &Weights<u16>, row: usize, sums: &mut [f32]) {
    let (start, weights) = y.trimmed(row);
    sums.fill(0.0);
    for (&weight, row) in weights.iter().zip(start..) {
        let row = &source.samples[row * source.stride..][..sums.len()];
        for (sum, &sample) in sums.iter_mut().zip(row) {
            *sum = f32::mul_add(weight, f32::from(sample), *sum);
        }
    }
}

/// One weight: steps are of one row, or one sample.
#[cfg(target_arch = "x86_64")]
fn pack(weight: f32, _: f32) -> u32 {
    weight.to_bits()
}
