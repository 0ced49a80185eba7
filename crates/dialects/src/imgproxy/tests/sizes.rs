//! Tests of the arithmetic of sizes.

use andon_recipe::{Facts, Measure, Orientation};

use super::{ask, common, dialects, made};
use crate::vectors::{self, size};

/// Options, and the width and height in px of the result for an image of 400×300 px.
const GOLDEN: &[(&str, u32, u32)] = &[
    ("rs:fit:150:150", 150, 113),
    ("rs:fit:500:500", 400, 300),
    ("rs:fit:500:500:1", 500, 375),
    ("rs:fit:500:500:0:1", 500, 500),
    ("rs:fill:500:200", 400, 200),
    ("rs:fill:500:200:1", 500, 200),
    ("rs:fill-down:500:200", 400, 160),
    ("rs:fill-down:600:600", 300, 300),
    ("rs:force:150:0", 150, 300),
    ("rs:auto:150:100", 150, 100),
    ("rs:auto:100:150", 100, 75),
    ("w:300/dpr:2", 400, 300),
    ("w:300/dpr:2/pd:10:5", 414, 326),
    ("h:133", 177, 133),
    ("mw:600", 600, 450),
    ("w:100/mw:200", 100, 150),
    ("z:0.5:0.25", 200, 75),
    ("c:100:50/w:50", 50, 25),
    ("c:0.333:0.5", 133, 150),
    ("c:100.9:50", 100, 50),
    ("rs:fit:150:150/ex:1/pd:3", 156, 156),
    ("w:100/rot:90", 100, 133),
    ("w:100/rot:-90", 100, 133),
    ("dpr:0.5/pd:5", 204, 154),
    ("rs:fill:100:100/w:50", 50, 100),
    ("rs:fill:0:120", 160, 120),
    ("s:120:90:1", 120, 90),
    ("pd:1:2:3:4", 406, 304),
    ("rs:fit:1:1", 1, 1),
    ("w:7/h:7", 7, 5),
    ("car:1", 300, 300),
    ("c:100:50/car:1", 50, 50),
    ("c:100:50/car:1:1", 100, 100),
    ("rs:fit:100:100/exar:1", 100, 100),
    ("rs:fill:300:300/exar:1", 300, 300),
    ("w:1000/rs:fill/exar:1", 400, 300),
];

/// A limit of the longest side in px, options, and the width and height in px of the result for an image of 200×100 px.
const LIMITED: &[(u32, &str, u32, u32)] = &[
    (1000, "rs:fit:100:100", 100, 50),
    (50, "rs:fit:100:100", 50, 25),
    (50, "w:0", 50, 25),
    (100, "rs:fit:1000:1000:1", 100, 50),
    (100, "rs:fit:1000:2000:0:1", 50, 100),
    (100, "rs:fit:1000:2000/exar:1", 50, 100),
    (100, "rs:fit:100:150/rot:90", 50, 100),
    (200, "rs:fit:100:100/pd:100:200:300:400", 200, 129),
    (50, "rs:fill:1000:50", 50, 13),
    (50, "rs:fill:100:1000", 50, 50),
    (100, "rs:fill:100:150/rot:90", 67, 100),
    (200, "rs:fill:100:100/pd:100:200:300:400", 200, 144),
    (50, "rs:fill-down:1000:50", 50, 3),
    (100, "rs:fill-down:1000:2000/exar:1", 50, 100),
];

#[test]
fn sizes_are_imgproxys_to_the_pixel() {
    for &(options, width, height) in GOLDEN {
        let facts = Facts::new("jpeg", 400, 300);
        assert_eq!(
            size(&made(options, &facts), &facts),
            (width, height),
            "{options}"
        );
    }
    for &(limit, options, width, height) in LIMITED {
        let mut config = common();
        config.max_result_dimension = limit;
        let facts = Facts::new("jpeg", 200, 100);
        let recipe = ask(&config, options)
            .unwrap()
            .rules
            .resolve(&facts)
            .unwrap();
        assert_eq!(size(&recipe, &facts), (width, height), "{limit} {options}");
    }
}

