//! Overload: more work than worker threads can do.

use std::thread;
use std::time::Duration;

use crate::common::{House, sample, trick_target, wait_for_figure, wait_for_followers};

/// Returns the request target of a result with a canvas of `side` × `side` px, whose plan predicts seconds of encoding.
fn heavy_target(side: u32, name: &str) -> String {
    format!("/small_light(dw=4,cw={side},ch={side},of=png)/{name}")
}

/// Starts a server with these configuration keys that already knows where the image in `a.jpg` ends, so that it sends
/// the unchanged file without a worker thread.
fn house_that_knows_its_image(keys: &str) -> House {
    let house = House::with(keys);
    assert_eq!(house.get("/a.jpg").status, 200);
    house
}

/// Waits until at least `length` requests are in the queue.
fn wait_until_in_line(house: &House, length: usize) {
    wait_for_figure(house, "andon_queue_length", length as f64);
}

const SMALL: &str = "/small_light(dw=10)/a.jpg";

#[test]
fn what_finds_no_place_is_503_at_once_and_told_when_to_come_back() {
    let house = house_that_knows_its_image("workers = 1\nqueue = 0\n");
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
fn what_is_rejected_does_not_cost_a_look_at_its_file() {
    let house = House::with("workers = 1\nqueue = 0\n");
    assert_eq!(house.get(SMALL).status, 200);
    let gate = house.put_gate("wait.trick");
    let mut busy = house.client();
    busy.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();

    // Whoever looked would see that it is not there any more.
    std::fs::remove_file(house.file("a.jpg")).unwrap();
    let larger = "/small_light(dw=20)/a.jpg";
    assert_eq!(house.get(larger).status, 503);
    gate.release();
    assert_eq!(busy.reply("GET").status, 200);
    assert_eq!(house.get(larger).status, 404);
}

#[test]
fn what_is_known_not_to_be_possible_is_answered_so_although_the_queue_is_full() {
    let keys = "workers = 1\nqueue = 0\nmemory_budget = \"16MiB\"\n[cache]\nnegative = \"1m\"\n";
    let house = House::with(keys);
    assert_eq!(house.get(SMALL).status, 200);
    let too_large = "/small_light(dw=10,cw=4000,ch=4000,of=png)/a.jpg";
    assert_eq!(house.get(too_large).status, 422);
    let gate = house.put_gate("wait.trick");
    let mut busy = house.client();
    busy.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();

    assert_eq!(house.get("/small_light(dw=20)/a.jpg").status, 503);
    assert_eq!(house.get(too_large).status, 422);
    gate.release();
    assert_eq!(busy.reply("GET").status, 200);
}

#[test]
fn what_another_node_has_made_is_served_although_the_queue_is_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let photos = tempfile::tempdir().expect("a folder");
    std::fs::copy(sample("jpeg/420.jpg"), photos.path().join("a.jpg")).expect("a sample");
    let keys = format!(
        "workers = 1\nqueue = 0\n[[origin]]\nprefix = \"/far\"\nfs.root = {:?}\n\
         [store]\nfs.root = {:?}\nsecret_env = \"CARGO_PKG_DESCRIPTION\"\nmin_cost = \"0s\"\n",
        photos.path(),
        folder.path()
    );
    let node = || {
        let node = House::with(&keys);
        wait_for_figure(&node, "andon_store_ready", 1.0);
        node
    };
    let target = |width: u32| format!("/small_light(dw={width})/far/a.jpg");
    let busy = node();
    // It knows the file, and so would refuse without looking at it.
    assert_eq!(busy.get(&target(10)).status, 200);
    let other = node();
    let made = other.get(&target(20));
    assert_eq!(made.status, 200);
    wait_for_figure(&other, "andon_store_written_total", 1.0);

    let gate = busy.put_gate("wait.trick");
    let mut client = busy.client();
    client.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();
    assert_eq!(busy.get(&target(30)).status, 503);
    let shared = busy.get(&target(20));
    assert_eq!(shared.status, 200, "{}", shared.text());
    assert_eq!(shared.body, made.body);
    gate.release();
    assert_eq!(client.reply("GET").status, 200);
}

