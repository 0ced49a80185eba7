//! Tests of formats, encodings and how results are sent.

use andon_recipe::{Facts, Recipe};

use super::super::WatermarkConfig;
use super::{ImgproxyConfig, ask, common, made};
use crate::Fault;
use crate::signature::base64;

#[test]
fn sources_of_the_web_stay_and_others_become_what_fits() {
    for (format, alpha, options, right) in [
        ("jpeg", false, "w:0", "q:80"),
        ("png", true, "w:0", "same"),
        ("gif", false, "w:0", "same"),
        ("webp", false, "w:0", "as:jpeg,q:80"),
        ("webp", true, "w:0", "as:png"),
        (
            "webp",
            true,
            "bg:fff",
            "canvas:40x30:ffffff:0:0,as:jpeg,q:80",
        ),
        ("avif", false, "pd:1", "canvas:42x32:00000000:1:1,as:png"),
        ("tiff", false, "w:0", "as:jpeg,q:80"),
        ("svg", true, "w:20/bl:5", "original"),
        ("svg", true, "w:20/f:svg", "original"),
        ("svg", true, "w:20/f:png", "exact:20x15,as:png"),
        ("jpeg", false, "f:webp", "as:webp,q:79"),
        ("jpeg", false, "f:jxl/q:50", "as:jxl,q:50"),
        ("png", false, "f:jpg/fq:jpeg:33", "as:jpeg,q:33"),
        ("jpeg", false, "f:png/q:50/mb:1000", "as:png"),
        ("jpeg", false, "mb:1000", "max:1000:shortest"),
        ("jpeg", false, "jpgo:1:1", "q:80,progressive,chroma:444"),
        ("jpeg", false, "jpgo:1/pngo:0", "q:80,progressive"),
        ("jpeg", false, "jpgo:0/pngo:1", "q:80"),
        ("png", false, "pngo:1", "progressive"),
        ("png", false, "jpgo:1", "same"),
        ("png", false, "pngo:1/jpgo:0", "progressive"),
        (
            "png",
            false,
            "jpgo:1/pngo:1/f:jpg",
            "as:jpeg,q:80,progressive",
        ),
        ("gif", false, "jpgo:1/pngo:1", "same"),
        ("jpeg", false, "f:webp/webpo:lossless", "as:webp,lossless"),
        ("gif", false, "pg:2", "frame:3"),
        ("jpeg", false, "w:20/f:bmp", "exact:20x15,as:bmp"),
        ("png", true, "w:20/f:tif", "exact:20x15,as:tiff"),
    ] {
        let mut facts = Facts::new(format, 40, 30);
        facts.alpha = alpha;
        let recipe = made(options, &facts).to_string();
        assert_eq!(recipe, right, "{format} {options}");
    }
}

#[test]
fn icons_are_no_larger_than_their_format_holds() {
    let facts = Facts::new("jpeg", 4000, 3000);
    for (options, recipe) in [
        ("f:ico", "exact:256x192,as:ico"),
        ("rs:fill:64:64/f:ico", "exact:85x64,crop:11:0:64x64,as:ico"),
    ] {
        assert_eq!(made(options, &facts).to_string(), recipe, "{options}");
    }
}

#[test]
fn animations_move_only_where_they_may() {
    let config = ImgproxyConfig {
        max_animation_frames: 50,
        ..common()
    };
    let gif = Facts {
        frames: 2,
        ..Facts::new("gif", 40, 30)
    };
    let webp = Facts {
        format: "webp".to_owned(),
        alpha: true,
        ..gif.clone()
    };
    let resolved = |options, facts: &Facts| {
        let rules = ask(&config, options).unwrap().rules;
        rules.resolve(facts).unwrap().to_string()
    };
    for (options, right) in [
        ("w:20", "exact:20x15"),
        ("w:20/da:1", "exact:20x15,frame:1"),
        // All frames are shown, so that none is chosen.
        ("w:20/pg:1", "exact:20x15"),
        ("w:20/pg:1/da:1", "exact:20x15,frame:2"),
        ("w:20/pg:1/f:png", "exact:20x15,as:png,frame:2"),
        ("f:webp", "as:webp,q:79"),
    ] {
        assert_eq!(resolved(options, &gif), right, "{options}");
    }
    assert_eq!(resolved("w:20", &webp), "exact:20x15,as:gif");
    assert_eq!(resolved("w:20/da:1", &webp), "exact:20x15,as:png,frame:1");
}

