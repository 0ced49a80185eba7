//! imgproxy's URLs over a socket: sizes of real images, statuses, headers, signatures and expiry.

use crate::common::origin::Origin;
use crate::common::{House, Reply, sample};
use andon_dialects::signature::{Digest, base64};
use serde_json::{Value, json};

const OPEN: &str = "[imgproxy]\nprefix = \"/\"\n";

const KEY: [u8; 20] = *b"a key of twenty byte";
const SALT: &[u8] = b"salt";

/// Starts a server with a few images and with imgproxy's dialect at `/`. `keys` are further configuration keys of the
/// dialect.
fn house(keys: &str) -> House {
    let house = House::with(&format!("{OPEN}{keys}"));
    for (name, from) in [
        ("turned.jpg", "jpeg/orientation-6.jpg"),
        ("alpha.png", "png/alpha.png"),
        ("alpha.webp", "webp/alpha.webp"),
        ("photo.webp", "webp/lossy.webp"),
        ("moving.gif", "gif/animated.gif"),
    ] {
        house.put_sample(name, from);
    }
    house
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn signed(path: &str) -> String {
    let digest = Digest::Sha256.sign(&KEY, &[SALT, path.as_bytes()]);
    format!("/{}{path}", base64::bare(&digest))
}

fn image_reply(house: &House, options: &str, file: &str) -> Reply {
    let reply = house.get(&format!("/unsafe/{options}/plain/local:///{file}"));
    assert_eq!(reply.status, 200, "{options} {file}: {}", reply.text());
    reply
}

#[test]
fn images_have_the_size_and_format_that_imgproxy_gives_them() {
    let house = house("");
    for (options, file, format, size) in [
        ("rs:fit:150:150", "a.jpg", "jpeg", (150, 113)),
        ("rs:fill:500:200", "a.jpg", "jpeg", (400, 200)),
        ("rs:fit:150:150/ex:1/pd:3", "a.jpg", "jpeg", (156, 156)),
        ("w:300/dpr:2/pd:10:5", "a.jpg", "jpeg", (414, 326)),
        ("c:0.333:0.5:soea", "a.jpg", "jpeg", (133, 150)),
        ("rs:force:64:64/rot:90/fl:1", "a.jpg", "jpeg", (64, 64)),
        ("w:80", "turned.jpg", "jpeg", (80, 53)),
        ("w:80/ar:0", "turned.jpg", "jpeg", (80, 120)),
        (
            "rs:fill:100:100:1/bg:ff8800",
            "alpha.png",
            "png",
            (100, 100),
        ),
        ("w:100", "alpha.webp", "png", (100, 75)),
        ("w:100/bl:2", "photo.webp", "jpeg", (100, 56)),
        ("w:100", "a.jpg@webp", "webp", (100, 75)),
        ("h:60", "moving.gif", "gif", (80, 60)),
    ] {
        let reply = image_reply(&house, options, file);
        assert_eq!(
            (reply.format(), reply.size()),
            (format, size),
            "{options} {file}"
        );
    }
}

#[test]
fn a_source_must_have_the_digest_that_the_url_says_even_where_the_result_is_kept() {
    let house = House::with(&format!("{OPEN}[cache]\nfs_fresh = \"1h\"\n"));
    let source = std::fs::read(house.folder.path().join("root/a.jpg")).expect("a file");
    let md5 = hex(&andon_dialects::signature::md5(&[&source]));
    let wrong = md5.replace(['0', '1'], "2");
    for (options, status) in [
        (format!("w:20/hs:md5:{wrong}"), 422),
        (format!("w:20/hs:md5:{md5}"), 200),
        (format!("w:20/hashsum:md5:{}", md5.to_uppercase()), 200),
        (format!("w:20/hs:md5:{wrong}"), 422),
        (format!("raw:1/hs:md5:{wrong}"), 422),
        (format!("raw:1/hs:md5:{md5}"), 200),
        (format!("w:20/hs:sha1:{md5}"), 404),
        ("w:20/hs:crc32:00000000".to_owned(), 404),
        ("w:20".to_owned(), 200),
    ] {
        let reply = house.get(&format!("/unsafe/{options}/plain/local:///a.jpg"));
        assert_eq!(reply.status, status, "{options}: {}", reply.text());
    }
}

#[test]
fn a_border_of_one_colour_is_cut_off() {
    let house = house("");
    let framed = image_reply(&house, "pd:20:30:40:50/bg:123456/f:png", "a.jpg");
    assert_eq!(framed.size(), (480, 360));
    house.put("framed.png", &framed.body);
    assert_eq!(image_reply(&house, "t:0", "framed.png").size(), (400, 300));
    assert_eq!(
        image_reply(&house, "t:0::1:1", "framed.png").size(),
        (420, 320)
    );
    for (colour, size) in [("123456", (400, 300)), ("654321", (480, 360))] {
        let options = format!("t:0:{colour}");
        assert_eq!(image_reply(&house, &options, "framed.png").size(), size);
    }
    // What is transparent is magenta.
    house.put(
        "clear.png",
        &image_reply(&house, "pd:20/f:png", "a.jpg").body,
    );
    assert_eq!(
        image_reply(&house, "t:1:f0f", "clear.png").size(),
        (400, 300)
    );
}

#[test]
fn what_is_wrong_has_imgproxys_status() {
    let house = house("");
    house.put("text.jpg", b"no image");
    house.put_sample("cut.jpg", "broken/truncated-header.jpg");
    for (target, status) in [
        ("/unsafe/w:x/plain/local:///a.jpg", 404),
        ("/unsafe/w:5/plain/local:///none.jpg", 404),
        ("/unsafe/w:5/plain/http://evil.test/a.jpg", 404),
        ("/unsafe/w:5/plain/local:///../a.jpg", 404),
        ("/unsafe/exp:1/plain/local:///a.jpg", 404),
        ("/unsafe/msr:10/plain/local:///a.jpg", 403),
        ("/w:5/plain/local:///a.jpg", 403),
        ("/unsafe/w:5/plain/local:///text.jpg", 422),
        ("/unsafe/w:5/plain/local:///cut.jpg", 422),
        ("/unsafe/w:5/f:heic/plain/local:///a.jpg", 422),
        ("/favicon.ico", 404),
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, status, "{target}: {}", reply.text());
        assert_eq!(reply.header("content-disposition"), None);
    }
    let length = std::fs::metadata(sample("jpeg/420.jpg"))
        .expect("a sample")
        .len();
    for (most, status) in [(length, 200), (length - 1, 422)] {
        let house = House::with(&format!("{OPEN}allow_security_options = true\n"));
        // What was made before is not sent where it may not be.
        let _ = house.get("/unsafe/w:5/plain/local:///a.jpg");
        let reply = house.get(&format!("/unsafe/w:5/msfs:{most}/plain/local:///a.jpg"));
        assert_eq!(reply.status, status, "{}", reply.text());
    }
    let health = house.get("/health");
    assert_eq!(
        (health.status, &*health.text()),
        (200, "imgproxy is running")
    );
}

