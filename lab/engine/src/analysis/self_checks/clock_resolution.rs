//! Check `clock-resolution`: latencies are only a few steps of the clock.

use super::{Evidence, Remark, SelfCheck, Severity};

/// Number of clock steps that a latency should have at least. Below it, the latency is known to a tenth at best.
const STEPS: f64 = 10.0;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "clock-resolution",
    about: "latencies are close to the clock's step",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let usual = subject.median(|block| {
            (block.load.service.count() > 0).then(|| block.load.service.quantile(0.5))
        })?;
        let step = subject.median(|block| Some(block.noise.clock_resolution))?;
        (usual < STEPS * step).then(|| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: the median latency of {:.1} µs is {:.1} steps of the clock.",
                subject.name(),
                usual * 1e6,
                usual / step
            ),
            advice: "compare throughput or CPU per request; choose a finer clock source if there is one",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;

    #[test]
    fn latencies_of_a_few_steps_are_told() {
        let run = fixture::run(1, 4, |block| block.noise.clock_resolution = 0.010);
        assert!(sentence(&CHECK, &run).contains("2.5 steps"));
        assert!(found(&CHECK, &fixture::run(1, 4, |_| {})).is_empty());
    }
}
