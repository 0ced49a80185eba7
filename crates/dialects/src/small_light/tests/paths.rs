//! Where options and file are found.

use super::{SmallLightConfig, ask, sane, strict};
use crate::{Config, Dialects};

fn source_and_recipe(config: SmallLightConfig, target: &str) -> (String, String) {
    let wish = ask(config, target).expect(target);
    assert!(wish.transformed, "{target}");
    (wish.source, wish.recipe.to_string())
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
        let expected = (source.to_owned(), "q:5".to_owned());
        assert_eq!(source_and_recipe(sane(), target), expected);
        assert_eq!(source_and_recipe(strict(), target), expected);
    }
}

#[test]
fn of_chained_segments_the_first_gives_the_options_and_the_last_the_file() {
    assert_eq!(
        source_and_recipe(sane(), "/small_light(q=5)/b/small_light(q=6)/c.jpg"),
        ("c.jpg".to_owned(), "q:5".to_owned())
    );
}

#[test]
fn empty_options_re_encode() {
    assert_eq!(
        source_and_recipe(sane(), "/small_light()/a.jpg"),
        ("a.jpg".to_owned(), "same".to_owned())
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
fn encoded_parentheses_mean_the_file_itself() {
    let wish = ask(sane(), "/small_light%28dw=5%29/a%2520.jpg").unwrap();
    assert_eq!(wish.source, "a%20.jpg");
    assert_eq!(wish.recipe.to_string(), "original");
    assert!(!wish.transformed);
    assert_eq!(wish.notes.len(), 1);
}

#[test]
fn options_in_the_query_count_only_when_strict() {
    let target = "/a.jpg?x=small_light(q=5)";
    assert!(!ask(sane(), target).unwrap().transformed);
    assert_eq!(
        source_and_recipe(strict(), target),
        ("a.jpg".to_owned(), "q:5".to_owned())
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
    assert_eq!(error.knob, "small_light.patterns");
}
