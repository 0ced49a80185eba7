//! Tests of what client hints do, and in which dialects.

use andon_recipe::{Facts, size_after};

use crate::{Config, ConfigError, Dialects, Headers, Nowhere};

struct Sent(&'static [(&'static str, &'static str)]);

impl Headers for Sent {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }
}

fn dialects(keys: &str) -> Result<Dialects, ConfigError> {
    let text = format!(
        "{keys}\n[imgproxy]\nprefix = \"/imgproxy\"\n[thumbor]\nprefix = \"/thumbor\"\n[imagor]\nprefix = \"/imagor\"\n\
         allow_unsafe = true\n[imgix]\nprefix = \"/imgix\"\n[weserv]\nprefix = \"/weserv\"\n[iiif]\nprefix = \"/iiif/3\"\n\
         [cloudflare]\nprefix = \"/cdn-cgi/image\"\n[ipx]\nprefix = \"/_ipx\"\n[image_filter]\nprefix = \"/filter\"\n\
         [photon]\nprefix = \"/photon\"\nsource = \"path\"\n[astro]\nprefix = \"/_image\"\n\
         [next]\nprefix = \"/_next/image\"\ndevice_sizes = []\nimage_sizes = []\nqualities = []\n"
    );
    let read = ConfigError::reading(&text, &andon_settings::Known::default(), |all| {
        all.read::<Config>()
    });
    Dialects::new(&read.expect("a configuration"))
}

/// Returns the recipe that a target resolves to for a JPEG of 2000x1500 px, if the client sends the headers `sent`.
fn recipe(dialects: &Dialects, target: &str, sent: &'static [(&str, &str)]) -> String {
    let resolve = Ok::<_, crate::Refusal>;
    let request = dialects.parse_for(target, &Sent(sent), &Nowhere, resolve);
    let request = request.unwrap_or_else(|error| panic!("{target}: {error}"));
    let recipe = request.rules.resolve(&Facts::new("jpeg", 2000, 1500));
    recipe
        .unwrap_or_else(|error| panic!("{target}: {error}"))
        .to_string()
}

const ALL: &str = "[client_hints]\ndialects = [\"all\"]\n";

const TWICE: &[(&str, &str)] = &[("sec-ch-dpr", "2")];

#[test]
fn a_vector_image_has_as_many_pixels_as_the_screen_whatever_its_own_size() {
    let request = dialects(ALL).unwrap().parse_for(
        "/r/fit:250x250/a.svg",
        &Sent(TWICE),
        &Nowhere,
        Ok::<_, crate::Refusal>,
    );
    let rules = request.unwrap().rules;
    for (vector, resolved) in [(true, "exact:500x500"), (false, "same")] {
        let facts = Facts {
            vector,
            ..Facts::new("svg", 24, 24)
        };
        assert_eq!(rules.resolve(&facts).unwrap().to_string(), resolved);
    }
}

#[test]
fn a_box_has_as_many_pixels_as_the_screen_in_every_dialect_without_hints_of_its_own() {
    let (hinted, plain) = (dialects(ALL).unwrap(), dialects("").unwrap());
    for target in [
        "/r/fit:250x250/a.jpg",
        "/small_light(dw=250,dh=250,da=l)/a.jpg",
        "/thumbor/unsafe/fit-in/250x250/a.jpg",
        "/imagor/unsafe/fit-in/250x250/a.jpg",
        "/weserv/?url=a.jpg&w=250&h=250",
        "/_ipx/s_250x250,fit_inside/a.jpg",
        "/filter/image_filter(resize,250,250)/a.jpg",
        "/photon/a.jpg?fit=250,250",
        "/_image?href=/a.jpg&w=250",
        "/_next/image?url=/a.jpg&w=250&q=75",
    ] {
        let before = recipe(&plain, target, TWICE);
        assert!(
            before.contains("exact:250x188") || before.contains("exact:250x187"),
            "{target}: {before}"
        );
        let after = recipe(&hinted, target, TWICE);
        let twice = before.replace("exact:250x188", "exact:500x376");
        assert_eq!(
            after,
            twice.replace("exact:250x187", "exact:500x374"),
            "{target}"
        );
    }
    for target in [
        "/iiif/3/a.jpg/full/250,/0/default.jpg",
        "/cdn-cgi/image/width=250/a.jpg",
        "/imgix/a.jpg?w=250",
        "/imgproxy/x/w:250/plain/local:///a.jpg",
    ] {
        assert_eq!(
            recipe(&hinted, target, TWICE),
            recipe(&plain, target, TWICE),
            "{target}"
        );
    }
}

#[test]
fn crops_and_grounds_grow_with_the_box_and_nothing_is_enlarged() {
    let hinted = dialects(ALL).unwrap();
    for (target, expected) in [
        ("/r/cover:200x200/a.jpg", "exact:534x400,crop:66:0:400x400"),
        (
            "/r/fit:200x200,canvas:200x200:ffffff/a.jpg",
            "exact:400x300,canvas:400x400:ffffff:0:50",
        ),
        ("/r/fit:1500x1500/a.jpg", "same"),
        ("/r/exact:3000x3000/a.jpg", "exact:3000x3000"),
        ("/r/dpr:1.5,fit:200x/a.jpg", "exact:300x225"),
        (
            "/r/fit:200x,text:A:10:10/a.jpg",
            "exact:200x150,text:A:10:10",
        ),
        ("/r/crop:10:10:300x300/a.jpg", "crop:10:10:300x300"),
    ] {
        let resolved = recipe(&hinted, target, TWICE);
        assert!(resolved.starts_with(expected), "{target}: {resolved}");
    }
}

