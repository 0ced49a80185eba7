//! Another configuration while requests are under way.

mod common;

use std::thread;

use andon_server::{Address, Config, ConfigError};
use common::{Client, House, trick_target};

/// Hands `house` another configuration, and waits for the outcome.
fn reload(house: &House, keys: &str) -> Result<(), String> {
    let text = format!(
        "{keys}\n[[origin]]\nfs.root = \"root\"\nfs.files = \"all\"\n[log]\nformat = \"off\"\n"
    );
    reload_with(house, Config::parse(&text, house.folder.path()))
}

fn reload_with(house: &House, mut config: Result<Config, ConfigError>) -> Result<(), String> {
    if let Ok(config) = &mut config
        && config.listen == Config::default().listen
    {
        config.listen = vec!["127.0.0.1:0".parse()?];
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

#[test]
fn a_configuration_that_cannot_work_changes_nothing() {
    let house = House::with("[small_light.patterns]\ntiny = \"dw=40\"\n");
    let parse = |text| Config::parse(text, house.folder.path());
    for wrong in [
        parse("wokers = 3"),
        parse("[[origin]]\nfs.root = \"nowhere\""),
        parse("listen = [\"unix:no/such/folder.sock\"]\n[[origin]]\nfs.root = \"root\""),
    ] {
        assert!(!reload_with(&house, wrong).unwrap_err().is_empty());
        assert_eq!(house.get("/small_light(p=tiny)/a.jpg").size(), (40, 30));
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
        thread::sleep(std::time::Duration::from_millis(5));
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
        "andon_cache_disk_trouble{trouble=\"unavailable\"} 0",
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
        thread::sleep(std::time::Duration::from_millis(5));
        let figures = house.get("/metrics").text();
        ["memory", "disk"]
            .iter()
            .all(|tier| figures.contains(&format!("andon_cache_entries{{tier=\"{tier}\"}} 0\n")))
    });
    assert!(empty);
    assert!(!is_hit());
}
