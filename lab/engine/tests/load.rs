//! Tests the client against real sockets: its counts, and its behaviour when a server misbehaves.

mod common;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use andon_lab::load::null::{NullConfig, NullResponder};
use andon_lab::load::{Drive, Driven, Endpoint, Error, RequestTemplate, Window, drive};
use andon_lab::sample::ClientThreads;
use andon_lab::scenario::{
    Arrivals, BodyCheck, Check, HttpVersion, Load, Mode, Seconds, WarmupRule,
};

use common::Misbehaving;

struct Asking {
    endpoint: Endpoint,
    templates: Vec<RequestTemplate>,
    load: Load,
    check: Check,
    window: Window,
}

impl Asking {
    fn of(endpoint: Endpoint, window: Window) -> Self {
        Self {
            endpoint,
            templates: vec![RequestTemplate::get("/")],
            load: Load {
                connections: 4,
                timeout: Seconds(5.0),
                ..Load::default()
            },
            check: Check {
                body: BodyCheck::Hash,
                ..Check::default()
            },
            window,
        }
    }

    fn null(responder: &NullResponder, window: Window) -> Self {
        Self::of(responder.endpoint().clone(), window)
    }

    fn drive(&self) -> Result<Driven, Error> {
        self.drive_after(0.3)
    }

    fn drive_after(&self, warmup: f64) -> Result<Driven, Error> {
        drive(&Drive {
            endpoint: self.endpoint.clone(),
            templates: &self.templates,
            load: &self.load,
            check: &self.check,
            warmup: &WarmupRule {
                min: Seconds(0.0),
                max: Seconds(warmup),
            },
            window: self.window,
            seed: 1,
            late: Duration::MAX,
            cancel: Arc::new(AtomicBool::new(false)),
            threads: ClientThreads::default(),
            edge: &|| {},
            progress: &|_| {},
        })
    }
}

#[test]
fn exactly_as_many_requests_are_counted_as_were_asked_for() {
    let null = NullResponder::start(1000).expect("starts");
    let driven = Asking::null(&null, Window::Requests(500))
        .drive()
        .expect("drives");
    assert_eq!(driven.result.completed, 500);
    assert_eq!(driven.result.total.count(), 500);
    assert_eq!(driven.result.failures.all(), 0);
    assert_eq!(driven.result.bytes_body, 500_000);
    assert_eq!(driven.result.bodies.len(), 1);
    assert_eq!(driven.result.bodies[0].count, 500);
    let hash = &driven.result.bodies[0].reply.hash;
    assert_eq!(
        *hash,
        blake3::hash(&driven.bodies[hash]).to_hex().to_string()
    );
}

#[test]
fn a_window_of_time_obeys_littles_law() {
    let null = NullResponder::start(100).expect("starts");
    let driven = Asking::null(&null, Window::For(Duration::from_millis(600)))
        .drive()
        .expect("drives");
    let result = &driven.result;
    assert!(result.completed > 0);
    assert!((result.seconds - 0.6).abs() < 1e-6);
    // All four connections are busy, except for the client's own time between two requests.
    assert!(
        (1.0..=4.2).contains(&result.in_flight),
        "{}",
        result.in_flight
    );
    let counted: u64 = result.bins.iter().map(|bin| bin.completed).sum();
    assert_eq!(counted, result.completed);
    let by_connection: u64 = result
        .per_connection
        .iter()
        .map(|used| used.completed)
        .sum();
    assert_eq!(by_connection, result.completed);
    assert!(driven.client.cpu_seconds > 0.0 && driven.client.busy <= 1.05);
}

#[test]
fn an_open_loop_sends_at_its_rate_and_counts_from_the_intended_start() {
    let null = NullResponder::start(100).expect("starts");
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let mut asking = Asking::null(&null, Window::For(Duration::from_secs(1)));
        asking.load = Load {
            mode: Mode::Open,
            rate: 400.0,
            arrivals,
            ..asking.load
        };
        let driven = asking.drive().expect("drives");
        let arrived = driven.result.completed + driven.result.missed_sends;
        assert!((300..500).contains(&arrived), "{arrivals:?}: {arrived}");
        assert_eq!(driven.result.send_lag.count(), driven.result.completed);
    }
}

#[test]
fn an_open_loop_shows_the_wait_for_a_server_that_is_too_slow() {
    let slow = Misbehaving::slow(Duration::from_millis(20));
    let mut asking = Asking::of(slow.endpoint(), Window::For(Duration::from_secs(1)));
    asking.load = Load {
        mode: Mode::Open,
        connections: 1,
        rate: 200.0,
        arrivals: Arrivals::Constant,
        ..asking.load
    };
    let driven = asking.drive().expect("drives");
    let result = &driven.result;
    assert!(
        result.missed_sends > 0,
        "one connection cannot send 200 a second"
    );
    assert!(
        result.total.max() > 4.0 * result.service.quantile(0.5),
        "the queue is part of the latency"
    );
}

