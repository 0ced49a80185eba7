use andon_recipe::Facts;
use proptest::prelude::*;

use super::config::NextConfig;
use super::patterns::{LocalPattern, Patterns};
use super::query::preferred;
use crate::config::Settings;
use crate::errors::Fault;
use crate::errors::Told;
use crate::remote_pattern::RemotePattern;
use crate::request::ImageRequest;
use crate::{Config, Dialects, Headers, Refusal};

fn dialects(change: impl FnOnce(&mut NextConfig)) -> Dialects {
    let mut next = NextConfig::usual();
    change(&mut next);
    let config = Config {
        next,
        ..Config::default()
    };
    Dialects::new(&config).expect("settings that work")
}

fn parse(target: &str) -> Result<ImageRequest, Refusal> {
    dialects(|next| next.domains = vec!["pictures.example".to_owned()]).parse(target)
}

/// The recipe for a source of 1200x800 px.
fn recipe(format: &str, target: &str) -> String {
    let request = parse(target).expect("a request");
    let resolved = request.rules.resolve(&Facts::new(format, 1200, 800));
    resolved.expect("a recipe").to_string()
}

#[test]
fn a_source_is_a_path_or_a_permitted_url() {
    for (url, source) in [
        ("%2Ftrip%2Fa.jpg", "trip/a.jpg"),
        ("/trip/a.jpg", "trip/a.jpg"),
        ("%2Fa%20b.jpg", "a b.jpg"),
        ("%2Fa%2520b.jpg", "a b.jpg"),
        (
            "https%3A%2F%2Fpictures.example%2Fa.jpg%3Fv%3D2",
            "https://pictures.example/a.jpg?v=2",
        ),
    ] {
        let target = format!("/_next/image?url={url}&w=640&q=75");
        assert_eq!(parse(&target).expect(url).source.place(), source, "{url}");
        // The URL that the setting `trailingSlash` of Next.js leads to.
        let slash = target.replace('?', "/?");
        assert_eq!(parse(&slash).expect(url).source.place(), source, "{url}");
        let target = target.replace("_next", "_vercel");
        assert_eq!(parse(&target).expect(url).source.place(), source, "{url}");
    }
}

#[test]
fn what_is_wrong_is_said_in_the_words_of_next() {
    let long = "a".repeat(3072);
    for (query, text) in [
        ("w=640&q=75".to_owned(), "\"url\" parameter is required"),
        (
            "url=&w=640&q=75".to_owned(),
            "\"url\" parameter is required",
        ),
        (
            "url=%2Fa&url=%2Fb&w=640&q=75".to_owned(),
            "\"url\" parameter cannot be an array",
        ),
        (
            format!("url=/{long}&w=640&q=75"),
            "\"url\" parameter is too long",
        ),
        (
            "url=%2F%2Fpictures.example%2Fa&w=640&q=75".to_owned(),
            "\"url\" parameter cannot be a protocol-relative URL (//)",
        ),
        (
            "url=%2F_next%2Fimage%3Furl%3D%2Fa&w=640&q=75".to_owned(),
            "\"url\" parameter cannot be recursive",
        ),
        (
            "url=%2F%255Fnext%2Fimage&w=640&q=75".to_owned(),
            "\"url\" parameter cannot be recursive",
        ),
        (
            "url=%2Fa.jpg%3Fv%3D1&w=640&q=75".to_owned(),
            "\"url\" parameter is not allowed",
        ),
        (
            "url=%2Ftrip%2F..%2Fa.jpg&w=640&q=75".to_owned(),
            "\"url\" parameter is not allowed",
        ),
        (
            "url=%2F%5Cevil.example%2Fa.jpg&w=640&q=75".to_owned(),
            "\"url\" parameter is not allowed",
        ),
        (
            "url=a.jpg&w=640&q=75".to_owned(),
            "\"url\" parameter is invalid",
        ),
        (
            "url=ftp%3A%2F%2Fpictures.example%2Fa&w=640&q=75".to_owned(),
            "\"url\" parameter is invalid",
        ),
        (
            "url=https%3A%2F%2Fother.example%2Fa&w=640&q=75".to_owned(),
            "\"url\" parameter is not allowed",
        ),
        (
            "url=%2Fa&q=75".to_owned(),
            "\"w\" parameter (width) is required",
        ),
        (
            "url=%2Fa&w=1&w=2&q=75".to_owned(),
            "\"w\" parameter (width) cannot be an array",
        ),
        (
            "url=%2Fa&w=640px&q=75".to_owned(),
            "\"w\" parameter (width) must be an integer greater than 0",
        ),
        (
            "url=%2Fa&w=0&q=75".to_owned(),
            "\"w\" parameter (width) must be an integer greater than 0",
        ),
        (
            "url=%2Fa&w=5&q=75".to_owned(),
            "\"w\" parameter (width) of 5 is not allowed",
        ),
        (
            "url=%2Fa&w=640".to_owned(),
            "\"q\" parameter (quality) is required",
        ),
        (
            "url=%2Fa&w=640&q=101".to_owned(),
            "\"q\" parameter (quality) must be an integer between 1 and 100",
        ),
        (
            "url=%2Fa&w=640&q=-1".to_owned(),
            "\"q\" parameter (quality) must be an integer between 1 and 100",
        ),
        (
            "url=%2Fa&w=640&q=80".to_owned(),
            "\"q\" parameter (quality) of 80 is not allowed",
        ),
    ] {
        let refusal = parse(&format!("/_next/image?{query}")).expect_err(&query);
        let style = refusal.errors.0;
        let (_, body) = style
            .body(&Told::of(refusal.fault, 400, &refusal.to_string()))
            .expect("a text");
        assert_eq!(
            (&*body, style.status(refusal.fault, 0)),
            (text, 400),
            "{query}"
        );
    }
}

