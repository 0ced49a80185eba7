use proptest::prelude::*;

use crate::{ALL, Config, Dialects, EXAMPLE_SOURCE, Rewrite, SmallLightConfig, Target};

fn dialects(config: &Config) -> Dialects {
    Dialects::new(config).expect("a configuration")
}

#[test]
fn every_dialect_reads_its_own_example() {
    for make in ALL {
        let dialect = make(&Config::default()).unwrap().expect("on by default");
        let target = Target::new(dialect.example());
        let wish = dialect.wish(&target).unwrap().expect("a wish");
        assert_eq!(format!("/{}", wish.source), EXAMPLE_SOURCE);
        assert!(wish.transformed, "{wish:?}");
        assert!(wish.notes.is_empty(), "{wish:?}");
    }
}

#[test]
fn a_path_without_options_is_a_plain_file() {
    let dialects = dialects(&Config::default());
    for (target, source) in [
        ("/trip/a%20b.jpg", "trip/a b.jpg"),
        ("/trip/a.jpg?dw=100", "trip/a.jpg"),
        ("//a.jpg", "a.jpg"),
        ("/", ""),
        ("/small_light_pictures/a.jpg", "small_light_pictures/a.jpg"),
        ("/100%2525.jpg", "100%25.jpg"),
    ] {
        let wish = dialects.wish(target).unwrap();
        assert_eq!(wish.source, source);
        assert_eq!(wish.rules.text(), "original");
        assert!(!wish.transformed && !wish.strict && !wish.keep_source_type);
    }
}

#[test]
fn a_dialect_that_is_switched_off_leaves_its_targets_to_the_files() {
    let dialects = dialects(&Config {
        small_light: SmallLightConfig {
            enabled: false,
            ..SmallLightConfig::default()
        },
        ..Config::default()
    });
    let wish = dialects.wish("/small_light(dw=10)/a.jpg").unwrap();
    assert_eq!(wish.source, "small_light(dw=10)/a.jpg");
    assert!(!wish.transformed);
}

#[test]
fn rewrites_act_before_dialects_on_the_raw_path() {
    let dialects = dialects(&Config {
        rewrites: vec![Rewrite {
            from: r"^/resize/w/(\d+)/h/(\d+)/(.+)$".to_owned(),
            to: "/small_light(dw=$1,dh=$2,da=l,q=90,jpeghint=y)/$3".to_owned(),
        }],
        ..Config::default()
    });
    let wish = dialects.wish("/resize/w/150/h/100/a%20b.jpg").unwrap();
    assert_eq!(wish.source, "a b.jpg");
    assert_eq!(wish.rules.text(), "small_light(dw=150,dh=100,q=90)");
}

#[test]
fn refusals_name_the_value_and_the_way_out() {
    let refusal = dialects(&Config::default()).wish("/a%zz.jpg").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "`/a%zz.jpg` cannot be served: every `%` must stand before two hex digits (`%25` is a `%`)"
    );
    let long = format!("/%zz{}", "é".repeat(10_000));
    let refusal = dialects(&Config::default()).wish(&long).unwrap_err();
    assert!(refusal.to_string().len() < 300, "{refusal}");
}

proptest! {
    #[test]
    fn no_target_panics(target in any::<String>()) {
        let _ = dialects(&Config::default()).wish(&target);
    }
}
