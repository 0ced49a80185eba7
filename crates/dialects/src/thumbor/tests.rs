//! Tests with responses of thumbor and imagor, among them golden values.

mod geometry;
mod signatures;

use andon_recipe::{Area, Facts, Measure, Measured};
use proptest::prelude::*;

use crate::Fault;
use crate::errors::Told;
use crate::request::AnswerStyle;
use crate::vectors::{self, answer};
use crate::{Ask, Config, Dialects, ImageRequest, ImagorConfig, Refusal, Source, ThumborConfig};

/// Dialects with thumbor at the root.
fn thumbor() -> Dialects {
    Dialects::new(&Config {
        thumbor: ThumborConfig {
            prefix: "/".to_owned(),
            keys: vec!["my-security-key".to_owned()],
            weak_keys: true,
            allow_unsafe: Some(true),
            ..ThumborConfig::default()
        },
        ..Config::default()
    })
    .expect("a configuration")
}

/// Dialects with imagor at the root.
fn imagor() -> Dialects {
    Dialects::new(&Config {
        imagor: ImagorConfig {
            prefix: "/".to_owned(),
            allow_unsafe: true,
            ..ImagorConfig::default()
        },
        ..Config::default()
    })
    .expect("a configuration")
}

fn ask(dialects: &Dialects, rest: &str) -> ImageRequest {
    let target = format!("/unsafe/{rest}");
    dialects.parse(&target).expect(&target)
}

fn recipe(dialects: &Dialects, rest: &str, facts: &Facts) -> String {
    let request = ask(dialects, rest);
    request.rules.resolve(facts).expect(rest).to_string()
}

#[test]
fn the_shared_vectors_hold() {
    for vector in vectors::of("thumbor") {
        vector.check(&thumbor());
    }
    let keyed = |digest| {
        let imagor = ImagorConfig {
            prefix: "/".to_owned(),
            keys: vec!["mysecret".to_owned()],
            weak_keys: true,
            digest,
            ..ImagorConfig::default()
        };
        Dialects::new(&Config {
            imagor,
            ..Config::default()
        })
        .expect("a configuration")
    };
    for vector in vectors::of("imagor") {
        let long = vector.url.len() > 110;
        let digest = if long {
            crate::signature::Digest::Sha256
        } else {
            crate::signature::Digest::Sha1
        };
        vector.check(&keyed(digest));
    }
}

#[test]
fn parts_stand_in_one_order_and_the_first_other_segment_begins_the_image() {
    let thumbor = thumbor();
    for (rest, image) in [
        ("300x200/trip/a.jpg", "trip/a.jpg"),
        ("smart/300x200/a.jpg", "300x200/a.jpg"),
        ("300xabc/a.jpg", "300xabc/a.jpg"),
        ("300x200/", "300x200/"),
        ("smart", "smart"),
        ("x/a.jpg", "a.jpg"),
        ("filters:quality(8)/a.jpg", "a.jpg"),
        ("filters:quality%288)/a.jpg", "a.jpg"),
        (
            "filters:quality(8%29/a%20b.jpg",
            "filters:quality(8)/a b.jpg",
        ),
        (
            "trim:bottom-right:7/1x2:3x4/adaptive-full-fit-in/-5x-6/left/top/smart/filters:rgb(1,2,3):blur(4)/a%2Fb%3Fc.jpg",
            "a/b?c.jpg",
        ),
    ] {
        let request = ask(&thumbor, rest);
        assert_eq!(request.source, Source::from_path(image), "{rest}");
        assert_eq!(request.ask, Ask::Image);
    }
}

#[test]
fn an_image_may_be_a_url_and_is_decoded_once() {
    for (rest, url) in [
        ("http://a.example/b.jpg", "http://a.example/b.jpg"),
        ("http:/a.example/b.jpg", "http://a.example/b.jpg"),
        (
            "https%3A%2F%2Fa.example%2Fb.jpg%3Fc=1",
            "https://a.example/b.jpg?c=1",
        ),
        ("https://a.example/%2541.jpg", "https://a.example/%41.jpg"),
    ] {
        assert_eq!(ask(&thumbor(), rest).source, Source::Url(url.to_owned()));
    }
    let http = Dialects::new(&Config {
        thumbor: ThumborConfig {
            prefix: "/".to_owned(),
            loader: crate::Loader::Http,
            ..ThumborConfig::default()
        },
        ..Config::default()
    })
    .unwrap();
    let source = ask(&http, "300x200/my.server.com/a.jpg").source;
    assert_eq!(source, Source::Url("http://my.server.com/a.jpg".to_owned()));
    // imagor decodes a plus as a space, and sources in base64 after a mark.
    let imagor = imagor();
    assert_eq!(ask(&imagor, "a+b.jpg").source, Source::from_path("a b.jpg"));
    assert_eq!(
        ask(&thumbor(), "a+b.jpg").source,
        Source::from_path("a+b.jpg")
    );
    assert_eq!(
        ask(&imagor, "b64:dHJpcC9hLmpwZw").source,
        Source::from_path("trip/a.jpg")
    );
    assert_eq!(
        ask(&imagor, "b64:%25.jpg").source,
        Source::from_path("b64:%.jpg")
    );
}

