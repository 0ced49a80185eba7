//! The cache: a result is made once, and no result is served that is outdated, broken or private to another client.

use crate::common::origin::Origin;
use crate::common::{House, Reply, figure, sample, trick_target, wait_for_followers};

const SMALL: &str = "/small_light(dw=20)/a.jpg";
const FAR: &str = "/small_light(dw=20)/far/a.jpg";
const TAGGED: &str = "ETag: \"1\"\r\n";
const TOKEN: &str = "a token of some length";

fn image_file() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

fn other_image() -> Vec<u8> {
    std::fs::read(sample("jpeg/444.jpg")).expect("a sample")
}

fn status(reply: &Reply) -> &str {
    assert!(reply.status < 400, "{}", reply.text());
    reply.header("cache-status").unwrap_or_default()
}

fn is_hit(reply: &Reply) -> bool {
    status(reply).starts_with("andon; hit")
}

fn is_made(reply: &Reply) -> bool {
    let timing = reply.header("server-timing").unwrap_or_default();
    timing.contains("decode;")
}

#[test]
fn a_hit_needs_no_origin_while_it_is_fresh() {
    let origin = Origin::start(image_file(), TAGGED);
    let house = House::with(&format!("{}[cache]\nsources = \"0\"\n", origin.keys()));
    for target in [FAR, "/far/a.jpg"] {
        let before = origin.asked();
        let first = house.get(target);
        assert_eq!(status(&first), "andon; fwd=uri-miss; stored", "{target}");
        origin.answers(500, "", Vec::new());
        let second = house.get(target);
        assert!(is_hit(&second), "{}", status(&second));
        assert_eq!(first.body, second.body);
        assert_eq!(first.header("etag"), second.header("etag"));
        assert_eq!(first.header("content-type"), second.header("content-type"));
        assert_eq!(origin.asked(), before + 1);
        origin.answers(200, TAGGED, image_file());
    }
}

#[test]
fn a_file_is_transformed_once_and_again_when_it_changes() {
    let house = House::with("[cache]\nfs_fresh = \"0s\"\n");
    assert!(is_made(&house.get(SMALL)));
    let second = house.get(SMALL);
    assert!(is_hit(&second) && !is_made(&second));
    house.put("a.jpg", other_image());
    assert!(is_made(&house.get(SMALL)));
    std::fs::remove_file(house.file("a.jpg")).expect("a file");
    assert_eq!(house.get(SMALL).status, 404);
}

#[test]
fn a_file_is_not_even_looked_at_while_it_is_fresh() {
    let house = House::with("[cache]\nfs_fresh = \"1h\"\n");
    let first = house.get(SMALL);
    std::fs::remove_file(house.file("a.jpg")).expect("a file");
    assert_eq!(house.get(SMALL).body, first.body);
}

#[test]
fn spellings_of_one_wish_share_one_entry_and_other_wishes_do_not() {
    let house = House::new();
    house.get("/small_light(dw=20,dh=30,q=80)/a.jpg");
    for same in [
        "/small_light(q=80,dh=30,dw=20)/a.jpg",
        "/small_light(dw=20,dh=30,q=80)/%61.jpg",
        "/small_light(dw=20.0,dh=30,q=80)/a.jpg",
    ] {
        assert!(is_hit(&house.get(same)), "{same}");
    }
    house.put("b.jpg", image_file());
    for other in [
        "/small_light(dw=20,dh=30,q=81)/a.jpg",
        "/small_light(dw=20,dh=30,q=80)/b.jpg",
    ] {
        assert!(!is_hit(&house.get(other)), "{other}");
    }
}

