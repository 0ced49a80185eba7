//! Traces, metrics and logs, as a collector gets them.

#[path = "../common/mod.rs"]
mod common;

mod collector;

use std::collections::{BTreeMap, BTreeSet};

use andon_server::Config;
use andon_server::config::{LogConfig, LogFormat, LogLevel};
use collector::{Collector, nobody};
use common::{House, figure, wait_for_figure};
use serde_json::Value;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// Keys of a configuration that exports to this collector.
fn keys(collector: &Collector, further: &str) -> String {
    format!("[otlp]\nurl = \"{}\"\n{further}\n", collector.url("http"))
}

/// A server that exports traces alone, and its collector.
fn tracing(statuses: &[&'static str]) -> (House, Collector) {
    let collector = Collector::answering(statuses);
    let house = House::with(&keys(&collector, "metrics = false\nlogs = false"));
    (house, collector)
}

fn ask(house: &House, target: &str, flags: &str) -> u16 {
    let parent = format!("00-{TRACE}-{CALLER}-{flags}");
    house
        .request("GET", target, &[("traceparent", &parent)])
        .status
}

fn spans(message: &Value) -> &Vec<Value> {
    list(&message["resourceSpans"][0]["scopeSpans"][0]["spans"])
}

fn list(value: &Value) -> &Vec<Value> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("no list: {value}"))
}

fn attribute<'a>(of: &'a Value, key: &str) -> &'a Value {
    let found = list(&of["attributes"]).iter().find(|it| it["key"] == key);
    &found.unwrap_or_else(|| panic!("no {key} in {of}"))["value"]
}

fn nanoseconds(of: &Value, key: &str) -> u128 {
    of[key].as_str().unwrap().parse().unwrap()
}

/// The figure of `/metrics` that counts what a collector accepted (`sent`) or did not (`dropped`).
fn counted(what: &str, signal: &str) -> String {
    format!("andon_otlp_{what}_total{{signal=\"{signal}\"}}")
}

#[test]
fn a_sampled_request_is_a_span_with_one_below_it_for_each_stage() {
    let (house, collector) = tracing(&[]);
    // Neither of these is anybody's to record.
    assert_eq!(house.get("/small_light(dw=21)/a.jpg").status, 200);
    assert_eq!(ask(&house, "/small_light(dw=22)/a.jpg", "00"), 200);
    assert_eq!(ask(&house, "/small_light(dw=23)/a.jpg", "01"), 200);

    let message = collector.next();
    assert_eq!(message.path, "/v1/traces");
    assert!(
        message.head.contains("content-type: application/json\r\n"),
        "{message:?}"
    );
    let resource = &message.body["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.name")["stringValue"], "andon");
    let (server, stages) = spans(&message.body).split_first().unwrap();
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
    assert!(end <= nanoseconds(server, "endTimeUnixNano"), "{server}");
}

#[test]
fn a_request_that_fails_says_why() {
    let (house, collector) = tracing(&[]);
    assert_eq!(ask(&house, "/small_light(dw=20)/missing.jpg", "01"), 404);
    let message = collector.next();
    let server = &spans(&message.body)[0];
    assert_eq!(attribute(server, "error.type")["stringValue"], "not_found");
}

#[test]
fn what_a_collector_may_take_later_is_sent_again() {
    for status in [
        "429 Too Many Requests",
        "503 Service Unavailable\r\nretry-after: 1",
    ] {
        let (house, collector) = tracing(&[status]);
        assert_eq!(ask(&house, "/small_light(dw=20)/a.jpg", "01"), 200);
        let (first, again) = (collector.next(), collector.next());
        assert_eq!(first.body, again.body);
        let count = spans(&first.body).len() as f64;
        wait_for_figure(&house, &counted("sent", "traces"), count);
        assert_eq!(figure(&house, &counted("dropped", "traces")), 0.0);
    }
}

#[test]
fn what_a_collector_refuses_is_dropped_and_counted() {
    let (house, collector) = tracing(&["400 Bad Request"]);
    assert_eq!(ask(&house, "/small_light(dw=20)/a.jpg", "01"), 200);
    let refused = collector.next();
    let count = spans(&refused.body).len() as f64;
    wait_for_figure(&house, &counted("dropped", "traces"), count);
    assert_eq!(ask(&house, "/small_light(dw=21)/a.jpg", "01"), 200);
    let next = collector.next();
    assert_ne!(refused.body, next.body);
    wait_for_figure(&house, &counted("sent", "traces"), 1.0);
}

