//! Check `unsteady`: measuring began before the server had settled, so the window shows a warm-up.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::Block;
use crate::stats::theil_sen;

/// Largest share of blocks that may be unsteady. A level rate is sometimes taken for a trend by chance, but not in more
/// blocks than this.
const ALLOWED: f64 = 0.20;

/// Minimum number of time slices that a window must have for its trend to be judged.
const FEWEST: usize = 6;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "unsteady",
    about: "warm-up ended before the rate had settled",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    // A scenario without warm-up measures the unsettled server on purpose.
    if evidence.run.header.scenario.design.warmup.max.0 <= 0.0 {
        return Vec::new();
    }
    evidence.each(|subject| {
        let unsteady = subject
            .blocks
            .iter()
            .filter(|block| !block.warmup.steady && !level(block))
            .count();
        let longest = subject.worst(|block| Some(block.warmup.seconds))?.1;
        (unsteady as f64 > ALLOWED * subject.blocks.len() as f64).then(|| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: not steady after warm-up (up to {longest:.1} s) in {unsteady} of {} blocks.",
                subject.name(),
                subject.blocks.len()
            ),
            advice: "give it a longer design.warmup.max",
        })
    })
}

/// Whether the measured window shows no trend. This also judges runs whose warm-up was too short for the steadiness
/// test.
fn level(block: &Block) -> bool {
    // The last slice is left out, because it is usually shorter than the others.
    let bins = &block.load.bins;
    let whole = &bins[..bins.len().saturating_sub(1)];
    let points: Vec<(f64, f64)> = whole
        .iter()
        .map(|bin| (bin.at, bin.completed as f64))
        .collect();
    points.len() >= FEWEST && theil_sen(&points, 0.95).is_some_and(|slope| slope.may_be_level())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::{Arm, Bin};
    use crate::scenario::Seconds;

    #[test]
    fn many_unsteady_blocks_are_told_and_one_of_ten_is_not() {
        let run = fixture::run(2, 10, |block| {
            block.warmup.steady = block.arm != Arm::Variant
        });
        assert!(sentence(&CHECK, &run).contains("in 10 of 10 blocks"));
        let run = fixture::run(2, 10, |block| block.warmup.steady = block.index != 3);
        assert!(found(&CHECK, &run).is_empty());
    }

    #[test]
    fn a_window_without_a_trend_excuses_a_warm_up_too_short_to_be_judged() {
        let with_growth = |growth: u64| {
            fixture::run(1, 4, |block| {
                block.warmup.steady = false;
                let bin = |at: u64| Bin {
                    at: at as f64 * 0.25,
                    seconds: 0.25,
                    completed: 100 + growth * at + at % 2,
                    ..Bin::default()
                };
                block.load.bins = (0..8).map(bin).collect();
            })
        };
        assert!(found(&CHECK, &with_growth(0)).is_empty());
        assert!(sentence(&CHECK, &with_growth(5)).contains("not steady"));
    }

    #[test]
    fn without_any_warm_up_there_is_none_to_judge() {
        let mut run = fixture::run(1, 4, |block| block.warmup.steady = false);
        assert_eq!(found(&CHECK, &run).len(), 1);
        run.header.scenario.design.warmup.max = Seconds(0.0);
        assert!(found(&CHECK, &run).is_empty());
    }
}
