//! The playground's files and what they ask of the server. ./dev browser-tests uses them in a browser.

use crate::common::{House, Reply, sample};
use andon_server::Config;
use serde_json::Value;

const OPEN: &str = "[play]\nallow = \"local\"\n";
const TOKEN: &str = "a token of some length";

/// One request as a browser of this machine sends it, with these headers beside.
fn ask(house: &House, method: &str, target: &str, headers: &[&str], body: &[u8]) -> Reply {
    let mut client = house.client();
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    client.send(format!(
        "{method} {target} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {}\r\n\r\n",
        house.address(),
        body.len()
    ));
    client.send(body);
    client.reply(method)
}

fn get(house: &House, target: &str) -> Reply {
    ask(house, "GET", target, &[], b"")
}

fn json(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text());
    serde_json::from_slice(&reply.body).expect("JSON")
}

#[test]
fn it_is_off_unless_it_is_switched_on() {
    let house = House::new();
    for path in ["/_andon/play", "/_andon/play/words"] {
        assert_eq!(get(&house, path).status, 404, "{path}");
    }
}

#[test]
fn every_file_of_the_page_is_served_with_its_type_a_tag_and_a_policy() {
    let house = House::with(OPEN);
    let page = get(&house, "/_andon/play");
    let text = page.text();
    let named = text
        .split('"')
        .filter_map(|part| part.strip_prefix("/_andon/play/"));
    let mut names: Vec<String> = named.map(str::to_owned).collect();
    for script in ["play.js", "formats.js", "marks.js"] {
        let text = get(&house, &format!("/_andon/play/{script}")).text();
        let modules = text.split('"').filter_map(|part| part.strip_prefix("./"));
        names.extend(modules.map(str::to_owned));
    }
    assert!(names.len() >= 7, "{names:?}");
    names.push(String::new());
    for name in names {
        let target = format!("/_andon/play/{name}");
        let file = get(&house, &target);
        assert_eq!(file.status, 200, "{target}");
        let policy = file.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'self'"), "{policy}");
        let kind = match name.rsplit('.').next() {
            Some("js") => "text/javascript",
            Some("css") => "text/css",
            Some("svg") => "image/svg+xml",
            _ => "text/html",
        };
        assert!(
            file.header("content-type").unwrap().starts_with(kind),
            "{target}"
        );
        let tag = format!("If-None-Match: {}", file.header("etag").unwrap());
        assert_eq!(
            ask(&house, "GET", &target, &[&tag], b"").status,
            304,
            "{target}"
        );
    }
    for inline in ["<style", "style=", "onclick=", "<script>"] {
        assert!(!text.contains(inline), "{inline}");
    }
}

#[test]
fn only_pages_of_its_own_in_browsers_of_this_machine_are_answered_without_the_token() {
    let house = House::with(&format!("{OPEN}[admin]\ntoken = \"{TOKEN}\"\n"));
    let words = "/_andon/play/words";
    let status = |headers: &[&str]| ask(&house, "GET", words, headers, b"").status;
    let token = format!("Authorization: Bearer {TOKEN}");
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&["Sec-Fetch-Site: same-origin"]), 200);
    for site in ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"] {
        assert_eq!(status(&[site, &token]), 403, "{site}");
    }
    for proxied in [
        "X-Forwarded-For: 127.0.0.1",
        "Via: 1.1 proxy",
        "Forwarded: for=127.0.0.1",
    ] {
        assert_eq!(status(&[proxied]), 404, "{proxied}");
        assert_eq!(status(&[proxied, &token]), 200, "{proxied}");
        assert_eq!(status(&[proxied, "Authorization: Bearer x"]), 404);
    }
    // A name of another site that was made to lead here.
    let rebound = |more: &str| {
        let mut client = house.client();
        client.send(format!(
            "GET {words} HTTP/1.1\r\nHost: other.example\r\n{more}\r\n"
        ));
        client.reply("GET").status
    };
    assert_eq!(rebound(""), 404);
    assert_eq!(rebound(&format!("{token}\r\n")), 200);
    // Where everybody may open the page, it asks for the token.
    let house = House::configured(&format!(
        "[play]\nallow = \"all\"\n[admin]\ntoken = \"{TOKEN}\"\n"
    ));
    assert_eq!(get(&house, "/_andon/play").status, 200);
    assert_eq!(get(&house, words).status, 401);
    assert_eq!(ask(&house, "GET", words, &[&token], b"").status, 200);
}

