//! The responses to valid requests.

use crate::common::{House, sample};

const SMALL: &str = "/small_light(dw=100,dh=100,q=80)/a.jpg";

#[test]
fn a_small_light_url_is_answered_with_the_image_it_asks_for() {
    let reply = House::new().get(SMALL);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), Some("image/jpeg"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert_eq!((reply.format(), reply.size()), ("jpeg", (100, 75)));
}

#[test]
fn the_content_type_is_that_of_the_format_asked_for() {
    let house = House::new();
    for (of, media_type) in [
        ("png", "image/png"),
        ("webp", "image/webp"),
        ("gif", "image/gif"),
        ("jpg", "image/jpeg"),
    ] {
        let reply = house.get(&format!("/small_light(dw=50,of={of})/a.jpg"));
        assert_eq!(reply.header("content-type"), Some(media_type), "{of}");
    }
}

#[test]
fn a_side_that_truncates_to_nothing_is_one_pixel() {
    let house = House::new();
    let thin = house
        .get("/small_light(dw=200,sw=200,sh=1,of=png,ds=s)/a.jpg")
        .body;
    house.put("thin.png", thin);
    let reply = house.get("/small_light(dw=100,dh=100)/thin.png");
    assert_eq!((reply.status, reply.size()), (200, (100, 1)));
    let refused = house.get("/small_light(dw=0)/thin.png");
    assert_eq!(refused.status, 400);
    assert!(
        refused.text().contains("0 px is too short"),
        "{}",
        refused.text()
    );
}

#[test]
fn the_content_type_is_the_true_one_whatever_the_name_says() {
    let house = House::new();
    house.put_sample("liar.png", "jpeg/420.jpg");
    for target in ["/liar.png", "/small_light(dw=50)/liar.png"] {
        let reply = house.get(target);
        assert_eq!(reply.header("content-type"), Some("image/jpeg"), "{target}");
    }
}

#[test]
fn in_strict_mode_the_name_decides_where_no_format_was_asked_for() {
    let house = House::with("[small_light]\ncompat = \"strict\"\n");
    house.put_sample("liar.png", "jpeg/420.jpg");
    let reply = house.get("/small_light(dw=50)/liar.png");
    assert_eq!(
        (reply.header("content-type"), reply.format()),
        (Some("image/png"), "jpeg")
    );
}

#[test]
fn head_equals_get_without_its_body() {
    let house = House::new();
    house.put("page.html", "<p>");
    for target in [SMALL, "/a.jpg", "/page.html", "/missing.jpg", "/healthz"] {
        let get = house.get(target);
        let mut client = house.client();
        let head = client.request("HEAD", target, &[]);
        let steady = |headers: &[(String, String)]| -> Vec<(String, String)> {
            let timed = ["date", "server-timing", "cache-status"];
            headers
                .iter()
                .filter(|(name, _)| !timed.contains(&name.as_str()))
                .cloned()
                .collect()
        };
        assert_eq!(head.status, get.status, "{target}");
        assert_eq!(steady(&head.headers), steady(&get.headers), "{target}");
        let length = get.body.len().to_string();
        assert_eq!(
            head.header("content-length"),
            Some(length.as_str()),
            "{target}"
        );
        // No byte of a body follows: the next reply begins at once.
        assert_eq!(client.get("/healthz").text(), "ok\n", "{target}");
    }
}

