//! Tests against the sizes that Cloudflare documents.

use andon_recipe::{Facts, Orientation, Recipe};
use proptest::prelude::*;

use super::CloudflareConfig;
use crate::Fault;
use crate::errors::Told;
use crate::geometry::FACES;
use crate::vectors;
use crate::{Ask, Config, Dialects, Fallback, Headers, ImageRequest, Refusal, Source};

fn dialects() -> Dialects {
    let config = Config {
        cloudflare: CloudflareConfig {
            open: false,
            prefix: "/cdn-cgi/image".to_owned(),
        },
        ..Config::default()
    };
    Dialects::new(&config).expect("a configuration")
}

fn ask(options: &str) -> Result<ImageRequest, Refusal> {
    dialects().parse(&format!("/cdn-cgi/image/{options}/a.jpg"))
}

fn made(options: &str, facts: &Facts) -> String {
    vectors::resolved(ask(options), facts).to_string()
}

#[test]
fn sizes_are_the_services() {
    vectors::check_sizes(
        ask,
        &Facts::new("jpeg", 1080, 720),
        &[
            ("width=500,height=500", (500, 333)),
            ("w=500,h=500,fit=scale-down", (500, 333)),
            ("fit=scale-down,width=2000,height=2000", (1080, 720)),
            ("fit=cover,width=500,height=500", (500, 500)),
            ("fit=cover,width=2000,height=2000", (2000, 2000)),
            ("fit=crop,width=1296,height=1296", (1080, 720)),
            ("fit=crop,width=1296,height=500", (1080, 500)),
            ("fit=crop,width=500,height=500", (500, 500)),
            ("fit=pad,width=1080,height=1080", (1080, 1080)),
            ("fit=squeeze,width=500,height=500", (500, 500)),
            ("fit=contain,width=2160", (2160, 1440)),
            ("fit=cover,width=540", (540, 360)),
            ("width=540,dpr=2", (1080, 720)),
            ("width=5,width=540", (540, 360)),
            ("rotate=90,width=360", (360, 540)),
            ("trim=20;30;20;0", (1050, 680)),
            ("trim.left=80,trim.height=120", (1000, 120)),
            ("trim=10;10;10;10,dpr=2", (1040, 680)),
            ("width=auto", (1080, 720)),
        ],
    );
    vectors::check_sizes(
        ask,
        &Facts::new("jpeg", 612, 613),
        &[
            ("fit=aspect-crop,width=1920,height=1120", (612, 357)),
            ("width=1920,height=1120", (612, 613)),
        ],
    );
    let small = Facts::new("jpeg", 400, 300);
    vectors::check_sizes(ask, &small, &[("width=150", (150, 113))]);
}

#[test]
fn the_vectors_that_implementations_share() {
    for row in vectors::of("cloudflare") {
        row.check(&dialects());
    }
}

