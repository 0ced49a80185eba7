//! Tests against the sizes that imgix documents, and of its signatures.

use andon_recipe::{Facts, Orientation, Recipe};
use proptest::prelude::*;

use super::ImgixConfig;
use crate::document::Part;
use crate::geometry::FACES;
use crate::vectors;
use crate::{Ask, Config, Dialects, Fault, ImageRequest, Refusal, Source};

fn dialects(tokens: &[&str]) -> Dialects {
    let config = Config {
        imgix: ImgixConfig {
            open: false,
            prefix: "/".to_owned(),
            tokens: tokens.iter().map(|token| (*token).to_owned()).collect(),
            weak_keys: true,
        },
        ..Config::default()
    };
    Dialects::new(&config).expect("a configuration")
}

fn ask(query: &str) -> Result<ImageRequest, Refusal> {
    dialects(&[]).parse(&format!("/a.jpg?{query}"))
}

fn made(query: &str, facts: &Facts) -> String {
    vectors::resolved(ask(query), facts).to_string()
}

#[test]
fn sizes_are_the_services() {
    vectors::check_sizes(
        ask,
        &Facts::new("jpeg", 300, 200),
        &[
            ("w=100&h=100", (100, 67)),
            ("w=250&h=250", (250, 167)),
            ("w=200&h=200&fit=crop", (200, 200)),
            ("w=0.5", (150, 100)),
            ("w=1", (300, 200)),
            ("w=1&h=0.25&fit=scale", (300, 50)),
            ("w=600", (600, 400)),
            ("width=600&w=9", (600, 400)),
            ("w=600&fit=max", (300, 200)),
            ("w=600&h=150&fit=max", (225, 150)),
            ("w=250&h=250&fit=scale", (250, 250)),
            ("w=600&h=600&fit=fill", (600, 600)),
            ("w=600&h=600&fit=fillmax", (600, 600)),
            ("w=600&h=300&fit=min", (300, 150)),
            ("w=100&h=100&fit=min", (100, 100)),
            ("w=100&ar=1:1&fit=crop", (100, 100)),
            ("h=100&ar=3:1&fit=crop", (300, 100)),
            ("ar=1:1&fit=crop", (200, 200)),
            ("ar=1:1", (300, 200)),
            ("max-w=100&fit=crop", (100, 67)),
            ("w=100&dpr=2", (200, 133)),
            ("dpr=2&bri=1", (300, 200)),
            ("w=9000", (300, 200)),
            ("w=abc", (300, 200)),
            ("rect=10,20,100,50", (100, 50)),
            ("rect=right,middle,0.5,0.5&w=75", (75, 50)),
            ("rot=90&w=100", (100, 150)),
            ("orient=6", (200, 300)),
            ("pad=10&w=100", (120, 87)),
            ("pad-left=10&w=100&dpr=2", (220, 133)),
        ],
    );
    let wide = Facts::new("png", 900, 270);
    assert!(made("ar=9:1&fit=crop", &wide).starts_with("crop:0:85:900x100"));
}

#[test]
fn the_vectors_that_implementations_share() {
    for row in vectors::of("imgix") {
        row.check(&dialects(if row.url.contains("s=") {
            &["MYT0KEN"]
        } else {
            &[]
        }));
    }
}

#[test]
fn parts_and_effects_stand_in_their_order() {
    let facts = Facts {
        orientation: Orientation::from_exif(6),
        ..Facts::new("jpeg", 200, 300)
    };
    let faces = if FACES { "faces" } else { "smart" };
    assert_eq!(
        made("w=100&h=100&fit=crop&crop=faces&q=90", &facts),
        format!("orient,exact:150x100,focus:{faces},crop:100x100,q:90")
    );
    for (query, recipe) in [
        (
            "w=100&h=100&fit=crop&crop=faces,top,left&q=90",
            "orient,exact:150x100,crop:0:0:100x100,q:90",
        ),
        (
            "w=100&h=100&fit=crop&crop=focalpoint&fp-x=1&q=90",
            "orient,exact:150x100,crop:50:0:100x100,q:90",
        ),
        (
            "bri=10&con=-50&sat=-100&invert=true",
            "orient,brightness:25.5,contrast:0.5,saturation:0,invert,q:75",
        ),
        (
            "px=8&blur=100&sepia=80",
            "orient,sepia:80,blur:0x5,pixelate:8,q:75",
        ),
        (
            "monochrome=f00&flip=h",
            "orient,flip:h,gray,tint:ff0000,q:75",
        ),
        (
            "duotone=000080,FA8072&orient=1",
            "duotone:000080:fa8072,stored:verbatim,q:75",
        ),
        (
            "fm=pjpg&chromasub=444",
            "orient,q:75,progressive,chroma:444",
        ),
        ("fm=webp&lossless=true&cs=strip", "orient,as:webp,lossless"),
        ("auto=format,compress", "orient,as:auto"),
        (
            "mask=corners&corner-radius=20&border=3,ff0000",
            "orient,round:20,border:3x3:ff0000,q:75",
        ),
    ] {
        assert_eq!(made(query, &facts), recipe, "{query}");
    }
}

