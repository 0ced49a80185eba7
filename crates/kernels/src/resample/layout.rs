//! Weights rearranged for the vector kernels that filter rows horizontally. Each layout is created when it is first
//! needed, and then cached.

use std::sync::OnceLock;

use super::Resampled;
use super::weights::{GROUP, Weights};

/// Cached layouts of weights, each created once. A clone starts empty and creates its own.
#[derive(Debug)]
pub(super) struct Layouts<S: Resampled> {
    lanes8: OnceLock<Lanes>,
    lanes16: OnceLock<Lanes>,
    pairs: OnceLock<Vec<S::Weight>>,
}

impl<S: Resampled> Default for Layouts<S> {
    fn default() -> Self {
        Self {
            lanes8: OnceLock::new(),
            lanes16: OnceLock::new(),
            pairs: OnceLock::new(),
        }
    }
}

impl<S: Resampled> Clone for Layouts<S> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Layout for kernels that compute one result per lane. In each step (iteration of the inner loop), every lane
/// multiplies the next of the input samples of its result by their weights. The samples of all lanes are close
/// together, so that one permutation collects them.
#[derive(Debug)]
pub(super) struct Lanes {
    /// Groups of as many results as there are lanes. The last group may have fewer.
    pub(super) groups: Vec<Group>,
    /// Offset of the first sample of each lane from the lane's base ([`Group::bases`]), as a permutation index: 32 bits
    /// per lane.
    pub(super) indices: Vec<u32>,
    /// For each step (iteration of the inner loop) of each group in turn, the weight of every lane as 32 bits. If a
    /// lane processes two samples in a step, their two weights are packed into these 32 bits.
    pub(super) weights: Vec<u32>,
    /// The largest [`Group::span`] of all groups.
    pub(super) span: usize,
}

/// A group of results that are computed side by side.
#[derive(Debug)]
pub(super) struct Group {
    /// Indices of the input samples from which the offsets of the lower and of the upper half of the lanes are
    /// counted: the first sample of the first lane, and that of the middle lane. If both halves have the same base, it
    /// is given twice. No lane begins before the base of its half.
    pub(super) bases: [u32; 2],
    /// Number of consecutive input samples, counted from one of `bases`, that hold what all lanes with this base multiply
    /// in one iteration of the inner loop (a step).
    pub(super) span: u32,
    /// Number of iterations of the inner loop (steps) in which each lane of the group goes through its samples.
    pub(super) steps: u32,
}

/// The lane arrangement that a kernel requires.
pub(super) struct Shape<W> {
    /// Number of lanes, 8 or 16.
    pub(super) lanes: usize,
    /// Whether the lower and the upper half of the lanes take their samples from separate base positions.
    pub(super) halves: bool,
    /// Number of samples that a lane multiplies and adds up in one iteration of the inner loop (a step), 1 or 2.
    pub(super) taps: usize,
    /// Packs the weights of the one or two samples that a lane multiplies in one iteration of the inner loop into a
    /// word, the first in the lower bits.
    pub(super) pack: fn(W, W) -> u32,
    /// Returns the permutation index for a lane whose samples begin at this offset from its base.
    pub(super) index: fn(u32) -> u32,
}

impl<S: Resampled> Weights<S> {
    /// Returns the weights in the layout for 8 or 16 lanes. Only one layout for each of these numbers is cached, so
    /// all shapes with the same number of lanes that are used with one `Weights` must be equal.
    pub(super) fn lanes(&self, shape: &Shape<S::Weight>) -> &Lanes {
        let layout = if shape.lanes == 8 {
            &self.layouts.lanes8
        } else {
            &self.layouts.lanes16
        };
        layout.get_or_init(|| Lanes::new(self, shape))
    }

    /// Returns the weights in the order for kernels that process [`GROUP`] samples of two results at a time: for each 8
    /// results, for each group of 8 weights, results 0 and 4 side by side, then 1 and 5, 2 and 6, 3 and 7.
    pub(super) fn pairs(&self) -> &[S::Weight] {
        self.layouts.pairs.get_or_init(|| {
            let mut values = Vec::with_capacity(self.values.len());
            for eight in self.values.chunks_exact(8 * self.taps) {
                for group in (0..self.taps).step_by(GROUP) {
                    for result in [0, 4, 1, 5, 2, 6, 3, 7] {
                        let from = result * self.taps + group;
                        values.extend_from_slice(&eight[from..from + GROUP]);
                    }
                }
            }
            values
        })
    }
}

impl Lanes {
    fn new<S: Resampled>(weights: &Weights<S>, shape: &Shape<S::Weight>) -> Self {
        let count = weights.output();
        let groups = count.div_ceil(shape.lanes);
        let mut lanes = Self {
            groups: Vec::with_capacity(groups),
            indices: Vec::with_capacity(groups * shape.lanes),
            weights: Vec::with_capacity(groups * shape.lanes * weights.taps.div_ceil(shape.taps)),
            span: 0,
        };
        for first in (0..count).step_by(shape.lanes) {
            // Lanes without a result repeat the last result, which is not stored for them.
            let result = |lane: usize| (first + lane).min(count - 1);
            lanes.push(weights, shape, result);
        }
        lanes
    }

    fn push<S: Resampled>(
        &mut self,
        weights: &Weights<S>,
        shape: &Shape<S::Weight>,
        result: impl Fn(usize) -> usize,
    ) {
        let middle = if shape.halves { shape.lanes / 2 } else { 0 };
        let bases = [0, middle].map(|lane| weights.starts[result(lane)]);
        let mut span = 0;
        let mut longest = 1;
        for lane in 0..shape.lanes {
            let (start, trimmed) = weights.trimmed(result(lane));
            let offset = start as u32 - bases[usize::from(shape.halves && lane >= middle)];
            span = span.max(offset as usize + shape.taps);
            longest = longest.max(trimmed.len());
            self.indices.push((shape.index)(offset));
        }
        let steps = longest.div_ceil(shape.taps);
        let from = self.weights.len();
        self.weights.resize(from + steps * shape.lanes, 0);
        for lane in 0..shape.lanes {
            // Windows are padded to whole steps.
            let (_, window) = weights.of(result(lane));
            let to = self.weights[from + lane..].iter_mut().step_by(shape.lanes);
            for (to, step) in to.zip(window.chunks_exact(shape.taps)) {
                *to = (shape.pack)(step[0], step[shape.taps - 1]);
            }
        }
        self.span = self.span.max(span);
        self.groups.push(Group {
            bases,
            span: span as u32,
            steps: steps as u32,
        });
    }
}
