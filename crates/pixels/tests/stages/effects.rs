//! Compares blur, sharpen and unsharp with their two-dimensional definitions, and checks the list of effects.

use andon_pixels::{Depth, Error, Frame, Model, Plane, ops};

use crate::support::*;

fn apply(effect: &str, frame: &Frame) -> Frame {
    run(&*parse(effect).unwrap().unwrap(), frame.clone())
}

/// Returns the Gaussian at a distance of whole px.
fn at_px(distance: i64, sigma: f64) -> f64 {
    (-(distance as f64).powi(2) / (2.0 * sigma * sigma)).exp()
}

/// Returns the Gaussian's mean over three positions in the px, as in ImageMagick's rows and columns.
fn over_px(distance: i64, sigma: f64) -> f64 {
    [-1, 0, 1]
        .map(|third| at_px(3 * distance + third, 3.0 * sigma))
        .iter()
        .sum::<f64>()
}

/// Returns the weighted mean around a sample, with edges repeated, and the share of the middle weight.
fn mean(
    plane: &Plane,
    (x, y): (u32, u32),
    reach: i64,
    sigma: f64,
    weight: fn(i64, f64) -> f64,
) -> (f64, f64) {
    let (mut sum, mut weights) = (0.0, 0.0);
    for dy in -reach..=reach {
        for dx in -reach..=reach {
            let weight = weight(dx, sigma) * weight(dy, sigma);
            let at = |at: u32, by: i64, end: u32| {
                (i64::from(at) + by).clamp(0, i64::from(end) - 1) as u32
            };
            sum += weight * level(plane, at(x, dx, plane.width()), at(y, dy, plane.height()));
            weights += weight;
        }
    }
    (sum / weights, weight(0, sigma).powi(2) / weights)
}

fn check(effect: &str, reach: i64, sigma: f64, expected: impl Fn(f64, f64, f64) -> f64) {
    let weight = if effect.starts_with("sharpen") {
        at_px
    } else {
        over_px
    };
    for depth in [Depth::U8, Depth::U16] {
        let source = frame(Model::Gray, depth, 40, 30, noise);
        let result = apply(effect, &source);
        for (x, y) in [(0, 0), (20, 15), (39, 29), (1, 17), (33, 2)] {
            let value = level(&source.planes[0], x, y);
            let (mean, middle) = mean(&source.planes[0], (x, y), reach, sigma, weight);
            let want = expected(value, mean, middle).clamp(0.0, 255.0);
            let have = level(&result.planes[0], x, y);
            assert!(
                (have - want).abs() < 0.75,
                "{effect} {depth:?} {x},{y}: {have} {want}"
            );
        }
    }
}

#[test]
fn a_blur_is_a_gaussian_mean() {
    check("blur:0x1.5", 7, 1.5, |_, mean, _| mean);
    check("blur:2x3", 2, 3.0, |_, mean, _| mean);
    check("blur:0x8", 34, 8.0, |_, mean, _| mean);
}

#[test]
fn sharpening_is_the_negative_gaussian_with_a_heavy_middle() {
    // -g around the middle and twice the sum in it, normalised to sum 1; expressed as shares of the sum.
    let kernel = |value: f64, mean: f64, middle: f64| {
        let others = mean - middle * value;
        (2.0 * value - others) / (2.0 - (1.0 - middle))
    };
    check("sharpen:0x0.8", 4, 0.8, kernel);
    check("sharpen:2x1.2", 2, 1.2, kernel);
}

#[test]
fn unsharp_adds_the_difference_where_it_is_large_enough() {
    let plain = |value: f64, mean: f64, _: f64| value + 0.7 * (value - mean);
    check("unsharp:0x1+0.7+0", 5, 1.0, plain);
    check("unsharp:0x1+0.7+0.3", 5, 1.0, |value, mean, middle| {
        if 2.0 * (value - mean).abs() < 0.3 * 255.0 {
            value
        } else {
            plain(value, mean, middle)
        }
    });
    let default = |value: f64, mean: f64, _: f64| {
        if 2.0 * (value - mean).abs() < 0.05 * 255.0 {
            value
        } else {
            2.0 * value - mean
        }
    };
    check("unsharp:0x1", 5, 1.0, default);
}

#[test]
fn a_wide_blur_on_a_shrunken_plane_is_still_a_gaussian() {
    let source = frame(Model::Gray, Depth::U16, 400, 300, |_, x, y| {
        if (x / 90 + y / 70) % 2 == 0 {
            30.0
        } else {
            220.0
        }
    });
    let result = apply("blur:0x20", &source);
    for (x, y) in [(200, 150), (90, 70), (10, 10), (399, 299), (130, 201)] {
        let (want, _) = mean(&source.planes[0], (x, y), 80, 20.0, over_px);
        let have = level(&result.planes[0], x, y);
        // In the last px before an edge, interpolation between shrunken samples ends early.
        let tolerance = if (x, y) == (399, 299) { 2.5 } else { 0.5 };
        assert!((have - want).abs() < tolerance, "{x},{y}: {have} {want}");
    }
}

