//! Check `littles-law`: in a closed loop, rate times mean latency is the number of connections. If it is not, time
//! passed that no latency shows: connections were idle, the client was late, or the run was too short.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::Block;
use crate::scenario::Mode;

/// Largest allowed difference from Little's law, as a share.
const ALLOWED: f64 = 0.05;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "littles-law",
    about: "rate x mean latency is not the number of connections",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    if evidence.run.header.scenario.load.mode == Mode::Open {
        return Vec::new();
    }
    evidence.each(|subject| {
        let in_flight = subject.median(in_flight)?;
        let connections = subject.median(|block| Some(f64::from(block.load.connections)))?;
        // The first request of a connection began before the window, and the last one ended after it. This matters if a
        // connection has few requests.
        let each = subject.median(|block| Some(block.load.completed as f64))? / connections;
        ((in_flight / connections - 1.0).abs() > ALLOWED + 0.5 / each).then(|| Remark {
            severity: Severity::Warning,
            sentence: format!(
                "{}: rate x mean latency gives {in_flight:.1} requests in flight, with {connections:.0} \
                 connections.",
                subject.name()
            ),
            advice: "look for idle connections, a busy client or a window that is too short; do not compare \
                     latencies",
        })
    })
}

/// Returns rate times mean latency, i.e. the mean number of requests in flight. `None` for blocks with failures,
/// because failed requests keep a connection busy as well.
fn in_flight(block: &Block) -> Option<f64> {
    let load = &block.load;
    let can_tell = load.completed > 0 && load.connections > 0 && load.failures.all() == 0;
    // `total` includes the time to connect.
    let time = load.total.mean();
    can_tell
        .then(|| block.throughput().map(|rate| rate * time))
        .flatten()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::Arm;

    #[test]
    fn five_in_flight_over_ten_connections_are_told() {
        let mut run = fixture::run(2, 4, |block| {
            if block.arm == Arm::Variant {
                // The connections were idle for half of the time.
                block.load.seconds *= 2.0;
            }
        });
        let text = sentence(&CHECK, &run);
        assert!(
            text.contains("5.0 requests in flight, with 10 connections"),
            "{text}"
        );
        run.header.scenario.load.mode = crate::scenario::Mode::Open;
        assert!(found(&CHECK, &run).is_empty());
    }

    #[test]
    fn three_requests_per_connection_are_too_few_to_tell() {
        let with = |completed: u64| {
            let mut run = fixture::run(2, 4, |block| {
                block.load.completed = completed;
                fixture::set_rate(block, 400.0);
            });
            run.blocks.iter_mut().for_each(|it| it.load.seconds *= 1.12);
            run
        };
        assert!(found(&CHECK, &with(30)).is_empty());
        assert!(!found(&CHECK, &with(300)).is_empty());
    }

    #[test]
    fn busy_connections_obey_the_law() {
        assert!(found(&CHECK, &fixture::run(2, 4, |_| {})).is_empty());
        // Ten connections took long to open at the start and were kept, which does not affect the other requests.
        let run = fixture::run(2, 4, |block| {
            block.load.connect.record(Duration::from_secs(1));
        });
        assert!(found(&CHECK, &run).is_empty());
    }
}
