//! AVIF, through the codec trait: planes survive writing and reading, libavif's files are read as libavif's decoder
//! reads them, and damaged files are neither accepted nor crash the decoder.

mod support;

use std::path::Path;

use andon_pixels::{
    Codec, Colour, Depth, Encode, Error, Image, Info, Limits, Matrix, Metadata, Model, Never,
    Orientation, Plane, Range, Scale, Space, Subsampling,
};
use support::{
    assert_keeps_promises, assert_prefixes_are_refused, assert_survives_damage, decode, decode_at,
    decode_within, encode, metadata, psnr, test_image,
};

fn avif() -> &'static dyn Codec {
    support::codec("avif")
}

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/avif");
    std::fs::read(folder.join(name)).expect("a sample")
}

fn quality(quality: u8) -> Encode {
    Encode {
        quality: Some(quality),
        ..Encode::default()
    }
}

fn lossless() -> Encode {
    Encode {
        lossless: true,
        ..Encode::default()
    }
}

const C422: Subsampling = Subsampling { h: 2, v: 1 };

/// Returns every colour model that AV1 can store.
fn models() -> Vec<Model> {
    let mut models = vec![Model::Gray];
    for sub in [Subsampling::NONE, C422, Subsampling::C420] {
        models.push(Model::ycbcr(sub));
    }
    models.push(Model::YCbCr {
        sub: Subsampling::C420,
        range: Range::Limited,
        matrix: Matrix::Bt709,
    });
    models.push(Model::YCbCr {
        sub: Subsampling::NONE,
        range: Range::Full,
        matrix: Matrix::Identity,
    });
    models
}

fn written(image: &Image, how: &Encode) -> (Info, Image) {
    let file = encode(avif(), image, how);
    let info = avif().probe(&file).expect("our own file");
    let back = decode(avif(), &file).expect("our own file");
    assert_keeps_promises(&info, &back);
    (info, back)
}

/// Returns the number of samples that differ between two images: in 8-bit planes by any amount, in 16-bit planes by
/// more than `most`, the tolerance for the rounding of code values.
fn differences(one: &Image, other: &Image, most: u16) -> usize {
    let planes = |image: &Image| {
        let frame = &image.frame;
        let planes = frame.planes.iter().chain(&frame.alpha).cloned();
        planes.collect::<Vec<_>>()
    };
    let pairs = planes(one).into_iter().zip(planes(other));
    pairs
        .map(|pair| match pair {
            (Plane::U8(a), Plane::U8(b)) => a
                .samples()
                .iter()
                .zip(b.samples())
                .filter(|(a, b)| a != b)
                .count(),
            (Plane::U16(a), Plane::U16(b)) => {
                let pairs = a.samples().iter().zip(b.samples());
                pairs.filter(|(a, b)| a.abs_diff(**b) > most).count()
            }
            _ => usize::MAX,
        })
        .sum()
}

// ---- round trips ----

#[test]
fn lossless_comes_back_to_the_bit_in_every_model() {
    for model in models() {
        for (width, height) in [(1, 1), (17, 15), (64, 33)] {
            for alpha in [false, true] {
                let image = test_image(model, Depth::U8, alpha, width, height);
                let (_, back) = written(&image, &lossless());
                assert_eq!(back.frame.model, model);
                assert_eq!(
                    differences(&image, &back, 0),
                    0,
                    "{model:?} {width}×{height}"
                );
            }
        }
    }
}

#[test]
fn ten_and_twelve_bits_come_back_as_far_as_they_reach() {
    for depth in [Depth::U10, Depth::U12] {
        let mut image = test_image(Model::ycbcr(Subsampling::C420), Depth::U16, true, 40, 30);
        image.frame = image.frame.clone().with_depth(depth).unwrap();
        let (info, back) = written(&image, &lossless());
        assert_eq!(info.depth, depth);
        let step = u16::MAX >> depth.bits();
        assert_eq!(differences(&image, &back, step), 0);
    }
}

#[test]
fn lossy_planes_come_back_close_and_closer_with_more_quality() {
    for model in models() {
        let image = test_image(model, Depth::U8, false, 96, 64);
        let size = |of| encode(avif(), &image, &quality(of)).len();
        assert!(size(30) < size(70) && size(70) < size(95), "{model:?}");
        let (_, back) = written(&image, &quality(95));
        let close = psnr(&image.frame.planes[0], &back.frame.planes[0]);
        assert!(close > 30.0, "{close} {model:?}");
    }
}

#[test]
fn a_smooth_photo_is_not_taken_for_a_drawing() {
    // Without the setting for smooth photos, its file would be three times as large as this JPEG.
    let jpeg = support::codec("jpeg");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/large");
    let file = std::fs::read(folder.join("extreme-desert-hike.jpg")).expect("a sample");
    let info = jpeg.probe(&file).expect("a header");
    let limits = Limits::default();
    let mut image = decode_at(jpeg, &file, &info, Scale::EIGHTH, &limits, &Never).expect("JPEG");
    image.metadata = Metadata::default();
    let [ours, theirs] = [avif(), jpeg].map(|codec| encode(codec, &image, &quality(60)).len());
    assert!(ours < theirs, "{ours} B, as a JPEG {theirs} B");
}