#[test]
fn slashes_and_colons_in_imagors_parentheses_belong_to_the_argument() {
    let request = ask(
        &imagor(),
        "filters:watermark(a/b:c.png,1,2):quality(40)/trip/a.jpg",
    );
    assert_eq!(request.source, Source::from_path("trip/a.jpg"));
    assert_eq!(request.rules.overlays(), ["/a/b:c.png"]);
    let facts = Facts::new("jpeg", 400, 300);
    assert_eq!(
        request.rules.resolve(&facts).unwrap().to_string(),
        "over:/a/b%3Ac.png:1:2,q:40"
    );
}

#[test]
fn imagor_tells_what_a_url_says() {
    let said = |rest: &str| match imagor().parse(&format!("/params/{rest}")).unwrap().ask {
        Ask::Text { media_type, text } => {
            assert_eq!(media_type, "application/json");
            serde_json::from_str::<serde_json::Value>(&text).unwrap()
        }
        other => panic!("{other:?}"),
    };
    let path =
        "meta/trim/10x11:12x13/fit-in/-300x-200/left/top/smart/filters:some_filter():blur(1,2)/img";
    assert_eq!(
        said(&format!("unsafe/{path}")),
        serde_json::json!({
            "path": path, "image": "img", "unsafe": true, "meta": true,
            "trim": true, "trim_by": "top-left",
            "crop_left": 10, "crop_top": 11, "crop_right": 12, "crop_bottom": 13,
            "fit_in": true, "width": 300, "height": 200, "h_flip": true, "v_flip": true,
            "h_align": "left", "v_align": "top", "smart": true,
            "filters": [{ "name": "some_filter" }, { "name": "blur", "args": "1,2" }],
        })
    );
    assert_eq!(
        said("cST4Ko5_FqwT3BDn-Wf4gO3RFSk=/adaptive-full-fit-in/0x50/0.1x0:1x2/5x6/a+b.jpg"),
        serde_json::json!({
            "path": "adaptive-full-fit-in/0x50/0.1x0:1x2/5x6/a+b.jpg",
            "image": "0.1x0:1x2/5x6/a b.jpg", "hash": "cST4Ko5_FqwT3BDn-Wf4gO3RFSk=",
            "fit_in": true, "adaptive_fit_in": true, "full_fit_in": true, "height": 50,
        })
    );
    assert_eq!(
        said("a.jpg"),
        serde_json::json!({ "path": "a.jpg", "image": "a.jpg" })
    );
    // thumbor has no `/params/`.
    assert!(thumbor().parse("/params/unsafe/a.jpg").is_err());
}

