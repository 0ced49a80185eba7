//! Forward DCT of 8×8 blocks with quantisation, as needed by an encoder.
//!
//! The transform is libjpeg's accurate integer one (`islow`), whose coefficients are eight times those of T.81. Each
//! coefficient is divided by its quantisation step and rounded with a given offset. Below a threshold, which may differ
//! from block to block, it becomes zero.
//!
//! The results (levels) are stored column by column: horizontal frequency `u` and vertical frequency `v` at `8 u + v`.
//! They are output as [`symbols`](crate::symbols).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::cpu::Level;
use crate::idct::full::{
    BITS, INNER, OUTER, PART_0, PART_1, PART_2, PART_3, SUMS_02, SUMS_13, transpose,
};
use crate::symbols::Row;

/// How the coefficients of one frequency are quantised to levels (whole multiples of `size`). `rounding`, `threshold`
/// and `slope` are fractions of `size`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The quantisation step as stored in the file, 1 to 255.
    pub size: u8,
    /// Fraction of `size` that is added to a coefficient's magnitude before it is truncated to a whole level. 0.5
    /// rounds to the nearest.
    pub rounding: f32,
    /// Coefficients whose magnitude is less than this fraction of `size` become 0 in a block of strength 0. Strength is
    /// a number that the caller gives for each block.
    pub threshold: f32,
    /// How much `threshold` grows, linearly, from a block strength of 0 to one of 65536. Strength is a number that the
    /// caller gives for each block.
    pub slope: f32,
}

/// The [`Step`]s of all frequencies, multiplied by 8 because the coefficients of the transform are eight times those
/// of T.81. They are listed column by column: horizontal frequency `u` and vertical frequency `v` at `8 u + v`.
#[derive(Clone, Debug)]
pub struct Quantiser {
    rounding: [u16; 64],
    /// 2¹⁶⁺ⁿ / (8 × [`Step::size`]), rounded up, where n is chosen so that the result just fits 16 bits.
    reciprocals: [u16; 64],
    /// 2¹⁶⁻ⁿ, with the n of `reciprocals`.
    scales: [u16; 64],
    thresholds: [u16; 64],
    slopes: [u16; 64],
}

impl Quantiser {
    /// Creates a quantiser from steps that are listed column by column: horizontal frequency `u` and vertical frequency
    /// `v` at `8 u + v`. Each step's `rounding`, `threshold` and `slope` are clamped to 0 to 4.
    #[must_use]
    pub fn new(steps: &[Step; 64]) -> Self {
        let divisors = steps.map(|step| 8 * u32::from(step.size.max(1)));
        let part = |k: usize, of: f32| (of.clamp(0.0, 4.0) * divisors[k] as f32).round() as u16;
        let shifts = divisors.map(|divisor| (divisor - 1).ilog2());
        Self {
            rounding: std::array::from_fn(|k| part(k, steps[k].rounding)),
            reciprocals: std::array::from_fn(|k| {
                (1u32 << (16 + shifts[k])).div_ceil(divisors[k]) as u16
            }),
            scales: shifts.map(|shift| 1 << (16 - shift)),
            thresholds: std::array::from_fn(|k| part(k, steps[k].threshold)),
            slopes: std::array::from_fn(|k| part(k, steps[k].slope)),
        }
    }
}

/// Transforms one row of blocks to symbols and returns the number of symbols.
///
/// - `rows`: 8 rows of samples one after the other, each 8 × the number of blocks long.
/// - `strengths`: one per block, by which its thresholds grow (see `Step::slope`).
///
/// # Panics
/// If the lengths of the slices do not match, which is a bug in the caller.
pub fn rows_to_symbols(
    rows: &[u8],
    quantiser: &Quantiser,
    strengths: &[u16],
    to: &mut Row<'_>,
) -> usize {
    // SAFETY: this processor supports its best level.
    unsafe { rows_to_symbols_on(Level::best(), rows, quantiser, strengths, to) }
}

