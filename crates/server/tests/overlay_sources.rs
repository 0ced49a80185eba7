//! Overlay images come from wherever an image does: folders, web servers and buckets, through the same guard and into
//! the same caches.

use std::os::unix::fs::symlink;

use crate::common::images::{self, still, written};
use crate::common::origin::Origin;
use crate::common::{House, Reply};
use andon_dialects::signature::base64;
use andon_dialects::signing::Signature;
use andon_pixels::{Encode, Frame, Grid, Model, Plane};

pub(crate) const BASE: (u32, u32) = (80, 60);
const LOGO: (u32, u32) = (16, 12);

/// Returns red, green, blue and opacity of the logo's pixel at (`x`, `y`). Logos of different numbers differ in red.
fn logo_at(number: u32, x: u32, y: u32) -> [u8; 4] {
    let alpha = 40 + x * 13;
    [
        (x * 9 + number * 50) as u8,
        (y * 17) as u8,
        200,
        alpha as u8,
    ]
}

/// Returns the logo of this number: a PNG of 16 × 12 px that becomes more opaque to the right.
pub(crate) fn logo(number: u32) -> Vec<u8> {
    let plane = |channel: usize| {
        let samples = (0..LOGO.0 * LOGO.1)
            .map(|at| logo_at(number, at % LOGO.0, at / LOGO.0)[channel])
            .collect();
        Plane::U8(Grid::from_samples(LOGO.0, LOGO.1, samples).expect("samples"))
    };
    let planes = vec![plane(0), plane(1), plane(2)];
    let frame = Frame::new(Model::Rgb, LOGO.0, LOGO.1, planes, Some(plane(3))).expect("a frame");
    written("png", &frame, &Encode::default())
}

/// Returns the base image that overlays are laid over, as pixels and as a PNG file: opaque, 80 × 60 px, and with more
/// colours than a palette has.
pub(crate) fn base() -> (Frame, Vec<u8>) {
    let frame = images::rgb(BASE.0, BASE.1, |plane, at| {
        let (x, y) = (at % BASE.0, at / BASE.0);
        [x * 3, y * 4, x + y * 2][plane as usize] as u8
    });
    let file = written("png", &frame, &Encode::default());
    (frame, file)
}

/// Returns the pixels of the base image with the logo of this number at this place, composed one by one by the formula
/// of `source over`.
pub(crate) fn composed(number: u32, at: (u32, u32), opacity: f64) -> Vec<[u8; 3]> {
    blended(number, at, opacity, |_, above| above)
}

/// Returns the pixels of the base image with the logo of this number at this place. `blend` computes the colour that is
/// composed from the colour of the base image and that of the logo.
pub(crate) fn blended(
    number: u32,
    (left, top): (u32, u32),
    opacity: f64,
    blend: impl Fn([f64; 3], [f64; 3]) -> [f64; 3],
) -> Vec<[u8; 3]> {
    let (frame, _) = base();
    let planes: Vec<&[u8]> = frame.planes.iter().map(images::samples).collect();
    let pixel = |at: u32| {
        let (x, y) = (at % BASE.0, at / BASE.0);
        let inside = |at: u32, start: u32, side| at.checked_sub(start).filter(|at| *at < side);
        let over = inside(x, left, LOGO.0).zip(inside(y, top, LOGO.1));
        let below = [0, 1, 2].map(|channel| planes[channel][at as usize]);
        let Some((x, y)) = over else {
            return below;
        };
        let logo = logo_at(number, x, y);
        let below = below.map(f64::from);
        let above = blend(below, [0, 1, 2].map(|channel| f64::from(logo[channel])));
        let alpha = f64::from(logo[3]) / 255.0 * opacity;
        [0, 1, 2]
            .map(|channel| (above[channel] * alpha + below[channel] * (1.0 - alpha)).round() as u8)
    };
    (0..BASE.0 * BASE.1).map(pixel).collect()
}