#[test]
fn the_shared_vectors_hold() {
    let hex = |text: &str| {
        text.bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let unsigned = dialects(common());
    let signed = dialects(super::ImgproxyConfig {
        keys: vec![hex("secret")],
        salts: vec![hex("hello")],
        weak_keys: true,
        trusted_signatures: vec!["unsafe".to_owned()],
        source_key: Some(
            "1eb5b0e971ad7f45324c1bb15c947cb207c43152fa5c6c7f35c4f36e0c18e0f1".to_owned(),
        ),
        ..common()
    });
    for vector in vectors::of("imgproxy") {
        // The health check and expiry times are tested elsewhere.
        if vector.url == "/health" {
            continue;
        }
        let needs_key = vector.url.contains("/enc/") || !vector.url.starts_with("/unsafe");
        vector.check(if needs_key { &signed } else { &unsigned });
    }
}

fn recipe(options: &str, width: u32, height: u32, orientation: u16) -> String {
    let mut facts = Facts::new("jpeg", width, height);
    facts.orientation = Orientation::from_exif(orientation);
    made(options, &facts).to_string()
}

#[test]
fn what_is_kept_lies_where_gravity_says() {
    for (options, crop) in [
        ("c:100:100", "crop:150:100:100x100"),
        ("c:101:100", "crop:150:100:101x100"),
        ("c:100:100/g:no", "crop:150:0:100x100"),
        ("c:100:100:so", "crop:150:200:100x100"),
        ("c:100:100:noea", "crop:300:0:100x100"),
        ("c:100:100:sowe:10:20", "crop:10:180:100x100"),
        ("c:100:100:soea:0.1:0.1", "crop:260:170:100x100"),
        ("c:100:100:ce:-10:10", "crop:140:110:100x100"),
        ("c:100:100:fp:0.5:0.5", "crop:150:100:100x100"),
        ("c:100:100:fp:1:0", "crop:300:0:100x100"),
        ("c:100:100:no/g:so", "crop:150:0:100x100"),
        // The device pixel ratio does not apply to crops.
        ("c:100:100:nowe:10:10/dpr:2", "crop:10:10:100x100"),
    ] {
        assert_eq!(
            recipe(options, 400, 300, 1),
            format!("{crop},q:80"),
            "{options}"
        );
    }
    assert_eq!(
        recipe("rs:fill:100:100/g:we:10", 400, 300, 1),
        "exact:133x100,crop:10:0:100x100,q:80"
    );
}

#[test]
fn a_crop_is_meant_for_the_image_as_it_is_seen() {
    for (options, right) in [
        ("c:100:50:nowe", "orient,crop:0:0:100x50,q:80"),
        ("c:100:50:no:10", "orient,crop:110:0:100x50,q:80"),
        ("c:100:50:soea:5:7", "orient,crop:195:343:100x50,q:80"),
        ("c:100:50:fp:0.1:0.9", "orient,crop:0:335:100x50,q:80"),
    ] {
        assert_eq!(recipe(options, 400, 300, 6), right, "{options}");
    }
    // Without turning by EXIF, the crop applies to the stored image.
    assert_eq!(
        recipe("c:100:50:nowe/ar:0", 400, 300, 6),
        "crop:0:0:100x50,stored:verbatim,q:80"
    );
    assert_eq!(
        recipe("c:100:50:nowe/rot:90/fl:1", 400, 300, 1),
        "flip:h,turn:270,crop:0:0:100x50,q:80"
    );
}

#[test]
fn bars_and_padding_are_transparent_where_the_format_can() {
    let png = Facts::new("png", 400, 300);
    let made = |options| made(options, &png).to_string();
    assert_eq!(
        made("rs:fit:100:100:0:1"),
        "exact:100x75,canvas:100x100:00000000:0:13"
    );
    assert_eq!(
        made("rs:fit:100:100:0:1:so"),
        "exact:100x75,canvas:100x100:00000000:0:25"
    );
    assert_eq!(
        made("rs:fit:100:100:0:1/bg:f00/pd:1"),
        "exact:100x75,canvas:100x100:ff0000:0:13,canvas:102x102:ff0000:1:1"
    );
    assert_eq!(
        recipe("pd:2", 400, 300, 1),
        "canvas:404x304:ffffff:2:2,q:80"
    );
    let mut clear = png.clone();
    clear.alpha = true;
    assert_eq!(
        super::made("bg:0:0:255", &clear).to_string(),
        "canvas:400x300:0000ff:0:0"
    );
    assert_eq!(super::made("bg:fff/bg:", &clear).to_string(), "same");
}

#[test]
fn a_border_is_cut_off_before_anything_else() {
    let request = ask(&common(), "t:10:::1/w:50").unwrap();
    let asked = request.rules.measures(Orientation::default());
    let corner = Measure::Trim {
        tolerance: 10,
        corner: (false, false),
    };
    assert_eq!(asked, [corner]);
    let named = ask(&common(), "t:10.9:f80").unwrap();
    let keyed = Measure::TrimColour {
        tolerance: 10,
        colour: [0xff, 0x88, 0],
    };
    assert_eq!(named.rules.measures(Orientation::default()), [keyed]);
    let mut facts = Facts::new("jpeg", 400, 300);
    facts.orientation = Orientation::from_exif(6);
    let area = andon_recipe::Area {
        x: 100,
        y: 20,
        w: 200,
        h: 100,
    };
    facts.measured = [(corner, area)].into_iter().collect();
    // 260 of the 300 stored rows remain, because as many are cut off below as above.
    let recipe = request.rules.resolve(&facts).unwrap().to_string();
    assert_eq!(recipe, "orient,crop:20:100:260x200,exact:50x38,q:80");
    assert!(
        ask(&common(), "t:10/t:")
            .unwrap()
            .rules
            .measures(Orientation::default())
            .is_empty()
    );
}

#[test]
fn formats_hold_no_more_than_they_can() {
    assert_eq!(
        recipe("rs:force:20000:10000:1/f:webp", 400, 300, 1),
        "exact:20000x10000,exact:16383x8192,as:webp,q:79"
    );
    assert_eq!(recipe("w:15/f:avif", 400, 300, 1), "exact:15x11,q:80");
    assert_eq!(
        recipe("w:64/f:avif", 400, 300, 1),
        "exact:64x48,as:avif,q:63"
    );
}

#[test]
fn what_draws_the_eye_is_kept_also_in_crops_before_scaling_and_within_borders() {
    for (options, right) in [
        (
            "rs:fill:100:100/g:sm",
            "orient,exact:100x133,focus:smart,crop:100x100,q:80",
        ),
        ("rs:fit:100:100/g:sm", "orient,exact:75x100,q:80"),
        (
            "c:100:50/w:50/g:sm",
            "orient,focus:smart,crop:100x50,exact:50x25,q:80",
        ),
        (
            "c:100:50:no/rs:fill:40:40/g:sm",
            "orient,crop:100:0:100x50,exact:80x40,focus:smart,crop:40x40,q:80",
        ),
    ] {
        assert_eq!(recipe(options, 400, 300, 6), right, "{options}");
    }
}

#[test]
fn a_pipeline_acts_on_the_result_of_the_one_before() {
    for (options, right) in [
        (
            "rs:fill:100:100/-/rot:90/pd:10/q:50",
            "orient,exact:100x133,crop:0:17:100x100,turn:90,canvas:120x120:ffffff:10:10,q:50",
        ),
        (
            "q:50/w:150/-/w:30/-/h:20",
            "orient,exact:150x200,exact:30x40,exact:15x20,q:50",
        ),
        ("-/w:30", "orient,exact:30x40,q:80"),
        (
            "w:30/-/t:10/g:sm/rs:fill:20:20",
            "orient,exact:30x40,exact:20x27,focus:smart,crop:20x20,q:80",
        ),
    ] {
        assert_eq!(recipe(options, 400, 300, 6), right, "{options}");
    }
}