#[test]
fn images_are_drawn_over_the_result_in_the_order_of_the_array() {
    let facts = Facts::new("png", 400, 300);
    let option = |json: &str| {
        let escape = |byte: u8| format!("%{byte:02x}");
        let escaped: String = json.bytes().map(escape).collect();
        format!("draw={escaped}")
    };
    for (json, recipe) in [
        (
            r#"[{"url":"https://o.test/a.png","bottom":5,"right":5}]"#,
            "over:https%3A//o.test/a.png:100p-5:100p-5",
        ),
        (
            r#"[{"url":"/b/a.png","left":3,"opacity":0.8},{"url":"/c.png"}]"#,
            "overlay:/b/a.png:3:50p:80,over:/c.png:50p:50p",
        ),
        (
            r#"[{"url":"/c.png","width":100,"height":50,"fit":"contain","rotate":90}]"#,
            "overlay:/c.png:50p:50p:100:0:0:normal:exact:orient%2Cfit%3A100x50%3Aenlarge%2Cturn%3A90",
        ),
        (
            r#"[{"url":"/c.png","width":100,"height":50,"fit":"cover"}]"#,
            "overlay:/c.png:50p:50p:100:0:0:normal:exact:orient%2Ccover%3A100x50%3Aenlarge",
        ),
        (
            r#"[{"url":"/c.png","repeat":true,"left":7}]"#,
            "overlay:/c.png:7:0:100:0:0:tile",
        ),
        (
            r#"[{"url":"/c.png","repeat":"x","bottom":0}]"#,
            "over:/c.png:repeat:100p+0",
        ),
        (r#"[{"url":"/c.png","opacity":0}]"#, "same"),
        ("[]", "same"),
    ] {
        assert_eq!(made(&option(json), &facts), recipe, "{json}");
    }
    let two = ask(&option(
        r#"[{"url":"/b.png"},{"url":"http:/o.test/a.png"}]"#,
    ))
    .unwrap();
    assert_eq!(two.rules.overlays(), ["/b.png", "http://o.test/a.png"]);
    for json in [
        "",
        "logo.png",
        "{}",
        r#"[{"width":3}]"#,
        r#"[{"url":"a.png"}]"#,
        r#"[{"url":"//o.test/a.png"}]"#,
        r#"[{"url":"/"}]"#,
        r#"[{"url":"ftp://o.test/a.png"}]"#,
        r#"[{"url":"/c.png","blur":4}]"#,
        r#"[{"url":"/c.png","fit":"pad"}]"#,
        r#"[{"url":"/c.png","width":0}]"#,
        r#"[{"url":"/c.png","height":12001}]"#,
        r#"[{"url":"/c.png","opacity":1.5}]"#,
        r#"[{"url":"/c.png","left":1,"right":1}]"#,
        r#"[{"url":"/c.png","top":1e9}]"#,
        r#"[{"url":"/c.png","rotate":45}]"#,
        &format!("[{}]", vec![r#"{"url":"/c.png"}"#; 17].join(",")),
    ] {
        let refusal = ask(&option(json)).expect_err(json);
        assert_eq!(refusal.fault, Fault::Url, "{json}: {refusal}");
    }
}

#[test]
fn options_act_in_the_services_order() {
    let facts = Facts {
        orientation: Orientation::from_exif(6),
        ..Facts::new("jpeg", 720, 1080)
    };
    for (options, recipe) in [
        (
            "rotate=90,flip=h,trim=0;80;0;0,w=72,q=50",
            "orient,crop:0:0:1000x720,flip:h,turn:90,exact:72x100,q:50",
        ),
        (
            "fit=cover,w=100,h=100,g=0x1",
            "orient,exact:150x100,crop:0:0:100x100,q:85",
        ),
        (
            "fit=cover,w=100,h=100,g=right",
            "orient,exact:150x100,crop:50:0:100x100,q:85",
        ),
        (
            "brightness=0,contrast=1.5,gamma=1,saturation=0",
            "orient,contrast:1.5,saturation:0,q:85",
        ),
        (
            "q=medium-low,f=jpeg,blur=4",
            "orient,blur:0x2,q:70,progressive",
        ),
        ("f=auto,q=high", "orient,as:auto"),
        ("f=png,metadata=keep", "orient,as:png"),
        ("f=webp,q=100", "orient,as:webp,lossless"),
        ("q=100", "orient,q:100"),
        (
            "fit=pad,w=720,h=720,background=rgb%28240%2C40%2C145%29",
            "orient,exact:720x480,canvas:720x720:f02891:0:120,q:85",
        ),
    ] {
        let made = made(options, &facts);
        assert_eq!(made, recipe, "{options}");
    }
}

#[test]
fn what_is_not_known_is_refused_with_the_services_number() {
    for (target, part) in [
        ("nope=1/a.jpg", "nope"),
        ("widht=1/a.jpg", "did you mean `width`"),
        ("width=0/a.jpg", "width must be"),
        ("width=12001/a.jpg", "12000"),
        ("width=1.5/a.jpg", "width must be"),
        ("fit=fill/a.jpg", "scale-down"),
        ("background=redd/a.jpg", "CSS"),
        ("background=rgb(1,2,3)/a.jpg", "rgb(1"),
        ("gravity=2x0/a.jpg", "gravity must be"),
        ("trim=1;2;3/a.jpg", "trim must be"),
        ("blur=251/a.jpg", "250"),
        ("quality=best/a.jpg", "high"),
        ("width/a.jpg", "key=value"),
        ("/a.jpg", "at least one option"),
        ("width=9", "no source"),
        ("width=9/", "no source"),
    ] {
        let refusal = dialects()
            .parse(&format!("/cdn-cgi/image/{target}"))
            .expect_err(target);
        assert!(refusal.to_string().contains(part), "{refusal}");
        let (_, body) = refusal
            .errors
            .0
            .body(&Told::of(Fault::Url, 400, "why"))
            .expect("a body");
        assert_eq!(body, "ERROR 9401: why\n");
    }
}

#[test]
fn a_query_belongs_to_the_source_and_a_loop_is_refused() {
    for (target, right) in [
        ("w=9/x/a%20b.jpg?v=2", Source::Path("x/a b.jpg".to_owned())),
        (
            "w=9/x//a%2Fb.jpg?v=2",
            Source::Escaped("//x//a%2Fb.jpg".to_owned()),
        ),
        (
            "w=9/https://o.test/a.jpg?v=2",
            Source::Url("https://o.test/a.jpg?v=2".to_owned()),
        ),
        (
            "w=9/https:/o.test/a.jpg",
            Source::Url("https://o.test/a.jpg".to_owned()),
        ),
    ] {
        let request = dialects()
            .parse(&format!("/cdn-cgi/image/{target}"))
            .unwrap();
        assert_eq!(request.source, right, "{target}");
    }
    struct Resized;
    impl Headers for Resized {
        fn get(&self, name: &str) -> Option<&str> {
            (name == "via").then_some("1.1 image-resizing")
        }
    }
    assert!(
        dialects()
            .parse_with("/cdn-cgi/image/w=9/a.jpg", &Resized)
            .is_err()
    );
    assert!(matches!(ask("format=json").unwrap().ask, Ask::Describe(_)));
    assert_eq!(
        ask("width=auto,onerror=redirect,gravity=face")
            .unwrap()
            .notes
            .len(),
        if FACES { 2 } else { 3 }
    );
    let target = "/cdn-cgi/image/w=9,onerror=redirect/https://o.test/a%20b.jpg";
    assert_eq!(
        dialects().parse(target).unwrap().style.fallback,
        Some(Fallback::Redirect("https://o.test/a%20b.jpg".to_owned()))
    );
}

#[test]
fn faces_are_kept_where_a_build_looks_for_them() {
    let kept = if FACES { "faces" } else { "smart" };
    assert_eq!(
        made(
            "fit=cover,w=50,h=50,gravity=face",
            &Facts::new("png", 200, 100)
        ),
        format!("exact:100x50,focus:{kept},crop:50x50")
    );
}

#[test]
fn slow_connections_have_a_quality_of_their_own() {
    struct Hint(&'static str, &'static str);
    impl Headers for Hint {
        fn get(&self, name: &str) -> Option<&str> {
            (name == self.0).then_some(self.1)
        }
    }
    let facts = Facts::new("jpeg", 9, 9);
    for (hint, value, quality) in [
        ("rtt", "151", 30),
        ("rtt", "150", 80),
        ("save-data", "on", 30),
        ("save-data", "off", 80),
        ("ect", "3g", 30),
        ("ect", "4g", 80),
        ("downlink", "4.9", 30),
        ("downlink", "5", 80),
        ("accept", "*/*", 80),
    ] {
        let target = "/cdn-cgi/image/q=80,scq=30/a.jpg";
        let request = dialects().parse_with(target, &Hint(hint, value));
        let request = request.unwrap();
        assert_eq!(
            request.style.reads,
            ["downlink", "ect", "rtt", "save-data", "via"]
        );
        let recipe = request.rules.resolve(&facts).unwrap().to_string();
        assert_eq!(recipe, format!("q:{quality}"), "{hint}: {value}");
    }
}

proptest! {
    #[test]
    fn no_options_panic_and_every_recipe_is_its_text(
        options in "((w|h|dpr|g|trim|rotate|background|blur|q|f|trim.left|border.width)=[a-z0-9.;x%-]{0,7},){0,4}(fit=(crop|cover|pad|squeeze|contain|aspect-crop))?",
        any in any::<String>(),
    ) {
        for options in [&options, &any] {
            if let Ok(request) = ask(options) {
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