/// Asserts that a reply shows the expected pixels. A sample may be off by one level of 255, because opacity and colour
/// are rounded.
pub(crate) fn shows(reply: &Reply, expected: &[[u8; 3]], target: &str) {
    shows_within(1, reply, expected, target);
}

pub(crate) fn shows_within(steps: u8, reply: &Reply, expected: &[[u8; 3]], target: &str) {
    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
    let (width, pixels) = reply.pixels();
    assert_eq!((width, pixels.len()), (BASE.0, expected.len()), "{target}");
    for (at, (seen, right)) in pixels.iter().zip(expected).enumerate() {
        for channel in 0..3 {
            let off = seen[channel].abs_diff(right[channel]);
            assert!(
                off <= steps,
                "{target}: pixel {at} is {seen:?} and not {right:?}"
            );
        }
    }
}

pub(crate) fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let escape = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// The name of an overlay in a recipe in a URL: escaped as an argument, and then as a part of the path.
pub(crate) fn named(name: &str) -> String {
    let argument = name.replace('%', "%25");
    let argument = argument
        .replace(':', "%3A")
        .replace(',', "%2C")
        .replace('\0', "%00");
    escaped(&argument)
}

/// Returns the request target of the base image with the overlay of this name at (9, 4).
fn target(name: &str) -> String {
    format!("/r/overlay:{}:9:4,as:png/base.png", named(name))
}

pub(crate) fn house(keys: &str) -> House {
    let house = House::with(keys);
    house.put("base.png", base().1);
    house.put("logos/logo.png", logo(1));
    house
}

/// Every kind of origin: its configuration, and the name of an overlay in it. `HOST` stands for the origin's URL.
pub(crate) const KINDS: [(&str, &str); 6] = [
    ("prefix = \"/far\"\nhttp.base = \"HOST\"", "/far/logo.png"),
    ("prefix = \"/far\"\nhttp.base = \"HOST\"", "HOST/logo.png"),
    ("http.urls = [\"HOST/\"]", "HOST/logo.png?v=1&w=2"),
    (
        "prefix = \"/far\"\ns3 = { bucket = \"logos\", endpoint = \"HOST\" }",
        "/far/logo.png",
    ),
    (
        "prefix = \"/far\"\ngcs = { bucket = \"logos\", endpoint = \"HOST\" }",
        "/far/logo.png",
    ),
    (
        "prefix = \"/far\"\nazure = { bucket = \"logos\", account = \"a\", endpoint = \"HOST\" }",
        "/far/logo.png",
    ),
];

/// Starts a server with the base image in its folder and with an origin. `kind` is the origin's configuration, in which
/// `HOST` stands for its URL.
pub(crate) fn with_origin(origin: &Origin, kind: &str, keys: &str) -> House {
    let kind = kind.replace("HOST", &host(origin));
    house(&format!(
        "{keys}\n[[origin]]\nallow = [\"127.0.0.1\"]\n{kind}\n"
    ))
}

pub(crate) fn host(origin: &Origin) -> String {
    format!("http://127.0.0.1:{}", origin.port())
}

pub(crate) const BELOW: &str = "prefix = \"/far\"\nhttp.base = \"HOST\"";

#[test]
fn an_overlay_comes_from_wherever_an_image_does() {
    let right = composed(1, (9, 4), 1.0);
    for (kind, name) in KINDS {
        let origin = Origin::start(logo(1), "ETag: \"one\"\r\nCache-Control: max-age=600\r\n");
        let house = with_origin(&origin, kind, "");
        let target = target(&name.replace("HOST", &host(&origin)));
        shows(&house.get(&target), &right, &target);
        // Other results take it from the kept sources.
        let shifted = target.replace(":9:4", ":10:4");
        shows(&house.get(&shifted), &composed(1, (10, 4), 1.0), &shifted);
        assert_eq!(origin.asked(), 1, "{kind}");
    }
    let house = house("");
    let target = target("/logos/logo.png");
    shows(&house.get(&target), &right, &target);
}

