//! Tests against the answers of nginx 1.22.1.

use andon_recipe::{Facts, Step};
use proptest::prelude::*;

use crate::errors::Told;
use crate::vectors::{self, answer};
use crate::{Ask, Config, Dialects, Fault, ImageFilterConfig, ImageRequest, Refusal};

fn dialects() -> Dialects {
    let image_filter = ImageFilterConfig {
        open: false,
        prefix: "/".to_owned(),
    };
    Dialects::new(&Config {
        image_filter,
        ..Config::default()
    })
    .expect("a configuration")
}

fn ask(options: &str) -> Result<ImageRequest, Refusal> {
    dialects().parse(&format!("/image_filter({options})/a.jpg"))
}

fn recipe(options: &str, facts: &Facts) -> String {
    let request = ask(options).expect(options);
    request.rules.resolve(facts).expect(options).to_string()
}

#[test]
fn sizes_are_nginxs() {
    for (source, options, size) in [
        ((400, 300), "resize,150,-", (150, 112)),
        ((400, 300), "resize,-,133", (177, 133)),
        ((400, 300), "resize,250,250", (250, 187)),
        ((400, 301), "resize,150,-", (150, 112)),
        ((400, 301), "resize,-,133", (176, 133)),
        ((400, 301), "resize,250,250", (250, 188)),
        ((400, 300), "resize,800,800", (400, 300)),
        ((400, 300), "resize,1,1", (1, 1)),
        ((400, 300), "resize,010,-", (10, 7)),
        // Two truncations in a row.
        ((333, 777), "resize,100,50", (21, 50)),
        ((400, 300), "crop,200,200", (200, 200)),
        ((400, 300), "crop,500,200", (400, 200)),
        ((400, 300), "crop,200,500", (200, 300)),
        ((400, 300), "crop,150,-", (150, 300)),
        ((400, 300), "crop,401,301", (400, 300)),
        ((400, 300), "resize,150,-,rotate=90", (112, 150)),
        // The image is scaled to the box before it is turned, and cropped afterwards.
        ((400, 300), "crop,200,100,rotate=90", (150, 100)),
        ((400, 300), "rotate,90", (300, 400)),
        ((400, 300), "rotate,180", (400, 300)),
        ((4_000_000, 3), "resize,5,5", (5, 1)),
    ] {
        let facts = Facts::new("jpeg", source.0, source.1);
        assert_eq!(
            answer(ask(options), &facts),
            Ok(size),
            "{source:?} {options}"
        );
    }
}

#[test]
fn the_shared_vectors_hold() {
    for vector in vectors::of("image_filter") {
        vector.check(&dialects());
    }
}

#[test]
fn every_fault_is_415() {
    for options in [
        "resize,0,10",
        "resize,1x,10",
        "resize,-1,10",
        "resize,+9,10",
        "resize,,10",
        "resize,10",
        "resize",
        "crop,99999999999999999999,1",
        "rotate,45",
        "rotate,0",
        "rotate,-",
        "scale,10,10",
        "",
        "resize,5,5,q=0",
        "resize,5,5,q=x",
        "resize,5,5,webp_q=0",
        "resize,5,5,7",
        "rotate,90,rotate=90",
        "test,buffer=1G",
        "test,buffer=",
        "test,buffer=99999999999999999999",
    ] {
        let facts = Facts::new("jpeg", 400, 300);
        assert_eq!(answer(ask(options), &facts), Err(415), "{options}");
    }
    assert!(dialects().parse("/image_filter(resize,5,5)").is_err());
    assert!(dialects().parse("/image_filter(resize,5,5/a.jpg").is_err());
    let bmp = Facts::new("bmp", 9, 9);
    assert!(ask("test").unwrap().rules.resolve(&bmp).is_err());
}

#[test]
fn the_size_of_no_image_is_empty_and_no_fault() {
    let errors = ask("size").unwrap().style.errors.0;
    for fault in [
        Fault::Missing,
        Fault::NotImage,
        Fault::Damaged,
        Fault::Limit,
    ] {
        assert_eq!(errors.status(fault, 404), 200);
    }
    assert_eq!(errors.status(Fault::Busy, 503), 503);
    let body = errors.body(&Told::of(Fault::Url, 200, "why"));
    assert_eq!(body, Some(("application/json", "{}\r\n".to_owned())));
    let errors = ask("test").unwrap().style.errors.0;
    assert_eq!(errors.status(Fault::Missing, 404), 415);
}

