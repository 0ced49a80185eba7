//! Tests of the arithmetic and the quirks of weserv.

use std::sync::Arc;

use andon_recipe::{Area, Colour, Facts, Measured, Orientation, Recipe};
use proptest::prelude::*;

use super::query::{Coordinate, colour, coordinate};
use super::{WeservConfig, max_age};
use crate::errors::Told;
use crate::vectors;
use crate::{
    Ask, Config, Dialects, Document, Fallback, Fault, ImageRequest, Part, Redirect, Refusal, Source,
};

fn dialects() -> Dialects {
    let config = Config {
        weserv: WeservConfig {
            open: false,
            prefix: "/".to_owned(),
        },
        ..Config::default()
    };
    Dialects::new(&config).expect("a configuration")
}

fn ask(query: &str) -> Result<ImageRequest, Refusal> {
    dialects().parse(&format!("/?url=a.jpg&{query}"))
}

fn resolved(query: &str, facts: &Facts) -> Recipe {
    vectors::resolved(ask(query), facts)
}

fn made(query: &str) -> String {
    resolved(query, &Facts::new("jpeg", 400, 300)).to_string()
}

#[test]
fn sizes_are_the_services() {
    vectors::check_sizes(
        ask,
        &Facts::new("jpeg", 400, 300),
        &[
            ("w=150", (150, 112)),
            ("h=133", (177, 133)),
            ("w=150&h=150&fit=outside", (200, 150)),
            ("w=150&h=150&fit=cover", (150, 150)),
            ("w=150&h=150&t=square", (150, 150)),
            ("w=500", (500, 375)),
            ("w=500&we", (400, 300)),
            ("w=500&we=", (400, 300)),
            ("w=500&we=0", (500, 375)),
            ("w=500&fit=fit", (400, 300)),
            ("w=500&h=200&fit=cover&we", (400, 200)),
            ("w=500&h=200&t=squaredown", (400, 200)),
            ("w=50%", (200, 150)),
            ("w=50%25", (200, 150)),
            ("w=101%", (400, 300)),
            ("w=100&dpr=2", (200, 150)),
            ("w=50%&dpr=0.5", (100, 75)),
            ("w=100&dpr=9", (100, 75)),
            ("w=200&cx=50%&cw=80", (80, 150)),
            ("crop=100,50,10,20", (100, 50)),
            ("cx=400&cw=10", (10, 300)),
            ("cx=390&cw=20", (10, 300)),
            ("w=100&cw=50&precrop", (100, 600)),
            ("w=150&w=300", (150, 112)),
            ("width=150&w=300", (150, 112)),
            ("w=abc", (400, 300)),
            ("w=0", (400, 300)),
            ("w=-5", (400, 300)),
            ("w=150px", (150, 112)),
            ("w=99999999999", (400, 300)),
            ("w=150&h=150&fit=contain", (150, 150)),
            ("w=500&h=500&fit=contain&we", (500, 500)),
            ("w=150&fit=contain", (150, 112)),
            ("w=150&h=150&fit=fill", (150, 150)),
            ("w=150&fit=fill", (150, 300)),
            ("w=1&h=1", (1, 1)),
            ("w=150&ro=90", (112, 150)),
            ("w=150&ro=-90", (112, 150)),
            ("w=320&h=240&fit=fill&ro=270", (240, 320)),
            ("w=150&fit=fill&ro=90", (300, 150)),
            ("w=100&h=200&fit=cover&ro=90", (100, 200)),
            ("h=100&ro=45", (165, 165)),
            ("w=320&h=240&fit=fill&ro=30", (397, 368)),
            ("w=240&h=240&fit=fill&ro=315", (339, 339)),
            (
                "w=320&h=240&fit=cover&cx=10&cy=10&cw=50%25&ch=100%",
                (160, 230),
            ),
            ("w=320&h=240&fit=cover&cx=10&cy=10&cw=200%&ch=", (310, 230)),
            ("w=320&h=240&fit=cover&mask=circle&mtrim=true", (240, 240)),
            ("w=300&h=300&fit=cover&mask=star&mbg=red&mtrim", (300, 285)),
            ("w=300&h=300&fit=cover&mask=ellipse&mtrim", (300, 300)),
            ("w=240&h=240&fit=fill&ro=315&mask=circle&mtrim", (339, 339)),
            ("w=300&h=100&fit=cover&mask=hexagon&mtrim", (87, 100)),
        ],
    );
    let turned = Facts {
        orientation: Orientation::from_exif(6),
        ..Facts::new("jpeg", 400, 300)
    };
    // Percentages refer to the stored image, before it is turned.
    let sizes = [("w=150", (150, 200)), ("w=50%", (200, 267))];
    vectors::check_sizes(ask, &turned, &sizes);
}