#[test]
fn a_base_over_a_network_takes_overlays_over_a_network() {
    let (below, above) = (
        Origin::start(base().1, "ETag: \"base\"\r\nCache-Control: max-age=600\r\n"),
        Origin::start(logo(1), "ETag: \"logo\"\r\nCache-Control: max-age=60\r\n"),
    );
    let keys = format!(
        "{}[[origin]]\nallow = [\"127.0.0.1\"]\nhttp.urls = [\"{}/\"]\n",
        below.keys(),
        host(&above)
    );
    let house = house(&keys);
    let name = named(&format!("{}/logo.png", host(&above)));
    let target = format!("/r/overlay:{name}:9:4,as:png/far/base.png");
    let reply = house.get(&target);
    shows(&reply, &composed(1, (9, 4), 1.0), &target);
    // No longer than the overlay may be.
    assert_eq!(reply.header("cache-control"), Some("max-age=60"));
    house.get(&target);
    assert_eq!((below.asked(), above.asked()), (1, 1));
}

#[test]
fn an_unchanged_overlay_is_confirmed_and_a_changed_one_gives_another_result() {
    let stale = |tag: &str| format!("ETag: \"{tag}\"\r\nCache-Control: no-cache\r\n");
    let origin = Origin::start(logo(1), &stale("one"));
    let house = with_origin(&origin, BELOW, "[cache]\nfs_fresh = \"0s\"\n");
    let target = target("/far/logo.png");
    let first = house.get(&target);
    let second = house.get(&target);
    assert_eq!(second.header("etag"), first.header("etag"));
    assert!(is_hit(&second));
    let told = origin.told("if-none-match");
    assert_eq!(told, [None, Some("\"one\"".to_owned())]);

    origin.answers(200, &stale("two"), logo(2));
    let changed = house.get(&target);
    assert_ne!(changed.header("etag"), first.header("etag"));
    shows(&changed, &composed(2, (9, 4), 1.0), &target);

    // While its origin fails, the result that there is is sent; a new one cannot be made.
    origin.answers(503, "", Vec::new());
    shows(&house.get(&target), &composed(2, (9, 4), 1.0), &target);
    let reply = house.get(&target.replace(":9:4", ":1:1"));
    assert_eq!(reply.status, 502, "{}", reply.text());
    assert!(reply.text().contains("/far/logo.png"), "{}", reply.text());
}

fn is_hit(reply: &Reply) -> bool {
    let status = reply.header("cache-status").unwrap_or_default();
    status.contains("; hit")
}

#[test]
fn a_purge_of_an_overlay_is_one_of_what_it_lies_on() {
    let keys =
        "[admin]\ntoken = \"a token of some length\"\n[cache]\ntag_headers = [\"Cache-Tag\"]\n";
    let tag = |number: u32| format!("ETag: \"{number}\"\r\nCache-Control: max-age=600\r\n");
    let origin = Origin::start(logo(0), &tag(0));
    let house = with_origin(&origin, BELOW, keys);
    let target = target("/far/logo.png");
    shows(&house.get(&target), &composed(0, (9, 4), 1.0), &target);
    let reply = house.get(&target);
    let tags = reply.header("cache-tag").expect("tags");
    for tag in [
        "source:/base.png",
        "source:/far/logo.png",
        "prefix:/far/",
        "overlay:/far/logo.png",
    ] {
        assert!(tags.split(',').any(|it| it == tag), "{tag}: {tags}");
    }
    for (number, order) in [
        r#"{"source":"/far/logo.png"}"#.to_owned(),
        r#"{"prefix":"/far/"}"#.to_owned(),
        r#"{"tag":"overlay:/far/logo.png"}"#.to_owned(),
        format!("{{\"url\":\"{target}\"}}"),
    ]
    .into_iter()
    .enumerate()
    {
        let (before, after) = (number as u32, number as u32 + 1);
        origin.answers(200, &tag(after), logo(after));
        shows(&house.get(&target), &composed(before, (9, 4), 1.0), &target);
        let mut client = house.client();
        client.send(format!(
            "POST /_andon/purge HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer a token of some length\r\n\
             Content-Length: {}\r\n\r\n{order}",
            order.len()
        ));
        assert_eq!(client.reply("POST").status, 200, "{order}");
        shows(&house.get(&target), &composed(after, (9, 4), 1.0), &order);
    }
}

