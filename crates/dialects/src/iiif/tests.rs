//! Tests of the IIIF specification's examples and of its other requirements.

use andon_recipe::{Facts, Orientation, Recipe};
use proptest::prelude::*;

use super::{IiifConfig, LargerBox, Slashes};
use crate::document::{About, ResultAbout, SourceAbout};
use crate::vectors;
use crate::{Ask, Config, Dialects, Fault, ImageRequest, Refusal, Source};

fn config() -> IiifConfig {
    IiifConfig {
        prefix: "/iiif/3".to_owned(),
        prefix2: "/iiif/2".to_owned(),
        ..IiifConfig::default()
    }
}

fn dialects(iiif: IiifConfig) -> Dialects {
    let config = Config {
        iiif,
        ..Config::default()
    };
    Dialects::new(&config).expect("a configuration")
}

fn ask(target: &str) -> Result<ImageRequest, Refusal> {
    dialects(config()).parse(target)
}

/// Returns the recipe of a target for an image with these facts, or the error message.
fn made(target: &str, facts: &Facts) -> Result<Recipe, String> {
    let request = ask(target).map_err(|refusal| refusal.to_string())?;
    let rules = request.rules.resolve(facts);
    rules.map_err(|error| error.to_string())
}

/// Returns the size of the result for an image of 300×200 px.
fn size(target: &str) -> Result<(u32, u32), String> {
    let recipe = made(target, &Facts::new("jpeg", 300, 200))?;
    Ok(vectors::size(&recipe, &Facts::new("jpeg", 300, 200)))
}

fn canonical(target: &str) -> String {
    let request = ask(target).expect(target);
    let canonical = request.rules.canonical(&Facts::new("jpeg", 300, 200));
    canonical.expect(target)
}

#[test]
fn sizes_are_the_specifications() {
    for (parameters, expected) in [
        ("125,15,120,140/max/0", (120, 140)),
        ("pct:41.6,7.5,40,70/max/0", (120, 140)),
        ("square/max/0", (200, 200)),
        ("full/max/0", (300, 200)),
        ("125,15,200,200/max/0", (175, 185)),
        ("pct:41.6,7.5,66.6,100/max/0", (175, 185)),
        ("full/150,/0", (150, 100)),
        ("full/,150/0", (225, 150)),
        ("full/pct:50/0", (150, 100)),
        ("full/225,100/0", (225, 100)),
        ("full/!225,100/0", (150, 100)),
        ("full/^360,/0", (360, 240)),
        ("full/^,240/0", (360, 240)),
        ("full/%5e,240/0", (360, 240)),
        ("full/^pct:120/0", (360, 240)),
        ("full/^360,360/0", (360, 360)),
        ("full/^!360,360/0", (360, 240)),
        ("full/^max/0", (8660, 5773)),
        // Without `^`, a box that is too large is not an error.
        ("full/!360,360/0", (300, 200)),
        ("full/max/90", (200, 300)),
        ("full/max/180", (300, 200)),
        ("full/max/!270", (200, 300)),
        ("full/max/360.0", (300, 200)),
        ("pct:99.99,99.99,1,1/max/0", (1, 1)),
        ("pct:0,0,33.3,33.3/100,67/0", (100, 67)),
        ("0,0,0999,0999/007,/0", (7, 5)),
    ] {
        let target = format!("/iiif/3/a.jpg/{parameters}/default.jpg");
        assert_eq!(size(&target), Ok(expected), "{parameters}");
    }
    for (parameters, expected) in [
        ("full/full/0", (300, 200)),
        ("full/max/0", (300, 200)),
        ("full/pct:120/0", (360, 240)),
        ("full/360,/0", (360, 240)),
        ("square/full/0", (200, 200)),
        ("full/!600,600/0", (600, 400)),
    ] {
        let target = format!("/iiif/2/a.jpg/{parameters}/default.jpg");
        assert_eq!(size(&target), Ok(expected), "{parameters}");
    }
}

