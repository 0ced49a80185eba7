//! JPEG XL, through the codec trait.

use crate::support;
use std::fs;
use std::path::Path;

use crate::support::{
    After, assert_keeps_promises, assert_prefixes_are_refused, assert_refused_for_its_size,
    assert_survives_damage, decode, decode_at, encode, psnr, test_image,
};
use andon_pixels::{
    Alone, Codec, Decode, Depth, Encode, Engine, Error, Frame, Grid, Head, Image, Limits, Metadata,
    Model, Never, Plane, Run, Scale, Scales, Space, Timed,
};
use andon_recipe::Recipe;
use serde_json::Value;

fn jxl() -> &'static dyn Codec {
    support::codec("jxl")
}

/// Reads a file of the folder `samples`.
fn sample(path: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    fs::read(folder.join(path)).expect("a sample")
}

const SAMPLES: [&str; 8] = [
    "16-bit",
    "alpha-progressive",
    "animated",
    "gray-16-bit",
    "icc-adobe-rgb",
    "lossless",
    "lossy",
    "of-jpeg-orientation-6",
];

/// Decodes every frame of an animation.
fn frames(codec: &dyn Codec, file: &[u8]) -> Vec<Timed> {
    let limits = Limits::default();
    let info = codec.probe(file).expect("a header");
    let mut reader = codec
        .animation()
        .expect("the capability")
        .open(file, &info, &how(&limits))
        .expect("frames");
    std::iter::from_fn(|| reader.next().expect("a frame")).collect()
}

fn how(limits: &Limits) -> Decode<'_> {
    Decode {
        scales: Scales::FULL,
        limits,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    }
}

// ---- reading ----

#[test]
fn every_sample_is_what_its_header_promises() {
    for name in SAMPLES {
        let file = sample(&format!("jxl/{name}.jxl"));
        let info = jxl().probe(&file).expect(name);
        let image = decode(jxl(), &file).expect(name);
        assert_keeps_promises(&info, &image);
        assert_eq!(image.frame.colour.space, info.space, "{name}");
    }
}

#[test]
fn lossless_images_are_those_that_they_were_made_of() {
    for name in ["gray-16-bit", "icc-adobe-rgb"] {
        let ours = decode(jxl(), &sample(&format!("jxl/{name}.jxl"))).expect(name);
        let png = decode(support::codec("png"), &sample(&format!("png/{name}.png"))).expect(name);
        assert_eq!(ours.frame.planes, png.frame.planes, "{name}");
        assert_eq!(ours.metadata.icc, png.metadata.icc, "{name}");
    }
}

#[test]
fn lossy_images_are_near_those_that_they_were_made_of() {
    for (name, png) in [("lossy", "rgb"), ("alpha-progressive", "alpha")] {
        let ours = decode(jxl(), &sample(&format!("jxl/{name}.jxl"))).expect(name);
        let png = decode(support::codec("png"), &sample(&format!("png/{png}.png"))).expect(name);
        for (a, b) in ours.frame.planes.iter().zip(&png.frame.planes) {
            assert!(
                name != "lossy" || psnr(a, b) > 30.0,
                "{name}: {}",
                psnr(a, b)
            );
        }
        assert_eq!(ours.frame.alpha.is_some(), png.frame.alpha.is_some());
    }
}

#[test]
fn the_header_turns_the_image_and_exif_does_not() {
    let file = sample("jxl/of-jpeg-orientation-6.jxl");
    let info = jxl().probe(&file).expect("a header");
    assert_eq!((info.width, info.height), (240, 160));
    assert!(info.orientation.is_upright());
    let image = decode(jxl(), &file).expect("an image");
    assert!(image.metadata.exif.is_some(), "it was unpacked from Brotli");
    let upright =
        decode(support::codec("jpeg"), &sample("jpeg/orientation-1.jpg")).expect("a JPEG");
    let luma = rgba(&image.frame);
    let y = upright.frame.planes[0].as_u8().expect("8 bits");
    let off: f64 = luma
        .iter()
        .zip(y.samples())
        .map(|([r, g, b, _], y)| (0.299 * r + 0.587 * g + 0.114 * b - f64::from(*y)).abs())
        .sum();
    assert!(
        off / (luma.len() as f64) < 4.0,
        "{}",
        off / luma.len() as f64
    );
}