#[test]
fn an_image_keeps_its_space_and_its_metadata() {
    let mut image = test_image(Model::ycbcr(Subsampling::C420), Depth::U8, false, 20, 20);
    image.frame.colour = Colour::from(Space::DISPLAY_P3);
    let (info, _) = written(&image, &quality(50));
    assert_eq!(info.space, Space::DISPLAY_P3);
    assert!(!info.metadata);

    let Metadata { icc, exif, .. } = metadata();
    image.metadata.icc = icc;
    image.metadata.exif = exif;
    image.metadata.xmp = Some(b"<x:xmpmeta/>".to_vec());
    image.frame.colour = Colour::from(Space::PROFILED);
    let (info, back) = written(&image, &quality(50));
    assert!(info.metadata && info.space.profiled);
    assert_eq!(back.metadata.icc, image.metadata.icc);
    assert_eq!(back.metadata.xmp, image.metadata.xmp);
    // The container stores the orientation from EXIF, and readers use only the container's.
    assert_eq!(info.orientation, Orientation::from_exif(6));
    let exif = back.metadata.exif.expect("EXIF");
    assert_eq!(exif.len(), image.metadata.exif.expect("EXIF").len());
}

#[test]
fn every_orientation_is_said_by_the_container() {
    for orientation in 1..=8 {
        let mut image = test_image(Model::Gray, Depth::U8, false, 12, 20);
        let mut exif = metadata().exif.expect("EXIF");
        let at = exif
            .windows(2)
            .rposition(|pair| pair == [0, 6])
            .expect("the value");
        exif[at + 1] = orientation;
        image.metadata.exif = Some(exif);
        let (info, _) = written(&image, &quality(50));
        assert_eq!(info.orientation, Orientation::from_exif(orientation.into()));
    }
}

/// Runs as a child of the test below, without other tests in the process, and prints the maximum number of threads.
#[test]
fn threads_are_counted() {
    if std::env::var(COUNTS_THREADS).is_err() {
        return;
    }
    let threads = || std::fs::read_dir("/proc/self/task").expect("Linux").count();
    let image = test_image(Model::ycbcr(Subsampling::C420), Depth::U8, true, 300, 200);
    let (before, most) = std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            let file = encode(avif(), &image, &quality(50));
            decode(avif(), &file).map(drop)
        });
        let before = threads();
        let mut most = before;
        while !work.is_finished() {
            most = most.max(threads());
        }
        work.join().expect("no panic").expect("our own file");
        (before, most)
    });
    println!("{} more threads", most - before);
}

const COUNTS_THREADS: &str = "ANDON_COUNTS_THREADS";

#[test]
fn neither_encoder_nor_decoder_starts_a_thread() {
    let child = std::process::Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "threads_are_counted", "--nocapture"])
        .env(COUNTS_THREADS, "1")
        .output()
        .expect("a child");
    let told = String::from_utf8_lossy(&child.stdout);
    assert!(told.contains("0 more threads"), "{told}");
}

// ---- files of other encoders ----

#[test]
fn files_of_libavif_are_what_their_headers_say() {
    let full = |sub| Model::ycbcr(sub);
    for (name, model, alpha) in [
        ("420.avif", full(Subsampling::C420), false),
        ("422.avif", full(C422), false),
        ("444-alpha.avif", full(Subsampling::NONE), true),
        ("gray.avif", Model::Gray, false),
        (
            "limited.avif",
            Model::YCbCr {
                sub: Subsampling::C420,
                range: Range::Limited,
                matrix: Matrix::Bt601,
            },
            false,
        ),
    ] {
        let file = sample(name);
        let info = avif().probe(&file).expect(name);
        assert_eq!((info.width, info.height), (241, 161), "{name}");
        assert_eq!((info.model, info.alpha), (model, alpha), "{name}");
        assert_keeps_promises(&info, &decode(avif(), &file).expect(name));
    }
    let turned = avif().probe(&sample("turned.avif")).expect("a header");
    assert_eq!(turned.orientation, Orientation::from_exif(6));
}

// ---- damage ----

#[test]
fn no_prefix_passes_for_an_image() {
    let image = test_image(Model::ycbcr(Subsampling::C420), Depth::U8, true, 24, 18);
    assert_prefixes_are_refused(avif(), &encode(avif(), &image, &quality(40)), 0);
}

#[test]
fn damage_brings_nothing_down() {
    for name in ["420.avif", "444-alpha.avif", "gray.avif"] {
        assert_survives_damage(avif(), &sample(name), 300);
    }
}

#[test]
fn a_size_beyond_the_limits_is_refused_by_the_header() {
    let mut file = sample("420.avif");
    let at = file
        .windows(4)
        .position(|kind| kind == b"ispe")
        .expect("a size")
        + 8;
    file[at..at + 4].copy_from_slice(&60_000_u32.to_be_bytes());
    file[at + 4..at + 8].copy_from_slice(&60_000_u32.to_be_bytes());
    support::assert_refused_for_its_size(avif(), &file);
}

#[test]
fn a_bitstream_larger_than_its_header_says_is_not_decoded() {
    let mut file = sample("420.avif");
    let at = file
        .windows(4)
        .position(|kind| kind == b"ispe")
        .expect("a size")
        + 8;
    file[at..at + 4].copy_from_slice(&64_u32.to_be_bytes());
    file[at + 4..at + 8].copy_from_slice(&64_u32.to_be_bytes());
    assert!(matches!(decode(avif(), &file), Err(Error::Broken { .. })));
}

#[test]
fn what_follows_an_image_does_not_belong_to_it() {
    let file = sample("420.avif");
    let info = avif().probe(&file).expect("a header");
    let limits = Limits::default();
    let how = andon_pixels::Decode {
        scales: andon_pixels::Scales::both(Scale::FULL),
        limits: &limits,
        interrupt: &Never,
        cores: &andon_pixels::Alone,
        keep_metadata: false,
    };
    let longer = [&file[..], b"\0\0\0\x10<html>"].concat();
    assert_eq!(avif().extent(&longer, &info, &how), Ok(file.len()));
    assert!(avif().extent(&file[..file.len() - 1], &info, &how).is_err());
    let small = Limits {
        metadata_bytes: 8,
        ..limits
    };
    assert!(decode_within(avif(), &file, &small).is_ok(), "it has none");
}