#[test]
fn opening_it_to_everybody_takes_a_token() {
    let check = |text: &str| {
        let config = Config::parse(text, "".as_ref()).unwrap();
        andon_server::check(&config, andon_codecs::ALL)
    };
    let open = "[play]\nallow = \"all\"\n";
    let error = check(open).unwrap_err().to_string();
    assert!(
        error.contains("play.allow") && error.contains("admin.token_env"),
        "{error}"
    );
    check(&format!("{open}[admin]\ntoken = \"{TOKEN}\"\n")).unwrap();
}

#[test]
fn what_it_renders_has_the_bytes_of_the_url_that_it_tells() {
    let house = House::with(OPEN);
    let source = std::fs::read(sample("jpeg/420.jpg")).unwrap();
    let recipe = "fit:100x100,as:webp,q:70";
    let query = format!("?recipe={recipe}&source=/a.jpg");
    let plan = json(&get(&house, &format!("/_andon/play/plan{query}")));
    let url = plan["url"].as_str().unwrap();
    assert_eq!(url, "/r/fit:100x100,as:webp,q:70/a.jpg");
    let result = house.get(url);
    let made = get(&house, &format!("/_andon/play/render{query}"));
    let posted = ask(
        &house,
        "POST",
        &format!("/_andon/play/render{query}"),
        &[],
        &source,
    );
    assert_eq!(
        (made.status, posted.status),
        (200, 200),
        "{}",
        posted.text()
    );
    assert!(made.body == result.body && posted.body == result.body);
    assert!(
        made.header("server-timing")
            .unwrap()
            .contains("encode;dur=")
    );
    assert_eq!(plan["plan"]["result"]["width"], 100);
    assert!(plan["plan"]["nanos"].as_u64().unwrap() > 0);
    assert_eq!(plan["pieces"][0]["values"][0], "100");

    let scored = json(&get(&house, &format!("/_andon/play/score{query}")));
    assert_eq!(scored["bytes"], result.body.len());
    let better = query.replace("q:70", "q:95");
    let better = ask(
        &house,
        "POST",
        &format!("/_andon/play/score{better}"),
        &[],
        &source,
    );
    let scores = [&scored, &json(&better)].map(|told| told["score"].as_f64().unwrap());
    assert!(
        scores[0] > 20.0 && scores[0] < scores[1] && scores[1] < 100.0,
        "{scores:?}"
    );
    let lossless = json(&get(
        &house,
        "/_andon/play/score?recipe=fit:100x100,as:png&source=/a.jpg",
    ));
    assert_eq!(lossless["score"], 100.0);
}

#[test]
fn every_url_that_says_exactly_the_same_and_is_served_has_the_same_bytes() {
    let house = House::with(OPEN);
    let query = "?recipe=fit:100x100,as:png&source=/a.jpg";
    let plan = json(&get(&house, &format!("/_andon/play/plan{query}")));
    let expected = house.get("/r/fit:100x100,as:png/a.jpg").body;
    let mut exact = Vec::new();
    for url in plan["urls"].as_array().unwrap() {
        if url["served"] == true && url["but"].as_array().unwrap().is_empty() {
            exact.push(url["dialect"].as_str().unwrap());
            assert!(
                house.get(url["url"].as_str().unwrap()).body == expected,
                "{url}"
            );
        }
    }
    assert!(
        exact.contains(&"native") && exact.contains(&"small_light"),
        "{exact:?}"
    );
}

/// A configuration that serves dialects at unusual prefixes, two of them (imgproxy and thumbor) with signed URLs.
const ELSEWHERE: &str = r#"
[imgproxy]
prefix = "/thumbs"
keys = ["6b6579206f66206d616e79206279746573"]
salts = ["73616c74"]
[native]
open = true
[thumbor]
prefix = "/t"
keys = ["a key of twenty byte"]
[imagor]
prefix = "/i"
allow_unsafe = true
open = true
[iiif]
prefix = "/books/v3"
open = true
[weserv]
prefix = "/w"
open = true
[imgix]
prefix = "/x"
open = true
[ipx]
prefix = "/nuxt"
open = true
[astro]
prefix = "/astro/_image"
open = true
[cloudflare]
prefix = "/c/images"
open = true
[image_filter]
prefix = "/f"
"#;

