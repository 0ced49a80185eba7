//! Small files that would cause much work are rejected before it begins, or cause no more work than planned. Work is
//! measured by the number of interrupt checks, which decoders make for each unit of work, and not by time.

use std::sync::atomic::{AtomicU32, Ordering};

use andon_codecs::ALL;
use andon_pixels::{
    Alone, Codec, Decode, Depth, Encode, Engine, Error, Frame, Grid, Image, Interrupt, Limits,
    Model, Never, Plane, Result, Run, Scales,
};

use crate::support::hostile::{avif, bounded, jpeg, refused, tiff};
use crate::support::{codec, encode, test_image};

const SIZE: (u32, u32) = (64, 64);

/// Returns an AVIF with one item.
fn avif_of_one() -> Vec<u8> {
    let codec = codec("avif");
    let image = test_image(Model::Gray, Depth::U8, false, SIZE.0, SIZE.1);
    let how = Encode::default();
    let accepted = codec
        .encoder()
        .expect("an encoder")
        .accepts(image.frame.traits(), &how);
    assert_eq!(accepted.model, Model::Gray);
    encode(codec, &image, &how)
}

/// An interrupt that counts its checks, and fires after a maximum.
struct Counting {
    asked: AtomicU32,
    most: u32,
}

impl Counting {
    fn up_to(most: u32) -> Self {
        Self {
            asked: AtomicU32::new(0),
            most,
        }
    }
}

impl Interrupt for Counting {
    fn interrupted(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.most
    }
}

fn reader(name: &str) -> &'static dyn Codec {
    codec(match name.split(',').next() {
        Some("apng") => "png",
        Some(format) => format,
        None => name,
    })
}

fn how<'a>(limits: &'a Limits, interrupt: &'a dyn Interrupt) -> Decode<'a> {
    Decode {
        scales: Scales::FULL,
        limits,
        interrupt,
        cores: &Alone,
        keep_metadata: true,
    }
}

fn decode(name: &str, file: &[u8], interrupt: &dyn Interrupt) -> Result<Image> {
    let codec = reader(name);
    let info = codec.probe(file)?;
    codec.decode(file, &info, &how(&Limits::default(), interrupt))
}

/// Maximum number of interrupt checks before a rejection, which has to precede the work.
const FEW: u32 = 200;

#[test]
fn what_asks_for_too_much_is_refused_before_the_work_begins() {
    let engine = Engine::new(ALL, Limits::default());
    for (name, file) in refused(&avif_of_one(), SIZE) {
        assert!(reader(name).sniff(&file), "{name}");
        let interrupt = Counting::up_to(FEW);
        let moving = "as:webp,effort:0"
            .parse::<andon_recipe::Recipe>()
            .expect("a recipe");
        let refusal = match engine.plan(&moving, &file) {
            Err(refusal) => refusal,
            Ok(plan) => {
                let run = Run {
                    interrupt: &interrupt,
                    ..Run::of(&file)
                };
                engine.run(&plan, run).map(drop).expect_err(name)
            }
        };
        assert!(
            matches!(
                refusal,
                Error::Limit { .. } | Error::Broken { .. } | Error::Unsupported { .. }
            ),
            "{name}: {refusal:?}"
        );
    }
}

#[test]
fn an_avif_of_many_frames_is_refused_by_its_header() {
    for (name, file) in refused(&avif_of_one(), SIZE) {
        if name.starts_with("avif") {
            let refusal = codec("avif").probe(&file).expect_err(name);
            assert!(
                matches!(refusal, Error::Broken { .. }),
                "{name}: {refusal:?}"
            );
        }
    }
}