#[test]
fn an_image_without_a_size_is_as_wide_as_it_is_shown() {
    let hinted = dialects(ALL).unwrap();
    for (sent, expected) in [
        (&[("sec-ch-width", "777")][..], "exact:800x600"),
        (&[("width", "800")], "exact:800x600"),
        (
            &[("sec-ch-viewport-width", "390"), ("sec-ch-dpr", "3")],
            "exact:1200x900",
        ),
        (&[("sec-ch-width", "9000")], "same"),
        (&[("sec-ch-width", "-3"), ("sec-ch-dpr", "NaN")], "same"),
    ] {
        assert_eq!(recipe(&hinted, "/r/same/a.jpg", sent), expected, "{sent:?}");
    }
    let sized = recipe(&hinted, "/r/fit:300x/a.jpg", &[("sec-ch-width", "777")]);
    assert_eq!(sized, "exact:300x225");
}

#[test]
fn who_saves_data_gets_no_more_pixels_and_a_lower_quality() {
    let hinted = dialects(ALL).unwrap();
    let sent: &[(&str, &str)] = &[("save-data", "on"), ("sec-ch-dpr", "3")];
    for (target, expected) in [
        ("/r/fit:200x/a.jpg", "exact:200x150,q:50"),
        ("/r/fit:200x,q:30/a.jpg", "exact:200x150,q:30"),
        ("/r/fit:200x,as:png/a.jpg", "exact:200x150,as:png"),
    ] {
        assert_eq!(recipe(&hinted, target, sent), expected);
    }
}

#[test]
fn hints_do_not_lead_beyond_what_is_permitted() {
    let keys = format!("[permitted]\nwidths = [200, 400]\nqualities = [80]\n{ALL}");
    let hinted = dialects(&keys).unwrap();
    assert_eq!(
        recipe(&hinted, "/r/fit:200x,q:80/a.jpg", TWICE),
        "exact:400x300,q:80"
    );
    let sent: &[(&str, &str)] = &[("sec-ch-dpr", "3")];
    assert_eq!(
        recipe(&hinted, "/r/fit:200x,q:80/a.jpg", sent),
        "exact:200x150,q:80"
    );
    let sent: &[(&str, &str)] = &[("save-data", "on")];
    assert_eq!(
        recipe(&hinted, "/r/fit:200x,q:80/a.jpg", sent),
        "exact:200x150,q:80"
    );
}

#[test]
fn answers_name_the_hints_and_say_that_they_depend_on_them() {
    let resolve = Ok::<_, crate::Refusal>;
    let read = |keys: &str| {
        let dialects = dialects(keys).unwrap();
        let request = dialects.parse_for("/r/fit:20x/a.jpg", &Sent(&[]), &Nowhere, resolve);
        request.unwrap()
    };
    let hinted = read(ALL);
    assert!(
        hinted
            .style
            .headers
            .iter()
            .any(|(name, _)| *name == "accept-ch")
    );
    for name in [
        "sec-ch-dpr",
        "sec-ch-width",
        "sec-ch-viewport-width",
        "save-data",
    ] {
        assert!(
            hinted.style.reads.contains(&name),
            "{:?}",
            hinted.style.reads
        );
    }
    let plain = read("[client_hints]\ndialects = [\"small_light\"]\n");
    assert!(plain.style.headers.is_empty() && plain.style.reads.is_empty());
}

#[test]
fn a_dialect_without_such_hints_is_an_error_with_the_reason() {
    for (name, why) in [
        ("imgproxy", "`client_hints = true` in [imgproxy]"),
        ("cloudflare", "slow-connection-quality"),
        ("nativ", "did you mean `native`"),
    ] {
        let error = dialects(&format!("[client_hints]\ndialects = [\"{name}\"]\n")).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

proptest::proptest! {
    #[test]
    fn hinted_results_are_never_larger_than_their_source_unless_the_url_enlarges(
        w in 1..2500_u32, h in 1..2500_u32, density in 1..80_u32, way in 0..3_usize,
    ) {
        let hinted = dialects(ALL).unwrap();
        let word = ["fit", "cover", "exact"][way];
        let target = format!("/r/{word}:{w}x{h}/a.jpg");
        let dpr = format!("{}", f64::from(density) / 10.0);
        struct One(String);
        impl Headers for One {
            fn get(&self, name: &str) -> Option<&str> {
                (name == "sec-ch-dpr").then_some(&self.0)
            }
        }
        let facts = Facts::new("jpeg", 2000, 1500);
        let size = |headers: &dyn Headers| {
            let resolve = Ok::<_, crate::Refusal>;
            let request = hinted.parse_for(&target, headers, &Nowhere, resolve).unwrap();
            size_after(&request.rules.resolve(&facts).unwrap().steps, &facts).unwrap()
        };
        let (plain, dense) = (size(&Sent(&[])), size(&One(dpr)));
        proptest::prop_assert!(dense.0 <= plain.0.max(2000) && dense.1 <= plain.1.max(1500));
        proptest::prop_assert!(dense.0 >= plain.0 && dense.1 >= plain.1, "{:?} {:?}", plain, dense);
    }
}