#[test]
fn metadata_and_colours_are_kept_as_asked() {
    let mut facts = Facts::new("jpeg", 40, 30);
    (facts.metadata, facts.tagged) = (true, true);
    for (options, right) in [
        ("w:0", "profile:srgb,q:80"),
        ("kcr:0", "profile:srgb,metadata:none,q:80"),
        ("sm:0/scp:0", "profile:keep,metadata:all,q:80"),
    ] {
        assert_eq!(made(options, &facts).to_string(), right, "{options}");
    }
}

#[test]
fn what_has_the_right_format_may_be_skipped() {
    let jpeg = Facts::new("jpeg", 40, 30);
    assert_eq!(made("w:5/skp:jpg", &jpeg).to_string(), "original");
    assert_eq!(made("w:5/skp:jpg/f:jpg", &jpeg).to_string(), "original");
    assert_eq!(
        made("w:8/skp:jpg/f:png", &jpeg).to_string(),
        "exact:8x6,as:png"
    );
    assert_eq!(made("w:8/skp:png", &jpeg).to_string(), "exact:8x6,q:80");
    assert!(ask(&common(), "raw:1").unwrap().is_file());
}

#[test]
fn effects_come_after_the_crop_and_before_bars() {
    let facts = Facts::new("jpeg", 40, 30);
    assert_eq!(
        made(
            "pd:1/bl:1.5/sh:0.7/pix:4/a:10:1.5:0.5/rs:fill:10:10",
            &facts
        )
        .to_string(),
        "exact:13x10,crop:2:0:10x10,brightness:10,contrast:1.5,saturation:0.5,blur:0x1.5,sharpen-l:0.7,pixelate:4,\
         canvas:12x12:ffffff:1:1,q:80"
    );
    assert_eq!(
        made("ba:3:0.5:0:1:0.5", &facts).to_string(),
        "blur-area:20:0:20x15:3,q:80"
    );
}

#[test]
fn a_watermark_lies_on_the_result() {
    let config: ImgproxyConfig = ImgproxyConfig {
        watermark: Some(WatermarkConfig {
            file: "logo.png".to_owned(),
            size: Some((20, 10)),
            opacity: 0.5,
        }),
        ..common()
    };
    let facts = Facts::new("jpeg", 200, 100);
    for (options, right) in [
        ("wm:1", "overlay:logo.png:90:46:50:20:10,q:80"),
        ("wm:0.5:soea:5:5", "overlay:logo.png:175:85:25:20:10,q:80"),
        ("wm:1:nowe:-15", "overlay:logo.png:-15:0:50:20:10,q:80"),
        ("wm:1:ce:::0.5", "overlay:logo.png:50:26:50:100:50,q:80"),
        ("wm:1:re", "overlay:logo.png:0:0:50:20:10:tile,q:80"),
        ("wm:0", "q:80"),
    ] {
        let request = ask(&config, options).unwrap();
        assert_eq!(
            request.rules.resolve(&facts).unwrap().to_string(),
            right,
            "{options}"
        );
        let files: &[&str] = if options == "wm:0" {
            &[]
        } else {
            &["logo.png"]
        };
        assert_eq!(request.rules.overlays(), files);
    }
    let plain = ImgproxyConfig {
        watermark: config.watermark.map(|mark| WatermarkConfig {
            opacity: 1.0,
            ..mark
        }),
        ..common()
    };
    let request = ask(&plain, "wm:1:nowe:3:4").unwrap();
    let recipe = request.rules.resolve(&facts).unwrap().to_string();
    assert_eq!(recipe, "over:logo.png:3:4,q:80");
    assert!(ask(&common(), "wm:1").unwrap().notes[0].contains("watermark"));
    // Without a configured size, it is placed like a watermark that the URL names.
    let unsized_mark = ImgproxyConfig {
        watermark: plain
            .watermark
            .map(|mark| WatermarkConfig { size: None, ..mark }),
        ..common()
    };
    let named = format!("wmu:{}", base64::bare(b"https://o.test/a.png"));
    for options in [
        "wm:1",
        "wm:0.5:soea:5:5",
        "wm:1:ce:::0.5",
        "wm:1:re",
        "wm:0",
    ] {
        let resolved = |options: &str| {
            let request = ask(&unsized_mark, options).unwrap();
            request.rules.resolve(&facts).unwrap().to_string()
        };
        let other = resolved(&format!("{options}/{named}"));
        let other = other.replace("https%3A//o.test/a.png", "logo.png");
        assert_eq!(resolved(options), other, "{options}");
    }
}

