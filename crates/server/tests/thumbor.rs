//! thumbor's and imagor's URLs over a socket: sizes of real images, filters, signatures, statuses.

use crate::common::{House, Reply};
use andon_dialects::signature::{Digest, base64};

const KEY: &str = "a key of twenty byte";

/// thumbor at the root; imagor below `/i`.
fn house() -> House {
    let keys = format!(
        "[thumbor]\nprefix = \"/\"\nkeys = [\"{KEY}\"]\nallow_unsafe = true\nopen = true\n\
         [imagor]\nprefix = \"/i\"\nkeys = [\"{KEY}\"]\nallow_unsafe = true\nopen = true\n"
    );
    let house = House::with(&keys);
    house.put_sample("alpha.png", "png/alpha.png");
    house.put_sample("moving.gif", "gif/animated.gif");
    house
}

fn image_reply(house: &House, target: &str) -> Reply {
    let reply = house.get(target);
    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
    reply
}

#[test]
fn images_have_the_size_and_format_that_thumbor_gives_them() {
    let house = house();
    for (target, format, size) in [
        ("300x200/a.jpg", "jpeg", (300, 200)),
        ("150x0/a.jpg", "jpeg", (150, 112)),
        ("fit-in/300x200/a.jpg", "jpeg", (267, 200)),
        ("fit-in/500x500/a.jpg", "jpeg", (400, 300)),
        ("full-fit-in/500x500/a.jpg", "jpeg", (667, 500)),
        ("10x20:110x70/a.jpg", "jpeg", (100, 50)),
        ("-100x-50/a.jpg", "jpeg", (100, 50)),
        (
            "fit-in/100x100/filters:fill(ff0000)/a.jpg",
            "jpeg",
            (100, 100),
        ),
        (
            "100x80/filters:grayscale():format(webp)/a.jpg",
            "webp",
            (100, 80),
        ),
        (
            "60x60/filters:rotate(90):brightness(20)/alpha.png",
            "png",
            (60, 60),
        ),
        ("60x0/moving.gif", "gif", (60, 45)),
    ] {
        let reply = image_reply(&house, &format!("/unsafe/{target}"));
        assert_eq!((reply.format(), reply.size()), (format, size), "{target}");
    }
}

#[test]
fn images_have_the_size_that_imagor_gives_them() {
    let house = house();
    for (target, size) in [
        ("300x200/a.jpg", (300, 200)),
        ("150x0/a.jpg", (150, 113)),
        ("fit-in/500x500/a.jpg", (400, 300)),
        ("fit-in/500x500/filters:upscale()/a.jpg", (500, 375)),
        ("stretch/120x30/a.jpg", (120, 30)),
    ] {
        let reply = image_reply(&house, &format!("/i/unsafe/{target}"));
        assert_eq!(reply.size(), size, "{target}");
    }
}

#[test]
fn imagor_makes_images_of_one_colour_without_a_source() {
    let house = house();
    for (target, format, size) in [
        ("20x10/color:red", "jpeg", (20, 10)),
        ("color:green", "jpeg", (1, 1)),
        ("30x0/filters:format(png)/color:ff000080", "png", (30, 30)),
        ("20x10/filters:format(webp)/color:none", "webp", (20, 10)),
    ] {
        let reply = image_reply(&house, &format!("/i/unsafe/{target}"));
        assert_eq!((reply.format(), reply.size()), (format, size), "{target}");
        let again = image_reply(&house, &format!("/i/unsafe/{target}"));
        assert_eq!(again.body, reply.body);
    }
    // A path that is called so is a path.
    assert_eq!(house.get("/unsafe/color:red").status, 404);
}

#[test]
fn imagor_says_what_a_url_says_without_a_source() {
    let reply = image_reply(&house(), "/i/params/unsafe/fit-in/300x200/missing.jpg");
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let said: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(
        (&said["width"], &said["image"]),
        (&300.into(), &"missing.jpg".into())
    );
}

#[test]
fn a_watermark_is_a_file_of_the_origins() {
    let house = house();
    let plain = image_reply(&house, "/unsafe/fit-in/200x200/filters:format(png)/a.jpg");
    for target in [
        "/unsafe/fit-in/200x200/filters:watermark(alpha.png,-10,center,20,50):format(png)/a.jpg",
        "/i/unsafe/fit-in/200x200/filters:watermark(alpha.png,repeat,bottom,0,30,30):format(png)/a.jpg",
    ] {
        let marked = image_reply(&house, target);
        assert_eq!(marked.size(), plain.size());
        assert_ne!(marked.body, plain.body, "{target}");
    }
    let missing = house.get("/unsafe/filters:watermark(missing.png,0,0,0)/a.jpg");
    assert_eq!(missing.status, 404);
    assert_eq!(
        house
            .get("/unsafe/filters:watermark(../../a,0,0,0)/a.jpg")
            .status,
        400
    );
}

#[test]
fn a_signature_opens_its_own_url_and_no_other() {
    let house = house();
    let sign = |rest: &str| base64::padded(&Digest::Sha1.sign(KEY.as_bytes(), &[rest.as_bytes()]));
    let right = sign("120x80/a.jpg");
    assert_eq!(
        image_reply(&house, &format!("/{right}/120x80/a.jpg")).size(),
        (120, 80)
    );
    let escaped = right.replace('=', "%3D");
    assert_eq!(house.get(&format!("/{escaped}/120x80/a.jpg")).status, 200);
    let other = house.get(&format!("/{right}/121x80/a.jpg"));
    assert_eq!((other.status, other.body.len()), (400, 0));
    // What is signed begins behind the first signature, and nothing else is cut out.
    let smuggled = format!("/{right}/120x80/{right}/a.jpg");
    assert_eq!(house.get(&smuggled).status, 400);
    assert_eq!(
        image_reply(&house, &format!("/i/{right}/120x80/a.jpg")).size(),
        (120, 80)
    );
    assert_eq!(house.get(&format!("/i/{right}/121x80/a.jpg")).status, 403);
}

#[test]
fn what_is_wrong_has_thumbors_status() {
    let house = house();
    house.put("text.jpg", b"no image");
    for (target, status) in [
        ("/unsafe/100x100/missing.jpg", 404),
        ("/unsafe/100x100/text.jpg", 400),
        ("/unsafe/10000000x10000000/a.jpg", 400),
        ("/100x100/a.jpg", 400),
        ("/i/unsafe/100x100/missing.jpg", 404),
        ("/i/unsafe/100x100/text.jpg", 406),
    ] {
        assert_eq!(house.get(target).status, status, "{target}");
    }
}

#[test]
fn meta_tells_what_would_be_made() {
    let house = house();
    let reply = image_reply(&house, "/unsafe/meta/fit-in/300x200/a.jpg");
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let meta: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    let target = &meta["thumbor"]["target"];
    assert_eq!(
        (&target["width"], &target["height"]),
        (&267.into(), &200.into())
    );
}
