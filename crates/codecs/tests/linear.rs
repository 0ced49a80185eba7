//! The recipe setting `linear` on real files: scaling averages light, whatever the file's colour space.

use crate::support::{codec, decode, encode, rgba, samples};
use andon_codecs::ALL;
use andon_pixels::{Encode, Engine, Frame, Grid, Image, Limits, Model, Plane, Run, Space};
use andon_recipe::Recipe;

/// The mean of black and white light, which sRGB and Display P3 encode as 188.
const HALF_OF_THE_LIGHT: u8 = 188;

#[test]
fn a_chequerboard_keeps_its_light() {
    for space in [Space::UNSPECIFIED, Space::SRGB, Space::DISPLAY_P3] {
        let file = chequerboard(space);
        assert_gray(
            &rendered(&file, "exact:8x8,linear,as:png"),
            HALF_OF_THE_LIGHT,
        );
        assert_gray(&rendered(&file, "exact:8x8,as:png"), 128);
        assert_gray(
            &rendered(&file, "exact:8x8,linear,as:webp,lossless"),
            HALF_OF_THE_LIGHT,
        );
        assert_gray(
            &rendered(&file, "exact:8x8,linear,profile:drop,as:png"),
            HALF_OF_THE_LIGHT,
        );
    }
}

#[test]
fn what_is_not_scaled_stays_as_it_is() {
    let file = chequerboard(Space::UNSPECIFIED);
    let cropped = rendered(&file, "crop:3:5:20x20,linear,as:png");
    assert_eq!(cropped, rendered(&file, "crop:3:5:20x20,as:png"));
}

#[test]
fn gray_that_is_even_comes_back_from_light() {
    for level in [0, 1, 2, 5, 17, 60, 128, 200, 254, 255] {
        let plane = || Plane::U8(Grid::filled(40, 40, level));
        let frame = Frame::new(Model::Rgb, 40, 40, vec![plane(), plane(), plane()], None);
        let image = Image::still(frame.expect("planes that fit"));
        let file = encode(codec("png"), &image, &Encode::default());
        for pixel in rendered(&file, "exact:16x16,linear,as:png").chunks_exact(4) {
            assert!(pixel[0].abs_diff(level) <= 1, "{pixel:?} for {level}");
        }
    }
}

#[test]
fn photos_of_every_profile_hardly_change() {
    for (name, recipe) in [
        ("photos/otter.jpg", "fit:200x200,linear,as:png"),
        ("jpeg/icc-adobe-rgb.jpg", "fit:50x50,linear,as:png"),
        (
            "jpeg/icc-adobe-rgb.jpg",
            "fit:50x50,linear,profile:srgb,as:png",
        ),
        (
            "jpeg/icc-adobe-rgb.jpg",
            "fit:50x50,linear,profile:keep,as:png",
        ),
        ("jpeg/cmyk.jpg", "fit:50x50,linear,as:png"),
        ("jpeg/gray.jpg", "fit:50x50,linear,as:png"),
        ("png/16-bit.png", "fit:20x20,linear,as:png"),
        ("png/alpha.png", "fit:20x20,linear,as:png"),
    ] {
        let file = std::fs::read(samples(name)).expect("a sample");
        let light = rendered(&file, recipe);
        let stored = rendered(&file, &recipe.replace(",linear", ""));
        assert_eq!(light.len(), stored.len(), "{name} {recipe}");
        let pairs = light.iter().zip(&stored);
        let sum: u64 = pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        let mean = sum as f64 / light.len() as f64;
        assert!(mean < 4.0, "{name} {recipe}: {mean} levels");
    }
}

/// Creates a chequerboard of 64 × 64 px in a colour space.
fn chequerboard(space: Space) -> Vec<u8> {
    let sample = |at: u32| {
        if (at % 64 + at / 64).is_multiple_of(2) {
            0
        } else {
            255
        }
    };
    let plane =
        || Plane::U8(Grid::from_samples(64, 64, (0..64 * 64).map(sample).collect()).unwrap());
    let frame = Frame::new(Model::Rgb, 64, 64, vec![plane(), plane(), plane()], None).unwrap();
    let mut colour = frame.colour.clone();
    colour.space = space;
    let image = Image::still(frame.with_colour(colour));
    encode(codec("png"), &image, &Encode::default())
}

fn rendered(file: &[u8], recipe: &str) -> Vec<u8> {
    let engine = Engine::new(ALL, Limits::default());
    let recipe: Recipe = recipe.parse().expect("a recipe");
    let plan = engine.plan(&recipe, file).expect("a plan");
    let result = engine.run(&plan, Run::of(file)).expect("a result");
    let image = decode(codec(plan.format()), result.bytes(file)).expect("our own file");
    rgba(&image.frame)
}

fn assert_gray(pixels: &[u8], level: u8) {
    for pixel in pixels.chunks_exact(4) {
        for channel in &pixel[..3] {
            assert!(channel.abs_diff(level) <= 1, "{pixel:?} for {level}");
        }
    }
}