#[test]
fn a_private_overlay_is_given_to_nobody_else() {
    let origin = Origin::start(
        logo(1),
        "ETag: \"a\"\r\nCache-Control: private, max-age=60\r\n",
    );
    let house = with_origin(&origin, BELOW, "");
    let target = target("/far/logo.png");
    for asked in 1..3 {
        let reply = house.get(&target);
        shows(&reply, &composed(1, (9, 4), 1.0), &target);
        assert_eq!(reply.header("cache-control"), Some("private, max-age=60"));
        assert_eq!(origin.asked(), asked);
    }
}

#[test]
fn an_overlay_that_cannot_be_had_is_an_error_and_never_left_out() {
    let origin = Origin::start(logo(1), "");
    let limits = "[limits]\nsource_bytes = \"64KiB\"\npixels = 10000\n";
    let house = with_origin(&origin, BELOW, limits);
    let large = written("png", &still(200, 100, 3), &Encode::default());
    for (answer, body, status) in [
        (404, Vec::new(), 404),
        (403, Vec::new(), 403),
        (500, Vec::new(), 502),
        (
            200,
            b"no image at all, but a text of some length".to_vec(),
            400,
        ),
        (200, logo(1)[..60].to_vec(), 400),
        (200, vec![7; 70_000], 422),
        (200, large, 422),
    ] {
        let (about, length) = (format!("{answer}, {} bytes", body.len()), body.len());
        origin.answers(answer, "", body);
        // A name of its own: what is wrong with a source is remembered.
        let reply = house.get(&target(&format!("/far/{answer}-{length}.png")));
        assert_eq!(reply.status, status, "{about}: {}", reply.text());
        assert!(!reply.text().is_empty(), "{about}");
    }
    let missing = house.get(&target("/logos/none.png"));
    assert_eq!(missing.status, 404);
    assert!(
        missing.text().contains("/logos/none.png"),
        "{}",
        missing.text()
    );
    assert_eq!(house.get(&target("/logos")).status, 404);
}

