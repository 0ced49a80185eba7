//! Golden vectors: responses of ngx_small_light, run with ImageMagick 6.9.11.

use andon_recipe::{Facts, Rules};

use super::{Compat, rules, sane, strict};
use crate::small_light::rules::layout::Layout;

/// The source's size, options, and the outcome: the result's size, with the image's place on its canvas if it has one;
/// `original` if the source is sent unchanged; or `nothing` if there is no result.
const VECTORS: &[(&str, &str, &str)] = &[
    ("400x300", "dw=200,dh=200", "200x150"),
    ("400x300", "dw=200,dh=200,da=s", "266x200"),
    ("400x300", "dw=200,dh=200,da=n", "200x200"),
    ("400x300", "dw=200", "200x150"),
    ("400x300", "dh=100", "133x100"),
    ("400x300", "dw=133", "133x99"),
    ("400x300", "dw=50p", "200x150"),
    ("400x300", "dw=300px", "400x300"),
    ("400x300", "dw=50p,dh=50p,da=n", "200x150"),
    ("400x300", "dw=50,dh=500,da=n", "50x500"),
    ("400x300", "dw=0", "nothing"),
    ("400x300", "dw=200,dw=100", "200x150"),
    ("400x300", "dw=,dh=100", "400x300"),
    ("400x300", "dh=100,dw=", "133x100"),
    ("400x300", "dw=100=200", "100x75"),
    ("400x300", "p=nope,dw=100", "100x75"),
    ("400x300", "p=a,dw=100", "66x50"),
    ("400x300", "", "400x300"),
    // Crops.
    ("400x300", "sx=10,sy=10,sw=100,sh=100", "400x300"),
    ("400x300", "sx=10,sy=10,sw=100,sh=100,ds=s", "100x100"),
    ("400x300", "sw=100,sh=100,dw=100,dh=100", "400x300"),
    ("400x300", "sx=200,dw=100", "100x75"),
    (
        "400x300",
        "sx=25p,sy=25p,sw=50p,sh=50p,dw=100,dh=100",
        "400x300",
    ),
    // Canvases.
    ("400x300", "cw=100", "400x300"),
    ("400x300", "cw=100,ch=100", "100x100 at -150,-100"),
    ("400x300", "dw=200,dh=200,cw=200,ch=200", "200x200 at 0,25"),
    (
        "400x300",
        "dw=200,dh=200,cw=200,ch=200,da=s",
        "200x200 at -33,0",
    ),
    // Others.
    ("400x300", "angle=90,dw=200,dh=200", "150x200"),
    ("400x300", "angle=45,dw=200,dh=200", "200x150"),
    ("400x300", "pt=ptss", "original"),
    ("400x300", "dw=100,pt=ptls", "original"),
    ("400x300", "pt=y,dw=100", "100x75"),
    ("401x301", "dw=100,dh=100", "100x75"),
    // Small images.
    ("50x40", "dw=100,dh=100", "50x40"),
    ("50x40", "dw=100,dh=100,ds=s", "100x80"),
    ("50x40", "dw=100,dh=100,pt=ptss", "original"),
    ("50x40", "dw=100,dh=100,cw=100,ch=100", "100x100 at 0,10"),
    (
        "50x40",
        "dw=100,dh=100,cw=100,ch=100,ds=s",
        "100x100 at 0,10",
    ),
    // With a hint that the source is smaller than, upstream decodes at twice the size: not copied.
    ("50x40", "dw=100,dh=100,jpeghint=y", "50x40"),
    ("400x300", "dw=100,dh=50,jpeghint=y", "66x50"),
    ("400x300", "dw=100,jpeghint=y", "100x75"),
    ("400x300", "dw=320,dh=320,jpeghint=y", "320x240"),
    ("400x300", "dw=50p,jpeghint=y", "200x150"),
];

#[test]
fn results_have_the_modules_sizes() {
    for compat in [Compat::Sane, Compat::Strict] {
        for (source, options, expected) in VECTORS {
            assert_eq!(
                result(compat, source, options),
                *expected,
                "{source} {options} {compat:?}"
            );
        }
    }
}