#[test]
fn answers_say_what_the_file_is_called_and_how_long_it_is_good() {
    let house = house("ttl = 1000\n");
    for (options, file, name) in [
        ("w:50", "a.jpg", "inline; filename=\"a.jpg\""),
        ("w:50", "alpha.webp", "inline; filename=\"alpha.png\""),
        (
            "w:50/att:1/fn:b",
            "a.jpg@webp",
            "attachment; filename=\"b.webp\"",
        ),
    ] {
        for _ in 0..2 {
            let reply = image_reply(&house, options, file);
            assert_eq!(reply.header("content-disposition"), Some(name));
            assert_eq!(
                reply.header("content-security-policy"),
                Some("script-src 'none'")
            );
            let cache = reply.header("cache-control").unwrap_or_default();
            assert_eq!(cache, "max-age=1000, public");
        }
    }
    // The URL ends to be good before that.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let soon = now.expect("a clock after 1970").as_secs() + 500;
    let reply = image_reply(&house, &format!("w:51/exp:{soon}"), "a.jpg");
    let cache = reply.header("cache-control").unwrap_or_default();
    let age: Option<u64> = cache
        .split("max-age=")
        .nth(1)
        .and_then(|age| age.split(',').next()?.parse().ok());
    assert!(age.is_some_and(|age| age <= 500), "{cache}");
    // Raw is the file itself.
    let raw = image_reply(&house, "raw:1", "a.jpg");
    assert_eq!(
        raw.body,
        std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
    );
}