#[test]
fn the_vectors_that_implementations_share() {
    for row in vectors::of("weserv") {
        row.check(&dialects());
    }
}

#[test]
fn parts_are_kept_where_they_are_said_to_be() {
    for (position, crop) in [
        ("", "crop:25:0:150x150"),
        ("center", "crop:25:0:150x150"),
        ("left", "crop:0:0:150x150"),
        ("l", "crop:0:0:150x150"),
        ("top-right", "crop:50:0:150x150"),
        ("focal", "crop:25:0:150x150"),
        ("focal&fpx=0.4", "crop:5:0:150x150"),
        ("focal&fpx=1", "crop:50:0:150x150"),
        ("crop-40-100", "crop:5:0:150x150"),
        ("focal-140", "crop:25:0:150x150"),
    ] {
        let query = format!("w=150&h=150&fit=cover&q=90&a={position}");
        let right = format!("exact:200x150,{crop},metadata:none,q:90");
        let facts = Facts {
            metadata: true,
            ..Facts::new("jpeg", 400, 300)
        };
        assert_eq!(resolved(&query, &facts).to_string(), right, "{position}");
    }
    assert_eq!(
        made("w=150&h=151&fit=contain&a=bottom&cbg=red"),
        "exact:150x112,canvas:150x151:ff0000:0:39,q:80"
    );
}

#[test]
fn a_ground_lies_around_a_transparent_image_and_not_under_it() {
    let facts = Facts {
        alpha: true,
        ..Facts::new("png", 400, 300)
    };
    for (query, recipe) in [
        (
            "w=150&h=150&fit=contain&cbg=red",
            "exact:150x112,canvas:150x150:00000000:0:19,around:0:19:150x112:ff0000",
        ),
        (
            "filt=greyscale&bg=red",
            "gray:light,canvas:400x300:363636:0:0",
        ),
        ("mask=star&mbg=red", "mask:star:ff0000"),
    ] {
        assert_eq!(resolved(query, &facts).to_string(), recipe, "{query}");
    }
}

#[test]
fn effects_stand_in_the_services_order() {
    for (query, recipe) in [
        (
            "blur&filt=greyscale&bri=10",
            "brightness:25.5,gray:light,blur:0x0.8,q:80",
        ),
        ("blur=5&gam=9&con=0", "gamma:0.4545,blur:0x5,q:80"),
        ("sharp=3", "sharpen-l:3:1:2,q:80"),
        ("sharp=5,6,7", "sharpen-l:7:5:6,q:80"),
        ("mod=1.2,0.5,-30", "modulate:1.2:0.5:330,q:80"),
        ("sat=0", "modulate:1:0:0,q:80"),
        ("filt=duotone", "duotone:c83658:d8e74f,q:80"),
        ("filt=negate&tint=%23F00", "invert,tint:ff0000,q:80"),
        ("flip&flop", "turn:180,q:80"),
        ("q=0&il&output=webp", "as:webp,q:80"),
        ("il&q=101", "q:80,progressive"),
        ("output=webp&ll", "as:webp,lossless"),
        ("output=png&l=9&q=3", "as:png,with:level:9"),
        ("output=png&af", "as:png,with:filter:adaptive"),
        (
            "output=png&af=0&l=3",
            "as:png,with:filter:none,with:level:3",
        ),
        ("mask=circle", "mask:circle,as:png"),
        (
            "mask=circle&mtrim&mbg=fff",
            "mask:circle:ffffff,crop:50:0:300x300,q:80",
        ),
        ("mask=none&tint=what", "q:80"),
    ] {
        let facts = Facts::new("jpeg", 400, 300);
        let request = ask(query).expect(query);
        let made = request.rules.resolve(&facts).expect(query).to_string();
        assert_eq!(made, recipe, "{query}");
    }
}

