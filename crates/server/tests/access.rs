//! Access rules over a socket: which requests get which files, in every dialect and every spelling of a path, for an
//! image, its overlays and its fallback image, and for rendered images, JSON documents, redirects, unchanged files and
//! uploads.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::common::House;
use andon_dialects::signature::{base64, md5};
use andon_dialects::signing::Signature;

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// Configuration that gives each of these dialects a prefix of its own.
const LANGUAGES: &str = "[image_filter]\nprefix = \"/f\"\n[imgproxy]\nprefix = \"/imgproxy\"\n\
    [iiif]\nprefix = \"/iiif/3\"\nprefix2 = \"/iiif/2\"\n[cloudflare]\nprefix = \"/cdn-cgi/image\"\n\
    [thumbor]\nprefix = \"/thumbor\"\n[imagor]\nprefix = \"/imagor\"\nallow_unsafe = true\n\
    [next]\nprefix = \"/_next/image\"\n[photon]\nprefix = \"/photon\"\nsource = \"path\"\n\
    [weserv]\nprefix = \"/weserv\"\n[imgix]\nprefix = \"/imgix\"\n\
    [ipx]\nprefix = \"/_ipx\"\n[astro]\nprefix = \"/_image\"\n";

const LINK: &str = "[[secure_link]]\nlocation = \"/secure/\"\nsecure_link = \"$arg_md5,$arg_expires\"\n\
    secure_link_md5 = \"$secure_link_expires$uri swordfish\"\n";

/// Starts a server with this configuration and [`LANGUAGES`]. It has images at `/`, in the folder `trip`, and in the
/// folder `secure`, which only signed links open if `keys` contain [`LINK`].
fn house(keys: &str) -> House {
    let house = House::with(&format!("{keys}{LANGUAGES}"));
    for name in ["secure/a.jpg", "trip/a.jpg", "secure/sub/a.jpg"] {
        house.put_sample(name, "jpeg/420.jpg");
    }
    house
}

/// Returns request targets for the file at `path` in every dialect: for images, JSON documents, redirects and the
/// unchanged file.
fn spelt(path: &str) -> Vec<String> {
    let one = path.replace('/', "%2F");
    vec![
        format!("/{path}"),
        format!("/r/original/{path}"),
        format!("/r/same/{path}"),
        format!("/r/fit:9x9,as:json/{path}"),
        format!("/r/as:json,with:uri/{path}"),
        format!("/small_light(dw=9)/{path}"),
        format!("/x/small_light%28dw=9%29/{path}"),
        format!("/f/image_filter(resize,9,-)/{path}"),
        format!("/f/image_filter(size)/{path}"),
        format!("/f/image_filter(off)/{path}"),
        format!("/imgproxy/unsafe/w:9/plain/local:///{path}"),
        format!("/imgproxy/unsafe/raw:1/plain/local:///{path}"),
        format!("/imgproxy/info/unsafe/plain/local:///{path}"),
        format!("/iiif/3/{one}/full/max/0/default.jpg"),
        format!("/iiif/2/{path}/full/full/0/default.jpg"),
        format!("/iiif/3/{one}/info.json"),
        format!("/iiif/3/{one}"),
        format!("/cdn-cgi/image/width=9/{path}"),
        format!("/cdn-cgi/image/width=9,format=json/{path}"),
        format!("/thumbor/unsafe/9x9/{path}"),
        format!("/thumbor/unsafe/meta/{path}"),
        format!("/imagor/unsafe/9x9/{path}"),
        // It has a text of its own for what begins with two slashes.
        format!(
            "/_next/image?url=/{}&w=32&q=75",
            path.trim_start_matches('/')
        ),
        format!("/photon/{path}?w=9"),
        format!("/weserv/?url={path}&w=9"),
        format!("/weserv/?url={path}&output=json"),
        format!("/imgix/{path}?w=9"),
        format!("/imgix/{path}?fm=json"),
        format!("/imgix/{path}?palette=json"),
        format!("/_ipx/w_9/{path}"),
        // Two slashes would begin a URL.
        format!("/_image?href=/{}&w=9", path.trim_start_matches('/')),
    ]
}

/// Different spellings of the path of one file.
fn paths(path: &str) -> Vec<String> {
    vec![
        path.to_owned(),
        path.replacen('s', "%73", 1),
        path.replace('/', "//"),
        path.replace('/', "%2f"),
        format!("/{path}"),
        path.replace(".jpg", "%2ejpg"),
    ]
}

fn signed(scope: usize, target: &str) -> String {
    let signature = Signature {
        scope,
        ..Signature::default()
    };
    signature.of(KEY.as_bytes(), target).unwrap()
}

