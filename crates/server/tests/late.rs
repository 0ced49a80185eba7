//! Requests that join what others have begun: each waits for as long as itself may.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::origin::Origin;
use crate::common::{House, sample, trick_target, wait_for_followers};

const KEYS: &str = "[timeouts]\nrequest = \"2s\"\n";
const MOST: Duration = Duration::from_secs(2);

#[test]
fn who_joins_a_result_late_waits_by_its_own_deadline() {
    let house = House::with(KEYS);
    let gate = house.put_gate("wait.trick");
    let target = trick_target("wait.trick");
    let mut first = house.client();
    first.ask("GET", &target, &[]);
    gate.wait_until_begun();
    sleep(MOST / 2);
    let mut second = house.client();
    second.ask("GET", &target, &[]);
    wait_for_followers(&house, "result", 1);
    assert_eq!(first.reply("GET").status, 503);
    // A decoder that was told to stop would have stopped by now.
    sleep(MOST / 8);
    gate.release();
    let reply = second.reply("GET");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(gate.times_begun(), 1, "what was begun was finished");
}

#[test]
fn who_joins_a_fetch_late_waits_by_its_own_deadline() {
    let image = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    let origin = Origin::start(image, "Cache-Control: max-age=60\r\n");
    let house = House::with(&format!("{KEYS}{}", origin.keys()));
    origin.hold(true);
    // Another size: what they have in common is the source.
    let ask = |width: u32| {
        let mut client = house.client();
        client.ask("GET", &format!("/small_light(dw={width})/far/a.jpg"), &[]);
        client
    };
    let mut first = ask(10);
    while origin.asked() == 0 {
        sleep(Duration::from_millis(1));
    }
    sleep(MOST / 2);
    let mut second = ask(20);
    wait_for_followers(&house, "fetch", 1);
    let late = first.reply("GET");
    assert!(matches!(late.status, 503 | 504), "{}", late.status);
    sleep(MOST / 8);
    origin.hold(false);
    let reply = second.reply("GET");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(origin.asked(), 1, "what was begun was finished");
}

#[test]
fn who_is_told_how_long_it_has_waited_has_waited_that_long() {
    let house = House::with(KEYS);
    let gate = house.put_gate("wait.trick");
    let target = trick_target("wait.trick");
    let mut first = house.client();
    first.ask("GET", &target, &[]);
    gate.wait_until_begun();
    sleep(MOST / 2);
    let asked = Instant::now();
    let reply = house.get(&target);
    assert_eq!(reply.status, 503);
    assert!(reply.text().contains("after 2s"), "{}", reply.text());
    assert!(asked.elapsed() >= MOST, "{:?}", asked.elapsed());
}

#[test]
fn a_job_that_never_ends_is_stopped_although_there_is_always_somebody_who_waits_for_it() {
    let house = House::with("[timeouts]\nrequest = \"1s\"\n");
    let gate = house.put_gate("wait.trick");
    let target = trick_target("wait.trick");
    let mut waiting = Vec::new();
    while !gate.has_stopped() {
        let mut client = house.client();
        client.ask("GET", &target, &[]);
        waiting.push(client);
        assert!(waiting.len() < 600, "it runs on and on");
        sleep(Duration::from_millis(100));
    }
    // They have time left: it begins again for them.
    let since = Instant::now();
    while gate.times_begun() < 2 {
        assert!(since.elapsed().as_secs() < 60, "nobody has begun it again");
        sleep(Duration::from_millis(1));
    }
    gate.release();
    let last = waiting.last_mut().expect("somebody who waits");
    assert_eq!(last.reply("GET").status, 200);
}
