//! The order in which vector kernels go through a plane.
//!
//! A band of result rows is made at a time: block by block of columns, its rows are weighed downwards
//! into a buffer, and then each of them along. Within a block, source rows are first brought to what the
//! downward kernel multiplies (a *step*: a row of floats, or two rows of bytes in 16 bits), once
//! for the some six result rows that need them, in a ring small enough for the L1 cache.

use std::array;
use std::ops::Range;

use super::weights::Weights;
use super::{Resampled, Source};
use crate::cpu::prefetch;

/// The kernels of one sample type at one level.
///
/// Each is called only where the level is there, with slices as long as it says.
pub struct Passes<S: Resampled, B> {
    /// Rows of the source in a step: 1 or 2.
    pub(super) rows_per_step: usize,
    /// Makes a step of these rows, which are as long as each other; the second is the first again where
    /// there is none. The step is as long or longer, a multiple of [`COLUMNS`].
    pub(super) fill: unsafe fn(&[S], &[S], &mut [u32]),
    /// Weighs steps: the ring, where in it each is and its weights, and what comes out, of a length that
    /// is a multiple of [`COLUMNS`] and that every step has.
    ///
    /// Each kernel writes out its loop over columns: a call of a shared one was as long.
    pub(super) down: unsafe fn(&[u32], &[Step], &mut [B]),
    /// Weighs rows of this stride along. Each has [`slack`] samples beyond the input.
    pub(super) along: unsafe fn(&[B], usize, &Weights<S>, &mut [S]),
    /// Packs the weights of a step's rows; the first in the lower bits.
    pub(super) pack: fn(S::Weight, S::Weight) -> u32,
}

/// A step that a result row needs.
pub(super) struct Step {
    /// Where in the ring.
    pub(super) at: usize,
    /// The weights of its rows.
    pub(super) weights: u32,
}

/// Columns are filled and weighed in multiples of as many.
pub(super) const COLUMNS: usize = 32;

/// Samples of a ring, 4 bytes each: most of the L1 cache.
const RING: usize = 8192;

/// Blocks of columns are at least so wide, however many rows are weighed.
const NARROWEST: usize = 128;

/// Samples between the passes: with the rest, half of a small L2 cache.
const BETWEEN: usize = 32 * 1024;

/// Steps that rows are fetched into the near cache ahead of their own: a block's part of a row is too short for the
/// processor to foresee the next one.
const AHEAD: usize = 2;

/// Rows of a band: more do not save anything.
const TALLEST: usize = 32;

/// Samples beyond the input that a row between the passes has: kernels read whole registers.
pub(super) fn slack<S: Resampled>(x: &Weights<S>) -> usize {
    x.taps + 96
}

/// Makes result rows `rows`.
///
/// # Safety
/// The passes' level must be there, and the conditions of [`super::rows_on`] must hold.
pub(super) unsafe fn rows<S: Resampled, B: Copy + Default>(
    passes: &Passes<S, B>,
    source: Source<'_, S>,
    x: &Weights<S>,
    y: &Weights<S>,
    rows: Range<usize>,
    out: &mut [S],
) {
    let stride = x.input.next_multiple_of(COLUMNS) + slack(x);
    let tall = (BETWEEN / stride).clamp(1, TALLEST);
    let room = y.taps / passes.rows_per_step + 1;
    let wide = (RING / room).max(NARROWEST) / NARROWEST * NARROWEST;
    let wide = wide.min(x.input.next_multiple_of(COLUMNS));
    let mut between = vec![B::default(); tall.min(rows.len()) * stride];
    let mut ring = Ring::new(passes, source, wide, room);
    let mut steps = Vec::new();
    let bands = rows.clone().step_by(tall);
    for (band, out) in bands.zip(out.chunks_mut(tall * x.output())) {
        steps.clear();
        let needs: Vec<_> = (band..rows.end.min(band + tall))
            .map(|row| ring.needs(y, row, &mut steps))
            .collect();
        for first in (0..x.input).step_by(wide) {
            let columns = first..x.input.min(first + wide);
            let width = columns.len().next_multiple_of(COLUMNS);
            let mut next = 0;
            for (needs, between) in needs.iter().zip(between.chunks_exact_mut(stride)) {
                for step in needs.first.max(next)..needs.end {
                    // SAFETY: the caller vouches for the level.
                    unsafe { ring.fill(step, columns.clone()) };
                }
                next = next.max(needs.end);
                let between = &mut between[first..first + width];
                // SAFETY: as above; every step is `wide` long, which is not less than `width`.
                unsafe { (passes.down)(&ring.samples, &steps[needs.steps.clone()], between) };
            }
        }
        // SAFETY: as above; rows have the slack.
        unsafe { (passes.along)(&between, stride, x, out) };
    }
}

