//! The number of requests that one source causes at its origin, for all its results together.

use crate::common::origin::Origin;
use crate::common::{House, sample};

fn image_file() -> Vec<u8> {
    std::fs::read(sample("jpeg/420.jpg")).expect("a sample")
}

const DIALECTS: &str = "[cloudflare]\nprefix = \"/cf\"\n[imgproxy]\nprefix = \"/ip\"\n[imgix]\nprefix = \"/ix\"\n\
    [thumbor]\nprefix = \"/th\"\n[imagor]\nprefix = \"/im\"\nallow_unsafe = true\n[weserv]\nprefix = \"/ws\"\n\
    [iiif]\nprefix = \"/iiif\"\n[image_filter]\nprefix = \"/if\"\n\
    [ipx]\nprefix = \"/_ipx\"\n[astro]\nprefix = \"/_image\"\n";

/// Templates of request targets for a width of a source, one pair per dialect: the source is named by its path or, in
/// the second target, by its absolute URL; empty if the dialect takes no absolute URLs.
const TEMPLATES: &[(&str, &str)] = &[
    ("/r/fit:{w}x/{path}", "/r/fit:{w}x/{url}"),
    ("/small_light(dw={w})/{path}", ""),
    ("/if/image_filter(resize,{w},-)/{path}", ""),
    ("/cf/width={w}/{path}", "/cf/width={w}/{url}"),
    ("/ix/{path}?w={w}", "/ix/{escaped}?w={w}"),
    (
        "/ip/x/w:{w}/plain/local:///{path}",
        "/ip/x/w:{w}/plain/{url}",
    ),
    ("/th/unsafe/{w}x0/{path}", "/th/unsafe/{w}x0/{escaped}"),
    ("/im/unsafe/{w}x0/{path}", "/im/unsafe/{w}x0/{escaped}"),
    ("/ws/?w={w}&url=/{path}", "/ws/?w={w}&url={escaped}"),
    ("/_ipx/w_{w}/{path}", "/_ipx/w_{w}/{url}"),
    ("/_image?w={w}&href=/{path}", "/_image?w={w}&href={escaped}"),
    (
        "/iiif/{path}/full/{w},/0/default.jpg",
        "/iiif/{escaped}/full/{w},/0/default.jpg",
    ),
];

/// Every kind of origin: its configuration, in which `HOST` stands for its URL, and whether sources are requested by
/// URL instead of by path.
const KINDS: [(&str, bool); 5] = [
    ("prefix = \"/far\"\nhttp.base = \"HOST/base\"", false),
    ("http.urls = [\"HOST/base/\"]", true),
    (
        "prefix = \"/far\"\ns3 = { bucket = \"base\", endpoint = \"HOST\" }",
        false,
    ),
    (
        "prefix = \"/far\"\ngcs = { bucket = \"base\", endpoint = \"HOST\" }",
        false,
    ),
    (
        "prefix = \"/far\"\nazure = { bucket = \"base\", account = \"a\", endpoint = \"HOST\" }",
        false,
    ),
];

/// Requests eight widths in each dialect, first of a different source per dialect, then of one source in all dialects,
/// and asserts that each source costs the origin one request. `status` is the expected status; if it is not 200, any
/// other error is accepted, too.
fn costs(origin: &Origin, (keys, is_url): (&str, bool), status: u16) {
    let host = format!("http://127.0.0.1:{}", origin.port());
    let house = House::with(&format!(
        "{DIALECTS}[cache]\nnegative = \"1m\"\n[[origin]]\nallow = [\"127.0.0.1\"]\n{}\n",
        keys.replace("HOST", &host)
    ));
    let mut client = house.client();
    let templates: Vec<&str> = TEMPLATES
        .iter()
        .map(|(path, url)| if is_url { url } else { path })
        .filter(|template| !template.is_empty())
        .copied()
        .collect();
    let mut eight = |template: &str, name: &str| {
        for number in 1..9 {
            let url = format!("{host}/base/{name}");
            let escaped = url.replace(':', "%3A").replace('/', "%2F");
            let target = template
                .replace("{w}", &(4 * number).to_string())
                .replace("{path}", &format!("far/{name}"))
                .replace("{url}", &url)
                .replace("{escaped}", &escaped);
            let reply = client.get(&target);
            // Some dialects have a status of their own for what is not there.
            let fits = reply.status == status || (status != 200 && reply.status >= 400);
            assert!(fits, "{keys}: {target}: {}", reply.status);
        }
    };
    for (at, template) in templates.iter().enumerate() {
        let before = origin.asked();
        eight(template, &format!("{at}.jpg"));
        assert_eq!(origin.asked() - before, 1, "{keys}: {template}");
    }
    let before = origin.asked();
    for template in &templates {
        eight(template, "shared.jpg");
    }
    assert_eq!(origin.asked() - before, 1, "{keys}");
}

#[test]
fn all_widths_of_a_source_cost_one_fetch_in_every_dialect_and_from_every_kind_of_origin() {
    for said in ["", "Cache-Control: public, max-age=60\r\n"] {
        for kind in KINDS {
            costs(&Origin::start(image_file(), said), kind, 200);
        }
    }
}

#[test]
fn a_dead_image_costs_one_request_in_every_dialect_and_from_every_kind_of_origin() {
    for status in [404, 403, 410] {
        for kind in KINDS {
            let origin = Origin::start(Vec::new(), "");
            origin.answers(status, "", Vec::new());
            costs(&origin, kind, status);
        }
    }
}

/// Returns request targets for eight widths of one source, in two dialects by turns.
fn widths() -> impl Iterator<Item = String> {
    (1..9_u32).map(|number| match number % 2 {
        0 => format!("/r/fit:{}x/far/a.jpg", 10 * number),
        _ => format!("/small_light(dw={})/far/a.jpg", 10 * number),
    })
}