#[test]
fn a_plain_file_is_served_as_it_is() {
    let house = House::new();
    house.put("notes/b.txt", "hello");
    let reply = house.get("/notes/b.txt");
    assert_eq!((reply.status, reply.text().as_str()), (200, "hello"));
    assert_eq!(
        reply.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    let image = house.get("/a.jpg");
    assert_eq!(image.body, std::fs::read(sample("jpeg/420.jpg")).unwrap());
}

#[test]
fn what_calls_itself_an_image_and_is_none_is_refused() {
    let house = House::new();
    house.put("a.png", "<script>");
    assert_eq!(house.get("/a.png").status, 415);
}

#[test]
fn a_folder_is_answered_with_its_index() {
    let house = House::new();
    house.put("index.html", "root");
    house.put("a b/index.html", "below");
    assert_eq!(house.get("/").text(), "root");
    assert_eq!(house.get("/a%20b/").text(), "below");
    let moved = house.get("/a%20b");
    assert_eq!(
        (moved.status, moved.header("location")),
        (301, Some("./a%20b/"))
    );
    let moved = house.get("//a%20b");
    assert_eq!(moved.header("location"), Some("./a%20b/"));
    assert_eq!(house.get("//example.org/..").status, 400);
    assert_eq!(house.get("//example.org/../a%20b").status, 400);
    assert_eq!(house.get("//example.org").status, 404);
}

#[test]
fn names_are_decoded_exactly_once() {
    let house = House::new();
    house.put("a b.txt", "space");
    house.put("a%20b.txt", "percent");
    house.put("灯.txt", "lamp");
    assert_eq!(house.get("/a%20b.txt").text(), "space");
    assert_eq!(house.get("/a%2520b.txt").text(), "percent");
    assert_eq!(house.get("/%E7%81%AF.txt").text(), "lamp");
}

#[test]
fn pt_answers_with_the_originals_bytes() {
    let house = House::new();
    let reply = house.get("/small_light(dw=1000,dh=1000,pt=ptss)/a.jpg");
    assert_eq!(reply.body, std::fs::read(house.file("a.jpg")).unwrap());
}

#[test]
fn rewrites_bring_old_urls_into_the_dialect() {
    let house = House::with(
        "[[rewrite]]\nfrom = '^/resize/w/(\\d+)/h/(\\d+)/(.+)$'\nto = '/small_light(dw=$1,dh=$2)/$3'\n",
    );
    assert_eq!(house.get("/resize/w/40/h/40/a.jpg").size(), (40, 30));
}

#[test]
fn an_icon_comes_from_its_folder_and_changes_the_image() {
    let house = House::furnished("[small_light]\nmaterial_dir = \"icons\"\n", |folder| {
        std::fs::create_dir(folder.join("icons")).unwrap();
        std::fs::copy(sample("icons/lamp.png"), folder.join("icons/lamp.png")).unwrap();
    });
    let plain = house.get("/small_light(dw=100)/a.jpg");
    let with_icon = house.get("/small_light(dw=100,embedicon=lamp.png)/a.jpg");
    assert_eq!(with_icon.status, 200, "{}", with_icon.text());
    assert_ne!(plain.body, with_icon.body);
    assert_ne!(plain.header("etag"), with_icon.header("etag"));
    let missing = house.get("/small_light(dw=100,embedicon=moon.png)/a.jpg");
    assert_eq!(missing.status, 400);
    assert!(missing.text().contains("moon.png"), "{}", missing.text());
}

#[test]
fn server_timing_tells_where_the_time_went() {
    let reply = House::new().get(SMALL);
    let timing = reply.header("server-timing").unwrap();
    let stages: Vec<&str> = timing
        .split(", ")
        .map(|stage| stage.split(';').next().unwrap())
        .collect();
    assert_eq!(stages, ["fetch", "queue", "decode", "resize", "encode"]);
    for stage in timing.split(", ") {
        let millis = stage.split_once(";dur=").unwrap().1;
        assert!(millis.parse::<f64>().unwrap() >= 0.0, "{timing}");
    }
}

#[test]
fn the_plan_is_told_only_where_it_is_asked_for_in_the_configuration() {
    assert_eq!(House::new().get(SMALL).header("andon-plan"), None);
    let told = House::with("[debug]\nplan_header = true\n").get(SMALL);
    let plan = told.header("andon-plan").unwrap();
    assert!(
        plan.starts_with("decode jpeg") && plan.ends_with("encode jpeg q80"),
        "{plan}"
    );
}

#[test]
fn getparam_mode_reads_the_query() {
    let house = House::with("[small_light]\ngetparam_mode = true\n");
    assert_eq!(house.get("/a.jpg?dw=40&dh=40").size(), (40, 30));
}

#[test]
fn headers_that_are_no_part_of_the_key_change_nothing() {
    let house = House::new();
    let plain = house.get(SMALL);
    for header in [
        ("X-Forwarded-Host", "evil"),
        ("X-Forwarded-Proto", "gopher"),
        ("Accept", "image/avif,image/webp,*/*"),
        ("Cookie", "a=b"),
        ("X-Original-URL", "/other"),
    ] {
        let reply = house.request("GET", SMALL, &[header]);
        assert_eq!(
            (reply.status, &reply.body),
            (200, &plain.body),
            "{header:?}"
        );
        assert_eq!(reply.header("etag"), plain.header("etag"), "{header:?}");
    }
}
