//! Another configuration while requests are under way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Client, House, figure, trick_target};
use andon_server::{Address, Config, ConfigError};

/// Hands `house` another configuration, and waits for the outcome.
fn reload(house: &House, keys: &str) -> Result<(), String> {
    let text = format!(
        "{keys}\n[[origin]]\nfs.root = \"root\"\nfs.files = \"all\"\n[log]\nformat = \"off\"\n"
    );
    reload_with(house, Config::parse(&text, house.folder.path()))
}

fn reload_with(house: &House, mut config: Result<Config, ConfigError>) -> Result<(), String> {
    if let Ok(config) = &mut config {
        config.loopback_is_local = true;
        if config.listen == Config::default().listen {
            config.listen = vec!["127.0.0.1:0".parse()?];
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|error| error.to_string())?;
    runtime
        .block_on(house.reloader.reload(config))
        .map_err(|error| error.to_string())
}

#[test]
fn the_next_request_of_an_open_connection_finds_the_new_configuration() {
    let house = House::new();
    let mut client = house.client();
    let target = "/small_light(p=tiny)/a.jpg";
    assert_eq!(client.get(target).size(), (400, 300));
    reload(&house, "[small_light.patterns]\ntiny = \"dw=40\"").unwrap();
    assert_eq!(client.get(target).size(), (40, 30));
}

#[test]
fn two_hundred_requests_under_way_across_reloads_are_all_answered() {
    let house = House::with("queue = 500\nmax_wait = \"60s\"\n");
    let gate = house.put_gate("wait.trick");
    let mut clients: Vec<_> = (0..200).map(|_| house.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let target = match number % 4 {
            0 => trick_target("wait.trick"),
            _ => format!("/small_light(dw={})/a.jpg", 20 + number),
        };
        client.ask("GET", &target, &[]);
        if number % 50 == 49 {
            reload(
                &house,
                &format!("queue = {}\nmax_wait = \"60s\"", 400 + number),
            )
            .unwrap();
        }
    }
    gate.wait_until_begun();
    reload(&house, "queue = 600\nmax_wait = \"60s\"").unwrap();
    gate.release();
    for client in &mut clients {
        let reply = client.reply("GET");
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}

#[test]
fn clients_that_never_stop_asking_lose_nothing_to_twenty_reloads() {
    let house = House::new();
    let expected = house.get("/small_light(dw=60)/a.jpg").body;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = house.client();
                for _ in 0..100 {
                    let reply = client.get("/small_light(dw=60)/a.jpg");
                    assert_eq!((reply.status, &reply.body), (200, &expected));
                }
            });
        }
        for number in 0..20 {
            reload(&house, &format!("queue = {}", 100 + number)).unwrap();
        }
    });
}

