//! Check `small-effect`: a run shows an effect of less than 5 %, which a second run should confirm. A narrow confidence
//! interval does not prove that such an effect exists, because a memory layout that happens to favour one variant stays
//! the same throughout a run. In a pull request of php-judy (#104), even a gain of 11.6 % (interval 10.4 to 11.9 %) was
//! gone when the benchmark ran again.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::analysis::Verdict;

/// Effects below this share should be confirmed by a second run.
const SMALL: f64 = 0.05;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "small-effect",
    about: "a decided effect below 5 % stands on one run",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    use Verdict::{Faster, Less, More, Slower};
    let decided = evidence
        .analysis
        .primary()
        .filter(|it| matches!(it.verdict, Faster | Slower | Less { .. } | More { .. }))
        .filter_map(|it| Some((it, it.estimate?)));
    decided
        .filter(|(_, estimate)| estimate.ratio.ln().abs() < SMALL)
        .map(|(comparison, estimate)| Remark {
            severity: Severity::Note,
            sentence: format!(
                "{} / {}: x{:.3} is less than {:.0} % and stands on one run.",
                comparison.name,
                comparison.baseline,
                estimate.ratio,
                SMALL * 100.0
            ),
            advice: "confirm it with a second seed before building on it",
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::{Arm, Run};

    fn with_effect(factor: f64) -> Run {
        fixture::run(2, 10, |block| {
            if block.arm == Arm::Variant {
                let rate = block.throughput().expect("a window");
                fixture::set_rate(block, rate * factor);
            }
        })
    }

    #[test]
    fn four_percent_want_a_second_seed_and_twenty_do_not() {
        assert!(sentence(&CHECK, &with_effect(1.04)).contains("x1.0"));
        assert!(found(&CHECK, &with_effect(1.20)).is_empty());
        assert!(found(&CHECK, &with_effect(1.0)).is_empty());
    }
}
