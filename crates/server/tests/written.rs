//! An origin is asked for its sources as they are written, in every dialect and with every kind of origin.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};

use crate::common::origin::Origin;
use crate::common::{House, sample};

/// How a dialect's URL has a source in it.
#[derive(Clone, Copy)]
enum Layer {
    /// The source's path or URL is not encoded.
    Bare,
    /// Percent-encoded, slashes too: what it is decoded to is meant.
    Escaped,
    /// Percent-encoded like [`Layer::Escaped`] but for what may stand in a path, as Nuxt Image writes it.
    Path,
    /// Base64, after this prefix.
    Base64(&'static str),
}

/// Dialects whose URLs have a path of a source in them: before it, after it, and what the path itself begins with.
const PATHS: &[(&str, &str, &str, Layer)] = &[
    ("", "", "", Layer::Bare),
    ("/r/fit:8x8/", "", "", Layer::Bare),
    ("/small_light(dw=8)/", "", "", Layer::Bare),
    ("/if/image_filter(resize,8,8)/", "", "", Layer::Bare),
    ("/cf/width=8/", "", "", Layer::Bare),
    ("/ix/", "?w=8", "", Layer::Bare),
    ("/ip/unsafe/w:8/plain/", "", "local:///", Layer::Escaped),
    ("/ip/unsafe/w:8/", "", "local:///", Layer::Base64("")),
    ("/th/unsafe/8x8/", "", "", Layer::Escaped),
    ("/im/unsafe/8x8/", "", "", Layer::Escaped),
    ("/im/unsafe/8x8/", "", "", Layer::Base64("b64:")),
    ("/ws/?w=8&url=", "", "/", Layer::Escaped),
    ("/iiif/", "/full/8,/0/default.png", "", Layer::Escaped),
];

/// Dialects whose URLs take absolute URLs of sources.
const URLS: &[(&str, &str, Layer)] = &[
    ("/r/fit:8x8/", "", Layer::Bare),
    ("/r/fit:8x8/", "", Layer::Escaped),
    ("/cf/width=8/", "", Layer::Bare),
    ("/ix/", "?w=8", Layer::Escaped),
    ("/ip/unsafe/w:8/plain/", "", Layer::Escaped),
    ("/ip/unsafe/w:8/", "", Layer::Base64("")),
    ("/th/unsafe/8x8/", "", Layer::Escaped),
    ("/im/unsafe/8x8/", "", Layer::Escaped),
    ("/im/unsafe/8x8/", "", Layer::Base64("b64:")),
    ("/ws/?w=8&url=", "", Layer::Escaped),
    ("/iiif/", "/full/8,/0/default.png", Layer::Escaped),
    ("/_ipx/w_8/", "", Layer::Path),
    ("/_ipx/w_8/", "", Layer::Escaped),
    ("/_image?w=8&href=", "", Layer::Escaped),
];

const DIALECTS: &str = "[imgproxy]\nprefix = \"/ip\"\n[thumbor]\nprefix = \"/th\"\n[imagor]\nprefix = \"/im\"\nallow_unsafe = true\n\
    [weserv]\nprefix = \"/ws\"\n[cloudflare]\nprefix = \"/cf\"\n[imgix]\nprefix = \"/ix\"\n[iiif]\nprefix = \"/iiif\"\n\
    [image_filter]\nprefix = \"/if\"\n[ipx]\nprefix = \"/_ipx\"\n[astro]\nprefix = \"/_image\"\n[cache]\nmemory = \"0\"\n";

/// RFC 3986: what may stand in a segment of a path.
const BARE: &str = "-._~!$&'()*+,;=:@";

/// All characters of RFC 3986 that are no letters or digits, and some that may not be in a URL at all.
const ALL: &str = "-._~!$&'()*+,;=:@/?#[]% \"<>\\^`{|}é日";

fn encoded(text: &str, bare: &str) -> String {
    let mut encoded = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || bare.contains(letter) {
            encoded.push(letter);
            continue;
        }
        for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Returns names of sources as they stand in URLs, all of them different: with every character of [`ALL`] escaped and,
/// if allowed, bare, with empty segments, and with escapes of a letter, of slashes and of a percent sign.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "x//y.png",
        "x///y.png",
        "x%c3%a9y.png",
        "x%2fy.png",
        "x/%2Fy.png",
        "x%2F/y.png",
        "x%2F%2Fy.png",
        "x%41y.png",
    ]
    .map(str::to_owned)
    .into();
    names.push("x%252Fy.png".to_owned());
    for (at, letter) in ALL.chars().enumerate() {
        if BARE.contains(letter) {
            names.push(format!("{at}x{letter}y.png"));
        }
        names.push(format!("{at}x{}y.png", encoded(&letter.to_string(), "")));
    }
    names
}

/// A name as it is decoded, once.
fn decoded(name: &str) -> String {
    percent_encoding::percent_decode_str(name)
        .decode_utf8()
        .expect("UTF-8")
        .into_owned()
}

fn written(layer: Layer, text: &str) -> String {
    match layer {
        Layer::Bare => text.to_owned(),
        Layer::Escaped => encoded(text, ""),
        Layer::Path => encoded(text, &format!("{BARE}/")),
        Layer::Base64(mark) => format!("{mark}{}", BASE64_URL_SAFE_NO_PAD.encode(text)),
    }
}

fn image_file() -> Vec<u8> {
    std::fs::read(sample("png/alpha.png")).expect("a sample")
}

