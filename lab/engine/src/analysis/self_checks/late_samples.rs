//! Check `late-samples`: the sampler itself was late, so peaks of memory, threads and CPU may lie between its samples.

use super::{Evidence, Remark, SelfCheck, Severity};

/// Largest share of samples that may come late.
const ALLOWED: f64 = 0.10;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "late-samples",
    about: "samples of /proc came late, so peaks may be missed",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let late = subject.median(|block| Some(block.noise.late_samples))?;
        (late > ALLOWED).then(|| Remark {
            severity: Severity::Note,
            sentence: format!(
                "{}: {:.0} % of samples came late: peaks of memory and threads may be higher than shown.",
                subject.name(),
                late * 100.0
            ),
            advice: "leave a CPU to the lab (server.cpus, load.cpus), or sample less often",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;

    #[test]
    fn a_sampler_that_mostly_comes_late_is_told() {
        let run = fixture::run(1, 4, |block| block.noise.late_samples = 0.4);
        assert!(sentence(&CHECK, &run).contains("40 % of samples"));
        let run = fixture::run(1, 4, |block| block.noise.late_samples = 0.02);
        assert!(found(&CHECK, &run).is_empty());
    }
}
