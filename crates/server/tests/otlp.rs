//! Spans, as a collector gets them.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use common::House;
use common::listener::Listener;
use serde_json::Value;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A server, and what its collector is sent: head and body of each request. It is answered with `status`.
fn house(status: &'static str) -> (House, Listener, Receiver<(String, Value)>) {
    let (sender, received) = channel();
    let collector = Listener::start(move |stream| {
        // Nobody listens any more at the end of a test.
        let _ = sender.send(take(stream, status));
    });
    let keys = format!(
        "[trace]\notlp = \"http://127.0.0.1:{}\"\n",
        collector.port()
    );
    (House::with(&keys), collector, received)
}

fn take(mut stream: TcpStream, status: &str) -> (String, Value) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let mut lengths = head
        .lines()
        .filter_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; lengths.next().unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let reply = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
    stream.write_all(reply.as_bytes()).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

fn next(received: &Receiver<(String, Value)>) -> (String, Value) {
    received
        .recv_timeout(Duration::from_secs(60))
        .expect("spans")
}

fn ask(house: &House, target: &str, flags: &str) -> u16 {
    let parent = format!("00-{TRACE}-{CALLER}-{flags}");
    house
        .request("GET", target, &[("traceparent", &parent)])
        .status
}

fn spans(message: &Value) -> &Vec<Value> {
    message["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .unwrap()
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let all = span["attributes"].as_array().unwrap();
    &all.iter().find(|it| it["key"] == key).unwrap()["value"]
}

fn nanoseconds(span: &Value, key: &str) -> u128 {
    span[key].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_sampled_request_is_a_span_with_one_below_it_for_each_stage() {
    let (house, _collector, received) = house("200 OK");
    // Neither of these is anybody's to record.
    assert_eq!(house.get("/small_light(dw=21)/a.jpg").status, 200);
    assert_eq!(ask(&house, "/small_light(dw=22)/a.jpg", "00"), 200);
    assert_eq!(ask(&house, "/small_light(dw=23)/a.jpg", "01"), 200);

    let (head, message) = next(&received);
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains("content-type: application/json\r\n"),
        "{head}"
    );
    let (server, stages) = spans(&message).split_first().unwrap();
    assert_eq!(server["traceId"], TRACE);
    assert_eq!(server["parentSpanId"], CALLER);
    assert_eq!(
        (&server["name"], &server["kind"]),
        (&"GET".into(), &2.into())
    );
    assert_eq!(
        attribute(server, "url.path")["stringValue"],
        "/small_light(dw=23)/a.jpg"
    );
    assert_eq!(
        attribute(server, "http.response.status_code")["intValue"],
        "200"
    );

    let names: Vec<_> = stages
        .iter()
        .map(|stage| stage["name"].as_str().unwrap())
        .collect();
    for stage in ["fetch", "decode", "encode"] {
        assert!(names.contains(&stage), "{names:?}");
    }
    let mut end = nanoseconds(server, "startTimeUnixNano");
    for stage in stages {
        assert_eq!(
            (&stage["traceId"], &stage["parentSpanId"]),
            (&server["traceId"], &server["spanId"])
        );
        assert_eq!(nanoseconds(stage, "startTimeUnixNano"), end, "{names:?}");
        end = nanoseconds(stage, "endTimeUnixNano");
    }
    assert!(end <= nanoseconds(server, "endTimeUnixNano"), "{message}");
}

#[test]
fn a_request_that_fails_says_why() {
    let (house, _collector, received) = house("200 OK");
    assert_eq!(ask(&house, "/small_light(dw=20)/missing.jpg", "01"), 404);
    let (_, message) = next(&received);
    let server = &spans(&message)[0];
    assert_eq!(attribute(server, "error.type")["stringValue"], "not_found");
}

#[test]
fn a_collector_that_takes_nothing_harms_nobody() {
    let (house, _collector, received) = house("503 Service Unavailable");
    for _ in 0..2 {
        assert_eq!(ask(&house, "/small_light(dw=20)/a.jpg", "01"), 200);
        next(&received);
    }
}

#[test]
fn what_waits_at_the_end_is_sent() {
    let (mut house, _collector, received) = house("200 OK");
    assert_eq!(ask(&house, "/small_light(dw=20)/a.jpg", "01"), 200);
    house.begin_to_stop();
    house.wait_until_stopped();
    assert!(received.try_recv().is_ok());
}
