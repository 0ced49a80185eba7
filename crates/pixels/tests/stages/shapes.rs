//! Compares squares, outlines, overlays and areas with slow implementations.

use std::f64::consts::PI;

use andon_pixels::{Depth, Frame, Model, Never, Plane};

use crate::support::*;

fn apply(effect: &str, frame: &Frame) -> Frame {
    run(&*parse(effect).unwrap().unwrap(), frame.clone())
}

/// Returns every position in a frame.
fn places(frame: &Frame) -> impl Iterator<Item = (u32, u32)> {
    let (width, height) = (frame.width, frame.height);
    (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)))
}

fn alpha(frame: &Frame, x: u32, y: u32) -> f64 {
    frame
        .alpha
        .as_ref()
        .map_or(255.0, |alpha| level(alpha, x, y))
}

#[test]
fn squares_show_the_mean_of_what_is_seen_in_them() {
    for depth in [Depth::U8, Depth::U16] {
        let mut source = frame(Model::Rgb, depth, 37, 23, noise);
        source.alpha = Some(plane(depth, 37, 23, |x, y| noise(7, x, y)));
        let result = apply("pixelate:5", &source);
        for (x, y) in places(&source) {
            let square = || {
                let rows = y / 5 * 5..(y / 5 * 5 + 5).min(23);
                rows.flat_map(move |y| (x / 5 * 5..(x / 5 * 5 + 5).min(37)).map(move |x| (x, y)))
            };
            let opacity: f64 = square().map(|(x, y)| alpha(&source, x, y)).sum();
            let count = square().count() as f64;
            assert!((alpha(&result, x, y) - opacity / count).abs() < 0.51);
            for index in 0..3 {
                let seen = square()
                    .map(|(x, y)| level(&source.planes[index], x, y) * alpha(&source, x, y));
                let want = seen.sum::<f64>() / opacity;
                let have = level(&result.planes[index], x, y);
                assert!(
                    (have - want).abs() < 0.51,
                    "{depth:?} {x},{y}: {have} {want}"
                );
            }
        }
    }
}

#[test]
fn squares_of_whole_chroma_samples_leave_chroma_thin_and_others_do_not() {
    let source = frame(c420(), Depth::U8, 48, 32, waves);
    let result = apply("pixelate:8", &source);
    assert_eq!(result.model, c420());
    let chroma = &result.planes[1];
    let block = (0..4).flat_map(|y| (0..4).map(move |x| (x, y)));
    let mean = block
        .map(|(x, y)| level(&source.planes[1], x, y))
        .sum::<f64>()
        / 16.0;
    assert!((level(chroma, 3, 3) - mean).abs() < 0.51);
    assert_ne!(level(chroma, 4, 3), level(chroma, 3, 3));
    let source = frame(c420(), Depth::U8, 48, 32, |index, x, y| {
        128.0 + (waves(index, x, y) - 128.0) / 4.0
    });
    let odd = as_rgb(&apply("pixelate:7", &source));
    let expected = apply("pixelate:7", &as_rgb(&source));
    assert!(frames_differ(&odd, &expected) < 2.5);
}

/// Returns how much of pixel (`x`, `y`) lies inside a shape, 0 to 1, by sampling many points. `within` tells whether a
/// point lies inside.
fn covered(x: u32, y: u32, within: impl Fn(f64, f64) -> bool) -> f64 {
    let points = (0..32).flat_map(|v| (0..32).map(move |u| (u, v)));
    let place = |at: u32, sub: u32| f64::from(at) + (f64::from(sub) + 0.5) / 32.0;
    let inside = points.filter(|&(u, v)| within(place(x, u), place(y, v)));
    inside.count() as f64 / 1024.0
}

