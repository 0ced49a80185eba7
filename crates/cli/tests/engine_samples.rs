//! The engine with the real codecs and the sample images: every sample in every format, upright in every orientation,
//! and no corrupt sample accepted as valid.

use std::path::{Path, PathBuf};

use andon_pixels::frame::{Frame, Model};
use andon_pixels::{Codec, Engine, Error, Limits, Orientation, Plan, Rendered, Run, Space};
use andon_recipe::Recipe;

fn engine() -> Engine {
    Engine::new(andon_codecs::ALL, Limits::default())
}

fn recipe(text: &str) -> Recipe {
    text.parse().expect("a recipe")
}

fn samples(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the samples")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no samples in {}", folder.display());
    paths
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a sample")
}

fn sample(name: &str) -> Vec<u8> {
    read(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../samples")
            .join(name),
    )
}

fn plan(bytes: &[u8], text: &str) -> Plan {
    engine().plan(&recipe(text), bytes).expect("a plan")
}

fn render(bytes: &[u8], text: &str) -> Rendered {
    let plan = plan(bytes, text);
    engine()
        .run(&plan, Run::of(bytes))
        .unwrap_or_else(|error| panic!("{plan}: {error}"))
}

fn body(bytes: &[u8], text: &str) -> Vec<u8> {
    render(bytes, text).body.expect("a new image")
}

/// Decodes the frame of a finished image, as RGB or gray.
fn shown(bytes: &[u8]) -> Frame {
    let engine = engine();
    let plan = engine
        .plan(&recipe("as:png,profile:drop"), bytes)
        .expect("a plan");
    let frame = engine.render_frame(&plan, Run::of(bytes));
    frame.expect("a frame")
}

/// Returns the mean difference of the samples of two frames of the same model, in levels.
fn difference(a: &Frame, b: &Frame) -> f64 {
    assert_eq!((a.model, a.width, a.height), (b.model, b.width, b.height));
    let pairs = a.planes.iter().zip(&b.planes).flat_map(|(a, b)| {
        let (a, b) = (a.as_u8().expect("8 bits"), b.as_u8().expect("8 bits"));
        a.samples().iter().zip(b.samples())
    });
    let (count, sum) = pairs.fold((0, 0), |(count, sum), (a, b)| {
        (count + 1, sum + u64::from(a.abs_diff(*b)))
    });
    sum as f64 / f64::from(count)
}

#[test]
fn every_sample_is_written_in_every_format() {
    for folder in ["jpeg", "png", "webp", "gif", "photos"] {
        for path in samples(folder) {
            let bytes = read(&path);
            // Placeholders are text.
            let is_written = |codec: &&&dyn Codec| {
                codec.encoder().is_some() && codec.format().media_type.starts_with("image/")
            };
            for codec in andon_codecs::ALL.iter().filter(is_written) {
                let case = format!("{} as {}", path.display(), codec.name());
                let text = format!("exact:90x70,as:{}", codec.name());
                let rendered = render(&bytes, &text);
                let body = rendered.body.unwrap_or_else(|| panic!("{case}: a copy"));
                let info = engine()
                    .probe(&body)
                    .unwrap_or_else(|e| panic!("{case}: {e}"));
                assert_eq!(info.format, codec.name(), "{case}");
                assert_eq!(rendered.media_type, codec.format().media_type, "{case}");
                assert_eq!(
                    (info.width, info.height),
                    (rendered.width, rendered.height),
                    "{case}"
                );
                shown(&body);
            }
        }
    }
}

#[test]
fn all_eight_orientations_become_the_same_upright_image() {
    let upright = shown(&body(&sample("jpeg/orientation-1.jpg"), "fit:120x120,q:95"));
    for exif in 2..=8 {
        let bytes = sample(&format!("jpeg/orientation-{exif}.jpg"));
        let turned = body(&bytes, "fit:120x120,q:95");
        let off = difference(&shown(&turned), &upright);
        assert!(off < 3.0, "orientation {exif} is {off} levels off");
    }
}

#[test]
fn a_image_says_how_it_becomes_upright_where_it_is_left_as_it_was_stored() {
    for exif in 1..=8 {
        let bytes = sample(&format!("jpeg/orientation-{exif}.jpg"));
        let info = |text| engine().probe(&body(&bytes, text)).expect("an image");
        assert_eq!(
            info("fit:100x100").orientation,
            Orientation::default(),
            "{exif}"
        );
        assert_eq!(
            info("stored,fit:100x100").orientation,
            Orientation::from_exif(exif),
            "{exif}: left to the viewer"
        );
        assert!(!info("metadata:none,fit:100x100").metadata, "{exif}");
    }
}

#[test]
fn a_flip_or_turn_of_an_odd_side_keeps_thinned_chroma_in_its_place() {
    // Blocks of colours, whose edges a chroma shift of half a pixel would blur.
    let chart = "exact:41x29,as:png";
    let png = body(&sample("png/rgb.png"), chart);
    for chroma in ["420", "422"] {
        let jpeg = body(&png, &format!("as:jpeg,q:95,chroma:{chroma}"));
        let straight = body(&jpeg, "as:png");
        for turn in [
            "flip:h",
            "flip:v",
            "flip:hv",
            "turn:90",
            "turn:270",
            "flip:h,turn:90",
        ] {
            let once = shown(&body(&jpeg, &format!("{turn},as:png")));
            let twice = shown(&body(&straight, &format!("{turn},as:png")));
            assert_eq!(once, twice, "{chroma} {turn}");
        }
    }
}