#[test]
fn watermarks_lie_where_either_flavour_puts_them() {
    let facts = Facts::new("jpeg", 400, 300);
    for (args, step) in [
        ("w.png,10,20,0", "over:/w.png:10:20"),
        ("w.png,-10,-0,50", "overlay:/w.png:100p-10:100p:50"),
        ("w.png,10p,-20p,0", "over:/w.png:40:100p-60"),
        ("'w.png',-0p,0,0", "over:/w.png:100p:0"),
        ("w.png,0,0,0,0,none", "over:/w.png:0:0"),
        ("w.png,0,0,0,", ""),
        ("w.png,center,repeat,0", "over:/w.png:50p:spread"),
        ("w.png,0,0,0,20", "overlay:/w.png:0:0:100:80"),
        ("w.png,0,0,0,none,20", "overlay:/w.png:0:0:100:0:60"),
        (
            "w.png,0,0,0,20,20",
            "overlay:/w.png:0:0:100:80:60:normal:inside",
        ),
        (
            "http%3A//x.test/w.png,0,0,0",
            "over:http%3A//x.test/w.png:0:0",
        ),
        (
            "https:/x.test/w.png%3Fv=1,0,0,50",
            "overlay:https%3A//x.test/w.png?v=1:0:0:50",
        ),
        ("w.png,0,0,100", ""),
        ("w.png,left,0,0", ""),
        ("w.png,0,0", ""),
    ] {
        let rest = format!("filters:watermark({args}):quality(9)/a.jpg");
        let made = recipe(&thumbor(), &rest, &facts);
        assert_eq!(
            made.strip_suffix("q:9").unwrap().trim_end_matches(','),
            step,
            "{args}"
        );
    }
    for (args, step) in [
        ("w.png,10,-20", "over:/w.png:10:100p-20"),
        ("w.png,right,bottom,30", "overlay:/w.png:100p:100p:70"),
        ("w.png,-0.1,0.25,0", "over:/w.png:100p-40:75"),
        ("w.png,repeat,center", "over:/w.png:repeat:50p"),
        (
            "w.png,0,0,0,20,none",
            "overlay:/w.png:0:0:100:80:300:normal:inside",
        ),
        ("b64:dy5wbmc,x,0,0", "over:/w.png:0:0"),
    ] {
        let rest = format!("filters:watermark({args}):quality(9)/a.jpg");
        let made = recipe(&imagor(), &rest, &facts);
        assert_eq!(made.strip_suffix(",q:9").unwrap(), step, "{args}");
    }
    for (args, step) in [
        (
            "fit-in/50x40/w.png,10,-20,30,multiply",
            "overlay:/w.png:10:100p-20:70:50:40:multiply:inside",
        ),
        ("/w.png,left,top", "over:/w.png:0:0"),
        (
            "50x40/filters:blur(3)/w.png,0,0",
            "overlay:/w.png:0:0:100:0:0:normal:exact:orient%2Ccover%3A50x40%3Aenlarge%2Cblur%3A0x1.5",
        ),
        ("w.png,0,0,0,add", "overlay:/w.png:0:0:100:0:0:add"),
    ] {
        let rest = format!("filters:image({args}):quality(9)/a.jpg");
        let made = recipe(&imagor(), &rest, &facts);
        assert_eq!(
            made.strip_suffix("q:9").unwrap().trim_end_matches(','),
            step,
            "{args}"
        );
    }
}

#[test]
fn imagors_trim_filter_cuts_off_what_the_border_has_become() {
    let mut facts = Facts::new("png", 400, 300);
    let request = ask(
        &imagor(),
        "fit-in/200x200/filters:rotate(90):trim(50,bottom-right)/a.png",
    );
    let asked = request.rules.measures(facts.orientation);
    let (tolerance, corner) = (50, (true, true));
    assert_eq!(asked, [Measure::Trim { tolerance, corner }]);
    let area = Area {
        x: 101,
        y: 50,
        w: 100,
        h: 200,
    };
    facts.measured = Measured::from_iter([(asked[0], area)]);
    assert_eq!(
        request.rules.resolve(&facts).unwrap().to_string(),
        "exact:200x150,turn:270,crop:25:99:100x51"
    );
}

#[test]
fn imagor_makes_images_of_one_colour() {
    let pixel = Facts::new("bmp", 1, 1);
    for (rest, colour, text) in [
        (
            "200x100/color:red",
            "ff0000ff",
            "exact:200x100,as:jpeg,q:75",
        ),
        (
            "200x0/color:0000ff",
            "0000ffff",
            "exact:200x200,as:jpeg,q:75",
        ),
        ("color:fff", "ffffffff", "as:jpeg,q:75"),
        (
            "-100x-50/filters:format(png)/color:ff000080",
            "ff000080",
            "exact:100x50,turn:180,as:png",
        ),
        (
            "fit-in/9x9/filters:format(webp)/color:none",
            "00000000",
            "exact:9x9,as:webp,q:75",
        ),
    ] {
        let request = ask(&imagor(), rest);
        assert_eq!(request.source.colour(), colour.parse().ok(), "{rest}");
        assert_eq!(recipe(&imagor(), rest, &pixel), text, "{rest}");
        for (_, target) in imagor().write(&request) {
            assert_eq!(imagor().parse(&target).unwrap().source, request.source);
        }
    }
    // In thumbor, a path of this form is not a colour.
    assert_eq!(ask(&thumbor(), "color://ff0000ff").source.colour(), None);
}