#[test]
fn a_watermark_may_be_any_image_that_may_be_a_source() {
    let facts = Facts::new("jpeg", 200, 100);
    let from_base64 = |url: &str| base64::bare(url.as_bytes());
    let (cdn, local) = (
        from_base64("https://o.test/a.png"),
        from_base64("local:///b/a.png"),
    );
    for (options, name, right) in [
        (
            format!("wm:1/wmu:{cdn}"),
            "https://o.test/a.png",
            "over:https%3A//o.test/a.png:50p:50p,q:80",
        ),
        (
            format!("wm:0.5:soea:5:-0.1/wmu:{local}"),
            "/b/a.png",
            "overlay:/b/a.png:100p-5:100p+10:50,q:80",
        ),
        (
            format!("wmu:{local}/wm:1:nowe:0.1:4:0.5"),
            "/b/a.png",
            "overlay:/b/a.png:20:4:100:100:50:normal:inside,q:80",
        ),
        (
            format!("wm:1:no/wmu:{local}/wms:30:0"),
            "/b/a.png",
            "overlay:/b/a.png:50p:0:100:30,q:80",
        ),
        (
            format!("wm:1:re/wmu:{local}/wms:30:20"),
            "/b/a.png",
            "overlay:/b/a.png:0:0:100:30:20:tile:inside,q:80",
        ),
        (
            format!("wm:1:we/wmu:{local}/wms:30:20/wmr:-45"),
            "/b/a.png",
            "overlay:/b/a.png:0:50p:100:0:0:normal:exact:orient%2Cfit%3A30x20%3Aenlarge%2Crotate%3A-45,q:80",
        ),
        (
            format!("wm:1:soea:5:-0.1/wmu:{local}/wmsh:2"),
            "/b/a.png",
            "overlay:/b/a.png:100p+1:100p+16:100:0:0:normal:exact:orient%2Cpad%3A6%3A6%3A6%3A6%2Cshadow%3A2,q:80",
        ),
        (
            format!("wm:1:re:5:0.1/wmu:{local}/wms:30:20/wmsh:1"),
            "/b/a.png",
            "overlay:/b/a.png:0:0:100:0:0:tile:exact:orient%2Cfit%3A30x20%3Aenlarge%2Cpad%3A8%3A6%3A8%3A5%2Cshadow%3A1,q:80",
        ),
    ] {
        let request = ask(&common(), &options).unwrap();
        assert!(request.notes.is_empty(), "{options}: {:?}", request.notes);
        let recipe = request.rules.resolve(&facts).unwrap().to_string();
        assert_eq!(recipe, right, "{options}");
        assert_eq!(request.rules.overlays(), [name], "{options}");
    }
    // A watermark must be an allowed source.
    let config = ImgproxyConfig {
        allowed_sources: vec!["local:///a".to_owned()],
        ..common()
    };
    let refusal = ask(&config, &format!("wm:1/wmu:{local}")).expect_err("refused");
    assert_eq!(refusal.fault, Fault::Source, "{refusal}");
    assert!(ask(&common(), "wm:1/wmu:!").is_err());
}

#[test]
fn the_name_of_a_file_is_that_of_its_source() {
    for (source, name) in [
        ("http://a.example/x/b.png", "b"),
        ("http://a.example/x/b.png%3Fc=/d.png", "b"),
        // The source is written in plain text, which is decoded once: its own escapes are `%25…`.
        ("http://a.example/x/%2520b%2522.png", " b%22"),
        ("http://a.example/x%252Fb.png", "b"),
        ("http://a.example/x/b%25FF.png", "b%FF"),
        ("local:///b%2520c.jpg", "b%20c"),
        ("http://a.example/x/", "image"),
        ("http://a.example", "image"),
        ("local:///.jpg", "image"),
        ("local:///b.c.jpg", "b.c"),
    ] {
        let target = format!("/_/w:5/plain/{source}");
        let style = super::dialects(common()).parse(&target).unwrap().style;
        let expected = format!("inline; filename=\"{name}.{{ext}}\"");
        assert_eq!(style.headers[0].1, expected, "{source}");
    }
}