#[test]
fn what_is_being_made_may_be_joined_although_the_queue_is_full() {
    let house = House::with("workers = 1\nqueue = 0\n");
    let gate = house.put_gate("wait.trick");
    let first = trick_target("wait.trick");
    let ask = |target: &str| {
        let mut client = house.client();
        client.ask("GET", target, &[]);
        client
    };
    let mut known = ask(&first);
    gate.wait_until_begun();
    gate.release();
    assert_eq!(known.reply("GET").status, 200);

    gate.close();
    let larger = "/small_light(dw=8,of=png)/wait.trick";
    let mut all = vec![ask(larger)];
    gate.wait_until_begun();
    all.extend((0..5).map(|_| ask(larger)));
    wait_for_followers(&house, "result", 5);
    gate.release();
    for client in &mut all {
        assert_eq!(client.reply("GET").status, 200);
    }
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
fn light_work_overtakes_heavy_work_that_came_before_it() {
    let house = house_that_knows_its_image("workers = 1\n[limits]\nfetches = 1\n");
    let first = house.put_gate("first.trick");
    let heavy_gate = house.put_gate("heavy.trick");
    let mut busy = house.client();
    busy.ask("GET", &trick_target("first.trick"), &[]);
    first.wait_until_begun();

    let mut heavy = house.client();
    heavy.ask("GET", &heavy_target(5000, "heavy.trick"), &[]);
    wait_until_in_line(&house, 1);
    let mut light = house.client();
    light.ask("GET", SMALL, &[]);
    wait_until_in_line(&house, 2);
    first.release();
    // While the only thread would still stand at the heavy one's gate, had that one gone first.
    assert_eq!(light.reply("GET").status, 200);
    heavy_gate.release();
    assert_eq!(heavy.reply("GET").status, 200);
    assert_eq!(busy.reply("GET").status, 200);
}

#[test]
fn what_would_wait_too_long_is_503_and_what_would_not_is_let_in() {
    let house = house_that_knows_its_image(
        "workers = 1\ntarget_wait = \"10ms\"\nmax_wait = \"10ms\"\n[limits]\nfetches = 1\n",
    );
    let gate = house.put_gate("first.trick");
    let heavy_gate = house.put_gate("heavy.trick");
    house.put_gate("other.trick");
    let mut busy = house.client();
    busy.ask("GET", &trick_target("first.trick"), &[]);
    gate.wait_until_begun();
    let mut heavy = house.client();
    heavy.ask("GET", &heavy_target(5000, "heavy.trick"), &[]);
    wait_until_in_line(&house, 1);

    let refused = house.get(&heavy_target(5001, "other.trick"));
    assert_eq!(refused.status, 503);
    let seconds: u32 = refused
        .header("retry-after")
        .and_then(|seconds| seconds.parse().ok())
        .expect("a number of seconds");
    assert!((1..=60).contains(&seconds), "{seconds} s");
    assert!(refused.text().contains(&format!("retry in {seconds} s")));
    let mut light = house.client();
    light.ask("GET", SMALL, &[]);
    wait_until_in_line(&house, 2);
    // What waits will be decoded in any case: whoever can use it is admitted.
    let mut joining = house.client();
    joining.ask("GET", &heavy_target(40, "heavy.trick"), &[]);
    wait_until_in_line(&house, 3);
    gate.release();
    heavy_gate.release();
    for client in [&mut busy, &mut heavy, &mut light, &mut joining] {
        assert_eq!(client.reply("GET").status, 200);
    }
}

#[test]
fn an_image_that_needs_more_than_all_the_memory_is_422_and_names_the_limit() {
    let house = House::with("memory_budget = \"16MiB\"\n");
    let reply = house.get("/small_light(dw=10,cw=4000,ch=4000,of=png)/a.jpg");
    assert_eq!(reply.status, 422);
    assert!(reply.text().contains("memory_budget"), "{}", reply.text());
    assert_eq!(house.get(SMALL).status, 200);
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
    let house = House::with("max_wait = \"60s\"\n");
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
fn clients_that_wait_for_each_reply_are_never_rejected_by_a_fresh_server() {
    let house = House::with("workers = 1\n");
    house.put_sample("icon.png", "icons/lamp.png");
    // Thirty-two of them, with icons and with work of several milliseconds each, every result another one.
    let requests = |client: usize| {
        (0..6).map(move |round| match (client + round) % 3 {
            0 => format!("/small_light(dw={},dh=9)/icon.png", 8 + 6 * client + round),
            _ => heavy_target(700 + (6 * client + round) as u32, "a.jpg"),
        })
    };
    thread::scope(|scope| {
        for number in 0..32 {
            let mut client = house.client();
            scope.spawn(move || {
                for target in requests(number) {
                    let reply = client.get(&target);
                    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
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
