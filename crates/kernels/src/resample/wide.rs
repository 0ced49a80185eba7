//! Resampling of 16-bit samples, with 32-bit floats throughout. Fixed-point arithmetic of the same accuracy would need
//! weights in two parts, and therefore no fewer multiplications.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

use std::ops::Range;

use super::bands::Passes;
use super::weights::Weights;
use super::{Source, sealed};
use crate::cpu::Level;

const MAX: f32 = u16::MAX as f32;

impl sealed::Resampled for u16 {
    type Weight = f32;
    type Between = f32;

    #[inline(always)]
    fn round_weights(window: &[f64], _: usize, values: &mut [f32]) {
        for (value, &weight) in values.iter_mut().zip(window) {
            *value = weight as f32;
        }
    }

    fn passes(level: Level) -> Option<&'static Passes<Self, Self::Between>> {
        match level {
            #[cfg(target_arch = "aarch64")]
            Level::Neon => Some(&neon::PASSES),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => Some(&avx2::PASSES),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => Some(&avx512::PASSES),
            _ => None,
        }
    }

    /// Computes one result row after the other, adding up each sum in the order of its weights.
    fn rows_scalar(
        source: Source<'_, Self>,
        x: &Weights<Self>,
        y: &Weights<Self>,
        rows: Range<usize>,
        out: &mut [Self],
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
                *out = (sum.clamp(0.0, MAX) + 0.5) as Self;
            }
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

/// Returns the bits of the first weight. The second weight is unused, because these kernels multiply one row or one
/// sample at a time, not two.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn pack(weight: f32, _: f32) -> u32 {
    weight.to_bits()
}