#[test]
fn images_colours_and_words_lie_over_the_result() {
    let facts = Facts::new("png", 400, 300);
    for (query, recipe) in [
        ("mark=/logo.png", "over:/logo.png:100p-5:100p-5"),
        (
            "mark64=L2xvZ28ucG5n&dpr=2&w=200",
            "over:/logo.png:100p-10:100p-10",
        ),
        (
            "mark=logo.png&mark-align=top,left&mark-pad=0&mark-alpha=40",
            "overlay:/logo.png:0:0:40",
        ),
        (
            "mark=logo.png&mark-x=-8&mark-align=middle&mark-w=0.5&mark-h=60",
            "overlay:/logo.png:-8:50p:100:200:60:normal:inside",
        ),
        (
            "mark=logo.png&mark-scale=25&mark-tile=grid",
            "overlay:/logo.png:repeat:repeat:100:100",
        ),
        (
            "mark=logo.png%3Fw%3D40%26h%3D40%26fit%3Dcrop",
            "overlay:/logo.png:100p-5:100p-5:100:40:40:normal:cover",
        ),
        (
            "blend=/grain.png&blend-w=1&blend-h=1&blend-fit=scale",
            "overlay:/grain.png:0:0:100:400:300:overlay",
        ),
        (
            "blend=/grain.png&bm=burn&blend-alpha=50",
            "overlay:/grain.png:0:0:50:0:0:color-burn",
        ),
        (
            "blend=80ff0000&bm=normal&blend-alpha=50",
            "colorize:25.098:ff0000",
        ),
        (
            "blend=ff0000&bm=multiply",
            "overlay:colour%3Aff0000:0:0:100:400:300:multiply",
        ),
        (
            "mark=https%3A%2F%2Fo.test%2Flogo.png%3Fv%3D1&mark-w=40",
            "overlay:https%3A//o.test/logo.png?v=1:100p-5:100p-5:100:40",
        ),
        (
            "blend64=aHR0cHM6Ly9vLnRlc3QvYS5wbmc&bm=normal",
            "over:https%3A//o.test/a.png:0:0",
        ),
        ("txt=Hello", "text:Hello:12:000000:southeast:10"),
        (
            "txt64=SGVsbG8sIFdvcmxkIQ&txt-size=20&txt-color=8fff&txt-align=top,center&txt-pad=0&w=200&dpr=2",
            "text:Hello%2C%20World!:40:ffffff88:north:0",
        ),
        (
            "txt=a&txt-color=80ffffff&txt-align=middle,center",
            "text:a:12:ffffff80:centre:10",
        ),
        (
            "txt=a b-c&txt-fit=max&w=200",
            "text:a%C2%A0b-%E2%81%A0c:12:000000:southeast:10:180x130:shrink",
        ),
        (
            "txt=a b&txt-fit=wrap&txt-width=0.5&w=200",
            "text:a%20b:12:000000:southeast:10:100:wrap",
        ),
        (
            "txt=a b&txt-fit=wrap&txt-width=50&txt-h=20&w=200&dpr=2",
            "text:a%20b:24:000000:southeast:20:100x40:ellipsis",
        ),
        (
            "txt=a b&txt-fit=wrapmax&txt-pad=0&w=200",
            "text:a%20b:12:000000:southeast:0:200x150:shrink",
        ),
        (
            "txt=a&txt-clip=end,ellipsis&w=200",
            "text:a:12:000000:southeast:10:180:ellipsis",
        ),
        (
            "txt=a&txt-font=Noto Serif,bold",
            "text:a:12:000000:southeast:10:0:Noto%20Serif%2Cbold",
        ),
        (
            "txt=a&txt-width=50&txt-clip=start",
            "text:a:12:000000:southeast:10:50:clip:cut=start",
        ),
        (
            "txt=a&txt-clip=ellipsis,middle&txt-pad=0",
            "text:a:12:000000:southeast:0:400:ellipsis:cut=middle",
        ),
        (
            "txt=a&txt-x=-8&txt-align=middle,right",
            "text:a:12:000000:west:-8x10",
        ),
        (
            "txt=a&txt-x=5&txt-y=7&w=200&dpr=2",
            "text:a:24:000000:northwest:10x14",
        ),
        (
            "txt=a&txt-line=2&txt-line-color=80f00&txt-track=-1.5&txt-lead=4&w=200&dpr=2",
            "text:a:24:000000:southeast:20:tracking=-3:leading=8:outline=4",
        ),
        (
            "txt=a&txt-line=1&txt-line-color=f00",
            "text:a:12:000000:southeast:10:outline=1xff0000",
        ),
        (
            "txt=a&txt-shad=5&txt-size=24",
            "text:a:24:000000:southeast:10:shadow=2+0x0+00000080",
        ),
        (
            "txt=a&txt-shad=4&txt-shad-blur=3&w=200&dpr=2",
            "text:a:24:000000:southeast:20:shadow=6+8x8",
        ),
        (
            "txt=a&txt-rotate=30.5&txt-alpha=45",
            "text:a:12:000000:southeast:10:turn=30.5xmiddle:opacity=45",
        ),
        (
            "mark=logo.png&mark-rot=30",
            "overlay:/logo.png:100p-5:100p-5:100:0:0:normal:exact:orient%2Crotate%3A-30",
        ),
        (
            "mark=logo.png&mark-rot=90&mark-w=40&mark-h=30&mark-fit=crop",
            "overlay:/logo.png:100p-5:100p-5:100:0:0:normal:exact:orient%2Ccover%3A40x30%3Aenlarge%2Crotate%3A-90",
        ),
    ] {
        let own = made(query, &facts);
        assert!(own.contains(recipe), "{query}: {own}");
        let request = ask(query).unwrap();
        assert!(request.notes.is_empty(), "{query}: {:?}", request.notes);
    }
    // Numbers beyond the ends of a range are clamped: this text is neither turned nor transparent.
    let plain = made("txt=a&txt-rotate=-15&txt-alpha=100", &facts);
    assert_eq!(plain, made("txt=a", &facts));
    let rules = ask("mark=logo.png&blend=/grain.png&mask=star.png")
        .unwrap()
        .rules;
    assert_eq!(rules.overlays(), ["/star.png", "/grain.png", "/logo.png"]);
}

