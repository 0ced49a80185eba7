//! Colours of results: they are those in which browsers show the source.

use andon_pixels::{Depth, Encode, Frame, Model, Plane};

use crate::common::House;
use crate::common::images::{chunk, decoded, has, made, rgb, samples, with_chunks, written};

/// Returns the red samples of the PNG to which the server converts a file.
fn reds(house: &House, name: &str) -> Vec<u8> {
    let target = format!("/r/turn:180,as:png/{name}");
    let reply = house.get(&target);
    assert_eq!(reply.status, 200, "{target}: {}", reply.text());
    let mut reds = samples(&decoded(&reply.body).planes[0]).to_vec();
    reds.reverse();
    reds
}

fn near(one: &[u8], other: &[u8], most: u8) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.abs_diff(*b) <= most)
}

#[test]
fn a_cmyk_jpeg_looks_the_same_with_adobes_marker_and_without() {
    let house = House::new();
    let inks = [0, 40, 200, 20].map(|ink| Plane::filled(Depth::U8, 16, 16, ink));
    let frame = Frame::new(Model::Cmyk, 16, 16, inks.to_vec(), None).expect("a frame");
    let marked = written("jpeg", &frame, &Encode::default());
    let at = marked.windows(5).position(|bytes| bytes == b"Adobe");
    let at = at.expect("a marker") - 4;
    let length = usize::from(u16::from_be_bytes([marked[at + 2], marked[at + 3]]));
    let mut bare = marked.clone();
    bare.drain(at..at + 2 + length);
    house.put("marked.jpg", &marked);
    house.put("bare.jpg", &bare);
    assert_eq!(reds(&house, "bare.jpg"), reds(&house, "marked.jpg"));
    // There is next to no ink of the kind that takes red away.
    assert!(reds(&house, "bare.jpg")[0] > 150);
}

#[test]
fn gama_of_a_png_is_followed_as_chromium_and_firefox_do() {
    let levels = [4, 8, 12, 16, 20, 24, 28, 32, 64, 128, 192, 255];
    let plain = written(
        "png",
        &rgb(levels.len() as u32, 1, |_, at| levels[at as usize]),
        &Encode::default(),
    );
    let gama = |power: u32| chunk(b"gAMA", &power.to_be_bytes());
    let chrm = chunk(
        b"cHRM",
        &[31270_u32, 32900, 64000, 33000, 30000, 60000, 15000, 6000]
            .map(u32::to_be_bytes)
            .concat(),
    );
    let of_power = |power: f64| {
        levels.map(|level| (255.0 * (f64::from(level) / 255.0).powf(power)).round() as u8)
    };
    let srgb = |light: f64| match light <= 0.003_130_8 {
        true => 12.92 * light,
        false => 1.055 * light.powf(1.0 / 2.4) - 0.055,
    };
    let of_profile = |power: f64| {
        let light = |level: u8| (f64::from(level) / 255.0).powf(power);
        levels.map(|level| (255.0 * srgb(light(level))).round() as u8)
    };
    let house = House::new();
    for (name, chunks, expected) in [
        ("alone.png", vec![gama(45455)], levels),
        ("near.png", vec![gama(47000)], levels),
        ("other.png", vec![gama(100_000)], of_power(1.0 / 2.2)),
        ("dark.png", vec![gama(30000)], of_power(1.0 / 0.66)),
        ("places.png", vec![chrm.clone()], levels),
        ("both.png", vec![gama(45455), chrm.clone()], of_profile(2.2)),
        ("linear.png", vec![gama(100_000), chrm], of_profile(1.0)),
        (
            "srgb.png",
            vec![gama(100_000), chunk(b"sRGB", &[0])],
            levels,
        ),
    ] {
        house.put(name, with_chunks(&plain, &chunks));
        let reds = reds(&house, name);
        assert!(near(&reds, &expected, 2), "{name}: {reds:?} {expected:?}");
    }
}

