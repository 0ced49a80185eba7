//! Check `tail-samples`: the 99th percentile of 500 requests is the fifth-worst of them, which is a matter of chance.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::analysis::metric::{BEYOND, beyond};
use crate::scenario::Metric;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "tail-samples",
    about: "fewer than ten requests lie beyond a quantile",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let primary = evidence.run.header.scenario.design.primary;
    let remark = |metric: Metric| {
        let share = metric.quantile()?;
        let subjects = evidence.subjects();
        let blocks = subjects
            .iter()
            .flat_map(|it| it.blocks.iter().map(move |block| (it, *block)));
        let (subject, smallest) = blocks.min_by_key(|(_, block)| block.load.total.count())?;
        let requests_beyond = beyond(smallest, share);
        (requests_beyond < BEYOND).then(|| Remark {
            severity: if metric == primary { Severity::Critical } else { Severity::Note },
            sentence: format!(
                "{} is left out where fewer than {BEYOND:.0} requests lie beyond it: a block of {} has {} \
                 requests, {requests_beyond:.1} beyond.",
                metric.name(),
                subject.name(),
                smallest.load.total.count()
            ),
            advice: "measure longer for it (design.block, load.requests)",
        })
    };
    Metric::ALL.into_iter().filter_map(remark).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::{Severity, fixture};
    use crate::scenario::Metric;

    #[test]
    fn a_percentile_that_stands_on_five_requests_is_told() {
        let mut run = fixture::run(1, 4, |block| {
            block.load.completed = 500;
            fixture::set_rate(block, 100.0);
        });
        assert!(sentence(&CHECK, &run).contains("500 requests, 5.0 beyond"));
        assert_eq!(found(&CHECK, &run)[0].severity, Severity::Note);
        run.header.scenario.design.primary = Metric::P99;
        assert_eq!(found(&CHECK, &run)[0].severity, Severity::Critical);
        assert!(found(&CHECK, &fixture::run(1, 4, |_| {})).is_empty());
    }
}