#[test]
fn round_corners_are_quarters_of_an_ellipse_with_soft_edges() {
    let mut source = frame(Model::Rgb, Depth::U8, 60, 40, noise);
    let within = |rx: f64, ry: f64| {
        move |x: f64, y: f64| {
            let (dx, dy) = (
                (x - 30.0).abs() - (30.0 - rx),
                (y - 20.0).abs() - (20.0 - ry),
            );
            dx <= 0.0 || dy <= 0.0 || (dx / rx).powi(2) + (dy / ry).powi(2) <= 1.0
        }
    };
    // The last radius is more than half of the height, so both radii shrink by the same factor.
    for (effect, rx, ry) in [
        ("round:9", 9.0, 9.0),
        ("round:12:5.5", 12.0, 5.5),
        ("round:60", 20.0, 20.0),
    ] {
        let result = apply(effect, &source);
        assert_eq!(result.planes, source.planes, "colours stay");
        for (x, y) in places(&source) {
            let want = 255.0 * covered(x, y, within(rx, ry));
            assert!(
                (alpha(&result, x, y) - want).abs() < 8.0,
                "{effect} {x},{y}"
            );
        }
    }
    source.alpha = Some(plane(Depth::U8, 60, 40, |_, _| 100.0));
    assert_eq!(alpha(&apply("round:9", &source), 30, 20), 100.0);
    assert_eq!(alpha(&apply("round:9", &source), 0, 0), 0.0);
}

#[test]
fn round_corners_of_a_colour_need_no_opacity() {
    for (model, tolerance) in [(Model::Rgb, 1.5), (c420(), 40.0)] {
        let source = flat(model, Depth::U8, 60, 40, BLUE);
        let result = apply("round:12:12:ff0000", &source);
        assert!(result.alpha.is_none());
        assert_eq!(result.model, model);
        let result = as_rgb(&result);
        let at = |x, y| [0, 1, 2].map(|index| level(&result.planes[index], x, y));
        let near =
            |have: [f64; 3], want: [f64; 3]| (0..3).all(|c| (have[c] - want[c]).abs() <= tolerance);
        assert!(near(at(0, 0), [255.0, 0.0, 0.0]), "{:?}", at(0, 0));
        assert!(near(at(30, 20), [0.0, 0.0, 255.0]), "{:?}", at(30, 20));
    }
}

#[test]
fn masks_have_the_area_of_their_shapes() {
    let source = flat(Model::Gray, Depth::U8, 300, 200, BLUE);
    // Each is 200 px high; a pentagon of radius 1 is as high as the star.
    let polygon = |corners: f64, high: f64| {
        corners / 2.0 * (200.0 / high).powi(2) * (2.0 * PI / corners).sin()
    };
    let pentagon = 1.0 + (PI / 5.0).cos();
    let areas = [
        ("circle", 1e4 * PI),
        ("ellipse", 150.0 * 100.0 * PI),
        ("triangle", polygon(3.0, 1.5)),
        ("triangle-180", polygon(3.0, 1.5)),
        ("pentagon", polygon(5.0, pentagon)),
        ("pentagon-180", polygon(5.0, pentagon)),
        ("hexagon", polygon(6.0, 2.0)),
        ("square", polygon(4.0, 2.0)),
        (
            "star",
            5.0 * (200.0 / pentagon).powi(2) * 0.381_966 * (PI / 5.0).sin(),
        ),
        // The integral of the heart's curve: 180 π, for a height of 28.92.
        ("heart", 180.0 * PI * (200.0_f64 / 28.923).powi(2)),
    ];
    for (shape, want) in areas {
        let result = apply(&format!("mask:{shape}"), &source);
        let have: f64 = places(&source)
            .map(|(x, y)| alpha(&result, x, y) / 255.0)
            .sum();
        assert!((have - want).abs() < want / 200.0, "{shape}: {have} {want}");
        let mirrored = |(x, y)| (alpha(&result, x, y) - alpha(&result, 299 - x, y)).abs() < 2.0;
        assert!(places(&source).all(mirrored), "{shape}");
        assert_eq!(alpha(&result, 150, 100), 255.0, "{shape}");
    }
    let up = apply("mask:triangle", &source);
    assert!(alpha(&up, 150, 5) > 250.0 && alpha(&up, 60, 5) < 5.0);
    assert!(alpha(&up, 60, 195) > 250.0);
    let heart = apply("mask:heart", &source);
    assert!(alpha(&heart, 150, 20) < 5.0 && alpha(&heart, 120, 20) > 250.0);
}