#[test]
fn what_is_not_opaque_becomes_png_or_stands_on_black() {
    assert!(made("w=150&h=150&fit=contain").ends_with(",as:png"));
    assert!(made("ro=45").ends_with(",as:png"));
    assert!(made("ro=45&rbg=fff").ends_with(",q:80"));
    assert!(made("ro=45&output=jpg").contains("background:000000"));
    let clear = Facts {
        alpha: true,
        ..Facts::new("png", 40, 30)
    };
    assert_eq!(
        resolved("bg=8f00", &clear).to_string(),
        "canvas:40x30:ff000088:0:0"
    );
    assert_eq!(
        resolved("bg=f00&output=jpg", &clear).to_string(),
        "canvas:40x30:ff0000:0:0,as:jpeg,q:80"
    );
}

#[test]
fn a_image_that_moves_is_shown_by_one_page_unless_all_are_asked_for() {
    let gif = Facts {
        frames: 5,
        ..Facts::new("gif", 40, 30)
    };
    for (query, recipe) in [
        ("", "frame:1"),
        ("page=2", "frame:3"),
        ("n=-1", "same"),
        ("pages=5", "same"),
        ("page=what", "frame:1"),
    ] {
        assert_eq!(resolved(query, &gif).to_string(), recipe, "{query}");
    }
}

#[test]
fn the_border_of_an_animation_is_trimmed_at_its_sides() {
    let mut facts = Facts {
        frames: 5,
        ..Facts::new("gif", 40, 30)
    };
    for (query, recipe) in [
        ("trim=25&n=-1", "crop:3:0:20x30"),
        ("trim=25", "crop:3:4:20x10,frame:1"),
    ] {
        let asked = ask(query).unwrap().rules.measures(Orientation::default());
        let (x, y, w, h) = (3, 4, 20, 10);
        facts.measured = Measured::from_iter([(asked[0], Area { x, y, w, h })]);
        assert_eq!(resolved(query, &facts).to_string(), recipe, "{query}");
    }
}

#[test]
fn colours_begin_with_alpha() {
    let rgba = |r, g, b, a| Colour { r, g, b, a };
    for (text, right) in [
        ("red", rgba(255, 0, 0, 255)),
        ("f80", rgba(255, 136, 0, 255)),
        ("8f80", rgba(255, 136, 0, 136)),
        ("FF8800", rgba(255, 136, 0, 255)),
        ("80ff8800", rgba(255, 136, 0, 128)),
        ("8ff8800", rgba(255, 136, 0, 248)),
        ("%23f80", rgba(255, 136, 0, 255)),
    ] {
        assert_eq!(colour(text), right, "{text}");
    }
    for none in ["", "ff", "fffff", "ggg", "rgb(1,2,3)", "é", "123456789"] {
        assert_eq!(colour(none), Colour::CLEAR, "{none}");
    }
}

#[test]
fn numbers_are_what_a_text_begins_with() {
    for (text, right) in [
        ("12px", Coordinate::Px(12)),
        ("12.9", Coordinate::Px(12)),
        ("x", Coordinate::Px(-1)),
        ("", Coordinate::Px(-1)),
        ("10000001", Coordinate::Px(-1)),
        ("-3", Coordinate::Px(-3)),
        ("50%", Coordinate::Share(0.5)),
        ("12.5%25", Coordinate::Share(0.125)),
        ("-1%", Coordinate::Px(-1)),
        ("x%", Coordinate::Px(-1)),
    ] {
        assert_eq!(coordinate(text), right, "{text}");
    }
    for (text, right) in [
        ("31d", Some(2_678_400)),
        ("1w", Some(604_800)),
        ("86400", Some(86_400)),
        ("1y", Some(31_536_000)),
        ("2y", None),
        ("1h", None),
        ("5", None),
        ("d", None),
        ("1é", None),
    ] {
        assert_eq!(max_age(text), right, "{text}");
    }
}