#[test]
fn four_hundred_equivalent_urls_cost_one_transform_and_one_entry() {
    let house = House::with("[cache]\nfs_fresh = \"1h\"\n");
    house.put("trip/a.jpg", image_file());
    let widths = ["20", "20.0", "020", "20.0001", "19.99999", "20."];
    let options = |width: &str| {
        [
            format!("small_light(dw={width},q=80)"),
            format!("small_light(q=80,dw={width})"),
            format!("small_light%28dw={width},q=80%29"),
            format!("small_light%28dw%3D{width}%2Cq%3D80%29"),
            format!("x/small_light(dw={width},,q=80.2,jpeghint=y)"),
        ]
    };
    let paths = [
        "trip/a.jpg",
        "/trip/a.jpg",
        "trip//a.jpg",
        "//trip/a.jpg",
        "trip///a.jpg",
        "%2Ftrip/a.jpg",
        "trip/%2Fa.jpg",
        "trip/%61.jpg",
        "%74rip/a%2Ejpg",
        "trip%2Fa.jpg",
        "trip%2F%2Fa.jpg",
        "trip/a%2ejpg",
        "trip/a.jpg?v=1",
        "trip/a.jpg?",
    ];
    let mut client = house.client();
    let mut spellings = 0;
    for width in widths {
        for options in options(width) {
            for path in paths {
                let reply = client.get(&format!("/{options}/{path}"));
                assert_eq!(reply.status, 200, "/{options}/{path}");
                assert_eq!(is_hit(&reply), spellings > 0, "/{options}/{path}");
                spellings += 1;
            }
        }
    }
    assert_eq!(spellings, 420);
    assert_eq!(figure(&house, "andon_cache_entries{tier=\"memory\"}"), 1.0);
}

#[test]
fn headers_that_are_no_part_of_the_key_change_no_byte() {
    let house = House::new();
    let first = house.get(SMALL);
    for header in [
        ("X-Forwarded-Host", "evil.test"),
        ("X-Forwarded-Proto", "gopher"),
        ("X-Original-URL", "/b.jpg"),
        ("Accept", "image/webp"),
        ("Cookie", "a=b"),
        ("Authorization", "Basic eA=="),
        ("Cache-Control", "no-cache"),
        ("Accept-Encoding", "gzip"),
    ] {
        let reply = house.request("GET", SMALL, &[header]);
        assert!(is_hit(&reply), "{header:?}");
        assert_eq!(reply.body, first.body, "{header:?}");
        assert_eq!(reply.header("vary"), None);
    }
}

#[test]
fn many_who_ask_at_once_share_one_fetch_and_one_transform() {
    let origin = Origin::start(image_file(), TAGGED);
    let house = House::with(&origin.keys());
    origin.hold(true);
    let mut clients: Vec<_> = (0..200).map(|_| house.client()).collect();
    for client in &mut clients {
        client.ask("GET", FAR, &[]);
    }
    // Those who come later than the release find it in the cache: one fetch either way.
    origin.hold(false);
    let replies: Vec<_> = clients.iter_mut().map(|c| c.reply("GET")).collect();
    assert!(replies.iter().all(|reply| reply.body == replies[0].body));
    assert_eq!(replies.iter().filter(|reply| is_made(reply)).count(), 1);
    assert_eq!(origin.asked(), 1);
}

#[test]
fn different_sizes_of_one_source_share_one_fetch() {
    let origin = Origin::start(image_file(), TAGGED);
    let house = House::with(&origin.keys());
    origin.hold(true);
    let mut clients: Vec<_> = (10..14)
        .map(|width| {
            let mut client = house.client();
            client.ask("GET", &format!("/small_light(dw={width})/far/a.jpg"), &[]);
            client
        })
        .collect();
    // A request that came after the release would fetch again, so all have to be waiting.
    wait_for_followers(&house, "fetch", clients.len() - 1);
    origin.hold(false);
    for (width, client) in (10..).zip(&mut clients) {
        assert_eq!(client.reply("GET").size().0, width);
    }
    assert_eq!(origin.asked(), 1);
}

#[test]
fn a_leader_that_leaves_hurts_nobody_who_followed() {
    let house = House::with("workers = 1\n");
    let gate = house.put_gate("wait.trick");
    let target = trick_target("wait.trick");
    let mut leader = house.client();
    leader.ask("GET", &target, &[]);
    gate.wait_until_begun();
    let mut follower = house.client();
    follower.ask("GET", &target, &[]);
    wait_for_followers(&house, "result", 1);
    drop(leader);
    while figure(&house, "andon_coalesced_requests{work=\"result\"}") > 0.0 {
        std::thread::yield_now();
    }
    gate.release();
    let reply = follower.reply("GET");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(status(&reply).ends_with("collapsed"), "{}", status(&reply));
}