#[test]
fn the_widest_blur_of_a_image_is_its_mean() {
    let source = frame(c420(), Depth::U8, 33, 21, waves);
    let result = apply("blur:0x1000", &source);
    let values: Vec<f64> = (0..33).map(|x| level(&result.planes[0], x, 10)).collect();
    assert!(
        values.iter().all(|value| (value - values[0]).abs() <= 2.0),
        "{values:?}"
    );
}

#[test]
fn flat_images_stay_as_they_are() {
    for model in [Model::Gray, Model::Rgb, Model::Cmyk, c420()] {
        let source = flat(model, Depth::U8, 37, 23, RED);
        for effect in ["blur:0x3", "blur:0x60", "sharpen:0x1", "unsharp:0x1+2+0"] {
            assert_eq!(apply(effect, &source), source, "{effect} {model:?}");
        }
    }
}

#[test]
fn thinned_chroma_is_blurred_as_far_as_luma() {
    // The same edge in all planes: after the blur, luma at a px and chroma at the same position agree.
    let source = frame(c420(), Depth::U16, 80, 60, |index, x, _| {
        let px = if index == 0 { x } else { 2 * x };
        if px < 40 { 50.0 } else { 200.0 }
    });
    let result = apply("blur:0x4", &source);
    for x in 10..30 {
        let luma =
            (level(&result.planes[0], 2 * x, 30) + level(&result.planes[0], 2 * x + 1, 30)) / 2.0;
        let chroma = level(&result.planes[1], x, 15);
        assert!((luma - chroma).abs() < 2.5, "{x}: {luma} {chroma}");
    }
}

#[test]
fn hidden_colours_do_not_bleed_into_a_blur() {
    let mut source = frame(Model::Rgb, Depth::U8, 40, 20, |_, x, _| {
        if x < 20 { 100.0 } else { 255.0 }
    });
    source.alpha = Some(plane(
        Depth::U8,
        40,
        20,
        |x, _| if x < 20 { 255.0 } else { 0.0 },
    ));
    let result = apply("blur:0x2", &source);
    assert_eq!(result.alpha, source.alpha);
    for x in 0..20 {
        assert!(
            (level(&result.planes[0], x, 10) - 100.0).abs() <= 1.0,
            "{x}"
        );
    }
}

#[test]
fn every_effect_has_help_and_an_example_that_prints_itself_again() {
    for op in ops::ALL {
        let word = op.word();
        assert!(word.example.starts_with(word.name), "{word}");
        assert!(!word.help.is_empty() && !word.help.ends_with('.'), "{word}");
        let stage = parse(word.example).unwrap().unwrap();
        assert_eq!(stage.to_string(), word.example);
        for arg in word.args {
            assert!(!arg.help.is_empty(), "{word}: {}", arg.name);
        }
    }
}

#[test]
fn effects_that_ask_for_nothing_have_no_stage() {
    for effect in [
        "blur:5",
        "sharpen:0x0",
        "unsharp:3x0+1",
        "border:0x0:ffffff",
        "border:3x3:ffffff00",
        "pixelate:1",
        "gradient:0:000000",
        "text: :12",
        "text:a:12:00000000",
        "text:a:12:00000000:outline=0",
        "text:a:12:00000000:outline=2xffffff00",
        "shadow:0",
        "shadow:0.01+0x0+ff0000",
        "shadow:4+2x2+00000000",
        "round:0",
        "round:4:0",
    ] {
        assert!(parse(effect).unwrap().is_none(), "{effect}");
    }
}

#[test]
fn wrong_arguments_are_named() {
    let wrong = [
        "blur",
        "blur:x",
        "blur:0x1:2",
        "blur:0x1+2",
        "sharpen:0x-1",
        "unsharp:0x1+1+1+1",
        "border:3:ffffff",
        "border:3x3:whit",
        "border:3x3",
        "over",
        "over:a:1:b",
        "overlay:a:1",
        "overlay:a:1:1:101",
        "overlay:a:1:1:50:0:0:mix",
        "overlay:a:1:1:50:0:0:normal:exact:trim",
        "overlay:a:1:1:50:0:0:normal:gray",
        "backdrop:blur:1:1:0x5",
        "backdrop:dark:1:1:5x5",
        "pixelate:-1",
        "round",
        "round:5:5:5:ffffff",
        "mask:moon",
        "blur-area:1:1:5:3",
        "sharpen-l:1:-1",
        "brightness:300",
        "contrast:-1",
        "gamma:0",
        "gray:1",
        "tint:whit",
    ];
    for effect in wrong {
        let Err(Error::Recipe { piece, .. }) = parse(effect) else {
            panic!("{effect} was taken");
        };
        assert_eq!(piece, effect);
    }
}
