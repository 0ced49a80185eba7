//! What each result sample weighs along one axis.

use super::{Kernel, Resampled};
use crate::cpu::with_modern_instructions;

/// What each result sample weighs along one axis. Made once per (input, output, kernel) and shared by
/// all planes of that shape.
#[derive(Clone, Debug)]
pub struct Weights<S: Resampled> {
    /// The first input sample of each result sample; never falls from one to the next.
    pub(super) starts: Vec<u32>,
    /// Weights per result sample, a multiple of [`GROUP`]; zero where a window is shorter.
    pub(super) taps: usize,
    /// `taps` per result sample.
    pub(super) values: Vec<S::Weight>,
    /// Input samples that are read.
    pub(super) input: usize,
    #[cfg(target_arch = "x86_64")]
    pub(super) layouts: super::layout::Layouts<S>,
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

/// Windows are padded to a multiple of as many weights.
pub(super) const GROUP: usize = 8;

impl<S: Resampled> Weights<S> {
    /// Weights of a kernel. Windows are cut off at the input's ends and weighed anew.
    ///
    /// # Panics
    /// When `span` has no input or no output: a bug of the caller.
    #[must_use]
    pub fn new(span: Span, kernel: Kernel) -> Self {
        assert!(span.input > 0 && span.output > 0, "weights for {span:?}");
        with_modern_instructions(
            #[inline(always)]
            || Self::made(span, kernel),
        )
    }

    #[inline(always)]
    fn made(span: Span, kernel: Kernel) -> Self {
        let (curve, support) = (kernel.curve(), kernel.support());
        let step = span.length / f64::from(span.output);
        let scale = step.max(1.0);
        let last = f64::from(span.input) - 1.0;
        let reach = (span.left + span.length).ceil().max(f64::from(span.input)) - 1.0;
        let window = |i: u32| {
            let centre = span.left + (f64::from(i) + 0.5) * step - 0.5;
            let first = (centre - support * scale).ceil().clamp(0.0, reach);
            let end = (centre + support * scale).floor().clamp(first, reach);
            (centre, first, end)
        };
        let widest = (0..span.output)
            .map(window)
            .map(|(_, first, end)| (end - first) as usize + 1)
            .max();
        let taps = widest.unwrap_or(1).next_multiple_of(GROUP);
        let mut weights = Self {
            starts: Vec::with_capacity(span.output as usize),
            taps,
            values: Vec::with_capacity(span.output as usize * taps),
            input: span.input as usize,
            #[cfg(target_arch = "x86_64")]
            layouts: super::layout::Layouts::default(),
        };
        let mut row = vec![0.0; taps];
        for (centre, first, end) in (0..span.output).map(window) {
            let start = first.min(last);
            row.fill(0.0);
            let count = (end - first) as usize + 1;
            if end <= last {
                for (k, weight) in row[..count].iter_mut().enumerate() {
                    *weight = curve.at((first + k as f64 - centre) / scale);
                }
            } else {
                // Input that is not there repeats the last sample.
                for at in (0..count).map(|k| first + k as f64) {
                    row[(at.min(last) - start) as usize] += curve.at((at - centre) / scale);
                }
            }
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|weight| *weight /= sum);
            weights.starts.push(start as u32);
            S::push_weights(&mut weights.values, &row);
        }
        weights
    }

    /// Result samples.
    #[must_use]
    pub fn output(&self) -> usize {
        self.starts.len()
    }

    /// The weights of result sample `index`, zeros at their end included, and where they begin.
    pub(super) fn of(&self, index: usize) -> (usize, &[S::Weight]) {
        (
            self.starts[index] as usize,
            &self.values[index * self.taps..(index + 1) * self.taps],
        )
    }

    /// The same without the zeros at their end.
    pub(super) fn trimmed(&self, index: usize) -> (usize, &[S::Weight]) {
        let (start, weights) = self.of(index);
        let none = S::Weight::default();
        let last = weights.iter().rposition(|&weight| weight != none);
        (start, &weights[..=last.unwrap_or(0)])
    }
}