#[test]
fn the_vectors_that_implementations_share() {
    for (dialect, number) in [("iiif3", 43), ("iiif2", 4)] {
        let rows = vectors::of(dialect);
        assert!(rows.is_empty() || rows.len() == number, "{dialect}");
        for row in rows {
            let target = row.url.as_str();
            match row.expect.status {
                400 => assert!(size(target).is_err(), "{target}"),
                303 => assert!(matches!(ask(target).unwrap().ask, Ask::Redirect(_))),
                _ => row.check(&dialects(config())),
            }
            if let Some(identifier) = row.identifier {
                let source = match identifier.starts_with("http") {
                    true => Source::Url(identifier),
                    false => Source::Path(identifier),
                };
                assert_eq!(ask(target).unwrap().source, source, "{target}");
            }
        }
    }
}

#[test]
fn what_the_specification_excludes_is_refused() {
    for parameters in [
        "full/full/0/default.jpg",
        "full/360,/0/default.jpg",
        "full/,201/0/default.jpg",
        "full/301,10/0/default.jpg",
        "full/pct:120/0/default.jpg",
        "full/0,/0/default.jpg",
        "full/,/0/default.jpg",
        "full/150/0/default.jpg",
        "full/!150,/0/default.jpg",
        "full/!^100,100/0/default.jpg",
        "full/^^100,/0/default.jpg",
        "full/-1,/0/default.jpg",
        "full/1.5,/0/default.jpg",
        "full/pct:0/0/default.jpg",
        "full/pct:0.1/0/default.jpg",
        "full/pct:1e1/0/default.jpg",
        "full/^16385,1/0/default.jpg",
        "full/^9000,9000/0/default.jpg",
        "400,0,10,10/max/0/default.jpg",
        "0,200,10,10/max/0/default.jpg",
        "0,0,0,10/max/0/default.jpg",
        "pct:0,0,0,10/max/0/default.jpg",
        "pct:100,0,10,10/max/0/default.jpg",
        "1,2,3/max/0/default.jpg",
        "1,2,3,4,5/max/0/default.jpg",
        "-1,0,10,10/max/0/default.jpg",
        "1.5,0,10,10/max/0/default.jpg",
        "Full/max/0/default.jpg",
        "full/max/361/default.jpg",
        "full/max/-90/default.jpg",
        "full/max/!/default.jpg",
        "full/max/./default.jpg",
        "full/max/9e1/default.jpg",
        "full/max/0/loud.jpg",
        "full/max/0/grey.jpg",
        "full/max/0/native.jpg",
        "full/max/0/Default.jpg",
        "full/max/0/default.JPG",
        "full/max/0/default.jpeg",
        "full/max/0/default.xyz",
        "full/max/0/default",
        "<>[]%5E/max/0/default.jpg",
        "full/max/0%zz/default.jpg",
    ] {
        let target = format!("/iiif/3/a.jpg/{parameters}");
        assert!(size(&target).is_err(), "{parameters}");
    }
    let unwritten = ask("/iiif/3/a.jpg/full/max/0/default.jp2").unwrap_err();
    assert_eq!(unwritten.fault, Fault::Unsupported);
    assert_eq!(unwritten.errors.0.status(Fault::Unsupported, 415), 501);
}

#[test]
fn the_parts_act_in_their_order() {
    for (parameters, recipe) in [
        (
            "125,15,120,140/90,/!345/gray.jpg",
            "crop:125:15:120x140,exact:90x105,flip:h,rotate:345:ffffff,gray",
        ),
        (
            "full/max/!22.5/bitonal.png",
            "flip:h,rotate:22.5,bitonal,as:png",
        ),
        ("full/max/!180/color.webp", "flip:v,as:webp"),
        ("full/max/0/default.jpg", "same"),
        ("0,0,300,200/300,200/360/color.jpg", "same"),
        ("pct:0,0,100,100/pct:100/0/default.jpg", "same"),
    ] {
        let target = format!("/iiif/3/a.jpg/{parameters}");
        let made = made(&target, &Facts::new("jpeg", 300, 200)).expect(&target);
        assert_eq!(made.to_string(), recipe, "{parameters}");
    }
}

#[test]
fn regions_are_of_the_upright_image() {
    let turned = Facts {
        orientation: Orientation::from_exif(6),
        ..Facts::new("jpeg", 300, 200)
    };
    let made = made("/iiif/3/a.jpg/0,200,200,100/100,/0/default.jpg", &turned).unwrap();
    assert_eq!(made.to_string(), "orient,crop:0:200:200x100,exact:100x50");
}