#[test]
fn without_keep_alive_every_request_connects() {
    let null = NullResponder::start(100).expect("starts");
    let mut asking = Asking::null(&null, Window::Requests(50));
    asking.load.keepalive = false;
    let driven = asking.drive().expect("drives");
    assert_eq!(driven.result.completed, 50);
    assert_eq!(driven.result.connect.count(), 50);
    asking.load.keepalive = true;
    let driven = asking.drive().expect("drives");
    assert_eq!(driven.result.completed, 50);
    assert!(driven.result.connect.count() <= 4);
}

#[test]
fn the_null_responder_answers_on_a_unix_socket_and_closes_for_those_who_cannot_keep() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("null");
    let unix = Endpoint::Unix(socket.clone());
    let null = NullResponder::listen(&unix, NullConfig::plain(7)).expect("starts");
    let driven = Asking::null(&null, Window::Requests(50)).drive();
    assert_eq!(driven.expect("drives").result.completed, 50);
    let mut old = UnixStream::connect(socket).expect("connects");
    old.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("asks");
    let mut reply = String::new();
    old.read_to_string(&mut reply).expect("it ends");
    assert!(reply.ends_with("\r\n\r\nxxxxxxx"), "{reply}");
}

#[test]
fn a_server_that_closes_kept_connections_fails_no_request() {
    let closing = Misbehaving::closing_after(3);
    let driven = Asking::of(closing.endpoint(), Window::Requests(60))
        .drive()
        .expect("drives");
    assert_eq!(driven.result.completed, 60, "{:?}", driven.result.failures);
}

#[test]
fn a_body_that_ends_early_counts_as_cut() {
    let cutting = Misbehaving::cutting();
    let driven = Asking::of(cutting.endpoint(), Window::Requests(20))
        .drive()
        .expect("drives");
    assert_eq!(driven.result.completed, 0);
    assert_eq!(driven.result.failures.cut, 20);
}

#[test]
fn a_server_that_is_not_there_fails_to_connect() {
    let gone = {
        let null = NullResponder::start(1).expect("starts");
        null.endpoint().clone()
    };
    let driven = Asking::of(gone, Window::Requests(10))
        .drive()
        .expect("drives");
    assert_eq!(driven.result.failures.connect, 10);
}

#[test]
fn replies_that_change_are_told_apart() {
    let changing = Misbehaving::counting();
    let driven = Asking::of(changing.endpoint(), Window::Requests(40))
        .drive()
        .expect("drives");
    assert_eq!(driven.result.completed, 40);
    assert_eq!(driven.result.bodies.len(), 40);
}

#[test]
fn without_warm_up_no_request_is_sent_that_does_not_count() {
    let changing = Misbehaving::counting();
    let asking = Asking::of(changing.endpoint(), Window::Requests(40));
    for before in [0, 40] {
        let driven = asking.drive_after(0.0).expect("drives");
        assert_eq!(driven.result.completed, 40);
        let first = driven.bodies.values().min().expect("bodies");
        assert_eq!(first.as_ref(), format!("{before:08}").as_bytes());
    }
}

#[test]
fn a_wrong_status_and_a_wrong_type_are_failures() {
    let null = NullResponder::start(10).expect("starts");
    let mut asking = Asking::null(&null, Window::Requests(10));
    asking.check.status = 404;
    assert_eq!(asking.drive().expect("drives").result.failures.status, 10);
    asking.check.status = 200;
    asking.check.media_type = "image/jpeg".to_owned();
    assert_eq!(
        asking.drive().expect("drives").result.failures.media_type,
        10
    );
}

#[test]
fn unix_sockets_are_asked_the_same_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Misbehaving::on_unix_socket(&folder.path().join("s"));
    let driven = Asking::of(server.endpoint(), Window::Requests(30))
        .drive()
        .expect("drives");
    assert_eq!(driven.result.completed, 30, "{:?}", driven.result.failures);
}

#[test]
fn http_2_is_asked_the_same_way() {
    let manner = NullConfig {
        http: HttpVersion::Two,
        threads: 2,
        ..NullConfig::plain(3000)
    };
    let any_port = Endpoint::Tcp(([127, 0, 0, 1], 0).into());
    let null = NullResponder::listen(&any_port, manner).expect("starts");
    let mut asking = Asking::null(&null, Window::Requests(200));
    asking.load.http = HttpVersion::Two;
    let driven = asking.drive().expect("drives");
    assert_eq!(driven.result.completed, 200, "{:?}", driven.result.failures);
}

#[test]
fn ramp_up_is_kept_out_of_the_figures() {
    let null = NullResponder::start(10).expect("starts");
    let mut asking = Asking::null(&null, Window::Requests(100));
    asking.load.ramp = Seconds(0.4);
    let driven = asking.drive().expect("drives");
    assert!(driven.ramped.duration_since(driven.began) >= Duration::from_millis(400));
    assert_eq!(driven.result.completed, 100);
    assert!(driven.opened >= driven.ramped);
}

#[test]
fn nothing_to_ask_and_no_rate_are_refused() {
    let null = NullResponder::start(10).expect("starts");
    let mut asking = Asking::null(&null, Window::Requests(1));
    asking.load.mode = Mode::Open;
    assert!(matches!(asking.drive(), Err(Error::NoRate)));
    asking.templates.clear();
    assert!(matches!(asking.drive(), Err(Error::NothingAsked)));
}
