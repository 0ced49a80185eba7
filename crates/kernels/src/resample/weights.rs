//! The weights of input samples in each result sample, along one axis.

use super::kernel::{Curve, DENSITY};
use super::{Kernel, Resampled};
use crate::cpu::with_modern_instructions;

/// The weights of input samples in each result sample, along one axis. Created once per (input, output, kernel) and
/// shared by all planes of that shape.
#[derive(Clone, Debug)]
pub struct Weights<S: Resampled> {
    /// Index of the first input sample of each result sample. Never decreases from one to the next.
    pub(super) starts: Vec<u32>,
    /// Number of weights per result sample, a multiple of [`GROUP`]. Result samples that fewer input samples contribute
    /// to have zeros at the end of their weights.
    pub(super) taps: usize,
    /// The weights, `taps` per result sample.
    pub(super) values: Vec<S::Weight>,
    /// Number of input samples.
    pub(super) input: usize,
    #[cfg(target_arch = "x86_64")]
    pub(super) layouts: super::layout::Layouts<S>,
}

/// Where the result samples lie on the input, in units of input samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Number of input samples, at least 1.
    pub input: u32,
    /// The left edge of the first result sample.
    pub left: f64,
    /// Length of the input that all result samples together cover. Beyond the end of the input, its last sample is
    /// repeated.
    pub length: f64,
    /// Number of result samples, at least 1.
    pub output: u32,
}

/// The number of weights of each result sample is padded with zeros to a multiple of this number.
pub(super) const GROUP: usize = 8;

impl<S: Resampled> Weights<S> {
    /// Computes the weights of a kernel. The kernel is cut off at the ends of the input, or at the end of the span if
    /// that is farther, and the remaining weights are normalised.
    ///
    /// Returns `None` if `span` has no input or no output.
    #[must_use]
    pub fn new(span: Span, kernel: Kernel) -> Option<Self> {
        if span.input == 0 || span.output == 0 {
            return None;
        }
        Some(with_modern_instructions(
            #[inline(always)]
            || Self::made(span, kernel),
        ))
    }

    #[inline(always)]
    fn made(span: Span, kernel: Kernel) -> Self {
        let windows = Windows::new(span, kernel);
        // Plain loops instead of iterator methods, because the compiler does not vectorise calls that it does not
        // inline.
        let mut widest = 1;
        for i in 0..span.output {
            widest = widest.max(windows.at(i).count());
        }
        let taps = widest.next_multiple_of(GROUP);
        let mut weights = Self {
            starts: Vec::with_capacity(span.output as usize),
            taps,
            values: vec![S::Weight::default(); span.output as usize * taps],
            input: span.input as usize,
            #[cfg(target_arch = "x86_64")]
            layouts: super::layout::Layouts::default(),
        };
        let mut row = vec![0.0; taps];
        for (i, values) in (0..span.output).zip(weights.values.chunks_exact_mut(taps)) {
            let window = windows.at(i);
            weights.starts.push(window.first.min(windows.last) as u32);
            windows.weigh(&window, kernel.curve(), &mut row);
            let most = (window.end.min(windows.last) - window.first).max(0.0);
            let middle = (window.centre - window.first).clamp(0.0, most);
            S::round_weights(&row, (middle + 0.5) as usize, values);
        }
        weights
    }

    /// Returns the number of result samples.
    #[must_use]
    pub fn output(&self) -> usize {
        self.starts.len()
    }

    /// Returns the index of the first input sample of result sample `index`, and its weights, including the zeros at
    /// their end.
    pub(super) fn of(&self, index: usize) -> (usize, &[S::Weight]) {
        (
            self.starts[index] as usize,
            &self.values[index * self.taps..(index + 1) * self.taps],
        )
    }

    /// Returns the index of the first input sample of result sample `index`, and its weights without the zeros at their
    /// end.
    pub(super) fn trimmed(&self, index: usize) -> (usize, &[S::Weight]) {
        let (start, weights) = self.of(index);
        let none = S::Weight::default();
        let last = weights.iter().rposition(|&weight| weight != none);
        (start, &weights[..=last.unwrap_or(0)])
    }
}

/// Determines the input samples from which each result sample is computed.
struct Windows {
    left: f64,
    /// Number of input samples per result sample.
    step: f64,
    /// How far the kernel reaches to each side, in input samples.
    support: f64,
    /// Samples of the kernel's curve table per input sample.
    density: f64,
    /// Index of the last input sample.
    last: f64,
    /// Index of the last sample for which a weight is computed. If that is beyond `last`, the last input sample gets
    /// the weights of the missing ones, too, as if it were repeated.
    reach: f64,
}

/// The input samples that a result sample is computed from: `first` to `end`, both included.
struct Window {
    centre: f64,
    first: f64,
    end: f64,
}

impl Window {
    #[inline(always)]
    fn count(&self) -> usize {
        (self.end - self.first) as usize + 1
    }
}

impl Windows {
    fn new(span: Span, kernel: Kernel) -> Self {
        let step = span.length / f64::from(span.output);
        Self {
            left: span.left,
            step,
            support: kernel.support() * step.max(1.0),
            density: DENSITY / step.max(1.0),
            last: f64::from(span.input) - 1.0,
            reach: (span.left + span.length).ceil().max(f64::from(span.input)) - 1.0,
        }
    }

    #[inline(always)]
    fn at(&self, result: u32) -> Window {
        let centre = self.left + (f64::from(result) + 0.5) * self.step - 0.5;
        let first = (centre - self.support).ceil().clamp(0.0, self.reach);
        let end = (centre + self.support).floor().clamp(first, self.reach);
        Window { centre, first, end }
    }

    /// Computes the weights of a window, which sum to one. The rest of `row` becomes zeros.
    #[inline(always)]
    fn weigh(&self, window: &Window, curve: &Curve, row: &mut [f64]) {
        let &Window { centre, first, end } = window;
        let mut at = first - centre;
        for four in row.as_chunks_mut::<4>().0 {
            *four = curve.at([0.0, 1.0, 2.0, 3.0].map(|k| (at + k) * self.density));
            at += 4.0;
        }
        // Samples beyond the end of the input do not exist, or repeat its last sample.
        if end == self.reach {
            row[window.count()..].fill(0.0);
        }
        if end > self.last {
            let there = (self.last - first).max(0.0) as usize;
            row[there] = row[there..].iter().sum();
            row[there + 1..].fill(0.0);
        }
        let mut sums = [0.0; 4];
        for four in row.as_chunks::<4>().0 {
            for (sum, weight) in sums.iter_mut().zip(four) {
                *sum += weight;
            }
        }
        let norm = 1.0 / ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        for weight in row {
            *weight *= norm;
        }
    }
}
