//! Every error is one plain sentence with the right status.

use crate::common::{House, Reply, sample, trick_target};

/// Asserts that a reply is one line of plain text without an `ETag`, to be cached for 5 s at most. `what` describes the
/// request in failure messages.
fn assert_is_one_sentence(reply: &Reply, what: &str) {
    let text = reply.text();
    assert_eq!(text.matches('\n').count(), 1, "{what}: {text}");
    assert!(text.len() > 15, "{what}: {text}");
    assert_eq!(
        reply.header("content-type"),
        Some("text/plain; charset=utf-8"),
        "{what}"
    );
    assert_eq!(
        reply.header("x-content-type-options"),
        Some("nosniff"),
        "{what}"
    );
    let cache = reply.header("cache-control");
    assert!(
        matches!(cache, Some("no-store" | "max-age=5")),
        "{what}: {cache:?}"
    );
    assert_eq!(reply.header("etag"), None, "{what}");
}

#[test]
fn a_missing_file_is_404() {
    let house = House::new();
    for target in [
        "/missing.jpg",
        "/small_light(dw=10)/missing.jpg",
        "/a.jpg/b",
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, 404, "{target}");
        assert_is_one_sentence(&reply, target);
    }
    assert!(house.get("/missing.jpg").text().contains("/missing.jpg"));
}

#[test]
fn pages_where_only_images_are_served_are_404_with_the_key_that_serves_them() {
    const KEY: &str = "`fs.files = \"all\"` of an [[origin]]";
    let keys = "[[origin]]\nprefix = \"/in\"\nfs.root = \"root\"\n";
    let house = House::configured(keys);
    house.put("page.html", "<p>a page</p>");
    house.put("a.jpg", "no image");
    // Whether there is such a file is not told.
    for (target, is_told) in [
        ("/in/page.html", true),
        ("/in/none/other.CSS", true),
        ("/in/none/", true),
        ("/in/a.jpg", false),
        ("/in/none", false),
        ("/small_light(dw=10)/in/none.html", false),
        // This origin serves every file.
        ("/none.html", false),
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, 404, "{target}");
        assert_eq!(
            reply.text().contains(KEY),
            is_told,
            "{target}: {}",
            reply.text()
        );
    }
}

#[test]
fn what_is_no_image_or_a_broken_one_is_415() {
    let house = House::new();
    for name in [
        "corrupt.png",
        "empty.jpg",
        "text.jpg",
        "truncated.png",
        "truncated.jpg",
        "truncated-header.jpg",
        "truncated-progressive.jpg",
        "truncated.gif",
        "truncated.webp",
    ] {
        house.put_sample(name, &format!("broken/{name}"));
        let target = format!("/small_light(dw=100,dh=100)/{name}");
        let reply = house.get(&target);
        assert_eq!(reply.status, 415, "{target}: {}", reply.text());
        assert_is_one_sentence(&reply, &target);
    }
}

#[test]
fn what_is_too_large_is_422_and_the_limit_is_named() {
    let house = House::with("[limits]\nsource_bytes = \"100KB\"\n");
    for name in ["bomb.jpg", "bomb.png", "bomb.gif"] {
        house.put_sample(name, &format!("broken/{name}"));
    }
    house.put("large.jpg", vec![0xff; 100_001]);
    for (target, limit) in [
        ("/small_light(dw=100)/bomb.jpg", "32768"),
        ("/small_light(dw=100)/bomb.png", "32768"),
        ("/small_light(dw=100)/bomb.gif", "32768"),
        ("/small_light(dw=60000,ds=s)/a.jpg", "16384"),
        (
            "/small_light(dw=100)/large.jpg",
            "source_bytes 100001 is over the limit of 100000",
        ),
        (
            "/large.jpg",
            "source_bytes 100001 is over the limit of 100000",
        ),
    ] {
        let reply = house.get(target);
        assert_eq!(reply.status, 422, "{target}: {}", reply.text());
        assert!(reply.text().contains(limit), "{target}: {}", reply.text());
        assert_is_one_sentence(&reply, target);
    }
}

