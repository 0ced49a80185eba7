//! Overlay images of every kind of origin are laid over uploads, through the same guard as over sources.

use crate::common::images::written;
use crate::common::origin::Origin;
use crate::common::{House, Reply};
use crate::overlay_sources::{
    BELOW, KINDS, base, composed, host, house, logo, named, shows, with_origin,
};
use andon_pixels::Encode;

const OPEN: &str = "[upload]\nallow = \"local\"\n";

/// Uploads the base image of the tests of overlays, to be composed with the overlay of this name at (9, 4).
fn post(house: &House, name: &str) -> Reply {
    post_with(house, name, &[])
}

fn post_with(house: &House, name: &str, headers: &[(&str, &str)]) -> Reply {
    let body = base().1;
    let target = format!("/_andon/render?recipe=overlay:{}:9:4,as:png", named(name));
    let mut client = house.client();
    let length = body.len().to_string();
    let headers = [&[("Content-Length", &*length)], headers].concat();
    client.ask("POST", &target, &headers);
    client.send(body);
    client.reply("POST")
}

#[test]
fn an_overlay_of_an_upload_comes_from_wherever_an_image_does() {
    let right = composed(1, (9, 4), 1.0);
    for (kind, name) in KINDS {
        let origin = Origin::start(logo(1), "ETag: \"one\"\r\nCache-Control: max-age=600\r\n");
        let house = with_origin(&origin, kind, OPEN);
        let name = name.replace("HOST", &host(&origin));
        for _ in 0..2 {
            let reply = post(&house, &name);
            shows(&reply, &right, kind);
            assert_eq!(reply.header("cache-control"), Some("no-store"));
        }
        assert_eq!(origin.asked(), 1, "{kind}");
    }
    let house = house(OPEN);
    shows(&post(&house, "/logos/logo.png"), &right, "a folder");
}

#[test]
fn an_overlay_that_cannot_be_had_is_an_error_of_the_upload() {
    let origin = Origin::start(logo(1), "");
    let limits = format!("{OPEN}[limits]\nsource_bytes = \"64KiB\"\npixels = 10000\n");
    let house = with_origin(&origin, BELOW, &limits);
    let large = written(
        "png",
        &crate::common::images::still(200, 100, 3),
        &Encode::default(),
    );
    for (answer, body, status) in [
        (404, Vec::new(), 404),
        (403, Vec::new(), 403),
        (500, Vec::new(), 502),
        (
            200,
            b"no image at all, but a text of some length".to_vec(),
            400,
        ),
        (200, vec![7; 70_000], 422),
        (200, large, 422),
    ] {
        let (about, length) = (format!("{answer}, {} bytes", body.len()), body.len());
        origin.answers(answer, "", body);
        let reply = post(&house, &format!("/far/{answer}-{length}.png"));
        assert_eq!(reply.status, status, "{about}: {}", reply.text());
    }
    let missing = post(&house, "/logos/none.png");
    assert_eq!(missing.status, 404, "{}", missing.text());
    assert!(missing.text().contains("/logos/none.png"));
}

#[test]
fn no_overlay_of_an_upload_reaches_what_an_image_would_not() {
    let origin = Origin::start(logo(1), "ETag: \"a\"\r\n");
    let keys =
        format!("{OPEN}[[origin]]\nhttp.urls = [\"http://127.0.0.1/\", \"http://localhost/\"]\n");
    let house = with_origin(&origin, BELOW, &keys);
    house.put(".hidden/logo.png", logo(1));
    std::fs::write(house.folder.path().join("outside.png"), logo(1)).expect("a file");
    std::os::unix::fs::symlink("../outside.png", house.file("out.png")).expect("a link");
    let port = origin.port();
    for place in [
        "/.hidden/logo.png".to_owned(),
        "/out.png".to_owned(),
        "/../outside.png".to_owned(),
        "/logos/../../outside.png".to_owned(),
        "/far/../logos/logo.png".to_owned(),
        "/far/%2e%2e/logo.png".to_owned(),
        format!("http://127.0.0.1:{port}/../logo.png"),
        // Listed, and at addresses that no origin may be asked at.
        "http://127.0.0.1/logo.png".to_owned(),
        "http://localhost/logo.png".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "https://elsewhere.example/logo.png".to_owned(),
        "s3://elsewhere/logo.png".to_owned(),
        "file:///etc/hostname".to_owned(),
    ] {
        let reply = post(&house, &place);
        let told = (reply.status, reply.text());
        assert!(matches!(told.0, 400 | 403 | 404 | 502), "{place}: {told:?}");
    }
    assert_eq!(origin.asked(), 0);
}

#[test]
fn an_upload_lays_no_overlay_that_a_secure_link_guards() {
    let origin = Origin::start(logo(1), "ETag: \"a\"\r\n");
    let keys = "[upload]\nallow = \"all\"\n[[secure_link]]\nlocation = \"/far/\"\n\
        secure_link = \"$arg_md5,$arg_expires\"\nsecure_link_md5 = \"$secure_link_expires$uri swordfish\"\n";
    let house = with_origin(&origin, BELOW, keys);
    for name in [
        "/far/logo.png".to_owned(),
        format!("{}/logo.png", host(&origin)),
    ] {
        // From the same machine, and through a proxy.
        for headers in [&[][..], &[("X-Forwarded-For", "192.0.2.7")]] {
            let reply = post_with(&house, &name, headers);
            assert_eq!(reply.status, 403, "{name}: {}", reply.text());
        }
    }
    assert_eq!(origin.asked(), 0);
}
