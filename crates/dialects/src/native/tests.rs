use andon_recipe::{Facts, Recipe};
use proptest::prelude::*;

use super::{Canonical, NativeConfig};
use crate::vectors;
use crate::{Ask, Config, Dialects, ImageRequest, Refusal, Source};

fn dialects(native: NativeConfig) -> Dialects {
    let config = Config {
        native,
        ..Config::default()
    };
    Dialects::new(&config).expect("a configuration")
}

fn ask(target: &str) -> Result<ImageRequest, Refusal> {
    dialects(NativeConfig::default()).parse(target)
}

#[test]
fn a_recipe_is_one_segment_and_the_file_is_the_rest() {
    for (target, recipe, source) in [
        (
            "/r/fit:250x250,q:80/trip/a%20b.jpg",
            "fit:250x250,q:80",
            "trip/a b.jpg",
        ),
        ("/r/crop:0:0:50%25x50%25/a.jpg", "crop:0:0:50%x50%", "a.jpg"),
        ("/r/same//x//a.jpg?v=2", "same", "x/a.jpg"),
        ("/r/original/a.jpg", "original", "a.jpg"),
        ("/r/over:a%2Fb.png:1:2/a.jpg", "over:a/b.png:1:2", "a.jpg"),
    ] {
        let request = ask(target).unwrap();
        assert_eq!(request.ask, Ask::Image, "{target}");
        assert_eq!(request.rules.text(), recipe);
        assert_eq!(request.source.place(), source);
    }
    for file in ["/r", "/rx/same/a.jpg", "/a.jpg"] {
        assert!(ask(file).unwrap().is_file(), "{file}");
    }
}

#[test]
fn reading_is_strict_and_names_the_piece() {
    for (target, piece, why) in [
        ("/r/fit:ax/a.jpg", "`a`", "recipe"),
        ("/r/q:80,q:90/a.jpg", "`q`", "once"),
        ("/r/as:webp,same/a.jpg", "same", "stand alone"),
        ("/r//a.jpg", "``", "same"),
        ("/r/fit:50%x/a.jpg", "fit:50%x", "%25"),
        ("/r/fit:50x50", "/r/fit:50x50", "no file"),
        ("/r/fit:50x50//", "/r/fit:50x50//", "no file"),
        ("/r/text:Red%2C%20green:24/a.jpg", "` green`", "%252C"),
        ("/r/text:Red,%20green:24/a.jpg", "` green`", "%252C"),
        ("/r/text:100%25%20red:24/a.jpg", "`100% red`", "%2525"),
    ] {
        let refusal = ask(target).expect_err(target).to_string();
        assert!(
            refusal.contains(piece) && refusal.contains(why),
            "{refusal}"
        );
    }
}

/// Targets whose shared test vectors were written before recipes became lists of steps, with their sizes today. A side
/// is now rounded to the nearest pixel (only `small_light` truncates it), and every step acts on the result of the step
/// before, so that two steps may scale.
const BEFORE_STEPS: [(&str, (u32, u32)); 2] = [
    ("/r/q:80,fit:150x150/400x300.jpg", (150, 113)),
    ("/r/fit:10x10,fit:20x20/400x300.jpg", (10, 8)),
];

#[test]
fn the_vectors_that_implementations_share() {
    let rows = vectors::of("native").into_iter();
    for row in rows.filter(|row| row.url.starts_with("/r/")) {
        if !BEFORE_STEPS.iter().any(|(url, _)| *url == row.url) {
            row.check(&dialects(NativeConfig::default()));
        }
    }
    vectors::check_sizes(ask, &Facts::new("jpeg", 400, 300), &BEFORE_STEPS);
}

