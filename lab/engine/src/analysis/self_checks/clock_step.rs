//! Check `clock-step`: the wall clock was set while a block ran. Durations are safe, because they come from the
//! monotonic clock; comparing time stamps with other logs is not.

use super::{Evidence, Remark, SelfCheck, Severity};

/// Clock step within a block, in seconds, that is more than slewing can cause.
const ALLOWED: f64 = 0.05;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "clock-step",
    about: "the wall clock was set during a block",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let (block, step) = subject.worst(|block| Some(block.noise.clock_step.abs()))?;
        (step > ALLOWED).then(|| Remark {
            severity: Severity::Note,
            sentence: format!(
                "{}: the wall clock was set by {:+.2} s during block {}.",
                subject.name(),
                block.noise.clock_step,
                block.index
            ),
            advice: "do not line this run up with other logs by time of day",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;

    #[test]
    fn a_clock_set_back_is_told_and_slewing_is_not() {
        let run = fixture::run(1, 4, |block| {
            block.noise.clock_step = if block.index == 2 { -1.5 } else { 0.001 };
        });
        // Block 2 belongs to the baseline or to the A/A arm, at random; both are the same variant.
        let baseline = run.blocks[2].arm == crate::record::Arm::Baseline;
        assert_eq!(found(&CHECK, &run).len(), usize::from(baseline));
        let run = fixture::run(1, 4, |block| block.noise.clock_step = -1.5);
        assert!(sentence(&CHECK, &run).contains("by -1.50 s"));
    }
}
