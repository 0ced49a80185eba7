//! Negotiated formats, ranges and CORS, as they are on the wire.

use crate::common::{House, Reply};

const SMALL: &str = "/small_light(dw=40)/a.jpg";
const AUTO: &str = "/small_light(dw=40,of=auto)/a.jpg";

fn accepting(house: &House, target: &str, accept: &str) -> Reply {
    house.request("GET", target, &[("Accept", accept)])
}

#[test]
fn of_auto_is_the_best_format_that_is_accepted_and_says_so_in_vary() {
    let house = House::new();
    for (accept, format) in [
        ("image/avif,image/webp,*/*;q=0.8", "avif"),
        ("image/avif;q=0.5,image/webp", "webp"),
        ("image/avif;q=0,image/webp;q=0.5", "webp"),
        ("image/webp,*/*;q=0.8", "webp"),
        ("text/html, image/webp", "webp"),
        ("image/webp;q=0", "jpeg"),
        ("image/webp;q=0.1, image/jpeg", "jpeg"),
        ("*/*", "jpeg"),
    ] {
        for _ in 0..2 {
            let reply = accepting(&house, AUTO, accept);
            assert_eq!(reply.format(), format, "{accept}");
            let media_type = format!("image/{format}");
            assert_eq!(reply.header("content-type"), Some(media_type.as_str()));
            assert_eq!(reply.header("vary"), Some("Accept"));
        }
    }
    assert_eq!(house.get(AUTO).format(), "jpeg");
}

#[test]
fn what_names_its_format_or_none_is_the_same_for_all() {
    let house = House::new();
    for target in [SMALL, "/small_light(dw=40,of=png)/a.jpg", "/a.jpg"] {
        let reply = accepting(&house, target, "image/webp");
        assert_ne!(reply.format(), "webp", "{target}");
        assert_eq!(reply.header("vary"), None);
    }
}

#[test]
fn auto_by_default_is_a_configuration() {
    let house = House::with("[negotiation]\ndefault = \"auto\"\n");
    assert_eq!(accepting(&house, SMALL, "image/webp").format(), "webp");
    assert_eq!(accepting(&house, SMALL, "*/*").format(), "jpeg");
    let named = accepting(&house, "/small_light(dw=40,of=png)/a.jpg", "image/webp");
    assert_eq!((named.format(), named.header("vary")), ("png", None));
}

#[test]
fn what_would_only_grow_stays_as_it_is() {
    let house = House::new();
    let source = std::fs::read(house.file("a.jpg")).expect("the image");
    assert_eq!(house.get("/small_light(q=100)/a.jpg").body, source);
    assert_ne!(house.get("/small_light(q=100,dw=40)/a.jpg").body, source);
    assert_ne!(house.get("/small_light(q=100,of=png)/a.jpg").body, source);
    // Removing what is not there changes nothing.
    let profile = std::fs::read(house.put_sample("profile.jpg", "jpeg/icc-srgb.jpg")).expect("it");
    assert_eq!(house.get("/small_light(q=100,rmprof=y)/a.jpg").body, source);
    assert_eq!(house.get("/small_light(q=100)/profile.jpg").body, profile);
    let removed = house.get("/small_light(q=100,rmprof=y)/profile.jpg").body;
    let has_profile = |file: &[u8]| file.windows(11).any(|bytes| bytes == b"ICC_PROFILE");
    assert!(has_profile(&profile) && !has_profile(&removed));
}

#[test]
fn a_range_is_a_part_of_the_very_same_bytes() {
    let house = House::new();
    for target in [SMALL, "/a.jpg"] {
        let whole = house.get(target);
        assert_eq!(whole.header("accept-ranges"), Some("bytes"));
        let length = whole.body.len();
        let part = house.request("GET", target, &[("Range", "bytes=10-19")]);
        assert_eq!((part.status, &part.body[..]), (206, &whole.body[10..20]));
        let told = format!("bytes 10-19/{length}");
        assert_eq!(part.header("content-range"), Some(told.as_str()));
        let tail = house.request("GET", target, &[("Range", "bytes=-7")]);
        assert_eq!(tail.body, &whole.body[length - 7..]);
        let past = house.request("GET", target, &[("Range", "bytes=99999999-")]);
        assert_eq!((past.status, past.body.len()), (416, 0));
        let several = house.request("GET", target, &[("Range", "bytes=0-1,3-4")]);
        assert_eq!((several.status, several.body), (200, whole.body));
    }
}

#[test]
fn if_range_gives_the_whole_unless_it_is_the_same_state() {
    let house = House::new();
    let whole = house.get(SMALL);
    let etag = whole.header("etag").expect("a tag");
    let date = whole.header("last-modified").expect("a date");
    for (known, status) in [
        (etag.to_owned(), 206),
        (date.to_owned(), 206),
        (format!("W/{etag}"), 200),
        ("\"other\"".to_owned(), 200),
        ("Thu, 01 Jan 1970 00:00:00 GMT".to_owned(), 200),
    ] {
        let headers = [("Range", "bytes=0-9"), ("If-Range", known.as_str())];
        let reply = house.request("GET", SMALL, &headers);
        assert_eq!(reply.status, status, "{known}");
    }
}

#[test]
fn pages_of_listed_origins_may_read_replies_and_no_others() {
    let house = House::with("[cors]\norigins = [\"https://shop.example\"]\n");
    for (origin, allowed) in [
        ("https://shop.example", Some("https://shop.example")),
        ("https://evil.example", None),
    ] {
        let reply = house.request("GET", SMALL, &[("Origin", origin)]);
        assert_eq!(reply.header("access-control-allow-origin"), allowed);
        assert_eq!(reply.header("vary"), Some("Origin"));
        let asks = [("Origin", origin), ("Access-Control-Request-Method", "GET")];
        let mut client = house.client();
        client.ask("OPTIONS", SMALL, &asks);
        let reply = client.reply("HEAD");
        assert_eq!(reply.status, 204);
        assert_eq!(reply.header("access-control-allow-origin"), allowed);
        let methods = reply.header("access-control-allow-methods");
        assert_eq!(methods.is_some(), allowed.is_some());
    }
    let reply = House::new().request("GET", SMALL, &[("Origin", "https://shop.example")]);
    assert_eq!(reply.header("access-control-allow-origin"), None);
    assert_eq!(reply.header("vary"), None);
}