#[test]
fn another_spelling_is_told_its_canonical_one() {
    assert_eq!(
        ask("/r/fit:250x250,q:80/a.jpg").unwrap().style.canonical,
        None
    );
    for (target, canonical) in [
        ("/r/q:80,fit:250x250/a.jpg", "/r/fit:250x250,q:80/a.jpg"),
        ("/r/fit%3A250x250///a.jpg", "/r/fit:250x250/a.jpg"),
        ("/r/as:json,fit:9x9/a.jpg", "/r/fit:9x9,as:json/a.jpg"),
    ] {
        let request = ask(target).unwrap();
        assert_eq!(request.style.canonical.as_deref(), Some(canonical));
        assert_eq!(ask(canonical).unwrap().style.canonical, None);

        let redirecting = dialects(NativeConfig {
            canonical: Canonical::Redirect,
            ..NativeConfig::default()
        });
        let Ask::Redirect(redirect) = redirecting.parse(target).unwrap().ask else {
            panic!("{target} is not redirected");
        };
        assert_eq!((&*redirect.to, redirect.status), (canonical, 301));
        let there = redirecting.parse(canonical).unwrap();
        assert!(!matches!(there.ask, Ask::Redirect(_)));
    }
}

#[test]
fn json_asks_for_the_facts_of_what_the_rest_would_make() {
    let request = ask("/r/fit:9x9,as:json/a.jpg").unwrap();
    assert!(matches!(&request.ask, Ask::Describe(facts) if facts.name() == "facts"));
    assert_eq!(request.rules.text(), "fit:9x9");
    assert!(request.ask == ask("/r/as:json/a.jpg").unwrap().ask);
}

#[test]
fn what_is_seen_in_the_result_is_told_where_it_is_asked_for() {
    let target = "/r/fit:9x9,as:json,with:colours:3,with:uri/a.jpg";
    let request = ask(target).unwrap();
    let Ask::Describe(document) = &request.ask else {
        panic!("{target} is no document");
    };
    assert_eq!(document.name(), "facts as:json,with:colours:3,with:uri");
    let parts: Vec<_> = document
        .parts(&Recipe::default())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        parts,
        [
            "fit:9x9,fit:100x100,as:palette,with:count:3",
            "fit:9x9,fit:16x16,as:webp,q:60"
        ]
    );
    assert_eq!(request.style.canonical, None);
    let other = ask("/r/as:json,with:uri,with:colours:3,fit:9x9/a.jpg").unwrap();
    assert_eq!(other.style.canonical.as_deref(), Some(target));
    for (wrong, why) in [
        ("with:colour", "colours"),
        ("with:uri:5", "no value"),
        ("with:colours:a,with:uri", "number"),
    ] {
        let refusal = ask(&format!("/r/as:json,{wrong}/a.jpg"));
        let refusal = refusal.expect_err(wrong).to_string();
        assert!(refusal.contains(why), "{refusal}");
    }
}

#[test]
fn an_absolute_url_is_a_source_even_after_slashes_were_merged() {
    for target in [
        "/r/same/https://o.test/x%20y/a.jpg",
        "/r/same/https:/o.test/x%20y/a.jpg",
        "/r/same/https%3A%2F%2Fo.test%2Fx%2520y%2Fa.jpg",
    ] {
        let source = ask(target).unwrap().source;
        let written = "https://o.test/x%20y/a.jpg".to_owned();
        assert_eq!(source, Source::Url(written));
    }
}

#[test]
fn it_can_be_mounted_elsewhere_but_not_everywhere() {
    let mounted = |prefix: &str| NativeConfig {
        prefix: prefix.to_owned(),
        ..NativeConfig::default()
    };
    let dialects = dialects(mounted("/images/v1/"));
    let request = dialects.parse("/images/v1/fit:9x/a.jpg").unwrap();
    assert_eq!(request.rules.text(), "fit:9x");
    assert!(dialects.parse("/r/fit:9x/a.jpg").unwrap().is_file());
    for prefix in ["", "/", "r", "/a b", "/%72"] {
        let native = mounted(prefix);
        let config = Config {
            native,
            ..Config::default()
        };
        let error = Dialects::new(&config).expect_err(prefix);
        assert!(
            error.to_string().starts_with("`native.prefix`: "),
            "{error}"
        );
    }
}

