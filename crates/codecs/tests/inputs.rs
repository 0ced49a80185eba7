//! Formats that are only read: their properties, their errors, and their behaviour with damaged files.

use std::fs;
use std::path::{Path, PathBuf};

use andon_pixels::{Error, Frame, Limits, Never, Scale};

use crate::support::{
    assert_keeps_promises, assert_survives_damage, codec, decode, decode_at, rgba,
};

const FORMATS: [&str; 5] = ["bmp", "ico", "psd", "svg", "tiff"];

fn samples(format: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(format);
    let entries = fs::read_dir(folder).expect("samples").flatten();
    entries
        .map(|entry| (entry.path(), fs::read(entry.path()).expect("a sample")))
        .collect()
}

fn sample(format: &str, name: &str) -> Frame {
    let mut samples = samples(format).into_iter();
    let (_, file) = samples
        .find(|(path, _)| path.ends_with(name))
        .expect("the sample");
    decode(codec(format), &file).expect("an image").frame
}

/// Returns the mean difference between the samples of two images.
fn apart(one: &Frame, other: &Frame) -> f64 {
    let (one, other) = (rgba(one), rgba(other));
    assert_eq!(one.len(), other.len());
    let sum: u64 = one
        .iter()
        .zip(&other)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    sum as f64 / one.len() as f64
}

#[test]
fn every_sample_is_what_its_header_promises() {
    for format in FORMATS {
        for (path, file) in samples(format) {
            let codec = codec(format);
            assert!(codec.sniff(&file), "{}", path.display());
            let info = codec.probe(&file).expect("a header");
            let image = decode(codec, &file).expect("an image");
            assert_keeps_promises(&info, &image);
            assert!(codec.instead(&info).is_some(), "{}", path.display());
        }
    }
}

#[test]
fn damage_does_no_harm() {
    for format in FORMATS {
        for (_, file) in samples(format) {
            assert_survives_damage(codec(format), &file, 60);
        }
    }
}

#[test]
fn the_same_image_looks_the_same_in_every_packing() {
    let plain = sample("bmp", "24-bit.bmp");
    for (format, name, most) in [
        ("bmp", "palette.bmp", 12.0),
        ("bmp", "run-lengths.bmp", 12.0),
        ("bmp", "fields-565.bmp", 4.0),
        ("tiff", "lzw.tif", 0.0),
        ("tiff", "palette.tif", 12.0),
        ("tiff", "jpeg.tif", 6.0),
        ("psd", "rgb.psd", 0.0),
    ] {
        let off = apart(&plain, &sample(format, name));
        assert!(off <= most, "{name} is {off:.2} off");
    }
    assert_eq!(
        sample("bmp", "palette.bmp"),
        sample("bmp", "run-lengths.bmp")
    );
    let (one, other) = (sample("bmp", "1-bit.bmp"), sample("tiff", "fax4.tif"));
    assert_eq!(one.planes[0], other.planes[0]);
}

#[test]
fn of_an_icon_the_largest_entry_is_shown() {
    assert_eq!(sample("ico", "png.ico").width, 48);
    let bitmap = sample("ico", "bitmap.ico");
    assert_eq!((bitmap.width, bitmap.height), (32, 32));
    assert!(bitmap.alpha.is_some());
}

#[test]
fn a_drawing_is_drawn_at_the_size_that_is_asked_for() {
    let svg = codec("svg");
    let (_, file) = samples("svg").remove(0);
    let info = svg.probe(&file).expect("a header");
    assert_eq!((info.width, info.height), (160, 120));
    for (scale, size) in [
        (Scale(2), (40, 30)),
        (Scale::FULL, (160, 120)),
        (Scale(32), (640, 480)),
    ] {
        let image = decode_at(svg, &file, &info, scale, &Limits::default(), &Never);
        let frame = &image.expect("an image").frame;
        assert_eq!((frame.width, frame.height), size);
    }
}

#[test]
fn a_drawing_opens_nothing_outside_itself() {
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='8' height='8'>\
               <rect width='8' height='8' fill='#0f0'/><image width='8' height='8' xlink:href='FILE'/></svg>";
    let png = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/png");
    let png = fs::read_dir(png)
        .expect("samples")
        .flatten()
        .next()
        .expect("a sample")
        .path();
    let absolute = png.canonicalize().expect("its path").display().to_string();
    for href in [
        absolute.clone(),
        format!("file://{absolute}"),
        "http://127.0.0.1:9/a.png".to_owned(),
    ] {
        let svg = svg.replace("FILE", &href);
        let image = decode(codec("svg"), svg.as_bytes()).expect("an image");
        let green = rgba(&image.frame)
            .chunks_exact(4)
            .all(|pixel| pixel == [0, 255, 0, 255]);
        assert!(green, "{href} was opened");
    }
}

#[test]
fn samples_that_are_not_read_are_named() {
    for (tag, value, named) in [
        (339_u16, 3_u16, "floating-point"),
        (339, 2, "signed"),
        (258, 32, "32 bits"),
    ] {
        let (_, mut file) = samples("tiff")
            .into_iter()
            .find(|(path, _)| path.ends_with("gray-16-bit.tif"))
            .expect("the sample");
        // Replaces the last tag of its little-endian directory, which is not needed.
        let at = u32::from_le_bytes(file[4..8].try_into().expect("four bytes")) as usize;
        let count = usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
        let entries = at + 2..at + 2 + 12 * count;
        let own = entries
            .clone()
            .step_by(12)
            .find(|&at| file[at..at + 2] == tag.to_le_bytes());
        let entry = own.unwrap_or(entries.end - 12);
        file[entry..entry + 2].copy_from_slice(&tag.to_le_bytes());
        file[entry + 2..entry + 4].copy_from_slice(&3_u16.to_le_bytes());
        file[entry + 4..entry + 8].copy_from_slice(&1_u32.to_le_bytes());
        file[entry + 8..entry + 10].copy_from_slice(&value.to_le_bytes());
        match codec("tiff").probe(&file) {
            Err(Error::Unsupported { what, .. }) => assert!(what.contains(named), "{what}"),
            other => panic!("{named}: {other:?}"),
        }
    }
}
