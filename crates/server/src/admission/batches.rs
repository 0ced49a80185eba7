//! Tests of the queue's rules for jobs that can share one decode.

use std::collections::HashMap;
use std::time::Duration;

use andon_cache::Key;

use super::queue::{Now, Price, Queue, Rules, Turn};
use crate::error::Cause;

/// A job's name. Jobs whose names begin with the same letter can share one decode.
type Job = &'static str;

const NOW: Now = Duration::ZERO;
const DEADLINE: Now = Duration::from_secs(600);

fn queue(threads: usize) -> Queue<Job> {
    let rules = Rules {
        threads,
        most_waiting: 10_000,
        target_wait: Duration::from_millis(500),
        max_wait: Duration::from_secs(2),
    };
    Queue::new(rules, 1000)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn joins(one: &Job, other: &Job) -> bool {
    one[..1] == other[..1]
}

fn source(name: Job) -> Option<Key> {
    Some(Key::of(&[&name[..1]]))
}

fn expect(queue: &mut Queue<Job>, name: Job) -> Result<Turn, Cause> {
    let expected = queue.expect(NOW, Duration::ZERO, DEADLINE, source(name));
    expected.map_err(|refusal| refusal.cause)
}

/// Admits a job that takes `time` milliseconds, of which `decode` are spent on decoding.
fn join(queue: &mut Queue<Job>, name: Job, time: u64, decode: u64) -> Result<u64, Cause> {
    let turn = expect(queue, name)?;
    let price = Price {
        time: millis(time),
        decode: millis(decode),
        bytes: 1,
    };
    let joined = queue.join(NOW, turn, price, DEADLINE, name, joins);
    joined.map_err(|refusal| refusal.cause)
}

#[test]
fn company_is_taken_along_in_turn_as_far_as_it_fits_and_nobody_else() {
    let mut queue = queue(1);
    let mut prices = HashMap::new();
    for (name, time, bytes) in [
        ("a1", 1, 400),
        ("a4", 4, 400),
        ("b2", 2, 100),
        ("a3", 3, 900),
        ("a5", 5, 100),
    ] {
        let turn = expect(&mut queue, name).unwrap();
        let price = Price {
            time: millis(time),
            decode: Duration::ZERO,
            bytes,
        };
        prices.insert(name, price);
        queue.join(NOW, turn, price, DEADLINE, name, joins).unwrap();
    }
    let (first, name) = queue.next(NOW).unwrap();
    assert_eq!(name, "a1");
    let along = queue.take_along(NOW, first, |name, free| {
        (name.starts_with('a') && prices[name].bytes <= free).then_some(prices[name])
    });
    let names: Vec<_> = along.iter().map(|(_, name)| *name).collect();
    assert_eq!(names, ["a4", "a5"], "a3 does not fit beside a1");
    assert_eq!((queue.budget().used(), queue.running()), (900, 3));
    assert_eq!(queue.waiting(), 2);
    // What they share is there until the last of them is done, whoever that is.
    for id in [along[0].0, first] {
        queue.done(id);
        assert_eq!(queue.budget().used(), 900);
    }
    queue.done(along[1].0);
    assert_eq!((queue.budget().used(), queue.running()), (0, 0));
}

#[test]
fn a_decode_that_several_jobs_use_counts_once() {
    let mut queue = queue(1);
    for (name, expected) in [("a1", 100), ("a2", 110), ("a3", 120), ("b1", 220)] {
        join(&mut queue, name, 100, 90).unwrap();
        assert_eq!(queue.backlog(NOW), millis(expected), "{name}");
    }
}

#[test]
fn the_decode_still_counts_when_the_job_it_counted_for_leaves() {
    let mut queue = queue(1);
    let ids = ["a1", "a2", "a3"].map(|name| join(&mut queue, name, 100, 90).unwrap());
    queue.withdraw(ids[0]);
    assert_eq!(queue.backlog(NOW), millis(110));
    queue.withdraw(ids[2]);
    assert_eq!(queue.backlog(NOW), millis(100));
    queue.withdraw(ids[1]);
    assert_eq!(queue.backlog(NOW), millis(0));
}

#[test]
fn under_overload_only_those_are_admitted_that_may_join_a_decode() {
    let mut queue = queue(1);
    const NAMES: [Job; 8] = ["c", "d", "e", "f", "g", "h", "i", "j"];
    for name in NAMES {
        join(&mut queue, name, 400, 390).unwrap_or_default();
    }
    // More than two seconds of work are waiting.
    assert_eq!(join(&mut queue, "a", 400, 390), Err(Cause::Wait));
    assert!(join(&mut queue, "c2", 400, 390).is_ok());
    let before = queue.backlog(NOW);
    // It looked like one that may join, and its plan says otherwise.
    let turn = expect(&mut queue, "c3").unwrap();
    let price = Price {
        time: millis(400),
        decode: millis(390),
        bytes: 1,
    };
    let apart = |_: &Job, _: &Job| false;
    let refused = queue.join(NOW, turn, price, DEADLINE, "c3", apart);
    assert_eq!(refused.unwrap_err().cause, Cause::Wait);
    assert_eq!(queue.backlog(NOW), before);
}

#[test]
fn a_batch_is_no_larger_than_what_goes_along_at_once() {
    let mut queue = queue(1);
    let admitted = (0..100)
        .take_while(|_| join(&mut queue, "a", 3000, 2900).is_ok())
        .count();
    assert_eq!(admitted, 16);
}