#[test]
fn what_is_small_enough_is_sent_as_it_is() {
    let facts = Facts::new("jpeg", 400, 300);
    for options in [
        "test",
        "resize,400,300",
        "crop,400,-",
        "resize,-,-,q=5",
        "resize,400,300,rotate=x",
    ] {
        assert_eq!(recipe(options, &facts), "original", "{options}");
    }
    // An angle without effect still has the image encoded again.
    assert_eq!(recipe("resize,400,300,rotate=45", &facts), "q:75");
    assert!(ask("off").unwrap().is_file());
    let size = ask("size,buffer=512k").unwrap();
    assert!(matches!(size.ask, Ask::Describe(_)));
    assert_eq!(size.style.most_bytes, Some(512 << 10));
    assert_eq!(
        ask("test,buffer=1M").unwrap().style.most_bytes,
        Some(1 << 20)
    );
}

#[test]
fn a_result_has_its_sources_format_and_nothing_of_its_metadata() {
    let mut facts = Facts::new("jpeg", 400, 300);
    (facts.metadata, facts.tagged) = (true, true);
    assert_eq!(
        recipe("resize,150,-,interlace=on", &facts),
        "exact:150x112,profile:drop,metadata:none,q:75,progressive"
    );
    facts.format = "webp".to_owned();
    assert_eq!(
        recipe("resize,150,-", &facts),
        "exact:150x112,profile:drop,metadata:none,q:80"
    );
    assert_eq!(
        recipe("resize,150,-,q=60,webp_q=70", &facts),
        "exact:150x112,profile:drop,metadata:none,q:70"
    );
    let moving = Facts {
        frames: 2,
        ..Facts::new("gif", 400, 300)
    };
    assert_eq!(recipe("resize,150,-", &moving), "exact:150x112,frame:1");
}

#[test]
fn turns_are_counter_clockwise_and_lose_opacity() {
    let mut facts = Facts::new("png", 400, 300);
    facts.alpha = true;
    let request = ask("crop,200,100,rotate=90").unwrap();
    let steps = request.rules.resolve(&facts).unwrap().steps;
    let steps: Vec<String> = steps.iter().map(Step::to_string).collect();
    assert_eq!(
        steps,
        [
            "exact:200x150",
            "turn:270",
            "canvas:150x200:000000:0:0",
            "crop:0:50:150x100"
        ]
    );
}

#[test]
fn a_sites_own_urls_are_rewritten() {
    let mut config = Config::default();
    config.image_filter.prefix = "/_nginx/".to_owned();
    config.rewrite = vec![crate::Rewrite {
        query: Vec::new(),
        from: r"^/(\d+|-)x(\d+|-)/(.+)$".to_owned(),
        to: "/_nginx/image_filter(resize,$1,$2,q=90)/$3".to_owned(),
        opens: false,
    }];
    let dialects = Dialects::new(&config).unwrap();
    let request = dialects.parse("/150x-/trip/a%20b.jpg").unwrap();
    assert_eq!(request.source.as_str(), "trip/a b.jpg");
    let recipe = request
        .rules
        .resolve(&Facts::new("jpeg", 400, 300))
        .unwrap();
    assert_eq!(recipe.to_string(), "exact:150x112,q:90");
    assert!(dialects.parse("/150x0/a.jpg").is_err());
}

proptest! {
    #[test]
    fn no_options_panic_and_what_is_written_is_the_same(
        options in "(resize|crop|rotate|test),?[0-9-]{0,4},?[0-9-]{0,4}(,(q|webp_q|sharpen|rotate)=[0-9-]{1,4}){0,3}",
        width in 1_u32.., height in 1_u32..,
    ) {
        let dialects = dialects();
        if let Ok(request) = ask(&options) {
            let _ = request.rules.resolve(&Facts::new("jpeg", width, height));
            let written: Vec<_> = dialects.write(&request).collect();
            prop_assert_eq!(written.len(), 1, "{}", options);
            let again = dialects.parse(&written[0].1).unwrap();
            prop_assert_eq!(again.rules.text(), request.rules.text());
        }
    }
}