#[test]
fn what_cannot_lie_over_the_result_is_refused() {
    for query in [
        "mark=%2F%2Fo.test%2Flogo.png",
        "mark=ftp%3A%2F%2Fo.test%2Flogo.png",
        "mark=%2F",
        "mark=%2F~text%3Ftxt%3DHello",
        "mark=logo.png%3Fblur%3D9",
        "blend=f00&bm=colour",
        "blend=/grain.png&bm=plus",
        "mask=ftp%3A%2F%2Fo.test%2Fmask.png",
        "mask=",
        "mask=/~text?txt=Hello",
        "mask=mask.png%3Fw%3D9",
    ] {
        let refusal = ask(query).expect_err(query);
        assert_eq!(refusal.fault, Fault::Url, "{query}: {refusal}");
    }
}

#[test]
fn a_focal_point_comes_nearer_and_masks_show_their_ground() {
    let facts = Facts::new("jpeg", 400, 300);
    for (query, recipe) in [
        (
            "w=100&h=100&fit=crop&crop=focalpoint&fp-x=0.5&fp-y=0.5&fp-z=2",
            "crop:125:75:150x150,exact:100x100,q:75",
        ),
        ("mask=ellipse&mask-bg=f00", "mask:ellipse:ff0000,q:75"),
        (
            "w=200&mask=/star.png",
            "exact:200x150,overlay:/star.png:0:0:100:200:150:mask-luminance,q:75",
        ),
        (
            "mask64=aHR0cHM6Ly9vLnRlc3QvYS5wbmc&mask-bg=f00&border=5,0f0",
            "overlay:https%3A//o.test/a.png:0:0:100:400:300:mask-luminance:exact::ff0000,border:5x5:00ff00,q:75",
        ),
        (
            "mask=corners&corner-radius=9&mask-bg=fff",
            "round:9:9:ffffff,q:75",
        ),
    ] {
        assert_eq!(made(query, &facts), recipe, "{query}");
    }
}