#[test]
fn imagor_leaves_the_border_of_an_animation_and_shows_its_last_page_for_what_there_is_not() {
    let gif = Facts {
        frames: 8,
        ..Facts::new("gif", 100, 90)
    };
    for (rest, text) in [
        ("trim/50x0", "exact:50x45"),
        ("filters:trim(50)", "same"),
        ("filters:page(999)", "frame:8"),
        ("filters:page(5)", "frame:5"),
        (
            "filters:background_color():round_corner():padding():rotate():proportion():proportion(-10)",
            "same",
        ),
    ] {
        assert_eq!(
            recipe(&imagor(), &format!("{rest}/a.gif"), &gif),
            text,
            "{rest}"
        );
    }
}

#[test]
fn filters_act_in_their_order_after_the_transform() {
    let facts = Facts::new("jpeg", 400, 300);
    for (filters, text) in [
        ("quality(40)", "exact:200x150,q:40"),
        ("quality(0)", "exact:200x150,q:1"),
        ("quality(x)", "exact:200x150,q:80"),
        ("format(WEBP)", "exact:200x150,as:webp,q:80"),
        ("format(png)", "exact:200x150,as:png"),
        ("format(bmp)", "exact:200x150,q:80"),
        ("format(png):format(bmp)", "exact:200x150,q:80"),
        ("quality(40,2)", "exact:200x150,q:80"),
        ("fill(red,maybe)", "exact:200x150,q:80"),
        ("fill(%23f00)", "exact:200x150,q:80"),
        ("no_upscale(1):grayscale(1)", "exact:200x150,q:80"),
        ("blur(4,1.5)", "exact:200x150,blur:4x1.5,q:80"),
        ("blur(4,0)", "exact:200x150,blur:4x4,q:80"),
        (
            "fill(red,true)",
            "exact:200x150,canvas:200x200:ff0000:0:25,q:80",
        ),
        ("grayscale():quality(40)", "exact:200x150,gray,q:40"),
        ("rotate(90)", "exact:200x150,turn:270,q:80"),
        ("rotate(-90)", "exact:200x150,turn:90,q:80"),
        ("rotate(45)", "exact:200x150,q:80"),
        (
            "brightness(20):contrast(-100)",
            "exact:200x150,brightness:51,contrast:0,q:80",
        ),
        ("contrast(20)", "exact:200x150,contrast:1.44,q:80"),
        ("rgb(20,-20,0)", "exact:200x150,rgb:51:-51:0,q:80"),
        ("rgb(20,-20)", "exact:200x150,q:80"),
        ("saturation(1.5)", "exact:200x150,saturation:1.5:rms,q:80"),
        ("blur(4)", "exact:200x150,blur:4x4,q:80"),
        ("blur(4,2)", "exact:200x150,blur:4x2,q:80"),
        ("sharpen(2,1.0,true)", "exact:200x150,unsharp:0x1+2+0,q:80"),
        ("sharpen(2,1.0)", "exact:200x150,q:80"),
        (
            "round_corner(20|10,255,255,0)",
            "exact:200x150,round:20:10:ffff00,q:80",
        ),
        (
            "round_corner(20,255,255,255,1)",
            "exact:200x150,round:20:20,background:000000,q:80",
        ),
        ("round_corner(20)", "exact:200x150,q:80"),
        ("proportion(0.5)", "exact:200x150,exact:100x75,q:80"),
        ("max_bytes(40000)", "exact:200x150,max:40000:shortest"),
        ("fill(red)", "exact:200x150,canvas:200x200:ff0000:0:25,q:80"),
        (
            "fill(blur)",
            "exact:200x150,canvas:200x200:00000000:0:25,backdrop:blur:0:25:200x150,canvas:200x200:ffffff:0:0,background:000000,q:80",
        ),
        (
            "fill(auto)",
            "exact:200x150,canvas:200x200:00000000:0:25,backdrop:median:0:25:200x150,background:000000,q:80",
        ),
        (
            "rotate(90):fill(00ff00)",
            "exact:200x150,turn:270,canvas:200x200:00ff00:25:0,q:80",
        ),
        ("noise(20):equalize():nothing()", "exact:200x150,q:80"),
        ("strip_exif():strip_icc()", "exact:200x150,q:80"),
    ] {
        let rest = format!("fit-in/200x200/filters:{filters}/a.jpg");
        assert_eq!(recipe(&thumbor(), &rest, &facts), text, "{filters}");
    }
}

