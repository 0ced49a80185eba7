//! Placeholders, decoded by the libraries that web pages use.

use crate::support;
use andon_codecs::ALL;
use andon_pixels::{Engine, Limits, Never, Run};
use andon_recipe::Recipe;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Returns the result of a recipe for a sample, as text.
fn placeholder(sample: &str, recipe: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/");
    let source = std::fs::read(format!("{folder}{sample}")).expect(sample);
    let engine = Engine::new(ALL, Limits::default());
    let recipe: Recipe = recipe.parse().unwrap();
    let plan = engine.plan(&recipe, &source).unwrap();
    let made = engine.run(&plan, Run::of(&source)).unwrap();
    assert_ne!(made.media_type, "image/jpeg");
    String::from_utf8(made.bytes(&source).to_vec()).unwrap()
}

/// Returns a sample as interleaved RGBA.
fn rgba(sample: &str, side: u32) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/");
    let source = std::fs::read(format!("{folder}{sample}")).expect(sample);
    let engine = Engine::new(ALL, Limits::default());
    let recipe = format!("exact:{side}x{side},as:png");
    let recipe: Recipe = recipe.parse().unwrap();
    let plan = engine.plan(&recipe, &source).unwrap();
    let made = engine.run(&plan, Run::of(&source)).unwrap();
    let png = support::codec("png");
    let file = made.bytes(&source);
    let info = png.probe(file).unwrap();
    let scale = andon_pixels::Scale::FULL;
    let image = support::decode_at(png, file, &info, scale, &Limits::default(), &Never).unwrap();
    let planes: Vec<_> = (0..3)
        .map(|index| image.frame.planes[index].as_u8().unwrap().samples())
        .collect();
    let pixel = |at: usize| [planes[0][at], planes[1][at], planes[2][at], 255];
    (0..(side * side) as usize).flat_map(pixel).collect()
}

#[test]
fn a_blurhash_shows_the_image_blurred() {
    let hash = placeholder("jpeg/420.jpg", "as:blurhash,with:across:4,with:down:3");
    assert_eq!(hash.len(), 28, "{hash}");
    let fine = placeholder("jpeg/420.jpg", "as:blurhash,with:across:9,with:down:9");
    let source = rgba("jpeg/420.jpg", 8);
    let off = |hash: &str| {
        let drawn = blurhash::decode(hash, 8, 8, 1.0).unwrap();
        let off = drawn
            .iter()
            .zip(&source)
            .map(|(one, other)| one.abs_diff(*other));
        off.map(u32::from).sum::<u32>() / (8 * 8 * 3)
    };
    // The library samples the corners of pixels, not their centres.
    assert!(off(&hash) <= 30 && off(&fine) < off(&hash));
}

#[test]
fn a_palette_has_the_most_frequent_colours_and_their_shares() {
    let half = "exact:1x1,canvas:20x20:ff0000:0:0,canvas:40x20:0000ff:0:0,as:palette";
    let text = placeholder("jpeg/420.jpg", &format!("{half},with:count:2"));
    assert!(text.starts_with("{\"average\":\"7f"), "{text}");
    assert_eq!(text.matches("\"share\":0.").count(), 2, "{text}");
    assert!(text.contains("\"share\":0.50"), "{text}");
    assert!(text.contains("0000f") && text.contains("\"f"), "{text}");
    let one = placeholder("jpeg/420.jpg", &format!("{half},with:count:1"));
    assert_eq!(one.matches("colour").count(), 1, "{one}");
    // Transparent pixels have no colour.
    let clear = "exact:1x1,canvas:40x40:00000000:0:0,as:palette";
    let text = placeholder("jpeg/420.jpg", clear);
    assert!(text.contains("\"share\":1.0000}]"), "{text}");
}

#[test]
fn a_thumbhash_has_the_mean_colour_and_the_shape_of_the_image() {
    let hash = placeholder("jpeg/420.jpg", "as:thumbhash");
    let hash = BASE64_STANDARD.decode(hash).unwrap();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/jpeg/420.jpg");
    let info = support::codec("jpeg")
        .probe(&std::fs::read(folder).unwrap())
        .unwrap();
    let ratio = thumbhash::thumb_hash_to_approximate_aspect_ratio(&hash).unwrap();
    assert!(
        (ratio - info.width as f32 / info.height as f32).abs() < 0.25,
        "{ratio}"
    );
    let (red, green, blue, alpha) = thumbhash::thumb_hash_to_average_rgba(&hash).unwrap();
    let source = rgba("jpeg/420.jpg", 16);
    for (channel, mean) in [red, green, blue].into_iter().enumerate() {
        let samples = source.iter().skip(channel).step_by(4);
        let expected = samples.map(|value| f32::from(*value)).sum::<f32>() / 256.0 / 255.0;
        assert!(
            (mean - expected).abs() < 0.06,
            "channel {channel}: {mean}, not {expected}"
        );
    }
    assert!((alpha - 1.0).abs() < 0.1);
}

#[test]
fn placeholders_of_large_images_are_those_of_small_ones() {
    let small = placeholder(
        "jpeg/420.jpg",
        "fit:40x40,as:blurhash,with:across:1,with:down:1",
    );
    let large = placeholder("jpeg/420.jpg", "as:blurhash,with:across:1,with:down:1");
    let colour = |hash: &str| blurhash::decode(hash, 1, 1, 1.0).unwrap();
    for (one, other) in colour(&small).iter().zip(colour(&large)) {
        assert!(one.abs_diff(other) <= 3, "{small} and {large}");
    }
}