#[test]
fn sources_are_urls_or_paths() {
    let source = |url: &str| {
        dialects()
            .parse(&format!("/?w=1&url={url}"))
            .map(|request| request.source)
    };
    for (url, right) in [
        ("a.jpg", Source::Path("a.jpg".to_owned())),
        ("/x.y/a.jpg", Source::Path("x.y/a.jpg".to_owned())),
        ("trip%2Fa%20b.jpg", Source::Path("trip/a b.jpg".to_owned())),
        (
            "o.test/a.jpg",
            Source::Url("http://o.test/a.jpg".to_owned()),
        ),
        (
            "//o.test/a.jpg",
            Source::Url("http://o.test/a.jpg".to_owned()),
        ),
        (
            "ssl:o.test/a.jpg",
            Source::Url("https://o.test/a.jpg".to_owned()),
        ),
        (
            "https://o.test/a.jpg%3Fx=1",
            Source::Url("https://o.test/a.jpg?x=1".to_owned()),
        ),
    ] {
        assert_eq!(source(url), Ok(right), "{url}");
    }
    for wrong in [
        "",
        "ftp://o.test/a.jpg",
        "http://",
        "http:///a.jpg",
        "%zz",
        "a%0Ab",
        "http:\\o.test",
    ] {
        let refusal = source(wrong).expect_err(wrong);
        assert_eq!(refusal.fault, Fault::Url);
        let (media_type, body) = refusal
            .errors
            .0
            .body(&Told::of(Fault::Url, 400, "Unable to parse URI"))
            .expect("a body");
        assert_eq!(media_type, "application/json");
        assert_eq!(
            body,
            "{\"code\":400,\"message\":\"Unable to parse URI\",\"status\":\"error\"}"
        );
    }
    assert!(dialects().parse("/?w=100").unwrap().is_file());
    assert!(dialects().parse("/a.jpg").unwrap().is_file());
}

#[test]
fn answers_are_named_and_kept_for_a_year() {
    let request = ask("w=9&output=webp&filename=me2&maxage=31d").unwrap();
    assert_eq!(request.style.max_age, Some(2_678_400));
    let named = (
        "content-disposition",
        "inline; filename=me2.webp".to_owned(),
    );
    assert_eq!(request.style.headers, [named]);
    let request = ask("filename=no-way").unwrap();
    assert_eq!(request.style.max_age, Some(31_536_000));
    let named = (
        "content-disposition",
        "inline; filename=image.jpg".to_owned(),
    );
    assert_eq!(request.style.headers, [named]);
    assert!(matches!(ask("output=json").unwrap().ask, Ask::Describe(_)));
}

#[test]
fn what_is_not_known_is_told() {
    let notes = ask("w=9&nope=1&longer-than-any-key=2&a=entropy&encoding=x&page=-2&loop=1")
        .unwrap()
        .notes;
    let keys = ["nope", "longer-than", "encoding", "loop", "page"];
    for (note, part) in notes.iter().zip(keys) {
        assert!(note.contains(part), "{notes:?}");
    }
    assert_eq!(notes.len(), keys.len());
}

