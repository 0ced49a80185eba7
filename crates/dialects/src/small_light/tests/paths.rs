//! Tests of where the options and the file are found in a target.

use super::{SmallLightConfig, ask, bare, sane, strict};
use crate::{Config, Dialects};

fn source_and_recipe(config: SmallLightConfig, target: &str) -> (String, String) {
    let request = ask(config, target).expect(target);
    assert!(!request.is_file(), "{target}");
    (request.source.as_str().to_owned(), bare(&request))
}

#[test]
fn the_file_is_what_follows_the_options() {
    for (target, source) in [
        ("/small_light(q=5)/a.jpg", "a.jpg"),
        ("/small_light(q=5)/trip/a%20b.jpg", "trip/a b.jpg"),
        ("/prefix/small_light(q=5)/a.jpg", "a.jpg"),
        ("/pre_small_light(q=5)post/a.jpg", "a.jpg"),
        ("/small_light(q=5)//a.jpg", "a.jpg"),
        ("/small_light(q=5)/a.jpg?q=7", "a.jpg"),
        ("/small_light(q=5)/small_light(x).jpg", "small_light(x).jpg"),
    ] {
        let expected = (source.to_owned(), "q=5".to_owned());
        assert_eq!(source_and_recipe(sane(), target), expected);
        assert_eq!(source_and_recipe(strict(), target), expected);
    }
}

#[test]
fn of_chained_segments_the_first_gives_the_options_and_the_last_the_file() {
    assert_eq!(
        source_and_recipe(sane(), "/small_light(q=5)/b/small_light(q=6)/c.jpg"),
        ("c.jpg".to_owned(), "q=5".to_owned())
    );
}

#[test]
fn empty_options_re_encode() {
    assert_eq!(
        source_and_recipe(sane(), "/small_light()/a.jpg"),
        ("a.jpg".to_owned(), String::new())
    );
}

#[test]
fn a_folder_named_small_light_is_a_folder_unless_strict() {
    let target = "/small_light(q=5)/small_light_pics/a.jpg";
    assert_eq!(
        source_and_recipe(sane(), target).0,
        "small_light_pics/a.jpg"
    );
    assert_eq!(source_and_recipe(strict(), target).0, "a.jpg");
}

#[test]
fn encoded_options_are_options_unless_strict() {
    for target in [
        "/small_light%28dw=5%2Cq=7%29/a%2520.jpg",
        "/small_light%28dw%3D5%2Cq%3D7%29/a%2520.jpg",
        "/small_light(dw%3D5%2cq%3d7)/a%2520.jpg",
        "/small%5Flight%28dw%3D5%2Cq%3D7%29%2Fa%2520.jpg",
    ] {
        let request = ask(sane(), target).expect(target);
        assert_eq!(request.source.as_str(), "a%20.jpg", "{target}");
        assert_eq!(bare(&request), "dw=5,q=7", "{target}");
        assert!(
            !request.is_file() && request.notes.is_empty(),
            "{request:?}"
        );
    }
    let request = ask(strict(), "/small_light%28dw=5%29/a%2520.jpg").unwrap();
    assert_eq!(request.source.as_str(), "a%20.jpg");
    assert_eq!(request.rules.text(), "original");
    assert!(request.is_file());
}

#[test]
fn options_that_are_not_closed_are_ignored_with_a_note() {
    for target in ["/small_light(dw=5/a.jpg", "/small_light%28dw=5/a.jpg"] {
        let request = ask(sane(), target).unwrap();
        assert_eq!(request.source.as_str(), "a.jpg");
        assert!(request.is_file());
        assert_eq!(request.notes.len(), 1);
    }
    let file = ask(sane(), "/small_light%28x%29.jpg").unwrap();
    assert_eq!(file.source.place(), "small_light(x).jpg");
    assert!(file.notes.is_empty());
}

#[test]
fn equivalent_paths_have_their_sources_at_one_place() {
    for path in [
        "trip/a.jpg",
        "/trip//a.jpg",
        "//trip///a.jpg",
        "%74rip/%61.jpg",
        "trip%2Fa.jpg",
        "%2Ftrip/%2Fa.jpg",
    ] {
        for config in [sane(), strict()] {
            let request = ask(config, &format!("/small_light(dw=5)/{path}")).expect(path);
            assert_eq!(request.source.place(), "trip/a.jpg", "{path}");
        }
        let plain = ask(sane(), &format!("/{path}")).expect(path);
        assert_eq!(plain.source.place(), "trip/a.jpg", "{path}");
    }
    for (path, source) in [
        // Dot segments are not resolved here. They are refused where the file is opened.
        ("/../a.jpg", "../a.jpg"),
        ("/x/%2e%2E/a.jpg", "x/../a.jpg"),
        ("/trip/", "trip/"),
        ("/trip/.", "trip/."),
    ] {
        assert_eq!(ask(sane(), path).unwrap().source.place(), source, "{path}");
    }
}

#[test]
fn options_in_the_query_count_only_when_strict() {
    let target = "/a.jpg?x=small_light(q=5)";
    assert!(ask(sane(), target).unwrap().is_file());
    assert_eq!(
        source_and_recipe(strict(), target),
        ("a.jpg".to_owned(), "q=5".to_owned())
    );
}

#[test]
fn options_without_a_file_or_with_a_slash_are_refused() {
    for (target, why) in [
        ("/small_light(q=5)", "no file follows"),
        ("/small_light(q=5)/", "no file follows"),
        ("/small_light(q=5)a.jpg", "no file follows"),
        ("/small_light(embedicon=a/b)/a.jpg", "may not contain `/`"),
        ("/small_light(q=5)/%00.jpg", "NUL"),
    ] {
        let refusal = ask(sane(), target).unwrap_err();
        assert!(refusal.why.contains(why), "{target}: {refusal}");
    }
}

#[test]
fn patterns_that_differ_only_in_capitals_are_refused_when_strict() {
    let mut config = strict();
    config.patterns.insert("big".to_owned(), "q=1".to_owned());
    let config = Config {
        small_light: config,
        ..Config::default()
    };
    let error = Dialects::new(&config).unwrap_err();
    assert!(
        error.to_string().starts_with("`small_light.patterns."),
        "{error}"
    );
}