#[test]
fn imagors_grounds_colours_and_frames_become_steps() {
    let (jpeg, png) = (Facts::new("jpeg", 400, 300), Facts::new("png", 400, 300));
    let gif = Facts {
        frames: 9,
        ..Facts::new("gif", 400, 300)
    };
    let clear = Facts {
        alpha: true,
        ..png.clone()
    };
    let blurred = "exact:200x150,canvas:200x200:00000000:0:25,backdrop:blur:0:25:200x150";
    for (filters, facts, text) in [
        (
            "fill(blur)",
            &jpeg,
            format!("{blurred},canvas:200x200:ffffff:0:0,background:000000,q:75"),
        ),
        ("fill(blur)", &clear, blurred.to_owned()),
        (
            "fill(auto)",
            &jpeg,
            "exact:200x150,canvas:200x200:00000000:0:25,backdrop:mean:0:25:200x150,background:000000,q:75".to_owned(),
        ),
        // imagor does not blur animations.
        (
            "fill(blur)",
            &gif,
            "exact:200x150,canvas:200x200:000000:0:25".to_owned(),
        ),
        (
            "background_color(auto)",
            &clear,
            "exact:200x150,backdrop:mean:0:0:200x150".to_owned(),
        ),
        (
            "palette()",
            &png,
            "exact:200x150,with:colours:256".to_owned(),
        ),
        (
            "bitdepth(4):palette()",
            &png,
            "exact:200x150,with:colours:16".to_owned(),
        ),
        ("bitdepth(4)", &jpeg, "exact:200x150,q:75".to_owned()),
        ("max_frames(4)", &gif, "exact:200x150,frames:4".to_owned()),
        ("max_frames(20)", &gif, "exact:200x150".to_owned()),
        ("max_frames(1)", &gif, "exact:200x150,frame:1".to_owned()),
    ] {
        let rest = format!("fit-in/200x200/filters:{filters}/a.jpg");
        assert_eq!(recipe(&imagor(), &rest, facts), text, "{filters}");
    }
}

#[test]
fn what_is_skipped_is_noted() {
    let request = ask(&thumbor(), "filters:noise(20):quality(x):quality(8)/a.jpg");
    assert_eq!(
        request.notes,
        ["noise(20): it is skipped", "quality(x): it is skipped"]
    );
}

#[test]
fn imagors_filters_have_their_own_grammar() {
    let facts = Facts::new("jpeg", 400, 300);
    for (filters, text) in [
        ("quality(0)", "exact:200x150,q:75"),
        ("format(webp)", "exact:200x150,as:webp,q:75"),
        ("blur(4)", "exact:200x150,blur:0x2,q:75"),
        ("blur(4,3)", "exact:200x150,blur:0x3,q:75"),
        ("sharpen(1)", "exact:200x150,sharpen-l:3:0:2,q:75"),
        (
            "round_corner(20,10,red)",
            "exact:200x150,round:20:10:ff0000,q:75",
        ),
        ("hue(90)", "exact:200x150,modulate:1:1:90,q:75"),
        ("saturation(-50)", "exact:200x150,modulate:1:0.5:0,q:75"),
        ("invert()", "exact:200x150,invert,q:75"),
        ("proportion(50)", "exact:200x150,exact:100x75,q:75"),
        ("rotate(270)", "exact:200x150,turn:90,q:75"),
        ("rotate(450)", "exact:200x150,q:75"),
        (
            "fill(none)",
            "exact:200x150,canvas:200x200:00000000:0:25,background:000000,q:75",
        ),
        (
            "padding(red,1,2,3,4)",
            "exact:200x150,canvas:204x156:ff0000:1:2,q:75",
        ),
        ("crop(0.25,0,0.5,1)", "exact:200x150,crop:50:0:100x150,q:75"),
        // The source has one page only.
        ("strip_metadata():page(2)", "exact:200x150,q:75"),
    ] {
        let rest = format!("fit-in/200x200/filters:{filters}/a.jpg");
        assert_eq!(recipe(&imagor(), &rest, &facts), text, "{filters}");
    }
    // Padding in the path has an effect only together with the filter `fill`, and is turned with the image.
    let facts = Facts::new("jpeg", 400, 300);
    assert_eq!(
        recipe(&imagor(), "fit-in/200x200/5x6/a.jpg", &facts),
        "exact:200x150,q:75"
    );
    assert_eq!(
        recipe(
            &imagor(),
            "fit-in/200x200/5x6:7x8/filters:fill(fff)/a.jpg",
            &facts
        ),
        "exact:200x150,canvas:212x214:ffffff:5:31,q:75"
    );
    let ten = format!("filters:{}quality(9)/a.jpg", "quality(8):".repeat(10));
    assert_eq!(recipe(&imagor(), &ten, &facts), "q:8");
}

