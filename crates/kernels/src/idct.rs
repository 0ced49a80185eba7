//! Inverse DCTs of 8×8 blocks: the full transform, or the N×N transform of the lowest N×N frequencies for small images.
//!
//! With JPEG's scaling (T.81, A.3.3), the orthonormal N×N inverse transform times N/8 keeps the mean of a block. For N
//! = 1 this is the DC coefficient / 8, for N = 2 sums and differences / 8.

pub(crate) mod full;
mod small;

use crate::cpu::Level;

/// Transforms one row of blocks to samples.
///
/// - `side`: samples per block side (N): 1, 2, 4 or 8.
/// - `coefficients`: N² per block, quantised, row-major by vertical then horizontal frequency.
/// - `factors`: the quantisation factors in the same order (only the first N² are used).
/// - `rows`: receives N rows of N × the number of blocks. `line`: samples from the beginning of one row to that of the
///   next. Samples between the rows are left untouched.
///
/// Error against the exact transform: at most 1 level. For N = 8 the result is that of libjpeg's accurate integer
/// transform, bit for bit.
///
/// # Panics
/// If the lengths of the slices do not match or `side` is none of 1, 2, 4, 8, which is a bug in the caller.
pub fn blocks_to_rows(
    side: usize,
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    // SAFETY: this processor supports its best level.
    unsafe { blocks_to_rows_on(Level::best(), side, coefficients, factors, rows, line) }
}

/// Implements `blocks_to_rows` with the instructions of `level`.
///
/// # Safety
/// The processor must support `level`.
unsafe fn blocks_to_rows_on(
    level: Level,
    side: usize,
    coefficients: &[i16],
    factors: &[i32; 64],
    rows: &mut [u8],
    line: usize,
) {
    assert!(
        matches!(side, 1 | 2 | 4 | 8),
        "an inverse DCT to {side}×{side}"
    );
    let width = coefficients.len() / side;
    assert!(
        width.is_multiple_of(side)
            && width * side == coefficients.len()
            && width <= line
            && rows.len() >= (side - 1) * line + width,
        "coefficients and samples of {side}×{side} blocks"
    );
    match (level, side) {
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2 | Level::Avx512, 1) => crate::cpu::with_modern_instructions(
            #[inline(always)]
            || small::to_1x1(coefficients, factors[0], rows),
        ),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller guarantees the level.
        (Level::Avx512, 8) => unsafe { full::avx512::to_8x8(coefficients, factors, rows, line) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller guarantees the level.
        (Level::Avx2 | Level::Avx512, _) => unsafe {
            match side {
                2 => small::avx2::to_2x2(coefficients, factors, rows, line),
                4 => small::avx2::to_4x4(coefficients, factors, rows, line),
                _ => full::avx2::to_8x8(coefficients, factors, rows, line),
            }
        },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the caller guarantees the level.
        (Level::Neon, 2 | 4 | 8) => unsafe {
            match side {
                2 => small::neon::to_2x2(coefficients, factors, rows, line),
                4 => small::neon::to_4x4(coefficients, factors, rows, line),
                _ => full::neon::to_8x8(coefficients, factors, rows, line),
            }
        },
        // The scalar reference versions.
        (_, 1) => small::to_1x1(coefficients, factors[0], rows),
        (_, 2) => small::to_2x2(coefficients, factors, rows, line),
        (_, 4) => small::to_4x4(coefficients, factors, rows, line),
        _ => full::to_8x8(coefficients, factors, rows, line),
    }
}

/// Multiplies a coefficient by its factor in 16 bits, which is enough for every valid file. In corrupt files the
/// product may wrap.
#[inline(always)]
fn dequantise(coefficient: i16, factor: i32) -> i16 {
    coefficient.wrapping_mul(factor as i16)
}

