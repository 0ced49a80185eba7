//! Tests by hundreds of simulated experiments that block order, stopping rule and verdict together are wrong no more
//! often than they claim.

use super::{Comparison, comparison, enough, fixture};
use crate::analysis::Discards;
use crate::record::{Arm, Run};
use crate::stats::Random;

/// How the simulated machine and variant behave.
struct World {
    /// The variant's rate divided by the baseline's.
    factor: f64,
    /// Standard deviation of the logarithm of a block's rate.
    noise: f64,
    /// Growth of all rates, as a logarithm, from the first to the last block that the design allows.
    drift: f64,
    /// Share of blocks with five times the usual noise.
    wild: f64,
}

/// A machine with 2 % of noise that speeds up by 8 % during the run, as the development machines do, and a variant
/// equal to the baseline.
const CALM: World = World {
    factor: 1.0,
    noise: 0.02,
    drift: 0.08,
    wild: 0.0,
};

impl World {
    /// Simulates `run` once more with new random rates until the stopping rule ends it, and returns the primary
    /// comparison.
    fn trial(&self, run: &mut Run, random: &mut Random) -> Comparison {
        let last = run.blocks.len() as f64;
        let mut to_come = std::mem::take(&mut run.blocks).into_iter();
        while enough(run).is_none() {
            for mut block in to_come.by_ref().take(2) {
                let drift = self.drift * f64::from(block.index) / last;
                let wild = if random.unit() < self.wild { 5.0 } else { 1.0 };
                let own = if block.arm == Arm::Variant {
                    self.factor
                } else {
                    1.0
                };
                let noise = self.noise * wild * random.normal();
                let rate = 400.0 * own * (drift + noise).exp();
                block.load.seconds = block.load.completed as f64 / rate;
                run.blocks.push(block);
            }
        }
        let comparisons = comparison::all(run, &[], &Discards::of(run));
        run.blocks.extend(to_come);
        comparisons.into_iter().next().expect("a variant")
    }

    /// Simulates this many experiments of the default design.
    fn trials(&self, trials: u32) -> Vec<Comparison> {
        // Blocks have few replies, because the trials use throughput only.
        let mut template = fixture::run(2, 20, |block| {
            block.load.completed = 20;
            fixture::set_rate(block, 400.0);
        });
        template.header.scenario.design.pairs.min = 6;
        let mut random = Random::new(42);
        (0..trials)
            .map(|_| self.trial(&mut template, &mut random))
            .collect()
    }
}

/// Counts the comparisons whose verdict is one of these words.
fn count(comparisons: &[Comparison], words: &[&str]) -> usize {
    let any = |it: &&Comparison| words.contains(&it.verdict.word());
    comparisons.iter().filter(any).count()
}

#[test]
fn equal_variants_are_hardly_ever_called_faster_or_slower_and_mostly_the_same() {
    let all = CALM.trials(400);
    let wrong = count(&all, &["FASTER", "SLOWER"]);
    assert!(wrong <= 4, "{wrong} of 400");
    let same = count(&all, &["SAME"]);
    assert!(same > 360, "{same} of 400");
}

#[test]
fn nor_are_they_on_a_machine_too_restless_for_a_narrow_interval() {
    for (noise, wild) in [(0.03, 0.0), (0.04, 0.1), (0.08, 0.0)] {
        let restless = World {
            noise,
            wild,
            ..CALM
        };
        let wrong = count(&restless.trials(400), &["FASTER", "SLOWER"]);
        assert!(wrong <= 8, "{wrong} of 400 with noise {noise}");
    }
}

#[test]
fn the_interval_holds_the_truth_whichever_look_ended_the_run() {
    // At 1.2 to 2 % of noise, runs end at any of the interim analyses, at the early ones by chance.
    for (noise, wild) in [(0.008, 0.0), (0.012, 0.0), (0.016, 0.0), (0.012, 0.1)] {
        let world = World {
            factor: 0.97,
            noise,
            wild,
            ..CALM
        };
        let all = world.trials(400);
        let held = |it: &&Comparison| {
            let estimate = it.estimate.as_ref().expect("at least six pairs");
            estimate.interval_95.contains(0.97)
        };
        let held = all.iter().filter(held).count();
        assert!(held >= 388, "{held} of 400 with noise {noise}");
    }
}

#[test]
fn ten_percent_more_work_is_always_called_slower() {
    let slower = World {
        factor: 1.0 / 1.1,
        ..CALM
    };
    assert_eq!(count(&slower.trials(200), &["SLOWER"]), 200);
}
