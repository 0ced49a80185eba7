//! weserv, imgix and Cloudflare over a socket: images, statuses, bodies of errors, documents, signatures, expiry.

use crate::common::House;
use serde_json::{Value, json};

const KEYS: &str = "[weserv]\nprefix = \"/\"\n[cloudflare]\nprefix = \"/cdn-cgi/image\"\n";

#[test]
fn weserv_makes_images_of_a_query() {
    let house = House::with(KEYS);
    let reply = house.get("/?url=a.jpg&w=150&output=png&filename=mine");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!((reply.format(), reply.size()), ("png", (150, 112)));
    let disposition = reply.header("content-disposition");
    assert_eq!(disposition, Some("inline; filename=mine.png"));
    assert!(
        reply
            .header("cache-control")
            .is_some_and(|text| text.contains("max-age="))
    );
    let padded = house.get("/?url=/a.jpg&w=60&h=60&fit=contain&filt=greyscale&bri=10");
    assert_eq!(
        (padded.format(), padded.size()),
        ("png", (60, 60)),
        "{}",
        padded.text()
    );
}

#[test]
fn weserv_answers_errors_and_documents_as_json() {
    let house = House::with(KEYS);
    for (target, status) in [
        ("/?url=&w=10", 400),
        ("/?url=ftp://a/b&w=10", 400),
        ("/?url=none.jpg&w=10", 404),
        ("/?url=http://o.test/a.jpg&w=10", 404),
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, status, "{target}: {}", reply.text());
        assert_eq!(reply.header("content-type"), Some("application/json"));
        let error: Value = serde_json::from_slice(&reply.body).expect("JSON");
        assert_eq!(
            (&error["status"], &error["code"]),
            (&json!("error"), &json!(status))
        );
    }
    let reply = house.get("/?url=a.jpg&w=150&output=json");
    let facts: Value = serde_json::from_slice(&reply.body).expect("JSON");
    let size = (&facts["format"], &facts["width"], &facts["height"]);
    assert_eq!(size, (&json!("jpeg"), &json!(150), &json!(112)));
}

#[test]
fn cloudflare_makes_images_and_numbers_its_errors() {
    let house = House::with(KEYS);
    for (options, size) in [
        ("width=100", (100, 75)),
        ("fit=cover,w=100,h=100", (100, 100)),
        ("fit=pad,w=100,h=100,background=%23ff0000", (100, 100)),
        ("w=9000", (400, 300)),
    ] {
        let reply = house.get(&format!("/cdn-cgi/image/{options}/a.jpg"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.size(), size, "{options}");
    }
    for (target, status, number) in [
        ("/cdn-cgi/image/nope=1/a.jpg", 400, "9401"),
        ("/cdn-cgi/image/w=540/none.jpg", 404, "9404"),
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, status, "{target}: {}", reply.text());
        assert!(reply.text().starts_with(&format!("ERROR {number}: ")));
        assert_eq!(reply.header("cf-resized"), Some(&*format!("err={number}")));
    }
    let reply = house.get("/cdn-cgi/image/w=100,format=json/a.jpg");
    let facts: Value = serde_json::from_slice(&reply.body).expect("JSON");
    assert_eq!(
        (&facts["width"], &facts["original"]["width"]),
        (&json!(100), &json!(400))
    );
    let asked = house.request(
        "GET",
        "/cdn-cgi/image/w=100/a.jpg",
        &[("Accept", "image/webp")],
    );
    assert_eq!(asked.format(), "jpeg");
    let asked = house.request(
        "GET",
        "/cdn-cgi/image/w=100,f=auto/a.jpg",
        &[("Accept", "image/webp")],
    );
    assert_eq!(asked.format(), "webp");
}

#[test]
fn imgix_reads_signed_urls_only_where_there_is_a_token() {
    let house = House::with("[imgix]\nprefix = \"/\"\ntokens = [\"MYT0KEN\"]\nweak_keys = true\n");
    house.put_sample("image/file.png", "png/alpha.png");
    let good = "/image/file.png?w=400&s=2071b7fc73b91649c73d4e8444f8dc5f";
    for _ in 0..2 {
        let reply = house.get(good);
        assert_eq!(
            (reply.status, reply.size().0),
            (200, 400),
            "{}",
            reply.text()
        );
    }
    for bad in [
        good.replace("400", "401"),
        "/image/file.png?w=400".to_owned(),
        "/image/file.png".to_owned(),
    ] {
        assert_eq!(house.get(&bad).status, 403, "{bad}");
    }
    let file = house.get("/image/file.png?s=f74bb1f684f45f232b145f4acb86579f");
    assert_eq!((file.status, file.format()), (200, "png"));
}

#[test]
fn imgix_urls_end_and_files_stay_files() {
    let house = House::with("[imgix]\nprefix = \"/\"\n");
    let reply = house.get("/a.jpg?w=200&h=200&fit=crop&dl=my.jpg&expires=4000000000");
    assert_eq!(
        (reply.status, reply.size()),
        (200, (200, 200)),
        "{}",
        reply.text()
    );
    assert_eq!(
        reply.header("content-disposition"),
        Some("attachment; filename=\"my.jpg\"")
    );
    assert_eq!(house.get("/a.jpg?w=200&expires=1000").status, 404);
    let file = house.get("/a.jpg?v=3");
    assert_eq!(
        file.body,
        std::fs::read(house.file("a.jpg")).expect("the file")
    );
}
