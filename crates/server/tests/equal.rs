//! Requests that come to the same whole pixels share one result, in whichever dialect and spelling they come, and
//! on whichever machine.

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use crate::common::origin::Origin;
use crate::common::{House, Reply, figure, sample};

const EQUAL: [&str; 6] = [
    "small_light(dw=20,q=80)/{}",
    "small_light(q=80,dw=20.0,dh=40,da=l)/{}",
    "small_light(dw=5p,q=80)/{}",
    "r/fit:20x20,q:80/{}",
    "r/q:80,exact:20x15,as:jpeg//{}",
    "r/dpr:2,fit:10x10,q:80/{}",
];

fn targets(source: &str) -> impl Iterator<Item = String> {
    EQUAL
        .map(|target| format!("/{}", target.replace("{}", source)))
        .into_iter()
}

fn is_hit(reply: &Reply) -> bool {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let status = reply.header("cache-status").unwrap_or_default();
    status.starts_with("andon; hit")
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(sample(name)).expect("a sample")
}

#[test]
fn equal_requests_cost_one_transform_one_fetch_and_one_entry() {
    let origin = Origin::start(read("jpeg/420.jpg"), "Cache-Control: max-age=1000\r\n");
    let house = House::with(&format!("[cache]\nfs_fresh = \"1h\"\n{}", origin.keys()));
    for (source, entries) in [("a.jpg", 1.0), ("far/a.jpg", 2.0)] {
        let replies: Vec<_> = targets(source).map(|target| house.get(&target)).collect();
        for (place, reply) in replies.iter().enumerate() {
            assert_eq!(is_hit(reply), place > 0, "{} of {source}", EQUAL[place]);
            assert_eq!(reply.header("etag"), replies[0].header("etag"));
            assert_eq!(reply.body, replies[0].body);
        }
        let kept = figure(&house, "andon_cache_entries{tier=\"memory\"}");
        assert_eq!(kept, entries, "{source}");
    }
    assert_eq!(origin.asked(), 1);
}

const EVERY_DIALECT: &str = r#"
    cache.fs_fresh = "1h"
    iiif = { prefix = "/iiif/3", prefix2 = "/iiif/2" }
    image_filter.prefix = "/nginx"
    weserv.prefix = "/weserv"
    ipx.prefix = "/_ipx"
    astro.prefix = "/_image"
    imgix.prefix = "/imgix"
    cloudflare.prefix = "/cdn-cgi/image"
    imgproxy.prefix = "/imgproxy"
    thumbor.prefix = "/thumbor"
    imagor = { prefix = "/imagor", allow_unsafe = true }
"#;

/// Asserts that all targets get the same result, which the first one makes.
fn assert_equal(house: &House, targets: &[&str]) {
    let replies: Vec<_> = targets
        .iter()
        .map(|target| house.get(&target.replace("{}", "a.jpg")))
        .collect();
    for (reply, target) in replies.iter().zip(targets) {
        assert_eq!(is_hit(reply), *target != targets[0], "{target}");
        assert_eq!(reply.header("etag"), replies[0].header("etag"), "{target}");
        assert!(reply.body == replies[0].body, "{target}");
    }
}

#[test]
fn equal_requests_in_every_dialect_cost_one_transform_and_one_entry_each() {
    let house = House::with(EVERY_DIALECT);
    let groups: Vec<&str> = include_str!("../../dialects/src/equal.txt")
        .split("\n\n")
        .collect();
    assert_eq!(groups.len(), 22);
    for group in &groups {
        assert_equal(&house, &group.lines().collect::<Vec<_>>());
    }
    assert_eq!(figure(&house, "andon_cache_entries{tier=\"memory\"}"), 22.0);
    let admitted = |outcome: &str| {
        figure(
            &house,
            &format!("andon_admission_total{{outcome=\"{outcome}\"}}"),
        )
    };
    assert_eq!(admitted("done"), 22.0);
}