#[test]
fn imagor_writes_on_images() {
    let facts = Facts::new("jpeg", 400, 300);
    for (filters, text) in [
        (
            "label(Otter,15,10,30,blue,30)",
            "text:Otter:30:0000ffb3:northwest:15x10",
        ),
        ("label(Otter)", "text:Otter:20:000000:northwest"),
        (
            "label(Otter,right,bottom,30,red)",
            "text:Otter:30:ff0000:southeast",
        ),
        (
            "label(Otter,-15p,0.1,30)",
            "text:Otter:30:000000:northeast:30x15",
        ),
        (
            "label(Otter,l-20,b-10,30)",
            "text:Otter:30:000000:southwest:-20x-10",
        ),
        (
            "label(Otter,center,-30,25)",
            "text:Otter:25:000000:south:0x30",
        ),
        (
            "text(b64:SGVsbG8gV29ybGQ,center,center,sans-18,fff)",
            "text:Hello%20World:18:ffffff:centre",
        ),
        (
            "text(a,10,10,Noto-Sans-bold-italic-18,fff,0,,80p)",
            "text:a:18:ffffff:northwest:10:160:start:Noto%20Sans%2Cbold%2Citalic",
        ),
        (
            "text(a,0,0,serif-10,fff,0,normal,f-20,centre,,word,0,144)",
            "text:a:20:ffffff:northwest:0:180:middle:serif",
        ),
        (
            "text(a,0,0,Black-Ops-One-10,fff,0,,120,high,true)",
            "text:a:10:ffffff:northwest:0:120:justify:Black%20Ops%20One",
        ),
        (
            "text(a,0,0,sans-10,fff,0,,0.25,right)",
            "text:a:10:ffffff:northwest:0:50:end",
        ),
        (
            "label(a,0,0,9,red,0,serif)",
            "text:a:9:ff0000:northwest:0:0:serif",
        ),
        (
            "text(a,0,0,serif-9,red,0,multiply,120,,,char,4,144)",
            "text:a:18:ff0000:northwest:0:120:start:serif:break=characters:leading=8:blend=multiply",
        ),
        (
            "text(a,0,0,sans-9,red,0,unheard,,,,none,-3)",
            "text:a:9:ff0000:northwest:leading=-3",
        ),
    ] {
        let rest = format!("fit-in/200x200/filters:{filters}/a.jpg");
        let expected = format!("exact:200x150,{text},q:75");
        assert_eq!(recipe(&imagor(), &rest, &facts), expected, "{filters}");
        assert!(ask(&imagor(), &rest).notes.is_empty(), "{filters}");
    }
    for (filter, note) in [
        (
            "text(a,0,0,serif-9,red,0,mask-out,120,,,char,4)",
            "text: the blend mode is ignored",
        ),
        ("label(+)", "label(+): it is skipped"),
    ] {
        let request = ask(&imagor(), &format!("filters:{filter}/a.jpg"));
        assert_eq!(request.notes, [note], "{filter}");
    }
}

#[test]
fn imagors_images_over_others_may_be_as_large_as_those() {
    let facts = Facts::new("jpeg", 400, 300);
    for (image, overlay_step) in [
        ("w.png,left-20,top-10", "over:/w.png:-20:-10"),
        ("w.png,r-30,b-20", "over:/w.png:100p+30:100p+20"),
        (
            "fxf/w.png,0,0",
            "overlay:/w.png:0:0:100:400:300:normal:cover",
        ),
        (
            "fit-in/full-50xf/w.png,center,center",
            "overlay:/w.png:50p:50p:100:350:300:normal:inside",
        ),
        (
            "stretch/fxf/w.png,0,0,40,exclusion",
            "overlay:/w.png:0:0:60:400:300:exclusion",
        ),
        ("0xf/w.png", "overlay:/w.png:0:0:100:0:300"),
        (
            "/100x100/w.png,0,0,50,unheard-of",
            "overlay:/w.png:0:0:50:100:100:normal:cover",
        ),
    ] {
        let rest = format!("filters:image({image})/a.jpg");
        let expected = format!("{overlay_step},q:75");
        assert_eq!(recipe(&imagor(), &rest, &facts), expected, "{image}");
    }
}

