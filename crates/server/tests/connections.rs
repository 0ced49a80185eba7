//! Connections: kept, dropped, and brought to a good end.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Client, House, trick_target};
use andon_server::Address;

#[test]
fn several_requests_share_a_connection() {
    let house = House::new();
    house.put("b.txt", "b");
    let mut client = house.client();
    assert_eq!(client.get("/small_light(dw=10)/a.jpg").status, 200);
    assert_eq!(client.get("/missing").status, 404);
    assert_eq!(client.get("/b.txt").text(), "b");
    assert_eq!(client.request("HEAD", "/b.txt", &[]).status, 200);
    assert_eq!(client.get("/healthz").text(), "ok\n");
}

#[test]
fn requests_sent_in_one_go_are_answered_in_order() {
    let house = House::new();
    for name in ["0", "1", "2", "3"] {
        house.put(&format!("{name}.txt"), name);
    }
    let mut client = house.client();
    let request = |name| format!("GET /{name}.txt HTTP/1.1\r\nHost: test\r\n\r\n");
    client.send(["0", "1", "2", "3"].map(request).concat());
    for name in ["0", "1", "2", "3"] {
        assert_eq!(client.reply("GET").text(), name);
    }
}

#[test]
fn a_client_that_does_not_finish_its_head_is_dropped() {
    let house = House::with("[timeouts]\nheader = \"200ms\"\n");
    let mut silent = house.client();
    let mut slow = house.client();
    slow.send("GET / HTTP/1.1\r\nHost: t");
    // Both end by themselves; neither is answered.
    assert_eq!(silent.rest(), b"");
    assert_eq!(slow.rest(), b"");
    assert_eq!(house.get("/healthz").status, 200);
}

#[test]
fn an_idle_connection_is_closed_in_the_end() {
    let house = House::with("[timeouts]\nkeep_alive = \"500ms\"\n");
    let mut client = house.client();
    assert_eq!(client.get("/healthz").status, 200);
    assert_eq!(client.rest(), b"");
}

#[test]
fn one_connection_too_many_is_refused_at_once_but_told_about_the_servers_health() {
    let house = House::with("[limits]\nconnections = 1\n");
    let gate = house.put_gate("wait.trick");
    let mut served = house.client();
    served.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();

    let mut refused = house.client();
    let reply = refused.get("/a.jpg");
    assert_eq!(
        (reply.status, reply.header("retry-after")),
        (503, Some("1"))
    );
    assert_eq!(reply.header("connection"), Some("close"));
    assert_eq!(refused.rest(), b"");
    assert_eq!(house.get("/healthz").status, 200);
    let figures = house.get("/metrics").text();
    let counted = "andon_errors_total{cause=\"connections\",fault=\"server\"} 1";
    assert!(figures.contains(counted), "{figures}");

    gate.release();
    assert_eq!(served.reply("GET").status, 200);
    drop(served);
    let freed = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        house.get("/a.jpg").status == 200
    });
    assert!(freed, "the place is free again");
}

#[test]
fn an_idle_connection_makes_room_in_a_full_house() {
    let house = House::with("[limits]\nconnections = 1\n");
    let mut idle = house.client();
    assert_eq!(idle.get("/healthz").status, 200);
    let entered = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        house.get("/a.jpg").status == 200
    });
    assert!(entered);
    assert_eq!(idle.rest(), b"");
}

#[test]
fn one_client_too_greedy_is_refused_and_harms_nobody() {
    let house = House::with(
        "listen = [\"127.0.0.1:0\", \"unix:andon.sock\"]\n[limits]\nconnections_per_client = 3\n",
    );
    let mut greedy: Vec<_> = (0..3).map(|_| house.client()).collect();
    for client in &mut greedy {
        assert_eq!(client.get("/healthz").status, 200);
    }
    let reply = house.get("/a.jpg");
    assert_eq!(reply.status, 503, "a fourth");
    assert!(
        reply.text().contains("connections_per_client"),
        "{}",
        reply.text()
    );
    let mut neighbour = Client::connect_from([127, 0, 0, 2], house.address());
    assert_eq!(neighbour.get("/a.jpg").status, 200);
    let path = house.folder.path().join("andon.sock");
    for _ in 0..5 {
        greedy.push(Client::connect_unix(&path));
    }
    for client in &mut greedy {
        assert_eq!(client.get("/a.jpg").status, 200);
    }
}

