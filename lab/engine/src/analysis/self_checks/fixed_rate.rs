//! Check `fixed-rate`: the throughput of an open loop is the requested rate, whatever the variant does.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::scenario::{Metric, Mode};

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "fixed-rate",
    about: "throughput is the primary metric of an open loop, which fixes it",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let scenario = &evidence.run.header.scenario;
    // Load tests of one server (`bench`, `replay`) compare nothing, and their rate was requested explicitly.
    if evidence.observes() {
        return Vec::new();
    }
    if scenario.load.mode != Mode::Open || scenario.design.primary != Metric::Throughput {
        return Vec::new();
    }
    vec![Remark {
        severity: Severity::Critical,
        sentence: format!(
            "The load is {:.0} requests per second whatever the server does: equal throughput says only that \
             both kept up.",
            scenario.load.rate
        ),
        advice: "make p50, p99 or cpu_s_per_request the primary metric",
    }]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::scenario::{Metric, Mode};

    #[test]
    fn throughput_of_an_open_loop_is_told() {
        let mut run = fixture::run(2, 4, |_| {});
        run.header.scenario.load.mode = Mode::Open;
        run.header.scenario.load.rate = 200.0;
        assert!(sentence(&CHECK, &run).contains("200 requests per second"));
        run.header.scenario.design.primary = Metric::P99;
        assert!(found(&CHECK, &run).is_empty());
    }
}
