//! Weights in the order in which vector kernels weigh rows along, made when first needed and kept.

use std::sync::OnceLock;

use super::Resampled;
use super::weights::{GROUP, Weights};

/// The layouts of weights, each made once. A clone makes its own.
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

/// Results side by side, one to a lane: in each step every lane weighs the next of its own samples, which
/// lie near those of its neighbours, so that one permutation finds them.
#[derive(Debug)]
pub(super) struct Lanes {
    /// One for as many results as there are lanes; a last one may have fewer.
    pub(super) groups: Vec<Group>,
    /// Where a lane's first sample is from its base on, as a permutation's index; 32 bits per lane.
    pub(super) indices: Vec<u32>,
    /// 32 bits of weights per lane, for each step of each group.
    pub(super) weights: Vec<u32>,
    /// The largest span of any group.
    pub(super) span: usize,
}

/// Results side by side.
#[derive(Debug)]
pub(super) struct Group {
    /// The first sample of the first lane, and of that in the middle: never after those of lanes that
    /// follow it.
    pub(super) bases: [u32; 2],
    /// Samples from a base on that a step touches.
    pub(super) span: u32,
    /// Steps.
    pub(super) steps: u32,
}

/// How a kernel wants its lanes.
pub(super) struct Shape<W> {
    /// Lanes, 8 or 16.
    pub(super) lanes: usize,
    /// Has each half a base of its own?
    pub(super) halves: bool,
    /// Samples that a lane weighs in a step, 1 or 2.
    pub(super) taps: usize,
    /// Packs a step's weights, the first in the lower bits.
    pub(super) pack: fn(W, W) -> u32,
    /// The index for a lane that begins so many samples after its base.
    pub(super) index: fn(u32) -> u32,
}

impl<S: Resampled> Weights<S> {
    /// The layout for 8 or 16 lanes. There is one of each.
    pub(super) fn lanes(&self, shape: &Shape<S::Weight>) -> &Lanes {
        let layout = if shape.lanes == 8 {
            &self.layouts.lanes8
        } else {
            &self.layouts.lanes16
        };
        layout.get_or_init(|| Lanes::new(self, shape))
    }

    /// The order for kernels that weigh [`GROUP`] samples of two results at a time: for each 8 results,
    /// for each group of 8 weights, results 0 and 4 side by side, then 1 and 5, 2 and 6, 3 and 7.
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
            // Lanes without a result do what the last one does, and are not stored.
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
