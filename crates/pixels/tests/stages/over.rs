//! Masks, overlays that cover a size, and backdrops.

use andon_pixels::{Depth, Frame, Model, Never};
use andon_recipe::Colour;

use crate::support::*;

fn laid(effect: &str, ground: &Frame, icon: &Frame) -> Frame {
    let stage = parse(effect).unwrap().unwrap();
    run_with(&*stage, ground.clone(), &Never, Some(icon)).unwrap()
}

fn apply(effect: &str, frame: &Frame) -> Frame {
    run(&*parse(effect).unwrap().unwrap(), frame.clone())
}

fn alpha(frame: &Frame, x: u32, y: u32) -> f64 {
    frame
        .alpha
        .as_ref()
        .map_or(255.0, |alpha| level(alpha, x, y))
}

fn places(frame: &Frame) -> impl Iterator<Item = (u32, u32)> + use<> {
    let (width, height) = (frame.width, frame.height);
    (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
}

/// A mask multiplies the image's opacity by the mask's opacity; the mask's colours make no difference.
#[test]
fn a_mask_keeps_or_takes_away_as_much_as_it_is_opaque() {
    let mut icon = frame(Model::Rgb, Depth::U8, 16, 12, noise);
    icon.alpha = Some(plane(Depth::U8, 16, 12, |x, y| noise(3, x, y)));
    for model in [Model::Rgb, c420(), Model::Gray] {
        for translucent in [false, true] {
            let mut ground = frame(model, Depth::U8, 40, 30, waves);
            if translucent {
                ground.alpha = Some(plane(Depth::U8, 40, 30, |x, y| noise(7, x, y)));
            }
            for (place, (left, top)) in [("5:9", (5, 9)), ("-6:100p+4", (-6, 22))] {
                let kept = laid(&format!("overlay:icon:{place}:60:0:0:mask"), &ground, &icon);
                let cut = laid(
                    &format!("overlay:icon:{place}:60:0:0:mask-out"),
                    &ground,
                    &icon,
                );
                assert_eq!((&kept.planes, kept.model), (&ground.planes, model));
                assert_eq!(&cut.planes, &ground.planes);
                for (x, y) in places(&ground) {
                    let (u, v) = (i64::from(x) - left, i64::from(y) - top);
                    let inside = (0..16).contains(&u) && (0..12).contains(&v);
                    let mask = if inside {
                        0.6 * alpha(&icon, u as u32, v as u32) / 255.0
                    } else {
                        0.0
                    };
                    let before = alpha(&ground, x, y);
                    for (have, want) in [
                        (alpha(&kept, x, y), before * mask),
                        (alpha(&cut, x, y), before * (1.0 - mask)),
                    ] {
                        assert!(
                            (have - want).abs() <= 1.5,
                            "{model:?} {x},{y}: {have} {want}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn an_opaque_mask_that_is_repeated_keeps_what_lies_under_any_of_its_copies() {
    let ground = flat(Model::Rgb, Depth::U8, 40, 30, BLUE);
    let icon = flat(Model::Rgb, Depth::U8, 8, 6, RED);
    let result = laid("overlay:icon:repeat:10:100:0:0:mask", &ground, &icon);
    for (x, y) in places(&ground) {
        let want = if (10..16).contains(&y) { 255.0 } else { 0.0 };
        assert_eq!(alpha(&result, x, y), want, "{x},{y}");
    }
}

/// The luma of a colour is the mean of its levels with the weights of BT.601.
#[test]
fn a_mask_of_luminance_keeps_what_is_bright_under_it() {
    let mut icon = frame(Model::Rgb, Depth::U8, 40, 30, noise);
    let luma = |x: u32, y: u32, icon: &Frame| {
        let [r, g, b] = [0, 1, 2].map(|index| level(&icon.planes[index], x, y));
        (0.299 * r + 0.587 * g + 0.114 * b) / 255.0
    };
    for is_opaque in [true, false] {
        if !is_opaque {
            icon.alpha = Some(plane(Depth::U8, 40, 30, |x, y| noise(3, x, y)));
        }
        for model in [Model::Rgb, c420(), Model::Gray] {
            let mut ground = frame(model, Depth::U8, 40, 30, waves);
            ground.alpha = Some(plane(Depth::U8, 40, 30, |x, y| noise(7, x, y)));
            let effect = "overlay:icon:0:0:80:0:0:mask-luminance";
            let result = laid(effect, &ground, &icon);
            assert_eq!((&result.planes, result.model), (&ground.planes, model));
            for (x, y) in places(&ground) {
                let mask = 0.8 * luma(x, y, &icon) * alpha(&icon, x, y) / 255.0;
                let (have, want) = (alpha(&result, x, y), alpha(&ground, x, y) * mask);
                assert!(
                    (have - want).abs() <= 2.0,
                    "{model:?} {x},{y}: {have} {want}"
                );
            }
        }
    }
    // Gray and YCbCr have luma in a plane of its own.
    for model in [Model::Gray, c420()] {
        let icon = frame(model, Depth::U8, 40, 30, waves);
        let ground = flat(Model::Rgb, Depth::U8, 40, 30, RED);
        let result = laid("overlay:icon:0:0:100:0:0:mask-luminance", &ground, &icon);
        for (x, y) in places(&ground) {
            assert_eq!(alpha(&result, x, y), level(&icon.planes[0], x, y).round());
        }
    }
}

/// Where the mask hides the image, the colour is visible, with its own opacity.
#[test]
fn a_colour_shows_around_a_mask() {
    let mut icon = flat(Model::Rgb, Depth::U8, 16, 12, RED);
    icon.alpha = Some(plane(Depth::U8, 16, 12, |x, y| noise(3, x, y)));
    let mut clear = flat(Model::Rgb, Depth::U8, 40, 30, RED);
    clear.alpha = Some(plane(Depth::U8, 40, 30, |x, y| noise(7, x, y)));
    for ground in [flat(Model::Rgb, Depth::U8, 40, 30, RED), clear] {
        for (mode, out) in [("mask", false), ("mask-out", true)] {
            for (colour, opacity) in [("0000ff", 1.0), ("0000ff99", 0.6)] {
                let effect = format!("overlay:icon:5:9:100:0:0:{mode}:exact::{colour}");
                let result = laid(&effect, &ground, &icon);
                assert_eq!(
                    result.alpha.is_some(),
                    opacity < 1.0 || ground.alpha.is_some()
                );
                for (x, y) in places(&ground) {
                    let inside = (5..21).contains(&x) && (9..21).contains(&y);
                    let mask = if inside {
                        alpha(&icon, x - 5, y - 9) / 255.0
                    } else {
                        0.0
                    };
                    let stays = if out { 1.0 - mask } else { mask };
                    let own = alpha(&ground, x, y) / 255.0;
                    let below = if opacity < 1.0 { own * stays } else { own };
                    let above = opacity * (1.0 - stays);
                    let seen = above + below * (1.0 - above);
                    let near = |have: f64, want: f64| {
                        assert!(
                            (have - want).abs() <= 2.5,
                            "{effect} {x},{y}: {have} {want}"
                        );
                    };
                    near(alpha(&result, x, y), 255.0 * seen);
                    near(level(&result.planes[2], x, y) * seen, 255.0 * above);
                    let red = 255.0 * below * (1.0 - above);
                    near(level(&result.planes[0], x, y) * seen, red);
                }
            }
        }
    }
    for wrong in [
        "overlay:icon:0:0:100:0:0:multiply:exact::ff0000",
        "overlay:icon:0:0:100:0:0:mask::ff0000",
        "overlay:icon:0:0:100:0:0:mask:exact::red-ish",
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

/// The overlay is a linear gradient, so that each sample of the result tells the position in the overlay that it comes
/// from.
#[test]
fn an_overlay_that_covers_a_size_is_its_middle_scaled() {
    let ground = flat(Model::Rgb, Depth::U16, 90, 90, BLUE);
    let slope = |plane: usize, x: u32, y: u32| match plane {
        0 => f64::from(x) * 2.0,
        1 => f64::from(y) * 4.0,
        _ => 100.0,
    };
    let icon = frame(Model::Rgb, Depth::U16, 100, 50, slope);
    for (size, (w, h)) in [
        ("40:40", (40.0, 40.0)),
        ("60:10", (60.0, 10.0)),
        ("80:80", (80.0, 80.0)),
    ] {
        let result = laid(
            &format!("overlay:icon:3:4:100:{size}:normal:cover"),
            &ground,
            &icon,
        );
        // The largest part of this aspect ratio in the icon.
        let by = f64::min(100.0 / w, 50.0 / h);
        let (left, top) = ((100.0 - w * by) / 2.0, (50.0 - h * by) / 2.0);
        // Without the outer two px, where kernels reach the ends of the part.
        for y in 3..h as u32 - 3 {
            for x in 3..w as u32 - 3 {
                let at = |start: f64, at: u32| start + (f64::from(at) + 0.5) * by - 0.5;
                let (red, green) = (2.0 * at(left, x), 4.0 * at(top, y));
                for (plane, want) in [(0, red), (1, green), (2, 100.0)] {
                    let have = level(&result.planes[plane], x + 3, y + 4);
                    assert!(
                        (have - want).abs() < 0.6,
                        "{size} {plane} {x},{y}: {have} {want}"
                    );
                }
            }
        }
        // Px outside the overlay are unchanged.
        for (x, y) in [(2, 10), (3 + w as u32, 10), (10, 3), (10, 4 + h as u32)] {
            assert_eq!(level(&result.planes[2], x, y), 255.0, "{size} {x},{y}");
        }
    }
}

/// Creates an image on a transparent background.
fn framed(model: Model, depth: Depth, value: impl Fn(usize, u32, u32) -> f64) -> Frame {
    let mut image = frame(model, depth, 80, 60, value);
    image.alpha = Some(plane(depth, 80, 60, |x, _| {
        if (20..60).contains(&x) { 255.0 } else { 0.0 }
    }));
    image
}

#[test]
fn a_ground_of_the_mean_or_median_colour_leaves_the_image_and_is_opaque() {
    for model in [Model::Rgb, c420(), Model::Gray] {
        // Levels with an even sum inside the image, unaffected by the px outside; chroma is subsampled by two.
        let value = |plane: usize, x: u32, y: u32| {
            let thin = if model == c420() && plane > 0 { 2 } else { 1 };
            match (20..60).contains(&(x * thin)) {
                true if y * thin < 44 => 110.0 + 10.0 * plane as f64,
                true => 150.0 - 10.0 * plane as f64,
                false => 255.0,
            }
        };
        let image = framed(model, Depth::U8, value);
        for (kind, share) in [("mean", 44.0 / 60.0), ("median", 1.0)] {
            let result = apply(&format!("backdrop:{kind}:20:0:40x60"), &image);
            assert_eq!((result.alpha.as_ref(), result.model), (None, model));
            for (index, plane) in result.planes.iter().enumerate() {
                let thin = 80 / plane.width();
                let low = 110.0 + 10.0 * index as f64;
                let high = 150.0 - 10.0 * index as f64;
                let want = low * share + high * (1.0 - share);
                for x in [0, 5, 61 / thin + 1, plane.width() - 1] {
                    let have = level(plane, x, 10);
                    assert!(
                        (have - want).abs() <= 2.0,
                        "{model:?} {kind} {index} {x}: {have} {want}"
                    );
                }
                for x in [20 / thin, 30 / thin, 59 / thin] {
                    assert_eq!(
                        level(plane, x, 50 / thin),
                        high,
                        "{model:?} {kind} {index} {x}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_shows_through_a_image_counts_as_white_in_its_mean() {
    let mut image = flat(Model::Rgb, Depth::U8, 20, 10, RED);
    image.alpha = Some(plane(
        Depth::U8,
        20,
        10,
        |x, _| if x < 10 { 255.0 } else { 0.0 },
    ));
    let result = apply("backdrop:mean:0:0:20x10", &image);
    let at = |x: u32| [0, 1, 2].map(|index| level(&result.planes[index], x, 5));
    assert_eq!(at(2), [255.0, 0.0, 0.0]);
    assert_eq!(at(15), [255.0, 128.0, 128.0]);
}

/// Computes plane `index` of a backdrop in floating point, in 8-bit levels: the part of the canvas where the image lies
/// is enlarged by bilinear interpolation, then blurred by a Gaussian with a standard deviation of `sigma` px.
fn blurred_by_hand(source: &Frame, index: usize, sigma: f64) -> Vec<Vec<f64>> {
    let read = |x: f64, y: f64| {
        let clamp = |at: f64, low: f64, high: f64| at.clamp(low, high);
        let (x, y) = (clamp(x, 20.0, 59.0), clamp(y, 0.0, 59.0));
        let (left, top) = (x.floor().min(58.0), y.floor().min(58.0));
        let (u, v) = (x - left, y - top);
        let at = |x: f64, y: f64| level(&source.planes[index], x as u32, y as u32);
        (at(left, top) * (1.0 - u) + at(left + 1.0, top) * u) * (1.0 - v)
            + (at(left, top + 1.0) * (1.0 - u) + at(left + 1.0, top + 1.0) * u) * v
    };
    let large: Vec<Vec<f64>> = (0..60)
        .map(|y| {
            let across = |x: i32| read(20.0 + (f64::from(x) + 0.5) / 2.0 - 0.5, f64::from(y));
            (0..80).map(across).collect()
        })
        .collect();
    let reach = (4.0 * sigma) as i32;
    let weight = |at: i32| (-f64::from(at * at) / (2.0 * sigma * sigma)).exp();
    let total: f64 = (-reach..=reach).map(weight).sum();
    let pass = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let blur = |row: &Vec<f64>| {
            let last = row.len() as i32 - 1;
            let mean = |x: i32| {
                let one = |at: i32| weight(at) * row[(x + at).clamp(0, last) as usize];
                (-reach..=reach).map(one).sum::<f64>() / total
            };
            (0..=last).map(mean).collect()
        };
        rows.iter().map(blur).collect()
    };
    let turned = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        (0..rows[0].len())
            .map(|x| rows.iter().map(|row| row[x]).collect())
            .collect()
    };
    turned(&pass(&turned(&pass(&large))))
}

#[test]
fn a_blurred_backdrop_is_the_image_enlarged_and_blurred() {
    // Wide blurs repeat px of a smaller image at the edges.
    for (sigma, most) in [(4.0, 5.0), (10.0, 5.0), (30.0, 10.0)] {
        let image = framed(Model::Rgb, Depth::U16, waves);
        let result = apply(&format!("backdrop:blur:20:0:40x60:{sigma}"), &image);
        for index in 0..3 {
            let expected = blurred_by_hand(&image, index, sigma);
            for (x, y) in places(&result) {
                assert_eq!(alpha(&result, x, y), 255.0);
                let have = level(&result.planes[index], x, y);
                if (20..60).contains(&x) {
                    assert_eq!(have, level(&image.planes[index], x, y), "{x},{y}");
                } else {
                    let want = expected[y as usize][x as usize];
                    assert!(
                        (have - want).abs() < most,
                        "{sigma} {index} {x},{y}: {have} {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_backdrop_keeps_thinned_planes_and_what_shows_through_all_of_it() {
    let image = framed(c420(), Depth::U8, waves);
    let result = apply("backdrop:blur:20:0:40x60:20", &image);
    assert_eq!(result.model, c420());
    for x in 20..60 {
        assert_eq!(
            level(&result.planes[0], x, 30),
            level(&image.planes[0], x, 30)
        );
    }
    let mut half = flat(Model::Rgb, Depth::U8, 40, 30, RED);
    half.alpha = Some(plane(Depth::U8, 40, 30, |x, _| {
        if (10..30).contains(&x) { 127.5 } else { 0.0 }
    }));
    let result = apply("backdrop:blur:10:0:20x30:8", &half);
    let near = |x: u32, want: f64| {
        let have = alpha(&result, x, 15);
        assert!((have - want).abs() <= 2.0, "{x}: {have} {want}");
    };
    // Half of it, and half of the half behind it.
    near(2, 127.5);
    near(20, 191.25);
}

#[test]
fn a_backdrop_does_nothing_behind_what_is_opaque() {
    let image = flat(
        c420(),
        Depth::U8,
        40,
        30,
        Colour {
            r: 9,
            g: 80,
            b: 200,
            a: 255,
        },
    );
    for kind in ["blur", "mean", "median"] {
        assert_eq!(apply(&format!("backdrop:{kind}:5:5:10x10"), &image), image);
    }
}
