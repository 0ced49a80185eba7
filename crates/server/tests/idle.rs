//! `Andon-Priority: idle`: requests that give way to all others.

use crate::common::{House, Reply, trick_target, wait_for_figure};

const TOKEN: &str = "a token of some length";
const TARGET: &str = "/small_light(dw=10)/a.jpg";
const IDLE: (&str, &str) = ("Andon-Priority", "idle");
const AUTHORIZED: (&str, &str) = ("Authorization", "Bearer a token of some length");

/// A server with one worker thread, and with time limits that are never reached.
fn house() -> House {
    House::with(&format!(
        "workers = 1\nmax_wait = \"1h\"\n[cache]\nfs_fresh = \"0s\"\n[timeouts]\nrequest = \"2m\"\n[admin]\ntoken = \"{TOKEN}\"\n"
    ))
}

fn idle(house: &House, target: &str) -> Reply {
    house.request("GET", target, &[IDLE, AUTHORIZED])
}

#[test]
fn it_is_made_when_nobody_else_waits() {
    let house = house();
    let [first, second, last] = ["1", "2", "3"].map(|name| house.put_gate(name));
    std::thread::scope(|scope| {
        let before = scope.spawn(|| house.get(&trick_target("1")));
        first.wait_until_begun();
        let given_way = scope.spawn(|| {
            // It is put off for as long as somebody else works.
            loop {
                let reply = idle(&house, &trick_target("3"));
                if reply.status != 429 {
                    return reply;
                }
            }
        });
        let behind = scope.spawn(|| house.get(&trick_target("2")));
        wait_for_figure(&house, "andon_queue_length", 1.0);
        first.release();
        second.wait_until_begun();
        assert!(!last.has_begun());
        second.release();
        last.wait_until_begun();
        last.release();
        for reply in [before, behind, given_way] {
            assert_eq!(reply.join().expect("a reply").status, 200);
        }
    });
}

#[test]
fn it_is_put_off_while_others_work_and_what_is_in_the_cache_is_not() {
    let house = house();
    let gate = house.put_gate("slow");
    assert_eq!(house.get(TARGET).status, 200);
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| house.get(&trick_target("slow")));
        gate.wait_until_begun();
        let hit = idle(&house, TARGET);
        assert_eq!(hit.status, 200);
        let status = hit.header("cache-status").unwrap_or_default();
        assert!(status.starts_with("andon; hit"), "{status}");
        let put_off = idle(&house, "/small_light(dw=11)/a.jpg");
        assert_eq!(put_off.status, 429, "{}", put_off.text());
        let seconds = put_off.header("retry-after").expect("when to come back");
        assert!(seconds.parse::<u32>().expect("seconds") >= 1);
        gate.release();
        assert_eq!(slow.join().expect("a reply").status, 200);
    });
    let made = idle(&house, "/small_light(dw=11)/a.jpg");
    let status = made.header("cache-status").unwrap_or_default();
    assert_eq!((made.status, status), (200, "andon; fwd=uri-miss; stored"));
}

#[test]
fn a_result_of_a_file_that_has_changed_is_not_in_the_cache() {
    let house = house();
    let gate = house.put_gate("slow");
    assert_eq!(house.get(TARGET).status, 200);
    house.put_sample("a.jpg", "photos/otter.jpg");
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| house.get(&trick_target("slow")));
        gate.wait_until_begun();
        assert_eq!(idle(&house, TARGET).status, 429);
        gate.release();
        assert_eq!(slow.join().expect("a reply").status, 200);
    });
}

#[test]
fn the_best_format_is_made_however_long_it_takes() {
    let keys = format!(
        "[negotiation]\nformats = [\"avif\", \"webp\"]\npatience = \"0s\"\n[admin]\ntoken = \"{TOKEN}\"\n"
    );
    let accept = ("Accept", "image/avif,image/webp");
    let target = "/small_light(dw=10,of=auto)/a.jpg";
    let house = House::with(&keys);
    let hurried = House::with(&keys).request("GET", target, &[accept]);
    let made = house.request("GET", target, &[IDLE, AUTHORIZED, accept]);
    assert_ne!(hurried.format(), "avif");
    assert_eq!((made.status, made.format()), (200, "avif"));
}

#[test]
fn only_the_administrator_may_ask_for_it() {
    let (house, open) = (house(), House::new());
    let wrong = ("Authorization", "Bearer another token");
    for (house, headers, status, said) in [
        (&house, &[IDLE][..], 401, "token"),
        (&house, &[IDLE, wrong], 401, "token"),
        (&open, &[IDLE, AUTHORIZED], 403, "`[admin] token_env`"),
        (
            &house,
            &[("Andon-Priority", "high"), AUTHORIZED],
            400,
            "`idle`",
        ),
    ] {
        let reply = house.request("GET", TARGET, headers);
        assert_eq!(reply.status, status, "{headers:?}");
        assert!(reply.text().contains(said), "{}", reply.text());
    }
    assert_eq!(idle(&house, TARGET).status, 200);
}