fn result(compat: Compat, source: &str, options: &str) -> String {
    let config = match compat {
        Compat::Sane => sane(),
        Compat::Strict => strict(),
    };
    let rules = rules(config, options);
    let (mut width, mut height) = size(source);
    if options.contains("angle=90") {
        (width, height) = (height, width);
    }
    // Lengths refer to the image after decoding at the scale that the hint selects.
    if let Some(hint) = rules.hint {
        (width, height) = hinted((width, height), hint);
    }
    match rules.layout(width, height) {
        Err(_) => "nothing".to_owned(),
        Ok(Layout { original: true, .. }) => "original".to_owned(),
        Ok(Layout {
            width,
            height,
            canvas,
            ..
        }) => match canvas {
            Some(canvas) => format!("{width}x{height} at {},{}", canvas.x, canvas.y),
            None => format!("{width}x{height}"),
        },
    }
}

/// The source's size, options, the size at which the source is decoded, and the result's size.
const HINTED: &[(&str, &str, &str, &str)] = &[
    ("400x300", "dw=100,dh=50", "100x75", "66x50"),
    ("400x300", "dw=100", "150x113", "100x75"),
    (
        "1600x1200",
        "sx=100,sy=100,sw=400,sh=400,dw=100,dh=100",
        "200x150",
        "100x100",
    ),
];

#[test]
fn strict_hints_decode_what_the_module_decodes() {
    for (source, options, decoded, expected) in HINTED {
        let rules = rules(strict(), &format!("{options},jpeghint=y"));
        let hint = rules.hint.expect("a hint");
        let (width, height) = hinted(size(source), hint);
        assert_eq!(format!("{width}x{height}"), *decoded, "{options}");
        let layout = rules.layout(width, height).expect("a layout");
        assert_eq!(
            format!("{}x{}", layout.width, layout.height),
            *expected,
            "{options}"
        );
    }
}

#[test]
fn a_crop_of_a_hinted_image_is_clipped_then_stretched() {
    let options = "sx=100,sy=100,sw=400,sh=400,dw=100,dh=100,jpeghint=y";
    let layout = rules(strict(), options).layout(200, 150).unwrap();
    let from = layout.scaling.unwrap().from.unwrap();
    assert_eq!(from, (100, 100, 100, 50));
}

#[test]
fn hints_are_reckoned_for_a_image_of_10000_by_10000() {
    for (options, hint) in [
        ("dw=100", Some((100, 100))),
        ("dh=100", Some((100, 100))),
        ("dw=100,dh=50", Some((50, 50))),
        ("dw=100,dh=50,da=s", Some((100, 100))),
        ("dw=100,dh=50,da=n", Some((100, 50))),
        ("dw=50p", Some((5000, 5000))),
        ("sw=400,sh=200,dw=100", Some((100, 50))),
        ("ds=s", None),
        ("dw=0.5", None),
    ] {
        let asked = |config| rules(config, &format!("{options},jpeghint=y")).hint;
        assert_eq!(asked(strict()), hint, "{options}");
        assert_eq!(asked(sane()), None, "{options}: the planner chooses");
        assert_eq!(rules(strict(), options).hint, None, "{options}");
    }
}

/// The source's size, options, and the resolved recipe: in whole pixels, without steps that change nothing.
const RESOLVED: &[(&str, &str, &str)] = &[
    ("400x300", "dw=200,dh=200", "exact:200x150"),
    ("400x300", "dw=133", "exact:133x99"),
    ("400x300", "dw=800", "same"),
    (
        "400x300",
        "sx=200,dw=100",
        "crop:200:0:200x300,exact:100x75",
    ),
    ("400x300", "sx=10,sy=10,sw=100,sh=100", "same"),
    (
        "400x300",
        "sx=10,sy=10,sw=100,sh=100,ds=s",
        "crop:10:10:100x100",
    ),
    ("400x300", "angle=90,dw=200,dh=200", "turn:90,exact:150x200"),
    ("400x300", "pt=ptss,q=5,blur=0x1", "original"),
    ("400x300", "cw=100,ch=100", "crop:150:100:100x100,q:92"),
    (
        "400x300",
        "dw=200,dh=200,cw=200,ch=200,cc=ffffff",
        "exact:200x150,canvas:200x200:ffffff:0:25,q:92",
    ),
    (
        "400x300",
        "dw=200,dh=200,cw=200,ch=200,da=s",
        "exact:266x200,crop:33:0:200x200,q:92",
    ),
    (
        "400x300",
        "sx=500,sw=100,sh=100,dw=50,dh=50",
        "canvas:50x50:00000000:50:0",
    ),
    ("50x40", "dw=100,dh=100,bw=2", "border:2x0:000000:100x80"),
    (
        "400x300",
        "dw=100,dh=75,bw=2",
        "exact:100x75,border:2x0:000000",
    ),
    ("400x300", "of=jpeg,q=80", "q:80"),
    ("400x300", "of=jpeg,q=900", "q:100"),
    // ImageMagick's interpretation of a quality in each format.
    ("400x300", "of=webp,q=99,progressive=y", "as:webp,q:99"),
    ("400x300", "of=webp,q=100", "as:webp,lossless"),
    (
        "400x300",
        "of=png,q=95",
        "as:png,with:filter:adaptive,with:level:9",
    ),
    (
        "400x300",
        "of=png,q=3,progressive=y",
        "as:png,progressive,with:filter:average,with:level:1",
    ),
    (
        "400x300",
        "of=png,q=1000",
        "as:png,with:filter:none,with:level:9",
    ),
    ("400x300", "of=gif,q=80,progressive=y", "as:gif,progressive"),
    (
        "400x300",
        "of=png,dw=200,cw=200,ch=200",
        "exact:200x150,canvas:200x200:000000:0:25,as:png",
    ),
    (
        "400x300",
        "of=webp,cw=9,ch=9",
        "crop:195:145:9x9,as:webp,q:75",
    ),
];