/// Creates the icon for tests of overlays: colours and opacity of every kind.
fn icon(depth: Depth) -> Frame {
    let mut icon = frame(Model::Rgb, depth, 16, 12, |index, x, y| {
        noise(index + 4, x, y)
    });
    icon.alpha = Some(plane(depth, 16, 12, |x, y| {
        255.0 * (f64::from(x + y) / 26.0)
    }));
    icon
}

fn laid(effect: &str, ground: &Frame, icon: &Frame) -> Frame {
    let stage = parse(effect).unwrap().unwrap();
    run_with(&*stage, ground.clone(), &Never, Some(icon)).unwrap()
}

/// Applies the W3C's formula for the blend mode `name` to a backdrop and a source in 0..=1.
fn mode(name: &str, b: f64, s: f64) -> f64 {
    let screen = |b: f64, s: f64| b + s - b * s;
    let hard = |b: f64, s: f64| {
        if s <= 0.5 {
            b * 2.0 * s
        } else {
            screen(b, 2.0 * s - 1.0)
        }
    };
    match name {
        "multiply" => b * s,
        "screen" => screen(b, s),
        "overlay" => hard(s, b),
        "darken" => b.min(s),
        "lighten" => b.max(s),
        "color-dodge" if b == 0.0 => 0.0,
        "color-dodge" if s == 1.0 => 1.0,
        "color-dodge" => (b / (1.0 - s)).min(1.0),
        "color-burn" if b == 1.0 => 1.0,
        "color-burn" if s == 0.0 => 0.0,
        "color-burn" => 1.0 - ((1.0 - b) / s).min(1.0),
        "hard-light" => hard(b, s),
        "soft-light" if s <= 0.5 => b - (1.0 - 2.0 * s) * b * (1.0 - b),
        "soft-light" => {
            let d = if b <= 0.25 {
                ((16.0 * b - 12.0) * b + 4.0) * b
            } else {
                b.sqrt()
            };
            b + (2.0 * s - 1.0) * (d - b)
        }
        "difference" => (b - s).abs(),
        "exclusion" => b + s - 2.0 * b * s,
        "add" => (b + s).min(1.0),
        _ => s,
    }
}

/// Applies the W3C's pseudo code for the blend modes that mix red, green and blue; `None` for other modes.
fn mix(name: &str, b: [f64; 3], s: [f64; 3]) -> Option<[f64; 3]> {
    let lum = |c: [f64; 3]| 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2];
    let least = |c: [f64; 3]| c.into_iter().fold(f64::MAX, f64::min);
    let most = |c: [f64; 3]| c.into_iter().fold(f64::MIN, f64::max);
    let sat = |c: [f64; 3]| most(c) - least(c);
    let clip_color = |c: [f64; 3]| {
        let (l, n, x) = (lum(c), least(c), most(c));
        let c = match n < 0.0 {
            true => c.map(|c| l + (((c - l) * l) / (l - n))),
            false => c,
        };
        match x > 1.0 {
            true => c.map(|c| l + (((c - l) * (1.0 - l)) / (x - l))),
            false => c,
        }
    };
    let set_lum = |c: [f64; 3], l: f64| {
        let d = l - lum(c);
        clip_color(c.map(|c| c + d))
    };
    let set_sat = |c: [f64; 3], s: f64| {
        let mut places = [0, 1, 2];
        places.sort_by(|one, other| c[*one].total_cmp(&c[*other]));
        let [min, mid, max] = places;
        let mut result = [0.0; 3];
        if c[max] > c[min] {
            result[mid] = ((c[mid] - c[min]) * s) / (c[max] - c[min]);
            result[max] = s;
        }
        result
    };
    Some(match name {
        "hue" => set_lum(set_sat(s, sat(b)), lum(b)),
        "saturation" => set_lum(set_sat(b, sat(s)), lum(b)),
        "color" => set_lum(s, lum(b)),
        "luminosity" => set_lum(b, lum(s)),
        _ => return None,
    })
}