#[test]
fn a_server_without_its_collector_serves_and_ends() {
    let keys = format!("[otlp]\nurl = \"{}\"\ninterval = \"1s\"", nobody());
    let mut house = House::with(&keys);
    for width in 20..24 {
        let target = format!("/small_light(dw={width})/a.jpg");
        assert_eq!(ask(&house, &target, "01"), 200);
    }
    house.begin_to_stop();
    house.wait_until_stopped();
}

#[test]
fn what_waits_at_the_end_is_sent() {
    let (mut house, collector) = tracing(&[]);
    assert_eq!(ask(&house, "/small_light(dw=20)/a.jpg", "01"), 200);
    house.begin_to_stop();
    house.wait_until_stopped();
    assert_eq!(collector.rest().len(), 1);
}

/// Returns the kind in OTLP (`sum`, `gauge` or `histogram`) of each metric family on a page of metrics, by the family's
/// name. Families without a sample are left out.
fn kinds(page: &str) -> BTreeMap<String, &'static str> {
    let mut kinds = BTreeMap::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((name, kind)) = line
            .strip_prefix("# TYPE ")
            .and_then(|line| line.split_once(' '))
        else {
            continue;
        };
        if lines.peek().is_some_and(|next| !next.starts_with('#')) {
            let kind = match kind {
                "counter" => "sum",
                "gauge" => "gauge",
                "histogram" => "histogram",
                other => panic!("{other}"),
            };
            kinds.insert(name.to_owned(), kind);
        }
    }
    kinds
}

#[test]
fn every_metric_of_the_page_is_exported_as_what_it_is() {
    let collector = Collector::answering(&[]);
    let further = "logs = false\ntraces = false\nresource = { \"service.name\" = \"thumbnails\" }";
    let mut house = House::with(&keys(&collector, further));
    assert_eq!(ask(&house, "/small_light(dw=20)/a.jpg", "00"), 200);
    assert_eq!(house.get("/missing.jpg").status, 404);
    let page = kinds(&house.get("/metrics").text());
    assert!(page.len() > 40, "{page:?}");
    // The last metrics are sent at the end, long before the interval is over.
    house.begin_to_stop();
    house.wait_until_stopped();
    let message = collector.next_at("/v1/metrics").body;
    let all = &message["resourceMetrics"][0];
    let name = attribute(&all["resource"], "service.name");
    assert_eq!(name["stringValue"], "thumbnails");
    let metrics = list(&all["scopeMetrics"][0]["metrics"]);
    let of = |name: &str| metrics.iter().find(|it| it["name"] == name);
    for (name, kind) in &page {
        let metric = of(name).unwrap_or_else(|| panic!("no {name}"));
        let points = list(&metric[kind]["dataPoints"]);
        assert!(!points.is_empty(), "{metric}");
        for point in points {
            let now = nanoseconds(point, "timeUnixNano");
            let began = match *kind {
                "gauge" => 0,
                _ => nanoseconds(point, "startTimeUnixNano"),
            };
            assert!(began < now, "{metric}");
        }
    }
    let names: BTreeSet<&str> = metrics
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names.len(), metrics.len(), "a name is there twice");

    let requests = of("andon_requests_total").unwrap();
    assert_eq!(requests["sum"]["isMonotonic"], true);
    assert_eq!(requests["sum"]["aggregationTemporality"], 2);
    let points = list(&requests["sum"]["dataPoints"]).iter();
    let missing = points.filter(|it| attribute(it, "status")["stringValue"] == "4xx");
    let missing: Vec<_> = missing.map(|it| it["asDouble"].as_f64()).collect();
    assert_eq!(missing, [Some(1.0)]);

    let durations = of("andon_request_duration_seconds").unwrap();
    assert_eq!(durations["unit"], "s");
    let point = &durations["histogram"]["dataPoints"][0];
    let bounds = list(&point["explicitBounds"]).len();
    let counts = list(&point["bucketCounts"]).iter();
    let counts: Vec<u64> = counts
        .map(|it| it.as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(counts.len(), bounds + 1);
    assert_eq!(point["count"], counts.iter().sum::<u64>().to_string());
    assert_eq!(point["exemplars"][0]["traceId"], TRACE);
}

#[test]
fn metrics_are_sent_at_each_interval() {
    let collector = Collector::answering(&[]);
    let house = House::with(&keys(&collector, "interval = \"1s\"\nlogs = false"));
    for _ in 0..2 {
        collector.next_at("/v1/metrics");
    }
    wait_for_figure(&house, &counted("sent", "metrics"), 100.0);
}

