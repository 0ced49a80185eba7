//! Check `aa-suspect`: the baseline differs from itself. Everything else may then differ too, for reasons other than
//! the variants.

use super::{Evidence, Remark, SelfCheck, Severity};

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "aa-suspect",
    about: "the baseline's interval against itself excludes one",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let suspect = evidence.analysis.noise_floor.filter(|floor| floor.suspect);
    let remark = suspect.map(|floor| Remark {
        severity: Severity::Critical,
        sentence: format!(
            "The baseline differs from itself: x{:.3} [{:.3}, {:.3}]. By chance alone this happens in one run \
             of twenty.",
            floor.ratio, floor.interval.low, floor.interval.high
        ),
        advice: "run it again with another seed, on a calmer machine; doubt effects of this size",
    });
    remark.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::Arm;

    #[test]
    fn a_baseline_that_differs_from_itself_is_told() {
        let run = fixture::run(2, 10, |block| {
            if block.arm == Arm::Again {
                let rate = block.throughput().expect("a window");
                fixture::set_rate(block, rate * 1.05);
            }
        });
        assert!(sentence(&CHECK, &run).contains("x1.0"));
        assert!(found(&CHECK, &fixture::run(2, 10, |_| {})).is_empty());
    }
}
