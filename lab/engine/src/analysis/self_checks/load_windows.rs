//! Check `load-windows`: load averages come from windows of different length. Those of report 1 in
//! `lab/docs/field-reports.md`, 13.9 and 5.1, came from runs of 205 and 27 s; without their decay, both are about 14.

use super::{Evidence, Remark, SelfCheck, Severity, Subject};
use crate::record::{Block, PhaseKind};
use crate::stats::{Decay, undecayed};

/// Largest difference, as a share, between the lengths of two windows.
const ALLOWED: f64 = 0.10;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "load-windows",
    about: "load averages come from windows of unequal length",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (baseline, other) in evidence.versus_baseline() {
        let Some((a, b)) = Window::of(&baseline).zip(Window::of(&other)) else {
            continue;
        };
        if (a.seconds / b.seconds).ln().abs() <= ALLOWED || a.load + b.load <= 0.0 {
            continue;
        }
        remarks.push(Remark {
            severity: Severity::Warning,
            sentence: format!(
                "Load averages {:.1} ({}) and {:.1} ({}) come from windows of {:.0} and {:.0} s: with the decay \
                 undone they are {:.1} and {:.1}.",
                a.load,
                baseline.name(),
                b.load,
                other.name(),
                a.seconds,
                b.seconds,
                a.tasks,
                b.tasks
            ),
            advice: "compare the mean of runnable tasks instead, or windows of equal length",
        });
    }
    remarks
}

/// The time under load that a load average comes from.
struct Window {
    seconds: f64,
    load: f64,
    tasks: f64,
}

impl Window {
    fn of(subject: &Subject<'_>) -> Option<Self> {
        Some(Self {
            seconds: subject.median(loaded)?,
            load: subject.median(|block| Some(block.system.load_1))?,
            tasks: subject.median(|block| {
                let before = block.timeline.first().map_or(0.0, |tick| tick.load_1);
                undecayed(
                    before,
                    block.system.load_1,
                    loaded(block)?,
                    Decay::OneMinute,
                )
            })?,
        })
    }
}

/// Returns the seconds under load until the end of the window: ramp-up, warm-up and measured window.
fn loaded(block: &Block) -> Option<f64> {
    let loaded = block.phases.iter().filter(|it| {
        matches!(
            it.kind,
            PhaseKind::Ramp | PhaseKind::Warmup | PhaseKind::Measure
        )
    });
    let seconds: f64 = loaded.map(|it| it.to - it.from).sum();
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::{Arm, PhaseKind};

    #[test]
    fn the_first_field_report_is_told_that_its_loads_are_equal() {
        let run = fixture::run(2, 4, |block| {
            let (seconds, load) = if block.arm == Arm::Variant {
                (27.0, 5.1)
            } else {
                (205.0, 13.9)
            };
            block.phases = vec![fixture::phase(PhaseKind::Measure, 0.0, seconds)];
            block.system.load_1 = load;
        });
        let text = sentence(&CHECK, &run);
        assert!(
            text.contains("13.9 (v0) and 5.1 (v1) come from windows of 205 and 27 s"),
            "{text}"
        );
        assert!(text.contains("they are 14.4 and 14.1"), "{text}");
    }

    #[test]
    fn windows_of_equal_length_compare() {
        let run = fixture::run(2, 4, |block| {
            block.system.load_1 = if block.arm == Arm::Variant { 2.0 } else { 3.0 };
        });
        assert!(found(&CHECK, &run).is_empty());
    }
}
