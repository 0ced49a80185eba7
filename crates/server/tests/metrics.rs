//! `/metrics`, read as Prometheus reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::common::hostile::Hostile;
use crate::common::{Client, House, sample};
use andon_server::Address;

/// The types of the families, and every sample with its labels.
#[derive(Debug, Default)]
struct Page {
    types: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
}

impl Page {
    /// Parses the text of `/metrics`. Panics at the first line that is not in Prometheus' text format.
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
        page.value("andon_errors_total{cause=\"not_found\",fault=\"client\"}"),
        1.0
    );
    assert_eq!(page.value("andon_request_duration_seconds_count"), 3.0);
    assert_eq!(
        page.value("andon_stage_duration_seconds_count{stage=\"decode\"}"),
        1.0
    );
    assert!(page.value("andon_response_bytes_total") > 1000.0);
    for (dialect, requests, errors) in [("small_light", 2.0, 1.0), ("files", 1.0, 0.0)] {
        let of = |name: &str| page.value(&format!("{name}{{dialect=\"{dialect}\"}}"));
        assert_eq!(of("andon_dialect_requests_total"), requests, "{dialect}");
        assert_eq!(of("andon_dialect_errors_total"), errors, "{dialect}");
    }
    let of_results = |bytes: &str| {
        page.value(&format!(
            "andon_dialect_{bytes}_bytes_total{{dialect=\"small_light\"}}"
        ))
    };
    assert!(of_results("result") > 0.0 && of_results("source") > of_results("result"));
    assert!(page.value("andon_connections") >= 1.0);
    assert!(page.value("process_resident_memory_bytes") > 1e6);
    assert!(page.value("process_threads") > 2.0);
    assert!(page.value("process_open_fds") > 2.0);
}

#[test]
fn each_tier_of_the_cache_tells_what_it_found_and_holds() {
    let house = House::with("[cache]\ndisk.path = \"kept\"\ndisk.size = \"1MiB\"\n");
    for _ in 0..2 {
        assert_eq!(house.get("/small_light(dw=10)/a.jpg").status, 200);
    }
    let page = figures(&house);
    let lookups = |tier: &str, outcome: &str| {
        page.value(&format!(
            "andon_cache_lookups_total{{tier=\"{tier}\",outcome=\"{outcome}\"}}"
        ))
    };
    assert_eq!(lookups("memory", "hit"), 1.0);
    assert_eq!(lookups("memory", "stale"), 0.0);
    assert_eq!(lookups("memory", "miss"), 1.0);
    assert_eq!(lookups("disk", "miss"), 1.0);
    assert_eq!(page.value("andon_cache_entries{tier=\"memory\"}"), 1.0);
    assert!(page.value("andon_cache_bytes{tier=\"memory\"}") > 100.0);
    assert_eq!(
        page.value("andon_cache_limit_bytes{tier=\"disk\"}"),
        f64::from(1 << 20)
    );
    assert_eq!(page.value("andon_cache_disk_ready"), 1.0);
    assert_eq!(page.value("andon_cache_disk_error{kind=\"full\"}"), 0.0);
    assert_eq!(page.value("andon_cache_disk_errors_total"), 0.0);
    assert_eq!(page.value("andon_cache_purges_total"), 0.0);
    for stage in ["cache", "wait", "queue"] {
        let counted = page.value(&format!(
            "andon_stage_duration_seconds_count{{stage=\"{stage}\"}}"
        ));
        assert_eq!(counted, f64::from(u8::from(stage != "wait")), "{stage}");
    }
}

#[test]
fn a_disk_that_cannot_be_used_shows_as_trouble() {
    let keys = "[cache]\ndisk.path = \"kept\"\ndisk.size = \"1MiB\"\n";
    let house = House::furnished(keys, |folder| {
        // Where the tier keeps its folder.
        std::fs::create_dir(folder.join("kept")).expect("a folder");
        std::fs::write(folder.join("kept/andon-cache-1"), "no folder").expect("a file");
    });
    assert_eq!(house.get("/small_light(dw=10)/a.jpg").status, 200);
    let page = figures(&house);
    assert_eq!(
        page.value("andon_cache_disk_error{kind=\"unavailable\"}"),
        1.0
    );
    assert_eq!(page.value("andon_cache_disk_ready"), 0.0);
}