#[test]
fn no_overlay_reaches_what_an_image_in_its_place_would_not() {
    let origin = Origin::start(logo(1), "ETag: \"a\"\r\n");
    let keys = "[[origin]]\nhttp.urls = [\"http://127.0.0.1/\", \"http://[::1]/\", \"http://localhost/\"]\n";
    let house = with_origin(&origin, BELOW, keys);
    house.put(".hidden/logo.png", logo(1));
    house.put("logos/.logo.png", logo(1));
    std::fs::write(house.folder.path().join("outside.png"), logo(1)).expect("a file");
    symlink("../outside.png", house.file("out.png")).expect("a link");
    symlink(
        house.folder.path().join("outside.png"),
        house.file("away.png"),
    )
    .expect("a link");
    let port = origin.port();
    let before = origin.asked();
    for place in [
        "/.hidden/logo.png".to_owned(),
        "/logos/.logo.png".to_owned(),
        "/out.png".to_owned(),
        "/away.png".to_owned(),
        "/../outside.png".to_owned(),
        "/logos/../../outside.png".to_owned(),
        "/logos/%2e%2e/logos/logo.png".to_owned(),
        "/far/../logos/logo.png".to_owned(),
        "/logos/logo.png\0".to_owned(),
        format!("http://127.0.0.1:{port}/../logo.png"),
        format!("http://127.0.0.1:{port}/x/%2e%2e/logo.png"),
        format!("http://127.0.0.1:{port}\\@elsewhere.example/logo.png"),
        format!("http://127.0.0.%31:{port}/logo.png"),
        // Listed, and at addresses that no origin may be asked at.
        "http://127.0.0.1/logo.png".to_owned(),
        "http://2130706433/logo.png".to_owned(),
        "http://0x7f.1/logo.png".to_owned(),
        "http://[::1]/logo.png".to_owned(),
        "http://localhost/logo.png".to_owned(),
        // Not listed at all.
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "https://elsewhere.example/logo.png".to_owned(),
        "s3://elsewhere/logo.png".to_owned(),
        "gs://elsewhere/logo.png".to_owned(),
        "file:///etc/hostname".to_owned(),
        "data:image/png;base64,AAAA".to_owned(),
    ] {
        let image = house.get(&format!(
            "/r/as:png/{}",
            escaped(place.trim_start_matches('/'))
        ));
        let overlay = house.get(&target(&place));
        let told = (overlay.status, overlay.text());
        assert!(matches!(told.0, 400 | 403 | 404 | 502), "{place}: {told:?}");
        let is_url = place.contains("://") && !place.starts_with("file");
        if is_url || place.starts_with('/') {
            assert_eq!(told.0, image.status, "{place}: {told:?} {}", image.text());
        }
    }
    assert_eq!(origin.asked(), before);
}

const KEY: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn a_signature_for_an_image_opens_no_overlay_that_it_does_not_name() {
    let origin = Origin::start(logo(1), "ETag: \"a\"\r\n");
    let link = "[[secure_link]]\nlocation = \"/far/\"\nsecure_link = \"$arg_md5,$arg_expires\"\n\
        secure_link_md5 = \"$secure_link_expires$uri swordfish\"\n";
    let house = with_origin(&origin, BELOW, link);
    for name in [
        "/far/logo.png".to_owned(),
        format!("{}/logo.png", host(&origin)),
    ] {
        let reply = house.get(&target(&name));
        assert_eq!(reply.status, 403, "{name}: {}", reply.text());
    }
    // The beginning of a URL is signed, and an overlay appended to it.
    let urls = "http.urls = [\"HOST/\"]";
    let keys = format!("[signing]\nkeys = [\"{KEY}\"]\n[imgix]\nprefix = \"/imgix\"\n");
    let house = with_origin(&origin, urls, &keys);
    let signature = Signature {
        scope: 2,
        ..Signature::default()
    };
    let signed = signature
        .of(KEY.as_bytes(), "/imgix/base.png")
        .expect("a signature");
    let plain = house.get(&format!("{signed}?w=40"));
    assert_eq!(plain.status, 200, "{}", plain.text());
    let mark = escaped(&format!("{}/logo.png", host(&origin)));
    let reply = house.get(&format!("{signed}?w=40&mark={mark}"));
    assert_eq!(reply.status, 403, "{}", reply.text());
    assert_eq!(origin.asked(), 0);
    let whole = format!("/imgix/base.png?w=40&mark={mark}");
    let whole = Signature::default()
        .of(KEY.as_bytes(), &whole)
        .expect("a signature");
    assert_eq!(house.get(&whole).status, 200);
}