#[test]
fn in_strict_mode_every_error_of_an_image_is_415_and_a_files_is_not() {
    let house = House::with("[small_light]\ncompat = \"strict\"\nmaterial_dir = \"root\"\n");
    for target in [
        "/small_light(dw=10)/missing.jpg",
        "/small_light(dw=60000,ds=s)/a.jpg",
        "/small_light(cw=0.5,ch=10)/a.jpg",
        "/small_light(dw=50,sw=64,sh=0.5)/a.jpg",
        "/small_light(embedicon=..)/a.jpg",
        "/small_light(dw=10)/",
        "/small_light(dw=10)/%zz.jpg",
    ] {
        assert_eq!(house.get(target).status, 415, "{target}");
    }
    assert_eq!(house.get("/missing.jpg").status, 404);
    assert_eq!(house.get("/%zz.jpg").status, 400);
}

#[test]
fn our_own_fault_is_not_kept_even_where_strict_mode_calls_it_415() {
    let house = House::with("[small_light]\ncompat = \"strict\"\n");
    house.put("panic.trick", "TRICK panic");
    let reply = house.get(&trick_target("panic.trick"));
    assert_eq!(reply.status, 415);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
}

#[test]
fn other_methods_are_405_and_told_what_would_do() {
    let house = House::new();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"] {
        let reply = house.request(method, "/a.jpg", &[("Content-Length", "0")]);
        assert_eq!(
            (reply.status, reply.header("allow")),
            (405, Some("GET, HEAD")),
            "{method}"
        );
        assert_is_one_sentence(&reply, method);
    }
}

#[test]
fn a_long_target_is_414_and_long_headers_are_431() {
    let house = House::new();
    let reply = house.get(&format!("/{}", "x".repeat(17 << 10)));
    assert_eq!(reply.status, 414);
    assert_is_one_sentence(&reply, "a long target");

    let mut many = house.client();
    many.send("GET /healthz HTTP/1.1\r\nHost: test\r\n");
    for number in 0..200 {
        many.send(format!("X-{number}: y\r\n"));
    }
    many.send("\r\n");
    assert_eq!(many.reply("GET").status, 431);

    let mut long = house.client();
    long.send(format!(
        "GET /healthz HTTP/1.1\r\nX: {}\r\n\r\n",
        "y".repeat(65 << 10)
    ));
    assert_eq!(long.reply("GET").status, 431);
    assert_eq!(house.get("/healthz").status, 200);
}

#[test]
fn what_is_no_http_is_400_and_the_connection_closes() {
    let house = House::new();
    for nonsense in [
        "hello\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : test\r\n\r\n",
        "GET / HTTP/1.1\r\n folded: test\r\n\r\n",
    ] {
        let mut client = house.client();
        client.send(nonsense);
        let answer = String::from_utf8_lossy(&client.rest()).into_owned();
        assert!(answer.starts_with("HTTP/1.1 400"), "{nonsense:?}: {answer}");
    }
}

#[test]
fn a_request_without_its_one_host_is_400() {
    let house = House::new();
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost: \r\n", 200),
        ("GET /healthz HTTP/1.0\r\n", 200),
        ("GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n", 400),
    ] {
        let mut client = house.client();
        client.send(format!("{head}\r\n"));
        let reply = client.reply("GET");
        assert_eq!(reply.status, status, "{head:?}");
        if status == 400 {
            assert_is_one_sentence(&reply, head);
        }
    }
}

#[test]
fn a_folder_without_an_index_says_so() {
    let house = House::new();
    house.put("folder/b.jpg", "");
    let reply = house.get("/folder/");
    assert_eq!(reply.text(), "there is no file /folder/index.html\n");
}

#[test]
fn a_broken_escape_is_400_and_named() {
    let reply = House::new().get("/a%zz.jpg");
    assert_eq!(reply.status, 400);
    assert_is_one_sentence(&reply, "a broken escape");
}

#[test]
fn a_panic_is_500_and_the_next_request_is_served() {
    let house = House::with("workers = 1\n");
    house.put("panic.trick", "TRICK panic");
    for _ in 0..3 {
        let reply = house.get(&trick_target("panic.trick"));
        assert_eq!(reply.status, 500);
        assert_is_one_sentence(&reply, "a panic");
        assert_eq!(house.get("/small_light(dw=10)/a.jpg").status, 200);
    }
}

#[test]
fn every_cut_of_an_image_is_answered() {
    let house = House::new();
    let image = std::fs::read(sample("jpeg/9x9.jpg")).unwrap();
    let mut client = house.client();
    for length in (0..image.len()).step_by(7) {
        house.put("cut.jpg", &image[..length]);
        let reply = client.get("/small_light(dw=4)/cut.jpg");
        assert!(
            matches!(reply.status, 200 | 415),
            "{length}: {}",
            reply.status
        );
    }
}