#[test]
fn overlays_are_named_as_sources_are() {
    let overlays = |dialects: &Dialects, filter: &str| {
        let request = ask(dialects, &format!("filters:{filter}/a.jpg"));
        assert!(request.notes.is_empty(), "{filter}: {:?}", request.notes);
        request.rules.overlays()
    };
    for (filter, name) in [
        ("watermark(b/w.png,0,0,0)", "/b/w.png"),
        (
            "watermark(https://a.example/w.png,0,0,0)",
            "https://a.example/w.png",
        ),
        (
            "image(https://a.example/w.png,0,0)",
            "https://a.example/w.png",
        ),
        ("image(fit-in/9x9/s3://b/w.png,0,0)", "s3://b/w.png"),
        (
            "image(filters:grayscale()/https://a.example/w.png,0,0)",
            "https://a.example/w.png",
        ),
        (
            "image(b64:aHR0cHM6Ly9hLmV4YW1wbGUvdy5wbmc,0,0)",
            "https://a.example/w.png",
        ),
    ] {
        assert_eq!(overlays(&imagor(), filter), [name], "{filter}");
    }
    let http = Dialects::new(&Config {
        imagor: ImagorConfig {
            prefix: "/".to_owned(),
            allow_unsafe: true,
            loader: crate::Loader::Http,
            ..ImagorConfig::default()
        },
        ..Config::default()
    });
    let http = http.expect("a configuration");
    let nested = "image(filters:watermark(a.example/x.png,0,0,0)/a.example/w.png,0,0)";
    let names = ["http://a.example/w.png", "http://a.example/x.png"];
    assert_eq!(overlays(&http, nested), names);
}

#[test]
fn imagor_pixelates_whole_squares_and_sets_what_a_png_is_like() {
    let facts = Facts::new("png", 103, 57);
    for (filters, text) in [
        ("pixelate(10)", "exact:103x60,pixelate:10,crop:0:0:100x60"),
        ("bitdepth(4)", "with:colours:16"),
        ("bitdepth(3)", "same"),
        ("bitdepth(16):compression(9)", "depth:16,with:level:9"),
        ("compression(10)", "same"),
    ] {
        let made = recipe(&imagor(), &format!("filters:{filters}/a.png"), &facts);
        assert_eq!(made, text, "{filters}");
    }
}