#[test]
fn a_collector_behind_tls_is_believed_if_its_authority_is_and_gets_the_headers() {
    let (collector, pem) = Collector::with_tls();
    let variable = "PATH";
    let keys = format!(
        "[otlp]\nurl = \"{}/base/\"\nmetrics = false\nlogs = false\nheaders = {{ X-Scope = \"images\" }}\n\
         headers_env = {{ x-api-key = \"{variable}\" }}\n",
        collector.url("https")
    );
    let trusting = House::furnished(&format!("{keys}ca = \"ca.pem\"\n"), |folder| {
        std::fs::write(folder.join("ca.pem"), &pem).unwrap();
    });
    assert_eq!(ask(&trusting, "/small_light(dw=20)/a.jpg", "01"), 200);
    let message = collector.next();
    assert_eq!(message.path, "/base/v1/traces");
    let secret = std::env::var(variable).unwrap().to_ascii_lowercase();
    for line in ["x-scope: images", &format!("x-api-key: {secret}")] {
        assert!(message.head.lines().any(|it| it == line), "{message:?}");
    }

    let distrusting = House::with(&keys);
    assert_eq!(ask(&distrusting, "/small_light(dw=20)/a.jpg", "01"), 200);
    wait_for_figure(&distrusting, &counted("dropped", "traces"), 1.0);
    assert!(collector.rest().is_empty());
}

fn records(message: &Value) -> &Vec<Value> {
    list(&message["resourceLogs"][0]["scopeLogs"][0]["logRecords"])
}

#[test]
fn the_servers_own_lines_are_log_records() {
    andon_server::install_log(LogConfig {
        format: LogFormat::Off,
        level: LogLevel::Info,
    });
    let collector = Collector::answering(&[]);
    let house = House::with(&keys(&collector, "metrics = false"));
    let body = |record: &Value| record["body"]["stringValue"].as_str().unwrap().to_owned();
    let record = loop {
        let message = collector.next_at("/v1/logs").body;
        let mut records = records(&message).iter();
        if let Some(record) = records.find(|it| body(it).starts_with("resources: ")) {
            break record.clone();
        }
    };
    assert_eq!(
        (&record["severityNumber"], &record["severityText"]),
        (&9.into(), &"INFO".into())
    );
    let workers = &attribute(&record, "workers")["intValue"];
    assert!(workers.as_str().unwrap().parse::<u32>().unwrap() > 0);
    let target = attribute(&record, "target")["stringValue"].as_str();
    assert!(target.unwrap().starts_with("andon_server::"));
    wait_for_figure(&house, &counted("sent", "logs"), 1.0);
}

#[test]
fn requests_are_log_records_if_the_configuration_says_so() {
    let collector = Collector::answering(&[]);
    let further = "metrics = false\ntraces = false\nlogs = false\naccess_log = true";
    let house = House::with(&keys(&collector, further));
    assert_eq!(ask(&house, "/small_light(dw=20)/a.jpg", "00"), 200);
    let message = collector.next();
    assert_eq!(message.path, "/v1/logs");
    let record = &records(&message.body)[0];
    assert_eq!(record["traceId"], TRACE);
    assert_eq!(
        attribute(record, "url.path")["stringValue"],
        "/small_light(dw=20)/a.jpg"
    );
    let decode = attribute(record, "andon.stages_ms.decode");
    assert!(decode["doubleValue"].as_f64().unwrap() > 0.0);
    let line = record["body"]["stringValue"].as_str().unwrap();
    assert!(line.contains("GET /small_light(dw=20)/a.jpg 200"), "{line}");
}

#[test]
fn a_reload_moves_everything_to_the_new_collector() {
    let (before, after) = (Collector::answering(&[]), Collector::answering(&[]));
    let further = "interval = \"1s\"\naccess_log = true\nlogs = false";
    let house = House::with(&keys(&before, further));
    assert_eq!(ask(&house, "/small_light(dw=20)/a.jpg", "01"), 200);
    before.next_at("/v1/metrics");
    let text = format!(
        "[[origin]]\nfs.root = \"root\"\nfs.files = \"all\"\n[log]\nformat = \"off\"\n{}",
        keys(&after, further)
    );
    let mut config = Config::parse(&text, house.folder.path()).unwrap();
    config.loopback_is_local = true;
    config.listen = vec!["127.0.0.1:0".parse().unwrap()];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(house.reloader.reload(Ok(config))).unwrap();
    assert_eq!(ask(&house, "/small_light(dw=21)/a.jpg", "01"), 200);
    let mut paths = BTreeSet::new();
    while paths.len() < 3 {
        paths.insert(after.next().path);
    }
    let expected = ["/v1/logs", "/v1/metrics", "/v1/traces"].map(str::to_owned);
    assert_eq!(paths, BTreeSet::from(expected));
}