#[test]
fn every_tile_of_a_viewer_is_served_to_the_pixel() {
    let (width, height) = (5003_u32, 3001_u32);
    let facts = Facts::new("jpeg", width, height);
    for factor in [1, 2, 4, 8, 16] {
        let step = 512 * factor;
        for x in (0..width).step_by(step as usize) {
            for y in (0..height).step_by(step as usize) {
                let (w, h) = (step.min(width - x), step.min(height - y));
                let (across, down) = (w.div_ceil(factor), h.div_ceil(factor));
                let target = format!("/iiif/3/a.jpg/{x},{y},{w},{h}/{across},{down}/0/default.jpg");
                let recipe = made(&target, &facts).expect(&target);
                let made = vectors::size(&recipe, &facts);
                assert_eq!(made, (across, down), "{target}");
                let target = format!("/iiif/2/a.jpg/{x},{y},{w},{h}/{across},/0/default.jpg");
                let recipe = super::tests::made(&target, &facts).expect(&target);
                assert_eq!(vectors::size(&recipe, &facts).0, across, "{target}");
            }
        }
    }
}

#[test]
fn limits_shrink_the_largest_size_and_refuse_others() {
    let small = |width, height, area| {
        dialects(IiifConfig {
            max_width: width,
            max_height: height,
            max_area: area,
            ..config()
        })
    };
    let size = |dialects: &Dialects, size: &str| {
        let target = format!("/iiif/3/a.jpg/full/{size}/0/default.jpg");
        let request = dialects.parse(&target).expect(size);
        let recipe = request.rules.resolve(&Facts::new("jpeg", 6000, 4000));
        recipe.map(|recipe| vectors::size(&recipe, &Facts::new("jpeg", 6000, 4000)))
    };
    let width = small(1000, 0, u64::MAX);
    assert_eq!(size(&width, "max"), Ok((1000, 667)));
    assert_eq!(size(&width, "^max"), Ok((1000, 667)));
    assert_eq!(size(&width, "1000,"), Ok((1000, 667)));
    assert!(size(&width, "1001,").is_err());
    assert!(size(&width, "pct:50").is_err());
    assert_eq!(size(&small(1000, 500, u64::MAX), "max"), Ok((750, 500)));
    assert_eq!(size(&small(9000, 9000, 1_000_000), "max"), Ok((1224, 816)));
    assert_eq!(
        size(&small(9000, 9000, 96_000_000), "^max"),
        Ok((9000, 6000))
    );
}

#[test]
fn a_box_with_one_side_is_that_side_in_the_older_version() {
    for (sides, alone) in [("!80,", "80,"), ("!,60", ",60")] {
        let rules = |size: &str| {
            let target = format!("/iiif/2/a.jpg/full/{size}/0/default.jpg");
            let request = dialects(config()).parse(&target).expect(size);
            let recipe = request.rules.resolve(&Facts::new("jpeg", 300, 200));
            recipe.expect("an image").to_string()
        };
        assert_eq!(rules(sides), rules(alone), "{sides}");
    }
}

#[test]
fn a_box_larger_than_the_region_is_its_own_size_or_an_error() {
    let size = |larger_box, size: &str| {
        let dialects = dialects(IiifConfig {
            larger_box,
            ..config()
        });
        let target = format!("/iiif/3/a.jpg/full/{size}/0/default.jpg");
        let request = dialects.parse(&target).expect(size);
        let facts = Facts::new("jpeg", 300, 200);
        let recipe = request.rules.resolve(&facts);
        recipe.map(|recipe| vectors::size(&recipe, &facts)).ok()
    };
    assert_eq!(size(LargerBox::Image, "!301,201"), Some((300, 200)));
    assert_eq!(size(LargerBox::Error, "!301,201"), None);
    // A box does not count as larger than the region if at least one of its sides is not longer.
    for larger_box in [LargerBox::Image, LargerBox::Error] {
        assert_eq!(size(larger_box, "!300,200"), Some((300, 200)));
        assert_eq!(size(larger_box, "!300,900"), Some((300, 200)));
        assert_eq!(size(larger_box, "^!360,360"), Some((360, 240)));
    }
}

