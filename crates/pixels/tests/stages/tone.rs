//! Effects on each pixel by itself, against their formulas.

use andon_pixels::{Depth, Frame, Model, Subsampling};

use crate::support::*;

fn apply(effect: &str, frame: &Frame) -> Frame {
    run(&*parse(effect).unwrap().unwrap(), frame.clone())
}

fn luma([r, g, b]: [f64; 3]) -> f64 {
    0.299 * r + 0.587 * g + 0.114 * b
}

/// Returns CIELAB's L, a and b of sRGB levels from 0 to 255, by the definitions.
fn lab(rgb: [f64; 3]) -> [f64; 3] {
    let [r, g, b] = rgb.map(|level| match level / 255.0 {
        level if level <= 0.04045 => level / 12.92,
        level => ((level + 0.055) / 1.055).powf(2.4),
    });
    let x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
    let y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b;
    let z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883;
    let [x, y, z] = [x, y, z].map(|t| match t {
        t if t > 0.008_856_45 => t.cbrt(),
        t => t * 7.787_037 + 16.0 / 116.0,
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn of_lab([l, a, b]: [f64; 3]) -> [f64; 3] {
    let y = (l + 16.0) / 116.0;
    let [x, y, z] = [y + a / 500.0, y, y - b / 200.0].map(|t| match t {
        t if t > 6.0 / 29.0 => t.powi(3),
        t => (t - 16.0 / 116.0) / 7.787_037,
    });
    let (x, z) = (x * 0.95047, z * 1.08883);
    let r = 3.2404542 * x - 1.5371385 * y - 0.4985314 * z;
    let g = -0.969_266 * x + 1.8760108 * y + 0.0415560 * z;
    let b = 0.0556434 * x - 0.2040259 * y + 1.0572252 * z;
    [r, g, b].map(|light| match light {
        light if light <= 0.0031308 => 255.0 * 12.92 * light,
        light => 255.0 * (1.055 * light.powf(1.0 / 2.4) - 0.055),
    })
}

/// The formula of an effect, from 8-bit levels of red, green and blue to those of the result.
type Formula = fn([f64; 3]) -> [f64; 3];
const FORMULAS: &[(&str, Formula)] = &[
    ("gray", |rgb| [luma(rgb); 3]),
    ("bitonal", |rgb| {
        [if luma(rgb) < 127.5 { 0.0 } else { 255.0 }; 3]
    }),
    ("invert", |rgb| rgb.map(|v| 255.0 - v)),
    ("brightness:-40.5", |rgb| rgb.map(|v| v - 40.5)),
    ("contrast:1.7", |rgb| rgb.map(|v| 1.7 * (v - 128.0) + 128.0)),
    ("contrast:0", |rgb| rgb.map(|_| 128.0)),
    ("gamma:2.2", |rgb| {
        rgb.map(|v| 255.0 * (v / 255.0).powf(1.0 / 2.2))
    }),
    ("rgb:30:-20:7.5", |[r, g, b]| [r + 30.0, g - 20.0, b + 7.5]),
    ("saturation:0.4", |rgb| {
        rgb.map(|v| luma(rgb) + 0.4 * (v - luma(rgb)))
    }),
    ("saturation:3", |rgb| {
        rgb.map(|v| luma(rgb) + 3.0 * (v - luma(rgb)))
    }),
    // A third of a turn passes each channel on to the next.
    ("hue:120", |[r, g, b]| {
        let shift = luma([r, g, b]) - luma([b, r, g]);
        [b + shift, r + shift, g + shift]
    }),
    // Half a turn is the mirror image in the axis of grays.
    ("hue:180", |rgb| {
        let mean = rgb.iter().sum::<f64>() / 3.0;
        let turned = rgb.map(|v| 2.0 * mean - v);
        turned.map(|v| v + luma(rgb) - luma(turned))
    }),
    ("sepia", |[r, g, b]| {
        [
            0.393 * r + 0.769 * g + 0.189 * b,
            0.349 * r + 0.686 * g + 0.168 * b,
            0.272 * r + 0.534 * g + 0.131 * b,
        ]
    }),
    ("sepia:25", |[r, g, b]| {
        [
            0.75 * r + 0.25 * (0.393 * r + 0.769 * g + 0.189 * b),
            0.75 * g + 0.25 * (0.349 * r + 0.686 * g + 0.168 * b),
            0.75 * b + 0.25 * (0.272 * r + 0.534 * g + 0.131 * b),
        ]
    }),
    ("duotone:102040:ffe0a0", |rgb| {
        let share = luma(rgb) / 255.0;
        [(16.0, 255.0), (32.0, 224.0), (64.0, 160.0)]
            .map(|(dark, light)| dark + (light - dark) * share)
    }),
    ("colorize:40:3060a0", |[r, g, b]| {
        [
            0.6 * r + 0.4 * 48.0,
            0.6 * g + 0.4 * 96.0,
            0.6 * b + 0.4 * 160.0,
        ]
    }),
    ("tint:b06010", |rgb| {
        let [_, a, b] = lab([176.0, 96.0, 16.0]);
        of_lab([lab(rgb)[0], a, b])
    }),
    ("modulate:1.2:0.7:-60", |rgb| {
        let [l, a, b] = lab(rgb);
        let (sin, cos) = (-60.0_f64).to_radians().sin_cos();
        of_lab([
            1.2 * l,
            0.7 * (a * cos - b * sin),
            0.7 * (a * sin + b * cos),
        ])
    }),
];

/// Returns red, green and blue of a gray or RGB frame in 8-bit levels.
fn pixel(frame: &Frame, x: u32, y: u32) -> [f64; 3] {
    match frame.model {
        Model::Gray => [level(&frame.planes[0], x, y); 3],
        _ => [0, 1, 2].map(|index| level(&frame.planes[index], x, y)),
    }
}

#[test]
fn every_pixel_becomes_what_the_formula_says() {
    for (effect, formula) in FORMULAS {
        for (model, depth) in [
            (Model::Rgb, Depth::U8),
            (Model::Rgb, Depth::U16),
            (Model::Gray, Depth::U8),
            (Model::Gray, Depth::U16),
        ] {
            let mut source = frame(model, depth, 40, 30, noise);
            source.alpha = Some(plane(depth, 40, 30, |x, y| noise(9, x, y)));
            let result = apply(effect, &source);
            assert_eq!(result.alpha, source.alpha, "{effect}");
            // Rounded to a level, of which there are 257 times as many in 16 bits.
            let tolerance = if depth == Depth::U8 { 0.51 } else { 0.01 };
            for (x, y) in (0..30).flat_map(|y| (0..40).map(move |x| (x, y))) {
                let want = formula(pixel(&source, x, y)).map(|v| v.clamp(0.0, 255.0));
                let have = pixel(&result, x, y);
                let close = |c: usize| (have[c] - want[c]).abs() <= tolerance;
                assert!(
                    (0..3).all(close),
                    "{effect} {model:?} {depth:?} {x},{y}: {have:?} {want:?}"
                );
            }
        }
    }
}

#[test]
fn what_brings_no_colour_leaves_gray_images_gray() {
    let source = frame(Model::Gray, Depth::U8, 8, 8, noise);
    for (effect, _) in FORMULAS {
        let colours = ["rgb", "sepia", "duotone", "colorize", "tint"];
        let colourful = colours.iter().any(|word| effect.starts_with(word));
        let stage = parse(effect).unwrap().unwrap();
        assert_eq!(stage.adds_colour(), colourful, "{effect}");
        let model = apply(effect, &source).model;
        assert_eq!(model == Model::Gray, !colourful, "{effect}");
    }
    for effect in [
        "duotone:202020:f0f0f0",
        "rgb:5:5:5",
        "colorize:50:808080",
        "tint:707070",
    ] {
        assert_eq!(apply(effect, &source).model, Model::Gray, "{effect}");
    }
}

/// Effects give the same colours in YCbCr, subsampled or not and of either range, and in CMYK as in RGB.
#[test]
fn every_model_shows_what_red_green_and_blue_would() {
    for (effect, _) in FORMULAS {
        if *effect == "bitonal" {
            continue; // What falls just below the threshold in one model falls just above in another.
        }
        for model in [
            Model::ycbcr(Subsampling::NONE),
            c420(),
            limited(),
            Model::Cmyk,
        ] {
            let source = frame(model, Depth::U16, 40, 30, mild);
            let shown = as_rgb(&apply(effect, &source));
            let expected = as_rgb(&apply(effect, &as_rgb(&source)));
            let apart = frames_differ(&shown, &expected);
            assert!(apart < 0.05, "{effect} {model:?}: {apart}");
        }
    }
}

/// Returns an 8-bit level for a plane and position, so close to 128 that the colours remain within the gamut in every
/// model.
fn mild(index: usize, x: u32, y: u32) -> f64 {
    128.0 + (waves(index, x, y) - 128.0) / if index == 0 { 2.0 } else { 8.0 }
}

#[test]
fn gray_and_paler_colours_leave_luma_and_thinned_chroma_where_they_are() {
    let source = frame(c420(), Depth::U8, 33, 21, waves);
    for effect in ["gray", "saturation:0.5"] {
        let result = apply(effect, &source);
        assert_eq!(result.model, source.model, "{effect}");
        assert_eq!(result.planes[0], source.planes[0], "{effect}");
    }
    let chroma = &apply("gray", &source).planes[1];
    assert!((0..17).all(|x| level(chroma, x, 5) == 128.0));
}

#[test]
fn effects_that_change_nothing_have_no_stage() {
    for effect in [
        "brightness:0",
        "contrast:1",
        "gamma:1",
        "rgb:0:0:0",
        "saturation:1",
        "hue:0",
        "hue:360",
        "modulate:1",
        "modulate:1:1:-360",
        "sepia:0",
        "colorize:0:ff0000",
    ] {
        assert!(parse(effect).unwrap().is_none(), "{effect}");
    }
}