/// Weighs rows along, `N` at a time, and by themselves those that are left over.
///
/// # Safety
/// As [`Passes::along`] says.
#[inline(always)]
pub(super) unsafe fn along<S: Resampled, B, const N: usize>(
    between: &[B],
    stride: usize,
    x: &Weights<S>,
    out: &mut [S],
    several: Along<S, B, N>,
    single: Along<S, B, 1>,
) {
    let width = x.output();
    let rows = out.len() / width / N * N;
    let (together, alone) = between.split_at(rows * stride);
    let (results, rest) = out.split_at_mut(rows * width);
    let together = together.chunks_exact(N * stride);
    for (rows, out) in together.zip(results.chunks_exact_mut(N * width)) {
        let rows = array::from_fn(|row| rows[row * stride..].as_ptr());
        // SAFETY: the caller vouches for the rows.
        unsafe { several(rows, x, out) };
    }
    for (row, out) in alone.chunks_exact(stride).zip(rest.chunks_exact_mut(width)) {
        // SAFETY: as above.
        unsafe { single([row.as_ptr()], x, out) };
    }
}

/// Weighs `N` rows, given where each begins, along: as many rows of results.
type Along<S, B, const N: usize> = unsafe fn([*const B; N], &Weights<S>, &mut [S]);

/// Steps of a block of columns.
struct Ring<'a, S: Resampled, B> {
    passes: &'a Passes<S, B>,
    source: Source<'a, S>,
    /// Samples of a step, and steps there is room for: as many as the longest window touches. Neither end
    /// of a window is ever before that of an earlier result's, so none is overwritten too soon.
    wide: usize,
    steps: usize,
    samples: Vec<u32>,
    /// Where the first step is: at a cache line's start, or every load would touch two lines.
    start: usize,
}

/// The steps that a result row needs, by their numbers in the source, and where they will be.
struct Needs {
    first: usize,
    end: usize,
    /// In the list of all.
    steps: Range<usize>,
}

/// Samples of a cache line.
const LINE: usize = 16;

impl<'a, S: Resampled, B> Ring<'a, S, B> {
    fn new(passes: &'a Passes<S, B>, source: Source<'a, S>, wide: usize, steps: usize) -> Self {
        let samples = vec![0; steps * wide + LINE];
        let start = samples.as_ptr().align_offset(4 * LINE).min(LINE);
        Self {
            passes,
            source,
            wide,
            steps,
            samples,
            start,
        }
    }

    fn at(&self, step: usize) -> usize {
        self.start + step % self.steps * self.wide
    }

    /// What result row `row` needs; its steps go to the end of `steps`.
    fn needs(&self, y: &Weights<S>, row: usize, steps: &mut Vec<Step>) -> Needs {
        let per = self.passes.rows_per_step;
        let (start, weights) = y.trimmed(row);
        let (first, end) = (start / per, (start + weights.len() - 1) / per + 1);
        let weight = |row: usize| {
            let index = row.checked_sub(start);
            index
                .and_then(|index| weights.get(index).copied())
                .unwrap_or_default()
        };
        let step = |step: usize| Step {
            at: self.at(step),
            weights: (self.passes.pack)(weight(step * per), weight(step * per + per - 1)),
        };
        let begin = steps.len();
        steps.extend((first..end).map(step));
        Needs {
            first,
            end,
            steps: begin..steps.len(),
        }
    }

    /// # Safety
    /// The passes' level must be there.
    unsafe fn fill(&mut self, step: usize, columns: Range<usize>) {
        let per = self.passes.rows_per_step;
        let row = |index: usize| {
            let at = index * self.source.stride;
            &self.source.samples[at + columns.start..at + columns.end]
        };
        let above = row(step * per);
        let below = row((step * per + per - 1).min(self.source.height - 1));
        for index in (step + AHEAD) * per..(step + AHEAD + 1) * per {
            if index < self.source.height {
                prefetch(row(index));
            }
        }
        let at = self.at(step);
        let to = &mut self.samples[at..at + self.wide];
        // SAFETY: the caller vouches for the level; a block is no wider than a step.
        unsafe { (self.passes.fill)(above, below, to) };
    }
}