fn with_presets(only_presets: bool) -> NativeConfig {
    let presets = [("thumb", "fit:9x9,as:webp"), ("facts", "fit:9x9,as:json")];
    NativeConfig {
        only_presets,
        presets: presets
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
        ..NativeConfig::default()
    }
}

#[test]
fn a_preset_is_a_recipe_by_its_name() {
    let dialects = dialects(with_presets(false));
    let request = dialects.parse("/p/thumb/trip/a%20b.jpg").unwrap();
    assert_eq!(request.rules.text(), "fit:9x9,as:webp");
    assert_eq!(request.source, Source::from_path("trip/a b.jpg"));
    assert_eq!(request.style.canonical, None);
    let request = dialects.parse("/p/facts/a.jpg").unwrap();
    assert!(matches!(request.ask, Ask::Describe(_)));
    assert_eq!(
        dialects.parse("/r/fit:8x8/a.jpg").unwrap().rules.text(),
        "fit:8x8"
    );
    for (target, why) in [("/p/thum/a.jpg", "thumb"), ("/p/thumb", "/p/NAME/file")] {
        let refusal = dialects.parse(target).expect_err(target).to_string();
        assert!(refusal.contains(why), "{refusal}");
    }
    // Without presets, `p` is an ordinary folder.
    assert!(ask("/p/thumb/a.jpg").unwrap().is_file());
}

#[test]
fn only_presets_may_be_asked_for_where_the_configuration_says_so() {
    let dialects = dialects(with_presets(true));
    let request = dialects.parse("/p/thumb/a.jpg").unwrap();
    let written: Vec<_> = dialects
        .write(&request)
        .filter(|(name, _)| *name == "native")
        .collect();
    assert_eq!(written, [("native", "/p/thumb/a.jpg".to_owned())]);
    let refusal = dialects.parse("/r/fit:8x8/a.jpg").unwrap_err().to_string();
    assert!(refusal.contains("only presets"), "{refusal}");
    for target in dialects.examples() {
        assert!(dialects.parse(&target).is_ok(), "{target}");
    }
}

#[test]
fn a_preset_that_cannot_be_is_an_error_of_the_configuration() {
    let none = NativeConfig {
        only_presets: true,
        ..NativeConfig::default()
    };
    let mut broken = with_presets(false);
    broken.presets.insert("x".to_owned(), "fit:ax".to_owned());
    for (native, key) in [(none, "native.only_presets"), (broken, "native.presets.x")] {
        let config = Config {
            native,
            ..Config::default()
        };
        let error = Dialects::new(&config).expect_err(key).to_string();
        assert!(error.contains(key), "{error}");
    }
}

proptest! {
    #[test]
    fn what_is_read_is_written_and_what_is_written_is_read(
        steps in proptest::collection::vec("fit:[1-9]x[1-9]|cover:[1-9]x9|crop:[0-9]:[0-9]:5%x5%|turn:90|blur:0x[1-9]|as:webp|as:json|q:[1-9]|orient", 1..4),
        source in "[a-z%/ あ:?#.]{1,9}",
    ) {
        let dialects = dialects(NativeConfig::default());
        let target = format!("/r/{}/{}", steps.join(",").replace('%', "%25"), crate::percent::encode(&source, "/"));
        if let Ok(request) = dialects.parse(&target) {
            let canonical = request.style.canonical.clone().unwrap_or(target);
            let written = dialects.write(&request).find(|(name, _)| *name == "native");
            prop_assert_eq!(written, Some(("native", canonical.clone())));
            let again = dialects.parse(&canonical).unwrap();
            prop_assert_eq!(again.style.canonical, None);
            prop_assert_eq!(again.rules.text(), request.rules.text());
            prop_assert_eq!(again.source, request.source);
        }
    }
}