#[test]
fn canonical_uris_are_the_specifications() {
    for (target, right) in [
        (
            "/iiif/3/a.jpg/full/max/0/default.jpg",
            "full/max/0/default.jpg",
        ),
        (
            "/iiif/3/a.jpg/pct:0,0,100,100/pct:100/0/default.jpg",
            "full/max/0/default.jpg",
        ),
        (
            "/iiif/3/a.jpg/square/^pct:150/0.0/color.png",
            "50,0,200,200/^300,300/0/default.png",
        ),
        (
            "/iiif/3/a.jpg/full/150,/!22.50/gray.jpg",
            "full/150,100/!22.5/gray.jpg",
        ),
        (
            "/iiif/3/a.jpg/full/^max/360/bitonal.webp",
            "full/^max/0/bitonal.webp",
        ),
        (
            "/iiif/2/a.jpg/full/max/0/default.jpg",
            "full/full/0/default.jpg",
        ),
        (
            "/iiif/2/a.jpg/full/150,100/0/default.jpg",
            "full/150,/0/default.jpg",
        ),
        (
            "/iiif/2/a.jpg/125,15,999,999/,37/90/default.jpg",
            "125,15,175,185/35,/90/default.jpg",
        ),
        (
            "/iiif/2/a.jpg/full/300,100/0/default.jpg",
            "full/300,100/0/default.jpg",
        ),
    ] {
        let base = &target[..14];
        assert_eq!(canonical(target), format!("{base}{right}"), "{target}");
        let facts = Facts::new("jpeg", 300, 200);
        assert_eq!(made(target, &facts), made(&canonical(target), &facts));
        assert_eq!(canonical(&canonical(target)), canonical(target));
    }
}

#[test]
fn an_identifier_is_one_segment_or_several() {
    for (target, source, base) in [
        (
            "/iiif/3/a%2Fb.jpg/info.json",
            "a/b.jpg",
            "/iiif/3/a%2Fb.jpg",
        ),
        (
            "/iiif/3/a/b.jpg/full/max/0/default.jpg",
            "a/b.jpg",
            "/iiif/3/a/b.jpg",
        ),
        (
            "/iiif/3/%2D-.jpg/info.json?x=1",
            "--.jpg",
            "/iiif/3/%2D-.jpg",
        ),
        ("/iiif/2/a/info.json/info.json", "a/info.json", ""),
    ] {
        let request = ask(target).unwrap();
        assert_eq!(request.source, Source::Path(source.to_owned()), "{target}");
        if let Ask::Describe(document) = &request.ask {
            assert!(document.name().contains(base), "{}", document.name());
        }
    }
    let encoded = dialects(IiifConfig {
        slashes: Slashes::Encoded,
        ..config()
    });
    let refusal = encoded
        .parse("/iiif/3/a/b.jpg/full/max/0/default.jpg")
        .unwrap_err();
    assert_eq!(refusal.fault, Fault::Missing);
    assert!(
        encoded
            .parse("/iiif/3/a%2Fb.jpg/full/max/0/default.jpg")
            .is_ok()
    );
    assert_eq!(ask("/iiif/3/").unwrap_err().fault, Fault::Missing);
    assert!(ask("/iiif/4/a.jpg").unwrap().is_file());
}

#[test]
fn the_base_uri_leads_to_the_information() {
    for (target, there) in [
        ("/iiif/3/a.jpg", "/iiif/3/a.jpg/info.json"),
        ("/iiif/2/a%2Fb.jpg", "/iiif/2/a%2Fb.jpg/info.json"),
        ("/iiif/3/a.jpg/", "/iiif/3/a.jpg/info.json"),
    ] {
        let Ask::Redirect(redirect) = ask(target).unwrap().ask else {
            panic!("{target} is no redirect");
        };
        assert_eq!((&*redirect.to, redirect.status), (there, 303));
    }
}