/// A signed link that is valid for `seconds`.
fn link(uri: &str, seconds: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let expires = now.as_secs() + seconds;
    let md5 = base64::bare(&md5(&[format!("{expires}{uri} swordfish").as_bytes()]));
    format!("{uri}?md5={md5}&expires={expires}")
}

#[test]
fn what_a_location_guards_is_closed_in_every_language_and_spelling() {
    let house = house(LINK);
    let good = link("/secure/a.jpg", 600);
    let mut client = house.client();
    // Known and cached as it may be.
    for _ in 0..3 {
        let reply = client.get(&good);
        assert_eq!((reply.status, reply.size()), (200, (400, 300)));
    }
    for path in paths("secure/a.jpg") {
        for target in spelt(&path) {
            for _ in 0..2 {
                let reply = client.get(&target);
                assert_eq!(reply.status, 403, "{target}: {}", reply.text());
            }
            assert_eq!(client.request("HEAD", &target, &[]).status, 403, "{target}");
        }
    }
    // Whether a file is there makes no difference.
    let there = client.get("/r/same/secure/a.jpg").text();
    let missing = client.get("/r/same/secure/z.jpg").text();
    assert_eq!(there.replace("a.jpg", "z.jpg"), missing);
    for target in spelt("trip/a.jpg") {
        let reply = client.get(&target);
        assert!(
            matches!(reply.status, 200 | 303),
            "{target}: {}",
            reply.text()
        );
    }
}

