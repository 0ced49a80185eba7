//! Resampling of 8-bit samples, with 16-bit weights, and with 16-bit samples between the vertical and the horizontal
//! pass.

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

/// Fractional bits of the weights.
const WEIGHT_BITS: u32 = 14;

/// Fractional bits of samples between the vertical and the horizontal pass. Together with 8 integer bits, these leave
/// room for a kernel's overshoot in 16 bits.
const BETWEEN_BITS: u32 = 6;

/// Number of bits by which the sums of the vertical pass are shifted right.
const DOWN_SHIFT: u32 = WEIGHT_BITS - BETWEEN_BITS;
/// Value with which the sums of the vertical pass start, so that the shift by [`DOWN_SHIFT`] rounds.
const DOWN_ROUND: i32 = 1 << (DOWN_SHIFT - 1);
/// Number of bits by which the sums of the horizontal pass are shifted right.
const ALONG_SHIFT: u32 = WEIGHT_BITS + BETWEEN_BITS;
/// Value with which the sums of the horizontal pass start, so that the shift by [`ALONG_SHIFT`] rounds.
const ALONG_ROUND: i32 = 1 << (ALONG_SHIFT - 1);

impl sealed::Resampled for u8 {
    type Weight = i16;
    type Between = i16;

    /// Rounds the weights so that they sum to exactly one: the rounding error is added to the weight at `middle`.
    #[inline(always)]
    fn round_weights(window: &[f64], middle: usize, values: &mut [i16]) {
        let one = f64::from(1 << WEIGHT_BITS);
        let mut sum = 0;
        for (value, weight) in values.iter_mut().zip(window) {
            // Adding 1.5 · 2⁵² to a small number puts its nearest integer into the lowest bits.
            *value = (weight * one + 6_755_399_441_055_744.0).to_bits() as i16;
            sum += i32::from(*value);
        }
        values[middle] += ((1 << WEIGHT_BITS) - sum) as i16;
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

    /// Computes one result row after the other. The loops are plain enough for the compiler to vectorise.
    fn rows_scalar(
        source: Source<'_, Self>,
        x: &Weights<Self>,
        y: &Weights<Self>,
        rows: Range<usize>,
        out: &mut [Self],
    ) {
        let mut sums = vec![0; x.input];
        let mut between = vec![0; x.input + x.taps];
        for (row, out) in rows.zip(out.chunks_exact_mut(x.output())) {
            down_scalar(source, y, row, &mut sums);
            for (between, sum) in between.iter_mut().zip(&sums) {
                *between = saturate(sum >> DOWN_SHIFT);
            }
            along_scalar(&between, x, 0..x.output(), out);
        }
    }
}

/// Filters source rows vertically for result row `row`.
fn down_scalar(source: Source<'_, u8>, y: &Weights<u8>, row: usize, sums: &mut [i32]) {
    let (start, weights) = y.trimmed(row);
    sums.fill(DOWN_ROUND);
    for (&weight, row) in weights.iter().zip(start..) {
        let row = &source.samples[row * source.stride..][..sums.len()];
        for (sum, &sample) in sums.iter_mut().zip(row) {
            *sum += i32::from(weight) * i32::from(sample);
        }
    }
}

/// Filters a row horizontally for the result samples `results`. `between` has `x.taps` samples beyond the input.
fn along_scalar(between: &[i16], x: &Weights<u8>, results: Range<usize>, out: &mut [u8]) {
    for result in results {
        let (start, weights) = x.of(result);
        let mut sum = ALONG_ROUND;
        for (&weight, &sample) in weights.iter().zip(&between[start..]) {
            sum += i32::from(weight) * i32::from(sample);
        }
        out[result] = (sum >> ALONG_SHIFT).clamp(0, 255) as u8;
    }
}

fn saturate(x: i32) -> i16 {
    x.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

/// Packs two weights into a word, the first in the lower bits.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn pack(first: i16, second: i16) -> u32 {
    u32::from(first as u16) | u32::from(second as u16) << 16
}

/// Returns `N` samples, padded with zeros if there are fewer.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline]
fn whole<const N: usize>(samples: &[u8]) -> [u8; N] {
    samples.try_into().unwrap_or_else(|_| {
        let mut whole = [0; N];
        whole[..samples.len()].copy_from_slice(samples);
        whole
    })
}
