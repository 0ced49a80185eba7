//! The order in which the vector kernels process a plane.
//!
//! Result rows are computed in bands. For each band, block by block of columns, source rows are filtered vertically
//! into a buffer, then each row of the buffer is filtered horizontally. Within a block, source rows are first converted
//! to the form that the vertical kernel multiplies (a *step*: a row of floats, or two rows of bytes as 16-bit words).
//! This happens once for the roughly six result rows that need a step. Steps are kept in a ring buffer that is small
//! enough for the L1 cache.

use std::array;
use std::ops::Range;

use super::weights::Weights;
use super::{Resampled, Source};
use crate::cpu::prefetch;

/// The vector kernels of one sample type for one instruction set.
///
/// The functions may only be called if the processor supports the instruction set, with slices of the lengths that the
/// comments on the fields require.
pub struct Passes<S: Resampled, B> {
    /// Source rows that are converted together, to one [`Step`]: 1 or 2.
    pub(super) rows_per_step: usize,
    /// Converts one or two source rows of equal length to the form that `down` multiplies (a step). If there is no
    /// second row, the first is passed twice. The output is as long as the rows or longer, and a multiple of
    /// [`COLUMNS`].
    pub(super) fill: unsafe fn(&[S], &[S], &mut [u32]),
    /// Filters source rows vertically: adds up the weighted steps (converted source rows) of each column. Takes the
    /// ring buffer of steps, the place and weights of each step in it, and the output. The output's length is a
    /// multiple of [`COLUMNS`], and no step is shorter.
    ///
    /// Each kernel has its own loop over columns, because calling a shared loop would take as many lines.
    pub(super) down: unsafe fn(&[u32], &[Step], &mut [B]),
    /// Filters rows horizontally. Takes the rows, their stride, the weights and the output. Each row has [`slack`]
    /// samples beyond the input.
    pub(super) along: unsafe fn(&[B], usize, &Weights<S>, &mut [S]),
    /// Packs the weights of the one or two source rows of a [`Step`] into a word, the first in the lower bits.
    pub(super) pack: fn(S::Weight, S::Weight) -> u32,
}

/// One or two source rows that a result row needs, converted to the form that the vertical kernel multiplies, and their
/// weights.
pub(super) struct Step {
    /// Index in the ring buffer at which the converted samples of the source rows begin.
    pub(super) at: usize,
    /// The weights of the one or two source rows, packed into a word.
    pub(super) weights: u32,
}

/// Columns are converted and filtered in multiples of this number.
pub(super) const COLUMNS: usize = 32;

/// Number of words that the ring buffer of converted source rows may have, 4 bytes each: they fill most of the L1
/// cache. Only blocks of columns of the minimum width ([`NARROWEST`]) may need more.
const RING: usize = 8192;

/// Minimum number of columns that are processed together (a block), however many source rows contribute to a result
/// row. Only narrower planes have fewer.
const NARROWEST: usize = 128;

/// Maximum number of samples that are stored between the vertical and the horizontal pass, unless a single row has
/// more. Together with the other data, they fill half of a small L2 cache.
const BETWEEN: usize = 32 * 1024;

/// Number of steps (one or two source rows each) by which source rows are prefetched ahead: the part of a row within a
/// block is too short for the hardware prefetcher to foresee the next one.
const AHEAD: usize = 2;

/// Maximum number of result rows that are computed together (a band). Larger bands save nothing.
const TALLEST: usize = 32;

/// Returns how many samples a row between the vertical and the horizontal pass has beyond the input, because kernels
/// read whole registers.
pub(super) fn slack<S: Resampled>(x: &Weights<S>) -> usize {
    x.taps + 96
}

/// Computes result rows `rows` with vector kernels.
///
/// # Safety
/// The processor must support the instruction set of `passes`, and the conditions of [`super::rows_on`] must hold.
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
                    // SAFETY: the caller guarantees the level.
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

/// Filters rows horizontally, `N` at a time with `several`, and the remaining ones with `single`.
///
/// # Safety
/// The conditions of [`Passes::along`] must hold.
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
        // SAFETY: the caller guarantees the rows.
        unsafe { several(rows, x, out) };
    }
    for (row, out) in alone.chunks_exact(stride).zip(rest.chunks_exact_mut(width)) {
        // SAFETY: as above.
        unsafe { single([row.as_ptr()], x, out) };
    }
}

/// A function that filters `N` rows horizontally to as many result rows. Takes a pointer to the beginning of each row.
type Along<S, B, const N: usize> = unsafe fn([*const B; N], &Weights<S>, &mut [S]);

/// Ring buffer with the converted source rows of a block of columns. A step is one or two source rows that are
/// converted together.
struct Ring<'a, S: Resampled, B> {
    passes: &'a Passes<S, B>,
    source: Source<'a, S>,
    /// Number of words of a step (one or two converted source rows): one for each column.
    wide: usize,
    /// Number of steps (one or two source rows each) in the ring: as many as a result row needs at most. The source
    /// rows of a result row never begin or end before those of earlier result rows, so no step is overwritten too soon.
    steps: usize,
    samples: Vec<u32>,
    /// Index in `samples` at which the first step (one or two converted source rows) begins. It is aligned to a cache
    /// line, or every load would touch two lines.
    start: usize,
}

/// The steps (one or two source rows each) that a result row needs: those with the numbers `first` to before `end`,
/// counted from the top of the source, and where they are in the list of steps of its band (the result rows that are
/// computed together).
struct Needs {
    first: usize,
    end: usize,
    /// Range of the result row's steps (one or two source rows each) in the list of steps of its band, the result rows
    /// that are computed together.
    steps: Range<usize>,
}

/// Number of samples in a cache line.
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

    /// Returns the steps (one or two source rows each) that result row `row` needs, and appends them to `steps`.
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

    /// Converts the source rows of step `step`, counted from the top of the source, and stores them in the ring.
    ///
    /// # Safety
    /// The processor must support the instruction set of `self.passes`.
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
        // SAFETY: the caller guarantees the level, and a block is no wider than a step.
        unsafe { (self.passes.fill)(above, below, to) };
    }
}
