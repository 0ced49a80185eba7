//! Tests of modifiers against what ipx and sharp do. What is served is compared with recorded answers in the server's
//! tests.

use andon_recipe::{Facts, Orientation, Recipe};
use proptest::prelude::*;

use super::IpxConfig;
use super::accept::choose;
use super::value::Value;
use crate::vectors;
use crate::{Ask, Config, Dialects, Fault, Headers, ImageRequest, Refusal, Source};

fn dialects() -> Dialects {
    let config = Config {
        ipx: IpxConfig {
            prefix: "/_ipx".to_owned(),
            domains: vec!["o.test".to_owned(), "https://p.test/a".to_owned()],
            alias: [("far".to_owned(), "https://o.test/base".to_owned())].into(),
            ..IpxConfig::default()
        },
        ..Config::default()
    };
    Dialects::new(&config).expect("a configuration")
}

fn ask(modifiers: &str) -> Result<ImageRequest, Refusal> {
    dialects().parse(&format!("/_ipx/{modifiers}/a.jpg"))
}

fn made(modifiers: &str, facts: &Facts) -> String {
    vectors::resolved(ask(modifiers), facts).to_string()
}

#[test]
fn sizes_are_ipxs() {
    let facts = Facts::new("jpeg", 400, 300);
    vectors::check_sizes(
        ask,
        &facts,
        &[
            ("w_200", (200, 150)),
            ("h_100&w_200", (200, 150)),
            ("width_100&w_200", (100, 75)),
            ("s_800x300", (400, 150)),
            ("s_800x300&enlarge", (800, 300)),
            ("s_200x100&fit_outside", (200, 150)),
            ("s_300x100&fit_fill&w_100", (100, 300)),
            ("rotate_90&s_200x100", (200, 100)),
            ("rotate_90&resize_200x100", (150, 100)),
            ("crop_10_20_100_50&extract_1_2_30_20&w_50", (30, 20)),
            ("extend_1_2_3_4", (406, 304)),
        ],
    );
}

#[test]
fn svg_is_sent_as_it_is_unless_another_format_is_asked_for() {
    let logo = Facts {
        vector: true,
        ..Facts::new("svg", 24, 24)
    };
    for modifiers in ["_", "w_200", "s_200x100&q_80&blur_2"] {
        assert_eq!(made(modifiers, &logo), "original", "{modifiers}");
    }
    // sharp draws an SVG in its own size, and does not enlarge the result.
    for (modifiers, size) in [("w_200&f_png", (24, 24)), ("w_12&f_webp", (12, 12))] {
        vectors::check_sizes(ask, &logo, &[(modifiers, size)]);
    }
}

#[test]
fn a_jpeg_is_scaled_from_what_its_decoder_leaves() {
    // A twentieth of 855 px is 42.75 px, but an eighth of it is 106 px.
    let facts = Facts::new("jpeg", 1600, 855);
    vectors::check_sizes(
        ask,
        &facts,
        &[("w_80", (80, 42)), ("w_80&gamma_2.2", (80, 43))],
    );
    let facts = Facts::new("png", 1600, 855);
    vectors::check_sizes(ask, &facts, &[("w_80", (80, 43))]);
}

#[test]
fn images_are_as_stored_unless_rotate_is_undefined() {
    let facts = Facts {
        orientation: Orientation::from_exif(6),
        ..Facts::new("jpeg", 160, 240)
    };
    vectors::check_sizes(
        ask,
        &facts,
        &[
            ("w_100", (100, 150)),
            ("rotate_undefined&w_100", (100, 67)),
            ("rotate_undefined&crop_10_20_100_50", (50, 100)),
        ],
    );
}

#[test]
fn what_sharp_refuses_is_refused_in_its_words() {
    for (modifiers, why) in [
        (
            "w_0",
            "Expected positive integer for width but received 0 of type number",
        ),
        (
            "w",
            "Expected positive integer for width but received  of type string",
        ),
        (
            "q_x",
            "Expected integer between 1 and 100 for quality but received x of type string",
        ),
        (
            "extract_1_2_3",
            "Expected integer for height but received undefined of type undefined",
        ),
        (
            "flatten&b_nocolour",
            "Unable to parse color from string: nocolour",
        ),
        (
            "s_9x9&fit_squeeze",
            "Expected valid fit for fit but received squeeze of type string",
        ),
        (
            "blur_true&sharpen",
            "Expected number between 0.01 and 10000 for sigma but received  of type string",
        ),
    ] {
        let refusal = ask(modifiers).expect_err(modifiers);
        assert_eq!((refusal.fault, &*refusal.why), (Fault::Unsupported, why));
    }
    // Values of modifiers without effect are not checked.
    assert!(ask("b_nocolour&fit_squeeze&kernel_none&w_9").is_ok());
}

#[test]
fn a_part_that_is_not_in_the_image_is_an_error_of_this_image() {
    let request = ask("extract_300_0_200_100").unwrap();
    assert!(
        request
            .rules
            .resolve(&Facts::new("jpeg", 400, 300))
            .is_err()
    );
    assert!(request.rules.resolve(&Facts::new("jpeg", 500, 300)).is_ok());
    let flat = ask("s_4000x1").unwrap();
    let error = flat
        .rules
        .resolve(&Facts::new("jpeg", 400, 300))
        .unwrap_err();
    assert_eq!(
        error.why,
        "Expected positive integer for height but received 0 of type number"
    );
}