#[test]
fn palettes_tell_the_colours_of_the_result() {
    let recipe: Recipe = "orient,exact:10x10,q:75".parse().unwrap();
    let part = |text: &str| Part {
        media_type: "application/json",
        body: text.as_bytes().to_vec(),
    };
    let palette = r#"{"average":"204060","palette":[{"colour":"d02020","share":0.7},{"colour":"003080","share":0.3}]}"#;
    let told = |query: &str| {
        let Ask::Describe(document) = ask(query).unwrap().ask else {
            panic!("{query}");
        };
        let parts = document.parts(&recipe);
        assert!(document.has_parts());
        for part in &parts {
            assert!(
                part.to_string().contains("fit:100x100,as:palette"),
                "{part}"
            );
        }
        let parts = vec![part(palette); parts.len()];
        let about = vectors::about(&recipe, &parts);
        (document.media_type(), document.write(&about))
    };
    let (media_type, text) = told("palette=json&w=10");
    assert_eq!(media_type, "application/json");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["colors"][0]["hex"], "#d02020");
    assert_eq!(json["colors"][1]["red"], 0.0);
    assert_eq!(json["dominant_colors"]["vibrant"]["hex"], "#d02020");
    assert_eq!(json["average_luminance"], 0.2278);
    let (media_type, text) = told("palette=css&colors=1&prefix=logo");
    assert_eq!(media_type, "text/css");
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            ".logo-fg-1 { color:#d02020 !important; }",
            ".logo-fg-ex-1 { color:#ffffff !important; }",
            ".logo-fg-ex-2 { color:#000000 !important; }",
            ".logo-bg-1 { background-color:#d02020 !important; }",
            ".logo-bg-ex-1 { background-color:#ffffff !important; }",
            ".logo-bg-ex-2 { background-color:#000000 !important; }",
        ]
    );
}

#[test]
fn signed_sources_are_read_with_their_signature_only() {
    let dialects = dialects(&["another token", "MYT0KEN"]);
    for good in [
        "/image/file.png?w=400&s=2071b7fc73b91649c73d4e8444f8dc5f",
        "/image/file.png?s=f74bb1f684f45f232b145f4acb86579f",
    ] {
        let request = dialects.parse(good).expect(good);
        assert_eq!(request.source, Source::Path("image/file.png".to_owned()));
        assert_eq!(request.is_file(), !good.contains("w="));
    }
    for bad in [
        "/image/file.png?w=401&s=2071b7fc73b91649c73d4e8444f8dc5f",
        "/image/file.png?w=400&s=2071B7FC73B91649C73D4E8444F8DC5F",
        "/image/file.png?w=400&s=2071b7fc73b91649c73d4e8444f8dc5f&h=1",
        "/image/file.png?s=2071b7fc73b91649c73d4e8444f8dc5f&w=400",
        "/image/./file.png?w=400&s=2071b7fc73b91649c73d4e8444f8dc5f",
        "/image/file.png?w=400&s=",
        "/image/file.png?w=400",
        "/image/file.png",
    ] {
        let refusal = dialects.parse(bad).expect_err(bad);
        assert_eq!(refusal.fault, Fault::Signature, "{bad}");
    }
    let request = dialects
        .parse(&dialects.examples().last().expect("an example"))
        .unwrap();
    assert_eq!(request.source.as_str(), "trip/a.jpg");
}

#[test]
fn a_path_without_a_parameter_of_the_language_is_a_plain_file() {
    for plain in ["/a.jpg", "/a.jpg?v=3", "/a.jpg?"] {
        assert!(dialects(&[]).parse(plain).unwrap().is_file(), "{plain}");
    }
    let request = ask("w=9&v=3&shad=10").unwrap();
    assert_eq!(request.notes.len(), 2);
}

#[test]
fn values_are_decoded_and_may_be_base64() {
    for query in ["duotone=000080%2CFA8072", "duotone64=MDAwMDgwLEZBODA3Mg"] {
        assert!(made(query, &Facts::new("jpeg", 30, 20)).starts_with("duotone:000080:fa8072"));
    }
    let proxy = dialects(&[])
        .parse("/https%3A%2F%2Fo.test%2Fa%2520b.jpg?w=9")
        .unwrap();
    assert_eq!(
        proxy.source,
        Source::Url("https://o.test/a%20b.jpg".to_owned())
    );
}

#[test]
fn answers_can_be_kept_under_a_name_and_end() {
    let request = ask("w=9&dl=my%20%22file%22.jpg&expires=1700000000").unwrap();
    assert_eq!(request.style.expires, Some(1_700_000_000));
    assert_eq!(request.style.errors.0.status(Fault::Expired, 410), 404);
    let named = (
        "content-disposition",
        "attachment; filename=\"my _file_.jpg\"".to_owned(),
    );
    assert_eq!(request.style.headers, [named]);
    assert!(matches!(ask("fm=json").unwrap().ask, Ask::Describe(_)));
}

proptest! {
    #[test]
    fn no_query_panics_and_every_recipe_is_its_text(
        query in "((w|h|dpr|ar|rect|rot|crop|fp-x|fp-z|pad|blur|q|trim|orient|min-w|max-h|bg|border|bri|mark|mark-w|mark-x|mark-rot|blend|txt|txt-size|txt-x|txt-line|txt-shad|txt-clip)=[a-z0-9.,:-]{0,7}&){0,5}(fit=(crop|fill|fillmax|min|max|scale|clip))?",
        any in any::<String>(),
    ) {
        for query in [&query, &any] {
            if let Ok(request) = ask(query) {
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
