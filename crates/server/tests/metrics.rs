//! `/metrics`, read as Prometheus reads it.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use andon_server::Address;
use common::{Client, House};

/// The types of the families, and every sample with its labels.
#[derive(Debug, Default)]
struct Page {
    types: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
}

impl Page {
    /// Panics at the first line that is not in Prometheus' text format.
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut family = String::new();
        assert!(text.ends_with('\n'));
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split(' ').next().unwrap().to_owned();
                assert!(help.len() > family.len() + 5, "no help: {line}");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').expect("name and type");
                assert_eq!(name, family, "TYPE follows HELP");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                let twice = page.types.insert(name.to_owned(), kind.to_owned());
                assert_eq!(twice, None, "{name} is there twice");
            } else {
                let (series, value) = line.rsplit_once(' ').expect("series and value");
                let name = series.split('{').next().unwrap();
                assert!(
                    name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                    "{line}"
                );
                assert_eq!(family_of(name, &page.types), Some(&*family), "{line}");
                if let Some(labels) = series.strip_prefix(name).filter(|rest| !rest.is_empty()) {
                    let inside = labels.strip_prefix('{').and_then(|l| l.strip_suffix('}'));
                    for label in inside.expect("braces").split(',') {
                        let (_, value) = label.split_once('=').expect("a label");
                        assert!(value.starts_with('"') && value.ends_with('"'), "{line}");
                    }
                }
                let value = value.parse().expect("a number");
                assert_eq!(
                    page.samples.insert(series.to_owned(), value),
                    None,
                    "{line}"
                );
            }
        }
        page
    }

    fn value(&self, series: &str) -> f64 {
        *self
            .samples
            .get(series)
            .unwrap_or_else(|| panic!("no {series} in {self:#?}"))
    }
}

/// The family that a sample of this name belongs to.
fn family_of<'a>(name: &'a str, types: &BTreeMap<String, String>) -> Option<&'a str> {
    let base = ["_bucket", "_sum", "_count"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .filter(|base| types.get(*base).is_some_and(|kind| kind == "histogram"));
    base.or_else(|| types.contains_key(name).then_some(name))
}

fn figures(house: &House) -> Page {
    let reply = house.get("/metrics");
    assert_eq!(reply.status, 200);
    assert!(
        reply
            .header("content-type")
            .unwrap()
            .contains("version=0.0.4")
    );
    Page::parse(&reply.text())
}

#[test]
fn what_requests_did_is_counted() {
    let house = House::new();
    house.get("/small_light(dw=10)/a.jpg");
    house.get("/small_light(dw=10)/missing.jpg");
    house.get("/a.jpg");
    let page = figures(&house);
    assert_eq!(page.value("andon_requests_total{status=\"2xx\"}"), 2.0);
    assert_eq!(page.value("andon_requests_total{status=\"4xx\"}"), 1.0);
    assert_eq!(
        page.value("andon_refusals_total{cause=\"missing\",fault=\"client\"}"),
        1.0
    );
    assert_eq!(page.value("andon_request_duration_seconds_count"), 3.0);
    assert_eq!(
        page.value("andon_stage_duration_seconds_count{stage=\"decode\"}"),
        1.0
    );
    assert!(page.value("andon_response_bytes_total") > 1000.0);
    assert!(page.value("andon_connections") >= 1.0);
    assert!(page.value("process_resident_memory_bytes") > 1e6);
    assert!(page.value("process_threads") > 2.0);
    assert!(page.value("process_open_fds") > 2.0);
}

#[test]
fn names_follow_the_conventions() {
    for (name, kind) in figures(&House::new()).types {
        assert!(
            name.starts_with("andon_") || name.starts_with("process_"),
            "{name}"
        );
        assert_eq!(
            name.ends_with("_total"),
            kind == "counter",
            "{name} is a {kind}"
        );
        for unit in ["_ms", "_millis", "_kb", "_mb", "_percent"] {
            assert!(!name.contains(unit), "{name}: base units only");
        }
    }
}

#[test]
fn the_buckets_of_a_histogram_only_grow_and_end_at_its_count() {
    let house = House::new();
    house.get("/small_light(dw=10)/a.jpg");
    let text = house.get("/metrics").text();
    let buckets: Vec<f64> = text
        .lines()
        .filter(|line| line.starts_with("andon_request_duration_seconds_bucket"))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap())
        .collect();
    assert!(buckets.len() > 10 && buckets.is_sorted(), "{buckets:?}");
    assert_eq!(buckets.last(), Some(&1.0));
}

#[test]
fn an_address_of_their_own_shows_figures_and_no_pictures() {
    let house = House::with("[metrics]\nallow = \"off\"\nlisten = \"127.0.0.1:0\"\n");
    assert_eq!(house.get("/metrics").status, 404);
    let Some(Address::Tcp(address)) = house.addresses.last() else {
        panic!("no address for figures in {:?}", house.addresses);
    };
    let mut client = Client::connect(*address);
    Page::parse(&client.get("/metrics").text());
    assert_eq!(client.get("/healthz").status, 200);
    assert_eq!(client.get("/a.jpg").status, 404);
    assert_eq!(
        client
            .request("POST", "/metrics", &[("Content-Length", "0")])
            .status,
        405
    );
}

#[test]
fn every_name_on_the_dashboard_is_a_name_of_ours() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/grafana/andon.json");
    let dashboard: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("the dashboard")).expect("JSON");
    let mut asked = String::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        let targets = panel["targets"].as_array();
        for target in targets.into_iter().flatten() {
            asked.push_str(target["expr"].as_str().expect("an expression"));
            asked.push('\n');
        }
    }
    let names: BTreeSet<&str> = asked
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("andon_") || word.starts_with("process_"))
        .collect();
    assert!(names.len() > 10, "{names:?}");
    let types = figures(&House::new()).types;
    for name in names {
        assert!(
            family_of(name, &types).is_some(),
            "{name} is not in /metrics"
        );
    }
}
