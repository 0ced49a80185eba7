//! Inverse DCTs that make small pictures of 8×8 blocks: the N×N transform of the lowest N×N frequencies.
//!
//! With JPEG's scaling (T.81, A.3.3) the orthonormal N×N inverse transform times N/8 keeps the mean of
//! a block. For N = 1 that is the DC coefficient / 8, for N = 2 sums and differences / 8.

/// √2·cos(π/8) and √2·cos(3π/8) with 13 fractional bits.
const COS1: i32 = 10703;
const COS3: i32 = 4433;

/// Makes samples of one row of blocks.
///
/// - `side`: samples per block side, 1, 2 or 4 (N).
/// - `coefficients`: N² per block, quantised, row-major by vertical then horizontal frequency.
/// - `factors`: the quantisation factors in the same order (the first N² count).
/// - `rows`: N rows one after the other, each N × the number of blocks long.
///
/// Error against the exact transform: at most 1 level.
///
/// # Panics
/// When the slices do not fit each other or `side` is none of 1, 2, 4: a bug of the caller.
pub fn blocks_to_rows(side: usize, coefficients: &[i16], factors: &[i32; 16], rows: &mut [u8]) {
    assert!(matches!(side, 1 | 2 | 4), "an inverse DCT to {side}×{side}");
    assert_eq!(coefficients.len(), rows.len(), "coefficients and samples of {side}×{side} blocks");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was just detected.
        unsafe { blocks_to_rows_avx2(side, coefficients, factors, rows) };
        return;
    }
    blocks_to_rows_scalar(side, coefficients, factors, rows);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn blocks_to_rows_avx2(side: usize, coefficients: &[i16], factors: &[i32; 16], rows: &mut [u8]) {
    blocks_to_rows_scalar(side, coefficients, factors, rows);
}

#[inline(always)]
fn blocks_to_rows_scalar(side: usize, coefficients: &[i16], factors: &[i32; 16], rows: &mut [u8]) {
    match side {
        1 => to_1x1(coefficients, factors[0], rows),
        2 => to_2x2(coefficients, factors, rows),
        _ => to_4x4(coefficients, factors, rows),
    }
}

#[inline(always)]
fn to_1x1(coefficients: &[i16], factor: i32, row: &mut [u8]) {
    for (sample, &dc) in row.iter_mut().zip(coefficients) {
        *sample = level(i32::from(dc).wrapping_mul(factor), 3);
    }
}

#[inline(always)]
fn to_2x2(coefficients: &[i16], factors: &[i32; 16], rows: &mut [u8]) {
    let (top, bottom) = rows.split_at_mut(rows.len() / 2);
    let pairs = top.chunks_exact_mut(2).zip(bottom.chunks_exact_mut(2));
    for (block, (top, bottom)) in coefficients.chunks_exact(4).zip(pairs) {
        let c: [i32; 4] = std::array::from_fn(|i| i32::from(block[i]).wrapping_mul(factors[i]));
        let (left, right) = (c[0].wrapping_add(c[1]), c[0].wrapping_sub(c[1]));
        let (down_left, down_right) = (c[2].wrapping_add(c[3]), c[2].wrapping_sub(c[3]));
        top[0] = level(left.wrapping_add(down_left), 3);
        top[1] = level(right.wrapping_add(down_right), 3);
        bottom[0] = level(left.wrapping_sub(down_left), 3);
        bottom[1] = level(right.wrapping_sub(down_right), 3);
    }
}

