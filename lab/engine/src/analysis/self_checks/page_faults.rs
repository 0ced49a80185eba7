//! Check `page-faults`: the server waited for its memory to be read from storage. The cause is a cold start or a
//! machine short of memory, not the variant.

use super::{Evidence, Remark, SelfCheck, Severity};

/// Largest number of major page faults allowed in one window.
const ALLOWED: f64 = 100.0;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "page-faults",
    about: "pages had to be read from storage within the measured window",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let (block, faults) = subject.worst(|block| Some(block.server.major_faults as f64))?;
        let usual = subject.median(|block| Some(block.server.major_faults as f64))?;
        (faults > ALLOWED).then(|| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: {faults:.0} pages had to be read from storage during block {} (usually {usual:.0}).",
                subject.name(),
                block.index
            ),
            advice: "warm up longer, or find out what takes the machine's memory",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;

    #[test]
    fn a_cold_block_is_told_and_a_few_faults_are_not() {
        let run = fixture::run(1, 4, |block| {
            block.server.major_faults = if block.index < 2 { 900 } else { 3 };
        });
        assert!(sentence(&CHECK, &run).contains("900 pages"));
        let run = fixture::run(1, 4, |block| block.server.major_faults = 40);
        assert!(found(&CHECK, &run).is_empty());
    }
}
