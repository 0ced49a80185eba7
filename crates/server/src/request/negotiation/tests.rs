//! Tests of format negotiation.

use andon_recipe::{Facts, Recipe};
use hyper::header::{self, HeaderValue};

use super::*;

fn negotiation() -> Negotiation {
    let config = NegotiationConfig::default();
    Negotiation::new(&config, Colour::WHITE, andon_codecs::ALL).unwrap()
}

/// Returns the formats that are acceptable to a client with this `Accept` header.
fn accepted(accept: &str) -> String {
    let negotiation = negotiation();
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, HeaderValue::from_str(accept).unwrap());
    let Choice(bits) = negotiation.choose(&headers, &[]);
    let chosen = negotiation.formats().enumerate();
    let chosen = chosen.filter(|(place, _)| bits & (1 << place) != 0);
    let names: Vec<_> = chosen.map(|(_, (name, _))| name.to_string()).collect();
    names.join(" ")
}

#[test]
fn the_most_welcome_of_the_named_formats_will_do() {
    for (accept, expected) in [
        ("", ""),
        ("*/*", ""),
        ("image/*", ""),
        ("image/webp", "webp"),
        ("IMAGE/WEBP ; Q=0.5", "webp"),
        ("image/webp,*/*;q=0.8", "webp"),
        ("image/avif,image/webp,*/*;q=0.8", "avif webp"),
        ("image/avif,image/webp,image/jxl", "jxl avif webp"),
        ("image/avif;q=0.5,image/webp", "webp"),
        ("image/avif;q=0,image/webp;q=0", ""),
        ("image/webp;q=0.5,image/jpeg", ""),
        ("image/webp;q=0.5,image/*", ""),
        ("image/webp;q=soon", ""),
        ("image/webpx", ""),
    ] {
        assert_eq!(accepted(accept), expected, "{accept}");
    }
}

/// Returns the recipe that results for a source and a client that accepts these formats.
fn settled(recipe: &str, accepted: &[&str], facts: &Facts) -> String {
    let negotiation = negotiation();
    let offers = negotiation.offers.iter();
    let rules = Shortest {
        rules: Arc::new(recipe.parse::<Recipe>().unwrap()),
        offers: offers
            .filter(|offer| accepted.contains(&offer.name.as_str()))
            .cloned()
            .collect(),
        background: negotiation.background.clone(),
        hdr_everywhere: negotiation.hdr_everywhere.clone(),
    };
    let recipe = andon_recipe::Rules::resolve(&rules, facts).unwrap();
    recipe.to_string()
}

const ALL: &[&str] = &["jxl", "avif", "webp"];

#[test]
fn a_format_that_is_not_written_for_browsers_is_no_choice() {
    for (name, nearest) in [("avf", "avif"), ("tiff", "gif"), ("heic", "webp")] {
        let config = NegotiationConfig {
            formats: vec![name.to_owned()],
            ..NegotiationConfig::default()
        };
        let error = Negotiation::new(&config, Colour::WHITE, andon_codecs::ALL).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("negotiation.formats"), "{error}");
        assert!(error.contains(name) && error.contains(nearest), "{error}");
    }
}

#[test]
fn a_photo_is_written_in_what_makes_it_shortest_in_its_size() {
    let facts = Facts::new("jpeg", 4000, 3000);
    for (recipe, accepted, expected) in [
        ("fit:600x600", ALL, "exact:600x450,as:avif"),
        ("fit:600x600", &["jxl", "webp"], "exact:600x450,as:jxl"),
        ("fit:100x100", &["jxl", "webp"], "exact:100x75,as:webp"),
        ("fit:600x600,q:50", ALL, "exact:600x450,as:avif,q:50"),
        ("fit:600x600,progressive", ALL, "exact:600x450,as:avif"),
        ("same", ALL, "as:avif"),
    ] {
        assert_eq!(
            settled(recipe, accepted, &facts),
            expected,
            "{recipe} {accepted:?}"
        );
    }
}

#[test]
fn a_drawing_keeps_its_colours() {
    let facts = Facts {
        drawn: true,
        ..Facts::new("png", 800, 600)
    };
    for (recipe, accepted, expected) in [
        ("same", ALL, "as:webp,lossless"),
        (
            "crop:0:0:100x100,q:50",
            ALL,
            "crop:0:0:100x100,as:webp,lossless",
        ),
        ("max:5000", ALL, "as:avif,max:5000"),
        ("fit:200x200", ALL, "exact:200x150,as:avif"),
        ("fit:200x200", &["jxl"], "exact:200x150"),
        ("same", &["avif", "jxl"], "as:avif"),
    ] {
        assert_eq!(
            settled(recipe, accepted, &facts),
            expected,
            "{recipe} {accepted:?}"
        );
    }
}

#[test]
fn what_is_brighter_than_white_goes_where_browsers_show_it() {
    let jpeg = Facts {
        hdr: true,
        ..Facts::new("jpeg", 800, 600)
    };
    let avif = Facts {
        hdr: true,
        ..Facts::new("avif", 800, 600)
    };
    for (facts, recipe, accepted, expected) in [
        (&jpeg, "fit:400x400", ALL, "exact:400x300,as:avif"),
        (&jpeg, "fit:400x400", &["webp", "jxl"], "exact:400x300"),
        (
            &jpeg,
            "fit:400x400,gainmap:drop",
            &["webp"],
            "exact:400x300,gainmap:drop,as:webp",
        ),
        (&avif, "fit:400x400", &["webp"], "exact:400x300,as:webp"),
    ] {
        assert_eq!(
            settled(recipe, accepted, facts),
            expected,
            "{recipe} {accepted:?}"
        );
    }
}

#[test]
fn what_moves_goes_on_moving() {
    let facts = Facts {
        frames: 3,
        ..Facts::new("gif", 80, 60)
    };
    for (recipe, accepted, expected) in [
        ("same", ALL, "as:webp"),
        ("same", &["jxl", "webp"], "as:webp"),
        ("same", &["jxl"], "same"),
        ("frame:2", &["jxl"], "as:jxl,frame:2"),
    ] {
        assert_eq!(
            settled(recipe, accepted, &facts),
            expected,
            "{recipe} {accepted:?}"
        );
    }
}

#[test]
fn the_background_is_part_of_those_recipes_alone_that_may_show_it() {
    let background = Background::new("3080c0".parse().unwrap(), andon_codecs::ALL);
    for (recipe, completed) in [
        ("as:jpeg", "background:3080c0,as:jpeg"),
        ("background:ffffff,as:jpeg", "as:jpeg"),
        ("background:ff0000,as:jpeg", "background:ff0000,as:jpeg"),
        ("background:none,as:jpeg", "background:none,as:jpeg"),
        ("as:png", "as:png"),
        ("background:ff0000,as:png", "as:png"),
        ("same", "same"),
    ] {
        let mut recipe: Recipe = recipe.parse().unwrap();
        background.complete(&mut recipe.output);
        assert_eq!(recipe.to_string(), completed);
    }
}