#[test]
fn imagor_tells_what_is_seen_in_a_image() {
    let recipe: andon_recipe::Recipe = "exact:200x150,q:75".parse().unwrap();
    let told = |filters: &str, parts: &[&str]| -> serde_json::Value {
        let Ask::Describe(document) = ask(&imagor(), &format!("meta/filters:{filters}/a.jpg")).ask
        else {
            panic!("{filters}");
        };
        let part = |text: &&str| crate::Part {
            media_type: "text/plain",
            body: text.as_bytes().to_vec(),
        };
        let made: Vec<_> = parts.iter().map(part).collect();
        assert_eq!(document.has_parts(), !made.is_empty());
        assert_eq!(document.parts(&recipe).len(), made.len());
        let text = document.write(&vectors::about(&recipe, &made));
        serde_json::from_str(&text).unwrap()
    };
    let average = told("avgcolor()", &[r#"{"average":"0a141e"}"#]);
    assert_eq!(
        average["average_color"],
        serde_json::json!({ "r": 10, "g": 20, "b": 30 })
    );
    let hash = told("blurhash(4,3):blurhash(2,2)", &["LEHV"]);
    assert_eq!(hash["blurhash"], "LEHV");
    assert!(told("blur(2)", &[]).get("blurhash").is_none());
    for wrong in [
        "blurhash()",
        "blurhash(0,3)",
        "blurhash(4,10)",
        "avgcolor(1)",
    ] {
        let target = format!("/unsafe/meta/filters:{wrong}/a.jpg");
        assert!(imagor().parse(&target).is_err(), "{wrong}");
        let path = format!("filters:{wrong}/a.jpg");
        assert_eq!(ask(&imagor(), &path).notes.len(), 1, "{wrong}");
    }
}

#[test]
fn what_a_proxy_escaped_is_read_once_more() {
    let request = ask(&imagor(), "9x9/filters%3Aquality%2880%29/a.jpg");
    assert_eq!(request.source.as_str(), "a.jpg");
    let facts = Facts::new("jpeg", 9, 9);
    assert_eq!(request.rules.resolve(&facts).unwrap().to_string(), "q:80");
}

#[test]
fn an_attachment_is_called_as_it_is_asked_or_as_its_source() {
    for (filters, name) in [
        ("attachment()", "a.jpg".to_owned()),
        ("attachment(b.jpg)", "b.jpg".to_owned()),
        ("attachment(b)", format!("b.{}", AnswerStyle::EXTENSION)),
        (
            "attachment():format(webp)",
            format!("a.jpg.{}", AnswerStyle::EXTENSION),
        ),
        ("format(webp):attachment(b.webp)", "b.webp".to_owned()),
    ] {
        let request = ask(&imagor(), &format!("filters:{filters}/trip/a.jpg"));
        let disposition = format!("attachment; filename=\"{name}\"");
        let header = ("content-disposition", disposition);
        assert_eq!(request.style.headers, [header], "{filters}");
    }
}

#[test]
fn answers_follow_filters() {
    let request = ask(
        &imagor(),
        "filters:expire(1700000000123):attachment(b.jpg):max_age(9)/a.jpg",
    );
    assert_eq!(request.style.expires, Some(1_700_000_000));
    assert_eq!(request.style.max_age, Some(9));
    let disposition = (
        "content-disposition",
        "attachment; filename=\"b.jpg\"".to_owned(),
    );
    assert_eq!(request.style.headers, [disposition]);
    assert_eq!(ask(&thumbor(), "a.jpg").style.max_age, Some(86_400));
    assert_eq!(
        ask(&imagor(), "filters:raw()/a.jpg")
            .rules
            .resolve(&Facts::new("gif", 1, 1))
            .unwrap()
            .to_string(),
        "original"
    );
    assert!(matches!(
        ask(&thumbor(), "meta/a.jpg").ask,
        Ask::Describe(_)
    ));
}

#[test]
fn metadata_and_orientation_follow_the_flavour() {
    let mut facts = Facts::new("jpeg", 400, 300);
    facts.orientation = andon_recipe::Orientation::from_exif(6);
    (facts.metadata, facts.tagged) = (true, true);
    assert_eq!(
        recipe(&thumbor(), "200x0/a.jpg", &facts),
        "orient,exact:200x267,profile:keep,metadata:none,q:80"
    );
    assert_eq!(
        recipe(&imagor(), "150x0/a.jpg", &facts),
        "orient,exact:150x200,profile:keep,metadata:public,q:75"
    );
}

#[test]
fn errors_are_answered_as_either_does() {
    let refusal = |refused: Result<ImageRequest, Refusal>| {
        let refusal = refused.unwrap_err();
        let status = answer(Err(refusal.clone()), &Facts::new("jpeg", 1, 1)).unwrap_err();
        (
            status,
            refusal
                .errors
                .0
                .body(&Told::of(Fault::Url, status, "why"))
                .unwrap(),
        )
    };
    let (status, (_, body)) = refusal(thumbor().parse("/300x200/a.jpg"));
    assert_eq!((status, body.as_str()), (400, ""));
    let (status, (_, body)) = refusal(imagor().parse("/300x200/a.jpg"));
    assert_eq!(
        (status, body.as_str()),
        (403, r#"{"message":"url signature mismatch","status":403}"#)
    );
}

proptest! {
    #[test]
    fn no_target_panics_and_what_is_written_is_the_same(
        parts in "((trim|trim:3|meta|debug)/)?([0-9.]{1,4}x[0-9.]{1,4}:[0-9.]{1,4}x[0-9.]{1,4}/)?((adaptive-)?(full-)?fit-in/)?(-?[0-9]{0,4}x-?[0-9]{0,4}/)?([0-9]x[0-9]/)?((left|top)/)?(smart/)?",
        filters in "(filters:(fill|crop|focal|rotate|blur|proportion|padding|upscale|expire|rgb)\\([0-9a-fx,:.]{0,12}\\)/)?",
        image in "[a-z0-9%./+]{1,9}",
        width in 1_u32.., height in 1_u32..,
    ) {
        for dialects in [thumbor(), imagor()] {
            let Ok(request) = dialects.parse(&format!("/unsafe/{parts}{filters}{image}")) else { continue };
            let _ = request.rules.resolve(&Facts::new("jpeg", width, height));
            for (_, target) in dialects.write(&request) {
                let again = dialects.parse(&target).unwrap();
                prop_assert_eq!(again.rules.text(), request.rules.text(), "{}", target);
                prop_assert_eq!(again.source, request.source.clone());
            }
        }
    }
}
