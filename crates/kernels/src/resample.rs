//! Separable resampling of one 8-bit plane: down the columns first, then along the row, one result row
//! at a time, so that what passes between the two stays in the L1 cache.
//!
//! Weights have 14 fractional bits and sum to exactly one; between the passes samples keep 6 fractional
//! bits in 16. Error against the exact convolution: at most 1 level for kernels whose absolute weights
//! sum to 2 or less.

use std::ops::Range;

/// What each result sample weighs along one axis. Made once per (input, output, filter) and shared by
/// all planes of that shape.
#[derive(Clone, Debug)]
pub struct Weights {
    /// The first input sample of each result sample.
    starts: Vec<u32>,
    /// Weights per result sample, a multiple of [`GROUP`]; zero where a window is shorter.
    taps: usize,
    /// `taps` per result sample.
    values: Vec<i16>,
    /// Input samples that are read.
    input: usize,
}

/// Where result samples lie on the input, in input samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Input samples there are; at least 1.
    pub input: u32,
    /// The left edge of the first result sample.
    pub left: f64,
    /// What all result samples together cover. What lies beyond the input repeats its last sample.
    pub length: f64,
    /// Result samples; at least 1.
    pub output: u32,
}

/// Weights are summed 8 at a time.
const GROUP: usize = 8;

/// Fractional bits of weights.
const WEIGHT_BITS: u32 = 14;

/// Fractional bits of samples between the passes: 8 + 6 leave room for a kernel's overshoot.
const BETWEEN_BITS: u32 = 6;

impl Weights {
    /// Weights of a symmetric filter that reaches `support` result samples to each side (input samples
    /// when enlarging). Windows are cut off at the input's ends and weighed anew.
    ///
    /// # Panics
    /// When `span` has no input or no output: a bug of the caller.
    #[must_use]
    pub fn new(span: Span, support: f64, filter: impl Fn(f64) -> f64) -> Self {
        assert!(span.input > 0 && span.output > 0, "weights for {span:?}");
        let step = span.length / f64::from(span.output);
        let scale = step.max(1.0);
        let last = f64::from(span.input) - 1.0;
        let reach = (span.left + span.length).ceil().max(f64::from(span.input)) - 1.0;
        let windows: Vec<_> = (0..span.output)
            .map(|i| {
                let centre = span.left + (f64::from(i) + 0.5) * step - 0.5;
                let first = (centre - support * scale).ceil().clamp(0.0, reach);
                let end = (centre + support * scale).floor().clamp(first, reach);
                (centre, first, end)
            })
            .collect();
        let widest = windows
            .iter()
            .map(|(_, first, end)| (end - first) as usize + 1)
            .max();
        let taps = widest.unwrap_or(1).next_multiple_of(GROUP);
        let mut weights = Self {
            starts: Vec::with_capacity(windows.len()),
            taps,
            values: Vec::with_capacity(windows.len() * taps),
            input: span.input as usize,
        };
        let mut window = vec![0.0; taps];
        for (centre, first, end) in windows {
            let start = first.min(last);
            window.fill(0.0);
            let mut at = first;
            while at <= end {
                window[(at.min(last) - start) as usize] += filter((at - centre) / scale);
                at += 1.0;
            }
            weights.starts.push(start as u32);
            push_normalised(&mut weights.values, &window);
        }
        weights
    }

    /// Result samples.
    #[must_use]
    pub fn output(&self) -> usize {
        self.starts.len()
    }

    /// The weights of result sample `index`, zeros at their end included, and where they begin.
    fn of(&self, index: usize) -> (usize, &[i16]) {
        (
            self.starts[index] as usize,
            &self.values[index * self.taps..(index + 1) * self.taps],
        )
    }
}

/// Rounds weights so that they sum to one exactly: what rounding lost goes to the largest.
fn push_normalised(values: &mut Vec<i16>, window: &[f64]) {
    let one = f64::from(1 << WEIGHT_BITS);
    let sum: f64 = window.iter().sum();
    let from = values.len();
    values.extend(window.iter().map(|w| (w / sum * one).round() as i16));
    let rounded: i32 = values[from..].iter().map(|&w| i32::from(w)).sum();
    let largest = (from..values.len())
        .max_by_key(|&i| values[i])
        .unwrap_or(from);
    values[largest] += ((1 << WEIGHT_BITS) - rounded) as i16;
}

/// An 8-bit plane, or a window of one.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its samples from the window's first on.
    pub samples: &'a [u8],
    /// Samples from one row to the next.
    pub stride: usize,
    /// Rows of the window.
    pub height: usize,
}

