//! What a server without a configuration file serves: all dialects, and its pages for the user of this machine.

use std::fs;
use std::net::TcpListener;

use crate::common::{Client, Reply, Served, program, said, sample};
use tempfile::TempDir;

/// Headers of a browser on this machine.
const BROWSER: &str = "Host: localhost\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";

/// Creates a folder with one photo, `trip/a b.jpg`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("trip")).unwrap();
    fs::copy(sample("jpeg/420.jpg"), folder.path().join("trip/a b.jpg")).unwrap();
    folder
}

fn page(served: &Served, target: &str) -> Reply {
    served.client().ask(target, BROWSER).unwrap()
}

/// Returns the values of an attribute in a page, unescaped.
fn values(page: &str, attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    let parts = page.split(&begin).skip(1);
    let values = parts.filter_map(|part| part.split('"').next());
    values
        .map(|it| it.replace("&amp;", "&").replace("&#39;", "'"))
        .collect()
}

#[test]
fn every_dialect_answers_at_its_prefix() {
    let folder = folder();
    let served = Served::without_config(folder.path(), &[]);
    for target in [
        "/trip/a%20b.jpg",
        "/r/fit:120x90,as:webp/trip/a%20b.jpg",
        "/small_light(dw=120,dh=90)/trip/a%20b.jpg",
        "/image_filter(resize,120,90)/trip/a%20b.jpg",
        "/imgproxy/insecure/rs:fit:120:90/plain/local:///trip/a%20b.jpg",
        "/thumbor/unsafe/fit-in/120x90/trip/a%20b.jpg",
        "/imagor/unsafe/fit-in/120x90/trip/a%20b.jpg",
        "/iiif/3/trip%2Fa%20b.jpg/full/!120,90/0/default.jpg",
        "/iiif/2/trip%2Fa%20b.jpg/full/!120,90/0/default.jpg",
        "/iiif/3/trip%2Fa%20b.jpg/info.json",
        "/cdn-cgi/image/width=120,height=90/trip/a%20b.jpg",
        "/_next/image?url=%2Ftrip%2Fa%2520b.jpg&w=128&q=75",
        "/_vercel/image?url=%2Ftrip%2Fa%2520b.jpg&w=128&q=75",
        "/_ipx/s_120x90/trip/a%20b.jpg",
        "/_image?href=/trip/a%2520b.jpg&w=120&h=90",
        "/weserv/?url=trip/a%20b.jpg&w=120&h=90",
        "/imgix/trip/a%20b.jpg?w=120&h=90",
        "/photon/trip/a%20b.jpg?fit=120,90",
    ] {
        let reply = served.get(target);
        assert_eq!(reply.status, 200, "{target}: {}", reply.text());
        assert!(
            !reply.headers.contains_key("andon-note"),
            "{target}: {:?}",
            reply.headers
        );
    }
}

#[test]
fn the_page_links_thumbnails_and_urls_that_work() {
    let folder = folder();
    let served = Served::without_config(folder.path(), &[]);
    let index = page(&served, "/");
    assert_eq!(index.status, 200);
    assert_eq!(index.headers["content-type"], "text/html; charset=utf-8");
    let policy = &index.headers["content-security-policy"];
    assert!(
        policy.starts_with("default-src 'self'; base-uri 'none'; form-action 'self'"),
        "{policy}"
    );
    let html = index.text();
    let scripts: Vec<&str> = html.matches("<script").collect();
    assert_eq!(scripts.len(), 1, "{html}");
    assert!(
        html.contains("<script type=\"module\" src=\"/_andon/folder/folder.js\"></script>"),
        "{html}"
    );
    assert!(!html.contains(" style="), "{html}");
    let mut urls = values(&html, "src");
    urls.extend(values(&html, "href"));
    assert!(urls.len() > 20, "{urls:?}");
    for url in urls {
        let target = url.split('#').next().unwrap();
        let reply = page(&served, target);
        assert_eq!(reply.status, 200, "{url}: {}", reply.text());
    }
}

