//! Results that depend on client hints are purged with their URL.

use crate::common::origin::Origin;
use crate::common::{House, Reply, sample};

const TOKEN: &str = "a token of some length";

const KEYS: &str = "[admin]\ntoken = \"a token of some length\"\n[client_hints]\ndialects = [\"all\"]\n\
    [imgproxy]\nprefix = \"/imgproxy\"\nclient_hints = true\n[thumbor]\nprefix = \"/thumbor\"\n\
    [weserv]\nprefix = \"/weserv\"\n[cloudflare]\nprefix = \"/cloudflare\"\n";

const CURRENT: &str = "Cache-Control: max-age=1000\r\n";

type Sent = &'static [(&'static str, &'static str)];

const TWICE: Sent = &[("Sec-CH-DPR", "2")];

/// A URL, headers that make another result of it, and a URL that comes to the same pixels without them.
const HINTED: [(&str, Sent, &str); 9] = [
    (
        "/r/fit:100x100/far/a.jpg",
        TWICE,
        "/r/fit:200x200/far/a.jpg",
    ),
    (
        "/r/fit:120x120,q:80/far/a.jpg",
        &[("Save-Data", "on"), ("Sec-CH-DPR", "2")],
        "/r/fit:120x120,q:50/far/a.jpg",
    ),
    (
        "/r/q:70/far/a.jpg",
        &[("Sec-CH-Width", "290")],
        "/r/fit:300x,q:70/far/a.jpg",
    ),
    (
        "/r/trim,fit:80x80/far/a.jpg",
        TWICE,
        "/r/trim,fit:160x160/far/a.jpg",
    ),
    (
        "/small_light(dw=60,dh=60)/far/a.jpg",
        TWICE,
        "/small_light(dw=120,dh=120)/far/a.jpg",
    ),
    (
        "/thumbor/unsafe/fit-in/100x100/far/a.jpg",
        TWICE,
        "/thumbor/unsafe/fit-in/200x200/far/a.jpg",
    ),
    (
        "/weserv/?url=/far/a.jpg&w=100",
        TWICE,
        "/weserv/?url=/far/a.jpg&w=200",
    ),
    (
        "/imgproxy/x/w:100/plain/local:///far/a.jpg",
        &[("DPR", "1.7")],
        "/imgproxy/x/w:170/plain/local:///far/a.jpg",
    ),
    (
        "/cloudflare/width=100,quality=80,slow-connection-quality=20/far/a.jpg",
        &[("rtt", "500")],
        "/cloudflare/width=100,quality=20/far/a.jpg",
    ),
];

fn image_file(name: &str) -> Vec<u8> {
    std::fs::read(sample(&format!("jpeg/{name}.jpg"))).expect("a sample")
}

fn is_hit(reply: &Reply) -> bool {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let status = reply.header("cache-status").unwrap_or_default();
    status.starts_with("andon; hit")
}

fn purge(house: &House, url: &str) {
    let order = format!("{{\"url\":\"{url}\"}}");
    let mut client = house.client();
    client.send(format!(
        "POST /_andon/purge HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n{order}",
        order.len()
    ));
    assert_eq!(client.reply("POST").status, 200, "{url}");
}

#[test]
fn a_purge_by_url_ends_what_hints_made_of_it_and_no_other_result() {
    for (url, sent, other) in HINTED {
        let origin = Origin::start(image_file("420"), CURRENT);
        let house = House::with(&format!("{KEYS}{}", origin.keys()));
        let plain = house.get(url);
        let hinted = house.request("GET", url, sent);
        assert!(hinted.body != plain.body, "{url}");
        let same = house.get(other);
        assert!(same.body == hinted.body, "{url}");
        assert!(is_hit(&house.request("GET", url, sent)), "{url}");

        origin.answers(200, CURRENT, image_file("444"));
        purge(&house, url);
        let new = house.request("GET", url, sent);
        assert!(!is_hit(&new), "{url}");
        assert!(new.body != hinted.body, "{url}");
        assert!(!is_hit(&house.get(url)), "{url}");
        // It has a URL of its own.
        let kept = house.get(other);
        assert!(is_hit(&kept), "{other}");
        assert!(kept.body == hinted.body, "{other}");
        purge(&house, other);
        assert!(is_hit(&house.request("GET", url, sent)), "{url}");
        assert!(house.get(other).body == new.body, "{other}");
    }
}

#[test]
fn requests_whose_hints_act_are_counted() {
    let house = House::with(KEYS);
    for sent in [TWICE, TWICE, &[], &[("Sec-CH-DPR", "1")]] {
        assert_eq!(house.request("GET", "/r/fit:10x10/a.jpg", sent).status, 200);
    }
    let metrics = house.get("/metrics").text();
    let counted = "andon_dialect_hinted_requests_total{dialect=\"native\"} 2\n";
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn a_purge_by_url_ends_what_hints_made_of_it_before_a_restart() {
    for (url, sent, _) in HINTED {
        let origin = Origin::start(image_file("420"), CURRENT);
        let folder = tempfile::tempdir().expect("a folder");
        let keys = format!(
            "{KEYS}{}[cache]\ndisk = {{ path = {:?}, size = \"10MiB\" }}\n",
            origin.keys(),
            folder.path()
        );
        let start = || House::with(&keys);
        let stop = |mut house: House| {
            house.begin_to_stop();
            house.wait_until_stopped();
        };
        let house = start();
        let first = house.request("GET", url, sent);
        assert_eq!(first.status, 200, "{url}: {}", first.text());
        stop(house);
        let house = start();
        let kept = house.request("GET", url, sent);
        assert!(is_hit(&kept), "{url}");
        assert!(kept.body == first.body, "{url}");
        stop(house);

        origin.answers(200, CURRENT, image_file("444"));
        let house = start();
        purge(&house, url);
        stop(house);
        let house = start();
        let new = house.request("GET", url, sent);
        assert!(!is_hit(&new), "{url}");
        assert!(new.body != first.body, "{url}");
        stop(house);
    }
}
