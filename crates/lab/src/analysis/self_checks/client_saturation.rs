//! The client was the bottleneck: what was measured is the client.

use super::{Evidence, Remark, SelfCheck, Severity};

/// Share of its threads' time that the client may be busy.
const BUSY: f64 = 0.70;
/// Share of what it reached against a null responder.
const OF_CEILING: f64 = 0.80;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "client-saturation",
    about: "the client was busy, or near what it can do at all",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let busy = subject.median(|block| Some(block.client.busy))?;
        let of_ceiling = subject.median(|block| {
            let ceiling = block.client.ceiling;
            let rate = block.throughput()?;
            (ceiling > 0.0).then(|| rate / ceiling)
        });
        let seen = if busy > BUSY {
            format!("the client was busy for {:.0} % of its time", busy * 100.0)
        } else {
            let share = of_ceiling.filter(|share| *share > OF_CEILING)?;
            format!(
                "the rate is {:.0} % of what the client reaches at all",
                share * 100.0
            )
        };
        Some(Remark {
            severity: Severity::Grave,
            sentence: format!("{}: {seen}: it may be what limits.", subject.name()),
            advice: "give the client more threads or CPUs of its own, or ask for larger work",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;

    #[test]
    fn a_busy_client_and_one_near_its_ceiling_are_told() {
        let run = fixture::run(1, 4, |block| block.client.busy = 0.85);
        assert!(sentence(&CHECK, &run).contains("85 %"));
        let run = fixture::run(1, 4, |block| block.client.ceiling = 420.0);
        assert!(sentence(&CHECK, &run).contains("of what the client reaches"));
    }

    #[test]
    fn an_idle_client_without_a_known_ceiling_is_not() {
        let run = fixture::run(1, 4, |block| block.client.ceiling = 0.0);
        assert!(found(&CHECK, &run).is_empty());
    }
}