#[test]
fn rules_come_to_recipes_of_whole_pixels() {
    for (source, options, recipe) in RESOLVED {
        let (width, height) = size(source);
        let resolved = rules(sane(), options).resolve(&Facts::new("jpeg", width, height));
        assert_eq!(resolved.expect(options).to_string(), *recipe, "{options}");
    }
}

#[test]
fn a_hint_becomes_a_shrinking_that_lengths_are_measured_after() {
    let facts = Facts {
        shrinks: true,
        ..Facts::new("jpeg", 1600, 1200)
    };
    let options = "sx=100,sy=100,sw=400,sh=400,dw=100,dh=100,jpeghint=y";
    let resolved = |config| rules(config, options).resolve(&facts).unwrap().to_string();
    assert_eq!(
        resolved(strict()),
        "shrink:1,crop:100:100:100x50,exact:100x100,background:none"
    );
    assert_eq!(resolved(sane()), "crop:100:100:400x400,exact:100x100");
}

#[test]
fn a_canvas_drops_metadata_after_conversions_and_rmprof_before_them() {
    let facts = Facts {
        metadata: true,
        cmyk: true,
        ..Facts::new("jpeg", 400, 300)
    };
    for (options, recipe) in [
        ("cmyk2rgb=y", "profile:srgb,metadata:public"),
        (
            "rmprof=y,cw=9,ch=9,q=5",
            "crop:195:145:9x9,profile:drop,metadata:none,q:5",
        ),
        (
            "cw=9,ch=9,q=5",
            "crop:195:145:9x9,profile:drop,metadata:none,q:5",
        ),
    ] {
        let resolved = rules(sane(), options).resolve(&facts).unwrap();
        assert_eq!(resolved.to_string(), recipe, "{options}");
    }
}

#[test]
fn a_webp_of_a_jpeg_of_quality_100_is_lossless_too() {
    let facts = |quality| Facts {
        quality: Some(quality),
        ..Facts::new("jpeg", 400, 300)
    };
    for (quality, options, recipe) in [
        (100, "of=webp", "as:webp,lossless"),
        (99, "of=webp", "as:webp"),
        (100, "of=webp,q=80", "as:webp,q:80"),
        (100, "of=webp,cw=400,ch=300", "as:webp,q:75"),
    ] {
        let resolved = rules(sane(), options).resolve(&facts(quality)).unwrap();
        assert_eq!(resolved.to_string(), recipe, "{options}");
    }
}

fn size(text: &str) -> (u32, u32) {
    let (w, h) = text.split_once('x').expect(text);
    (w.parse().expect(text), h.parse().expect(text))
}

/// Returns the size in px at which libjpeg decodes an image of this size if ImageMagick is given the size `hint`. The
/// scale is 1/D, rounded up to eighths, where D is the whole number of times that `hint` fits into the image. A smaller
/// image keeps its size: it is not doubled as in ngx_small_light.
fn hinted((width, height): (u32, u32), hint: (u32, u32)) -> (u32, u32) {
    let denominator = (width / hint.0).min(height / hint.1).max(1);
    let eighths = 8u32.div_ceil(denominator);
    (
        (width * eighths).div_ceil(8),
        (height * eighths).div_ceil(8),
    )
}
