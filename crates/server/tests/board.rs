//! The live dashboard: its page, and the events that it shows.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::common::{House, trick_target};
use andon_server::{Address, Config};
use serde_json::Value;

const TOKEN: &str = "a token of some length";

/// A watcher of the dashboard: its connection, after the head of the reply.
struct Watcher(BufReader<TcpStream>);

impl Watcher {
    /// Requests the events of the dashboard with these header lines. Returns the status of the reply, and the
    /// connection after its head.
    fn at(address: SocketAddr, headers: &str) -> (u16, Self) {
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let request = format!("GET /_andon/board/events HTTP/1.1\r\nHost: t\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut watcher = Self(BufReader::new(stream));
        let status = watcher.line();
        while !watcher.line().is_empty() {}
        (status.split(' ').nth(1).unwrap().parse().unwrap(), watcher)
    }

    fn with_token(house: &House) -> Self {
        let (status, watcher) = Self::at(house.address(), &authorized());
        assert_eq!(status, 200);
        watcher
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next event, or `None` after the last one.
    fn event(&mut self) -> Option<Value> {
        loop {
            let line = self.line();
            if let Some(event) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(event).expect("JSON"));
            }
            if line == "0" {
                return None;
            }
        }
    }

    /// The first event for which this holds.
    fn until(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = self.event().expect("another event");
            if holds(&event) {
                return event;
            }
        }
    }
}

fn authorized() -> String {
    format!("Authorization: Bearer {TOKEN}\r\n")
}

fn keys() -> String {
    format!("workers = 2\n[admin]\ntoken = \"{TOKEN}\"\n")
}

#[test]
fn without_a_token_there_is_no_board_where_images_are() {
    let house = House::configured("");
    assert_eq!(house.get("/_andon/board").status, 404);
    let house = House::configured(&keys());
    assert_eq!(house.get("/_andon/board").status, 200);
    for (headers, expected) in [("", 401), ("Authorization: Bearer x\r\n", 401)] {
        assert_eq!(Watcher::at(house.address(), headers).0, expected);
    }
}

#[test]
fn without_a_configuration_file_the_user_of_the_machine_may_watch() {
    let house = House::new();
    assert_eq!(house.get("/_andon/board").status, 200);
    let (status, mut watcher) = Watcher::at(house.address(), "");
    assert_eq!(status, 200);
    assert!(watcher.event().is_some());
    let passed_on = "X-Forwarded-For: 192.0.2.7\r\n";
    assert_eq!(Watcher::at(house.address(), passed_on).0, 404);
}

#[test]
fn at_the_address_of_metrics_everybody_may_watch() {
    let house = House::configured("[metrics]\nlisten = \"127.0.0.1:0\"\n");
    let Address::Tcp(metrics) = house.addresses[1] else {
        panic!("an address for metrics");
    };
    let (status, mut watcher) = Watcher::at(metrics, "");
    assert_eq!(status, 200);
    assert!(watcher.event().is_some());
    assert_eq!(Watcher::at(house.address(), "").0, 404);
}

