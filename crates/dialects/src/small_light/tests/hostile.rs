//! Tests with hostile and meaningless input.

use andon_recipe::{Facts, Recipe, Rules};
use proptest::prelude::*;

use super::{ask, getparam, sane, strict};
use crate::small_light::PARAMETERS;

proptest! {
    #[test]
    fn no_options_panic_and_every_recipe_is_its_text_and_resolved(
        options in "[a-z=,x0-9.+pey-]{0,60}",
        named in proptest::collection::vec(
            (proptest::sample::select(PARAMETERS), "[a-z0-9.x+-]{1,8}"),
            0..8,
        ),
    ) {
        let named: Vec<String> = named
            .iter()
            .map(|(parameter, value)| format!("{}={value}", parameter.name))
            .collect();
        let joined = format!("{},{options}", named.join(","));
        for config in [sane(), strict()] {
            let request = ask(config, &format!("/small_light({joined})/a.jpg"));
            if let Ok(request) = request {
                let facts = Facts::new("jpeg", 400, 300);
                if let Ok(recipe) = request.rules.resolve(&facts) {
                    let text = recipe.to_string();
                    prop_assert_eq!(text.parse::<Recipe>(), Ok(recipe.clone()), "{}", text);
                    prop_assert_eq!(recipe.resolve(&facts), Ok(recipe));
                }
            }
        }
        let _ = ask(getparam(), &format!("/a.jpg?{}", joined.replace(',', "&")));
    }

    #[test]
    fn no_target_panics(middle in any::<String>(), end in any::<String>()) {
        for config in [sane(), strict(), getparam()] {
            let _ = ask(config, &format!("/{end}small_light({middle})/{end}?{middle}"));
        }
    }
}

#[test]
fn long_targets_are_read_in_one_pass() {
    let times = 65_536;
    for unit in [
        "small_light(",
        "small_light()/",
        "small_light/",
        "/",
        ",",
        "=",
        "dw=1,",
        "9",
        "%61",
        "%",
        "&dw",
        "&dw=1",
        "?small_light(",
        "é",
    ] {
        let long = unit.repeat(times / unit.len());
        for config in [sane(), strict(), getparam()] {
            let _ = ask(config.clone(), &format!("/{long}"));
            let _ = ask(config.clone(), &format!("/small_light({long})/a.jpg"));
            let _ = ask(config.clone(), &format!("/small_light(dw={long})/a.jpg"));
            let _ = ask(config, &format!("/a.jpg?{long}"));
        }
    }
}