/// Returns request targets in every dialect that takes overlays by URL. Each lays the logo at `url` over the base
/// image, at (9, 4) and with half of its opacity.
fn spelt(url: &str) -> Vec<String> {
    let (escaped_url, encoded) = (escaped(url), base64::bare(url.as_bytes()));
    let draw = escaped(&format!(
        "[{{\"url\":\"{url}\",\"left\":9,\"top\":4,\"opacity\":0.5}}]"
    ));
    vec![
        format!("/r/overlay:{}:9:4:50,as:png/base.png", named(url)),
        format!("/imgproxy/x/wm:0.5:nowe:9:4/wmu:{encoded}/f:png/plain/local:///base.png"),
        format!("/thumbor/unsafe/filters:watermark({escaped_url},9,4,50)/base.png"),
        format!("/thumbor/unsafe/filters:watermark({url},9,4,50)/base.png"),
        format!("/imagor/unsafe/filters:watermark({escaped_url},9,4,50)/base.png"),
        format!("/imagor/unsafe/filters:image({escaped_url},9,4,50)/base.png"),
        format!("/imagor/unsafe/filters:watermark(b64:{encoded},9,4,50)/base.png"),
        format!("/imgix/base.png?mark={escaped_url}&mark-x=9&mark-y=4&mark-alpha=50&fm=png"),
        format!("/imgix/base.png?mark64={encoded}&mark-x=9&mark-y=4&mark-alpha=50&fm=png"),
        format!(
            "/imgix/base.png?blend64={encoded}&blend-mode=normal&blend-x=9&blend-y=4&blend-alpha=50&fm=png"
        ),
        format!("/cloudflare/draw={draw}/base.png"),
    ]
}

pub(crate) const DIALECTS: &str = "[imgproxy]\nprefix = \"/imgproxy\"\n[thumbor]\nprefix = \"/thumbor\"\n\
    [imagor]\nprefix = \"/imagor\"\nallow_unsafe = true\n[imgix]\nprefix = \"/imgix\"\n\
    [cloudflare]\nprefix = \"/cloudflare\"\n";

#[test]
fn every_dialect_lays_images_of_urls_over_images() {
    let origin = Origin::start(logo(1), "ETag: \"a\"\r\nCache-Control: max-age=600\r\n");
    let house = with_origin(&origin, "http.urls = [\"HOST/\"]", DIALECTS);
    let right = composed(1, (9, 4), 0.5);
    let url = format!("{}/logo.png", host(&origin));
    for target in spelt(&url) {
        shows(&house.get(&target), &right, &target);
    }
    assert_eq!(origin.asked(), 1);
    // What is missing, forbidden or not served here is an error in each of them.
    for (name, status, statuses) in [
        ("missing.png", 404, &[404][..]),
        // thumbor answers 400 for a source that may not be read, too.
        ("forbidden.png", 403, &[403, 404, 400][..]),
    ] {
        origin.answers(status, "", Vec::new());
        for target in spelt(&format!("{}/{name}", host(&origin))) {
            let reply = house.get(&target);
            assert!(
                statuses.contains(&reply.status),
                "{target}: {} {}",
                reply.status,
                reply.text()
            );
        }
    }
    for target in spelt("https://elsewhere.example/logo.png") {
        let reply = house.get(&target);
        assert!(
            matches!(reply.status, 400 | 403 | 404),
            "{target}: {} {}",
            reply.status,
            reply.text()
        );
    }
}

#[test]
fn overlays_that_no_dialect_makes_are_refused() {
    let house = house(DIALECTS);
    for target in [
        "/imgix/base.png?mark=%2F~text%3Ftxt%3DHello",
        "/imgix/base.png?mark=logos/logo.png%3Fblur%3D9",
        "/imgix/base.png?blend=logos/logo.png&blend-mode=plus",
        "/imgix/base.png?mask=logos/logo.png%3Fw%3D9",
        "/imgix/base.png?mask=%2F~text%3Ftxt%3DHello",
        "/cloudflare/draw=logo.png/base.png",
        "/cloudflare/draw=%5B%7B%22url%22%3A%22%2Flogos%2Flogo.png%22%2C%22blur%22%3A9%7D%5D/base.png",
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, 400, "{target}: {}", reply.text());
    }
    // What cannot be read is not found in imgproxy's URLs.
    let reply = house.get("/imgproxy/x/wm:1/wmu:%21/plain/local:///base.png");
    assert_eq!(reply.status, 404, "{}", reply.text());
}
