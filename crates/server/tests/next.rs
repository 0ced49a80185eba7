//! The image component of Next.js over a socket: images, headers, lifetimes and the texts of errors.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::common::images::animation;
use crate::common::{House, Reply, sample};

const KEYS: &str = "[next]\nprefix = \"/_next/image\"\nvercel_prefix = \"/_vercel/image\"\n\
                    formats = [\"image/avif\", \"image/webp\"]\n";

fn house(keys: &str) -> House {
    House::with(&format!("{KEYS}{keys}"))
}

fn get(house: &House, target: &str, accept: &str) -> Reply {
    house.request("GET", target, &[("accept", accept)])
}

#[test]
fn variants_have_the_width_the_format_and_the_headers_of_next() {
    let house = house("");
    for prefix in ["/_next/image", "/_vercel/image"] {
        let target = format!("{prefix}?url=%2Fa.jpg&w=256&q=75");
        for (accept, format) in [
            ("image/avif,image/webp,image/*,*/*;q=0.8", "avif"),
            ("image/webp,*/*;q=0.8", "webp"),
            ("*/*", "jpeg"),
        ] {
            let reply = get(&house, &target, accept);
            assert_eq!(reply.status, 200, "{}", reply.text());
            assert_eq!((reply.format(), reply.size()), (format, (256, 192)));
            let disposition = format!("attachment; filename=\"a.{format}\"");
            for (name, value) in [
                ("vary", "Accept"),
                ("cache-control", "public, max-age=14400, must-revalidate"),
                (
                    "content-security-policy",
                    "script-src 'none'; frame-src 'none'; sandbox;",
                ),
                ("content-disposition", &disposition),
            ] {
                let said = reply.header(name).map(str::to_ascii_lowercase);
                assert_eq!(said, Some(value.to_ascii_lowercase()), "{name}");
            }
            let tag = reply.header("etag").expect("an entity tag").to_owned();
            let again = [("accept", accept), ("if-none-match", &*tag)];
            let reply = house.request("GET", &target, &again);
            assert_eq!(reply.status, 304);
            let kept = reply.header("cache-control");
            assert_eq!(kept, Some("public, max-age=14400, must-revalidate"));
        }
    }
}

#[test]
fn nothing_is_enlarged_and_what_the_optimizer_leaves_alone_keeps_its_bytes() {
    let house = house("allow_svg = true\n");
    let moving = animation("gif", (64, 48), 3, 10);
    house.put("moving.gif", &moving);
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";
    house.put("drawing.svg", drawing);
    let reply = get(&house, "/_next/image?url=%2Fa.jpg&w=640&q=75", "*/*");
    assert_eq!(reply.size(), (400, 300));
    for (name, media_type, bytes) in [
        ("moving.gif", "image/gif", &*moving),
        ("drawing.svg", "image/svg+xml", drawing.as_bytes()),
    ] {
        let target = format!("/_next/image?url=%2F{name}&w=32&q=75");
        let reply = get(&house, &target, "image/avif,image/webp");
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
        assert_eq!(reply.header("content-type"), Some(media_type));
        assert!(reply.body == bytes, "{name} has other bytes");
    }
}

#[test]
fn errors_are_the_texts_of_next() {
    let house = house("");
    house.put("text.jpg", "no image");
    house.put(
        "broken.jpg",
        &fs::read(sample("jpeg/420.jpg")).expect("a sample")[..60],
    );
    house.put(
        "drawing.svg",
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
    );
    for (query, status, text) in [
        ("", 400, "\"url\" parameter is required"),
        (
            "url=%2Fa.jpg&w=5&q=75",
            400,
            "\"w\" parameter (width) of 5 is not allowed",
        ),
        (
            "url=%2Fa.jpg&w=640&q=76",
            400,
            "\"q\" parameter (quality) of 76 is not allowed",
        ),
        (
            "url=https%3A%2F%2Fa.example%2Fb&w=640&q=75",
            400,
            "\"url\" parameter is not allowed",
        ),
        (
            "url=%2Fnone.jpg&w=640&q=75",
            404,
            "\"url\" parameter is valid but internal response is invalid",
        ),
        (
            "url=%2Ftext.jpg&w=640&q=75",
            400,
            "The requested resource isn't a valid image.",
        ),
        (
            "url=%2Fbroken.jpg&w=640&q=75",
            400,
            "The requested resource isn't a valid image.",
        ),
        (
            "url=%2Fdrawing.svg&w=640&q=75",
            400,
            "\"url\" parameter is valid but image type is not allowed",
        ),
    ] {
        let reply = house.get(&format!("/_next/image?{query}"));
        assert_eq!((reply.status, &*reply.text()), (status, text), "{query}");
    }
}