/// Saturates to 16 bits, as vector pack instructions do.
fn saturate(x: i32) -> i16 {
    x.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the levels that this processor supports.
    fn levels() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_there())
    }

    fn rows_on(level: Level, side: usize, coefficients: &[i16], factors: &[i32; 64]) -> Vec<u8> {
        assert!(level.is_there());
        let mut rows = vec![0; coefficients.len()];
        // SAFETY: the caller has checked that the processor supports the level.
        unsafe {
            let line = coefficients.len() / side;
            blocks_to_rows_on(level, side, coefficients, factors, &mut rows, line);
        }
        rows
    }

    /// Returns a generator of pseudo-random 16-bit numbers.
    fn noise() -> impl FnMut() -> i32 {
        let mut state = 1u32;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as i32
        }
    }

    /// Computes the exact transform, term by term.
    fn exact(side: usize, coefficients: &[f64]) -> Vec<f64> {
        let n = side as f64;
        let norm = |u: usize| {
            if u == 0 {
                (1.0 / n).sqrt()
            } else {
                (2.0 / n).sqrt()
            }
        };
        let wave = |x: usize, u: usize| {
            norm(u) * (std::f64::consts::PI * (2 * x + 1) as f64 * u as f64 / (2.0 * n)).cos()
        };
        let mut samples = Vec::new();
        for y in 0..side {
            for x in 0..side {
                let mut sum = 0.0;
                for v in 0..side {
                    for u in 0..side {
                        sum += coefficients[v * side + u] * wave(x, u) * wave(y, v);
                    }
                }
                samples.push((sum * n / 8.0 + 128.0).clamp(0.0, 255.0));
            }
        }
        samples
    }

    #[test]
    fn every_size_is_within_one_level_of_the_exact_transform_on_every_instruction_set() {
        let mut random = noise();
        for side in [1usize, 2, 4, 8] {
            let count = side * side;
            let blocks = 37;
            let factors: [i32; 64] = std::array::from_fn(|_| 1 + random() % 30);
            let coefficients: Vec<i16> = (0..blocks * count)
                .map(|i| {
                    (random() % if i % count == 0 { 60 } else { 9 }
                        - if i % count == 0 { 30 } else { 4 }) as i16
                })
                .collect();
            for level in levels() {
                let rows = rows_on(level, side, &coefficients, &factors);
                for (b, block) in coefficients.chunks(count).enumerate() {
                    let values: Vec<f64> = block
                        .iter()
                        .zip(&factors)
                        .map(|(&c, &q)| f64::from(c) * f64::from(q))
                        .collect();
                    for (i, want) in exact(side, &values).into_iter().enumerate() {
                        let got = rows[(i / side) * blocks * side + b * side + i % side];
                        assert!(
                            (f64::from(got) - want).abs() <= 1.0,
                            "{level:?}, {side}: {got} for {want}"
                        );
                    }
                }
            }
        }
    }

    /// Tests blocks like those of photos, blocks that do not vary vertically, and blocks that no encoder writes.
    #[test]
    fn every_instruction_set_equals_the_twin_bit_for_bit() {
        let mut random = noise();
        let modest: [i32; 64] = std::array::from_fn(|i| 3 + 11 * i as i32);
        let absurd: [i32; 64] = std::array::from_fn(|_| random());
        for side in [1usize, 2, 4, 8] {
            for blocks in [1, 2, 3, 4, 7, 8, 9, 64] {
                let make = |value: &mut dyn FnMut(usize) -> i32| -> Vec<i16> {
                    let values = (0..blocks * side * side).map(|i| value(i % (side * side)));
                    values.map(|value| value as i16).collect()
                };
                let photo = make(&mut |i| random() % 401 / (1 + i as i32) - 20);
                let flat = make(&mut |i| if i < side { random() } else { 0 });
                let wild = make(&mut |_| random());
                for (coefficients, factors) in [(photo, &modest), (flat, &modest), (wild, &absurd)]
                {
                    let twin = rows_on(Level::Baseline, side, &coefficients, factors);
                    for level in levels() {
                        let fast = rows_on(level, side, &coefficients, factors);
                        assert_eq!(fast, twin, "{level:?}: {blocks} blocks to {side}×{side}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_lies_between_the_rows_stays_as_it_is() {
        let mut random = noise();
        let factors = [1; 64];
        for side in [1, 2, 4, 8] {
            for blocks in [1, 2, 3, 9] {
                let (width, line) = (blocks * side, blocks * side + 5);
                let coefficients: Vec<i16> =
                    (0..width * side).map(|_| (random() % 99) as i16).collect();
                for level in levels() {
                    let apart = rows_on(level, side, &coefficients, &factors);
                    let mut rows = vec![77; (side - 1) * line + width];
                    // SAFETY: `levels` returns only levels that the processor supports.
                    unsafe {
                        blocks_to_rows_on(level, side, &coefficients, &factors, &mut rows, line);
                    }
                    for (row, apart) in rows.chunks(line).zip(apart.chunks(width)) {
                        assert_eq!(&row[..width], apart, "{level:?}: {blocks} of {side}×{side}");
                        assert!(row[width..].iter().all(|&sample| sample == 77));
                    }
                }
            }
        }
    }

    #[test]
    fn absurd_coefficients_of_corrupt_files_do_not_overflow() {
        for side in [1, 2, 4, 8] {
            for level in levels() {
                rows_on(level, side, &vec![i16::MIN; side * side], &[65535; 64]);
            }
        }
    }
}
