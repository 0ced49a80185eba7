//! Tests of parameters against what Astro and sharp do. What is served is compared with recorded answers in the
//! server's tests.

use andon_recipe::{Facts, Orientation, Recipe};
use proptest::prelude::*;
use url::Url;

use super::remote::fits;
use super::{AstroConfig, Endpoint, is_remote, whole};
use crate::config::Settings;
use crate::percent;
use crate::remote_pattern::RemotePattern;
use crate::vectors;
use crate::{Ask, Config, Dialects, Fault, ImageRequest, Refusal, Source};

fn with(astro: AstroConfig) -> Dialects {
    let config = Config {
        astro: AstroConfig {
            prefix: match &*astro.prefix {
                "" => "/_image".to_owned(),
                prefix => prefix.to_owned(),
            },
            ..astro
        },
        ..Config::default()
    };
    Dialects::new(&config).expect("a configuration")
}

fn ask(options: &str) -> Result<ImageRequest, Refusal> {
    let dialects = with(AstroConfig::default());
    dialects.parse(&format!("/_image?href=/a.jpg&{options}"))
}

#[test]
fn sizes_are_astros_and_nothing_is_enlarged() {
    vectors::check_sizes(
        ask,
        &Facts::new("jpeg", 400, 300),
        &[
            ("w=200", (200, 150)),
            ("w=800&h=100", (400, 100)),
            ("w=800&h=800&fit=fill", (400, 300)),
            ("w=200&h=100&fit=none", (200, 150)),
            ("w=200&h=100&fit=squeeze", (133, 100)),
            ("w=100px", (100, 75)),
            ("w=x&h=0", (400, 300)),
            ("w=200&w=100", (200, 150)),
        ],
    );
    let turned = Facts {
        orientation: Orientation::from_exif(6),
        ..Facts::new("jpeg", 160, 240)
    };
    vectors::check_sizes(
        ask,
        &turned,
        &[("w=100", (100, 67)), ("w=100&h=50", (100, 50))],
    );
}

#[test]
fn qualities_are_numbers_or_words_and_need_a_format() {
    let made = |options: &str| {
        let recipe = vectors::resolved(ask(options), &Facts::new("jpeg", 9, 9)).to_string();
        recipe
            .split(',')
            .find(|word| word.starts_with("q:"))
            .unwrap_or_default()
            .to_owned()
    };
    for (options, right) in [
        ("f=webp&q=low", "q:25"),
        ("f=webp&q=50%25", "q:50"),
        ("f=webp&q=best", "q:80"),
        ("f=avif", "q:50"),
        ("q=0", "q:80"),
    ] {
        assert_eq!(made(options), right, "{options}");
    }
    for wrong in [
        "f=webp&q=0",
        "f=webp&q=101",
        "f=bmp",
        "background=nocolour",
        "w=-5",
        "w=9&h=9&position=4",
    ] {
        assert_eq!(
            ask(wrong).expect_err(wrong).fault,
            Fault::Unsupported,
            "{wrong}"
        );
    }
}

#[test]
fn sources_are_paths_that_are_decoded_twice() {
    let dialects = with(AstroConfig::default());
    let source = |href: &str| {
        dialects
            .parse(&format!("/_image?href={href}"))
            .map(|it| it.source)
    };
    for (href, right) in [
        ("/trip/a%2520b.jpg", "trip/a b.jpg"),
        ("/trip/a+b.jpg", "trip/a b.jpg"),
        ("%2F_astro%2Fa.hash.jpg%3ForigWidth=4", "_astro/a.hash.jpg"),
        ("a.jpg", "a.jpg"),
    ] {
        assert_eq!(source(href), Ok(Source::Path(right.to_owned())), "{href}");
    }
    for href in [
        "//o.test/a.jpg",
        "%5C%5Co.test/a.jpg",
        "data:image/png;base64,AA",
        "file:///a.jpg",
        "c:/a.jpg",
    ] {
        assert_eq!(source(href).expect_err(href).fault, Fault::Source, "{href}");
    }
    // Below a base, the Node adapter looks for the rest of the path.
    let node = with(AstroConfig {
        prefix: "/docs/_image".to_owned(),
        endpoint: Endpoint::Node,
        ..AstroConfig::default()
    });
    let request = node.parse("/docs/_image?href=/docs/_astro/a.jpg").unwrap();
    assert_eq!(request.source.as_str(), "_astro/a.jpg");
}