#[test]
fn every_blend_mode_is_as_the_w3c_defines_it() {
    let modes = [
        "normal",
        "tile",
        "multiply",
        "screen",
        "overlay",
        "darken",
        "lighten",
        "color-dodge",
        "color-burn",
        "hard-light",
        "soft-light",
        "difference",
        "exclusion",
        "add",
        "hue",
        "saturation",
        "color",
        "luminosity",
    ];
    for name in modes {
        for (opaque, opacity) in [(true, 100.0), (false, 60.0)] {
            let mut ground = frame(Model::Rgb, Depth::U16, 40, 30, noise);
            if !opaque {
                ground.alpha = Some(plane(Depth::U16, 40, 30, |x, y| noise(8, x, y)));
            }
            let icon = icon(Depth::U16);
            let result = laid(
                &format!("overlay:icon:-3:20:{opacity}:0:0:{name}"),
                &ground,
                &icon,
            );
            for (x, y) in places(&ground) {
                let (mut u, mut v) = (i64::from(x) + 3, i64::from(y) - 20);
                if name == "tile" {
                    (u, v) = (u.rem_euclid(16), v.rem_euclid(12));
                }
                let inside = (0..16).contains(&u) && (0..12).contains(&v);
                let (u, v) = (u as u32, v as u32);
                let below = alpha(&ground, x, y) / 255.0;
                let above = if inside {
                    alpha(&icon, u, v) / 255.0 * opacity / 100.0
                } else {
                    0.0
                };
                let seen = above + below * (1.0 - above);
                let colour = |frame: &Frame, x: u32, y: u32| {
                    [0, 1, 2].map(|index| level(&frame.planes[index], x, y) / 255.0)
                };
                let mixed = match inside || name == "tile" {
                    true => mix(name, colour(&ground, x, y), colour(&icon, u, v)),
                    false => None,
                };
                for index in 0..3 {
                    let b = level(&ground.planes[index], x, y) / 255.0;
                    let want = if above > 0.0 {
                        let s = level(&icon.planes[index], u, v) / 255.0;
                        let mixed = mixed.map_or_else(|| mode(name, b, s), |it| it[index]);
                        let s = (1.0 - below) * s + below * mixed;
                        (above * s + below * (1.0 - above) * b) / seen
                    } else {
                        b
                    };
                    let have = level(&result.planes[index], x, y) / 255.0;
                    assert!(
                        (have - want).abs() * seen < 2e-4,
                        "{name} {opaque} {x},{y}: {have} {want}"
                    );
                }
                assert!(
                    (alpha(&result, x, y) / 255.0 - seen).abs() < 1e-4,
                    "{name} {x},{y}"
                );
            }
        }
    }
}

#[test]
fn a_scaled_overlay_has_the_size_that_was_asked_for_or_follows_the_other_side() {
    let ground = flat(Model::Rgb, Depth::U8, 80, 80, BLUE);
    let icon = flat(Model::Rgb, Depth::U8, 16, 12, RED);
    for (size, (w, h)) in [
        ("32:0", (32, 24)),
        ("0:6", (8, 6)),
        ("20:30", (20, 30)),
        ("0:0", (16, 12)),
        ("20:30:normal:cover", (20, 30)),
        ("32:0:normal:cover", (32, 24)),
    ] {
        let result = laid(&format!("overlay:icon:10:5:100:{size}"), &ground, &icon);
        let red = places(&ground).filter(|&(x, y)| level(&result.planes[0], x, y) > 127.0);
        let red: Vec<_> = red.collect();
        assert_eq!(red.len(), w * h, "{size}");
        assert!(
            red.contains(&(10, 5)) && red.contains(&(9 + w as u32, 4 + h as u32)),
            "{size}"
        );
    }
    assert!(
        parse("overlay:icon:0:0:0").unwrap().is_none(),
        "nobody would see it"
    );
}

