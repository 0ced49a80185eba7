//! Native URLs over a socket: images, facts, canonical links and redirects, and sources named by URL.

use crate::common::origin::Origin;
use crate::common::{House, sample};
use serde_json::{Value, json};

#[test]
fn a_recipe_in_the_path_makes_the_image() {
    let house = House::new();
    let reply = house.get("/r/cover:100x100,as:png/a.jpg");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!((reply.format(), reply.size()), ("png", (100, 100)));
    assert_eq!(reply.header("link"), None);
}

#[test]
fn what_is_no_recipe_is_a_400_that_says_what_would_do() {
    let house = House::new();
    for (target, part) in [
        ("/r/fitt:10x10/a.jpg", "fitt"),
        ("/r/2024/a.jpg", "2024"),
        ("/r/fit:10x10", "file"),
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, 400, "{target}");
        assert!(reply.text().contains(part), "{}", reply.text());
    }
    assert_eq!(house.get("/r/fit:10x10/none.jpg").status, 404);
}

#[test]
fn another_spelling_links_to_the_canonical_one_or_is_redirected_to_it() {
    let spelling = "/r/as:png,fit:20x20//a.jpg";
    let canonical = "/r/fit:20x20,as:png/a.jpg";
    let house = House::new();
    for _ in 0..2 {
        let reply = house.get(spelling);
        let link = format!("<{canonical}>; rel=\"canonical\"");
        assert_eq!(reply.header("link"), Some(&*link));
    }
    let house = House::with("[native]\ncanonical = \"redirect\"\n");
    let reply = house.get(spelling);
    assert_eq!(
        (reply.status, reply.header("location")),
        (301, Some(canonical))
    );
    assert_eq!(house.get(canonical).status, 200);
}

#[test]
fn a_url_of_a_rewrite_rule_is_its_own_canonical_one() {
    let rule = "[[rewrite]]\nfrom = '^/thumb/(.+)$'\nto = '/r/as:png,fit:20x20/$1'\n";
    for native in ["", "[native]\ncanonical = \"redirect\"\n"] {
        let house = House::with(&format!("{native}{rule}"));
        let reply = house.get("/thumb/a.jpg");
        assert_eq!(
            (reply.status, reply.header("link")),
            (200, None),
            "{native}"
        );
    }
}

#[test]
fn a_preset_in_the_place_of_a_recipe_is_told_its_url() {
    let presets = "[native.presets]\nklein = \"fit:20x20,as:png\"\n";
    for (keys, url) in [
        ("", "/p/klein/a.jpg"),
        ("[native]\npreset_prefix = \"/img\"\n", "/img/klein/a.jpg"),
    ] {
        let house = House::with(&format!("{keys}{presets}"));
        let reply = house.get("/r/klein/a.jpg");
        assert_eq!(reply.status, 400, "{}", reply.text());
        let said = format!("`klein` is a preset: here it is {url}");
        assert!(reply.text().contains(&said), "{}", reply.text());
        assert_eq!(house.get(url).status, 200);
    }
    let reply = House::new().get("/r/klein/a.jpg");
    assert!(!reply.text().contains("preset"), "{}", reply.text());
}

#[test]
fn facts_come_from_the_header_and_tell_what_would_be_made() {
    let house = House::new();
    house.put_sample("turned.jpg", "jpeg/orientation-6.jpg");
    let reply = house.get("/r/orient,fit:100x100,as:json/turned.jpg");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let timing = reply.header("server-timing").unwrap_or_default();
    assert!(!timing.contains("decode;"), "{timing}");
    let facts: Value = serde_json::from_slice(&reply.body).expect("JSON");
    let file = std::fs::metadata(sample("jpeg/orientation-6.jpg")).expect("a sample");
    assert_eq!(facts["source"]["orientation"], 6);
    assert_eq!(facts["source"]["bytes"], file.len());
    assert_eq!(facts["source"]["frames"], 1);
    assert_eq!(facts["source"]["alpha"], false);
    let image = house.get("/r/orient,fit:100x100/turned.jpg");
    let (width, height) = image.size();
    let expected = json!({ "format": "jpeg", "width": width, "height": height });
    assert_eq!(facts["result"], expected);
    // Facts are a result of their own, with a tag of its own.
    assert_ne!(reply.header("etag"), image.header("etag"));
    let recipe = facts["recipe"].as_str().expect("a recipe");
    let resolved = house.get(&format!("/r/{recipe}/turned.jpg"));
    assert_eq!(resolved.body, image.body);
    let broken = house.put("broken.jpg", b"no image");
    assert!(broken.exists());
    let seen = "with:blurhash,with:colours:3,with:thumbhash,with:uri";
    for _ in 0..2 {
        let reply = house.get(&format!("/r/orient,fit:100x100,as:json,{seen}/turned.jpg"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let facts: Value = serde_json::from_slice(&reply.body).expect("JSON");
        let result = &facts["result"];
        assert_eq!(result["width"], expected["width"]);
        assert_eq!(
            result["colours"]["palette"].as_array().map(Vec::len),
            Some(3)
        );
        assert_eq!(result["blurhash"].as_str().map(str::len), Some(28));
        assert!(result["thumbhash"].is_string(), "{facts}");
        let uri = result["uri"].as_str().unwrap_or_default();
        assert!(
            uri.starts_with("data:image/webp;base64,UklGR") && uri.len() < 1000,
            "{uri}"
        );
    }
    assert_eq!(house.get("/r/as:json,with:hash/turned.jpg").status, 400);
    assert_eq!(house.get("/r/as:json/broken.jpg").status, 415);
}

#[test]
fn an_absolute_url_is_served_if_an_origin_has_its_base() {
    let image = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    let origin = Origin::start(image, "");
    let house = House::with(&origin.keys());
    let there = format!("http://127.0.0.1:{}", origin.port());
    let by_path = house.get("/r/fit:20x20/far/x/a.jpg");
    let by_url = house.get(&format!("/r/fit:20x20/{there}/x/a.jpg"));
    assert_eq!(by_url.status, 200, "{}", by_url.text());
    assert_eq!(by_url.header("etag"), by_path.header("etag"));
    assert_eq!(origin.asked(), 1);
    for elsewhere in ["http://127.0.0.1:9/x/a.jpg", "https://evil.test/a.jpg"] {
        let reply = house.get(&format!("/r/same/{elsewhere}"));
        assert_eq!(reply.status, 403, "{elsewhere}");
        assert!(reply.text().contains("http.base"), "{}", reply.text());
    }
    assert_eq!(origin.asked(), 1);
}
