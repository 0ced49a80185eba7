//! docs/logging.md compared with what the server writes.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use crate::common::{Served, one_image, sample};
use serde_json::{Map, Value};

/// Returns the names in the first column of the tables below a heading, up to the next heading.
fn documented(heading: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/logging.md");
    let page = fs::read_to_string(path).expect("the page");
    let below = page.split(&format!("\n{heading}\n")).nth(1);
    let below = below.unwrap_or_else(|| panic!("no heading {heading}"));
    let section = below.split("\n#").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.strip_prefix("| `"));
    names
        .filter_map(|row| row.split('`').next())
        .map(str::to_owned)
        .collect()
}

fn keys(object: &Map<String, Value>) -> impl Iterator<Item = String> {
    object.keys().cloned()
}

/// Sends one request unchanged and reads the whole response.
fn ask(served: &Served, head: &str, body: &[u8]) {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let end = format!(
        "Host: test\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream
        .write_all(format!("{head}\r\n{end}").as_bytes())
        .unwrap();
    stream.write_all(body).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    assert!(reply.starts_with(b"HTTP/1.1 "), "{head}");
}

/// Returns every line that a server wrote after events of all kinds.
fn written() -> Vec<Map<String, Value>> {
    let folder = one_image();
    // A file in the place of the disk cache's folder.
    fs::create_dir(folder.path().join("kept")).unwrap();
    fs::write(folder.path().join("kept/andon-cache-1"), "no folder").unwrap();
    let config = "metrics.allow = \"all\"\n[[origin]]\nfs.root = \".\"\n[cache]\ndisk = { path = \"kept\", size = \"1MiB\" }\n\
                  [upload]\nallow = \"all\"\n[log]\nformat = \"json\"\nlevel = \"debug\"\n";
    let served = Served::start(folder.path(), config);
    let parent = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let image = fs::read(sample("jpeg/420.jpg")).unwrap();
    for head in [
        "GET /small_light(dw=20,dww=30)/a.jpg HTTP/1.1",
        &format!("GET /small_light(dw=20,dww=30)/a.jpg HTTP/1.1\r\n{parent}"),
        "GET /r/trim:10,fit:20x20/a.jpg HTTP/1.1",
        "GET /a.jpg HTTP/1.1",
        "GET /missing.jpg HTTP/1.1",
        "GET /r/nonsense:1/a.jpg HTTP/1.1",
        "PUT /a.jpg HTTP/1.1",
        "GET /a.jpg HTTP/1.1\r\nBad Header: 1",
    ] {
        ask(&served, head, b"");
    }
    ask(
        &served,
        "POST /_andon/render?recipe=fit:20x20 HTTP/1.1",
        &image,
    );
    fs::write(folder.path().join("andon.toml"), "nonsense = 1").unwrap();
    served.signal("-HUP");
    for _ in 0..3000 {
        let metrics = String::from_utf8(served.get("/metrics").body).unwrap();
        if metrics.contains("andon_reloads_total{outcome=\"refused\"} 1") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let said = served.stop();
    let line = |line: &str| match serde_json::from_str(line) {
        Ok(Value::Object(object)) => object,
        other => panic!("{other:?}: {line}"),
    };
    said.lines().map(line).collect()
}

#[test]
fn every_field_that_is_written_is_on_the_page_and_every_field_of_requests_is_written() {
    let lines = written();
    let (requests, own): (Vec<_>, Vec<_>) =
        lines.iter().partition(|line| line.contains_key("status"));
    let seen: BTreeSet<String> = requests.iter().flat_map(|line| keys(line)).collect();
    assert_eq!(seen, documented("## Requests"));

    let stages = documented("### Stages");
    let taken: BTreeSet<String> = requests
        .iter()
        .flat_map(|line| keys(line["stages_ms"].as_object().unwrap()))
        .collect();
    assert!(taken.is_subset(&stages), "{taken:?}");
    assert!(taken.len() >= 7, "only {taken:?} took place");

    assert!(own.len() >= 3, "resources, a disk, a reload: {own:?}");
    let fields = documented("## The server's own lines");
    for line in own {
        assert!(line.contains_key("level"), "{line:?}");
        let unknown: Vec<String> = keys(line).filter(|key| !fields.contains(key)).collect();
        assert!(unknown.is_empty(), "{unknown:?} of {line:?}");
    }
}

#[test]
fn a_request_is_a_span_of_the_trace_that_it_brings() {
    let lines = written();
    let traced: Vec<_> = lines
        .iter()
        .filter(|line| line.contains_key("trace_id"))
        .collect();
    assert_eq!(traced.len(), 1);
    assert_eq!(traced[0]["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(traced[0]["parent_span_id"], "00f067aa0ba902b7");
    let span = traced[0]["span_id"].as_str().unwrap();
    assert!(span.len() == 16 && span != "00f067aa0ba902b7", "{span}");
}