#[test]
fn an_animation_shows_its_frames_for_as_long_as_the_gif_it_was_made_of() {
    let (jxl_file, gif_file) = (sample("jxl/animated.jxl"), sample("gif/animated.gif"));
    let gif = support::codec("gif");
    let (info, other) = (
        jxl().probe(&jxl_file).expect("a header"),
        gif.probe(&gif_file).expect("a header"),
    );
    assert_eq!((info.frames, other.frames), (8, 8));
    let (ours, theirs) = (
        info.animation.expect("it moves"),
        other.animation.expect("it moves"),
    );
    assert_eq!(
        (ours.plays, ours.duration_ms),
        (theirs.plays, theirs.duration_ms)
    );
    let (ours, theirs) = (frames(jxl(), &jxl_file), frames(gif, &gif_file));
    assert_eq!(ours.len(), 8);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!((ours.delay.seconds() - theirs.delay.seconds()).abs() < 1e-6);
        for (a, b) in ours.frame.planes.iter().zip(&theirs.frame.planes) {
            assert!(psnr(a, b) > 25.0, "{}", psnr(a, b));
        }
    }
}

// ---- round trips ----

fn lossless(depth: Option<Depth>) -> Encode {
    Encode {
        lossless: true,
        depth,
        ..Encode::default()
    }
}

#[test]
fn lossless_comes_back_to_the_bit() {
    for (width, height) in [(1, 1), (2, 3), (33, 64), (300, 7), (161, 299)] {
        for model in [Model::Gray, Model::Rgb] {
            for (depth, alpha) in [(Depth::U8, false), (Depth::U8, true), (Depth::U16, true)] {
                for effort in [None, Some(0), Some(9)] {
                    let how = Encode {
                        effort,
                        ..lossless(None)
                    };
                    let image = test_image(model, depth, alpha, width, height);
                    let file = encode(jxl(), &image, &how);
                    let info = jxl().probe(&file).expect("our own file");
                    assert!(info.lossless);
                    let back = decode(jxl(), &file).expect("our own file");
                    let (back, image) = (&back.frame, &image.frame);
                    assert_eq!(back.alpha, image.alpha);
                    assert_eq!(back.planes, image.planes, "{model:?} {depth:?} {effort:?}");
                }
            }
        }
    }
}

#[test]
fn samples_of_ten_and_twelve_bits_come_back() {
    for depth in [Depth::U10, Depth::U12] {
        let steps = (1_u32 << depth.bits()) - 1;
        let samples = (0..64 * 64).map(|n| ((n % (steps + 1)) * 65_535 + steps / 2) / steps);
        let plane =
            Plane::U16(Grid::from_samples(64, 64, samples.map(|v| v as u16).collect()).unwrap());
        let frame = Frame::new(Model::Gray, 64, 64, vec![plane], None)
            .unwrap()
            .with_depth(depth)
            .unwrap();
        let file = encode(jxl(), &Image::still(frame.clone()), &lossless(Some(depth)));
        let back = decode(jxl(), &file).expect("our own file");
        assert_eq!(back.frame.depth(), depth);
        let samples = |frame: &Frame| match &frame.planes[0] {
            Plane::U16(grid) => grid.samples().to_vec(),
            Plane::U8(_) => panic!("8 bits"),
        };
        // The decoder rounds halves in the other direction.
        let mut pairs = samples(&back.frame).into_iter().zip(samples(&frame));
        assert!(pairs.all(|(a, b)| a.abs_diff(b) <= 1), "{depth:?}");
    }
}

#[test]
fn lossy_images_come_back_close_and_closer_at_higher_quality() {
    let png = decode(support::codec("png"), &sample("png/rgb.png")).expect("a PNG");
    let mut before = (0.0, 0);
    for quality in [10, 30, 60, 80, 90, 100] {
        let how = Encode {
            quality: Some(quality),
            ..Encode::default()
        };
        let file = encode(jxl(), &Image::still(png.frame.clone()), &how);
        let back = decode(jxl(), &file).expect("our own file");
        let near = psnr(&png.frame.planes[1], &back.frame.planes[1]);
        assert!(
            near > before.0 && file.len() > before.1,
            "{quality}: {near} dB"
        );
        before = (near, file.len());
    }
    assert!(before.0 > 40.0, "{before:?}");
}

#[test]
fn alpha_of_lossy_images_loses_nothing() {
    let image = test_image(Model::Rgb, Depth::U8, true, 90, 70);
    let back = decode(jxl(), &encode(jxl(), &image, &Encode::default())).expect("our own file");
    assert_eq!(back.frame.alpha, image.frame.alpha);
}

#[test]
fn profiles_are_kept_and_spaces_are_named() {
    let png = decode(support::codec("png"), &sample("png/icc-adobe-rgb.png")).expect("a PNG");
    let exif = support::metadata().exif;
    let image = Image {
        metadata: Metadata {
            icc: png.metadata.icc.clone(),
            exif: exif.clone(),
            ..Metadata::default()
        },
        ..Image::still(png.frame)
    };
    let back = decode(jxl(), &encode(jxl(), &image, &lossless(None))).expect("our own file");
    assert_eq!(
        (back.metadata.icc, back.metadata.exif),
        (image.metadata.icc, exif)
    );
    for space in [Space::SRGB, Space::DISPLAY_P3] {
        for how in [lossless(None), Encode::default()] {
            let frame = test_image(Model::Rgb, Depth::U8, false, 20, 10)
                .frame
                .clone();
            let file = encode(jxl(), &Image::still(frame.with_colour(space)), &how);
            assert_eq!(jxl().probe(&file).expect("our own file").space, space);
        }
    }
}