#[test]
fn overlays_and_fallbacks_are_guarded_as_images_are() {
    let house = house(LINK);
    house.put_sample("secure/b.png", "png/alpha.png");
    house.put_sample("b.png", "png/alpha.png");
    let encoded = base64::bare(b"local:///secure/a.jpg");
    for target in [
        "/r/overlay:%2Fsecure%2Fb.png:1:1/a.jpg".to_owned(),
        "/r/overlay:%2F%2Fsecure%2Fb.png:1:1/a.jpg".to_owned(),
        "/r/overlay:%2Fsecure%2Fb.png:1:1,as:json/a.jpg".to_owned(),
        "/r/over:%2Fsecure%2Fb.png:1:1/a.jpg".to_owned(),
        "/thumbor/unsafe/filters:watermark(secure/b.png,0,0,0)/a.jpg".to_owned(),
        "/thumbor/unsafe/filters:watermark(/secure//b.png,0,0,0)/a.jpg".to_owned(),
        "/imagor/unsafe/filters:watermark(secure/b.png,0,0,0)/a.jpg".to_owned(),
        "/imagor/unsafe/filters:image(secure/b.png,0,0)/a.jpg".to_owned(),
        "/imagor/unsafe/filters:image(filters:image(secure/b.png,0,0):grayscale()/b.png,0,0)/a.jpg"
            .to_owned(),
        "/imgix/a.jpg?w=90&mark=/secure/b.png".to_owned(),
        "/imgix/a.jpg?w=90&blend=secure%2Fb.png&blend-mode=normal".to_owned(),
        format!("/imgproxy/unsafe/w:9/fiu:{encoded}/plain/local:///missing.jpg"),
    ] {
        let reply = house.get(&target);
        assert_eq!(reply.status, 403, "{target}: {}", reply.text());
        let open = target.replace("/secure//", "/").replace("/secure/", "/");
        let open = open.replace("secure/", "").replace("%2Fsecure", "");
        let open = open.replace("secure%2F", "");
        if !target.contains("fiu:") {
            let reply = house.get(&open);
            assert_eq!(reply.status, 200, "{open}: {}", reply.text());
        }
    }
    // An upload has no URL that could be signed.
    let house = House::with(&format!("{LINK}[upload]\nallow = \"all\"\n"));
    house.put_sample("secure/b.png", "png/alpha.png");
    let body = std::fs::read(crate::common::sample("jpeg/420.jpg")).unwrap();
    let mut client = house.client();
    client.send(format!(
        "POST /_andon/render?recipe=overlay:%252Fsecure%252Fb.png:1:1 HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    client.send(&body);
    assert_eq!(client.reply("POST").status, 403);
}

#[test]
fn a_folder_of_overlay_images_within_a_guarded_one_is_guarded() {
    let uploads = "[upload]\nallow = \"all\"\n";
    let keys = format!("{LINK}[small_light]\nmaterial_dir = \"root/secure\"\n{uploads}");
    let house = House::furnished(&keys, |folder| {
        std::fs::create_dir(folder.join("root/secure")).unwrap();
        std::fs::copy(
            crate::common::sample("png/alpha.png"),
            folder.join("root/secure/b.png"),
        )
        .unwrap();
    });
    for target in [
        "/small_light(dw=90,embedicon=b.png)/a.jpg",
        "/r/over:b.png:1:2/a.jpg",
    ] {
        assert_eq!(house.get(target).status, 403, "{target}");
    }
    let image = std::fs::read(crate::common::sample("jpeg/420.jpg")).unwrap();
    for (recipe, status) in [("over:b.png:1:2", 403), ("fit:9x9", 200)] {
        let mut client = house.client();
        let head = format!(
            "POST /_andon/render?recipe={recipe} HTTP/1.1\r\nHost: h\r\nVia: a proxy\r\nContent-Length: {}\r\n\r\n",
            image.len()
        );
        client.send([head.as_bytes(), &image].concat());
        assert_eq!(client.reply("POST").status, status, "{recipe}");
    }
}

#[test]
fn dot_segments_lead_nowhere_in_any_language() {
    let house = house("");
    for dots in [
        "trip/../a.jpg",
        "./a.jpg",
        "trip/%2e%2e/a.jpg",
        "trip/.%2E/a.jpg",
        "trip/%252e%252e/a.jpg",
        "trip%2F..%2Fa.jpg",
    ] {
        for target in spelt(dots) {
            let reply = house.get(&target);
            // nginx answers so whatever is wrong.
            let is_nothing = target.contains("(size)") && reply.text().trim() == "{}";
            // As Astro's endpoint does, with the reason.
            let is_astro = reply.status == 500 && reply.text().starts_with("Server Error: ");
            assert!(
                is_nothing || is_astro || matches!(reply.status, 400 | 404 | 415),
                "{target}: {} {}",
                reply.status,
                reply.text()
            );
        }
    }
    let reply = house.get("/r/same/trip/../a.jpg");
    assert!(reply.text().contains("`.` and `..`"), "{}", reply.text());
}

#[test]
fn a_key_of_one_language_closes_the_others() {
    let hex = "6b6579206f66206d616e79206279746573";
    for (own, keys) in [
        ("", format!("[signing]\nkeys = [\"{KEY}\"]\n")),
        (
            "/thumbor/",
            format!("[thumbor]\nkeys = [\"{KEY}\"]\nprefix = \"/thumbor\"\n"),
        ),
        (
            "/imgix/",
            format!("[imgix]\ntokens = [\"{KEY}\"]\nprefix = \"/imgix\"\n"),
        ),
        (
            "/imgproxy/",
            format!(
                "[imgproxy]\nkeys = [\"{hex}\"]\nsalts = [\"73616c74\"]\nprefix = \"/imgproxy\"\n"
            ),
        ),
    ] {
        let table = keys.split('\n').next().unwrap();
        let others: String = LANGUAGES
            .split_inclusive('\n')
            .collect::<String>()
            .split("[")
            .filter(|part| !part.is_empty() && !format!("[{part}").starts_with(table))
            .map(|part| format!("[{part}"))
            .collect();
        let house = House::with(&format!("{keys}{others}"));
        house.put_sample("trip/a.jpg", "jpeg/420.jpg");
        for target in spelt("trip/a.jpg") {
            let status = house.get(&target).status;
            // thumbor answers 400 for a signature that is wrong.
            let is_own = !own.is_empty() && target.starts_with(own);
            assert!(
                status == 403 || (is_own && status == 400),
                "{target}: {status}"
            );
        }
        let reply = house.get("/small_light(dw=5000,dh=5000)/trip/a.jpg");
        assert!(
            reply.text().contains("`open = true` in [small_light]"),
            "{}",
            reply.text()
        );
        // Of a folder with closed files no name is told.
        let page = house.get("/").text();
        assert!(!page.contains("a.jpg"), "{page}");
        if own.is_empty() {
            for target in spelt("trip/a.jpg") {
                let target = signed(0, &target);
                let status = house.get(&target).status;
                assert!(matches!(status, 200 | 303), "{target}: {status}");
            }
        }
    }
    let open = format!(
        "[signing]\nkeys = [\"{KEY}\"]\n[small_light]\nopen = true\n[files]\nopen = true\n"
    );
    let house = House::with(&open);
    for (target, status) in [
        ("/a.jpg", 200),
        ("/small_light(dw=9)/a.jpg", 200),
        ("/r/fit:9x9/a.jpg", 403),
    ] {
        assert_eq!(house.get(target).status, status, "{target}");
    }
}

#[test]
fn presets_close_other_languages() {
    let presets = "[native]\nonly_presets = true\npresets = { thumb = \"fit:9x9\" }\n";
    let house = house(presets);
    for target in spelt("trip/a.jpg") {
        let status = house.get(&target).status;
        let expected = match target.as_str() {
            "/trip/a.jpg" => 200,
            native if native.starts_with("/r/") => 400,
            _ => 403,
        };
        assert_eq!(status, expected, "{target}");
    }
    assert_eq!(house.get("/p/thumb/trip/a.jpg").status, 200);
}

#[test]
fn a_scope_opens_what_it_names_and_nothing_beside_it() {
    let house = house(&format!("{LINK}[signing]\nkeys = [\"{KEY}\"]\n"));
    house.put_sample("sub/b.jpg", "jpeg/420.jpg");
    let image = signed(3, "/iiif/3/sub%2Fb.jpg");
    for (rest, status) in [
        ("/full/9,/0/default.jpg", 200),
        ("/info.json", 200),
        ("", 303),
        ("/../../secure/a.jpg/full/max/0/default.jpg", 400),
        ("/%2e%2e/%2e%2e/secure/a.jpg/full/max/0/default.jpg", 400),
        ("/..%2F..%2Fsecure%2Fa.jpg/full/max/0/default.jpg", 400),
        ("/small_light(dw=9)/trip/a.jpg", 403),
        ("/small_light(dw=9)/secure/a.jpg", 403),
    ] {
        let reply = house.get(&format!("{image}{rest}"));
        assert_eq!(reply.status, status, "{rest}: {}", reply.text());
    }
    // Viewers build all URLs on what the information says.
    let facts = house.get(&format!("{image}/info.json")).text();
    let id = format!("http://test{image}\"");
    assert!(facts.contains(&id), "{facts}");
    let redirect = house.get(&image);
    assert_eq!(
        redirect.header("location"),
        Some(&*format!("{image}/info.json"))
    );
    let folder = signed(3, "/r/fit:9x9/trip");
    assert_eq!(house.get(&format!("{folder}/a.jpg")).status, 200);
    let size = signed(2, "/r/fit:9x9");
    for (rest, status) in [("/trip/a.jpg", 200), ("/secure/a.jpg", 403)] {
        assert_eq!(house.get(&format!("{size}{rest}")).status, status, "{rest}");
    }
    let query = signed(1, "/weserv");
    assert_eq!(house.get(&format!("{query}/?url=/trip/a.jpg")).status, 403);
}

#[test]
fn a_signature_or_a_link_opens_what_is_guarded_for_as_long_as_it_is_good() {
    let house = house(&format!("{LINK}[signing]\nkeys = [\"{KEY}\"]\n"));
    for target in spelt("secure/a.jpg") {
        let target = signed(0, &target);
        let reply = house.get(&target);
        assert!(
            matches!(reply.status, 200 | 303),
            "{target}: {}",
            reply.text()
        );
    }
    // What may be had now is asked again once it is over, however often it was sent before.
    let mut client = house.client();
    let short = link("/secure/sub/a.jpg", 2);
    assert_eq!(client.get(&short).status, 200);
    let began = std::time::Instant::now();
    while client.get(&short).status == 200 {
        assert!(began.elapsed().as_secs() < 30, "it never ends");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(client.get(&short).status, 410);
}

#[test]
fn rewrites_lead_to_what_is_guarded_only_where_they_say_so() {
    let rewrite = |opens: &str| {
        format!(
            "[[rewrite]]\nfrom = '^/old/(.*)$'\nto = '/$1'\n\
             [[rewrite]]\nfrom = '^/thumb/(.*)$'\nto = '/small_light(dw=9)/secure/$1'\n{opens}{LINK}"
        )
    };
    let guarded = house(&rewrite(""));
    for target in [
        "/thumb/a.jpg",
        "/old/secure/a.jpg",
        "/old/r/original/secure/a.jpg",
    ] {
        assert_eq!(guarded.get(target).status, 403, "{target}");
    }
    let opened = house(&rewrite("opens = true\n"));
    assert_eq!(opened.get("/thumb/a.jpg").size().0, 9);
    assert_eq!(opened.get("/old/secure/a.jpg").status, 403);
    assert_eq!(opened.get("/thumb/../trip/a.jpg").status, 400);
}

#[test]
fn a_rule_that_closes_a_path_closes_every_spelling_of_it() {
    let house = House::with(
        "[[rewrite]]\nfrom = '^/private/'\nto = '/.closed'\n[[rewrite]]\nfrom = '^/(.*)$'\nto = '/$1'\n",
    );
    house.put_sample("private/a.jpg", "jpeg/420.jpg");
    for path in paths("private/a.jpg") {
        let path = path.replacen("pri", "%70ri", 1);
        assert_eq!(house.get(&format!("/{path}")).status, 404, "{path}");
    }
}

#[test]
fn nobody_is_redirected_to_other_sites() {
    let house = house("");
    let reply = house.get("/weserv/?url=%5C&default=https://elsewhere.example/a.jpg");
    assert!(reply.status >= 400, "{:?}", reply.header("location"));
}