#[test]
fn an_overlay_that_covers_a_size_shows_its_middle() {
    let ground = flat(Model::Rgb, Depth::U8, 80, 80, BLUE);
    // Red in the middle half of the icon's width, blue at both sides.
    let icon = frame(Model::Rgb, Depth::U8, 32, 16, |plane, x, _| {
        let red = (8..24).contains(&x);
        255.0 * f64::from(u8::from(red == (plane == 0) && plane != 1))
    });
    let result = laid("overlay:icon:10:5:100:40:40:normal:cover", &ground, &icon);
    for (x, y) in [(11, 6), (48, 6), (11, 43), (48, 43), (30, 25)] {
        assert!(level(&result.planes[0], x, y) > 127.0, "{x},{y}");
    }
    assert!(level(&result.planes[0], 51, 25) < 127.0);
}

#[test]
fn an_overlay_lies_where_its_place_says() {
    let ground = flat(Model::Rgb, Depth::U8, 80, 50, BLUE);
    let icon = flat(Model::Rgb, Depth::U8, 16, 12, RED);
    // Left and top edges, for each copy.
    for (place, columns, rows) in [
        ("3:4", vec![3], vec![4]),
        ("50p:50p", vec![32], vec![19]),
        ("100p:100p-2", vec![64], vec![36]),
        ("50p+5:0p", vec![37], vec![0]),
        ("spread:10", vec![0, 16, 32, 48, 64], vec![10]),
        (
            "spread:spread",
            vec![0, 16, 32, 48, 64],
            vec![0, 12, 24, 36],
        ),
        ("20:spread", vec![20], vec![0, 12, 24, 36]),
        ("2:repeat", vec![2], vec![0, 12, 24, 36, 48]),
        (
            "repeat:repeat",
            vec![0, 16, 32, 48, 64],
            vec![0, 12, 24, 36, 48],
        ),
        ("20:0:100:32:18:normal:inside", vec![20, 28], vec![0, 6]),
    ] {
        let result = laid(&format!("overlay:icon:{place}"), &ground, &icon);
        for (x, y) in places(&ground) {
            let inside = |starts: &[u32], at: u32, side: u32| {
                starts
                    .iter()
                    .any(|&start| (start..start + side).contains(&at))
            };
            let red = inside(&columns, x, 16) && inside(&rows, y, 12);
            assert_eq!(
                level(&result.planes[0], x, y) > 127.0,
                red,
                "{place} {x},{y}"
            );
        }
    }
    for wrong in [
        "overlay:icon:x:1",
        "overlay:icon:101p:1",
        "overlay:icon:5p+-2:1",
        "overlay:icon:5p2:1",
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn over_is_an_overlay_with_nothing_said_beside() {
    for model in [c420(), Model::Rgb, Model::Gray, Model::Cmyk] {
        let ground = frame(model, Depth::U8, 40, 30, waves);
        let one = laid("over:icon:7:-4", &ground, &icon(Depth::U8));
        assert_eq!(one, laid("overlay:icon:7:-4", &ground, &icon(Depth::U8)));
        assert_eq!(one.model, model);
    }
}

#[test]
fn an_area_is_blurred_as_the_whole_would_be_and_the_rest_stays() {
    for model in [c420(), Model::Rgb, Model::Gray] {
        let mut source = frame(model, Depth::U8, 90, 70, noise);
        source.alpha = Some(plane(Depth::U8, 90, 70, |x, y| noise(5, x, y)));
        let whole = apply("blur:0x2", &source);
        let result = apply("blur-area:21:13:40x200:2", &source);
        assert_eq!(result.alpha, source.alpha);
        for (index, plane) in result.planes.iter().enumerate() {
            let thin = 90 / plane.width();
            for y in 0..plane.height() {
                for x in 0..plane.width() {
                    let middle = |at: u32| at * thin + (thin - 1) / 2;
                    let inside = (21..61).contains(&middle(x)) && middle(y) >= 13;
                    let expected = if inside { &whole } else { &source };
                    let (have, want) = (level(plane, x, y), level(&expected.planes[index], x, y));
                    assert!(
                        (have - want).abs() <= 1.0,
                        "{model:?} {index} {x},{y}: {have} {want}"
                    );
                }
            }
        }
    }
    let source = flat(Model::Gray, Depth::U8, 9, 9, RED);
    assert_eq!(apply("blur-area:20:20:5x5:3", &source), source);
    for nothing in ["blur-area:1:1:0x5:3", "blur-area:1:1:5x5:0"] {
        assert!(parse(nothing).unwrap().is_none(), "{nothing}");
    }
}

/// Returns the CIELAB lightness (0 to 100) of an sRGB gray level (0 to 255).
fn lightness(level: f64) -> f64 {
    let v = level / 255.0;
    let light = if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    };
    if light > 0.008_856_45 {
        116.0 * light.cbrt() - 16.0
    } else {
        903.3 * light
    }
}

fn gray(lightness: f64) -> f64 {
    let root = (lightness + 16.0) / 116.0;
    let light = if lightness > 8.0 {
        root.powi(3)
    } else {
        lightness / 903.3
    };
    let v = if light <= 0.0031308 {
        12.92 * light
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    };
    (255.0 * v).clamp(0.0, 255.0)
}

#[test]
fn lightness_is_sharpened_by_one_factor_where_it_is_flat_and_another_at_edges() {
    for (effect, sigma, reach, flat, jagged) in [
        ("sharpen-l:1", 1.0, 2, 0.0, 3.0),
        ("sharpen-l:1.5:1:2", 1.5, 3, 1.0, 2.0),
    ] {
        // Edges, slopes and small differences.
        let source = frame(Model::Rgb, Depth::U16, 40, 30, |_, x, y| {
            90.0 + if x % 13 > 6 { 40.0 } else { 0.0 } + noise(0, x, y) / 40.0
        });
        let result = apply(effect, &source);
        let at = |x: i64, y: i64| {
            lightness(level(
                &source.planes[0],
                x.clamp(0, 39) as u32,
                y.clamp(0, 29) as u32,
            ))
        };
        for (x, y) in places(&source) {
            let (mut sum, mut weights) = (0.0, 0.0);
            for dy in -reach..=reach {
                for dx in -reach..=reach {
                    let weight = (-((dx * dx + dy * dy) as f64) / (2.0 * sigma * sigma)).exp();
                    sum += weight * at(i64::from(x) + dx, i64::from(y) + dy);
                    weights += weight;
                }
            }
            let own = at(x.into(), y.into());
            let difference: f64 = own - sum / weights;
            let small = difference.clamp(-2.0, 2.0);
            let moved = (flat * small + jagged * (difference - small)).clamp(-20.0, 10.0);
            let want = gray(own + moved);
            for plane in &result.planes {
                let have = level(plane, x, y);
                assert!((have - want).abs() < 0.1, "{effect} {x},{y}: {have} {want}");
            }
        }
    }
    assert!(parse("sharpen-l:0.4").unwrap().is_none());
}

#[test]
fn sharpened_lightness_leaves_models_and_opacity_alone() {
    let mut source = frame(c420(), Depth::U8, 40, 30, waves);
    source.alpha = Some(plane(Depth::U8, 40, 30, |x, y| noise(5, x, y)));
    let result = apply("sharpen-l:1", &source);
    assert_eq!((result.model, &result.alpha), (Model::Rgb, &source.alpha));
    let gray = apply("sharpen-l:1", &frame(Model::Gray, Depth::U8, 20, 20, waves));
    assert_eq!(gray.model, Model::Gray);
    assert!(matches!(gray.planes[0], Plane::U8(_)));
}
