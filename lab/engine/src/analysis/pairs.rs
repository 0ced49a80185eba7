//! Pairs of neighbouring blocks: only the blocks of a pair are compared with each other.

use crate::record::{Arm, Block, Phase, Purpose, Run};
use crate::scenario::Metric;

/// A baseline block and the block that ran next to it.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The baseline's block.
    pub baseline: &'a Block,
    /// The block of the variant, or of the baseline once more (A/A arm).
    pub other: &'a Block,
}

impl Pair<'_> {
    /// Whether neither block was discarded or failed, so that the pair enters the statistics.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.baseline.counts() && self.other.counts()
    }

    /// Whether both blocks reached a measured window, disturbed or not.
    #[must_use]
    pub fn measured(&self) -> bool {
        self.baseline.failure.is_none() && self.other.failure.is_none()
    }

    /// Returns how long both blocks took in seconds, including server starts and stops.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        length(&self.baseline.phases) + length(&self.other.phases)
    }
}

/// A comparison with the baseline that is to be made: of a variant, or of the baseline itself (A/A arm).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contrast {
    pub(crate) arm: Arm,
    pub(crate) variant: u32,
}

/// Returns the comparisons of a run: each variant but the first with the baseline, then the A/A arm if the design asks
/// for it or it has run. Empty for a run that only observes, where no verdict is drawn.
pub(crate) fn contrasts(run: &Run) -> Vec<Contrast> {
    if run.header.purpose == Purpose::Observation {
        return Vec::new();
    }
    let arm = Arm::Variant;
    let mut all: Vec<_> = (1..run.header.variants.len() as u32)
        .map(|variant| Contrast { arm, variant })
        .collect();
    let ran = run.blocks.iter().any(|block| block.arm == Arm::Again);
    if ran || run.header.scenario.design.aa {
        all.push(Contrast {
            arm: Arm::Again,
            variant: 0,
        });
    }
    all
}

/// Returns all pairs of a comparison in the order in which they ran, including discarded and failed ones. A repeated
/// pair appears once for each attempt.
pub(crate) fn pairs(run: &Run, contrast: Contrast) -> Vec<Pair<'_>> {
    let of_contrast = |block: &&Block| {
        block.arm == contrast.arm && (block.arm == Arm::Again || block.variant == contrast.variant)
    };
    let with_baseline = |other| {
        let is_partner = |block: &&Block| {
            let other: &Block = other;
            block.arm == Arm::Baseline && (block.pair, block.attempt) == (other.pair, other.attempt)
        };
        let baseline = run.blocks.iter().find(is_partner)?;
        Some(Pair { baseline, other })
    };
    run.blocks
        .iter()
        .filter(of_contrast)
        .filter_map(with_baseline)
        .collect()
}

/// Returns a metric's values in the baseline's and the other block of each pair in which both have a value.
pub(super) fn values(metric: Metric, pairs: &[Pair<'_>]) -> Vec<(f64, f64)> {
    let values = |pair: &Pair<'_>| metric.of(pair.baseline).zip(metric.of(pair.other));
    pairs.iter().filter_map(values).collect()
}

fn length(phases: &[Phase]) -> f64 {
    let from = phases.iter().map(|phase| phase.from).reduce(f64::min);
    let to = phases.iter().map(|phase| phase.to).reduce(f64::max);
    from.zip(to).map_or(0.0, |(from, to)| (to - from).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn blocks_are_paired_with_their_own_try_only() {
        let mut run = fixture::run(2, 3, |_| {});
        // The second pair's baseline block was disturbed, so that both blocks ran again.
        let first_try: Vec<Block> = run.blocks.iter().filter(|b| b.pair == 1).cloned().collect();
        for block in &mut run.blocks {
            if block.pair == 1 && block.arm == Arm::Baseline {
                block.discarded = Some("steal 9 %".into());
            }
        }
        run.blocks.extend(first_try.into_iter().map(|mut block| {
            block.attempt = 1;
            block
        }));
        let contrast = contrasts(&run)[0];
        let pairs = pairs(&run, contrast);
        assert_eq!(pairs.len(), 4);
        assert_eq!(pairs.iter().filter(|pair| pair.counts()).count(), 3);
        assert!(
            pairs
                .iter()
                .all(|pair| pair.baseline.attempt == pair.other.attempt)
        );
    }

    #[test]
    fn the_baseline_is_a_contrast_to_itself_and_comes_last() {
        let run = fixture::run(3, 2, |_| {});
        let arms: Vec<_> = contrasts(&run)
            .iter()
            .map(|it| (it.arm, it.variant))
            .collect();
        assert_eq!(
            arms,
            [(Arm::Variant, 1), (Arm::Variant, 2), (Arm::Again, 0)]
        );
    }
}
