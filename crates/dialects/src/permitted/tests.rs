//! Tests of which requests the lists of permitted values apply to, in every dialect and spelling.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use andon_recipe::{Facts, Recipe, ResolveError};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::{Config, ConfigError, Dialects, ImageRequest, NoHeaders, Nowhere};

fn config(text: &str) -> Config {
    let read = ConfigError::reading(text, &andon_settings::Known::default(), |all| {
        all.read::<Config>()
    });
    read.expect("a configuration")
}

/// A configuration with every dialect, each at its own prefix.
const EVERYWHERE: &str = "[imgproxy]\nprefix = \"/imgproxy\"\nquality = 75\n[thumbor]\nprefix = \"/thumbor\"\nquality = 75\n\
    [imagor]\nprefix = \"/imagor\"\nallow_unsafe = true\n[imgix]\nprefix = \"/imgix\"\n[weserv]\nprefix = \"/weserv\"\n\
    [cloudflare]\nprefix = \"/cdn-cgi/image\"\n[iiif]\nprefix = \"/iiif/3\"\n[ipx]\nprefix = \"/_ipx\"\n\
    [image_filter]\nprefix = \"/filter\"\n[photon]\nprefix = \"/photon\"\nsource = \"path\"\n\
    [astro]\nprefix = \"/_image\"\n[next]\nprefix = \"/_next/image\"\ndevice_sizes = []\nimage_sizes = []\nqualities = []\n";

fn dialects(keys: &str) -> Dialects {
    Dialects::new(&config(&format!("{keys}\n{EVERYWHERE}"))).expect("dialects")
}

/// Parses a target of an unsigned client; `None` if it is refused before its source is known.
fn request(dialects: &Dialects, target: &str) -> Option<ImageRequest> {
    let resolve = Ok::<_, crate::Refusal>;
    (dialects.parse_for(target, &NoHeaders, &Nowhere, resolve)).ok()
}

/// The facts of a photo of 2000x1500 px.
fn photo() -> Facts {
    Facts {
        metadata: true,
        ..Facts::new("jpeg", 2000, 1500)
    }
}

/// Returns the recipe that a target resolves to for the image with the facts of `photo`, if `Accept` selects no format.
fn resolve(dialects: &Dialects, target: &str) -> Result<Recipe, ResolveError> {
    let request = request(dialects, target).unwrap_or_else(|| panic!("{target} is not read"));
    settled(request).rules.resolve(&photo())
}

/// Returns the request as the server resolves it, with a chosen format.
fn settled(mut request: ImageRequest) -> ImageRequest {
    request.change_output(andon_recipe::Output::without_accept);
    request
}

const LISTS: &str =
    "[permitted]\nwidths = [640, 320]\nheights = [200, 240]\nqualities = [75, 80]\n";

/// Targets with a box and a quality in every dialect in which a URL has both.
const BOXES: &[&str] = &[
    "/r/cover:WxH,q:Q/a.jpg",
    "/small_light(dw=W,dh=H,cw=W,ch=H,da=s,q=Q)/a.jpg",
    "/imgproxy/x/rs:fill:W:H/q:Q/plain/local:///a.jpg",
    "/imgproxy/x/rs:force:W:H/q:Q/plain/local:///a.jpg",
    "/thumbor/unsafe/WxH/filters:quality(Q)/a.jpg",
    "/thumbor/unsafe/WxH/smart/filters:quality(Q)/a.jpg",
    "/imagor/unsafe/WxH/filters:quality(Q)/a.jpg",
    "/imgix/a.jpg?w=W&h=H&fit=crop&q=Q",
    "/imgix/a.jpg?w=W&h=H&fit=crop&crop=top&q=Q",
    "/weserv/?url=a.jpg&w=W&h=H&fit=cover&q=Q",
    "/cdn-cgi/image/width=W,height=H,fit=cover,quality=Q/a.jpg",
    "/_ipx/s_WxH,q_Q/a.jpg",
    "/filter/image_filter(crop,W,H,q=Q)/a.jpg",
    "/photon/a.jpg?resize=W,H&quality=Q",
];

fn filled(target: &str, w: &str, h: &str, q: &str) -> String {
    target.replace('W', w).replace('H', h).replace('Q', q)
}

#[test]
fn a_listed_box_is_served_in_every_dialect_and_any_other_is_refused_with_the_lists() {
    let (limited, free) = (dialects(LISTS), dialects(""));
    for target in BOXES {
        let is = filled(target, "320", "200", "75");
        let served = resolve(&limited, &is);
        assert_eq!(served, resolve(&free, &is), "{is}");
        served.unwrap_or_else(|error| panic!("{is}: {error}"));
        for (w, h, q) in [
            ("321", "200", "75"),
            ("320", "201", "75"),
            ("320", "200", "76"),
        ] {
            let other = filled(target, w, h, q);
            resolve(&free, &other).unwrap_or_else(|error| panic!("{other}: {error}"));
            let error = resolve(&limited, &other).expect_err(&other).to_string();
            let lists = match q {
                "76" => "`quality 76`: unsigned URLs may ask for these qualities: 75, 80",
                _ => "unsigned URLs may",
            };
            assert!(error.contains(lists), "{other}: {error}");
        }
    }
}