fn information(
    config: IiifConfig,
    target: &str,
    (width, height): (u32, u32),
    exif: u16,
) -> serde_json::Value {
    let Ask::Describe(document) = dialects(config).parse(target).unwrap().ask else {
        panic!("{target} is no document");
    };
    let text = document.write(&About {
        source: SourceAbout {
            format: "jpeg",
            width,
            height,
            orientation: Orientation::from_exif(exif),
            frames: 1,
            alpha: false,
            depth: 8,
            colour: "ycbcr",
            profiled: false,
            metadata: false,
            progressive: false,
            bytes: 0,
        },
        recipe: &Recipe::default(),
        result: ResultAbout {
            format: "jpeg",
            width,
            height,
        },
        parts: &[],
    });
    // Contexts come first.
    assert!(text.starts_with("{\"@context\":"), "{text}");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_information_of_a_image_says_what_viewers_need() {
    let named = IiifConfig {
        site: "https://a.example/".to_owned(),
        rights: "http://creativecommons.org/licenses/by/4.0/".to_owned(),
        attribution: "The \"museum\"".to_owned(),
        ..config()
    };
    let three = information(
        named.clone(),
        "/iiif/3/a%2Fb.jpg/info.json",
        (1000, 3000),
        6,
    );
    assert_eq!(
        three,
        serde_json::json!({
            "@context": "http://iiif.io/api/image/3/context.json",
            "id": "https://a.example/iiif/3/a%2Fb.jpg",
            "type": "ImageService3",
            "protocol": "http://iiif.io/api/image",
            "profile": "level2",
            "width": 3000,
            "height": 1000,
            "maxWidth": 16384,
            "maxHeight": 16384,
            "maxArea": 50_000_000,
            "sizes": [
                { "width": 3000, "height": 1000 }, { "width": 1500, "height": 500 },
                { "width": 750, "height": 250 }, { "width": 375, "height": 125 },
                { "width": 188, "height": 63 },
            ],
            "tiles": [{ "width": 512, "scaleFactors": [1, 2, 4, 8] }],
            "rights": "http://creativecommons.org/licenses/by/4.0/",
            "extraFormats": ["webp", "gif", "avif", "tif"],
            "extraQualities": ["bitonal"],
            "extraFeatures": [
                "canonicalLinkHeader", "mirroring", "profileLinkHeader", "rotationArbitrary", "sizeUpscaling",
            ],
        })
    );
    let two = information(named, "/iiif/2/a.jpg/info.json", (300, 200), 1);
    assert_eq!(two["@id"], "https://a.example/iiif/2/a.jpg");
    assert_eq!(two["profile"][0], "http://iiif.io/api/image/2/level2.json");
    assert_eq!(two["profile"][1]["maxArea"], 50_000_000);
    assert_eq!(two["attribution"], "The \"museum\"");
    assert_eq!(
        two["license"],
        "http://creativecommons.org/licenses/by/4.0/"
    );
    assert_eq!(two["tiles"][0]["scaleFactors"], serde_json::json!([1]));
    let even = information(config(), "/iiif/3/a.jpg/info.json", (1024, 512), 1);
    assert_eq!(even["tiles"][0]["scaleFactors"], serde_json::json!([1, 2]));
}

#[test]
fn linked_data_is_3s_own_type_and_2s_on_request() {
    struct Asks(&'static str);
    impl crate::Headers for Asks {
        fn get(&self, name: &str) -> Option<&str> {
            match name {
                "accept" => Some(self.0),
                "host" => Some("h.example:80"),
                "x-forwarded-proto" => Some("https, http"),
                _ => None,
            }
        }
    }
    let ask = |config, target: &str, accept| {
        let request = dialects(config).parse_with(target, &Asks(accept)).unwrap();
        let Ask::Describe(document) = request.ask else {
            panic!("{target} is no document");
        };
        (document.media_type(), document.name())
    };
    let (media_type, name) = ask(config(), "/iiif/3/a.jpg/info.json", "*/*");
    assert!(media_type.starts_with("application/ld+json;profile="));
    assert!(
        name.contains("\"http://h.example:80/iiif/3/a.jpg\""),
        "{name}"
    );
    let (media_type, _) = ask(config(), "/iiif/2/a.jpg/info.json", "*/*");
    assert_eq!(media_type, "application/json");
    let forwarded = IiifConfig {
        forwarded: true,
        ..config()
    };
    let (media_type, name) = ask(forwarded, "/iiif/2/a.jpg/info.json", "application/ld+json");
    assert_eq!(media_type, "application/ld+json");
    assert!(
        name.contains("\"https://h.example:80/iiif/2/a.jpg\""),
        "{name}"
    );
}

#[test]
fn a_proxys_scheme_in_any_case_and_the_path_that_it_takes_off_are_in_the_id() {
    struct Proxy(&'static [(&'static str, &'static str)]);
    impl crate::Headers for Proxy {
        fn get(&self, name: &str) -> Option<&str> {
            let mut headers = self.0.iter().chain([&("host", "h.example")]);
            headers.find(|it| it.0 == name).map(|it| it.1)
        }
    }
    let id = |forwarded, site: &str, headers| {
        let config = IiifConfig {
            forwarded,
            site: site.to_owned(),
            ..config()
        };
        let target = "/iiif/3/a.jpg/info.json";
        let read = dialects(config).parse_with(target, &Proxy(headers));
        let Ask::Describe(document) = read.unwrap().ask else {
            panic!("no document");
        };
        let name = document.name();
        let (before, _) = name.split_once("/iiif/3/a.jpg\"").expect("an id");
        before.rsplit('"').next().unwrap_or_default().to_owned()
    };
    for (headers, expected) in [
        (&[("x-forwarded-proto", "HTTPS")][..], "https://h.example"),
        (&[("x-forwarded-proto", "javascript")], "http://h.example"),
        (
            &[("x-forwarded-prefix", "/images/")],
            "http://h.example/images",
        ),
        (&[("x-forwarded-prefix", "/a, /b")], "http://h.example/a"),
        (
            &[("x-forwarded-path", "/images")],
            "http://h.example/images",
        ),
        (
            &[("x-forwarded-path", "/images/iiif/3/a.jpg/info.json")],
            "http://h.example/images",
        ),
        (&[("x-forwarded-prefix", "images")], "http://h.example"),
        (&[("x-forwarded-prefix", "/a\"b")], "http://h.example"),
        (&[("x-forwarded-prefix", "")], "http://h.example"),
    ] {
        assert_eq!(id(true, "", headers), expected, "{headers:?}");
        assert_eq!(id(false, "", headers), "http://h.example", "{headers:?}");
        assert_eq!(
            id(true, "https://me.example/x", headers),
            "https://me.example/x"
        );
    }
}

proptest! {
    #[test]
    fn what_is_read_is_written_and_what_resolves_has_a_canonical_uri(
        version in "[23]",
        identifier in "[a-z%\\[あ ]{1,4}",
        region in "full|square|[0-9]{1,3},[0-9]{1,3},[0-9]{1,3},[0-9]{1,3}|pct:[0-9.]{1,4},[0-9.]{1,4},[0-9.]{1,4},[0-9.]{1,4}",
        size in "(\\^)?(max|full|!?[0-9]{0,3},[0-9]{0,3}|pct:[0-9.]{1,4})",
        rotation in "!?[0-9.]{1,4}",
        last in "(default|color|gray|bitonal)\\.(jpg|png|webp|gif|avif)",
    ) {
        let identifier = crate::percent::encode(&identifier, "");
        let target = format!("/iiif/{version}/{identifier}/{region}/{size}/{rotation}/{last}");
        let dialects = dialects(config());
        if let Ok(request) = dialects.parse(&target) {
            let (_, written) = dialects.write(&request).next().expect("a target");
            let again = dialects.parse(&written).unwrap();
            prop_assert_eq!(again.rules.text(), request.rules.text());
            let facts = Facts::new("jpeg", 300, 200);
            if let Ok(recipe) = request.rules.resolve(&facts) {
                prop_assert_eq!(recipe.to_string().parse::<Recipe>(), Ok(recipe.clone()));
                let canonical = request.rules.canonical(&facts).expect("a canonical URI");
                let again = dialects.parse(&canonical).unwrap().rules.resolve(&facts);
                prop_assert_eq!(again, Ok(recipe));
            }
        }
    }

    #[test]
    fn no_target_panics(rest in any::<String>(), parts in "[a-z0-9,:^!./%]{0,40}") {
        for target in [format!("/iiif/3/{rest}"), format!("/iiif/2/{parts}"), format!("/iiif/3/a/{parts}")] {
            if let Ok(request) = ask(&target) {
                let _ = request.rules.resolve(&Facts::new("jpeg", 1, 70_000));
            }
        }
    }
}
