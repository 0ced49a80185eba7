//! Tests of formats that follow the header `Accept`.

use andon_recipe::{Facts, FormatName, Output};

use super::{ImgproxyConfig, ask, common};

fn negotiating() -> ImgproxyConfig {
    ImgproxyConfig {
        negotiate: true,
        ..common()
    }
}

fn enforcing() -> ImgproxyConfig {
    ImgproxyConfig {
        enforce: true,
        ..common()
    }
}

/// Returns the recipe for a client that gets `format`, or that accepts none of the formats to choose from.
fn settled(config: &ImgproxyConfig, options: &str, format: Option<&str>, facts: &Facts) -> String {
    let rules = ask(config, options).expect(options).rules;
    assert!(rules.output().is_open(), "{options} is not negotiated");
    let settled = rules.with_output(Output {
        format: format.map(|name| FormatName::new(name).unwrap()),
        ..rules.output().clone()
    });
    settled.resolve(facts).expect(options).to_string()
}

fn plain(options: &str, facts: &Facts) -> String {
    super::made(options, facts).to_string()
}

fn sources() -> Vec<Facts> {
    let formats = ["jpeg", "png", "webp", "gif", "svg"];
    let all = formats.map(|format| Facts::new(format, 400, 300));
    let transparent = all.clone().map(|facts| Facts {
        alpha: true,
        ..facts
    });
    all.into_iter().chain(transparent).collect()
}

/// The formats that URLs may name and that are written.
const NAMED: [&str; 9] = [
    "jpg", "jpeg", "png", "webp", "avif", "jxl", "gif", "tiff", "bmp",
];

#[test]
fn an_enforced_format_replaces_the_one_that_a_url_names_where_it_is_accepted() {
    for facts in sources() {
        for name in NAMED {
            let options = format!("w:50/jpgo:1/q:70/f:{name}");
            let chosen = settled(&enforcing(), &options, Some("webp"), &facts);
            let webp = plain("w:50/jpgo:1/q:70/f:webp", &facts);
            assert_eq!(chosen, webp, "{} as {name}", facts.format);
            let other = settled(&enforcing(), &options, None, &facts);
            assert_eq!(other, plain(&options, &facts), "{} as {name}", facts.format);
        }
    }
}

#[test]
fn a_url_that_names_a_format_keeps_it_where_none_is_enforced() {
    let text = |config: &ImgproxyConfig, options: &str| ask(config, options).unwrap().rules.text();
    for name in NAMED.into_iter().chain(["svg"]) {
        let options = format!("f:{name}");
        let named = text(&common(), &options);
        assert_eq!(text(&negotiating(), &options), named);
        assert_eq!(text(&enforcing(), &options) == named, name == "svg");
    }
}

#[test]
fn drawings_and_skipped_sources_stay_as_they_are_whatever_is_accepted() {
    let jpeg = Facts::new("jpeg", 400, 300);
    let svg = Facts::new("svg", 400, 300);
    for config in [negotiating(), enforcing()] {
        for accepted in [None, Some("webp")] {
            let settled = |options: &str, facts: &Facts| settled(&config, options, accepted, facts);
            assert_eq!(settled("w:50", &svg), "original");
            assert_eq!(settled("w:50/skp:jpg:png", &jpeg), "original");
            assert_ne!(settled("w:50/skp:png", &jpeg), "original");
        }
    }
    let settled =
        |options: &str, facts: &Facts| settled(&enforcing(), options, Some("webp"), facts);
    assert_eq!(settled("w:50/skp:jpg/f:jpg", &jpeg), "original");
    assert_eq!(
        settled("w:50/skp:jpg/f:png", &jpeg),
        plain("w:50/f:webp", &jpeg)
    );
    assert_eq!(plain("w:50/f:svg", &svg), "original");
    let error = ask(&enforcing(), "f:svg").unwrap().rules.resolve(&jpeg);
    assert!(error.is_err());
}

#[test]
fn the_best_format_is_the_one_that_is_accepted() {
    let svg = Facts::new("svg", 400, 300);
    for config in [common(), negotiating(), enforcing()] {
        let chosen = settled(&config, "w:50/f:best", Some("webp"), &svg);
        assert_eq!(chosen, plain("w:50/f:webp", &svg));
        assert_eq!(settled(&config, "w:50/f:best", None, &svg), "original");
    }
}
