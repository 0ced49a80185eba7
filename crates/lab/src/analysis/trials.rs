//! Whole experiments, made up by the hundred: do order, stopping rule and verdict together keep their promises?

use super::{Verdict, comparison, enough, fixture};
use crate::analysis::Discards;
use crate::record::{Arm, Run};
use crate::stats::Random;

/// Runs it again on another day: rates with 2 % of noise and 8 % of drift over the run, the variant `factor` times
/// as fast, ended by the stopping rule. The primary verdict.
fn trial(run: &mut Run, factor: f64, random: &mut Random) -> Verdict {
    let last = run.blocks.len() as f64;
    let mut to_come = std::mem::take(&mut run.blocks).into_iter();
    while enough(run).is_none() {
        for mut block in to_come.by_ref().take(2) {
            let drift = 0.08 * f64::from(block.index) / last;
            let own = if block.arm == Arm::Variant {
                factor
            } else {
                1.0
            };
            let rate = 400.0 * own * (drift + 0.02 * random.normal()).exp();
            block.load.seconds = block.load.completed as f64 / rate;
            run.blocks.push(block);
        }
    }
    let comparisons = comparison::all(run, &[], &Discards::of(run));
    run.blocks.extend(to_come);
    comparisons.into_iter().next().expect("a variant").verdict
}

/// How often each word falls among so many trials.
fn count<const N: usize>(factor: f64, trials: u32, words: [&str; N]) -> [u32; N] {
    // Few replies each, since only throughput is looked at.
    let mut template = fixture::run(2, 20, |block| {
        block.load.completed = 20;
        fixture::set_rate(block, 400.0);
    });
    template.header.scenario.design.pairs.min = 6;
    let mut random = Random::new(42);
    let mut counts = [0; N];
    for _ in 0..trials {
        let verdict = trial(&mut template, factor, &mut random);
        for (count, word) in counts.iter_mut().zip(words) {
            *count += u32::from(verdict.word() == word);
        }
    }
    counts
}

#[test]
fn equal_variants_are_rarely_called_faster_or_slower_and_mostly_the_same() {
    let [faster, slower, same] = count(1.0, 400, ["FASTER", "SLOWER", "SAME"]);
    assert!(faster + slower <= 20, "{faster} + {slower} of 400");
    assert!(same > 360, "{same} of 400");
}

#[test]
fn ten_percent_more_work_is_always_called_slower() {
    let [slower, same] = count(1.0 / 1.1, 200, ["SLOWER", "SAME"]);
    assert_eq!((slower, same), (200, 0));
}
