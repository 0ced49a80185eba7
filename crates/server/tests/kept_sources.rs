//! What one source costs its origin, whatever is made of it.

use crate::common::origin::Origin;
use crate::common::{House, sample};

fn picture() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

const DIALECTS: &str =
    "[cloudflare]\nprefix = \"/cdn-cgi/image\"\n[imgproxy]\nprefix = \"/imgproxy\"\n";

/// Eight widths, in four languages.
fn widths() -> impl Iterator<Item = String> {
    (1..9_u32).map(|number| {
        let width = 10 * number;
        match number % 4 {
            0 => format!("/r/fit:{width}x/far/a.jpg"),
            1 => format!("/small_light(dw={width})/far/a.jpg"),
            2 => format!("/cdn-cgi/image/width={width}/far/a.jpg"),
            _ => format!("/imgproxy/x/w:{width}/plain/local:///far/a.jpg"),
        }
    })
}

fn asks(house: &House, status: u16) {
    for target in widths() {
        let reply = house.get(&target);
        assert_eq!(reply.status, status, "{target}: {}", reply.text());
    }
}

#[test]
fn all_widths_of_a_source_cost_one_fetch() {
    for said in [
        "",
        "Cache-Control: max-age=60\r\n",
        "Cache-Control: public\r\n",
    ] {
        let origin = Origin::start(picture(), said);
        let house = House::with(&format!("{DIALECTS}{}", origin.keys()));
        asks(&house, 200);
        assert_eq!(origin.asked(), 1, "{said}");
        assert_eq!(house.get("/far/a.jpg").body, picture());
        assert_eq!(origin.asked(), 1, "the file itself, too");
    }
}

#[test]
fn a_dead_image_costs_one_request() {
    for status in [404, 403, 410] {
        let origin = Origin::start(Vec::new(), "");
        origin.answers(status, "", Vec::new());
        let more = "[cache]\nnegative = \"1m\"\n";
        let house = House::with(&format!("{DIALECTS}{}{more}", origin.keys()));
        let expected = if status == 403 { 403 } else { 404 };
        asks(&house, expected);
        assert_eq!(origin.asked(), 1, "{status}");
    }
}

#[test]
fn an_origin_that_asks_to_be_spared_is_and_clients_are_told_for_how_long() {
    for status in [429, 503] {
        let origin = Origin::start(Vec::new(), "");
        origin.answers(status, "Retry-After: 60\r\n", Vec::new());
        let house = House::with(&format!("{DIALECTS}{}", origin.keys()));
        for target in [
            "/r/fit:9x/far/a.jpg",
            "/r/fit:9x/far/a.jpg",
            "/r/fit:9x/far/b.jpg",
        ] {
            let reply = house.get(target);
            assert!(reply.status >= 500, "{target}: {}", reply.status);
            assert_eq!(reply.header("retry-after"), Some("60"));
        }
        assert_eq!(origin.asked(), 1, "{status}");
    }
}

#[test]
fn what_is_nobody_elses_business_or_changes_each_time_is_not_kept() {
    for (said, fetches) in [
        ("Cache-Control: private, max-age=60\r\n", 8),
        ("Cache-Control: no-store\r\n", 8),
        ("Cache-Control: max-age=0, must-revalidate\r\n", 8),
    ] {
        let origin = Origin::start(picture(), said);
        let house = House::with(&format!("{DIALECTS}{}", origin.keys()));
        asks(&house, 200);
        assert_eq!(origin.asked(), fetches, "{said}");
    }
}

#[test]
fn a_stale_source_is_asked_about_and_a_304_makes_it_good_again() {
    let origin = Origin::start(picture(), "ETag: \"one\"\r\nCache-Control: no-cache\r\n");
    let house = House::with(&format!("{DIALECTS}{}", origin.keys()));
    assert_eq!(house.get("/r/fit:10x/far/a.jpg").status, 200);
    origin.answers(
        304,
        "ETag: \"one\"\r\nCache-Control: max-age=60\r\n",
        Vec::new(),
    );
    asks(&house, 200);
    assert_eq!(origin.asked(), 2);
    let tags = origin.told("if-none-match");
    assert_eq!(tags, [None, Some("\"one\"".to_owned())]);
}

#[test]
fn a_purge_ends_what_is_kept() {
    let token = "sixteen bytes or more";
    let origin = Origin::start(picture(), "Cache-Control: max-age=600\r\n");
    let admin = format!("[admin]\ntoken = \"{token}\"\n");
    let house = House::with(&format!("{DIALECTS}{}{admin}", origin.keys()));
    assert_eq!(house.get("/r/fit:10x/far/a.jpg").status, 200);
    let order = "{\"source\":\"/far/a.jpg\"}";
    let mut client = house.client();
    client.send(format!(
        "POST /_andon/purge HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{order}",
        order.len()
    ));
    assert_eq!(client.reply("POST").status, 200);
    assert_eq!(house.get("/r/fit:20x/far/a.jpg").status, 200);
    assert_eq!(origin.asked(), 2);
}

#[test]
fn nothing_is_kept_without_room_for_it() {
    let origin = Origin::start(picture(), "Cache-Control: max-age=600\r\n");
    let house = House::with(&format!(
        "{DIALECTS}{}[cache]\nsources = \"0\"\n",
        origin.keys()
    ));
    asks(&house, 200);
    assert_eq!(origin.asked(), 8);
}
