//! Tests by thousands of simulated experiments with known truth whether intervals and p-values are wrong no more often
//! than they claim, even on noisy machines.

use super::{LogRatios, Random, signed_rank_p};

/// Returns the share of trials in which the 95 % interval contains the true ratio 1. A trial has `pairs` pairs with a
/// standard deviation of 3 %, of which 10 % are outliers with five times that.
fn coverage(pairs: usize, trials: u32) -> f64 {
    let mut random = Random::new(20_150_313);
    let held = (0..trials)
        .filter(|_| {
            let sample: Vec<(f64, f64)> = (0..pairs)
                .map(|_| {
                    let wild = if random.unit() < 0.10 { 5.0 } else { 1.0 };
                    (1.0, (0.03 * wild * random.normal()).exp())
                })
                .collect();
            LogRatios::new(&sample).is_some_and(|ratios| ratios.interval(0.95).contains(1.0))
        })
        .count();
    held as f64 / f64::from(trials)
}

#[test]
fn the_interval_holds_the_truth_with_ten_percent_wild_pairs() {
    for pairs in [6, 8, 10, 16] {
        let held = coverage(pairs, 1200);
        assert!((0.94..=0.99).contains(&held), "{pairs} pairs: {held}");
    }
}

/// Assigns each of twenty blocks to A (`false`) or B (`true`) by its position.
type Layout = fn(usize) -> bool;

const SEQUENTIAL: Layout = |at| at >= 10;
const ALTERNATING: Layout = |at| at % 2 == 1;
const ABBA: Layout = |at| matches!(at % 4, 1 | 2);

/// Simulates runs of two equal variants A and B whose blocks are in the order `layout`. `disturbance` is added to the
/// logarithm of the speed of the block at a position. Returns the share of runs with a false alarm (p < 0.05), and the
/// mean logarithm of the ratio B / A.
fn false_alarms(layout: Layout, disturbance: impl Fn(usize) -> f64) -> (f64, f64) {
    const TRIALS: u32 = 1500;
    let mut random = Random::new(7);
    let (mut alarms, mut sum) = (0, 0.0);
    for _ in 0..TRIALS {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        // Noise that a block partly inherits from its predecessor: AR(1) with factor 0.5.
        let mut inherited = 0.0;
        for at in 0..20 {
            inherited = 0.5 * inherited + 0.012 * random.normal();
            let value = (disturbance(at) + inherited + 0.018 * random.normal()).exp();
            if layout(at) { &mut b } else { &mut a }.push(value);
        }
        let pairs: Vec<_> = a.into_iter().zip(b).collect();
        let ratios = LogRatios::new(&pairs).expect("ten pairs");
        alarms += u32::from(ratios.p_value() < 0.05);
        sum += ratios.mean();
    }
    (
        f64::from(alarms) / f64::from(TRIALS),
        sum / f64::from(TRIALS),
    )
}

#[test]
fn without_drift_every_layout_gives_five_percent_false_alarms() {
    for layout in [ALTERNATING, ABBA] {
        let (alarms, _) = false_alarms(layout, |_| 0.0);
        assert!((0.03..=0.07).contains(&alarms), "{alarms}");
    }
}

#[test]
fn drift_ruins_a_sequential_layout_and_leaves_interleaved_ones_alone() {
    // The machine speeds up steadily, by 8 % over the twenty blocks.
    let drift = |at: usize| 0.08 * at as f64 / 19.0;
    let (sequential, bias) = false_alarms(SEQUENTIAL, drift);
    assert!(sequential > 0.75, "{sequential}");
    assert!((bias - 0.042).abs() < 0.003, "{bias}");
    let (alternating, bias) = false_alarms(ALTERNATING, drift);
    assert!((0.03..=0.09).contains(&alternating), "{alternating}");
    assert!((bias - 0.004).abs() < 0.002, "{bias}");
    let (abba, bias) = false_alarms(ABBA, drift);
    assert!((0.02..=0.07).contains(&abba), "{abba}");
    assert!(bias.abs() < 0.001, "{bias}");
}

#[test]
fn one_step_of_five_percent_ruins_a_sequential_layout_only() {
    // After the eighth block the machine becomes faster, as when a neighbour stops working.
    let step = |at: usize| if at < 8 { 0.0 } else { 0.05 };
    assert!(false_alarms(SEQUENTIAL, step).0 > 0.60);
    for layout in [ALTERNATING, ABBA] {
        let (alarms, _) = false_alarms(layout, step);
        assert!((0.02..=0.07).contains(&alarms), "{alarms}");
    }
}

#[test]
fn equal_variants_are_called_the_same_and_a_real_effect_never_is() {
    // Deviation 3 %, bound 3 %, 16 pairs: sameness is shown mostly. An effect as large as the bound is called the same
    // in 5 % of trials at most.
    let mut random = Random::new(11);
    let mut called_same = |effect: f64| {
        let same = (0..1000).filter(|_| {
            let pairs: Vec<_> = (0..16)
                .map(|_| (1.0, (effect + 0.03 * random.normal()).exp()))
                .collect();
            LogRatios::new(&pairs).is_some_and(|ratios| ratios.sameness_p(0.03) < 0.05)
        });
        same.count() as f64 / 1000.0
    };
    assert!(called_same(0.0) > 0.90);
    assert!(called_same(0.03f64.ln_1p()) < 0.07);
    assert!(called_same(0.06) < 0.01);
}

#[test]
fn signed_ranks_raise_false_alarms_at_most_as_often_as_promised() {
    let mut random = Random::new(5);
    for pairs in [6, 10, 20] {
        let alarms = (0..2000)
            .filter(|_| {
                let differences: Vec<f64> = (0..pairs).map(|_| random.normal()).collect();
                signed_rank_p(&differences) < 0.05
            })
            .count();
        assert!(alarms < 130, "{pairs} pairs: {alarms} of 2000");
    }
}