#[test]
fn a_worker_shows_its_job_with_its_plan_until_it_is_done() {
    let house = House::with(&keys());
    let mut watcher = Watcher::with_token(&house);
    let idle = watcher.event().unwrap();
    assert_eq!(idle["workers"], serde_json::json!([null, null]));
    let gate = house.put_gate("slow.trick");
    let mut client = house.client();
    client.ask("GET", &trick_target("slow.trick"), &[]);
    let is_busy = |event: &Value| {
        let workers = event["workers"].as_array().unwrap();
        workers.iter().filter(|worker| !worker.is_null()).count() == 1
    };
    let busy = watcher.until(is_busy);
    let worker = busy["workers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| !it.is_null())
        .unwrap();
    assert!(
        worker["plan"].as_str().unwrap().contains("encode png"),
        "{worker}"
    );
    assert!(busy["memory"]["reserved"].as_u64().unwrap() > 0);
    gate.release();
    client.reply("GET");
    let done = watcher.until(|event| !is_busy(event) && event["slowest"][0].is_object());
    assert!(
        done["slowest"][0]["target"]
            .as_str()
            .unwrap()
            .contains("slow.trick")
    );
    assert_eq!(done["done"].as_u64().unwrap(), 1);
}

#[test]
fn what_was_sent_is_counted_by_dialect_beside_the_bytes_of_its_sources() {
    let house = House::with(&keys());
    let mut watcher = Watcher::with_token(&house);
    let target = "/small_light(dw=10)/a.jpg";
    let sent: usize = (0..2).map(|_| house.get(target).body.len()).sum();
    let event = watcher.until(|event| {
        let dialects = event["metrics"]["dialects"].as_array().unwrap();
        let mut named = dialects.iter();
        named.any(|it| it["name"] == "small_light" && it["requests"] == 2)
    });
    let dialects = event["metrics"]["dialects"].as_array().unwrap();
    let counted = &dialects
        .iter()
        .find(|it| it["name"] == "small_light")
        .unwrap();
    let source = std::fs::metadata(house.folder.path().join("root/a.jpg")).unwrap();
    assert_eq!(counted["result_bytes"], sent, "{counted}");
    assert_eq!(counted["source_bytes"], 2 * source.len(), "{counted}");
    assert_eq!(counted["errors"], 0);
}

#[test]
fn the_history_is_for_those_who_may_watch_and_is_kept_without_watchers() {
    let house = House::configured(&keys());
    assert_eq!(house.get("/_andon/board/history").status, 401);
    let history = || {
        let mut client = house.client();
        client.send(format!(
            "GET /_andon/board/history HTTP/1.1\r\nHost: t\r\n{}\r\n",
            authorized()
        ));
        let reply = client.reply("GET");
        assert_eq!(reply.status, 200);
        serde_json::from_slice::<Value>(&reply.body).expect("JSON")
    };
    assert_eq!(history()["most"], 180);
    house.get("/small_light(dw=10)/a.jpg");
    let has_it = |_: &u32| {
        std::thread::sleep(Duration::from_millis(10));
        let told = history();
        let samples = told["samples"].as_array().unwrap();
        // A sample may be taken between the look-up and the reply.
        let all = |of: fn(&Value) -> &Value| -> u64 {
            let counts = samples.iter().filter_map(|it| of(it).as_u64());
            counts.sum()
        };
        all(|it| &it["requests"][0]) == 1 && all(|it| &it["lookups"][2]) == 1
    };
    assert!((0..6000).any(|attempt| has_it(&attempt)));
}

#[test]
fn the_board_has_the_pages_of_the_manual_that_its_alarms_lead_to() {
    let house = House::with(&keys());
    let script = house.get("/_andon/board/alarms.js").text();
    let pages: Vec<&str> = script.split('"').filter(|it| it.ends_with(".md")).collect();
    assert!(pages.len() >= 4, "{pages:?}");
    for page in pages {
        assert_eq!(
            house.get(&format!("/_andon/board/docs/{page}")).status,
            200,
            "{page}"
        );
    }
}

#[test]
fn slow_requests_are_forgotten_when_nobody_watches() {
    let house = House::with(&keys());
    let mut watcher = Watcher::with_token(&house);
    house.get("/small_light(dw=10)/a.jpg");
    watcher.until(|event| event["slowest"][0].is_object());
    drop(watcher);
    // Until the encoder has noticed, who comes again sees what it has.
    let is_forgotten = |_: &u32| {
        let first = Watcher::with_token(&house).event().unwrap();
        std::thread::sleep(Duration::from_millis(10));
        first["slowest"][0].is_null()
    };
    assert!((0..6000).any(|attempt| is_forgotten(&attempt)));
}

#[test]
fn sixteen_may_watch() {
    let house = House::with(&keys());
    let watchers: Vec<Watcher> = (0..16).map(|_| Watcher::with_token(&house)).collect();
    assert_eq!(Watcher::at(house.address(), &authorized()).0, 503);
    drop(watchers);
}

#[test]
fn a_reload_and_a_stop_end_the_events() {
    let mut house = House::with(&keys());
    let mut watcher = Watcher::with_token(&house);
    watcher.event().unwrap();
    let text = format!("{}[[origin]]\nfs.root = \"root\"\n", keys());
    let mut config = Config::parse(&text, house.folder.path()).unwrap();
    config.listen = vec!["127.0.0.1:0".parse().unwrap()];
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(house.reloader.reload(Ok(config))).unwrap();
    while watcher.event().is_some() {}
    let mut watcher = Watcher::with_token(&house);
    assert_eq!(watcher.event().unwrap()["metrics"]["reloads"]["done"], 1);
    house.begin_to_stop();
    while watcher.event().is_some() {}
    house.wait_until_stopped();
}