/// Makes result rows `rows` of a plane: `out` holds just those, each `x.output()` long.
///
/// # Panics
/// When the source is smaller than the weights read, or `out` does not fit: bugs of the caller.
pub fn rows(source: Source<'_>, x: &Weights, y: &Weights, rows: Range<usize>, out: &mut [u8]) {
    assert!(
        source.stride >= x.input && source.height >= y.input,
        "a source smaller than its weights"
    );
    assert!(
        source.samples.len() >= (source.height - 1) * source.stride + x.input,
        "a source cut short"
    );
    assert_eq!(out.len(), rows.len() * x.output(), "the result's samples");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was just detected.
        unsafe { avx2::rows(source, x, y, rows, out) };
        return;
    }
    rows_scalar(source, x, y, rows, out);
}

fn rows_scalar(source: Source<'_>, x: &Weights, y: &Weights, rows: Range<usize>, out: &mut [u8]) {
    let mut between = vec![0; x.input + x.taps];
    for (row, out) in rows.zip(out.chunks_exact_mut(x.output())) {
        down_scalar(source, y, row, 0..x.input, &mut between);
        along_scalar(&between, x, 0..x.output(), out);
    }
}

/// Weighs the columns `columns` for result row `row`.
fn down_scalar(
    source: Source<'_>,
    y: &Weights,
    row: usize,
    columns: Range<usize>,
    between: &mut [i16],
) {
    let (start, weights) = y.of(row);
    for column in columns {
        let mut sum = 1 << (WEIGHT_BITS - BETWEEN_BITS - 1);
        for (&weight, input) in weights.iter().zip(start..y.input) {
            let sample = source.samples[input * source.stride + column];
            sum += i32::from(weight) * i32::from(sample);
        }
        between[column] = saturate(sum >> (WEIGHT_BITS - BETWEEN_BITS));
    }
}

/// Weighs a row for its result samples `results`. `between` has `x.taps` samples beyond the input.
fn along_scalar(between: &[i16], x: &Weights, results: Range<usize>, out: &mut [u8]) {
    for result in results {
        let (start, weights) = x.of(result);
        let mut sum = 1 << (WEIGHT_BITS + BETWEEN_BITS - 1);
        for (&weight, &sample) in weights.iter().zip(&between[start..]) {
            sum += i32::from(weight) * i32::from(sample);
        }
        out[result] = (sum >> (WEIGHT_BITS + BETWEEN_BITS)).clamp(0, 255) as u8;
    }
}