#[test]
fn profiles_stay_only_where_they_say_more_than_srgb() {
    for (name, unsaid) in [
        ("jpeg/icc-srgb.jpg", Space::UNSPECIFIED),
        ("png/icc-adobe-rgb.png", Space::DISPLAY_P3),
        ("webp/icc-adobe-rgb.webp", Space::DISPLAY_P3),
    ] {
        let bytes = sample(name);
        let space = |text: &str| engine().probe(&body(&bytes, text)).expect("an image").space;
        for geometry in ["fit:100x100", "fit:100x100,canvas:100x100:ffffff"] {
            assert!(space(geometry).is_as(unsaid), "{name}");
        }
        assert!(
            space("fit:100x100,profile:p3").is_as(Space::DISPLAY_P3),
            "{name}"
        );
        assert!(space("fit:100x100,profile:keep").profiled, "{name}");
        for plain in ["srgb", "drop"] {
            let text = format!("fit:100x100,profile:{plain}");
            assert_eq!(space(&text), Space::UNSPECIFIED, "{name}");
        }
    }
}

#[test]
fn jpeg_keeps_its_own_quality_and_thinning() {
    let bytes = sample("jpeg/q55.jpg");
    let info = engine()
        .probe(&body(&bytes, "fit:100x100"))
        .expect("an image");
    assert_eq!(info.quality, Some(55));
    for name in ["420", "422", "440", "444", "411"] {
        let bytes = sample(&format!("jpeg/{name}.jpg"));
        let model = |bytes: &[u8]| engine().probe(bytes).expect("an image").model;
        assert_eq!(model(&body(&bytes, "fit:100x100")), model(&bytes), "{name}");
    }
}

#[test]
fn cmyk_stays_or_becomes_srgb_as_asked() {
    for name in ["jpeg/cmyk.jpg", "jpeg/ycck.jpg"] {
        let bytes = sample(name);
        let model = |text| engine().probe(&body(&bytes, text)).expect("an image").model;
        assert_eq!(model("fit:100x100,profile:keep"), Model::Cmyk, "{name}");
        assert!(
            matches!(model("fit:100x100"), Model::YCbCr { .. }),
            "{name}"
        );
        assert_eq!(model("fit:100x100,as:png"), Model::Rgb, "{name}");
    }
}

#[test]
fn no_jpeg_visits_rgb_on_its_way_to_jpeg_or_webp() {
    let stays = "exact:90x70,orient,turn:90,canvas:100x100:ffffff,blur:0x1,border:2x2:ff0000,q:80";
    for path in samples("jpeg") {
        let bytes = read(&path);
        let info = engine().probe(&bytes).expect("an image");
        if !matches!(info.model, Model::YCbCr { .. }) {
            continue;
        }
        for format in ["jpeg", "webp"] {
            let plan = plan(&bytes, &format!("{stays},as:{format}"));
            assert!(
                !plan.to_string().contains("rgb"),
                "{}: {plan}",
                path.display()
            );
            let rule = plan
                .rules()
                .iter()
                .find(|rule| rule.name == "stay_in_planes");
            assert!(rule.is_some(), "{}: {plan}", path.display());
        }
    }
}

#[test]
fn shrinking_on_load_is_as_good_as_decoding_in_full() {
    for path in samples("photos") {
        let bytes = read(&path);
        for side in [100, 250, 600] {
            let recipe = recipe(&format!("fit:{side}x{side},as:png"));
            let frame = |engine: Engine| {
                let plan = engine.plan(&recipe, &bytes).expect("a plan");
                let frame = engine.render_frame(&plan, Run::of(&bytes));
                frame.expect("a frame")
            };
            let shrunk = frame(engine());
            let full = frame(engine().with_headroom(f64::INFINITY));
            let off = difference(&shrunk, &full);
            assert!(off < 2.5, "{} at {side}: {off} levels off", path.display());
        }
    }
}

#[test]
fn broken_samples_are_the_sources_fault() {
    for path in samples("broken") {
        let bytes = read(&path);
        let result = engine()
            .plan(&recipe("fit:50x50,as:jpeg"), &bytes)
            .and_then(|plan| engine().run(&plan, Run::of(&bytes)));
        match result {
            Err(
                Error::Recipe { .. }
                | Error::Interrupted
                | Error::Crashed { .. }
                | Error::Internal(_),
            ) => panic!("{}: not the source's fault", path.display()),
            Err(_) => {}
            // VP8 has no checksum, so some changes yield another valid image.
            Ok(_) if path.ends_with("corrupt.webp") => {}
            Ok(_) => panic!("{} was taken for whole", path.display()),
        }
    }
}

#[test]
fn bombs_are_refused_by_their_headers() {
    for name in ["bomb.jpg", "bomb.png", "bomb.gif"] {
        let error = engine().plan(&recipe("fit:50x50"), &sample(&format!("broken/{name}")));
        assert!(
            matches!(error, Err(Error::Limit { .. })),
            "{name}: {error:?}"
        );
    }
}