#[test]
fn what_is_stale_is_served_while_it_is_renewed_once() {
    let origin = Origin::start(
        image_file(),
        "Cache-Control: max-age=0, stale-while-revalidate=60\r\n",
    );
    let house = House::with(&origin.keys());
    let first = house.get(FAR);
    origin.answers(200, "Cache-Control: max-age=60\r\n", other_image());
    let stale = house.get(FAR);
    assert!(status(&stale).contains("STALE"), "{}", status(&stale));
    assert_eq!(stale.body, first.body);
    while house.get(FAR).header("etag") == first.header("etag") {
        std::thread::yield_now();
    }
    assert_eq!(origin.asked(), 2);
}

#[test]
fn what_is_stale_is_served_when_the_origin_dies_and_only_if_that_is_allowed() {
    for (allowed, expected) in [("60", 200), ("0", 502)] {
        let headers = format!(
            "Cache-Control: max-age=0, stale-while-revalidate=0, stale-if-error={allowed}\r\n"
        );
        let origin = Origin::start(image_file(), &headers);
        let house = House::with(&origin.keys());
        let first = house.get(FAR);
        origin.answers(500, "", Vec::new());
        let reply = house.get(FAR);
        assert_eq!(reply.status, expected, "{}", reply.text());
        assert_eq!(reply.body == first.body, expected == 200);
    }
}

#[test]
fn an_origin_that_says_not_modified_saves_the_transform() {
    let headers = "ETag: \"1\"\r\nCache-Control: no-cache, stale-while-revalidate=0\r\n";
    let origin = Origin::start(image_file(), headers);
    let house = House::with(&origin.keys());
    let first = house.get(FAR);
    let second = house.get(FAR);
    assert_eq!(status(&second), "andon; fwd=stale; fwd-status=304; stored");
    assert_eq!(first.body, second.body);
    assert!(!is_made(&second));
    assert_eq!(origin.asked(), 2);
}

#[test]
fn what_is_missing_or_broken_is_remembered_and_trouble_is_not() {
    for (answer, body, expected, asked) in [
        (404, Vec::new(), 404, 1),
        (200, b"no image".to_vec(), 415, 1),
        (200, image_file()[..200].to_vec(), 415, 1),
        (500, Vec::new(), 502, 2),
    ] {
        let origin = Origin::start(Vec::new(), "");
        origin.answers(answer, "", body);
        let house = House::with(&format!("{}[cache]\nnegative = \"1m\"\n", origin.keys()));
        for _ in 0..2 {
            assert_eq!(house.get(FAR).status, expected);
        }
        assert_eq!(origin.asked(), asked, "{answer}");
    }
}

#[test]
fn what_an_origin_calls_private_is_kept_for_nobody() {
    let origin = Origin::start(image_file(), "Cache-Control: private, max-age=60\r\n");
    let house = House::with(&origin.keys());
    for asked in 1..3 {
        let reply = house.get(FAR);
        assert_eq!(status(&reply), "andon; fwd=uri-miss");
        assert_eq!(reply.header("cache-control"), Some("private, max-age=60"));
        assert_eq!(origin.asked(), asked);
    }
}

#[test]
fn cache_control_is_passed_on_or_overruled() {
    let origin = Origin::start(image_file(), "Cache-Control: max-age=1000\r\n");
    let house = House::with(&origin.keys());
    let passed = house.get(FAR);
    assert_eq!(passed.header("cache-control"), Some("max-age=1000"));
    let rule = "[[cache.rule]]\nprefix = \"/far\"\ncache_control = \"public, max-age=7\"\n";
    let house = House::with(&format!("{}{rule}", origin.keys()));
    let ruled = house.get(FAR);
    assert_eq!(ruled.header("cache-control"), Some("public, max-age=7"));
}