#[test]
fn an_animation_comes_back_frame_by_frame() {
    let gif = support::codec("gif");
    for name in ["animated", "transparent", "offset"] {
        let file = sample(&format!("gif/{name}.gif"));
        let info = gif.probe(&file).expect("a header");
        let Some(animation) = info.animation else {
            continue;
        };
        let shown = frames(gif, &file);
        let head = Head {
            width: info.width,
            height: info.height,
            traits: shown[0].frame.traits(),
            plays: animation.plays,
            metadata: Metadata::default(),
        };
        let mut writer = jxl()
            .encoder()
            .expect("an encoder")
            .animation()
            .expect("animations")
            .writer(&head, &lossless(None), &Never)
            .expect("a writer");
        for timed in &shown {
            writer.push(timed.clone()).expect("a frame");
        }
        let file = writer.finish().expect("a file");
        let back = frames(jxl(), &file);
        assert_eq!(back.len(), shown.len());
        let told = jxl()
            .probe(&file)
            .expect("our own file")
            .animation
            .expect("it moves");
        assert_eq!(
            (told.plays, told.duration_ms),
            (animation.plays, animation.duration_ms)
        );
        for (a, b) in back.iter().zip(&shown) {
            assert_eq!(a.frame.planes, b.frame.planes);
            assert!((a.delay.seconds() - b.delay.seconds()).abs() < 1e-3);
        }
    }
}

#[test]
fn an_interrupt_is_heard_whenever_libjxl_asks_for_memory() {
    let image = test_image(Model::Rgb, Depth::U8, true, 70, 50);
    let mut heard = 0;
    for looks in 0..400 {
        match jxl().encoder().expect("an encoder").encode(
            &image,
            &Encode::default(),
            &After::looks(looks),
        ) {
            Err(Error::Interrupted) => heard += 1,
            Err(error) => panic!("{error} after {looks}"),
            Ok(_) => break,
        }
    }
    assert!(heard > 5, "{heard}");
}

/// Returns the plan and the result of a recipe for a file.
fn rendered(file: &[u8], recipe: &str) -> (String, Vec<u8>) {
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    let plan = engine.plan(&recipe, file).expect("a plan");
    let made = engine.run(&plan, Run::of(file)).expect("a result");
    (plan.to_string(), made.bytes(file).to_vec())
}

#[test]
fn a_jpeg_becomes_a_smaller_jpeg_xl_and_comes_back_byte_for_byte() {
    let mut recoded = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg");
    for entry in fs::read_dir(folder).expect("samples").flatten() {
        let jpeg = fs::read(entry.path()).expect("a sample");
        let (plan, file) = rendered(&jpeg, "metadata:all,profile:keep,as:jxl");
        assert!(jxl().sniff(&file), "{:?}", entry.path());
        if plan != "recode jpeg to jxl" {
            continue;
        }
        recoded += 1;
        assert!(
            file.len() < jpeg.len() || jpeg.len() < 1000,
            "{:?}",
            entry.path()
        );
        let (plan, back) = rendered(&file, "metadata:all,profile:keep,as:jpeg");
        // A JPEG that libjxl rejects is decoded and encoded instead.
        if plan == "recode jxl to jpeg" {
            assert!(back == jpeg, "{:?}", entry.path());
        } else {
            recoded -= 1;
        }
    }
    assert!(recoded > 20, "{recoded}");
}

#[test]
fn a_request_for_more_than_the_format_gets_a_new_image() {
    let jpeg = sample("jpeg/420.jpg");
    for recipe in ["as:jxl,q:80", "fit:100x100,as:jxl", "as:jxl,depth:8"] {
        let (plan, _) = rendered(&jpeg, recipe);
        assert!(plan.starts_with("decode jpeg"), "{recipe}: {plan}");
    }
    let (plan, _) = rendered(&sample("jxl/lossy.jxl"), "as:jpeg");
    assert!(plan.starts_with("decode jxl"), "{plan}");
}

#[test]
fn damaged_jpeg_xl_gives_no_jpeg_back_and_does_no_harm() {
    let file = sample("jxl/of-jpeg-orientation-6.jxl");
    let limits = Limits::default();
    let mut dice = support::Dice::new(7);
    for _ in 0..60 {
        let mut damaged = file.clone();
        let at = dice.below(damaged.len());
        damaged[at] ^= 1 << dice.below(8);
        let Ok(info) = jxl().probe(&damaged) else {
            continue;
        };
        let result =
            jxl()
                .recoder()
                .expect("the capability")
                .recode(&damaged, &info, "jpeg", &how(&limits));
        assert!(!matches!(result, Err(Error::Internal(_))), "{result:?}");
    }
}