#[test]
fn what_is_shared_is_read_once() {
    for (name, file) in bounded(&avif_of_one(), SIZE) {
        let interrupt = Counting::up_to(200_000);
        decode(name, &file, &interrupt).unwrap_or_else(|error| panic!("{name}: {error}"));
        let info = reader(name).probe(&file).expect(name);
        let extent = reader(name).extent(&file, &info, &how(&Limits::default(), &interrupt));
        assert!(!matches!(extent, Err(Error::Interrupted)), "{name}");
    }
    // One decoder for ten thousand tiles: it checks the interrupt before each unit of one bitstream.
    let one = avif::AvifImage::of(&avif_of_one());
    let interrupt = Counting::up_to(20);
    decode("avif", &one.grid_of_one((100, 100), SIZE), &interrupt).expect("an image");
    // One JPEG for 64 strips; the interrupt is checked for each strip, too.
    let strips = tiff::strips_of_one(2000, 64 * 16, 16, 7, &jpeg::plain(2000, 16, 1));
    let interrupt = Counting::up_to(64 + 20);
    decode("tiff", &strips, &interrupt).expect("an image");
}

#[test]
fn an_avif_is_interrupted_between_its_frames() {
    let file = avif::AvifImage::of(&avif_of_one())
        .repeated(avif::FRAME, 8)
        .file(SIZE);
    decode("avif", &file, &Never).expect("an image");
    let interrupt = Counting::up_to(2);
    let stopped = decode("avif", &file, &interrupt);
    assert_eq!(stopped.map(drop), Err(Error::Interrupted));
}

#[test]
fn work_that_the_size_does_not_tell_is_in_the_plan() {
    let codec = codec("avif");
    let one = avif::AvifImage::of(&avif_of_one());
    let planned = |file: &[u8]| {
        let info = codec.probe(file).expect("a header");
        let cost = codec.decode_cost(file.len() as u64, &info, Scales::FULL);
        (cost.nanos, cost.scratch)
    };
    let (plain, several) = (
        planned(&one.file(SIZE)),
        planned(&one.repeated(avif::FRAME, 8).file(SIZE)),
    );
    assert!(several.0 > 4 * plain.0, "{several:?} {plain:?}");
    assert!(
        several.1 > plain.1,
        "frames are kept for others to refer to"
    );
}

#[test]
fn a_header_that_promises_more_than_its_file_can_hold_is_refused_before_anybody_waits_for_it() {
    let engine = Engine::new(ALL, Limits::default());
    let (width, height) = (12_000_u32, 9_000_u32);
    let image = test_image(Model::Gray, Depth::U8, false, SIZE.0, SIZE.1);
    let mut png = encode(codec("png"), &image, &Encode::default());
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = crc32fast::hash(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    let mut jpeg = encode(codec("jpeg"), &image, &Encode::default());
    let frame = jpeg
        .windows(2)
        .position(|it| matches!(it, [0xff, 0xc0 | 0xc2]));
    let at = frame.unwrap() + 5;
    jpeg[at..at + 2].copy_from_slice(&(height as u16).to_be_bytes());
    jpeg[at + 2..at + 4].copy_from_slice(&(width as u16).to_be_bytes());
    for (name, file) in [("png", &png), ("jpeg", &jpeg)] {
        let info = codec(name).probe(file).unwrap();
        assert_eq!((info.width, info.height), (width, height), "{name}");
        for recipe in ["fit:100x100", "as:webp", "same"] {
            let recipe = recipe.parse::<andon_recipe::Recipe>().unwrap();
            let planned = engine.plan(&recipe, file);
            let error = planned.unwrap_err().to_string();
            assert!(
                error.contains("12000×9000 px take"),
                "{name} {recipe}: {error}"
            );
        }
    }
    // Files that are as short as valid files can be are not rejected.
    let plain = Plane::U8(Grid::filled(2000, 2000, 7));
    let frame = Frame::of_planes(Model::Gray, vec![plain]).unwrap();
    let plain = Image { frame, ..image };
    for name in ["png", "jpeg"] {
        let file = encode(codec(name), &plain, &Encode::default());
        let info = codec(name).probe(&file).unwrap();
        assert!(
            info.fewest_bytes > 0 && info.fewest_bytes <= file.len() as u64,
            "{name}"
        );
    }
}