#[test]
fn what_an_origin_says_of_a_request_is_passed_on() {
    let origin = Origin::start(std::fs::read(sample("jpeg/420.jpg")).expect("a sample"), "");
    let house = house(&origin.keys());
    for (answered, status) in [
        (400, 400),
        (401, 401),
        (403, 403),
        (404, 404),
        (429, 429),
        (500, 502),
        (503, 502),
    ] {
        origin.answers(answered, "", Vec::new());
        let path = format!("127.0.0.1:{}/{answered}.jpg", origin.port());
        let reply = house.get(&format!("/unsafe/w:50/plain/http://{path}"));
        assert_eq!(reply.status, status, "{answered}: {}", reply.text());
    }
}

#[test]
fn drawings_stay_drawings_that_run_no_scripts() {
    let house = house("");
    house.put_sample("chart.svg", "svg/chart.svg");
    for _ in 0..2 {
        let reply = image_reply(&house, "w:50", "chart.svg");
        assert_eq!(reply.header("content-type"), Some("image/svg+xml"));
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("sandbox"), "{policy}");
        let name = reply.header("content-disposition");
        assert_eq!(name, Some("inline; filename=\"chart.svg\""));
    }
    let drawn = image_reply(&house, "w:50/f:png", "chart.svg");
    assert_eq!((drawn.format(), drawn.size().0), ("png", 50));
    assert_eq!(house.get("/unsafe/f:svg/plain/local:///a.jpg").status, 422);
}

#[test]
fn only_signed_urls_are_answered_and_nothing_is_fetched_for_others() {
    let origin = Origin::start(std::fs::read(sample("jpeg/420.jpg")).expect("a sample"), "");
    let keys = format!(
        "keys = [\"{}\"]\nsalts = [\"{}\"]\n{}",
        hex(&KEY),
        hex(SALT),
        origin.keys()
    );
    let house = house(&keys);
    let path = format!("/w:50/plain/http://127.0.0.1:{}/x/420.jpg", origin.port());
    assert_eq!(house.get(&format!("/unsafe{path}")).status, 403);
    assert_eq!(
        house.get(&signed(&path).replace("w:50", "w:51")).status,
        403
    );
    assert_eq!(origin.asked(), 0);
    let reply = house.get(&signed(&path));
    assert_eq!(
        (reply.status, reply.size()),
        (200, (50, 38)),
        "{}",
        reply.text()
    );
    let proxied = signed(&path)
        .replace("w:50", "w%3A50")
        .replace("http://", "http:/");
    assert_eq!(house.get(&proxied).status, 200);
    assert_eq!(origin.asked(), 1);
}