#[test]
fn a_folder_of_ten_thousand_images_is_paged_and_searched() {
    let folder = tempfile::tempdir().unwrap();
    for trip in 0..10 {
        let trip = folder.path().join(format!("Trip {trip}"));
        fs::create_dir(&trip).unwrap();
        for image in 0..1000 {
            fs::write(trip.join(format!("img-{image:04}.jpg")), "").unwrap();
        }
    }
    fs::write(folder.path().join("notes.txt"), "").unwrap();
    let served = Served::without_config(folder.path(), &[]);
    let first = page(&served, "/").text();
    assert_eq!(first.matches("loading=\"lazy\"").count(), 60);
    assert!(first.contains("1–60 of 10,000 images"), "{first}");
    assert!(first.contains("Page 1 of 167"), "{first}");
    let last = page(&served, "/?from=9999").text();
    assert!(last.contains("9,961–10,000 of 10,000 images"), "{last}");
    let found = page(&served, "/?find=trip+7+0042").text();
    assert!(found.contains("1–1 of 1 found in 10,000 images"), "{found}");
    assert!(
        found.contains("src=\"/r/fit:360x360,as:webp,q:75/Trip%207/img-0042.jpg\""),
        "{found}"
    );
    let none = page(&served, "/?find=elsewhere").text();
    assert!(none.contains("None of 10,000 images match"), "{none}");
}

#[test]
fn new_images_appear_and_names_cannot_write_html() {
    let folder = folder();
    let served = Served::without_config(folder.path(), &[]);
    assert!(!page(&served, "/").text().contains("&lt;b&gt;"));
    fs::write(folder.path().join("<b>\"'&.jpg"), "").unwrap();
    let shows = || {
        page(&served, "/?find=%3Cb%3E")
            .text()
            .contains("&lt;b&gt;&quot;&#39;&amp;.jpg")
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !shows() {
        assert!(std::time::Instant::now() < deadline, "it never appears");
        std::thread::yield_now();
    }
    let html = page(&served, "/?find=%3Cb%3E&image=%3Cb%3E").text();
    assert!(!html.contains("<b>"), "{html}");
}

#[test]
fn an_empty_folder_shows_what_urls_look_like() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::without_config(folder.path(), &[]);
    let html = page(&served, "/").text();
    assert!(html.contains("No images in this folder yet"), "{html}");
    assert!(
        html.contains("/thumbor/unsafe/fit-in/250x250/trip/a.jpg"),
        "{html}"
    );
}

#[test]
fn the_page_and_the_dashboard_are_for_this_machine_only() {
    let folder = folder();
    let served = Served::without_config(folder.path(), &[]);
    for path in ["/_andon/board", "/_andon/play", "/_andon/folder/folder.css"] {
        assert_eq!(page(&served, path).status, 200, "{path}");
        for headers in [
            "Host: pictures.example\r\n",
            "Host: localhost\r\nX-Forwarded-For: 192.0.2.7\r\n",
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
        ] {
            let status = served.client().ask(path, headers).unwrap().status;
            assert!(
                matches!(status, 403 | 404),
                "{path}: {status} with {headers}"
            );
        }
    }
    for host in [
        "pictures.example",
        "localhost\r\nX-Forwarded-For: 192.0.2.7",
    ] {
        let headers = BROWSER.replace("localhost", host);
        let index = served.client().ask("/", &headers).unwrap();
        assert_eq!(
            index.headers["content-type"], "text/plain; charset=utf-8",
            "{host}"
        );
        assert!(!index.text().contains("<img"), "{host}");
    }
}

#[test]
fn a_configuration_file_switches_on_what_it_names_and_an_argument_adds_to_it() {
    let folder = folder();
    let keys = "[[origin]]\nfs.root = \".\"\n";
    let served = Served::start(folder.path(), keys);
    let thumbor = "/unsafe/fit-in/120x90/trip/a%20b.jpg";
    for target in [
        thumbor,
        "/thumbor/unsafe/trip/a%20b.jpg",
        "/_ipx/_/trip/a%20b.jpg",
    ] {
        assert_eq!(served.get(target).status, 404, "{target}");
    }
    assert_eq!(
        page(&served, "/").headers["content-type"],
        "text/plain; charset=utf-8"
    );
    let hint = served.get(thumbor).text();
    assert!(hint.contains("or start with `--dialect thumbor`"), "{hint}");
    let added = Served::start_adding(
        folder.path(),
        keys,
        &["--dialect", "thumbor", "--dialect", "ipx"],
    );
    assert_eq!(added.get(thumbor).status, 200);
    assert_eq!(added.get("/_ipx/_/trip/a%20b.jpg").status, 200);
}