/// Returns an AVIF of a ramp of all 256 gray levels. Its code point for the transfer function is set to `transfer`, and
/// that for the matrix coefficients to `matrix` unless this is `None`.
fn avif(transfer: u8, matrix: Option<u8>) -> Vec<u8> {
    let ramp = rgb(256, 1, |_, at| at as u8);
    let png = written("png", &ramp, &Encode::default());
    let mut file = made(&png, "as:avif,lossless");
    let at = file.windows(4).position(|bytes| bytes == b"nclx");
    let at = at.expect("code points") + 4;
    file[at + 3] = transfer;
    if let Some(matrix) = matrix {
        file[at + 5] = matrix;
    }
    file
}

#[test]
fn an_avif_with_the_curve_of_video_keeps_its_codes() {
    let house = House::new();
    let ramp: Vec<u8> = (0..=255).collect();
    for transfer in [1, 6, 13, 14, 15] {
        let name = format!("{transfer}.avif");
        house.put(&name, avif(transfer, None));
        assert_eq!(reds(&house, &name), ramp, "transfer {transfer}");
    }
}

#[test]
fn an_avif_of_constant_luminance_is_read() {
    let house = House::new();
    for matrix in [9, 10] {
        let name = format!("matrix{matrix}.avif");
        house.put(&name, avif(13, Some(matrix)));
        assert_eq!(house.get(&format!("/r/as:png/{name}")).status, 200);
    }
    assert_eq!(reds(&house, "matrix9.avif"), reds(&house, "matrix10.avif"));
}

/// Returns a red BMP of 32 bits per pixel without its file header and without colour masks. `fourth` is the fourth byte
/// of each pixel, `side` the width and height in px, and `rows` the height that the header states.
fn bitmap(side: u32, rows: u32, fourth: u8) -> Vec<u8> {
    let mut bitmap = 40_u32.to_le_bytes().to_vec();
    bitmap.extend(side.to_le_bytes());
    bitmap.extend(rows.to_le_bytes());
    bitmap.extend([1, 0, 32, 0]);
    bitmap.extend([0; 24]);
    bitmap.extend([30, 30, 220, fourth].repeat((side * side) as usize));
    bitmap
}

#[test]
fn the_reserved_byte_of_a_bmp_is_no_opacity() {
    let house = House::new();
    for fourth in [0, 128, 255] {
        let bitmap = bitmap(16, 16, fourth);
        let mut file = b"BM".to_vec();
        file.extend((14 + bitmap.len() as u32).to_le_bytes());
        file.extend([0; 4]);
        file.extend(54_u32.to_le_bytes());
        file.extend(bitmap);
        let name = format!("{fourth}.bmp");
        house.put(&name, &file);
        let reply = house.get(&format!("/r/fit:8x8,as:png/{name}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let frame = decoded(&reply.body);
        assert!(frame.alpha.is_none(), "fourth byte {fourth}");
        assert_eq!(samples(&frame.planes[0])[0], 220);
    }
}

#[test]
fn an_icon_whose_opacity_is_0_everywhere_is_as_its_mask_says() {
    let house = House::new();
    for (fourth, mask, expected) in [(0, 0, 255), (0, 0xff, 0), (128, 0xff, 128)] {
        let mut bitmap = bitmap(16, 32, fourth);
        bitmap.extend([mask; 4 * 16]);
        let mut file = vec![0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0];
        file.extend((bitmap.len() as u32).to_le_bytes());
        file.extend(22_u32.to_le_bytes());
        file.extend(bitmap);
        let name = format!("{fourth}-{mask}.ico");
        house.put(&name, &file);
        let reply = house.get(&format!("/r/turn:180,as:png/{name}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let frame = decoded(&reply.body);
        let opacity = frame.alpha.as_ref().map_or(255, |alpha| samples(alpha)[0]);
        assert_eq!(opacity, expected, "{name}");
    }
}

#[test]
fn code_points_of_a_result_are_those_that_it_is_shown_by() {
    let house = House::new();
    house.put("video.avif", avif(1, None));
    let reply = house.get("/r/turn:180,as:avif,lossless/video.avif");
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(has(&reply.body, b"nclx\0\x01\0\x0d"), "not sRGB");
}