#[test]
fn one_listed_side_is_enough_if_the_other_follows() {
    let limited = dialects(LISTS);
    for (target, size) in [
        ("/r/fit:320x/a.jpg", "exact:320x240"),
        ("/r/fit:x200/a.jpg", "exact:267x200"),
        ("/r/fit:321x200/a.jpg", "exact:267x200"),
        (
            "/imgproxy/x/w:160/dpr:2/plain/local:///a.jpg",
            "exact:320x240",
        ),
        ("/imgix/a.jpg?w=320", "exact:320x240"),
        ("/small_light(dw=16p)/a.jpg", "exact:320x240"),
        ("/iiif/3/a.jpg/full/320,/180/default.jpg", "exact:320x240"),
        ("/r/turn:90,fit:x240/a.jpg", "exact:180x240"),
        ("/_next/image?url=/a.jpg&w=640&q=80", "exact:640x480"),
        ("/r/as:webp/a.jpg", "as:webp"),
        ("/r/cover:2000x200/a.jpg", "crop:0:650:2000x200"),
    ] {
        let recipe = resolve(&limited, target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(recipe.to_string().contains(size), "{target}: {recipe}");
    }
    for target in [
        "/r/fit:321x/a.jpg",
        "/imgproxy/x/w:320/dpr:3/plain/local:///a.jpg",
        "/small_light(dw=17p)/a.jpg",
        "/iiif/3/a.jpg/pct:1,1,50,50/320,/0/default.jpg",
    ] {
        assert!(resolve(&limited, target).is_err(), "{target}");
    }
}

#[test]
fn a_permitted_size_does_not_let_through_crops_and_scalings_that_vary() {
    let limited = dialects(LISTS);
    for target in [
        "/r/crop:1:1:320x200/a.jpg",
        "/r/crop:320x200/a.jpg",
        "/r/crop:0:0:1999x1250,exact:320x200/a.jpg",
        "/r/crop:2000x1100,exact:320x200/a.jpg",
        "/r/fit:1000x,crop:320x200/a.jpg",
        "/r/exact:320x777,crop:320x200/a.jpg",
        "/r/focus:41%25:42%25,cover:320x200/a.jpg",
        "/r/fit:17x,exact:320x200/a.jpg",
        "/r/cover:320x200,cover:200x200,exact:320x200/a.jpg",
        "/r/fit:17x,canvas:320x200:ffffff/a.jpg",
        "/r/fit:320x,blur:1.5/a.jpg",
        "/r/fit:320x,rotate:1/a.jpg",
        "/r/fit:320x,max:1234/a.jpg",
        "/r/fit:320x,score:50/a.jpg",
        "/r/fit:320x,effort:3/a.jpg",
        "/r/fit:320x,background:123456,as:jpeg/a.jpg",
        "/r/fit:320x,progressive/a.jpg",
        "/imgproxy/x/w:320/bl:3/plain/local:///a.jpg",
        "/thumbor/unsafe/320x200/filters:rotate(90):blur(3)/a.jpg",
        "/thumbor/unsafe/11x12:1800x1400/320x200/a.jpg",
    ] {
        assert!(resolve(&limited, target).is_err(), "{target}");
    }
    let error = resolve(&limited, "/r/fit:320x,blur:1.5/a.jpg")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`blur:1.5`: unsigned URLs may use no words"),
        "{error}"
    );
    assert!(
        error.contains("`permitted.words` can list `blur`"),
        "{error}"
    );
}

#[test]
fn listed_words_are_let_through_with_any_arguments() {
    let limited = dialects(&format!(
        "{LISTS}words = [\"blur\", \"crop\", \"progressive\"]\n"
    ));
    for target in [
        "/r/fit:320x,blur:1.5/a.jpg",
        "/r/crop:11:12:320x200/a.jpg",
        "/r/focus:41%25:42%25,cover:320x200,progressive/a.jpg",
        "/r/crop:0:0:1000x500,fit:320x/a.jpg",
    ] {
        assert!(resolve(&limited, target).is_ok(), "{target}");
    }
    assert!(resolve(&limited, "/r/fit:320x,sharpen:1/a.jpg").is_err());
    assert!(resolve(&limited, "/r/crop:1:1:300x300/a.jpg").is_err());
}

