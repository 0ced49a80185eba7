//! PNG with `with:colours:N`, through the codec trait: images of few colours survive exactly, others look similar in
//! far fewer bytes, and opacity is preserved.

use std::collections::HashSet;

use crate::support::{codec, decode, encode, psnr, rgba, samples, test_image};
use andon_pixels::{
    Codec, Depth, Encode, Frame, Grid, Head, Image, Metadata, Model, Never, Plane, Space, Traits,
};

fn png() -> &'static dyn Codec {
    codec("png")
}

#[test]
fn an_image_of_few_colours_loses_nothing() {
    for (name, colours) in [
        ("palette.png", 256),
        ("palette-4bit.png", 16),
        ("palette-alpha.png", 256),
    ] {
        let image = sample(&format!("png/{name}"));
        let file = encode(png(), &image, &reduced(colours));
        assert_eq!(seen(&file), rgba(&image.frame), "{name}");
    }
}

#[test]
fn a_palette_of_each_size_is_packed_as_tightly_as_it_goes() {
    let image = test_image(Model::Rgb, Depth::U8, false, 65, 33);
    for (colours, bits) in [(2, 1), (4, 2), (16, 4), (17, 8), (256, 8)] {
        let file = encode(png(), &image, &reduced(colours));
        assert_eq!(file[24..26], [bits, 3], "{colours} colours");
        let seen = seen(&file);
        assert_eq!(seen.len(), 65 * 33 * 4);
        let different: HashSet<&[u8]> = seen.chunks_exact(4).collect();
        assert!(different.len() <= colours, "{colours}: {}", different.len());
    }
}

#[test]
fn a_photo_takes_fewer_bytes_and_looks_alike() {
    let photo = sample("photos/wren.jpg");
    let lossless = Encode {
        effort: Some(6),
        ..Encode::default()
    };
    let plain = encode(png(), &photo, &lossless);
    let planes = |file: &[u8]| decode(png(), file).expect("our own file").frame.planes;
    for progressive in [false, true] {
        let how = Encode {
            progressive,
            ..reduced(256)
        };
        let file = encode(png(), &photo, &how);
        let bytes = (file.len(), plain.len());
        assert!(progressive || bytes.0 < bytes.1, "{bytes:?}");
        for (ours, theirs) in planes(&file).iter().zip(&photo.frame.planes) {
            let psnr = psnr(ours, theirs);
            assert!(psnr > 30.0, "{psnr} dB");
        }
    }
}

#[test]
fn soft_edges_stay_soft_and_what_is_clear_stays_clear() {
    let grid = |value: fn(usize, usize) -> usize| {
        let at = |at: usize| value(at % 64, at / 64).min(255) as u8;
        Plane::U8(Grid::from_samples(64, 64, (0..64 * 64).map(at).collect()).unwrap())
    };
    let planes = vec![
        grid(|x, _| x * 4),
        grid(|_, y| y * 4),
        grid(|x, y| 2 * (x + y)),
    ];
    let alpha = grid(|x, _| (x * 5).saturating_sub(20));
    let frame = Frame::new(Model::Rgb, 64, 64, planes, Some(alpha)).unwrap();
    let image = Image::still(frame.clone());
    let seen = seen(&encode(png(), &image, &reduced(64)));
    let mut opacities = HashSet::new();
    for (ours, theirs) in seen.chunks_exact(4).zip(rgba(&frame).chunks_exact(4)) {
        assert!(ours[3].abs_diff(theirs[3]) <= 48, "{ours:?} for {theirs:?}");
        assert_eq!(ours[3] == 0, theirs[3] == 0, "{ours:?} for {theirs:?}");
        assert!(ours[3] >= 224 || theirs[3] < 255, "{ours:?} for {theirs:?}");
        opacities.insert(ours[3]);
    }
    assert!(opacities.len() > 6, "{opacities:?}");
}

#[test]
fn what_the_colours_mean_is_said_before_the_palette() {
    let mut image = test_image(Model::Rgb, Depth::U8, false, 9, 9);
    image.frame.colour.space = Space::DISPLAY_P3;
    let file = encode(png(), &image, &reduced(256));
    let place = |chunk: &[u8]| file.windows(4).position(|four| four == chunk);
    assert!(place(b"cICP").is_some() && place(b"cICP") < place(b"PLTE"));
    let info = png().probe(&file).expect("our own file");
    assert!(info.space.is_as(Space::DISPLAY_P3));
}

#[test]
fn nothing_is_called_lossless_that_loses_colours() {
    let image = test_image(Model::Rgb, Depth::U8, false, 9, 9);
    let how = Encode {
        lossless: true,
        ..reduced(16)
    };
    let refused = png()
        .encoder()
        .expect("an encoder")
        .encode(&image, &how, &Never)
        .expect_err("a contradiction");
    assert!(refused.to_string().contains("with:colours"), "{refused}");
}

#[test]
fn an_animation_is_refused_and_told_what_to_ask_for() {
    let head = Head {
        width: 9,
        height: 9,
        traits: Traits::new(Model::Rgb, Depth::U8),
        plays: 0,
        metadata: Metadata::default(),
    };
    let refused = png()
        .encoder()
        .expect("an encoder")
        .animation()
        .expect("animations")
        .writer(&head, &reduced(16), &Never)
        .err();
    let refused = refused.expect("a refusal").to_string();
    assert!(refused.contains("as:gif"), "{refused}");
}

fn reduced(colours: usize) -> Encode {
    Encode {
        options: [("colours".to_owned(), colours.to_string())].into(),
        ..Encode::default()
    }
}

/// Decodes a sample to the traits that a palette needs.
fn sample(name: &str) -> Image {
    let (folder, _) = name.split_once('/').expect("a folder");
    let from = if folder == "photos" { "jpeg" } else { folder };
    let bytes = std::fs::read(samples(name)).expect("a sample");
    let image = decode(codec(from), &bytes).expect("a sample");
    let frame = &image.frame;
    let pixels = rgba(frame);
    let channel = |channel: usize| {
        let samples = pixels.chunks_exact(4).map(|pixel| pixel[channel]).collect();
        Plane::U8(Grid::from_samples(frame.width, frame.height, samples).unwrap())
    };
    let alpha = frame.alpha.is_some().then(|| channel(3));
    let planes = (0..3).map(channel).collect();
    Image::still(Frame::new(Model::Rgb, frame.width, frame.height, planes, alpha).unwrap())
}

fn seen(file: &[u8]) -> Vec<u8> {
    rgba(&decode(png(), file).expect("our own file").frame)
}
