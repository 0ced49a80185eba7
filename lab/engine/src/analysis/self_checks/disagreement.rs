//! Check `disagreement`: the robust statistics contradict the t interval, because a few outlying pairs dominate it.

use super::{Evidence, Remark, SelfCheck, Severity};

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "disagreement",
    about: "signed ranks and the t interval contradict each other",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let estimates = evidence
        .analysis
        .primary()
        .filter_map(|it| Some((it, it.estimate?)));
    estimates
        .filter(|(_, estimate)| estimate.disagree)
        .map(|(comparison, it)| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{} / {}: t says x{:.3} (p = {:.3}), signed ranks say x{:.3} (p = {:.3}): a few wild pairs \
                 decide.",
                comparison.name,
                comparison.baseline,
                it.ratio,
                it.p,
                it.hodges_lehmann.estimate,
                it.signed_rank_p
            ),
            advice: "look at the pairs one by one, and at what else ran on the machine then",
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::Arm;

    #[test]
    fn one_wild_pair_against_thirteen_is_told() {
        let mut wild = true;
        let run = fixture::run(2, 14, |block| {
            if block.arm == Arm::Variant {
                let factor = if wild { 0.3 } else { 1.04 };
                wild = false;
                let rate = block.throughput().expect("a window");
                fixture::set_rate(block, rate * factor);
            }
        });
        assert!(sentence(&CHECK, &run).contains("wild pairs"));
        assert!(found(&CHECK, &fixture::run(2, 10, |_| {})).is_empty());
    }
}
