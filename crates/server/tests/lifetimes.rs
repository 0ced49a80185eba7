//! Headers of responses, mainly those about caching, and requests with preconditions such as `If-Match`.

use crate::common::origin::Origin;
use crate::common::{House, sample};

fn image_file() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

const RESULT: &str = "/r/fit:20x20/far/a.jpg";

#[test]
fn clients_are_told_what_is_meant_for_them_and_caches_what_is_meant_for_caches() {
    for (said, told) in [
        (
            "max-age=0, s-maxage=31536000",
            "max-age=0, s-maxage=31536000",
        ),
        ("s-maxage=600", "s-maxage=600"),
        (
            "public, max-age=600, immutable",
            "public, max-age=600, immutable",
        ),
        ("private, max-age=60", "private, max-age=60"),
        ("no-store", "no-store"),
        ("public, no-cache", "public, no-cache"),
    ] {
        let origin = Origin::start(image_file(), &format!("Cache-Control: {said}\r\n"));
        let house = House::with(&origin.keys());
        for target in [RESULT, "/far/a.jpg"] {
            let reply = house.get(target);
            assert_eq!(reply.status, 200, "{}", reply.text());
            assert_eq!(
                reply.header("cache-control"),
                Some(told),
                "{target}: {said}"
            );
        }
    }
}

#[test]
fn what_is_to_be_asked_each_time_is_never_sent_unasked() {
    let origin = Origin::start(image_file(), "Cache-Control: no-cache, max-age=600\r\n");
    let house = House::with(&origin.keys());
    for asked in 1..4 {
        assert_eq!(house.get(RESULT).status, 200);
        assert_eq!(origin.asked(), asked);
    }
    origin.answers(503, "", Vec::new());
    let reply = house.get(RESULT);
    assert!(reply.status >= 500, "{}", reply.status);
}

#[test]
fn faults_are_kept_no_longer_than_the_server_itself_does() {
    let house = House::with("[cache]\nnegative = \"7s\"\n");
    for (target, status) in [("/r/fit:9x9/none.jpg", 404), ("/r/fot:9x9/a.jpg", 400)] {
        let reply = house.get(target);
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("cache-control"), Some("max-age=7"), "{target}");
    }
    let house = House::with("[cache]\nnegative = \"0s\"\n");
    let reply = house.get("/r/fit:9x9/none.jpg");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
}

#[test]
fn what_an_answer_depends_on_stands_in_one_line() {
    let house = House::with(
        "[cors]\norigins = [\"https://shop.example\"]\n[cloudflare]\nprefix = \"/cdn-cgi/image\"\n",
    );
    let vary = |target: &str| {
        let reply = house.request("GET", target, &[("Accept", "image/webp")]);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let lines = reply.headers.iter().filter(|(name, _)| name == "vary");
        lines.map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    assert_eq!(vary("/r/fit:9x9,as:auto/a.jpg"), ["Accept, Origin"]);
    assert_eq!(vary("/cdn-cgi/image/width=9/a.jpg"), ["Origin"]);
    let hints = "width=9,format=auto,quality=80,slow-connection-quality=50";
    assert_eq!(
        vary(&format!("/cdn-cgi/image/{hints}/a.jpg")),
        ["downlink, ect, rtt, save-data, Accept, Origin"]
    );
}

#[test]
fn another_state_than_the_client_means_is_412() {
    let house = House::new();
    for target in ["/r/fit:20x20/a.jpg", "/a.jpg"] {
        let first = house.get(target);
        let etag = first.header("etag").expect("a tag").to_owned();
        let modified = first.header("last-modified").expect("a date").to_owned();
        let long_ago = "Fri, 01 Jan 2010 00:00:00 GMT".to_owned();
        for (name, value, status) in [
            ("If-Match", "\"other\"".to_owned(), 412),
            ("If-Match", format!("W/{etag}"), 412),
            ("If-Match", format!("\"other\", {etag}"), 206),
            ("If-Match", "*".to_owned(), 206),
            ("If-Unmodified-Since", long_ago, 412),
            ("If-Unmodified-Since", modified, 206),
            ("If-Unmodified-Since", "soon".to_owned(), 206),
        ] {
            let headers = [(name, value.as_str()), ("Range", "bytes=0-9")];
            let reply = house.request("GET", target, &headers);
            assert_eq!(reply.status, status, "{target} {name}: {value}");
            assert_eq!(reply.body.len(), if status == 206 { 10 } else { 0 });
        }
        let both = [("If-Match", "\"other\""), ("If-None-Match", etag.as_str())];
        assert_eq!(house.request("GET", target, &both).status, 412);
    }
}

#[test]
fn further_headers_are_in_every_answer() {
    let house = House::with("[headers]\nCross-Origin-Resource-Policy = \"cross-origin\"\n");
    for target in [
        RESULT,
        "/r/fit:20x20/a.jpg",
        "/r/fit:20x20/a.jpg",
        "/a.jpg",
        "/a.jpg",
    ] {
        let reply = house.get(target);
        let said = reply.header("cross-origin-resource-policy");
        assert_eq!(said, Some("cross-origin"), "{target}: {}", reply.status);
    }
}

#[test]
fn a_source_that_is_stored_gzipped_is_unpacked() {
    use std::io::Write;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&image_file()).expect("memory");
    let packed = packer.finish().expect("memory");
    for (coding, body, status) in [
        ("gzip", packed.clone(), 200),
        ("aws-chunked", image_file(), 200),
        ("", image_file(), 200),
        ("br", image_file(), 502),
        ("gzip", packed[..packed.len() / 2].to_vec(), 502),
    ] {
        let origin = Origin::start(body, &format!("Content-Encoding: {coding}\r\n"));
        let house = House::with(&origin.keys());
        let reply = house.get(RESULT);
        assert_eq!(reply.status, status, "{coding}: {}", reply.text());
    }
}