/// Implements `rows_to_symbols` with the instructions of `level`.
///
/// # Safety
/// The processor must support `level`.
unsafe fn rows_to_symbols_on(
    level: Level,
    rows: &[u8],
    quantiser: &Quantiser,
    strengths: &[u16],
    to: &mut Row<'_>,
) -> usize {
    let blocks = strengths.len();
    assert_eq!(rows.len(), 64 * blocks, "samples of {blocks} blocks");
    assert!(
        to.flat.len() == blocks
            && to.lengths.len() == blocks
            && to.symbols.len() == 64 * blocks
            && to.values.len() == 64 * blocks,
        "the symbols of {blocks} blocks"
    );
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx512 && crate::symbols::avx512::is_there() {
        // SAFETY: the caller guarantees the level, and the other features were just checked.
        return unsafe { avx512::rows_to_symbols(rows, quantiser, strengths, to) };
    }
    let line = 8 * blocks;
    let (mut levels, mut masks) = ([0; 64 * BATCH], [0; BATCH]);
    let mut at = 0;
    for (n, strengths) in strengths.chunks(BATCH).enumerate() {
        let first = n * BATCH;
        let (levels, masks) = (
            &mut levels[..64 * strengths.len()],
            &mut masks[..strengths.len()],
        );
        // SAFETY: the caller guarantees the level.
        unsafe {
            let rows = &rows[8 * first..];
            rows_to_levels_on(level, rows, line, quantiser, strengths, levels, masks);
        }
        at += to.take(first, at, levels, masks);
    }
    at
}

/// Number of blocks that are quantised to levels before these are turned into symbols.
const BATCH: usize = 32;

/// Transforms and quantises some blocks, whose rows of samples begin `line` samples apart. Writes 64 levels per block,
/// and one mask per block, whose bit `k` is set if level `k` is not 0.
///
/// # Safety
/// The processor must support `level`.
unsafe fn rows_to_levels_on(
    level: Level,
    rows: &[u8],
    line: usize,
    quantiser: &Quantiser,
    strengths: &[u16],
    levels: &mut [i16],
    masks: &mut [u64],
) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller guarantees the level.
        Level::Avx2 | Level::Avx512 => unsafe {
            avx2::rows_to_levels(rows, line, quantiser, strengths, levels, masks);
        },
        _ => twin(rows, line, quantiser, strengths, levels, masks),
    }
}

fn twin(
    rows: &[u8],
    line: usize,
    quantiser: &Quantiser,
    strengths: &[u16],
    levels: &mut [i16],
    masks: &mut [u64],
) {
    for (b, (levels, mask)) in levels.chunks_exact_mut(64).zip(masks).enumerate() {
        let samples: [[i32; 8]; 8] = std::array::from_fn(|y| {
            let row = &rows[y * line + 8 * b..][..8];
            std::array::from_fn(|x| i32::from(row[x]) - 128)
        });
        // First the columns, whose results keep two fractional bits, then the rows.
        let columns = fdct8(samples, BITS - 2, 2);
        let across = fdct8(transpose(columns), BITS + 2, -2);
        *mask = 0;
        for (k, level) in levels.iter_mut().enumerate() {
            let coefficient = across[k / 8][k % 8];
            *level = quantiser.level(k, coefficient, strengths[b]);
            *mask |= u64::from(*level != 0) << k;
        }
    }
}

impl Quantiser {
    /// Quantises coefficient number `k` with 16-bit arithmetic, as the vector versions do.
    fn level(&self, k: usize, coefficient: i32, strength: u16) -> i16 {
        let high = |a: u16, b: u16| ((u32::from(a) * u32::from(b)) >> 16) as u16;
        let strong = coefficient.unsigned_abs() as u16;
        let threshold = self.thresholds[k] + high(self.slopes[k], strength);
        if strong < threshold {
            return 0;
        }
        let rounded = strong.wrapping_add(self.rounding[k]);
        let level = high(high(rounded, self.reciprocals[k]), self.scales[k]) as i16;
        if coefficient < 0 { -level } else { level }
    }
}