#[test]
fn crops_around_what_draws_the_eye_are_one_result_in_every_dialect() {
    let house = House::with(EVERY_DIALECT);
    assert_equal(
        &house,
        &[
            "/r/focus:smart,cover:60x100,q:80/{}",
            "/imgproxy/_/rs:fill:60:100/g:sm/q:80/plain/local:///{}",
            "/imagor/unsafe/60x100/smart/filters:quality(80)/{}",
            "/weserv/?url={}&w=60&h=100&fit=cover&a=attention&q=80",
            "/weserv/?url={}&w=60&h=100&fit=cover&a=entropy&q=80",
            "/imgix/{}?w=60&h=100&fit=crop&crop=entropy&q=80",
            "/cdn-cgi/image/w=60,h=100,fit=cover,gravity=auto,q=80/{}",
        ],
    );
    // thumbor crops before it scales.
    assert_equal(
        &house,
        &[
            "/r/focus:smart,crop:180x300,exact:60x100,q:80/{}",
            "/thumbor/unsafe/60x100/smart/filters:quality(80)/{}",
            "/imgproxy/_/c:180:300:sm/w:60/q:80/plain/local:///{}",
        ],
    );
    assert_eq!(figure(&house, "andon_cache_entries{tier=\"memory\"}"), 2.0);
    // The middle is another part.
    let centred = house.get("/r/cover:60x100,q:80/a.jpg");
    let smart = house.get("/r/focus:smart,cover:60x100,q:80/a.jpg");
    assert!(centred.body != smart.body);
}

#[test]
fn the_first_frame_of_a_still_image_is_the_image_itself() {
    let house = House::with(EVERY_DIALECT);
    house.put("a.jpg", read("png/rgb.png"));
    assert_equal(
        &house,
        &[
            "/r/fit:20x,metadata:none/{}",
            "/r/frame:1,fit:20x,metadata:none/{}",
            "/imgproxy/_/w:20/kcr:0/plain/local:///{}",
            "/thumbor/unsafe/20x/{}",
            "/weserv/?url={}&w=20",
        ],
    );
}

#[test]
fn a_source_that_changes_its_size_is_not_answered_from_the_old_result() {
    let large = "ETag: \"1\"\r\nCache-Control: no-cache, stale-while-revalidate=0\r\n";
    let origin = Origin::start(Vec::new(), "");
    let house = House::with(&format!("[cache]\nfs_fresh = \"0s\"\n{}", origin.keys()));
    let small = "ETag: \"2\"\r\nCache-Control: no-cache, stale-while-revalidate=0\r\n";
    for target in ["/r/fit:100x100/a.jpg", "/r/fit:100x100/far/a.jpg"] {
        house.put("a.jpg", read("jpeg/420.jpg"));
        origin.answers(200, large, read("jpeg/420.jpg"));
        let first = house.get(target);
        assert_eq!(first.size(), (100, 75), "{target}");
        house.put("a.jpg", read("jpeg/33x17.jpg"));
        origin.answers(200, small, read("jpeg/33x17.jpg"));
        let second = house.get(target);
        assert_eq!(second.size(), (33, 17), "{target}");
        assert_ne!(first.header("etag"), second.header("etag"));
        // And back: it comes to the same pixels as at first.
        house.put("a.jpg", read("jpeg/444.jpg"));
        let third = "ETag: \"3\"\r\nCache-Control: no-cache, stale-while-revalidate=0\r\n";
        origin.answers(200, third, read("jpeg/444.jpg"));
        let third = house.get(target);
        assert_eq!(third.size(), (100, 75), "{target}");
        assert!(third.body != first.body, "{target}");
    }
}

#[test]
fn a_file_that_is_not_known_yet_is_admitted_and_read_once() {
    let house = House::new();
    for target in targets("a.jpg") {
        house.get(&target);
    }
    let admissions = |outcome: &str| {
        let name = format!("andon_admission_total{{outcome=\"{outcome}\"}}");
        figure(&house, &name)
    };
    assert_eq!((admissions("admitted"), admissions("done")), (1.0, 1.0));
    let read = "andon_origin_fetches_total{origin=\"/\",result=\"ok\"}";
    assert_eq!(figure(&house, read), 1.0);
}