#[test]
fn each_origin_tells_how_its_fetches_ended() {
    let origin = Hostile::start(std::fs::read(sample("jpeg/420.jpg")).expect("a sample"));
    let house = House::with(&format!(
        "[[origin]]\nprefix = \"/far\"\nhttp.base = \"{base}\"\nallow = [\"127.0.0.1\"]\n\
         fetches = 3\nhttp.retries = 1\ntimeouts.first_byte = \"300ms\"\n\
         [[origin]]\nprefix = \"/denied\"\nhttp.base = \"{base}\"\n",
        base = origin.base(),
    ));
    for path in [
        "far/good.jpg",
        "far/missing.jpg",
        "far/close-at-once",
        "far/hang-before-headers",
        "far/broken",
        "denied/good.jpg",
        "a.jpg",
        "none.jpg",
    ] {
        house.get(&format!("/small_light(dw=10)/{path}"));
    }
    let page = figures(&house);
    let fetches = |origin: &str, result: &str| {
        page.value(&format!(
            "andon_origin_fetches_total{{origin=\"{origin}\",result=\"{result}\"}}"
        ))
    };
    for (origin, result) in [
        ("/far", "ok"),
        ("/far", "not_found"),
        ("/far", "cut"),
        ("/far", "timeout"),
        ("/far", "status"),
        ("/denied", "denied"),
        ("/", "ok"),
        ("/", "not_found"),
    ] {
        assert_eq!(fetches(origin, result), 1.0, "{origin} {result}");
    }
    let of_far = |name: &str| page.value(&format!("andon_origin_{name}{{origin=\"/far\"}}"));
    assert_eq!(of_far("fetch_duration_seconds_count"), 5.0);
    assert_eq!(of_far("retries_total"), 1.0);
    assert_eq!(of_far("fetch_slots"), 3.0);
    assert_eq!(of_far("fetches_in_flight"), 0.0);
    let size = std::fs::metadata(sample("jpeg/420.jpg")).expect("a sample");
    assert_eq!(of_far("received_bytes_total"), size.len() as f64);
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
fn an_address_of_their_own_shows_figures_and_no_images() {
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
fn every_name_on_the_dashboard_and_in_alerts_is_a_name_of_ours() {
    let dashboard: serde_json::Value =
        serde_json::from_str(&file("contrib/grafana/andon.json")).expect("JSON");
    let mut asked = file("contrib/prometheus/andon.rules.yml");
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

#[test]
fn every_alert_says_what_to_do_is_explained_and_is_tested() {
    let rules = file("contrib/prometheus/andon.rules.yml");
    let (docs, tests) = (
        file("docs/alerts.md"),
        file("contrib/prometheus/andon.rules.test.yml"),
    );
    let alerts: Vec<&str> = rules.split("- alert: ").skip(1).collect();
    assert!(alerts.len() > 10, "{alerts:?}");
    for alert in alerts {
        let name = alert.lines().next().expect("a name");
        for part in [" summary: ", " action: "] {
            assert_eq!(alert.matches(part).count(), 1, "{name}: {part}");
        }
        let severities = ["page", "ticket"].map(|it| format!(" severity: {it}\n"));
        assert!(severities.iter().any(|it| alert.contains(it)), "{name}");
        let link = format!("docs/alerts.md#{}\n", name.to_lowercase());
        assert!(alert.contains(&link), "{name}: no link {link}");
        assert!(docs.contains(&format!("\n### `{name}`\n")), "{name}: docs");
        // Where it is to fire; that it is silent elsewhere is said in one line.
        let fires = format!("- alertname: {name}\n");
        assert!(tests.contains(&fires), "{name}: no test lets it fire");
    }
}

/// The text of a file of this repository.
fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn openmetrics_is_for_who_asks_for_it_and_names_a_trace_of_each_bucket() {
    let house = House::new();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let target = "/small_light(dw=20)/a.jpg";
    assert_eq!(
        house
            .request("GET", target, &[("traceparent", parent)])
            .status,
        200
    );
    // As Prometheus asks.
    let accept =
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    let page = house.request("GET", "/metrics", &[("accept", accept)]);
    assert_eq!(
        page.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    let text = page.text();
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    assert!(text.contains("# TYPE andon_requests counter\n"));
    assert!(text.contains("\nandon_requests_total{status=\"2xx\"} "));
    let named = text.lines().filter(|line| line.contains(" # {"));
    let named: Vec<&str> = named.collect();
    assert_eq!(named.len(), 1, "{named:?}");
    assert!(named[0].starts_with("andon_request_duration_seconds_bucket{le=\""));
    assert!(named[0].contains("# {trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\",span_id=\""));

    for accept in ["", "*/*", "text/plain", "application/openmetrics-text;q=0"] {
        let page = house.request("GET", "/metrics", &[("accept", accept)]);
        assert!(
            page.header("content-type")
                .unwrap()
                .starts_with("text/plain")
        );
        Page::parse(&page.text());
    }
}
