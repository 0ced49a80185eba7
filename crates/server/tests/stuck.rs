//! Images whose decoders, or readers of headers, never come back: what goes on, what is refused, and what is said of it.

use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{House, figure, trick_target, wait_for_figure};
use andon_server::{Beat, Threads};

const HIT: &str = "/small_light(dw=60)/a.jpg";

/// The outcome of the watchdog's check.
fn beat(house: &House) -> Beat {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(house.pulse.beat())
}

/// Asserts that a request is refused without waiting.
fn assert_is_refused_at_once(house: &House, target: &str, why: &str) {
    let began = Instant::now();
    let reply = house.get(target);
    assert_eq!(reply.status, 503, "{target}: {}", reply.text());
    assert!(reply.text().contains(why), "{target}: {}", reply.text());
    assert!(reply.header("retry-after").is_some());
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "{target}: {took:?}");
}

#[test]
fn while_one_worker_turns_images_are_made_and_when_none_does_everybody_is_told() {
    let keys = "workers = 2\n[timeouts]\nrequest = \"1s\"\n[cache]\nfs_fresh = \"1h\"\n";
    let house = House::with(keys);
    let image = |width: usize| house.get(&format!("/small_light(dw={width})/a.jpg")).status;
    assert_eq!(house.get(HIT).status, 200);
    house.put("text.jpg", "no image at all");

    let first = house.put_gate_that("jam", "first.trick");
    assert_eq!(house.get(&trick_target("first.trick")).status, 503);
    assert!(first.has_begun());
    // Both are late, and neither is known to be stuck yet.
    let second = house.put_gate_that("jam", "second.trick");
    assert_eq!(image(61), 200);
    thread::sleep(Duration::from_secs(1));
    assert_eq!(house.get(&trick_target("second.trick")).status, 503);
    assert!(second.has_begun());
    assert_eq!(house.get("/readyz").status, 200, "they may just be busy");

    wait_for_figure(&house, "andon_workers_stuck", 1.0);
    if figure(&house, "andon_workers_stuck") == 1.0 {
        assert_eq!(house.get("/readyz").status, 200);
        assert_eq!(beat(&house), Beat::Alive);
    }
    wait_for_figure(&house, "andon_workers_stuck", 2.0);
    assert_is_refused_at_once(&house, "/readyz", "2 of 2 worker threads");
    assert_is_refused_at_once(&house, "/small_light(dw=62)/a.jpg", "2 of 2 worker threads");
    assert!(matches!(beat(&house), Beat::Stuck(stuck) if stuck.threads == Threads::Workers));
    assert_eq!(
        figure(&house, "andon_admission_total{outcome=\"refused_stuck\"}"),
        1.0
    );
    assert_eq!(house.get("/healthz").status, 200);
    assert_eq!(house.get(HIT).status, 200, "what is cached is served");
    assert_eq!(house.get("/small_light(dw=9)/text.jpg").status, 415);
    assert_eq!(house.get("/small_light(dw=9)/missing.jpg").status, 404);

    second.release();
    while house.get("/readyz").status != 200 {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(image(63), 200);
    assert_eq!(beat(&house), Beat::Alive);
    first.release();
}

#[test]
fn a_busy_server_is_ready() {
    let house = House::with("workers = 1\nqueue = 1\n");
    let gate = house.put_gate("slow.trick");
    thread::scope(|scope| {
        let slow = scope.spawn(|| house.get(&trick_target("slow.trick")));
        gate.wait_until_begun();
        assert_eq!(house.get("/readyz").status, 200);
        assert_eq!(beat(&house), Beat::Alive);
        assert_eq!(figure(&house, "andon_workers_stuck"), 0.0);
        gate.release();
        assert_eq!(slow.join().unwrap().status, 200);
    });
}

#[test]
fn a_header_that_is_never_read_stops_no_other_image_and_when_no_reader_is_left_everybody_is_told() {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let readers = (2 * cores).max(4);
    let house = House::with("[limits]\nfetches = 1\n[cache]\nfs_fresh = \"1h\"\n");
    assert_eq!(house.get(HIT).status, 200);
    for image in ["rgb.png", "other.png", "last.png"] {
        house.put_sample(image, "png/rgb.png");
    }

    let gates: Vec<_> = (0..readers)
        .map(|number| house.put_gate_that("header", &format!("{number}.trick")))
        .collect();
    let hang = |number: usize| {
        let reply = house.get(&trick_target(&format!("{number}.trick")));
        assert_eq!(reply.status, 503, "{}", reply.text());
        assert!(reply.text().contains("header"), "{}", reply.text());
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| hang(0));
        gates[0].wait_until_begun();
        assert_eq!(house.get("/small_light(dw=9)/rgb.png").status, 200);
        first.join().unwrap();
    });
    assert_eq!(figure(&house, "andon_headers_stuck"), 1.0);
    assert_is_refused_at_once(&house, &trick_target("0.trick"), "header");
    assert_eq!(
        gates[0].times_begun(),
        1,
        "the same file takes no other thread"
    );
    assert_eq!(house.get("/readyz").status, 200);
    assert_eq!(house.get("/small_light(dw=9)/other.png").status, 200);

    thread::scope(|scope| {
        for number in 1..readers {
            scope.spawn(move || hang(number));
        }
    });
    let why = "threads that read image headers";
    assert_is_refused_at_once(&house, "/readyz", why);
    assert_is_refused_at_once(&house, "/small_light(dw=9)/last.png", why);
    assert!(matches!(beat(&house), Beat::Stuck(stuck) if stuck.threads == Threads::Headers));
    assert_eq!(house.get(HIT).status, 200, "what is cached is served");
    assert_eq!(house.get("/a.jpg").status, 200, "and files are read");

    gates.iter().for_each(|gate| gate.release());
    while house.get("/readyz").status != 200 {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(house.get("/small_light(dw=9)/last.png").status, 200);
    assert_eq!(house.get(&trick_target("0.trick")).status, 200);
}

#[test]
fn what_is_no_image_is_refused_for_that_while_the_queue_is_full() {
    let house = House::with("workers = 1\nqueue = 1\n");
    house.put("small.jpg", "no image at all");
    house.put("large.jpg", vec![7; 1 << 20]);
    house.put(
        "cut.png",
        &std::fs::read(crate::common::sample("png/rgb.png")).unwrap()[..20],
    );
    let [running, waiting] = ["running.trick", "waiting.trick"].map(|name| house.put_gate(name));
    thread::scope(|scope| {
        scope.spawn(|| house.get(&trick_target("running.trick")));
        running.wait_until_begun();
        scope.spawn(|| house.get(&trick_target("waiting.trick")));
        wait_for_figure(&house, "andon_queue_length", 1.0);
        assert_eq!(
            house.get("/small_light(dw=9)/a.jpg").status,
            503,
            "it is full"
        );
        for name in ["small.jpg", "large.jpg", "cut.png"] {
            let began = Instant::now();
            let reply = house.get(&format!("/small_light(dw=9)/{name}"));
            assert_eq!(reply.status, 415, "{name}: {}", reply.text());
            assert!(began.elapsed() < Duration::from_secs(1), "{name}");
        }
        running.release();
        waiting.release();
    });
}
