//! Tests of the queue's rules while worker threads are stuck in their jobs.

use std::time::Duration;

use super::queue::{Now, Price, Queue, Rules};
use super::seats::GRACE;

const SECOND: Duration = Duration::from_secs(1);

fn queue(threads: usize, bytes: u64) -> Queue<&'static str> {
    let rules = Rules {
        threads,
        most_waiting: 1000,
        target_wait: SECOND,
        max_wait: 2 * SECOND,
    };
    Queue::new(rules, bytes)
}

/// Admits a job that takes one second.
fn join(queue: &mut Queue<&'static str>, now: Now, name: &'static str, bytes: u64, deadline: Now) {
    let turn = queue.expect(now, SECOND, deadline, None).unwrap();
    let price = Price {
        time: SECOND,
        decode: Duration::ZERO,
        bytes,
    };
    let alone = |_: &_, _: &_| false;
    queue.join(now, turn, price, deadline, name, alone).unwrap();
}

#[test]
fn nobody_stands_back_for_a_job_that_waits_for_the_memory_of_one_that_is_stuck() {
    let mut queue = queue(2, 100);
    let deadline = 30 * SECOND;
    join(&mut queue, Duration::ZERO, "stuck", 60, deadline);
    assert_eq!(queue.next(Duration::ZERO).map(|it| it.1), Some("stuck"));

    let began = 20 * SECOND;
    join(&mut queue, began, "large", 50, 2 * deadline);
    assert_eq!(queue.next(began), None);
    join(&mut queue, began, "small", 10, 2 * deadline);
    let later = began + SECOND;
    assert_eq!(queue.next(later), None, "the memory may be free any moment");
    let next = queue.next(deadline + GRACE);
    assert_eq!(next.map(|it| it.1), Some("small"));
    assert_eq!(queue.waiting(), 1);
}

#[test]
fn a_thread_that_is_lost_does_no_work_for_those_that_wait() {
    let mut queue = queue(2, 100);
    let deadline = 60 * SECOND;
    for name in ["one", "two", "three"] {
        join(&mut queue, Duration::ZERO, name, 1, deadline);
    }
    let both = queue.backlog(Duration::ZERO);
    queue.set_stuck(1);
    assert_eq!(queue.backlog(Duration::ZERO), 2 * both);
}
