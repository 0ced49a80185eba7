use proptest::prelude::*;

use crate::config::Mount;
use crate::dialect::HeadersRead;
use crate::{
    ALL, AnswerStyle, Ask, Config, Dialects, EXAMPLE_SOURCE, Headers, ROWS, Rewrite,
    SmallLightConfig, Target,
};

fn dialects(config: &Config) -> Dialects {
    Dialects::new(config).expect("a configuration")
}

/// Returns a configuration with every dialect, each below a prefix of its own.
fn all() -> Config {
    let mut config = Config::default();
    for row in ROWS {
        (row.switch_on)(&mut config, Mount::Apart);
    }
    config.image_filter.prefix = "/nginx".to_owned();
    config.imagor.keys = vec!["a key of sixteen bytes or more".to_owned()];
    config
}

#[test]
fn every_dialect_reads_its_own_example() {
    let config = all();
    for (name, make) in ALL {
        let dialect = make(&config).unwrap().expect("switched on");
        let example = dialect.example(EXAMPLE_SOURCE);
        let request = dialect.parse(&Target::new(&example)).unwrap().expect(name);
        assert_eq!(format!("/{}", request.source.as_str()), EXAMPLE_SOURCE);
        assert_eq!(request.ask, Ask::Image);
        assert!(request.notes.is_empty(), "{request:?}");
    }
}

#[test]
fn examples_name_any_file_whatever_is_in_its_name() {
    let mut config = Config::default();
    config.switch_on_all();
    let all = dialects(&config);
    for (escaped, path) in [
        ("/a.jpg", "a.jpg"),
        ("/my%20trip/a%2Bb%20c.jpg", "my trip/a+b c.jpg"),
        ("/caf%C3%A9/%26.jpg", "café/&.jpg"),
        ("/100%25/a.jpg", "100%/a.jpg"),
    ] {
        for (name, target) in all.open_examples(escaped) {
            let request = all.parse(&target).expect(&target);
            assert_eq!(request.source.place(), path, "{name}: {target}");
            assert_eq!(request.ask, Ask::Image, "{name}: {target}");
        }
    }
}

#[test]
fn no_example_is_given_that_its_own_dialect_refuses() {
    let mut config = Config::default();
    config.switch_on_all();
    let all = dialects(&config);
    let ordinary = all.open_examples("/a.jpg").count();
    for character in (' '..='~').filter(|character| !character.is_ascii_alphanumeric()) {
        let name = format!("a{character}b.jpg");
        let path = format!("/a%{:02X}b.jpg", u32::from(character));
        let examples: Vec<_> = all.open_examples(&path).collect();
        for (dialect, target) in &examples {
            let request = all.parse(target).expect(target);
            assert_eq!(request.source.place(), name, "{dialect}: {target}");
        }
        let refused = ordinary - examples.len();
        assert!(
            refused <= usize::from("\"*:<>?|\\/".contains(character)),
            "{name}: {examples:?}"
        );
    }
}

#[test]
fn every_dialect_answers_errors_in_its_own_way() {
    let config = all();
    let style = |make: &crate::Maker| make(&config).unwrap().expect("switched on").errors();
    for (index, (name, make)) in ALL.iter().enumerate() {
        for (other, same) in ALL.iter().skip(index) {
            // Some dialects answer errors in the server's own style.
            let plain = |make| style(make) == crate::OWN_ERRORS;
            let alike = name == other || plain(make) && plain(same);
            assert_eq!(style(make) == style(same), alike, "{name} and {other}");
        }
    }
}

#[test]
fn a_target_means_the_same_without_its_first_slash() {
    let dialects = dialects(&Config::default());
    let request = dialects.parse("r/fit:10x10/a.jpg").unwrap();
    assert_eq!(request.source.as_str(), "a.jpg");
    assert_eq!(request.rules.text(), "fit:10x10");
    // Found by fuzzing: this was parsed as a file that no URL can name.
    assert!(dialects.parse("r/ull_/ll180_").is_err());
}

