//! Check `lower-cpu`: CPU use is lower mostly because fewer requests were served. In report 2 of
//! `lab/docs/field-reports.md`, CPU use fell from 80 to 25 % while the rate fell from 2.97 to 1.27 requests per second.

use super::{Evidence, Remark, SelfCheck, Severity};

/// The check reports a variant only if its CPU use is at least this share lower.
const LESS_CPU: f64 = 0.10;
/// The check reports a variant with lower CPU use only if its rate of requests is at least this share lower.
const LESS_RATE: f64 = 0.05;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "lower-cpu",
    about: "CPU use is lower mostly because the rate is",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (baseline, other) in evidence.versus_baseline() {
        let use_and_rate = |it: &super::Summary| {
            let cpus = it.server_cpus().filter(|cpus| *cpus > 0.0)?;
            (it.completed > 0).then(|| (cpus, it.completed as f64 / it.seconds))
        };
        let figures = use_and_rate(baseline.summary).zip(use_and_rate(other.summary));
        let Some(((cpus_a, rate_a), (cpus_b, rate_b))) = figures else {
            continue;
        };
        let (cpus, rate) = (cpus_b / cpus_a, rate_b / rate_a);
        let cost = cpus / rate;
        let mostly_rate = rate.ln().abs() > cost.ln().abs();
        if cpus > 1.0 - LESS_CPU || rate > 1.0 - LESS_RATE || !mostly_rate {
            continue;
        }
        remarks.push(Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{} uses {cpus_b:.2} CPUs where {} uses {cpus_a:.2} (x{cpus:.2}): x{rate:.2} is its lower rate, \
                 only x{cost:.2} is CPU per request.",
                other.name(),
                baseline.name()
            ),
            advice: "compare cpu_s_per_request, not CPU use",
        });
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::{Arm, Run};

    fn with(rate: f64, cpu: f64) -> Run {
        fixture::run(2, 4, |block| {
            let (rate, cpu) = if block.arm == Arm::Variant {
                (rate, cpu)
            } else {
                (2.97, 1.60)
            };
            fixture::set_rate(block, rate);
            block.server.user_seconds = cpu * block.load.seconds;
            block.server.system_seconds = 0.0;
        })
    }

    #[test]
    fn the_second_field_report_is_told_that_its_rate_fell() {
        let text = sentence(&CHECK, &with(1.27, 0.50));
        assert!(
            text.contains("x0.43 is its lower rate, only x0.73 is CPU per request"),
            "{text}"
        );
    }

    #[test]
    fn less_cpu_for_the_same_rate_is_a_true_gain() {
        assert!(found(&CHECK, &with(2.97, 0.80)).is_empty());
        assert!(found(&CHECK, &with(1.27, 1.60)).is_empty());
    }
}
