//! Check `one-order`: variants ran one after the other or only once, so that whatever changed meanwhile looks like an
//! effect. All five reports in `lab/docs/field-reports.md` were made this way.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::analysis::pairs::{Pair, contrasts, pairs};
use crate::scenario::BlockOrder;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "one-order",
    about: "variants ran one after the other, or only once",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let run = evidence.run;
    let contrasts = contrasts(run);
    let counts = |contrast: &_| {
        pairs(run, *contrast)
            .iter()
            .filter(|p| Pair::counts(p))
            .count()
    };
    let Some(fewest) = contrasts.iter().map(counts).min() else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    if run.header.scenario.design.order == BlockOrder::Sequential {
        remarks.push(Remark {
            severity: Severity::Critical,
            sentence: "All blocks of a variant ran before the next one's: an 8 % drift of the machine over \
                       such a run makes 88 % of all comparisons of equal variants \"significant\"."
                .into(),
            advice: "use order = \"abba-random\"",
        });
    }
    if fewest < 2 {
        remarks.push(Remark {
            severity: Severity::Critical,
            sentence: format!(
                "{} of blocks counts: one run per variant says nothing about how much another one \
                 would differ.",
                if fewest == 0 {
                    "No pair"
                } else {
                    "Only one pair"
                }
            ),
            advice: "let it run for at least six pairs",
        });
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::scenario::BlockOrder;

    #[test]
    fn a_sequential_run_and_a_single_pair_are_told() {
        let mut run = fixture::run(2, 10, |_| {});
        assert!(found(&CHECK, &run).is_empty());
        run.header.scenario.design.order = BlockOrder::Sequential;
        assert!(sentence(&CHECK, &run).contains("88 %"));
        let run = fixture::run(2, 1, |_| {});
        assert!(sentence(&CHECK, &run).starts_with("Only one pair"));
    }
}
