//! Screenshots as PNG: the result of an image with a palette has a palette, too, if the difference is not visible, and
//! a page of text is no larger than with zlib's default settings.

use andon_codecs::ALL;
use andon_pixels::{Engine, Frame, Limits, Run};
use andon_recipe::Recipe;
use fast_ssim2::{PixelDescriptor, PixelSlice, compute_ssimulacra2};

use crate::support::{codec, decode, rgba};

/// Creates a page of words in three colours, bars and boxes, 1200 × 800 px.
fn page() -> Vec<u8> {
    let mut document = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' width='1200' height='800'>\
         <rect width='1200' height='800' fill='#fafafa'/><rect width='1200' height='36' fill='#24466e'/>\
         <rect x='20' y='60' width='180' height='700' fill='#eef2f6' stroke='#c8ced6'/><g font-size='12'>",
    );
    let mut state = 3_u32;
    let mut next = |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % most
    };
    for y in (70..780).step_by(15) {
        let mut x = 220;
        while x < 1150 {
            let colour = ["#141414", "#0050c8", "#787878"][next(3) as usize];
            document += &format!(
                "<text x='{x}' y='{y}' fill='{colour}'>word{}</text>",
                next(10_000)
            );
            x += 50 + next(50);
        }
    }
    document += "</g></svg>";
    made(document.as_bytes(), "as:png,with:level:6,with:filter:none")
}

fn made(source: &[u8], recipe: &str) -> Vec<u8> {
    let recipe: Recipe = recipe.parse().expect(recipe);
    let engine = Engine::new(ALL, Limits::default());
    let plan = engine.plan(&recipe, source).expect("a plan");
    let made = engine.run(&plan, Run::of(source)).expect("an image");
    made.body.unwrap_or_else(|| source.to_vec())
}

fn frame(file: &[u8]) -> Frame {
    decode(codec("png"), file).expect("our own file").frame
}

fn has_palette(file: &[u8]) -> bool {
    file[25] == 3
}

/// Returns `recipe` with additions that make its result a PNG in which every pixel keeps its colour, with zlib's
/// default compression level and without PNG filters.
fn plain(recipe: &str) -> String {
    format!("{recipe},as:png,with:level:6,with:filter:none")
}

/// Returns a score of similarity. 100 means equal; from about 90 on, a difference is hard to see.
fn score(one: &Frame, other: &Frame) -> f64 {
    let slice = |frame: &Frame| {
        let rgb: Vec<u8> = rgba(frame)
            .chunks_exact(4)
            .flat_map(|px| px[..3].to_vec())
            .collect();
        rgb
    };
    let (width, height) = (one.width, one.height);
    let (one, other) = (slice(one), slice(other));
    let image = |bytes| {
        let stride = 3 * width as usize;
        let slice = PixelSlice::new(bytes, width, height, stride, PixelDescriptor::RGB8_SRGB);
        slice.expect("an image").erase()
    };
    compute_ssimulacra2(&image(&one), &image(&other)).expect("a score")
}

#[test]
fn few_colours_are_listed_and_nothing_is_lost() {
    let few = made(&page(), "as:png,with:colours:16");
    for recipe in ["crop:0:0:600x400", "turn:90", "flip:h"] {
        let file = made(&few, &format!("{recipe},as:png"));
        assert!(has_palette(&file), "{recipe}");
        let right = made(&few, &plain(recipe));
        assert!(rgba(&frame(&file)) == rgba(&frame(&right)), "{recipe}");
        assert!(file.len() < right.len(), "{recipe}: {}", file.len());
    }
}

#[test]
fn a_screenshot_with_a_palette_has_one_when_it_is_scaled_and_looks_the_same() {
    let few = made(&page(), "as:png,with:colours:16");
    for recipe in ["fit:900x900", "fit:600x600"] {
        let file = made(&few, &format!("{recipe},as:png"));
        let right = made(&few, &plain(recipe));
        assert!(has_palette(&file), "{recipe}");
        let score = score(&frame(&right), &frame(&file));
        assert!(score >= 90.0, "{recipe}: {score}");
        assert!(
            2 * file.len() < right.len(),
            "{recipe}: {} of {}",
            file.len(),
            right.len()
        );
    }
}

#[test]
fn a_page_of_text_is_no_larger_than_zlib_makes_it() {
    let page = page();
    for recipe in ["fit:900x900", "fit:600x600", "crop:200:0:900x700"] {
        let (file, right) = (
            made(&page, &format!("{recipe},as:png")),
            made(&page, &plain(recipe)),
        );
        assert!(
            file.len() <= right.len(),
            "{recipe}: {} of {}",
            file.len(),
            right.len()
        );
        assert!(score(&frame(&right), &frame(&file)) >= 90.0, "{recipe}");
    }
}

#[test]
fn a_photo_keeps_every_colour_it_has() {
    let photo = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../samples/photos/otter.jpg"
    );
    let photo = std::fs::read(photo).expect("a photo");
    let file = made(&photo, "fit:300x300,as:png");
    assert!(!has_palette(&file));
    // An image that was reduced to a palette before either loses no visible detail with a second palette, or keeps its
    // colours.
    let few = made(&photo, "fit:600x600,as:png,with:colours:256");
    let right = frame(&made(&few, &plain("fit:300x300")));
    let score = score(&right, &frame(&made(&few, "fit:300x300,as:png")));
    assert!(score >= 90.0, "{score}");
}