/// Waits until the figure `name` of `/metrics` equals `value`.
fn wait_for(house: &House, name: &str, value: f64) {
    let patience = Instant::now() + Duration::from_secs(60);
    while figure(house, name) != value {
        assert!(
            Instant::now() < patience,
            "{name} is {}",
            figure(house, name)
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn fifty_reloads_under_load_never_double_threads_or_memory_and_lose_nothing() {
    const WORKERS: [usize; 4] = [2, 1, 3, 2];
    const BUDGET_MIB: [usize; 3] = [64, 32, 48];
    let keys = |round: usize| {
        format!(
            "workers = {}\nmemory_budget = \"{}MiB\"\n[limits]\nfetches = {}\nsource_bytes = \"4MiB\"",
            WORKERS[round % 4],
            BUDGET_MIB[round % 3],
            1 + round % 5
        )
    };
    let house = House::with(&keys(0));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..6 {
            let (house, done) = (&house, &done);
            scope.spawn(move || {
                let mut client = house.client();
                for width in 0.. {
                    // A result of its own each time.
                    let target = format!("/small_light(dw={},q={})/a.jpg", 40 + width, 60 + number);
                    let reply = client.get(&target);
                    assert_eq!(reply.status, 200, "{}", reply.text());
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        let jobs = || figure(&house, "andon_admission_total{outcome=\"done\"}");
        for round in 1..=50 {
            let (before, workers) = (jobs(), WORKERS[round % 4]);
            reload(&house, &keys(round)).unwrap();
            let threads = figure(&house, "andon_worker_threads");
            assert!(
                (workers..=3).contains(&(threads as usize)),
                "{threads} of {workers}"
            );
            let planned = figure(&house, "andon_memory_planned_bytes");
            assert!(planned <= f64::from(64 << 20), "{planned}");
            // Counters go on, and so does the work.
            while jobs() <= before {
                thread::yield_now();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    wait_for(&house, "andon_worker_threads", WORKERS[50 % 4] as f64);
    assert_eq!(figure(&house, "andon_memory_planned_bytes"), 0.0);
}

#[test]
fn work_of_before_a_reload_still_has_its_thread_and_a_larger_pool_helps_at_once() {
    let house = House::with("workers = 1");
    let (first, second) = (
        house.put_gate("first.trick"),
        house.put_gate("second.trick"),
    );
    let mut busy = house.client();
    busy.ask("GET", &trick_target("first.trick"), &[]);
    first.wait_until_begun();

    reload(&house, "workers = 1\nmax_wait = \"60s\"").unwrap();
    let mut waiting = house.client();
    waiting.ask("GET", &trick_target("second.trick"), &[]);
    wait_for(&house, "andon_queue_length", 1.0);
    assert_eq!(figure(&house, "andon_pixel_jobs"), 1.0);
    assert_eq!(figure(&house, "andon_worker_threads"), 1.0);
    assert!(!second.has_begun());

    reload(&house, "workers = 2\nmax_wait = \"60s\"").unwrap();
    second.wait_until_begun();
    assert_eq!(figure(&house, "andon_pixel_jobs"), 2.0);
    reload(&house, "workers = 1\nmax_wait = \"60s\"").unwrap();
    first.release();
    second.release();
    for client in [&mut busy, &mut waiting] {
        assert_eq!(client.reply("GET").status, 200);
    }
    wait_for(&house, "andon_worker_threads", 1.0);
    assert_eq!(house.get("/small_light(dw=60)/a.jpg").status, 200);
}

#[test]
fn a_configuration_that_cannot_work_changes_nothing() {
    let house = House::with("[small_light.patterns]\ntiny = \"dw=40\"\n");
    let parse = |text| Config::parse(text, house.folder.path());
    let threads = figure(&house, "andon_worker_threads");
    for wrong in [
        parse("wokers = 3"),
        parse("[[origin]]\nfs.root = \"nowhere\""),
        parse(
            "workers = 7\nlisten = [\"unix:no/such/folder.sock\"]\n[[origin]]\nfs.root = \"root\"",
        ),
    ] {
        assert!(!reload_with(&house, wrong).unwrap_err().is_empty());
        assert_eq!(house.get("/small_light(p=tiny)/a.jpg").size(), (40, 30));
        assert_eq!(figure(&house, "andon_worker_threads"), threads);
    }
    let figures = house.get("/metrics").text();
    assert!(
        figures.contains("andon_reloads_total{outcome=\"refused\"} 3"),
        "{figures}"
    );
    assert!(
        figures.contains("andon_last_reload_successful 0"),
        "{figures}"
    );
}

#[test]
fn addresses_come_and_go_and_those_that_stay_are_not_touched() {
    let house = House::with("listen = [\"unix:a.sock\", \"unix:b.sock\"]\n");
    let path = |name: &str| house.folder.path().join(name);
    assert_eq!(house.addresses[1], Address::Unix(path("b.sock")));
    let mut stays = Client::connect_unix(&path("a.sock"));
    let mut leaves = Client::connect_unix(&path("b.sock"));
    assert_eq!(stays.get("/healthz").status, 200);
    assert_eq!(leaves.get("/healthz").status, 200);

    reload(&house, "listen = [\"unix:a.sock\", \"unix:c.sock\"]").unwrap();
    assert_eq!(stays.get("/healthz").status, 200, "the same connection");
    assert_eq!(
        Client::connect_unix(&path("c.sock")).get("/healthz").status,
        200
    );
    assert_eq!(leaves.rest(), b"", "an idle connection ends");
    let gone = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        !path("b.sock").exists()
    });
    assert!(gone, "the socket's file is removed");
}

#[test]
fn another_size_of_the_cache_keeps_what_fits() {
    let keys = |memory: &str, disk: &str| {
        format!(
            "[cache]\nmemory = \"{memory}\"\nfs_fresh = \"1h\"\ndisk.path = \"kept\"\ndisk.size = \"{disk}\"\n"
        )
    };
    let house = House::with(&keys("1MiB", "1MiB"));
    let target = "/small_light(dw=60)/a.jpg";
    let is_hit = || {
        let reply = house.get(target);
        reply.header("cache-status").unwrap().contains("; hit")
    };
    assert!(!is_hit());
    reload(&house, &keys("2MiB", "3MiB")).unwrap();
    assert!(is_hit());
    let figures = house.get("/metrics").text();
    for line in [
        "andon_cache_limit_bytes{tier=\"memory\"} 2097152",
        "andon_cache_limit_bytes{tier=\"disk\"} 3145728",
        "andon_cache_disk_error{kind=\"unavailable\"} 0",
    ] {
        assert!(figures.lines().any(|written| written == line), "{figures}");
    }
    // A refused configuration leaves the sizes alone as well.
    let refused = format!(
        "listen = [\"unix:no/such/folder.sock\"]\n{}",
        keys("4MiB", "4MiB")
    );
    assert!(reload(&house, &refused).is_err());
    let figures = house.get("/metrics").text();
    assert!(figures.contains("andon_cache_limit_bytes{tier=\"disk\"} 3145728"));

    // Too small for anything: what there is leaves.
    reload(&house, &keys("1KiB", "4KiB")).unwrap();
    let empty = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        let figures = house.get("/metrics").text();
        ["memory", "disk"]
            .iter()
            .all(|tier| figures.contains(&format!("andon_cache_entries{{tier=\"{tier}\"}} 0\n")))
    });
    assert!(empty);
    assert!(!is_hit());
}

#[test]
fn what_a_rule_tells_clients_holds_for_results_that_are_cached_already() {
    let house = House::new();
    let mut client = house.client();
    let target = "/small_light(dw=40)/a.jpg";
    let mut told = |keys: &str| {
        reload(&house, keys).unwrap();
        let reply = client.get(target);
        assert_eq!(reply.status, 200);
        reply.header("cache-control").map(str::to_owned)
    };
    let rule =
        |words: &str| format!("[[cache.rule]]\nprefix = \"/\"\ncache_control = \"{words}\"\n");
    assert_eq!(told(""), None);
    assert_eq!(
        told(&rule("public, max-age=9")).as_deref(),
        Some("public, max-age=9")
    );
    assert_eq!(told(&rule("no-cache")).as_deref(), Some("no-cache"));
    assert_eq!(told(""), None);
    let status = client.get(target);
    assert!(
        status.header("cache-status").unwrap().contains("hit"),
        "they were hits"
    );
}