#[test]
fn widths_scale_down_and_qualities_are_those_of_the_format() {
    let target = "/_next/image?url=%2Fa&w=640&q=75";
    assert_eq!(
        recipe("jpeg", target),
        "exact:640x427,q:75,progressive,chroma:420"
    );
    // Clients that accept neither format get JPEG.
    for format in ["webp", "avif"] {
        let recipe = recipe(format, target);
        assert_eq!(recipe, "exact:640x427,as:jpeg,q:75,progressive,chroma:420");
    }
    assert_eq!(recipe("png", target), "exact:640x427,with:colours:256");
    let large = recipe("jpeg", "/_next/image?url=%2Fa&w=1920&q=75");
    assert_eq!(large, "q:75,progressive,chroma:420");
}

/// An `Accept` header.
struct Accept(&'static str);

impl Headers for Accept {
    fn get(&self, name: &str) -> Option<&str> {
        (name == "accept").then_some(self.0)
    }
}

#[test]
fn the_format_is_the_first_that_accept_names() {
    let all = ["avif", "webp"];
    for (accept, formats, format) in [
        ("image/avif,image/webp,*/*;q=0.8", &all[..], Some("avif")),
        ("image/avif,image/webp,*/*;q=0.8", &all[1..], Some("webp")),
        ("image/avif;q=0.5,image/webp", &all[..], Some("webp")),
        ("image/*,*/*;q=0.8", &all[..], None),
        ("image/webp,*/*", &all[..], Some("webp")),
        ("image/webp;q=0.5,*/*", &all[..], None),
        (
            "image/webp;q=0.5,image/avif;q=0.4,*/*",
            &all[..],
            Some("webp"),
        ),
        ("image/webp,image/avif", &all[..], Some("avif")),
        ("*/*", &all[..], None),
        ("", &all[..], None),
        ("image/webp;q=0", &all[..], None),
    ] {
        assert_eq!(preferred(formats, accept), format, "{accept}");
    }
    let dialects = dialects(|_| {});
    let target = "/_next/image?url=%2Fa&w=640&q=75";
    let request = dialects
        .parse_with(target, &Accept("image/webp"))
        .expect("a request");
    assert_eq!(request.style.reads, ["accept"]);
    let recipe = request.rules.resolve(&Facts::new("png", 1200, 800));
    assert_eq!(
        recipe.expect("a recipe").to_string(),
        "exact:640x427,as:webp,q:75"
    );
}

#[test]
fn what_the_optimizer_leaves_alone_is_sent_as_it_is() {
    let request = parse("/_next/image?url=%2Fa&w=640&q=75").expect("a request");
    for format in ["ico", "bmp", "jxl", "heic"] {
        let recipe = request.rules.resolve(&Facts::new(format, 64, 64));
        assert_eq!(
            recipe.expect("a recipe").to_string(),
            "original",
            "{format}"
        );
    }
    let mut moving = Facts::new("gif", 64, 64);
    moving.frames = 3;
    let recipe = request.rules.resolve(&moving).expect("a recipe");
    assert_eq!(recipe.to_string(), "original");
    let svg = Facts::new("svg", 64, 64);
    let error = request
        .rules
        .resolve(&svg)
        .expect_err("SVG is not permitted");
    assert!(error.why.contains("allow_svg"), "{error}");
    let open = dialects(|next| next.allow_svg = true);
    let request = open
        .parse("/_next/image?url=%2Fa&w=640&q=75")
        .expect("a request");
    let recipe = request.rules.resolve(&svg).expect("a recipe");
    assert_eq!(recipe.to_string(), "original");
}

#[test]
fn names_and_lifetimes_are_those_of_the_source() {
    for (url, name, keeping) in [
        (
            "%2Ftrip%2Fa.b.jpg",
            "attachment; filename=\"a.{extension}\"",
            "public, max-age=14400, must-revalidate",
        ),
        (
            "%2F_next%2Fstatic%2Fmedia%2Fdog.0a1b.jpg",
            "attachment; filename=\"dog.{extension}\"",
            "public, max-age=315360000, immutable",
        ),
    ] {
        let request = parse(&format!("/_next/image?url={url}&w=640&q=75")).expect(url);
        assert_eq!(request.style.headers[0].1, name);
        assert_eq!(request.style.cached_for(60), keeping);
    }
}

#[test]
fn errors_tell_pages_of_the_application_from_other_hosts() {
    let local = parse("/_next/image?url=%2Fa&w=640&q=75").expect("a request");
    let remote = parse("/_next/image?url=https%3A%2F%2Fpictures.example%2Fa&w=640&q=75");
    for (request, place) in [
        (local, "internal"),
        (remote.expect("a request"), "upstream"),
    ] {
        let (_, text) = request
            .style
            .errors
            .0
            .body(&Told::of(Fault::Missing, 404, ""))
            .expect("a text");
        let wanted = format!("\"url\" parameter is valid but {place} response is invalid");
        assert_eq!(text, wanted);
    }
}

/// What Next.js 16 answers for pairs of pattern and URL; made by `tools/recorded/next_patterns.mjs`.
const PATTERNS: &str = include_str!("patterns.json");

#[derive(serde::Deserialize)]
struct Known {
    remote: Option<RemotePattern>,
    local: Option<LocalPattern>,
    url: String,
    permitted: bool,
}

#[test]
fn patterns_permit_what_those_of_next_permit() {
    let all: Vec<Known> = serde_json::from_str(PATTERNS).expect("a list");
    assert!(all.len() > 100);
    for known in all {
        let remote: Vec<_> = known.remote.into_iter().collect();
        let local: Vec<_> = known.local.into_iter().collect();
        let patterns = Patterns::new(&[], &remote, &local).expect("patterns");
        let base = url::Url::parse("http://n").expect("a URL");
        let url = base.join(&known.url).expect("a URL");
        let permitted = match local.is_empty() {
            true => patterns.permit_url(&url),
            false => patterns.permit_path(&url),
        };
        assert_eq!(
            permitted, known.permitted,
            "{remote:?} {local:?} {}",
            known.url
        );
    }
}

#[test]
fn settings_that_cannot_work_are_refused_with_their_key() {
    type Change = fn(&mut NextConfig);
    let changes: [(Change, &str); 6] = [
        (
            |next| next.formats = vec!["image/jxl".to_owned()],
            "next.formats",
        ),
        (|next| next.site = "localhost:3000".to_owned(), "next.site"),
        (
            |next| next.site = "http://a.example/b".to_owned(),
            "next.site",
        ),
        (|next| next.base_path = "docs".to_owned(), "next.base_path"),
        (
            |next| next.remote_patterns = vec![RemotePattern::default()],
            "next.remote_patterns",
        ),
        (
            |next| {
                next.local_patterns = vec![LocalPattern {
                    pathname: Some("/[a".to_owned()),
                    search: None,
                }];
            },
            "next.local_patterns",
        ),
    ];
    for (change, key) in changes {
        let mut next = NextConfig::usual();
        change(&mut next);
        let error = next.dialect().expect_err(key);
        assert!(error.to_string().contains(key), "{error}");
    }
}

proptest! {
    /// No query causes a panic, and each parsed request can be written as a target and parsed again.
    #[test]
    fn queries_are_read_as_they_are_written(query in "(&?(url|w|q)=(%2F|/|a|%20|%5C|:|%3A|\\.|http:|[0-9]){0,9}){0,4}") {
        let dialects = dialects(|_| {});
        if let Ok(request) = dialects.parse(&format!("/_next/image?{query}"))
            && !request.is_file()
        {
            let written = dialects.write(&request).collect::<Vec<_>>();
            prop_assert!(written.iter().any(|(name, _)| *name == "next"), "{:?}", request.source);
        }
    }
}