#[inline(always)]
fn to_4x4(coefficients: &[i16], factors: &[i32; 16], rows: &mut [u8]) {
    let line = rows.len() / 4;
    let (upper, lower) = rows.split_at_mut(2 * line);
    let (row0, row1) = upper.split_at_mut(line);
    let (row2, row3) = lower.split_at_mut(line);
    let samples = row0
        .chunks_exact_mut(4)
        .zip(row1.chunks_exact_mut(4))
        .zip(row2.chunks_exact_mut(4).zip(row3.chunks_exact_mut(4)));
    for (block, ((row0, row1), (row2, row3))) in coefficients.chunks_exact(16).zip(samples) {
        let row = |v: usize| -> [i32; 4] {
            std::array::from_fn(|u| i32::from(block[4 * v + u]).wrapping_mul(factors[4 * v + u]))
        };
        // Down the columns, keeping 2 fractional bits; then along the rows.
        let columns = idct4([row(0), row(1), row(2), row(3)], 11);
        let lines = idct4(transpose(columns), 18 - 3);
        let samples = transpose(lines);
        row0.copy_from_slice(&samples[0].map(|x| level(x, 3)));
        row1.copy_from_slice(&samples[1].map(|x| level(x, 3)));
        row2.copy_from_slice(&samples[2].map(|x| level(x, 3)));
        row3.copy_from_slice(&samples[3].map(|x| level(x, 3)));
    }
}

/// Four 4-point inverse DCTs side by side, unnormalised (a constant c comes out as c), the 13
/// fractional bits of the constants cut down by `shift`.
#[inline(always)]
fn idct4(rows: [[i32; 4]; 4], shift: u32) -> [[i32; 4]; 4] {
    let mut out = [[0; 4]; 4];
    for lane in 0..4 {
        let [a, b, c, d] = [rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane]];
        let even0 = a.wrapping_add(c).wrapping_shl(13);
        let even1 = a.wrapping_sub(c).wrapping_shl(13);
        let odd0 = b.wrapping_mul(COS1).wrapping_add(d.wrapping_mul(COS3));
        let odd1 = b.wrapping_mul(COS3).wrapping_sub(d.wrapping_mul(COS1));
        let round = 1 << (shift - 1);
        out[0][lane] = even0.wrapping_add(odd0).wrapping_add(round) >> shift;
        out[1][lane] = even1.wrapping_add(odd1).wrapping_add(round) >> shift;
        out[2][lane] = even1.wrapping_sub(odd1).wrapping_add(round) >> shift;
        out[3][lane] = even0.wrapping_sub(odd0).wrapping_add(round) >> shift;
    }
    out
}

#[inline(always)]
fn transpose(m: [[i32; 4]; 4]) -> [[i32; 4]; 4] {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

/// A level-shifted sample: `value` / 2^`shift`, rounded, around 128.
#[inline(always)]
fn level(value: i32, shift: u32) -> u8 {
    ((value.wrapping_add(1 << (shift - 1)) >> shift).wrapping_add(128)).clamp(0, 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact transform, term by term.
    fn exact(side: usize, coefficients: &[f64]) -> Vec<f64> {
        let n = side as f64;
        let norm = |u: usize| if u == 0 { (1.0 / n).sqrt() } else { (2.0 / n).sqrt() };
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
    fn every_size_is_within_one_level_of_the_exact_transform_on_every_path() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as i32
        };
        for side in [1usize, 2, 4] {
            let count = side * side;
            let blocks = 37;
            let factors: [i32; 16] = std::array::from_fn(|_| 1 + random() % 30);
            let coefficients: Vec<i16> = (0..blocks * count)
                .map(|i| (random() % if i % count == 0 { 60 } else { 9 } - if i % count == 0 { 30 } else { 4 }) as i16)
                .collect();
            for path in [blocks_to_rows, blocks_to_rows_scalar] {
                let mut rows = vec![0; blocks * count];
                path(side, &coefficients, &factors, &mut rows);
                for (b, block) in coefficients.chunks(count).enumerate() {
                    let values: Vec<f64> =
                        block.iter().zip(&factors).map(|(&c, &q)| f64::from(c) * f64::from(q)).collect();
                    for (i, want) in exact(side, &values).into_iter().enumerate() {
                        let got = rows[(i / side) * blocks * side + b * side + i % side];
                        assert!((f64::from(got) - want).abs() <= 1.0, "{side}: {got} for {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn absurd_coefficients_of_corrupt_files_do_not_overflow() {
        for side in [1, 2, 4] {
            let mut rows = vec![0; side * side];
            blocks_to_rows(side, &vec![i16::MIN; side * side], &[65535; 16], &mut rows);
        }
    }
}