#[test]
fn dialects_at_other_prefixes_are_listed_and_served_with_signatures_of_their_own() {
    let house = House::with(&format!("{OPEN}{ELSEWHERE}"));
    let query = "?recipe=fit:100x100,as:png&source=/a.jpg";
    let plan = json(&get(&house, &format!("/_andon/play/plan{query}")));
    let urls = plan["urls"].as_array().unwrap();
    for (dialect, prefix) in [
        ("imgproxy", "/thumbs/"),
        ("thumbor", "/t/"),
        ("imagor", "/i/"),
        ("iiif", "/books/v3/"),
        ("weserv", "/w/"),
        ("imgix", "/x/"),
        ("ipx", "/nuxt/"),
        ("astro", "/astro/_image?"),
        ("cloudflare", "/c/images/"),
    ] {
        let said = urls.iter().find(|url| url["dialect"] == dialect).unwrap();
        let url = said["url"].as_str().unwrap_or_default();
        assert!(url.starts_with(prefix), "{said}");
        assert_eq!(said["served"], true, "{said}");
        let reply = house.get(url);
        assert_eq!((reply.status, reply.size()), (200, (100, 75)), "{url}");
    }
}

#[test]
fn a_url_of_any_dialect_is_read_and_its_recipe_reads_back() {
    let house = House::with(OPEN);
    for (url, dialect, recipe) in [
        (
            "/small_light(dw=100,dh=100,q=80)/a.jpg",
            "small_light",
            "fit:100x100,q:80",
        ),
        ("/r/fit:100x100/a.jpg", "native", "fit:100x100"),
        (
            "/iiif/3/a.jpg/full/!90,90/0/default.png",
            "iiif",
            "fit:90x90,as:png",
        ),
    ] {
        let read = json(&get(&house, &format!("/_andon/play/read?url={url}")));
        assert_eq!(read["dialect"], dialect, "{read}");
        assert_eq!(read["recipe"], recipe, "{read}");
        assert_eq!(read["source"], "/a.jpg", "{read}");
    }
    let refused = get(
        &house,
        "/_andon/play/read?dialect=native&url=/r/fit:wide/a.jpg",
    );
    assert_eq!(refused.status, 400);
    assert!(
        refused.text().contains("native: `wide`"),
        "{}",
        refused.text()
    );
}

#[test]
fn a_url_of_another_server_is_read_although_its_dialect_has_another_prefix_here() {
    let house = House::with(&format!("{OPEN}{ELSEWHERE}"));
    let url = "/unsafe/rs:fill:90:60/plain/local:///a.jpg@png";
    let target = format!("/_andon/play/read?dialect=imgproxy&url={url}");
    let read = json(&get(&house, &target));
    assert_eq!(read["source"], "/a.jpg", "{read}");
    let recipe = read["recipe"].as_str().unwrap();
    assert!(recipe.starts_with("cover:90x60"), "{recipe}");
}

#[test]
fn what_is_wrong_is_told() {
    let house = House::with(OPEN);
    for (target, status, part) in [
        ("plan?recipe=fit:wide&source=/a.jpg", 400, "`wide`"),
        ("plan?recipes=same", 400, "`recipes`"),
        ("render?recipe=fit:10x10", 400, "?source="),
        ("render?recipe=fit:10x10&source=/b.jpg", 404, "/b.jpg"),
        (
            "render?recipe=same&source=https://a.example/b.jpg",
            400,
            "http.base",
        ),
        ("score?recipe=fit:4x4&source=/a.jpg", 422, "8x8"),
        ("nothing", 404, "nothing"),
    ] {
        let reply = get(&house, &format!("/_andon/play/{target}"));
        assert_eq!(reply.status, status, "{target}: {}", reply.text());
        assert!(reply.text().contains(part), "{target}: {}", reply.text());
    }
    // A plan that cannot be is told beside the URLs.
    let plan = json(&get(
        &house,
        "/_andon/play/plan?recipe=fit:10x10&source=/b.jpg",
    ));
    assert_eq!(plan["plan"]["status"], 404);
    assert_eq!(plan["url"], "/r/fit:10x10/b.jpg");
}
