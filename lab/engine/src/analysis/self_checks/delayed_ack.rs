//! Check `delayed-ack`: Nagle's algorithm on the server and delayed acknowledgements on the client wait for each other.
//! Without TCP_NODELAY, a reply that is written in two parts takes 40 ms during which neither side works. Python's
//! `http.server` does this with every reply.
//!
//! The first part is sent at once. The second, being small, is held back until the first is acknowledged, and the
//! client's kernel delays that acknowledgement for 40 ms (TCP_DELACK_MIN), hoping for data to send it with.

use super::{Evidence, Remark, SelfCheck, Severity};
use crate::record::{Block, Latencies};

/// Range in seconds of the gap between a reply's head and its end that counts as the kernel's timer of 40 ms: a little
/// shorter by rounding, or a little longer on a busy machine.
const TIMER: std::ops::Range<f64> = 0.038..0.060;
/// The check applies only if the response times of the middle 90 % of requests differ by less than this, in seconds: a
/// timer delays all requests alike.
const SPREAD: f64 = 0.015;
/// Largest share of the gap between a reply's head and its end that the server may spend on CPU work. Above it, that
/// work explains the gap, not a timer.
const WORKING: f64 = 0.5;

pub(super) const CHECK: SelfCheck = SelfCheck {
    name: "delayed-ack",
    about: "every reply waits 40 ms for a timer of TCP (Nagle's algorithm and delayed acknowledgements)",
    examine,
};

fn examine(evidence: &Evidence<'_>) -> Vec<Remark> {
    evidence.each(|subject| {
        let gap = subject.median(gap)?;
        let latency = subject.median(|block| Some(block.load.service.quantile(0.5)))?;
        Some(Remark {
            severity: Severity::Critical,
            sentence: format!(
                "{}: the body comes {:.0} ms after its head, of {:.0} ms for the whole reply: that is TCP's timer (Nagle's \
                 algorithm on the server waits for an acknowledgement that the client delays), not work.",
                subject.name(),
                gap * 1e3,
                latency * 1e3
            ),
            advice: "let the server set TCP_NODELAY, or write head and body in one piece (Python: \
                     `wbufsize = -1` in the handler)",
        })
    })
}

/// Returns the gap between a reply's head and its end in seconds (the difference of the two median times) if it looks
/// like the kernel's timer; otherwise `None`.
fn gap(block: &Block) -> Option<f64> {
    let load = &block.load;
    let gap = load.service.quantile(0.5) - load.waiting.quantile(0.5);
    let (fewest, spread) = (
        load.service.count().min(load.waiting.count()),
        spread(&load.service),
    );
    // The gap contains no work of the client. The server's work is known only if its processes were found.
    let is_computing = block.server.is_known() && block.cpu_per_request()? > WORKING * gap;
    (fewest > 0 && TIMER.contains(&gap) && spread < SPREAD && !is_computing).then_some(gap)
}

/// Returns the distance between the 5th and the 95th percentile, in seconds.
fn spread(times: &Latencies) -> f64 {
    times.quantile(0.95) - times.quantile(0.05)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::{found, sentence};
    use super::CHECK;
    use crate::analysis::fixture;
    use crate::record::{Block, Latencies, Run};

    fn latencies(micros: impl Iterator<Item = u64>) -> Latencies {
        let mut all = Latencies::new();
        micros.for_each(|micros| all.record(Duration::from_micros(micros)));
        all
    }

    /// Returns a run in which `head` and `whole` give the time to each reply's head and end in microseconds, and the
    /// server spends `cpu_seconds` on each request.
    fn run(head: fn(u64) -> u64, whole: fn(u64) -> u64, cpu_seconds: f64) -> Run {
        fixture::run(1, 4, |block: &mut Block| {
            block.load.waiting = latencies((0..200).map(head));
            block.load.service = latencies((0..200).map(whole));
            block.load.completed = 200;
            block.server.user_seconds = 200.0 * cpu_seconds;
            block.server.system_seconds = 0.0;
        })
    }

    /// Replies as Python's `http.server` sent them on a machine with two cores: 41 to 44 ms, the head after 0.6 to 1.4
    /// ms.
    #[test]
    fn two_writes_without_nodelay_are_told_from_the_time_between_head_and_body() {
        let run = run(
            |at| 600 + at * 4,
            |at| 41_200 + at * 14 + if at % 50 == 0 { 9_000 } else { 0 },
            0.000_4,
        );
        let text = sentence(&CHECK, &run);
        assert!(
            text.contains("42 ms after its head") || text.contains("41 ms after its head"),
            "{text}"
        );
        assert!(text.contains("TCP's timer"), "{text}");
    }

    #[test]
    fn a_server_that_works_for_40_ms_is_left_in_peace() {
        let all_at_once = run(|at| 41_000 + at * 5, |at| 41_100 + at * 5, 0.040);
        assert!(found(&CHECK, &all_at_once).is_empty());
        let head_first = run(|_| 700, |at| 41_000 + at * 5, 0.040);
        assert!(found(&CHECK, &head_first).is_empty());
        let uneven = run(|_| 700, |at| 5_000 + at * 360, 0.000_4);
        assert!(found(&CHECK, &uneven).is_empty());
        assert!(found(&CHECK, &fixture::run(1, 4, |_| {})).is_empty());
    }
}