#[test]
fn what_is_no_svg_becomes_none_and_no_source_exceeds_what_urls_allow() {
    let config = ImgproxyConfig {
        allow_security_options: true,
        ..common()
    };
    let jpeg = Facts::new("jpeg", 4000, 3000);
    for options in ["f:svg", "msr:10"] {
        let error = ask(&config, options).unwrap().rules.resolve(&jpeg);
        assert_eq!(
            error.unwrap_err().blame,
            andon_recipe::Blame::Source,
            "{options}"
        );
    }
    assert!(ask(&config, "msr:12").unwrap().rules.resolve(&jpeg).is_ok());
    assert_eq!(ask(&config, "msfs:9").unwrap().style.most_bytes, Some(9));
    assert_eq!(ask(&config, "msfs:0").unwrap().style.most_bytes, None);
}

#[test]
fn information_ends_with_its_url_and_knows_no_other_limits() {
    let parsed = |options: &str| {
        super::dialects(common()).parse(&format!("/info/_/{options}/plain/local:///a.jpg"))
    };
    assert_eq!(parsed("exp:7").unwrap().style.expires, Some(7));
    assert_eq!(parsed("s:0/cb:x").unwrap().style.expires, None);
    let parts = |options: &str| match parsed(options).unwrap().ask {
        crate::Ask::Describe(document) => document
            .parts(&Recipe::default())
            .iter()
            .map(ToString::to_string)
            .collect(),
        _ => vec!["no document".to_owned()],
    };
    assert_eq!(
        parts("p:5/avg:1/bh:4:3/th:1/dc:1"),
        [
            "orient,fit:100x100,as:palette,with:count:1",
            "orient,fit:100x100,as:blurhash,with:across:4,with:down:3",
            "orient,fit:100x100,as:palette,with:count:32",
            "orient,fit:100x100,as:palette,with:count:5",
            "orient,fit:100x100,as:thumbhash",
        ]
    );
    assert!(parts("p:5/p:0/avg:0/bh:4:0/th:no").is_empty());
    for wrong in ["p:1", "p:257", "p:", "bh:10:1", "bh:4"] {
        assert_eq!(super::status(&parsed(wrong).unwrap_err()), 404, "{wrong}");
    }
    let status = |options: &str| super::status(&parsed(options).unwrap_err());
    assert_eq!(
        (status("msr:5"), status("exp:x"), status("w:5")),
        (403, 404, 404)
    );
}

#[test]
fn a_gradient_is_turned_as_imgproxys() {
    let facts = Facts::new("jpeg", 40, 30);
    for (direction, angle) in [
        ("down", 180),
        ("0", 180),
        ("90", 270),
        ("left", 270),
        ("up", 0),
        ("right", 90),
    ] {
        let recipe = made(&format!("gr:0.5:f00:{direction}"), &facts).to_string();
        assert_eq!(
            recipe,
            format!("gradient:50:ff0000:{angle}:0:100,q:80"),
            "{direction}"
        );
    }
}

#[test]
fn answers_have_a_name_a_lifetime_and_an_end() {
    for (options, name) in [
        ("w:5", "inline; filename=\"a.{ext}\""),
        ("fn:x%20y/att:1", "attachment; filename=\"x%20y.{ext}\""),
        ("fn:YSJi:1", "inline; filename=\"a%22b.{ext}\""),
    ] {
        let style = ask(&common(), options).unwrap().style;
        assert_eq!(
            style.headers[0],
            ("content-disposition", name.to_owned()),
            "{options}"
        );
        assert_eq!((style.max_age, style.expires), (Some(31_536_000), None));
    }
    assert_eq!(ask(&common(), "exp:7").unwrap().style.expires, Some(7));
    assert_eq!(ask(&common(), "exp:-7").unwrap().style.expires, Some(1));
}
