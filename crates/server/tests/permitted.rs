//! `[permitted]` over a socket: what unsigned URLs and uploads may ask for.

use andon_dialects::signing::Signature;

use crate::common::{House, sample};

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn house(lists: &str) -> House {
    House::configured(&format!(
        "[permitted]\n{lists}\n[signing]\nkeys = [\"{KEY}\"]\n[native]\nopen = true\n[small_light]\nopen = true\n\
         [imgix]\nprefix = \"/imgix\"\nopen = true\n[iiif]\nprefix = \"/iiif/3\"\nopen = true\n\
         [upload]\nallow = \"all\"\n"
    ))
}

fn signed(scope: usize, target: &str) -> String {
    let signature = Signature {
        scope,
        ..Signature::default()
    };
    signature.of(KEY.as_bytes(), target).unwrap()
}

#[test]
fn an_unlisted_size_is_a_400_with_the_lists_before_and_after_its_result_is_cached() {
    let house = house("widths = [100, 50]\nqualities = [80]");
    let target = "/r/fit:90x/a.jpg";
    let refuse = || {
        let reply = house.get(target);
        assert_eq!(reply.status, 400, "{}", reply.text());
        let text = reply.text();
        assert!(text.contains("widths 50, 100 (px)"), "{text}");
    };
    refuse();
    let opened = house.get(&signed(0, target));
    assert_eq!((opened.status, opened.size().0), (200, 90));
    refuse();
    assert_eq!(house.get("/r/fit:100x,q:80/a.jpg").size().0, 100);
    let reply = house.get("/r/fit:100x,q:81/a.jpg");
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("`quality 81`"), "{}", reply.text());
}

#[test]
fn what_the_lists_refuse_is_counted_apart_from_other_mistakes() {
    let house = House::with("[permitted]\nwidths = [100]\n");
    for target in [
        "/r/fit:90x/a.jpg",
        "/r/fit:100x,blur:3/a.jpg",
        "/r/crop:9999:9999:5x5/a.jpg",
    ] {
        assert_eq!(house.get(target).status, 400, "{target}");
    }
    let counted = "andon_errors_total{cause=\"not_permitted\",fault=\"client\"} 2\n";
    let metrics = house.get("/metrics").text();
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn a_result_whose_size_is_measured_is_refused_although_a_signed_url_has_made_it() {
    let house = house("widths = [100]");
    house.put_sample("b.png", "png/offset.png");
    let target = "/r/trim:10,fit:30x/b.png";
    assert_eq!(house.get(target).status, 400);
    assert_eq!(house.get(&signed(0, target)).status, 200);
    assert_eq!(house.get(target).status, 400);
    assert_eq!(house.get(&signed(0, target)).status, 200);
}

#[test]
fn a_signature_for_the_beginning_of_a_url_does_not_cover_a_size_after_it() {
    let house = house("widths = [100]");
    let scoped = signed(2, "/imgix/a.jpg");
    assert_eq!(
        house.get(&format!("{scoped}?w=100")).status,
        200,
        "{scoped}"
    );
    assert_eq!(house.get(&format!("{scoped}?w=90")).status, 400, "{scoped}");
    assert_eq!(house.get(&signed(0, "/imgix/a.jpg?w=90")).status, 200);
}

#[test]
fn signed_urls_are_held_to_the_lists_if_the_configuration_says_so() {
    let house = house("widths = [100]\nsigned = true");
    assert_eq!(house.get(&signed(0, "/r/fit:90x/a.jpg")).status, 400);
    assert_eq!(house.get(&signed(0, "/r/fit:100x/a.jpg")).status, 200);
}

#[test]
fn uploads_are_held_to_the_lists() {
    let house = house("widths = [100]");
    let photo = std::fs::read(sample("jpeg/420.jpg")).expect("a sample");
    for (query, status) in [
        ("recipe=fit:100x", 200),
        ("recipe=fit:99x", 400),
        ("recipe=fit:100x,blur:2", 400),
        ("small_light=dw=100", 200),
        ("small_light=dw=99", 400),
    ] {
        let mut client = house.client();
        let length = photo.len().to_string();
        let target = format!("/_andon/render?{query}");
        client.ask("POST", &target, &[("Content-Length", &length)]);
        client.send(&photo);
        let reply = client.reply("POST");
        assert_eq!(reply.status, status, "{query}: {}", reply.text());
    }
}

#[test]
fn a_crop_around_what_draws_the_eye_is_permitted_wherever_it_lies() {
    let house = house("widths = [40]\nheights = [30, 40]");
    let reply = house.get("/r/focus:smart,cover:40x40/a.jpg");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.size(), (40, 40));
    // Between the side and the middle.
    let target = "/r/focus:45%25:50%25,cover:40x40/a.jpg";
    assert_eq!(house.get(target).status, 400);
    assert_eq!(
        house.get("/a.jpg").status,
        403,
        "[files] is closed by the key"
    );
}
