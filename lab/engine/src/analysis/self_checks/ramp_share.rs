//! Check `ramp-share`: ramp-up is a large part of the run. In report 3 of `lab/docs/field-reports.md`, a run with a
//! cache lasted 0.94 s, of which 0.9 s were ramp-up.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::{Block, PhaseKind};

/// Largest share of the run that may be ramp-up.
const ALLOWED: f64 = 0.10;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "ramp-share",
    about: "ramp-up is more than a tenth of the run, or reaches into the figures",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let (block, share) = subject.worst(share)?;
        let inside = overlap(block) > ALLOWED * length(block, PhaseKind::Measure);
        (share > ALLOWED).then(|| Remark {
            severity: if inside {
                Severity::Critical
            } else {
                Severity::Note
            },
            sentence: format!(
                "{}: the ramp-up of {:.2} s is {:.0} % of a run of {:.2} s{}.",
                subject.name(),
                length(block, PhaseKind::Ramp),
                share * 100.0,
                under_load(block),
                if inside {
                    ", and is in its figures"
                } else {
                    "; it is not in the figures"
                }
            ),
            advice: "measure longer (design.block, load.requests), or ramp up faster",
        })
    })
}

fn share(block: &Block) -> Option<f64> {
    let all = under_load(block);
    (all > 0.0).then(|| length(block, PhaseKind::Ramp) / all)
}

/// Returns the seconds from the first to the last request, ramp-up and warm-up included.
fn under_load(block: &Block) -> f64 {
    let loaded = || {
        block.phases.iter().filter(|it| {
            matches!(
                it.kind,
                PhaseKind::Ramp | PhaseKind::Warmup | PhaseKind::Measure
            )
        })
    };
    let from = loaded().map(|it| it.from).reduce(f64::min);
    let to = loaded().map(|it| it.to).reduce(f64::max);
    from.zip(to).map_or(0.0, |(from, to)| to - from)
}

fn length(block: &Block, kind: PhaseKind) -> f64 {
    let phases = block.phases.iter().filter(|it| it.kind == kind);
    phases.map(|it| it.to - it.from).sum()
}

/// Returns the seconds that belong both to the ramp-up and to the measured window.
fn overlap(block: &Block) -> f64 {
    let of = |kind| block.phases.iter().filter(move |it| it.kind == kind);
    of(PhaseKind::Ramp)
        .flat_map(|ramp| {
            of(PhaseKind::Measure).map(move |it| ramp.to.min(it.to) - ramp.from.max(it.from))
        })
        .map(|seconds| seconds.max(0.0))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::analysis::{Severity, self_checks::Finding};
    use crate::record::{PhaseKind, Run};

    fn with_phases(phases: [(PhaseKind, f64, f64); 2]) -> Run {
        fixture::run(1, 4, |block| {
            block.phases = phases
                .map(|(kind, from, to)| fixture::phase(kind, from, to))
                .to_vec();
        })
    }

    #[test]
    fn a_run_of_0_94_seconds_in_a_ramp_of_0_9_is_grave() {
        let run = with_phases([(PhaseKind::Ramp, 0.0, 0.9), (PhaseKind::Measure, 0.0, 0.94)]);
        assert!(sentence(&CHECK, &run).contains("ramp-up of 0.90 s is 96 % of a run of 0.94 s"));
        assert_eq!(found(&CHECK, &run)[0].severity, Severity::Critical);
    }

    #[test]
    fn a_ramp_before_the_window_is_noted_when_long_and_not_when_short() {
        let run = with_phases([(PhaseKind::Ramp, 0.0, 1.0), (PhaseKind::Measure, 1.0, 5.0)]);
        let [Finding { severity, .. }] = found(&CHECK, &run)[..] else {
            panic!("one finding expected");
        };
        assert_eq!(severity, Severity::Note);
        let run = with_phases([(PhaseKind::Ramp, 0.0, 0.1), (PhaseKind::Measure, 0.1, 5.0)]);
        assert!(found(&CHECK, &run).is_empty());
    }
}