// ---- rejected files ----

#[test]
fn a_tiny_file_of_huge_dimensions_is_refused() {
    assert_refused_for_its_size(jxl(), &sample("broken/bomb.jxl"));
}

#[test]
fn no_prefix_passes_for_the_image() {
    for name in ["16-bit", "of-jpeg-orientation-6"] {
        let file = sample(&format!("jxl/{name}.jxl"));
        // The last bytes may be padding, and metadata may follow the pixels.
        let forgiven = if name == "16-bit" { 4 } else { file.len() };
        assert_prefixes_are_refused(jxl(), &file, forgiven);
    }
    assert!(decode(jxl(), &sample("broken/truncated.jxl")).is_err());
}

#[test]
fn damage_brings_no_decoder_down() {
    for name in ["16-bit", "lossy", "gray-16-bit", "of-jpeg-orientation-6"] {
        assert_survives_damage(jxl(), &sample(&format!("jxl/{name}.jxl")), 60);
    }
}

#[test]
fn an_interrupt_is_heard_before_every_group_of_pixels() {
    let file = sample("jxl/lossy.jxl");
    let info = jxl().probe(&file).expect("a header");
    for looks in 0..3 {
        let after = After::looks(looks);
        let result = decode_at(jxl(), &file, &info, Scale::FULL, &Limits::default(), &after);
        assert_eq!(result, Err(Error::Interrupted), "after {looks}");
    }
}

#[test]
fn what_follows_the_image_does_not_belong_to_it() {
    let limits = Limits::default();
    for name in SAMPLES {
        let file = sample(&format!("jxl/{name}.jxl"));
        let info = jxl().probe(&file).expect(name);
        let how = how(&limits);
        for tail in [&b""[..], b"\0\0\0\0\0\0\0\0\0\0\0\0", b"GIF89a<script>"] {
            let with = [&file, tail].concat();
            assert_eq!(jxl().extent(&with, &info, &how), Ok(file.len()), "{name}");
        }
        assert!(jxl().extent(&file[..file.len() / 2], &info, &how).is_err());
    }
}

#[test]
fn invalid_files_of_the_conformance_set_are_refused_or_are_images() {
    for (path, file, row) in rows("refuse").into_iter().chain(rows("refuse_or_picture")) {
        let result = decode(jxl(), &file);
        if row["expected"]["refuse"] == true {
            assert!(result.is_err(), "{path}");
        }
        assert!(
            !matches!(result, Err(Error::Internal(_))),
            "{path}: {result:?}"
        );
    }
}

// ---- the conformance set ----

/// Returns the JPEG XL files of the conformance set for which its manifest expects a result of this kind, such as
/// `refuse`: for each, its path, its bytes and its row of the manifest. Empty if the set is missing.
/// (`./dev conformance` compares pixels.)
fn rows(kind: &str) -> Vec<(String, Vec<u8>, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let Ok(manifest) = fs::read_to_string(folder.join("manifest.jsonl")) else {
        eprintln!("skipped: there is no ../shared/conformance beside the repository");
        return Vec::new();
    };
    let rows = manifest
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).expect("a row"));
    let ours = rows.filter(|row| row["format"] == "jxl" && !row["expected"][kind].is_null());
    ours.map(|row| {
        let path = row["path"].as_str().expect("a path").to_owned();
        let file = fs::read(folder.join(&path)).expect("a file");
        (path, file, row)
    })
    .collect()
}

/// Returns the pixels of a frame as RGBA in 8 bits.
fn rgba(frame: &Frame) -> Vec<[f64; 4]> {
    let samples = |plane: &Plane| -> Vec<f64> {
        match plane {
            Plane::U8(grid) => grid.samples().iter().map(|&v| f64::from(v)).collect(),
            Plane::U16(grid) => {
                let eight = |v: u16| (f64::from(v) / 257.0).round();
                grid.samples().iter().map(|&v| eight(v)).collect()
            }
        }
    };
    let planes: Vec<Vec<f64>> = frame.planes.iter().map(samples).collect();
    let alpha = frame.alpha.as_ref().map(samples);
    let plane = |channel: usize| &planes[channel.min(planes.len() - 1)];
    let pixel = |at: usize| {
        let alpha = alpha.as_ref().map_or(255.0, |alpha| alpha[at]);
        [plane(0)[at], plane(1)[at], plane(2)[at], alpha]
    };
    (0..planes[0].len()).map(pixel).collect()
}
