//! JPEG XL, through the trait.

mod support;

use std::fs;
use std::path::Path;

use andon_pixels::{
    Alone, Codec, Decode, Error, Frame, Limits, Never, Plane, Scale, Scales, Timed,
};
use serde_json::Value;
use support::{
    After, assert_keeps_promises, assert_prefixes_are_refused, assert_refused_for_its_size,
    assert_survives_damage, decode, decode_at, psnr,
};

fn jxl() -> &'static dyn Codec {
    support::codec("jxl")
}

/// A sample of this format, or a broken one.
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

/// Every frame of a picture that moves.
fn frames(codec: &dyn Codec, file: &[u8]) -> Vec<Timed> {
    let limits = Limits::default();
    let info = codec.probe(file).expect("a header");
    let mut reader = codec.open(file, &info, &how(&limits)).expect("frames");
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

// ---- what is read ----

#[test]
fn every_sample_is_what_its_header_promises() {
    for name in SAMPLES {
        let file = sample(&format!("jxl/{name}.jxl"));
        let info = jxl().probe(&file).expect(name);
        let image = decode(jxl(), &file).expect(name);
        assert_keeps_promises(&info, &image);
        assert_eq!(image.frames[0].colour.space, info.space, "{name}");
    }
}

#[test]
fn lossless_pictures_are_those_that_they_were_made_of() {
    for name in ["gray-16-bit", "icc-adobe-rgb"] {
        let ours = decode(jxl(), &sample(&format!("jxl/{name}.jxl"))).expect(name);
        let png = decode(support::codec("png"), &sample(&format!("png/{name}.png"))).expect(name);
        assert_eq!(ours.frames[0].planes, png.frames[0].planes, "{name}");
        assert_eq!(ours.metadata.icc, png.metadata.icc, "{name}");
    }
}

#[test]
fn lossy_pictures_are_near_those_that_they_were_made_of() {
    for (name, png) in [("lossy", "rgb"), ("alpha-progressive", "alpha")] {
        let ours = decode(jxl(), &sample(&format!("jxl/{name}.jxl"))).expect(name);
        let png = decode(support::codec("png"), &sample(&format!("png/{png}.png"))).expect(name);
        for (a, b) in ours.frames[0].planes.iter().zip(&png.frames[0].planes) {
            assert!(
                name != "lossy" || psnr(a, b) > 30.0,
                "{name}: {}",
                psnr(a, b)
            );
        }
        assert_eq!(
            ours.frames[0].alpha.is_some(),
            png.frames[0].alpha.is_some()
        );
    }
}

#[test]
fn the_header_turns_the_picture_and_exif_does_not() {
    let file = sample("jxl/of-jpeg-orientation-6.jxl");
    let info = jxl().probe(&file).expect("a header");
    assert_eq!((info.width, info.height), (240, 160));
    assert!(info.orientation.is_upright());
    let image = decode(jxl(), &file).expect("a picture");
    assert!(image.metadata.exif.is_some(), "it was unpacked from Brotli");
    let upright =
        decode(support::codec("jpeg"), &sample("jpeg/orientation-1.jpg")).expect("a JPEG");
    let luma = rgba(&image.frames[0]);
    let y = upright.frames[0].planes[0].as_u8().expect("8 bits");
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

// ---- what is refused ----

#[test]
fn a_tiny_file_of_huge_dimensions_is_refused() {
    assert_refused_for_its_size(jxl(), &sample("broken/bomb.jxl"));
}

#[test]
fn no_prefix_passes_for_the_picture() {
    for name in ["16-bit", "of-jpeg-orientation-6"] {
        let file = sample(&format!("jxl/{name}.jxl"));
        // The last bytes may be padding; metadata may stand behind the pixels.
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
fn what_follows_the_picture_does_not_belong_to_it() {
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
fn invalid_files_of_the_conformance_set_are_refused_or_are_pictures() {
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

/// The rows of which this kind of answer is expected, each with its file. (`./dev conformance` judges pixels.)
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

/// As rows of RGBA in 8 bits.
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