#[test]
fn a_pattern_permits_what_an_origin_allows_and_no_more() {
    let patterns = "domains = [\"a.example\"]\n\
                    remote_patterns = [{ hostname = \"**.b.example\", pathname = \"/photos/**\" }]\n";
    let house = house(patterns);
    for (url, status, text) in [
        // Permitted here, but no origin allows it.
        (
            "https%3A%2F%2Fa.example%2Fa.jpg",
            400,
            "\"url\" parameter is not allowed",
        ),
        (
            "https%3A%2F%2Fx.b.example%2Fphotos%2Fa.jpg",
            400,
            "\"url\" parameter is not allowed",
        ),
        (
            "http%3A%2F%2F169.254.169.254%2Flatest",
            400,
            "\"url\" parameter is not allowed",
        ),
    ] {
        let reply = house.get(&format!("/_next/image?url={url}&w=640&q=75"));
        assert_eq!((reply.status, &*reply.text()), (status, text), "{url}");
    }
}

/// What `next start` of Next.js 16 answers for each of the samples; made by `tools/recorded/next.mjs`.
const RECORDED: &str = include_str!("recorded/next.json");

#[derive(Deserialize)]
struct Known {
    query: String,
    accept: String,
    status: u16,
    #[serde(default)]
    text: String,
    #[serde(default)]
    headers: std::collections::BTreeMap<String, String>,
    /// Whether the body is the source.
    #[serde(default)]
    same: bool,
    /// Width and height in px of a body that is not the source.
    #[serde(default)]
    size: Option<(u32, u32)>,
}

fn copy_samples(folder: &Path) {
    for kind in fs::read_dir(sample("")).expect("the samples").flatten() {
        let to = folder.join("root").join(kind.file_name());
        if !kind.path().is_dir() {
            fs::copy(kind.path(), to).expect("a copy");
            continue;
        }
        fs::create_dir_all(&to).expect("a folder");
        for file in fs::read_dir(kind.path()).expect("a folder").flatten() {
            fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
        }
    }
}

/// Returns how an answer differs from what Next.js answers; empty if it does not.
fn difference(known: &Known, reply: &Reply) -> String {
    if reply.status != known.status {
        return format!("{} and not {}", reply.status, known.status);
    }
    if reply.status != 200 {
        let text = reply.text();
        let wrong = (text != known.text).then(|| format!("{text} and not {}", known.text));
        return wrong.unwrap_or_default();
    }
    for (name, value) in &known.headers {
        let said = reply.header(name).unwrap_or_default();
        // Next.js compresses what it sends.
        let value = value.strip_suffix(", Accept-Encoding").unwrap_or(value);
        if !said.eq_ignore_ascii_case(value) {
            return format!("{name}: {said} and not {value}");
        }
    }
    match known.size {
        Some(size) if reply.size() != size => format!("{:?} and not {size:?}", reply.size()),
        _ => String::new(),
    }
}

#[test]
fn every_sample_is_answered_as_next_answers_it() {
    let keys = "qualities = [30, 75, 100]\nremote_patterns = [{ hostname = \"**.example.com\" }]\n";
    let house = House::furnished(&format!("{KEYS}{keys}"), copy_samples);
    let all: Vec<Known> = serde_json::from_str(RECORDED).expect("a list");
    assert!(all.len() > 300);
    let mut wrong = Vec::new();
    for known in &all {
        let target = format!("/_next/image?{}", known.query);
        let reply = get(&house, &target, &known.accept);
        let mut difference = difference(known, &reply);
        if known.same {
            let path = known.query["url=".len()..]
                .split('&')
                .next()
                .unwrap_or_default();
            let source = fs::read(sample(&path.replace("%2F", "/")[1..])).expect("a sample");
            if source != reply.body {
                difference.push_str(" has other bytes");
            }
        }
        // Next.js shows nothing of the first three, and dot segments are refused here in all languages. Hardly any
        // browser draws TIFF. Only a program that can start processes reads HEIC in its sandbox.
        let meant = [
            "animated.avif",
            "moving-alpha.avif",
            "chart.svgz",
            "/../",
            ".heic",
        ];
        let is_tiff = known
            .headers
            .get("content-type")
            .is_some_and(|name| name == "image/tiff");
        let is_meant = is_tiff || meant.iter().any(|name| known.query.contains(name));
        if !difference.is_empty() && !is_meant {
            wrong.push(format!("{} ({}): {difference}", known.query, known.accept));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
