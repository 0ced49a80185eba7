//! If a format takes too long to encode, the reply is in the next best format and may be cached for a short time only.
//! The slow format is made once no other request waits.

use crate::common::{House, Reply, sample};

const BOTH: &[(&str, &str)] = &[("accept", "image/avif,image/webp,*/*")];
const WEBP: &[(&str, &str)] = &[("accept", "image/webp,*/*")];

/// A limit on the encoding time that a WebP of [`LARGE`] meets and an AVIF of it exceeds.
const PATIENCE: &str = "[negotiation]\nformats = [\"avif\", \"webp\"]\npatience = \"40ms\"\n";
const LARGE: &str = "/small_light(dw=490,dh=490,da=n,of=auto)/large.jpg";
const SMALL: &str = "/small_light(dw=80,of=auto)/large.jpg";

fn house(keys: &str) -> House {
    let house = House::with(keys);
    house.put(
        "large.jpg",
        std::fs::read(sample("photos/otter.jpg")).expect("a sample"),
    );
    house
}

/// Asks until the answer is an AVIF.
fn in_the_end(house: &House, headers: &[(&str, &str)]) -> Reply {
    for _ in 0..600 {
        let reply = house.request("GET", LARGE, headers);
        assert!(matches!(reply.status, 200 | 304), "{}", reply.text());
        if reply.header("content-type") == Some("image/avif") {
            return reply;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("it stays a WebP");
}

#[test]
fn what_takes_too_long_to_write_is_answered_in_the_next_format_and_made_behind() {
    let house = house(PATIENCE);
    let first = house.request("GET", LARGE, BOTH);
    assert_eq!(first.status, 200, "{}", first.text());
    assert_eq!(first.header("content-type"), Some("image/webp"));
    assert_eq!(first.header("andon-instead-of"), Some("avif"));
    assert_eq!(first.header("cache-control"), Some("max-age=30"));
    assert_eq!(first.header("vary"), Some("Accept"));
    // It is the very image that others get for good.
    let webp = house.request("GET", LARGE, WEBP);
    assert_eq!(
        (&webp.body, webp.header("etag")),
        (&first.body, first.header("etag"))
    );
    assert_eq!(
        (
            webp.header("andon-instead-of"),
            webp.header("cache-control")
        ),
        (None, None)
    );
    // Whoever holds the WebP is not told that nothing has changed.
    let etag = first.header("etag").expect("a tag").to_owned();
    let holds = [BOTH, &[("if-none-match", etag.as_str())]].concat();
    let better = in_the_end(&house, &holds);
    assert_eq!(
        (better.status, better.header("vary")),
        (200, Some("Accept"))
    );
    assert_eq!(
        (
            better.header("andon-instead-of"),
            better.header("cache-control")
        ),
        (None, None)
    );
    assert_ne!(better.header("etag"), first.header("etag"));
    let status = better.header("cache-status").unwrap_or_default();
    assert!(status.starts_with("andon; hit"), "{status}");
    assert_eq!(house.request("GET", LARGE, WEBP).body, first.body);
}

#[test]
fn what_takes_little_is_waited_for_and_so_is_a_format_that_the_url_names() {
    let house = house(PATIENCE);
    for target in [SMALL, "/r/exact:490x490,as:avif/large.jpg"] {
        let reply = house.request("GET", target, BOTH);
        assert_eq!(reply.header("content-type"), Some("image/avif"), "{target}");
        assert_eq!(reply.header("andon-instead-of"), None, "{target}");
    }
}

#[test]
fn a_side_that_the_format_cannot_hold_is_no_mistake_of_who_left_it_open() {
    let house = House::with("[negotiation]\nformats = [\"webp\"]\n[limits]\nresult_side = 20000\n");
    house.put_sample("rgb.png", "png/rgb.png");
    let open = "/small_light(dw=17000,dh=4,da=n,of=auto)/rgb.png";
    for _ in 0..2 {
        let reply = house.request("GET", open, WEBP);
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!((reply.format(), reply.size()), ("png", (17_000, 4)));
        assert_eq!(reply.header("andon-instead-of"), Some("webp"));
    }
    let named = house.request("GET", &open.replace("auto", "webp"), WEBP);
    assert_eq!(named.status, 422, "{}", named.text());
}