/// Checks that the origin has received exactly one request after its first `before` requests, with the target
/// `expected`. The error names the targets that were requested instead.
fn asked_for(origin: &Origin, before: usize, expected: &str) -> Result<(), String> {
    match &origin.targets()[before..] {
        [only] if only == expected => Ok(()),
        other => Err(format!("{other:?} instead of {expected}")),
    }
}

#[test]
fn a_web_server_and_buckets_are_asked_for_the_path_that_is_written_in_every_dialect() {
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (kind, keys) in [
        ("http", "http.base = \"HOST/base/\""),
        ("s3", "s3 = { bucket = \"base\", endpoint = \"HOST\" }"),
        ("gcs", "gcs = { bucket = \"base\", endpoint = \"HOST\" }"),
        (
            "azure",
            "azure = { bucket = \"base\", account = \"a\", endpoint = \"HOST\" }",
        ),
    ] {
        let origin = Origin::start(image_file(), "");
        let host = format!("http://127.0.0.1:{}", origin.port());
        let house = House::with(&format!(
            "{DIALECTS}[[origin]]\nprefix = \"/far\"\nallow = [\"127.0.0.1\"]\n{}\n",
            keys.replace("HOST", &host)
        ));
        let mut client = house.client();
        for name in names() {
            let text = decoded(&name);
            for (before, after, begins, layer) in PATHS {
                // What a layer of escapes is decoded to is a text, which has no escapes of its own.
                let (path, is_bare) = match layer {
                    Layer::Bare => (format!("far/{name}"), true),
                    _ => (format!("{begins}far/{text}"), false),
                };
                let target = match before.is_empty() {
                    true => format!("/{path}"),
                    false => format!("{before}{}{after}", written(*layer, &path)),
                };
                let expected = match (kind, is_bare) {
                    ("http", true) => format!("/base/{name}"),
                    ("http", false) => format!("/base/{}", encoded(&text, &format!("{BARE}/"))),
                    _ => format!("/base/{}", encoded(&text, "-._~/")),
                };
                let seen = origin.asked();
                let reply = client.get(&target);
                asked += 1;
                // This dialect's own server takes a backslash for an attempt to name a host.
                if before.starts_with("/ws") && text.contains('\\') {
                    assert_eq!((reply.status, origin.asked()), (400, seen), "{target}");
                } else if let Err(why) = asked_for(&origin, seen, &expected) {
                    wrong.push(format!("{kind} {target}: {} {why}", reply.status));
                } else if reply.status != 200 {
                    wrong.push(format!(
                        "{kind} {target}: {} {}",
                        reply.status,
                        reply.text()
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {asked}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn an_absolute_url_is_asked_for_as_it_is_written_in_every_dialect_that_takes_one() {
    let mut wrong = Vec::new();
    let mut asked = 0;
    let mut paths: Vec<String> = names();
    paths.extend(names().iter().map(|name| {
        let value = name.trim_end_matches(".png");
        format!("q.png?a={value}&{value}=b&e=")
    }));
    paths.extend(
        [
            "q.png?",
            "q.png?u=https://a.example/b?c=d",
            "q.png?a+b=%20%2B",
        ]
        .map(str::to_owned),
    );
    for (kind, keys) in [
        ("urls", "http.urls = [\"HOST/base/\"]"),
        ("base", "prefix = \"/far\"\nhttp.base = \"HOST/base\""),
    ] {
        let origin = Origin::start(image_file(), "");
        let host = format!("http://127.0.0.1:{}", origin.port());
        let house = House::with(&format!(
            "{DIALECTS}[[origin]]\nallow = [\"127.0.0.1\"]\n{}\n",
            keys.replace("HOST", &host)
        ));
        let mut client = house.client();
        for path in &paths {
            for (before, after, layer) in URLS {
                // A question mark that is not escaped begins a query, of a URL in a path as of any other; only Cloudflare's
                // sources have one.
                if matches!(layer, Layer::Bare) && path.contains('?') && !before.starts_with("/cf")
                {
                    continue;
                }
                let url = format!("{host}/base/{path}");
                let target = format!("{before}{}{after}", written(*layer, &url));
                let seen = origin.asked();
                let reply = client.get(&target);
                asked += 1;
                if let Err(why) = asked_for(&origin, seen, &format!("/base/{path}")) {
                    wrong.push(format!(
                        "{kind} {target}: {} {why} {}",
                        reply.status,
                        reply.text()
                    ));
                } else if reply.status != 200 {
                    wrong.push(format!(
                        "{kind} {target}: {} {}",
                        reply.status,
                        reply.text()
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {asked}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn keys_with_empty_dotted_and_leading_segments_are_reached_in_base64() {
    let origin = Origin::start(image_file(), "");
    let house = House::with(&format!(
        "{DIALECTS}[[origin]]\nprefix = \"/far\"\nallow = [\"127.0.0.1\"]\n\
         s3 = {{ bucket = \"base\", endpoint = \"http://127.0.0.1:{}\" }}\n",
        origin.port()
    ));
    for key in [
        "dir//a.png",
        "/a.png",
        "//a.png",
        "a/./b.png",
        "a/../b.png",
        "..",
        "a/..",
    ] {
        let path = BASE64_URL_SAFE_NO_PAD.encode(format!("local:///far/{key}"));
        let seen = origin.asked();
        let reply = house.get(&format!("/ip/unsafe/w:8/{path}"));
        assert_eq!(reply.status, 200, "{key}: {}", reply.text());
        assert_eq!(origin.targets()[seen..], [format!("/base/{key}")]);
    }
}
