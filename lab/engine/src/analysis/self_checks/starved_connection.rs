//! Check `starved-connection`: one connection waits much longer than the others. In report 3 of
//! `lab/docs/field-reports.md`, two runs had equal throughput but medians of 1605 and 203 ms, because one connection
//! stalled for 91 s while the others were served.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::Block;
use crate::stats::median;

/// Multiple of the usual wait above which a connection counts as starved, if the wait is also a large share of the
/// window.
const TIMES: f64 = 10.0;
/// Share of the window that a wait must last to count as starvation. Shorter waits change no result.
const OF_WINDOW: f64 = 0.05;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "starved-connection",
    about: "one connection waited ten times as long as the others",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let (block, excess) = subject.worst(excess)?;
        (excess > TIMES).then(|| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: one connection waited {:.1} s of a window of {:.1} s, {excess:.0} times as long as usual \
                 (block {}; median latency {:.0} ms).",
                subject.name(),
                longest(block),
                block.load.seconds,
                block.index,
                block.load.total.quantile(0.5) * 1000.0
            ),
            advice: "read medians and throughput with the longest wait beside them; look for a queue that is \
                     not first come, first served",
        })
    })
}

/// Returns the longest wait divided by the usual one; `None` if the longest is too short to matter. The usual wait is
/// the median of all connections' longest waits or, if the longest one takes more than half of the window, the median
/// latency if that is lower.
fn excess(block: &Block) -> Option<f64> {
    let longest = longest(block);
    if longest < OF_WINDOW * block.load.seconds {
        return None;
    }
    let waits: Vec<f64> = block
        .load
        .per_connection
        .iter()
        .map(|it| it.longest_wait)
        .collect();
    let mut usual = median(&waits)?;
    if longest > block.load.seconds / 2.0 && block.load.completed > 0 {
        usual = usual.min(block.load.total.quantile(0.5));
    }
    (usual > 0.0).then(|| longest / usual)
}

fn longest(block: &Block) -> f64 {
    super::super::summary::longest_wait(block)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::Run;

    fn with_waits(longest: f64, others: f64) -> Run {
        fixture::run(1, 4, |block| {
            fixture::set_rate(block, 20.0);
            for (at, connection) in block.load.per_connection.iter_mut().enumerate() {
                connection.longest_wait = if at == 0 { longest } else { others };
            }
        })
    }

    #[test]
    fn one_stall_of_91_seconds_is_told() {
        let text = sentence(&CHECK, &with_waits(91.3, 2.0));
        assert!(
            text.contains("waited 91.3 s of a window of 100.0 s, 18"),
            "{text}"
        );
        // The check works even if all connections but a few starve.
        assert!(sentence(&CHECK, &with_waits(91.3, 90.0)).contains("91.3 s"));
    }

    #[test]
    fn waits_that_all_share_and_short_ones_are_not_starvation() {
        assert!(found(&CHECK, &with_waits(8.0, 6.0)).is_empty());
        assert!(found(&CHECK, &with_waits(2.0, 0.1)).is_empty());
    }
}