#[test]
fn a_dialect_can_have_the_place_that_its_urls_are_written_for() {
    let folder = folder();
    let target = "/unsafe/fit-in/120x90/trip/a%20b.jpg";
    let usual = Served::without_config(folder.path(), &[]);
    let elsewhere = usual.get(target);
    assert_eq!(elsewhere.status, 404);
    let hint = elsewhere.text();
    assert!(
        hint.contains(&format!("here it is /thumbor{target}")),
        "{hint}"
    );
    let served = Served::without_config(folder.path(), &["--dialect", "thumbor"]);
    assert_eq!(served.get(target).status, 200);
    assert_eq!(served.get(&format!("/imagor{target}")).status, 200);
}

#[test]
fn a_name_of_no_dialect_and_one_that_is_on_are_refused() {
    let folder = folder();
    let run = |words: &str| said::said(program(), folder.path(), words).ending(1).err;
    let wrong = run("serve . --dialect thumber");
    assert!(wrong.contains("did you mean `thumbor`?"), "{wrong}");
    fs::write(
        folder.path().join("andon.toml"),
        "[thumbor]\nprefix = \"/t\"\n",
    )
    .unwrap();
    let twice = run("serve --config andon.toml --dialect thumbor");
    assert!(twice.contains("switched on already"), "{twice}");
}

#[test]
fn a_recipe_without_its_prefix_is_answered_with_the_url_that_works() {
    let folder = folder();
    let served = Served::without_config(folder.path(), &[]);
    let reply = served.get("/fit:120x,as:webp/trip/a%20b.jpg");
    assert_eq!(reply.status, 404);
    let url = "/r/fit:120x,as:webp/trip/a%20b.jpg";
    assert!(
        reply.text().contains(&format!("here it is {url}\n")),
        "{}",
        reply.text()
    );
    assert_eq!(served.get(url).status, 200);
}

#[test]
fn a_path_that_begins_with_the_served_folder_is_answered_with_the_one_below_it() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("my photos");
    fs::create_dir(&folder).unwrap();
    fs::copy(sample("jpeg/420.jpg"), folder.join("a.jpg")).unwrap();
    let served = Served::without_config(&folder, &[]);
    for (target, url) in [
        ("/r/fit:120x/my%20photos/a.jpg", "/r/fit:120x/a.jpg"),
        ("/my%20photos/a.jpg", "/a.jpg"),
        (
            "/small_light(dw=120)/my%20photos/a.jpg",
            "/small_light(dw=120)/a.jpg",
        ),
    ] {
        let reply = served.get(target);
        assert_eq!(reply.status, 404, "{target}");
        let expected =
            format!("paths begin below the folder that is served, my photos: here it is {url}\n");
        assert!(reply.text().contains(&expected), "{}", reply.text());
        assert_eq!(served.get(url).status, 200, "{url}");
    }
    let other = served.get("/r/fit:120x/your/a.jpg").text();
    assert!(!other.contains("my photos"), "{other}");
    // Other clients must not see the name of a folder.
    let keys = format!("[[origin]]\nfs.root = {:?}\n", folder.to_str().unwrap());
    let configured = Served::start(parent.path(), &keys);
    let reply = configured.get("/r/fit:120x/my%20photos/a.jpg");
    assert_eq!(reply.status, 404);
    assert!(!reply.text().contains("is served"), "{}", reply.text());
}

#[test]
fn explain_names_the_dialect_that_would_read_a_url() {
    let folder = folder();
    let run = |words: &str| said::said(program(), folder.path(), words).ending(1).err;
    let elsewhere = run("explain /unsafe/300x200/a.jpg --root .");
    assert!(
        elsewhere.contains(
            "looks like a URL of thumbor or imagor: here it is /thumbor/unsafe/300x200/a.jpg"
        ),
        "{elsewhere}"
    );
    fs::write(folder.path().join("andon.toml"), "").unwrap();
    let off = run("explain /insecure/rs:fit:300:200/plain/local:///a.jpg --config andon.toml");
    assert!(
        off.contains("add [imgproxy] with `prefix = \"/\"`"),
        "{off}"
    );
}

#[test]
fn a_port_in_use_says_how_to_take_another() {
    let folder = folder();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let words = format!("serve . -p {port}");
    let error = said::said(program(), folder.path(), &words).ending(1).err;
    assert!(error.contains("another program listens there"), "{error}");
    assert!(error.contains("--port 0"), "{error}");
}