#[test]
fn svg_is_the_source_as_it_is() {
    let rules = ask("f=svg").unwrap().rules;
    let recipe = rules.resolve(&Facts::new("svg", 9, 9)).unwrap();
    assert_eq!(recipe.to_string(), "original");
    assert!(rules.resolve(&Facts::new("jpeg", 9, 9)).is_err());
}

#[test]
fn only_urls_that_are_listed_may_be_named() {
    let pattern = |protocol: &str, hostname: &str, pathname: &str| RemotePattern {
        protocol: Some(protocol.to_owned()),
        hostname: Some(hostname.to_owned()),
        pathname: Some(pathname.to_owned()),
        ..RemotePattern::default()
    };
    let dialects = with(AstroConfig {
        domains: vec!["o.test".to_owned()],
        remote_patterns: vec![
            pattern("https", "**.p.test", "/public/**"),
            pattern("http", "*.q.test", "/a/*"),
        ],
        ..AstroConfig::default()
    });
    let is_open = |url: &str| dialects.parse(&format!("/_image?href={url}")).is_ok();
    for url in [
        "https://o.test/a.jpg",
        "http://o.test:8080/a.jpg",
        "https://a.b.p.test/public/x/a.jpg",
        "http://a.q.test/a/b.jpg",
    ] {
        assert!(is_open(url), "{url}");
    }
    for url in [
        "https://www.o.test/a.jpg",
        "https://o.test.evil.test/a.jpg",
        "https://p.test/public/a.jpg",
        "https://a.p.test/public/",
        "http://a.p.test/public/a.jpg",
        "http://a.b.q.test/a/b.jpg",
        "http://a.q.test/a/b/c.jpg",
        "http://evilq.test/a/b.jpg",
        "https://user@evil.test%5C@o.test/a.jpg",
    ] {
        assert!(!is_open(url), "{url}");
    }
    // Without a list, it is the origins that decide.
    assert!(
        with(AstroConfig::default())
            .parse("/_image?href=https://any.test/a.jpg")
            .is_ok()
    );
}

#[test]
fn a_pattern_without_words_fits_every_url() {
    let url = Url::parse("https://o.test:8443/a.jpg").unwrap();
    assert!(fits(&RemotePattern::default(), &url));
    let port = |port: &str| RemotePattern {
        port: Some(port.to_owned()),
        ..RemotePattern::default()
    };
    assert!(fits(&port("8443"), &url) && !fits(&port("443"), &url));
}

#[test]
fn a_pattern_of_a_query_is_refused() {
    let config = AstroConfig {
        prefix: "/_image".to_owned(),
        remote_patterns: vec![RemotePattern {
            search: Some("?v=1".to_owned()),
            ..RemotePattern::default()
        }],
        ..AstroConfig::default()
    };
    let error = config.dialect().expect_err("an error").to_string();
    assert!(error.contains("`astro.remote_patterns.search`"), "{error}");
}

#[test]
fn numbers_are_read_from_the_beginning_of_a_text() {
    for (text, right) in [
        ("100px", Some(100.0)),
        (" 7", Some(7.0)),
        ("-5", Some(-5.0)),
        ("0x1f", Some(31.0)),
        ("1e2", Some(1.0)),
        ("", None),
        ("x1", None),
    ] {
        assert_eq!(whole(text), right, "{text}");
    }
}

proptest! {
    #[test]
    fn no_query_panics_and_all_are_written_as_they_are_read(
        options in "((w|h|f|q|fit|position|background)=[a-z0-9.%-]{0,7}&){0,5}",
        href in any::<String>(),
    ) {
        let dialects = with(AstroConfig::default());
        let encoded = percent::encode(&href, "");
        let _ = is_remote(&href);
        for target in [format!("/_image?{options}href=/a.jpg"), format!("/_image?href={encoded}")] {
            let Ok(request) = dialects.parse(&target) else {
                continue;
            };
            if let Ok(recipe) = request.rules.resolve(&Facts::new("jpeg", 400, 300)) {
                let text = recipe.to_string();
                prop_assert_eq!(text.parse::<Recipe>(), Ok(recipe.clone()), "{}", text);
            }
            if request.ask == Ask::Image && request.source.as_str() == "a.jpg" {
                let written = dialects.write(&request).find(|(name, _)| *name == "astro");
                prop_assert!(written.is_some(), "{}", request.rules.text());
            }
        }
    }
}