#[test]
fn a_url_that_is_none_leads_to_the_default() {
    let asked = |default: &str| {
        let target = format!("/?url=http:\\o&default={default}");
        dialects().parse(&target).map(|request| request.ask)
    };
    for (default, to) in [
        ("https://o.test", "https://o.test/"),
        ("o.test/none.png", "http://o.test/none.png"),
        ("https://o.test%3Fa=b", "https://o.test?a=b"),
    ] {
        let to = to.to_owned();
        let status = 302;
        assert_eq!(asked(default), Ok(Ask::Redirect(Redirect { to, status })));
    }
    for none in ["1", "none.png", "http:\\o", ""] {
        assert_eq!(asked(none).expect_err(none).fault, Fault::Url);
    }
    let request = dialects().parse("/?url=https://o.test/a.jpg&default=1");
    let own = "https://o.test/a.jpg".to_owned();
    assert_eq!(
        request.unwrap().style.fallback,
        Some(Fallback::Redirect(own))
    );
}

fn document(query: &str) -> Arc<dyn Document> {
    match ask(query).expect(query).ask {
        Ask::Describe(document) => document,
        other => panic!("{query}: {other:?}"),
    }
}

#[test]
fn a_result_may_be_the_text_of_a_data_uri() {
    let document = document("w=9&output=png&encoding=base64");
    let recipe: Recipe = "exact:9x7,as:png".parse().unwrap();
    assert!(document.has_parts());
    assert_eq!(document.parts(&recipe), std::slice::from_ref(&recipe));
    let parts = [Part {
        media_type: "image/png",
        body: b"any".to_vec(),
    }];
    let about = vectors::about(&recipe, &parts);
    assert_eq!(document.write(&about), "data:image/png;base64,YW55");
    let written: Vec<_> = dialects()
        .write(&ask("w=9&encoding=base64").unwrap())
        .map(|(_, target)| target)
        .collect();
    assert_eq!(written, ["/?url=/a.jpg&w=9&encoding=base64"]);
    assert_eq!(ask("encoding=x").unwrap().ask, Ask::Image);
}

#[test]
fn animations_are_cut_and_widened_across_alone() {
    let facts = Facts {
        frames: 8,
        ..Facts::new("gif", 990, 1050)
    };
    vectors::check_sizes(
        ask,
        &facts,
        &[
            ("n=-1&w=300&h=300&fit=cover", (300, 318)),
            ("n=-1&w=300&h=400&fit=contain", (300, 318)),
            ("n=-1&cx=30&cy=240&cw=930&ch=8130", (930, 1050)),
            ("n=1&w=300&h=300&fit=cover", (300, 300)),
            ("w=300&h=400&fit=contain", (300, 400)),
        ],
    );
}

#[test]
fn facts_tell_what_is_asked_of_an_animation() {
    let recipe = Recipe::default();
    let told = |query: &str| -> serde_json::Value {
        let text = document(query).write(&vectors::about(&recipe, &[]));
        serde_json::from_str(&text).unwrap()
    };
    let facts = told("n=-1&loop=1&delay=200&output=json");
    assert_eq!(facts["loop"], 1);
    assert_eq!(facts["delay"], serde_json::json!([200, 200, 200]));
    assert_eq!(
        (&facts["pages"], &facts["pageHeight"]),
        (&3.into(), &30.into())
    );
    let facts = told("output=json&delay=10,20&loop=-1");
    assert_eq!(facts["delay"], serde_json::json!([10, 20]));
    assert!(facts.get("loop").is_none() && told("output=json&delay=-3").get("delay").is_none());
    assert!(document("output=json").name() != document("output=json&loop=2").name());
}

proptest! {
    #[test]
    fn no_query_panics_and_every_recipe_is_its_text(
        query in "(&(w|h|dpr|fit|cx|cw|ch|a|fpx|ro|bg|trim|sharp|mod|con|blur|page|crop|we|mask|q)(=[a-z0-9.%,-]{0,9}|=cover|=contain|=fill)?){0,6}",
        any in any::<String>(),
    ) {
        for query in [&query, &any] {
            if let Ok(request) = ask(query) {
                for facts in [Facts::new("jpeg", 400, 300), Facts::new("gif", 1, 70_000)] {
                    if let Ok(recipe) = request.rules.resolve(&facts) {
                        let text = recipe.to_string();
                        prop_assert_eq!(text.parse::<Recipe>(), Ok(recipe.clone()), "{}", text);
                    }
                }
            }
        }
    }
}
