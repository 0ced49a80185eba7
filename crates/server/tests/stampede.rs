//! A thousand clients that request one uncached image at the same time.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::origin::Origin;
use common::{Client, House, figure, sample, wait_for_followers};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const CLIENTS: usize = 1000;
const TARGET: &str = "/small_light(dw=100,dh=100,of=webp)/far/a.jpg";
const KEYS: &str =
    "max_wait = \"60s\"\n[limits]\nconnections = 4000\n[timeouts]\nrequest = \"60s\"\n";

/// Raises the limit on open files, because this process has both ends of all connections. Returns whether the limit is
/// high enough.
fn allow_files() -> bool {
    let limit = getrlimit(Resource::Nofile);
    let wanted = 4 * CLIENTS as u64;
    if limit.current.is_none_or(|files| files >= wanted) {
        return true;
    }
    let raised = Rlimit {
        current: Some(limit.maximum.map_or(wanted, |most| most.min(wanted))),
        ..limit
    };
    setrlimit(Resource::Nofile, raised).is_ok() && raised.current == Some(wanted)
}

fn origin() -> (Origin, String) {
    let image = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    let origin = Origin::start(image, "ETag: \"one\"\r\nCache-Control: max-age=60\r\n");
    let keys = format!("{KEYS}{}", origin.keys());
    // Nobody's patience is what is tested here.
    let keys = format!("{keys}timeouts = {{ first_byte = \"60s\", total = \"60s\" }}\n");
    (origin, keys)
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Opens `count` connections, then sends a request on each of them, and returns the clients that wait for the replies.
fn ask(house: &House, count: usize) -> Vec<Client> {
    let mut clients: Vec<_> = (0..count).map(|_| house.client()).collect();
    wait_until("all of them are connected", || {
        figure(house, "andon_connections") >= count as f64
    });
    for client in &mut clients {
        client.ask("GET", TARGET, &[]);
    }
    clients
}

/// All replies are one and the same image.
fn assert_identical(clients: &mut [Client]) {
    let mut digest = None;
    for client in clients {
        let reply = client.reply("GET");
        assert_eq!(reply.status, 200, "{}", reply.text());
        let first = *digest.get_or_insert_with(|| {
            assert_eq!((reply.size(), reply.format()), ((100, 75), "webp"));
            blake3::hash(&reply.body)
        });
        assert_eq!(blake3::hash(&reply.body), first);
    }
    assert!(digest.is_some());
}

#[test]
fn a_thousand_clients_cost_one_fetch_and_one_transform() {
    if !allow_files() {
        eprintln!("skipped: not enough files may be open");
        return;
    }
    let (origin, keys) = origin();
    let house = House::with(&keys);
    origin.hold(true);
    let mut clients = ask(&house, CLIENTS);
    wait_until("the origin is asked", || origin.asked() > 0);
    origin.hold(false);
    assert_identical(&mut clients);
    assert_eq!(clients.len(), CLIENTS);
    assert_eq!(origin.asked(), 1);
    assert_eq!(figure(&house, "andon_decodes_total"), 1.0);
}

#[test]
fn the_first_of_a_thousand_may_be_killed() {
    if !allow_files() {
        eprintln!("skipped: not enough files may be open");
        return;
    }
    let (origin, keys) = origin();
    let house = House::with(&keys);
    origin.hold(true);
    let mut first = TcpStream::connect(house.address()).expect("a connection");
    let request = format!("GET {TARGET} HTTP/1.1\r\nHost: test\r\n\r\n");
    first.write_all(request.as_bytes()).expect("a request");
    wait_until("the origin is asked", || origin.asked() == 1);

    let mut clients = ask(&house, CLIENTS - 1);
    wait_for_followers(&house, "result", CLIENTS - 1);
    let open = figure(&house, "andon_connections");
    rustix::net::sockopt::set_socket_linger(&first, Some(Duration::ZERO)).expect("an option");
    drop(first);
    wait_until("the first one is gone", || {
        figure(&house, "andon_connections") < open
    });
    origin.hold(false);
    assert_identical(&mut clients);
    assert_eq!(clients.len(), CLIENTS - 1);
    assert_eq!(origin.asked(), 1);
    assert_eq!(figure(&house, "andon_decodes_total"), 1.0);
}