#[test]
fn a_unix_socket_serves_as_well_and_goes_with_its_server() {
    let mut house =
        House::with("listen = [\"127.0.0.1:0\", \"unix:andon.sock\"]\nsocket_mode = \"0600\"\n");
    let path = house.folder.path().join("andon.sock");
    assert_eq!(house.addresses[1], Address::Unix(path.clone()));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let reply = Client::connect_unix(&path).get("/small_light(dw=40)/a.jpg");
    assert_eq!((reply.status, reply.size()), (200, (40, 30)));
    house.begin_to_stop();
    house.wait_until_stopped();
    assert!(!path.exists());
}

#[test]
fn a_socket_whose_server_is_gone_is_replaced() {
    let house = House::furnished(
        "listen = [\"127.0.0.1:0\", \"unix:andon.sock\"]\n",
        |folder| {
            drop(UnixListener::bind(folder.join("andon.sock")).unwrap());
            assert!(folder.join("andon.sock").exists());
        },
    );
    let mut client = Client::connect_unix(&house.folder.path().join("andon.sock"));
    assert_eq!(client.get("/healthz").status, 200);
}

#[test]
fn stopping_answers_what_was_accepted_and_refuses_what_comes_later() {
    let mut house = House::with("workers = 1\n");
    let gate = house.put_gate("wait.trick");
    let mut running = house.client();
    running.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();
    let mut waiting = house.client();
    waiting.ask("GET", "/small_light(dw=10)/a.jpg", &[]);
    let mut idle = house.client();
    assert_eq!(idle.get("/healthz").status, 200);
    let address = house.address();

    house.begin_to_stop();
    assert_eq!(idle.rest(), b"", "an idle connection is closed");
    gate.release();
    for client in [&mut running, &mut waiting] {
        let reply = client.reply("GET");
        assert_eq!(
            (reply.status, reply.format()),
            (200, if reply.size().0 == 4 { "png" } else { "jpeg" })
        );
        assert_eq!(client.rest(), b"", "and then the connection closes");
    }
    house.wait_until_stopped();
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn stopping_does_not_wait_longer_than_it_may() {
    let mut house = House::with("[timeouts]\nshutdown = \"100ms\"\n");
    let gate = house.put_gate("wait.trick");
    let mut stuck = house.client();
    stuck.ask("GET", &trick_target("wait.trick"), &[]);
    gate.wait_until_begun();
    house.begin_to_stop();
    house.wait_until_stopped();
    gate.wait_until_stopped();
    assert_eq!(stuck.rest(), b"");
}

#[test]
fn replies_arrive_whole_although_the_client_still_sends_what_nobody_reads() {
    let house = House::new();
    // Some of it is still to be sent when the connection ends.
    let file = vec![7; 1 << 20];
    house.put("large.bin", &file);
    let body = vec![b'x'; 200_000];
    let with_body = format!(
        "GET /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let chunked = "GET /healthz HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n30d40\r\n";
    let no_request = "nonsense\r\n\r\n";
    for (second, status) in [(&*with_body, 200), (chunked, 200), (no_request, 400)] {
        let mut client = house.client();
        client.send("GET /large.bin HTTP/1.1\r\nHost: h\r\n\r\n");
        client.send(second);
        client.send(&body);
        assert!(client.reply("GET").body == file, "{second}");
        assert_eq!(client.reply("GET").status, status, "{second}");
        client.rest();
    }
}

#[test]
fn a_client_may_send_the_rest_of_a_refused_request_after_its_reply() {
    let house = House::new();
    for refused in ["nonsense\r\n\r\n", "GET /healthz HTTP/1.1\nHost: h\n\n"] {
        let mut client = house.client();
        client.send(refused);
        assert_eq!(client.reply("GET").status, 400, "{refused}");
        for _ in 0..20 {
            client.send(vec![b'x'; 200_000]);
        }
        assert_eq!(client.rest(), b"", "{refused}");
    }
}

#[test]
fn a_client_that_sends_without_end_what_nobody_reads_is_left() {
    let house = House::new();
    let mut client = house.client();
    client.send("GET /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n");
    assert_eq!(client.reply("GET").status, 200);
    let began = Instant::now();
    while client.try_send([b'x'; 64 << 10]).is_ok() {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "it goes on reading"
        );
    }
}