fn asks(house: &House, status: u16) {
    for target in widths() {
        let reply = house.get(&target);
        assert_eq!(reply.status, status, "{target}: {}", reply.text());
    }
}

#[test]
fn the_file_itself_comes_from_what_is_kept_too() {
    let origin = Origin::start(image_file(), "");
    let house = House::with(&origin.keys());
    asks(&house, 200);
    assert_eq!(house.get("/far/a.jpg").body, image_file());
    assert_eq!(origin.asked(), 1);
}

#[test]
fn an_origin_that_asks_to_be_spared_is_and_clients_are_told_for_how_long() {
    for status in [429, 503] {
        let origin = Origin::start(Vec::new(), "");
        origin.answers(status, "Retry-After: 60\r\n", Vec::new());
        let house = House::with(&format!("{DIALECTS}{}", origin.keys()));
        for target in [
            "/r/fit:9x/far/a.jpg",
            "/r/fit:9x/far/a.jpg",
            "/r/fit:9x/far/b.jpg",
        ] {
            let reply = house.get(target);
            assert!(reply.status >= 500, "{target}: {}", reply.status);
            assert_eq!(reply.header("retry-after"), Some("60"));
        }
        assert_eq!(origin.asked(), 1, "{status}");
    }
}

#[test]
fn what_is_nobody_elses_business_or_changes_each_time_is_not_kept() {
    for (said, fetches) in [
        ("Cache-Control: private, max-age=60\r\n", 8),
        ("Cache-Control: no-store\r\n", 8),
        ("Cache-Control: max-age=0, must-revalidate\r\n", 8),
    ] {
        let origin = Origin::start(image_file(), said);
        let house = House::with(&format!("{DIALECTS}{}", origin.keys()));
        asks(&house, 200);
        assert_eq!(origin.asked(), fetches, "{said}");
    }
}

#[test]
fn a_stale_source_is_asked_about_and_a_304_makes_it_good_again() {
    let origin = Origin::start(image_file(), "ETag: \"one\"\r\nCache-Control: no-cache\r\n");
    let house = House::with(&format!("{DIALECTS}{}", origin.keys()));
    assert_eq!(house.get("/r/fit:10x/far/a.jpg").status, 200);
    origin.answers(
        304,
        "ETag: \"one\"\r\nCache-Control: max-age=60\r\n",
        Vec::new(),
    );
    asks(&house, 200);
    assert_eq!(origin.asked(), 2);
    let tags = origin.told("if-none-match");
    assert_eq!(tags, [None, Some("\"one\"".to_owned())]);
}

/// Sends a purge with the administrator's token. `order` is the body of the request: JSON that says what to purge.
fn purge(house: &House, order: &str) {
    let mut client = house.client();
    client.send(format!(
        "POST /_andon/purge HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {}\r\n\r\n{order}",
        order.len()
    ));
    assert_eq!(client.reply("POST").status, 200);
}

const TOKEN: &str = "sixteen bytes or more";

#[test]
fn a_purge_ends_the_sources_that_it_names() {
    for (order, fetches) in [
        (r#"{"source":"/far/a.jpg"}"#, 3),
        (r#"{"source":"/far/b.jpg"}"#, 3),
        (r#"{"source":"/far/c.jpg"}"#, 2),
        (r#"{"prefix":"/far/"}"#, 4),
        (r#"{"url":"/r/fit:10x/far/a.jpg"}"#, 3),
        (r#"{"tag":"type:image/jpeg"}"#, 4),
    ] {
        let origin = Origin::start(image_file(), "Cache-Control: max-age=600\r\n");
        let admin = format!("[admin]\ntoken = \"{TOKEN}\"\n");
        let house = House::with(&format!("{DIALECTS}{}{admin}", origin.keys()));
        for name in ["a", "b"] {
            assert_eq!(house.get(&format!("/r/fit:10x/far/{name}.jpg")).status, 200);
        }
        purge(&house, order);
        for name in ["a", "b"] {
            assert_eq!(house.get(&format!("/r/fit:20x/far/{name}.jpg")).status, 200);
        }
        assert_eq!(origin.asked(), fetches, "{order}");
    }
}

#[test]
fn sources_on_disk_survive_a_restart_unless_their_origin_has_become_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = format!(
        "[cache]\ndisk = {{ path = \"{}\", size = \"0\", sources = \"16MiB\" }}\n",
        folder.path().display()
    );
    let origin = Origin::start(image_file(), "Cache-Control: max-age=600\r\n");
    for (width, asked) in [(10, 1), (20, 1), (30, 1)] {
        let mut house = House::with(&format!("{}{disk}", origin.keys()));
        let reply = house.get(&format!("/r/fit:{width}x/far/a.jpg"));
        assert_eq!((reply.status, origin.asked()), (200, asked), "{width}");
        house.begin_to_stop();
        house.wait_until_stopped();
    }
    let other = Origin::start(image_file(), "");
    let house = House::with(&format!("{}{disk}", other.keys()));
    assert_eq!(house.get("/r/fit:10x/far/a.jpg").status, 200);
    assert_eq!((origin.asked(), other.asked()), (1, 1));
}

#[test]
fn nothing_is_kept_without_room_for_it() {
    let origin = Origin::start(image_file(), "Cache-Control: max-age=600\r\n");
    let house = House::with(&format!(
        "{DIALECTS}{}[cache]\nsources = \"0\"\n",
        origin.keys()
    ));
    asks(&house, 200);
    assert_eq!(origin.asked(), 8);
}