/// Eight 8-point forward DCTs side by side. Results that are sums of products are shifted right by `shift` bits.
/// Results that are plain sums (frequencies 0 and 4) are shifted left by `whole` bits, or right if it is negative.
/// Right shifts round.
fn fdct8(x: [[i32; 8]; 8], shift: u32, whole: i32) -> [[i32; 8]; 8] {
    let mut out = [[0; 8]; 8];
    let dot = |factors: [i32; 2], a: i32, b: i32| factors[0] * a + factors[1] * b;
    let cut = |x: i32| (x + (1 << (shift - 1))) >> shift;
    let scaled = |x: i32| match whole {
        0.. => x << whole,
        _ => (x + (1 << (-whole - 1))) >> -whole,
    };
    for lane in 0..8 {
        let sum = |n: usize| x[n][lane] + x[7 - n][lane];
        let difference = |n: usize| x[n][lane] - x[7 - n][lane];
        let (outer, inner) = (sum(0) + sum(3), sum(1) + sum(2));
        out[0][lane] = scaled(outer + inner);
        out[4][lane] = scaled(outer - inner);
        let (outer, inner) = (sum(0) - sum(3), sum(1) - sum(2));
        out[2][lane] = cut(dot(OUTER, outer, inner));
        out[6][lane] = cut(dot(INNER, outer, inner));
        let [d0, d1, d2, d3] = std::array::from_fn(difference);
        let (a, b) = (d3 + d1, d2 + d0);
        let (for_37, for_15) = (dot(SUMS_02, a, b), dot(SUMS_13, a, b));
        out[7][lane] = cut(dot(PART_0, d3, d0) + for_37);
        out[5][lane] = cut(dot(PART_1, d2, d1) + for_15);
        out[3][lane] = cut(dot(PART_2, d2, d1) + for_37);
        out[1][lane] = cut(dot(PART_3, d3, d0) + for_15);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::Symbol;

    /// Per block: the level of frequency 0, the symbols, and their values.
    type Made = Vec<(i16, Vec<Symbol>, Vec<u8>)>;

    fn symbols_on(level: Level, rows: &[u8], quantiser: &Quantiser, strengths: &[u16]) -> Made {
        assert!(level.is_there());
        let blocks = strengths.len();
        let (mut flat, mut lengths) = (vec![7; blocks], vec![7; blocks]);
        let (mut symbols, mut values) = (vec![Symbol::ZEROS; 64 * blocks], vec![7; 64 * blocks]);
        let mut row = Row {
            flat: &mut flat,
            lengths: &mut lengths,
            symbols: &mut symbols,
            values: &mut values,
        };
        // SAFETY: the caller has checked that the processor supports the level.
        let count = unsafe { rows_to_symbols_on(level, rows, quantiser, strengths, &mut row) };
        let mut at = 0;
        let made = flat.iter().zip(&lengths).map(|(&flat, &length)| {
            let of = at..at + usize::from(length);
            at = of.end;
            (flat, symbols[of.clone()].to_vec(), values[of].to_vec())
        });
        let made = made.collect();
        assert_eq!(at, count);
        made
    }

    fn levels_on(
        level: Level,
        rows: &[u8],
        quantiser: &Quantiser,
        strengths: &[u16],
    ) -> (Vec<i16>, Vec<u64>) {
        assert!(level.is_there());
        let mut levels = vec![7; rows.len()];
        let mut masks = vec![7; strengths.len()];
        // SAFETY: the caller has checked that the processor supports the level.
        unsafe {
            let line = rows.len() / 8;
            rows_to_levels_on(
                level,
                rows,
                line,
                quantiser,
                strengths,
                &mut levels,
                &mut masks,
            );
        }
        (levels, masks)
    }

    /// Returns a generator of pseudo-random 16-bit numbers.
    fn noise() -> impl FnMut() -> u32 {
        let mut state = 1u32;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        }
    }

    /// Samples of `count` blocks: noise, slopes, edges, and waves of the highest possible amplitude.
    fn blocks(count: usize) -> Vec<u8> {
        let mut random = noise();
        let mut rows = vec![0; 64 * count];
        for b in 0..count {
            let (u, v) = (b % 8, b / 8 % 8);
            for y in 0..8 {
                for x in 0..8 {
                    let wave = |x: usize, u: usize| {
                        (std::f64::consts::PI * (2 * x + 1) as f64 * u as f64 / 16.0).cos()
                    };
                    rows[y * 8 * count + 8 * b + x] = match b % 4 {
                        0 => random() as u8,
                        1 => (10 * x + 13 * y + random() as usize % 9) as u8,
                        2 if wave(x, u) * wave(y, v) > 0.0 => 255,
                        2 => 0,
                        _ => 255 * u8::from(x + y > 7),
                    };
                }
            }
        }
        rows
    }

    fn steps(of: impl Fn(usize) -> u8) -> [Step; 64] {
        std::array::from_fn(|k| Step {
            size: of(k),
            rounding: 0.5 - k as f32 / 300.0,
            threshold: 0.5 + k as f32 / 200.0,
            slope: k as f32 / 60.0,
        })
    }

    #[test]
    fn levels_are_within_one_of_the_exact_transform_and_never_beyond_what_jpeg_codes() {
        let rows = blocks(256);
        for size in [1, 2, 3, 8, 31, 255] {
            let plain = [Step {
                size,
                rounding: 0.5,
                threshold: 0.0,
                slope: 0.0,
            }; 64];
            let quantiser = Quantiser::new(&plain);
            let (levels, masks) = levels_on(Level::Baseline, &rows, &quantiser, &[0; 256]);
            for (b, levels) in levels.chunks(64).enumerate() {
                for (k, &level) in levels.iter().enumerate() {
                    let (u, v) = (k / 8, k % 8);
                    let norm = |u: usize| if u == 0 { 0.125f64.sqrt() } else { 0.5 };
                    let wave = |x: usize, u: usize| {
                        let angle = std::f64::consts::PI * (2 * x + 1) as f64 * u as f64 / 16.0;
                        norm(u) * angle.cos()
                    };
                    let mut want = 0.0;
                    for y in 0..8 {
                        for x in 0..8 {
                            let sample = f64::from(rows[y * 8 * 256 + 8 * b + x]) - 128.0;
                            want += sample * wave(x, u) * wave(y, v);
                        }
                    }
                    want /= f64::from(size);
                    assert!((f64::from(level) - want).abs() < 0.8, "{level} for {want}");
                    assert!(level.unsigned_abs() <= if k == 0 { 1024 } else { 1023 });
                    assert_eq!(masks[b] >> k & 1 == 1, level != 0);
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_equals_the_twin_bit_for_bit() {
        for count in [1, 2, 3, 8, 255] {
            let rows = blocks(count);
            let mut random = noise();
            let strengths: Vec<u16> = (0..count).map(|_| random() as u16).collect();
            for size in [|_| 1, |k| 1 + 4 * k as u8, |k| 16 + (k % 7) as u8 * 8] {
                let quantiser = Quantiser::new(&steps(size));
                let twin = levels_on(Level::Baseline, &rows, &quantiser, &strengths);
                let symbols = symbols_on(Level::Baseline, &rows, &quantiser, &strengths);
                for level in Level::ALL.into_iter().filter(|level| level.is_there()) {
                    let fast = levels_on(level, &rows, &quantiser, &strengths);
                    assert!(fast == twin, "{level:?}: {count} blocks");
                    let fast = symbols_on(level, &rows, &quantiser, &strengths);
                    for (block, (fast, twin)) in fast.iter().zip(&symbols).enumerate() {
                        assert_eq!(fast, twin, "{level:?}: block {block} of {count}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_weaker_than_the_threshold_of_its_block_is_nothing() {
        let mut rows = [128u8; 128];
        // A wave of vertical frequency 0 and horizontal frequency 4, of strength 8 · 4.
        for (n, sample) in rows.iter_mut().enumerate() {
            *sample = if matches!(n % 4, 0 | 3) { 132 } else { 124 };
        }
        let step = Step {
            size: 20,
            rounding: 0.5,
            threshold: 1.0,
            slope: 1.0,
        };
        let quantiser = Quantiser::new(&[step; 64]);
        let (levels, masks) = levels_on(Level::Baseline, &rows, &quantiser, &[30_000, 50_000]);
        assert_eq!((levels[32], levels[64 + 32]), (2, 0));
        assert_eq!(masks, [1 << 32, 0]);
    }
}
