//! Conditional requests.

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use crate::common::House;

const SMALL: &str = "/small_light(dw=100,dh=100)/a.jpg";

#[test]
fn a_client_that_holds_the_answer_gets_304() {
    let house = House::new();
    for target in [SMALL, "/a.jpg"] {
        let first = house.get(target);
        let etag = first.header("etag").unwrap();
        let modified = first.header("last-modified").unwrap();
        assert!(
            etag.starts_with('"') && etag.ends_with('"') && etag.len() > 2,
            "{etag}"
        );
        for (name, value) in [
            ("If-None-Match", etag.to_owned()),
            ("If-None-Match", format!("W/{etag}")),
            ("If-None-Match", format!("\"other\", {etag}")),
            ("If-None-Match", "*".to_owned()),
            ("If-Modified-Since", modified.to_owned()),
        ] {
            for method in ["GET", "HEAD"] {
                let reply = house.request(method, target, &[(name, &value)]);
                assert_eq!(reply.status, 304, "{method} {name}: {value}");
                assert_eq!(reply.header("etag"), Some(etag));
                assert_eq!(reply.header("last-modified"), Some(modified));
            }
        }
        for (name, value) in [
            ("If-None-Match", "\"other\""),
            ("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ] {
            assert_eq!(
                house.request("GET", target, &[(name, value)]).status,
                200,
                "{name}"
            );
        }
    }
}

#[test]
fn a_304_reads_and_decodes_nothing() {
    let house = House::with("[cache]\nmemory = \"0\"\n");
    let path = house.file("a.jpg");
    let image = std::fs::read(&path).unwrap();
    let moment = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    // The same file by everything that a tag is made from, and no image at all.
    let set = |content: &[u8]| {
        std::fs::write(&path, content).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(moment)
            .unwrap();
    };
    set(&image);
    let etag = house.get(SMALL).header("etag").unwrap().to_owned();
    set(&vec![0; image.len()]);
    assert_eq!(house.get(SMALL).status, 415);
    assert_eq!(
        house
            .request("GET", SMALL, &[("If-None-Match", &etag)])
            .status,
        304
    );
    let since = ("If-Modified-Since", "Tue, 14 Nov 2023 22:13:20 GMT");
    assert_eq!(house.request("GET", SMALL, &[since]).status, 304);
}

#[test]
fn the_tag_changes_with_the_recipe_and_with_the_file() {
    let house = House::with("[cache]\nfs_fresh = \"0s\"\n");
    let tag = |target: &str| house.get(target).header("etag").unwrap().to_owned();
    let first = tag(SMALL);
    assert_eq!(first, tag(SMALL));
    for same in ["(dh=100,dw=100)", "(dw=100,dh=99)"] {
        let target = format!("/small_light{same}/a.jpg");
        assert_eq!(first, tag(&target), "100 × 75 px in another spelling");
    }
    assert_ne!(first, tag("/small_light(dw=100,dh=70)/a.jpg"));
    assert_ne!(first, tag("/a.jpg"));
    house.put_sample("a.jpg", "jpeg/422.jpg");
    assert_ne!(first, tag(SMALL));
}

#[test]
fn a_missing_file_is_missing_even_to_a_client_that_holds_anything() {
    let reply = House::new().request("GET", "/missing.jpg", &[("If-None-Match", "*")]);
    assert_eq!(reply.status, 404);
}