#[test]
fn modifiers_that_are_unknown_or_not_done_are_noted() {
    for (modifiers, notes) in [
        ("w_9", 0),
        ("nothing_5&w_9", 1),
        ("median_3&normalize&kernel_cubic", 3),
        ("f_bmp", 1),
    ] {
        assert_eq!(ask(modifiers).unwrap().notes.len(), notes, "{modifiers}");
    }
}

#[test]
fn sources_are_paths_and_urls_of_permitted_hosts() {
    let source = |rest: &str| {
        dialects()
            .parse(&format!("/_ipx/w_9/{rest}"))
            .map(|it| it.source)
    };
    let url = |text: &str| Source::Url(text.to_owned());
    for (rest, right) in [
        ("trip/a%20b.jpg", Source::Path("trip/a b.jpg".to_owned())),
        ("/a.jpg", Source::Path("a.jpg".to_owned())),
        ("https://o.test/a.jpg", url("https://o.test/a.jpg")),
        ("https:/p.test/a.jpg?x=1", url("https://p.test/a.jpg?x=1")),
        ("https%3A%2F%2Fo.test%2Fa.jpg", url("https://o.test/a.jpg")),
        ("far/b.jpg", url("https://o.test/base/b.jpg")),
    ] {
        assert_eq!(source(rest), Ok(right), "{rest}");
    }
    for (rest, code) in [
        ("https://q.test/a.jpg", "IPX_FORBIDDEN_HOST"),
        ("a.jpg?x=1", "IPX_FORBIDDEN_PATH"),
        ("ftp://o.test/a.jpg", "IPX_FORBIDDEN_PATH"),
        ("", "IPX_MISSING_ID"),
    ] {
        assert_eq!(source(rest).unwrap_err().code, code, "{rest}");
    }
    for target in ["/_ipx", "/_ipx/", "/_ipx//a.jpg"] {
        let refusal = dialects().parse(target).unwrap_err();
        assert_eq!(refusal.code, "IPX_MISSING_MODIFIERS", "{target}");
    }
}

#[test]
fn auto_takes_the_weightiest_format_and_of_those_the_first() {
    for (header, still, moving) in [
        (None, "jpeg", "gif"),
        (Some(""), "jpeg", "gif"),
        (Some("*/*"), "jpeg", "gif"),
        (Some("*"), "avif", "webp"),
        (Some("image/webp,image/avif"), "avif", "webp"),
        (Some("image/png;q=0.5,image/webp;q=0.4"), "png", "webp"),
        (Some("image/webp;q=0,image/png"), "png", "gif"),
        (Some("image/webp; q=0.9, image/png"), "png", "webp"),
    ] {
        assert_eq!(
            (choose(header, false), choose(header, true)),
            (still, moving),
            "{header:?}"
        );
    }
}

#[test]
fn the_format_depends_on_accept_only_where_it_is_auto() {
    struct Accepts;
    impl Headers for Accepts {
        fn get(&self, name: &str) -> Option<&str> {
            (name == "accept").then_some("image/webp")
        }
    }
    let read = |target| dialects().parse_with(target, &Accepts).unwrap();
    let auto = read("/_ipx/f_auto&w_9/a.jpg");
    assert_eq!(auto.style.reads, ["accept"]);
    assert_eq!(
        auto.rules.text(),
        read("/_ipx/w_9&f_webp/a.jpg").rules.text()
    );
    assert!(read("/_ipx/w_9/a.jpg").style.reads.is_empty());
}

#[test]
fn values_are_read_as_javascript_reads_them() {
    let text = |text: &str| Value::Text(text.to_owned());
    for (raw, right) in [
        ("200", Value::Number(200.0)),
        ("-1.5e2", Value::Number(-150.0)),
        ("True", Value::Bool(true)),
        ("undefined", Value::Nothing),
        ("null", Value::Nothing),
        ("0200", text("0200")),
        ("1e", text("1e")),
        ("", text("")),
        ("\"12\"", text("12")),
        ("200x100", text("200x100")),
    ] {
        assert_eq!(Value::read(raw), right, "{raw}");
    }
    // Colours that consist of digits are parsed as numbers, and still mean the colour.
    let facts = Facts {
        alpha: true,
        ..Facts::new("png", 9, 9)
    };
    assert!(made("flatten&b_123456", &facts).contains("123456"));
    assert!(made("flatten&b_000000", &facts).contains("000000"));
}

proptest! {
    #[test]
    fn no_modifiers_panic_and_all_are_written_as_they_are_read(
        modifiers in "((w|h|s|fit|pos|q|b|crop|extract|trim|extend|rotate|sharpen|blur|gamma|threshold|modulate|tint|f|enlarge|a)[_:=]?[a-z0-9.x_%-]{0,9}[&,]){0,5}",
        any in any::<String>(),
    ) {
        let dialects = dialects();
        for modifiers in [&modifiers, &any] {
            let Ok(request) = dialects.parse(&format!("/_ipx/{modifiers}/a.jpg")) else {
                continue;
            };
            if request.ask != Ask::Image {
                continue;
            }
            for facts in [Facts::new("jpeg", 400, 300), Facts::new("gif", 1, 70_000)] {
                if let Ok(recipe) = request.rules.resolve(&facts) {
                    let text = recipe.to_string();
                    prop_assert_eq!(text.parse::<Recipe>(), Ok(recipe.clone()), "{}", text);
                }
            }
            if request.rules.text().starts_with("ipx(") {
                let written = dialects.write(&request).find(|(name, _)| *name == "ipx");
                prop_assert!(written.is_some(), "{}", request.rules.text());
            }
        }
    }
}