#[test]
fn a_list_of_qualities_alone_leaves_sizes_and_words_free() {
    let limited = dialects("[permitted]\nqualities = [75]\n");
    assert!(resolve(&limited, "/r/fit:123x,blur:2,q:75,metadata:none/a.jpg").is_ok());
    for target in [
        "/r/fit:123x,q:76/a.jpg",
        "/r/max:1000/a.jpg",
        "/r/q:auto/a.jpg",
    ] {
        assert!(resolve(&limited, target).is_err(), "{target}");
    }
}

#[test]
fn signed_urls_are_free_unless_the_configuration_says_otherwise() {
    let keys = "[imgproxy]\nprefix = \"/imgproxy\"\nkeys = [\"943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881\"]\nsalts = [\"520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5\"]\n";
    let read = |more: &str| {
        Dialects::new(&config(&format!("{LISTS}{more}{keys}open = true\n"))).expect("dialects")
    };
    let target = read("")
        .examples()
        .find(|it| it.contains("/rs:fit:"))
        .expect("imgproxy's");
    assert!(resolve(&read(""), &target).is_ok(), "{target}");
    assert!(
        resolve(&read("signed = true\n"), &target).is_err(),
        "{target}"
    );
}

#[test]
fn a_key_that_permits_nothing_or_everything_is_an_error() {
    for (keys, why) in [
        (
            "widths = [0]",
            "`permitted.widths`: no image has a side of 0 px",
        ),
        (
            "qualities = [101]",
            "`permitted.qualities`: 101 must be from 1 to 100",
        ),
        (
            "words = [\"blur\"]",
            "`permitted.words`: everything is permitted until",
        ),
        (
            "signed = true",
            "`permitted.signed`: everything is permitted until",
        ),
    ] {
        let config = config(&format!("[permitted]\n{keys}\n"));
        let error = Dialects::new(&config).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Generates pieces of URLs that change a result: boxes, qualities, crops, effects and more, in every dialect.
fn spelling() -> impl Strategy<Value = String> {
    let side = || prop_oneof![Just(320_u32), Just(640), Just(200), Just(240), 1..2500_u32];
    let quality = prop_oneof![Just(75_u32), Just(80), 1..100_u32];
    let other = (side(), side(), side(), side());
    (
        side(),
        side(),
        quality,
        other,
        0..20_u32,
        0..SPELLINGS.len(),
    )
        .prop_map(|(w, h, q, (a, b, c, d), n, at)| {
            let mut target = SPELLINGS[at].to_owned();
            for (name, value) in [
                ('W', w),
                ('H', h),
                ('Q', q),
                ('A', a),
                ('B', b),
                ('C', c),
                ('D', d),
                ('N', n),
            ] {
                target = target.replace(name, &value.to_string());
            }
            target
        })
}

const SPELLINGS: &[&str] = &[
    "/r/fit:WxH,q:Q/a.jpg",
    "/r/fit:Wx,dpr:N/a.jpg",
    "/r/dpr:2,cover:WxH/a.jpg",
    "/r/crop:A:B:CxD,exact:WxH/a.jpg",
    "/r/exact:WxH,crop:A:B:CxD/a.jpg",
    "/r/crop:AxB:north,fit:Wx/a.jpg",
    "/r/exact:AxB,exact:WxH/a.jpg",
    "/r/fit:WxH,canvas:CxD:0000ff/a.jpg",
    "/r/fit:N%25xN%25/a.jpg",
    "/r/focus:N%25:N%25,cover:WxH/a.jpg",
    "/r/pad:A:B:C:D,fit:WxH/a.jpg",
    "/r/fit:Wx,rotate:N/a.jpg",
    "/r/fit:Wx,max:Q/a.jpg",
    "/r/fit:Wx,blur:N/a.jpg",
    "/r/turn:90,cover:WxH,flip:h/a.jpg",
    "/small_light(dw=W,dh=H,da=l,q=Q)/a.jpg",
    "/small_light(dw=W,dh=H,cw=C,ch=D,da=s,bw=N,cc=ff0000)/a.jpg",
    "/small_light(sx=A,sy=B,sw=C,sh=D,dw=W,dh=H,da=n)/a.jpg",
    "/small_light(dw=Wp,dh=Np,sharpen=NxN)/a.jpg",
    "/imgproxy/x/rs:fit:W:H/q:Q/plain/local:///a.jpg",
    "/imgproxy/x/rs:fill:W:H/g:fp:0.N:0.N/plain/local:///a.jpg",
    "/imgproxy/x/c:A:B/w:W/dpr:2/plain/local:///a.jpg",
    "/imgproxy/x/w:W/z:0.N/el:1/ex:1/plain/local:///a.jpg",
    "/imgproxy/x/w:W/h:H/pd:N/bg:ff00ff/plain/local:///a.jpg",
    "/imgproxy/x/mw:W/mh:H/plain/local:///a.jpg",
    "/imgproxy/x/w:W/mb:Q/plain/local:///a.jpg",
    "/thumbor/unsafe/fit-in/WxH/filters:quality(Q)/a.jpg",
    "/thumbor/unsafe/AxB:CxD/WxH/a.jpg",
    "/thumbor/unsafe/WxH/left/top/filters:fill(red):rotate(N)/a.jpg",
    "/thumbor/unsafe/WxH/filters:focal(AxB:CxD)/a.jpg",
    "/imagor/unsafe/WxH/filters:quality(Q):max_bytes(N00)/a.jpg",
    "/imagor/unsafe/stretch/WxH/N0xN0/a.jpg",
    "/imgix/a.jpg?w=W&h=H&fit=crop&q=Q&crop=focalpoint&fp-x=0.N&fp-z=2",
    "/imgix/a.jpg?w=W&dpr=2&rect=A,B,C,D",
    "/imgix/a.jpg?w=W&ar=N:3&fit=crop&max-w=C",
    "/imgix/a.jpg?w=W&h=H&fit=fill&fill-color=red&pad=N",
    "/weserv/?url=a.jpg&w=W&h=H&fit=cover&a=focal-N-N&q=Q",
    "/weserv/?url=a.jpg&w=W&h=H&cx=A&cy=B&cw=C&ch=D&dpr=2",
    "/weserv/?url=a.jpg&w=W&h=H&fit=contain&cbg=red&ro=N",
    "/cdn-cgi/image/width=W,height=H,fit=crop,gravity=0.Nx0.N,quality=Q/a.jpg",
    "/cdn-cgi/image/width=W,dpr=2,trim=A;B;C;D/a.jpg",
    "/cdn-cgi/image/width=W,height=H,fit=pad,background=red,blur=N/a.jpg",
    "/iiif/3/a.jpg/A,B,C,D/W,/0/default.jpg",
    "/iiif/3/a.jpg/square/W,H/N/default.jpg",
    "/iiif/3/a.jpg/full/pct:N/0/default.jpg",
    "/_ipx/s_WxH,q_Q,fit_contain,b_ff0000/a.jpg",
    "/_ipx/extract_A_B_C_D,w_W/a.jpg",
    "/_ipx/w_W,blur_N/a.jpg",
    "/filter/image_filter(resize,W,H,q=Q)/a.jpg",
    "/filter/image_filter(crop,W,H)/a.jpg",
    "/photon/a.jpg?resize=W,H&quality=Q",
    "/photon/a.jpg?crop=Npx,Npx,Cpx,Dpx&w=W&zoom=2",
    "/photon/a.jpg?lb=W,H&filter=blur",
    "/_image?href=/a.jpg&w=W&h=H&q=Q",
    "/_next/image?url=/a.jpg&w=W&q=Q",
];

#[test]
fn whatever_urls_ask_for_only_few_variants_of_a_source_are_made() {
    let limited = dialects(LISTS);
    let (made, read) = (RefCell::new(BTreeSet::new()), Cell::new(0_u32));
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 20_000,
        ..ProptestConfig::default()
    });
    runner
        .run(&spelling(), |target| {
            let Some(request) = request(&limited, &target) else {
                return Ok(());
            };
            read.set(read.get() + 1);
            let facts = photo();
            let Ok(recipe) = settled(request).rules.resolve(&facts) else {
                return Ok(());
            };
            let size = andon_recipe::size_after(&recipe.steps, &facts).expect("whole pixels");
            let own = |(w, h)| (w, h) == (2000, 1500) || (w, h) == (1500, 2000);
            let listed = |(w, h): (u32, u32)| {
                let w_listed = [320, 640, 2000, 1500].contains(&w);
                let h_listed = [200, 240, 2000, 1500].contains(&h);
                let follows = |side: u32, other: u32| {
                    side.abs_diff(other * 3 / 4) <= 2 || side.abs_diff(other * 4 / 3) <= 2
                };
                match (w_listed, h_listed) {
                    (true, true) => true,
                    (true, false) => follows(h, w),
                    (false, true) => follows(w, h),
                    (false, false) => false,
                }
            };
            prop_assert!(own(size) || listed(size), "{target}: {recipe}");
            made.borrow_mut().insert(recipe.to_string());
            Ok(())
        })
        .unwrap();
    let (made, read) = (made.into_inner(), read.get());
    assert!(read > 10_000, "only {read} of the URLs are read");
    assert!(made.len() > 20, "nothing is let through: {made:#?}");
    assert!(made.len() < 400, "{} variants: {made:#?}", made.len());
}