#[test]
fn a_purge_means_a_url_a_source_a_folder_or_a_tag_and_nothing_else() {
    let origin = Origin::start(image_file(), TAGGED);
    let house = House::with(&format!("{}[admin]\ntoken = \"{TOKEN}\"\n", origin.keys()));
    let targets = [
        "/small_light(dw=20,of=auto)/far/x/a.jpg",
        "/small_light(dw=30)/far/x/a.jpg",
        "/small_light(dw=20,of=png)/far/x/b.jpg",
        "/small_light(dw=20)/far/y.jpg",
    ];
    for (order, purged) in [
        (
            r#"{"url":"/small_light(of=auto,dw=20)/far/x/a.jpg"}"#,
            [true, false, false, false],
        ),
        (r#"{"source":"/far/x/a.jpg"}"#, [true, true, false, false]),
        (r#"{"prefix":"far/x/"}"#, [true, true, true, false]),
        (r#"{"tag":"type:image/png"}"#, [false, false, true, false]),
    ] {
        for target in targets {
            house.get(target);
            assert!(is_hit(&house.get(target)), "{target}");
        }
        let reply = order_purge(&house, &format!("Bearer {TOKEN}"), order);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let gone = targets.map(|target| !is_hit(&house.get(target)));
        assert_eq!(gone, purged, "{order}");
    }
}

#[test]
fn cdns_are_told_what_an_image_is_made_of_where_that_is_configured() {
    let house = House::with("[cache]\ntag_headers = [\"Cache-Tag\", \"Surrogate-Key\"]\n");
    for _ in 0..2 {
        // Made, and found.
        let reply = house.get(SMALL);
        let tags = reply.header("cache-tag").expect("tags");
        assert!(tags.starts_with("source:/a.jpg,prefix:/,url:"), "{tags}");
        assert!(tags.ends_with(",type:image/jpeg"), "{tags}");
        assert_eq!(
            reply.header("surrogate-key"),
            Some(&*tags.replace(',', " "))
        );
    }
    let plain = House::new().get(SMALL);
    assert_eq!(
        plain.header("cache-tag").or(plain.header("surrogate-key")),
        None
    );
}

#[test]
fn a_purge_takes_the_token_and_an_order_that_is_understood() {
    let house = House::with(&format!("[admin]\ntoken = \"{TOKEN}\"\n"));
    let bearer = format!("Bearer {TOKEN}");
    let good = r#"{"prefix":"/"}"#;
    assert_eq!(order_purge(&house, &bearer, good).status, 200);
    assert_eq!(order_purge(&house, "Bearer guess", good).status, 401);
    for wrong in [
        "",
        "{}",
        r#"{"everything":1}"#,
        r#"{"url":"/","source":"/"}"#,
    ] {
        assert_eq!(order_purge(&house, &bearer, wrong).status, 400, "{wrong}");
    }
    for (order, part) in [
        (r#"{"tag":"typ:image/webp"}"#, "did you mean `type`?"),
        (r#"{"tag":"type:webp"}"#, "names no media type"),
        (r#"{"tag":"overlay:"}"#, "names no image"),
        (r#"{"tag":"star.png"}"#, "overlay:star.png"),
        (r#"{"source":"http://a.test/b.jpg"}"#, "the path alone"),
        (r#"{"url":"http://a.test/b.jpg"}"#, "the path alone"),
    ] {
        let reply = order_purge(&house, &bearer, order);
        assert_eq!(reply.status, 400, "{order}");
        assert!(reply.text().contains(part), "{order}: {}", reply.text());
    }
    let get = house.get("/_andon/purge");
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    let disabled = order_purge(&House::new(), &bearer, good);
    assert_eq!(disabled.status, 403);
    assert!(disabled.text().contains("[admin]"), "{}", disabled.text());
}

fn order_purge(house: &House, authorization: &str, order: &str) -> Reply {
    let mut client = house.client();
    client.send(format!(
        "POST /_andon/purge HTTP/1.1\r\nHost: test\r\nAuthorization: {authorization}\r\nContent-Length: {}\r\n\r\n{order}",
        order.len()
    ));
    client.reply("POST")
}

#[test]
fn a_restart_finds_what_was_kept_on_disk() {
    let origin = Origin::start(
        image_file(),
        "ETag: \"1\"\r\nCache-Control: max-age=1000\r\n",
    );
    let folder = tempfile::tempdir().expect("a folder");
    let keys = format!(
        "{}[cache]\nmemory = \"0\"\ndisk = {{ path = {:?}, size = \"10MiB\" }}\n",
        origin.keys(),
        folder.path()
    );
    let mut house = House::with(&keys);
    let first = house.get(FAR);
    house.begin_to_stop();
    house.wait_until_stopped();
    let again = House::with(&keys).get(FAR);
    assert!(is_hit(&again), "{}", status(&again));
    assert_eq!(again.body, first.body);
    assert_eq!(origin.asked(), 1);
}