#[test]
fn curl_gets_plain_text_at_the_root() {
    let folder = folder();
    let served = Served::without_config(folder.path(), &[]);
    let mut client = Client::connect(&served.address).unwrap();
    let reply = client
        .ask("/", "Host: localhost\r\nAccept: */*\r\n")
        .unwrap();
    assert_eq!(reply.headers["content-type"], "text/plain; charset=utf-8");
    let text = reply.text();
    let urls: Vec<&str> = text
        .split_whitespace()
        .filter_map(|it| it.strip_prefix("http://localhost"))
        .collect();
    assert!(urls.len() > 14, "{text}");
    for url in urls {
        assert_eq!(served.get(url).status, 200, "{url}");
    }
}

#[test]
fn a_shared_folder_is_shown_to_everybody_without_the_pages_of_this_machine() {
    let folder = folder();
    // Another machine's browser names the server by its address or name.
    const OTHER: &str =
        "Host: nas.home.example\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";
    for (arguments, is_shown) in [(&[][..], false), (&["--share"], true)] {
        let served = Served::without_config(folder.path(), arguments);
        let ask = |target: &str| served.client().ask(target, OTHER).unwrap();
        let text = ask("/").text();
        assert_eq!(text.contains("<img"), is_shown, "{text}");
        assert_eq!(text.contains("--share"), !is_shown, "{text}");
        assert!(!text.contains("/_andon/play"), "{text}");
        for inside in ["/_andon/play", "/_andon/board", "/metrics"] {
            assert_ne!(ask(inside).status, 200, "{inside}");
        }
        let own = page(&served, "/").text();
        assert_eq!(own.contains("this page is shared"), is_shown, "{own}");
        assert!(
            own.contains("<img") && own.contains("/_andon/play"),
            "{own}"
        );
        if is_shown {
            for address in values(&text, "src").iter().chain(&values(&text, "href")) {
                assert_eq!(ask(address).status, 200, "{address}");
            }
        }
    }
}

#[test]
fn a_configuration_shows_the_page_to_whom_it_allows() {
    let folder = folder();
    let origin = "[[origin]]\nfs.root = \".\"\n";
    for (keys, is_shown) in [("", false), ("[folder]\nallow = \"all\"\n", true)] {
        let served = Served::start(folder.path(), &format!("{keys}{origin}"));
        let text = page(&served, "/").text();
        assert_eq!(text.contains("<img"), is_shown, "{text}");
        assert!(
            !text.contains("/_andon/play") && !text.contains("--share"),
            "{text}"
        );
        assert!(!text.contains("no configuration file"), "{text}");
        if is_shown {
            assert!(text.contains("This page is shared: whoever"), "{text}");
            for address in values(&text, "src") {
                assert_eq!(served.get(&address).status, 200, "{address}");
            }
        }
    }
    for (keys, warned) in [
        ("", ""),
        ("[native]\nenabled = false\n", "has no thumbnails"),
        (
            "[native]\nonly_presets = true\n[native.presets]\nsmall = \"fit:300x\"\n",
            "has no thumbnails",
        ),
        (
            "[signing]\nkeys = { a = \"0123456789abcdef0123456789abcdef\" }\n",
            "shows nothing",
        ),
        ("[[origin]]\nfs.files = \"all\"\n", "shows nothing"),
    ] {
        let origin = match keys.starts_with("[[origin]]") {
            true => "fs.root = \".\"\n",
            false => origin,
        };
        let text = format!("[folder]\nallow = \"all\"\n{keys}{origin}");
        fs::write(folder.path().join("album.toml"), text).unwrap();
        let said = said::said(program(), folder.path(), "config check album.toml").ending(0);
        let both = format!("{}{}", said.out, said.err);
        assert!(both.contains("sent to everybody as they are"), "{both}");
        for what in ["has no thumbnails", "shows nothing"] {
            assert_eq!(both.contains(what), warned == what, "{keys}: {both}");
        }
    }
}

#[test]
fn sharing_with_a_configuration_file_names_the_address_to_listen_on() {
    let folder = folder();
    let said = said::said(
        program(),
        folder.path(),
        "serve --config album.toml --share --port 8393",
    )
    .ending(1);
    assert!(
        said.err.contains("with --config, `--listen 0.0.0.0:8393`"),
        "{}",
        said.err
    );
}

#[test]
fn a_folder_without_a_page_of_its_own_leads_to_the_page_with_all_images() {
    let folder = folder();
    let served = Served::without_config(folder.path(), &[]);
    let reply = served.get("/trip/");
    assert_eq!(reply.status, 404);
    assert!(
        reply.text().contains("the one at / lists all images"),
        "{}",
        reply.text()
    );
}