#[test]
fn what_another_language_would_take_for_its_own_is_not_written() {
    let dialects = dialects(&Config {
        small_light: SmallLightConfig {
            getparam_mode: true,
            ..SmallLightConfig::default()
        },
        rewrite: vec![Rewrite {
            query: Vec::new(),
            from: "^/old/(.*)$".to_owned(),
            to: "/$1".to_owned(),
            opens: false,
        }],
        ..Config::default()
    });
    let written = |target: &str| {
        let request = dialects.parse(target).unwrap();
        let names = dialects.write(&request).map(|(name, _)| name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(written("/a.jpg?dw=10"), ["small_light"]);
    // A file below a folder that is called as the prefix of native URLs: found by fuzzing.
    assert_eq!(written("//r/fit:10x10/a.jpg?dw=10"), [""; 0]);
    assert_eq!(written("//~a1a102x3qqqqqqqqqqqqqqqq/a.jpg?dw=10"), [""; 0]);
    // One below a folder that a rule rewrites is rewritten in every spelling.
    assert_eq!(written("//old/a.jpg?dw=10"), ["small_light"]);
}

#[test]
fn a_path_without_options_is_a_plain_file() {
    let dialects = dialects(&Config::default());
    for (target, source) in [
        ("/trip/a%20b.jpg", "trip/a b.jpg"),
        ("/trip/a.jpg?dw=100", "trip/a.jpg"),
        ("//a.jpg", "a.jpg"),
        ("a.jpg", "a.jpg"),
        ("/", ""),
        ("/small_light_pictures/a.jpg", "small_light_pictures/a.jpg"),
        ("/100%2525.jpg", "100%25.jpg"),
    ] {
        let request = dialects.parse(target).unwrap();
        assert_eq!(request.source.as_str(), source);
        assert_eq!(request.rules.text(), "original");
        assert!(request.is_file());
        assert_eq!(request.style, AnswerStyle::default());
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
    let request = dialects.parse("/small_light(dw=10)/a.jpg").unwrap();
    assert_eq!(request.source.as_str(), "small_light(dw=10)/a.jpg");
    assert!(request.is_file());
}

#[test]
fn rewrites_act_before_dialects_on_the_raw_path() {
    let dialects = dialects(&Config {
        rewrite: vec![Rewrite {
            query: Vec::new(),
            from: r"^/resize/w/(\d+)/h/(\d+)/(.+)$".to_owned(),
            to: "/small_light(dw=$1,dh=$2,da=l,q=90,jpeghint=y)/$3".to_owned(),
            opens: false,
        }],
        ..Config::default()
    });
    let request = dialects.parse("/resize/w/150/h/100/a%20b.jpg").unwrap();
    assert_eq!(request.source.as_str(), "a b.jpg");
    assert_eq!(request.rules.text(), "small_light(dw=150,dh=100,q=90)");
}

#[test]
fn refusals_name_the_value_and_the_way_out() {
    let refusal = dialects(&Config::default()).parse("/a%zz.jpg").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "`/a%zz.jpg` cannot be served: every `%` must stand before two hex digits (`%25` is a `%`)"
    );
    let long = format!("/%zz{}", "é".repeat(10_000));
    let refusal = dialects(&Config::default()).parse(&long).unwrap_err();
    assert!(refusal.to_string().len() < 300, "{refusal}");
}

proptest! {
    #[test]
    fn no_target_panics(target in any::<String>()) {
        let _ = dialects(&Config::default()).parse(&target);
    }
}

/// Asserts that what each dialect writes for a target is read back as the same request, and returns the number of
/// dialects that wrote it.
fn assert_written_targets_read_back(config: &Config, target: &str) -> usize {
    let dialects = dialects(config);
    let Ok(request) = dialects.parse(target) else {
        return 0;
    };
    let mut written = 0;
    for (name, again) in dialects.write(&request) {
        let read = dialects.parse(&again).expect(&again);
        assert_eq!(read.ask, request.ask, "{name}: {target} {again}");
        assert_eq!(read.source, request.source, "{name}: {target} {again}");
        assert_eq!(read.rules.text(), request.rules.text(), "{again}");
        let own = dialects.write(&read).find(|(other, _)| *other == name);
        assert_eq!(own, Some((name, again)), "{target} is written otherwise");
        written += 1;
    }
    written
}

#[test]
fn a_written_request_is_canonical_and_reads_back() {
    for target in [
        "/small_light(q=95,dw=250,dh=250)/trip/a%20b.jpg",
        "/small_light(dw=10%2Cdh=20)/%E3%81%82/50%25.jpg",
        "/small_light(embedicon=a%20b.png,ix=5)/a.jpg",
    ] {
        let mut config = Config::default();
        config.small_light.material_dir = Some("icons".into());
        assert_eq!(assert_written_targets_read_back(&config, target), 1);
    }
    let target = "/nginx/image_filter(crop,-,0150,q=90,rotate=90)/a%20b.jpg";
    assert_eq!(assert_written_targets_read_back(&all(), target), 1);
}

proptest! {
    #[test]
    fn whatever_is_written_reads_back(target in "/(small_light\\((dw|dh|q|p|of|cw|da|pt)=[a-z0-9]{1,4}(,(dh|ch|cc|blur|q|embedicon)=[a-z0-9x%]{1,6})?\\)/)?[a-z%0-9 /.]{0,9}") {
        let _ = assert_written_targets_read_back(&Config::default(), &target);
    }
}

#[test]
fn headers_that_a_dialect_looks_at_are_recorded() {
    struct One;
    impl Headers for One {
        fn get(&self, name: &str) -> Option<&str> {
            (name == "host").then_some("a.example")
        }
    }
    let read = HeadersRead::new(&One);
    let target = Target::new("/a.jpg").with_headers(&read);
    assert_eq!(target.header("host"), Some("a.example"));
    assert_eq!(target.header("dpr"), None);
    assert_eq!(target.header("host"), Some("a.example"));
    assert_eq!(read.names(), ["dpr", "host"]);
}

#[test]
fn equal_requests_come_to_the_same_pixels_in_every_language() {
    let mut config = all();
    config.iiif.prefix2 = "/iiif/2".to_owned();
    config.imagor.allow_unsafe = true;
    let dialects = dialects(&config);
    let facts = andon_recipe::Facts::new("jpeg", 400, 300);
    let recipe = |target: &str| {
        let target = target.replace("{}", "a.jpg");
        let request = dialects.parse(&target).expect(&target);
        assert_eq!(request.source.as_str(), "a.jpg");
        request.rules.resolve(&facts).expect(&target).to_string()
    };
    let mut recipes = std::collections::BTreeSet::new();
    let mut different = Vec::new();
    for group in include_str!("equal.txt").split("\n\n") {
        let first = group.lines().next().map(recipe).expect("a target");
        let others = group.lines().map(|target| (target, recipe(target)));
        different.extend(others.filter(|(_, other)| *other != first));
        recipes.insert(first);
    }
    assert_eq!(different, []);
    assert_eq!(recipes.len(), 22);
}

#[test]
fn a_dialect_at_the_root_leaves_those_with_marks_their_targets() {
    let mut config = Config::default();
    config.imgproxy.prefix = "/".to_owned();
    config.imagor.prefix = "/i".to_owned();
    config.imagor.allow_unsafe = true;
    config.iiif.prefix = "/iiif/3".to_owned();
    let dialects = dialects(&config);
    for (target, language) in [
        ("/small_light(dw=250,dh=250)/a.jpg", "small_light("),
        ("/unsafe/rs:fit:250:250/plain/local:///a.jpg", "imgproxy("),
        ("/iiif/3/a.jpg/full/!250,250/0/default.jpg", "iiif3("),
        ("/r/fit:250x250/a.jpg", "fit:250x250"),
        ("/i/unsafe/250x250/a.jpg", "imagor"),
    ] {
        let request = dialects.parse(target).expect(target);
        let text = request.rules.text();
        assert!(text.starts_with(language), "{target}: {text}");
        assert_eq!(request.source.as_str(), "a.jpg");
    }
}

/// Returns the source that a load balancer finds by trying the source patterns in turn.
fn hashed(dialects: &Dialects, target: &str) -> String {
    let mut patterns = dialects.source_patterns();
    let found = patterns.find_map(|(_, pattern)| {
        let pattern = regex::Regex::new(&pattern).expect("a pattern");
        assert_eq!(pattern.captures_len(), 2, "{pattern} has one group");
        Some(pattern.captures(target)?[1].to_owned())
    });
    found.unwrap_or_else(|| panic!("{target} matches nothing"))
}

#[test]
fn load_balancers_find_the_source_in_every_language() {
    let mut config = all();
    config.iiif.prefix2 = "/iiif/2".to_owned();
    for (name, make) in ALL {
        let dialect = make(&config).unwrap().expect("switched on");
        assert!(!dialect.source_patterns().is_empty(), "{name}");
    }
    let dialects = dialects(&config);
    for source in ["trip/a.jpg", "pics/200x300/b%20c.png"] {
        let escaped = source.replace('/', "%2F");
        for line in include_str!("equal.txt")
            .lines()
            .filter(|line| !line.is_empty())
        {
            let inside = match line.starts_with("/iiif/") {
                true => &*escaped,
                false => source,
            };
            let target = line.replace("{}", inside);
            assert_eq!(hashed(&dialects, &target), inside, "{target}");
            let signed = format!("/~AAAA.0.key{target}");
            assert_eq!(hashed(&dialects, &signed), inside, "{signed}");
        }
    }
    for (target, source) in [
        ("/iiif/3/a.jpg/info.json", "a.jpg"),
        ("/imgproxy/_/w:20/dHJpcC9hLmpwZw.webp", "dHJpcC9hLmpwZw"),
        ("/imgproxy/_/w:20/dHJp/cC9h.webp", "dHJp/cC9h"),
        (
            "/imgproxy/_/w:20/plain/local:///trip/a.jpg@png",
            "trip/a.jpg",
        ),
        (
            "/thumbor/unsafe/trim/10x20:30x40/fit-in/-9x8/left/top/smart/a.jpg",
            "a.jpg",
        ),
        (
            "/thumbor/unsafe/filters:watermark(/b/c.png,1,2):blur(3)/a.jpg",
            "a.jpg",
        ),
    ] {
        assert_eq!(hashed(&dialects, target), source);
    }
}
