//! Check `unread-assertion`: an assertion could not be read, so that nobody knows whether the variant's setting reached
//! the server. In report 2 of `lab/docs/field-reports.md`, the author could not see whether an environment variable
//! had.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::Reading;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "unread-assertion",
    about: "an assertion could not be read, so nobody knows whether the switch took effect",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for subject in evidence.subjects() {
        let passes = evidence.run.passes.iter();
        let of_passes = passes
            .filter(|pass| pass.variant == subject.summary.variant)
            .flat_map(|pass| &pass.assertions);
        let of_blocks = subject.blocks.iter().flat_map(|block| &block.assertions);
        let all: Vec<&Reading> = of_blocks.chain(of_passes).collect();
        let mut unread: Vec<&str> = all
            .iter()
            .filter(|one| {
                !all.iter()
                    .any(|it| it.assertion == one.assertion && it.holds.is_some())
            })
            .map(|reading| reading.assertion.as_str())
            .collect();
        unread.sort_unstable();
        unread.dedup();
        remarks.extend(unread.into_iter().map(|assertion| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: the assertion `{assertion}` was never read: whether the switch took effect is not known.",
                subject.name()
            ),
            advice: "let the counting pass run (sample.syscalls), with the rights it needs",
        }));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::{Arm, Pass, Reading};

    fn reading(holds: Option<bool>) -> Reading {
        Reading {
            assertion: "sendfile > 0".into(),
            seen: String::new(),
            holds,
        }
    }

    #[test]
    fn an_assertion_without_its_pass_is_told_and_with_it_is_not() {
        let mut run = fixture::run(2, 4, |block| {
            if block.arm == Arm::Variant {
                block.assertions = vec![reading(None)];
            }
        });
        assert!(sentence(&CHECK, &run).contains("`sendfile > 0`"));
        run.passes.push(Pass {
            variant: 1,
            method: "ptrace".into(),
            requests: 50,
            slowdown: 2.0,
            syscalls: Vec::new(),
            instructions: None,
            assertions: vec![reading(Some(true))],
        });
        assert!(found(&CHECK, &run).is_empty());
    }
}
