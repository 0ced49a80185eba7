//! Check `client-saturation`: the client was the bottleneck, so its own speed was measured.

use super::super::client_limit::client_limit;
use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::Block;

/// Largest share of its threads' time that the client may be busy.
const BUSY: f64 = 0.70;
/// Largest share of the client's limit, as measured against a responder that does nothing, that a rate may reach.
const OF_CEILING: f64 = 0.80;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "client-saturation",
    about: "the client was busy, or near what it can do at all",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let busy = subject.median(|block| Some(block.client.busy))?;
        let evidence_text = if busy > BUSY {
            format!("the client was busy for {:.0} % of its time", busy * 100.0)
        } else {
            // If a block exceeded the measured limit, that limit is wrong, and only the busy share of the client's
            // threads counts.
            let limit = client_limit(evidence.run, &subject.blocks).filter(|it| !it.beaten)?;
            let share = subject.median(Block::throughput)? / limit.rate;
            if share <= OF_CEILING {
                return None;
            }
            format!(
                "the rate is {:.0} % of what the client reaches at all",
                share * 100.0
            )
        };
        Some(Remark {
            severity: Severity::Critical,
            sentence: format!(
                "{}: {evidence_text}: it may be what limits.",
                subject.name()
            ),
            advice: "give the client more threads or CPUs of its own, or ask for larger work",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::analysis::fixture::set_rate;

    #[test]
    fn a_busy_client_and_one_near_its_ceiling_are_told() {
        let run = fixture::run(1, 4, |block| block.client.busy = 0.85);
        assert!(sentence(&CHECK, &run).contains("85 %"));
        let run = fixture::run(1, 4, |block| block.client.ceiling = 420.0);
        assert!(sentence(&CHECK, &run).contains("of what the client reaches"));
    }

    #[test]
    fn a_ceiling_that_a_block_went_beyond_accuses_nobody_but_a_busy_client_still_is() {
        let mut run = fixture::run(1, 4, |block| block.client.ceiling = 420.0);
        set_rate(&mut run.blocks[1], 440.0);
        assert!(found(&CHECK, &run).is_empty());
        for block in &mut run.blocks {
            block.client.busy = 0.85;
        }
        assert!(sentence(&CHECK, &run).contains("85 %"));
    }

    #[test]
    fn an_idle_client_without_a_known_ceiling_is_not() {
        let run = fixture::run(1, 4, |block| block.client.ceiling = 0.0);
        assert!(found(&CHECK, &run).is_empty());
    }
}
