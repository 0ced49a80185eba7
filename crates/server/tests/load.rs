//! More work than there are hands.

mod common;

use std::thread;
use std::time::Duration;

use common::{House, trick_target};

const SMALL: &str = "/small_light(dw=10)/a.jpg";

#[test]
fn what_finds_no_place_is_503_at_once_and_told_when_to_come_back() {
    let house = House::with("workers = 1\nqueue = 0\n");
    let gate = house.put_gate("wait.trick");
    let mut busy = house.client();
    busy.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();

    let refused = house.get(SMALL);
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.header("cache-control"), Some("no-store"));
    assert_eq!(refused.text().lines().count(), 1);
    // What needs no pixels goes on.
    assert_eq!(house.get("/a.jpg").status, 200);
    assert_eq!(house.get("/healthz").status, 200);
    assert_eq!(house.get("/small_light(dw=10)/missing.jpg").status, 404);

    gate.release();
    assert_eq!(busy.reply("GET").status, 200);
    assert_eq!(house.get(SMALL).status, 200);
}

#[test]
fn what_finds_a_place_in_the_queue_waits_and_is_served() {
    let house = House::with("workers = 1\nqueue = 3\n");
    let gate = house.put_gate("wait.trick");
    let mut busy = house.client();
    busy.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();
    let mut waiting: Vec<_> = (0..3).map(|_| house.client()).collect();
    for client in &mut waiting {
        client.ask("GET", SMALL, &[]);
    }
    gate.release();
    for client in &mut waiting {
        assert_eq!(client.reply("GET").status, 200);
    }
}

#[test]
fn work_whose_client_left_is_stopped() {
    let house = House::with("workers = 1\nqueue = 0\n");
    let gate = house.put_gate("wait.trick");
    let mut leaving = house.client();
    leaving.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();
    drop(leaving);
    gate.wait_until_stopped();
}

#[test]
fn work_whose_deadline_passed_is_stopped_and_answered_with_503() {
    let house = House::with("[timeouts]\nrequest = \"1s\"\n");
    let gate = house.put_gate("wait.trick");
    let reply = house.get(&trick_target("wait.trick"));
    assert_eq!(
        (reply.status, reply.header("retry-after")),
        (503, Some("1"))
    );
    gate.wait_until_stopped();
}

#[test]
fn many_clients_at_once_all_get_the_same_bytes() {
    let house = House::new();
    let target = "/small_light(dw=200,dh=200,da=s,cw=200,ch=200,q=85)/a.jpg";
    let expected = house.get(target).body;
    thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                let mut client = house.client();
                for _ in 0..5 {
                    let reply = client.get(target);
                    assert_eq!((reply.status, &reply.body), (200, &expected));
                }
            });
        }
    });
}

#[test]
fn bodies_arrive_whole_at_a_reader_that_takes_naps() {
    let house = House::new();
    let content: Vec<u8> = (0..6_000_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    house.put("large.bin", &content);
    for headers in [&[][..], &[("Connection", "close")][..]] {
        let mut client = house.client();
        client.ask("GET", "/large.bin", headers);
        thread::sleep(Duration::from_millis(50));
        let mut received = Vec::new();
        while received.len() < content.len() {
            received.extend(client.some(256 << 10));
            thread::sleep(Duration::from_millis(1));
            let begins = received.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(head) = begins.filter(|_| received.starts_with(b"HTTP")) {
                received.drain(..head + 4);
            }
        }
        assert!(received == content, "{headers:?}: {} bytes", received.len());
    }
}
