use super::*;
use crate::analysis::{Verdict, fixture};
use crate::scenario::Metric;
use crate::stats::Random;

/// Returns a run of a baseline and a variant with six pairs. Their rates are 400 × `baseline` and 400 × `variant`
/// replies per second, with a little noise.
fn run(seed: u64, baseline: f64, variant: f64) -> Run {
    let mut random = Random::new(seed);
    let mut run = fixture::run(2, 6, |block| {
        let speed = if block.arm == Arm::Variant {
            variant
        } else {
            baseline
        };
        let noise = (0.004 * random.normal()).exp();
        fixture::set_rate(block, 400.0 * speed * noise);
        block.noise.probe.before = 0.02;
        block.noise.probe.after = 0.02;
    });
    run.header.programs = vec!["aa".into(), "bb".into()];
    run
}

fn compare(old: &Run, new: &Run) -> Between {
    between(old, new, &SavedBodies::default(), None)
}

fn verdict(between: &Between, name: &str, how: How) -> Verdict {
    let found = between
        .figures
        .iter()
        .find(|it| it.name == name && it.how == how && it.metric == Metric::Throughput);
    found.map(|it| it.verdict.clone()).expect("a figure")
}

#[test]
fn a_run_beside_its_like_is_the_same_and_one_that_lost_is_slower() {
    let same = compare(&run(1, 1.0, 1.2), &run(2, 1.0, 1.2));
    assert_eq!(verdict(&same, "v0", How::Plainly).word(), "SAME");
    assert_eq!(verdict(&same, "v1", How::BesideBaseline).word(), "SAME");
    let slower = compare(&run(1, 1.0, 1.2), &run(2, 1.0, 1.0));
    assert_eq!(verdict(&slower, "v0", How::Plainly).word(), "SAME");
    assert_eq!(verdict(&slower, "v1", How::Plainly).word(), "SLOWER");
    assert_eq!(verdict(&slower, "v1", How::BesideBaseline).word(), "SLOWER");
}

#[test]
fn a_slower_machine_widens_the_interval_and_the_ratio_to_the_baseline_does_not_mind() {
    let old = run(1, 1.0, 1.2);
    // Everything takes 8 % longer, the probe even more.
    let mut new = run(2, 0.92, 1.2 * 0.92);
    for block in &mut new.blocks {
        block.noise.probe.before *= 1.1;
        block.noise.probe.after *= 1.1;
    }
    let between = compare(&old, &new);
    assert!((between.probe.expect("a probe") - 1.1).abs() < 1e-9);
    assert_eq!(verdict(&between, "v1", How::Plainly).word(), "UNDECIDED");
    assert_eq!(verdict(&between, "v1", How::BesideBaseline).word(), "SAME");
    let primary: Vec<_> = between
        .primary()
        .map(|it| (it.name.as_str(), it.how))
        .collect();
    assert_eq!(
        primary,
        [("v0", How::Plainly), ("v1", How::BesideBaseline)],
        "of each variant the most trustworthy"
    );
}

#[test]
fn another_machine_or_another_question_gets_no_verdict_and_another_program_does() {
    let old = run(1, 1.0, 1.0);
    let mut elsewhere = run(2, 1.0, 1.0);
    elsewhere.header.machine.cpus = 64;
    let mut asked = run(2, 1.0, 1.0);
    asked.header.scenario.load.connections += 1;
    for new in [elsewhere, asked] {
        let between = compare(&old, &new);
        let why = between.obstacle.as_ref().expect("an obstacle");
        assert!(
            why.contains("cpus: 2 and 64") || why.contains("load.connections"),
            "{why}"
        );
        assert_eq!(verdict(&between, "v0", How::Plainly).word(), "INVALID");
    }
    let mut other = run(2, 1.0, 1.0);
    other.header.programs[0] = "cc".into();
    let between = compare(&old, &other);
    assert_eq!(between.obstacle, None);
    let changed: Vec<_> = between
        .differences
        .iter()
        .map(|it| it.key.as_str())
        .collect();
    assert_eq!(changed, ["variant v0.program"]);
    let how = between.figures.iter().map(|it| it.how);
    assert!(
        how.into_iter().all(|it| it == How::Plainly),
        "another baseline is no common one"
    );
}

#[test]
fn other_replies_failed_requests_and_few_blocks_are_not_passed_over() {
    let old = run(1, 1.0, 1.0);
    let mut other = run(2, 1.0, 1.0);
    for block in &mut other.blocks {
        for body in &mut block.load.bodies {
            body.reply.hash = "another".into();
        }
    }
    let words = |between: &Between| verdict(between, "v0", How::Plainly).to_string();
    assert!(words(&compare(&old, &other)).contains("both runs did the same work cannot be told"));
    other.header.variants[0].expect = Expect::SameBytes;
    assert!(words(&compare(&old, &other)).contains("not the same work in both runs"));
    let mut failing = run(2, 1.0, 1.0);
    for block in &mut failing.blocks {
        block.load.failures.status = 1;
    }
    assert!(words(&compare(&old, &failing)).contains("requests failed in the new run"));
    let mut few = run(2, 0.5, 0.5);
    few.blocks.truncate(2);
    assert!(words(&compare(&old, &few)).starts_with("UNDECIDED"));
    let mut renamed = run(2, 1.0, 1.0);
    renamed.header.variants[1].name = "other".into();
    assert_eq!(compare(&old, &renamed).alone.len(), 2);
}