#[test]
fn machines_with_copies_of_one_file_give_one_tag() {
    let moment = UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789);
    let machine = || {
        let house = House::new();
        let path = house.put("b.jpg", read("jpeg/444.jpg"));
        let file = File::options().write(true).open(path).expect("the copy");
        file.set_modified(moment).expect("a date");
        house
    };
    let (one, other) = (machine(), machine());
    for target in targets("b.jpg").chain(["/b.jpg".to_owned(), "/r/as:json/b.jpg".to_owned()]) {
        let reply = one.get(&target);
        let tag = reply.header("etag").expect("a tag");
        assert_eq!(other.get(&target).header("etag"), Some(tag), "{target}");
        let again = other.request("GET", &target, &[("If-None-Match", tag)]);
        assert_eq!(again.status, 304, "{target}");
    }
}

#[test]
fn a_condition_on_a_file_that_is_not_known_yet_is_answered_without_decoding_it() {
    let house = House::with("[cache]\nmemory = \"0\"\n");
    let target = "/small_light(dw=20)/a.jpg";
    let tag = House::new();
    std::fs::copy(house.file("a.jpg"), tag.file("a.jpg")).expect("a copy");
    let modified = std::fs::metadata(house.file("a.jpg")).and_then(|file| file.modified());
    let file = File::options().write(true).open(tag.file("a.jpg"));
    let file = file.expect("the copy");
    file.set_modified(modified.expect("a date"))
        .expect("a date");
    let reply = tag.get(target);
    let tag = reply.header("etag").expect("a tag");
    let same = house.request("GET", target, &[("If-None-Match", tag)]);
    assert_eq!(same.status, 304);
    assert_eq!(figure(&house, "andon_decodes_total"), 0.0);
}

#[test]
fn purging_one_spelling_purges_all_and_no_other_result() {
    let token = "a token of some length";
    let origin = Origin::start(read("jpeg/420.jpg"), "Cache-Control: max-age=1000\r\n");
    let keys = format!("{}[admin]\ntoken = \"{token}\"\n", origin.keys());
    let house = House::with(&keys);
    let purge = |url: &str| {
        let order = format!("{{\"url\":\"{url}\"}}");
        let mut client = house.client();
        client.send(format!(
            "POST /_andon/purge HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{order}",
            order.len()
        ));
        assert_eq!(client.reply("POST").status, 200);
    };
    let other = "/r/fit:30x30,q:80/far/a.jpg";
    for url in targets("far/a.jpg") {
        house.get(other);
        for target in targets("far/a.jpg") {
            house.get(&target);
        }
        purge(&url);
        let first = targets("far/a.jpg").next().expect("a target");
        assert!(!is_hit(&house.get(&first)), "{url}");
        assert!(is_hit(&house.get(other)), "{url}");
    }
}

#[test]
fn after_a_restart_or_a_reload_another_spelling_needs_no_origin() {
    let origin = Origin::start(read("jpeg/420.jpg"), "Cache-Control: max-age=1000\r\n");
    let folder = tempfile::tempdir().expect("a folder");
    let keys = format!(
        "{}[cache]\ndisk = {{ path = {:?}, size = \"10MiB\" }}\n",
        origin.keys(),
        folder.path()
    );
    let mut house = House::with(&keys);
    let mut targets = targets("far/a.jpg");
    let mut next = || targets.next().expect("a target");
    let first = house.get(&next());
    house.begin_to_stop();
    house.wait_until_stopped();
    let house = House::with(&keys);
    for _ in 0..2 {
        let again = house.get(&next());
        assert!(is_hit(&again));
        assert_eq!(again.body, first.body);
    }
    assert_eq!(origin.asked(), 1);
}
