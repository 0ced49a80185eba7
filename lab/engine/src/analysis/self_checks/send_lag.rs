//! Check `send-lag`: the client itself sent late, or could not send at all, so the open loop was not really open.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::Block;

/// Lag in seconds that is too small to matter.
const NEGLIGIBLE: f64 = 0.001;
/// Largest share of the median latency that the 99th percentile of the send lag may reach.
const ALLOWED: f64 = 0.10;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "send-lag",
    about: "the client sent late, or could not send",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    let late_sends = evidence.each(|subject| {
        let (block, lag) = subject.worst(lag)?;
        let usual = block.load.total.quantile(0.5);
        (lag > NEGLIGIBLE.max(ALLOWED * usual)).then(|| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: 1 % of requests were sent {:.1} ms late or more, beside a median latency of {:.1} ms \
                 (block {}).",
                subject.name(),
                lag * 1000.0,
                usual * 1000.0,
                block.index
            ),
            advice: "give the client a CPU of its own (load.cpus) or more threads, or lower the rate",
        })
    });
    let missed_sends = evidence.each(|subject| {
        let (missed_sends, sent) = (subject.summary.missed_sends, subject.summary.sent);
        (missed_sends > 0).then(|| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: {missed_sends} of {} arrivals could not be sent: every connection was taken.",
                subject.name(),
                missed_sends + sent
            ),
            advice: "allow more connections, or read the result as \"overloaded at this rate\"",
        })
    });
    late_sends.into_iter().chain(missed_sends).collect()
}

fn lag(block: &Block) -> Option<f64> {
    let lag = &block.load.send_lag;
    (lag.count() > 0).then(|| lag.quantile(0.99))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::Run;

    fn with_lag(milliseconds: u64) -> Run {
        fixture::run(1, 4, |block| {
            for _ in 0..100 {
                block
                    .load
                    .send_lag
                    .record(Duration::from_millis(milliseconds));
            }
        })
    }

    #[test]
    fn a_client_that_sends_late_is_told() {
        assert!(sentence(&CHECK, &with_lag(12)).contains("12.0 ms late"));
        // The limit is a tenth of the median latency of 25 ms.
        assert!(found(&CHECK, &with_lag(2)).is_empty());
    }

    #[test]
    fn arrivals_that_were_never_sent_are_told() {
        let run = fixture::run(1, 4, |block| block.load.missed_sends = 5);
        assert!(sentence(&CHECK, &run).contains("20 of 8020 arrivals"));
    }
}