fn saturate(x: i32) -> i16 {
    x.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;
    use std::ops::Range;

    use super::{BETWEEN_BITS, GROUP, Source, WEIGHT_BITS, Weights, along_scalar, down_scalar};

    #[target_feature(enable = "avx2")]
    pub(super) fn rows(
        source: Source<'_>,
        x: &Weights,
        y: &Weights,
        rows: Range<usize>,
        out: &mut [u8],
    ) {
        let mut between = vec![0; x.input + x.taps];
        let weights = interleaved(x);
        let mut pairs = Vec::with_capacity(y.taps / 2);
        for (row, out) in rows.zip(out.chunks_exact_mut(x.output())) {
            pair_rows(source, y, row, &mut pairs);
            let whole = x.input / 32 * 32;
            // SAFETY: `pair_rows` gives offsets of rows that `super::rows` found inside the source, each
            // with `x.input` samples or more, and `between` is longer than that.
            unsafe { down(source.samples, &pairs, &mut between[..whole]) };
            down_scalar(source, y, row, whole..x.input, &mut between);
            // SAFETY: every start is an input sample, and `between` has `x.taps` beyond the input.
            unsafe { along(&between, x, &weights, out) };
            along_scalar(&between, x, x.output() / 8 * 8..x.output(), out);
        }
    }

    /// Two source rows and their weights.
    struct RowPair {
        /// Where the rows begin in the source's samples.
        first: usize,
        second: usize,
        /// The first row's weight in the lower 16 bits, the second's in the upper.
        weights: i32,
    }

    /// The source rows that make result row `row`, two by two. An odd last one is paired with itself,
    /// weighed 0.
    fn pair_rows(source: Source<'_>, y: &Weights, row: usize, pairs: &mut Vec<RowPair>) {
        let (start, weights) = y.of(row);
        let last = weights.iter().rposition(|&w| w != 0).unwrap_or(0);
        pairs.clear();
        pairs.extend(weights[..=last].chunks(2).zip((start..).step_by(2)).map(
            |(weights, input)| {
                let second = weights.get(1).copied().unwrap_or(0);
                RowPair {
                    first: input * source.stride,
                    second: (input + usize::from(weights.len() > 1)) * source.stride,
                    weights: i32::from(second) << 16 | i32::from(weights[0]) & 0xffff,
                }
            },
        ));
    }

    /// 32 columns at a time; two rows a step, by sums of products of 16-bit pairs.
    ///
    /// # Safety
    /// Each pair's rows must have `between.len()` samples, which is a multiple of 32.
    #[target_feature(enable = "avx2")]
    unsafe fn down(samples: &[u8], pairs: &[RowPair], between: &mut [i16]) {
        let round = _mm256_set1_epi32(1 << (WEIGHT_BITS - BETWEEN_BITS - 1));
        let zero = _mm256_setzero_si256();
        for (index, between) in between.chunks_exact_mut(32).enumerate() {
            // SAFETY: the caller vouches for 32 samples from here in every row.
            let column = unsafe { samples.as_ptr().add(32 * index) };
            let mut sums = [round; 4];
            for pair in pairs {
                let weights = _mm256_set1_epi32(pair.weights);
                // SAFETY: as above.
                let (a, b) = unsafe {
                    (
                        _mm256_loadu_si256(column.add(pair.first).cast()),
                        _mm256_loadu_si256(column.add(pair.second).cast()),
                    )
                };
                let (low, high) = (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b));
                let quarters = [
                    _mm256_unpacklo_epi8(low, zero),
                    _mm256_unpackhi_epi8(low, zero),
                    _mm256_unpacklo_epi8(high, zero),
                    _mm256_unpackhi_epi8(high, zero),
                ];
                for (sum, quarter) in sums.iter_mut().zip(quarters) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(quarter, weights));
                }
            }
            let cut =
                sums.map(|sum| _mm256_srai_epi32::<{ (WEIGHT_BITS - BETWEEN_BITS) as i32 }>(sum));
            // Each 128-bit lane holds 16 columns in order: (0–7, 8–15) and (16–23, 24–31).
            let low = _mm256_packs_epi32(cut[0], cut[1]);
            let high = _mm256_packs_epi32(cut[2], cut[3]);
            // SAFETY: the chunk is 32 i16, 64 bytes.
            unsafe {
                let to = between.as_mut_ptr().cast::<__m256i>();
                _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(low, high));
                _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x31>(low, high));
            }
        }
    }

    /// The weights in the order in which [`along`] reads them: for each 8 results, for each group of 8
    /// weights, results 0 and 4 side by side, then 1 and 5, 2 and 6, 3 and 7.
    fn interleaved(x: &Weights) -> Vec<i16> {
        let mut values = Vec::with_capacity(x.values.len());
        for eight in x.values.chunks_exact(8 * x.taps) {
            for group in (0..x.taps).step_by(GROUP) {
                for result in 0..4 {
                    for result in [result, result + 4] {
                        let from = result * x.taps + group;
                        values.extend_from_slice(&eight[from..from + GROUP]);
                    }
                }
            }
        }
        values
    }

    /// 8 results at a time, two in each register; those after the last whole 8 are left.
    ///
    /// # Safety
    /// `between` must have `x.taps` samples from every start on.
    #[target_feature(enable = "avx2")]
    unsafe fn along(between: &[i16], x: &Weights, weights: &[i16], out: &mut [u8]) {
        let round = _mm256_set1_epi32(1 << (WEIGHT_BITS + BETWEEN_BITS - 1));
        let eights = x
            .starts
            .chunks_exact(8)
            .zip(weights.chunks_exact(8 * x.taps));
        for ((starts, weights), out) in eights.zip(out.chunks_exact_mut(8)) {
            let mut sums = [_mm256_setzero_si256(); 4];
            for (group, weights) in weights.chunks_exact(8 * GROUP).enumerate() {
                // SAFETY: the caller vouches for 8 samples from each start and group on.
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
            let sum = _mm256_add_epi32(sum, round);
            let cut = _mm256_srai_epi32::<{ (WEIGHT_BITS + BETWEEN_BITS) as i32 }>(sum);
            let words = _mm256_packs_epi32(cut, cut);
            let bytes = _mm256_packus_epi16(words, words);
            let left = _mm256_extract_epi32::<0>(bytes) as u32;
            let right = _mm256_extract_epi32::<4>(bytes) as u32;
            let both = u64::from(left) | u64::from(right) << 32;
            out.copy_from_slice(&both.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanczos3(x: f64) -> f64 {
        let sinc = |x: f64| {
            if x == 0.0 {
                1.0
            } else {
                (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x)
            }
        };
        if x.abs() < 3.0 {
            sinc(x) * sinc(x / 3.0)
        } else {
            0.0
        }
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 7u32;
        (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect()
    }

    /// Weights of one result sample, term by term.
    fn exact_weights(span: Span, index: u32) -> Vec<f64> {
        let step = span.length / f64::from(span.output);
        let scale = step.max(1.0);
        let centre = span.left + (f64::from(index) + 0.5) * step;
        let beyond = (span.left + span.length).ceil().max(f64::from(span.input)) as u32;
        let mut weights = vec![0.0; span.input as usize];
        for at in 0..beyond {
            weights[at.min(span.input - 1) as usize] +=
                lanczos3((f64::from(at) + 0.5 - centre) / scale);
        }
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect()
    }

    const SPANS: [(Span, Span); 5] = [
        (span(97, 0.0, 97.0, 40), span(61, 0.0, 61.0, 33)),
        (span(120, 3.25, 100.5, 67), span(50, 0.0, 50.5, 9)),
        (span(33, 0.0, 33.5, 17), span(40, 1.5, 37.0, 40)),
        (span(20, 0.0, 20.0, 75), span(1, 0.0, 1.0, 3)),
        (span(300, 0.0, 300.0, 8), span(7, 0.0, 7.0, 7)),
    ];

    const fn span(input: u32, left: f64, length: f64, output: u32) -> Span {
        Span {
            input,
            left,
            length,
            output,
        }
    }

    #[test]
    fn results_are_within_one_level_of_the_exact_convolution() {
        for (across, down) in SPANS {
            let stride = across.input as usize + 5;
            let samples = noise(stride * down.input as usize);
            let source = Source {
                samples: &samples,
                stride,
                height: down.input as usize,
            };
            let (x, y) = (
                Weights::new(across, 3.0, lanczos3),
                Weights::new(down, 3.0, lanczos3),
            );
            let mut out = vec![0; x.output() * y.output()];
            rows(source, &x, &y, 0..y.output(), &mut out);
            for j in 0..down.output {
                for i in 0..across.output {
                    let mut exact = 0.0;
                    for (v, wy) in exact_weights(down, j).iter().enumerate() {
                        for (u, wx) in exact_weights(across, i).iter().enumerate() {
                            exact += wx * wy * f64::from(samples[v * stride + u]);
                        }
                    }
                    let got = f64::from(out[j as usize * x.output() + i as usize]);
                    assert!(
                        (got - exact.clamp(0.0, 255.0)).abs() <= 1.0,
                        "({i}, {j}) of {across:?} × {down:?}: {got} for {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_fast_path_equals_its_scalar_twin_bit_for_bit_in_any_bands() {
        for (across, down) in SPANS {
            let stride = across.input as usize;
            let samples = noise(stride * down.input as usize);
            let source = Source {
                samples: &samples,
                stride,
                height: down.input as usize,
            };
            let (x, y) = (
                Weights::new(across, 3.0, lanczos3),
                Weights::new(down, 3.0, lanczos3),
            );
            let mut twin = vec![0; x.output() * y.output()];
            rows_scalar(source, &x, &y, 0..y.output(), &mut twin);
            let mut fast = vec![0; twin.len()];
            let cut = y.output() / 3;
            let (upper, lower) = fast.split_at_mut(cut * x.output());
            rows(source, &x, &y, 0..cut, upper);
            rows(source, &x, &y, cut..y.output(), lower);
            assert_eq!(fast, twin, "{across:?} × {down:?}");
        }
    }

    #[test]
    fn a_plane_of_one_value_keeps_it() {
        for value in [0, 1, 127, 254, 255] {
            for (across, down) in SPANS {
                let samples = vec![value; (across.input * down.input) as usize];
                let source = Source {
                    samples: &samples,
                    stride: across.input as usize,
                    height: down.input as usize,
                };
                let (x, y) = (
                    Weights::new(across, 3.0, lanczos3),
                    Weights::new(down, 3.0, lanczos3),
                );
                let mut out = vec![0; x.output() * y.output()];
                rows(source, &x, &y, 0..y.output(), &mut out);
                assert!(out.iter().all(|&sample| sample == value), "{value}");
            }
        }
    }
}