#[test]
fn facts_about_a_source_are_told() {
    let house = house("");
    let facts = |options: &str, file: &str| -> Value {
        let reply = house.get(&format!("/info/unsafe/{options}plain/local:///{file}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.header("content-type"), Some("application/json"));
        serde_json::from_slice(&reply.body).expect("JSON")
    };
    let length = std::fs::metadata(sample("jpeg/orientation-6.jpg"))
        .expect("a sample")
        .len();
    let turned = json!({
        "size": length, "format": "jpeg", "mime_type": "image/jpeg", "width": 240, "height": 160, "orientation": 6
    });
    assert_eq!(facts("", "turned.jpg"), turned);
    let more = facts("s:0/f:0/d:0/cs:1/b:1/sf:1/pn:1/a:1/", "alpha.png");
    let right = json!({
        "colorspace": "srgb", "bands": 4, "sample_format": "uchar", "pages_number": 1, "alpha": { "has_alpha": true }
    });
    assert_eq!(more, right);
    // Half of it is red, half is blue.
    let red = image_reply(&house, "rs:force:1:1/pd:0:39:39:0/bg:f00/f:png", "a.jpg");
    house.put("red.png", &red.body);
    let both = image_reply(&house, "pd:0:40:0:0/bg:00f/f:png", "red.png");
    house.put("both.png", &both.body);
    let seen = facts("s:0/f:0/d:0/p:2/avg:1/dc:1/bh:1:1/th:1/", "both.png");
    let colour = |value: &Value, key: &str| value[key].as_u64().expect(key);
    let palette = seen["palette"].as_array().expect("a palette");
    assert_eq!(palette.len(), 2, "{seen}");
    assert_eq!(palette[0], json!({ "R": 0, "G": 0, "B": 255, "A": 255 }));
    assert!(colour(&palette[1], "R") >= 253, "{seen}");
    let average = &seen["average"];
    assert!((126..=128).contains(&colour(average, "R")), "{seen}");
    assert_eq!(colour(average, "A"), 255);
    let vibrant = colour(&seen["dominant_colors"]["vibrant"], "G");
    assert!(vibrant < 5, "{seen}");
    assert_eq!(seen["blurhash"].as_str().map(str::len), Some(6));
    assert!(
        seen["thumb_hash"]
            .as_str()
            .is_some_and(|text| text.len() > 20)
    );
    assert_eq!(
        house.get("/info/unsafe/nope:1/plain/local:///a.jpg").status,
        404
    );
}

#[test]
fn an_enforced_format_replaces_that_of_the_url_for_clients_that_accept_it() {
    let formats = "[negotiation]\nformats = [\"avif\", \"webp\"]\n";
    let house = house(&format!("enforce = true\n{formats}"));
    house.put(
        "own.svg",
        "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='60'><path d='M5 50L75 40' stroke='#00f'/></svg>",
    );
    let ask = |options: &str, file: &str, accept: &str| {
        let target = format!("/unsafe/{options}/plain/local:///{file}");
        let reply = house.request("GET", &target, &[("accept", accept)]);
        assert_eq!(reply.status, 200, "{target}: {}", reply.text());
        let varies = reply.header("vary").unwrap_or_default().to_lowercase();
        (
            reply.header("content-type").unwrap_or_default().to_owned(),
            varies,
        )
    };
    let (webp, none) = ("image/webp,*/*;q=0.8", "*/*");
    for (options, file, accept, format) in [
        ("w:100", "a.jpg@jpg", webp, "webp"),
        ("w:100/f:png", "a.jpg", webp, "webp"),
        ("w:100", "a.jpg", webp, "webp"),
        ("w:100", "a.jpg@jpg", none, "jpeg"),
        ("w:100/f:png", "a.jpg", none, "png"),
        ("w:100", "a.jpg@avif", none, "avif"),
        ("w:100", "a.jpg@avif", webp, "webp"),
        ("w:100", "own.svg@png", none, "png"),
        ("w:100", "own.svg@png", webp, "webp"),
        ("w:100", "own.svg", webp, "svg+xml"),
        ("w:100/skp:jpg", "a.jpg@jpg", webp, "jpeg"),
    ] {
        let expected = (format!("image/{format}"), "accept".to_owned());
        let is = ask(options, file, accept);
        assert_eq!(is, expected, "{options} {file} {accept}");
    }
    let drawing = ask("w:100", "own.svg@svg", webp);
    assert_eq!(drawing, ("image/svg+xml".to_owned(), String::new()));
}

#[test]
fn a_progressive_jpeg_makes_no_interlaced_png() {
    let house = house("");
    let is_interlaced = |options: &str| image_reply(&house, options, "alpha.png").body[28] == 1;
    assert!(is_interlaced("w:50/pngo:1"));
    assert!(!is_interlaced("w:50/jpgo:1"));
    let is_progressive = |options: &str| {
        let body = image_reply(&house, options, "a.jpg").body;
        body.windows(2).any(|marker| marker == [0xff, 0xc2])
    };
    assert!(is_progressive("w:50/jpgo:1/pngo:0"));
    assert!(!is_progressive("w:50/pngo:1"));
}
