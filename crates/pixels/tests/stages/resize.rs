//! Resampling and cropping.

use andon_pixels::resize::{Crop, Kernel, RegionF, Resample};
use andon_pixels::{Depth, Error, Frame, Interrupt, Model, Plane, Scale, Scales, Subsampling};

use crate::support::*;

fn whole(width: u32, height: u32) -> RegionF {
    RegionF {
        x: 0.0,
        y: 0.0,
        w: width.into(),
        h: height.into(),
    }
}

fn resample(frame: &Frame, from: RegionF, to: (u32, u32)) -> Resample {
    let stored = match frame.model {
        Model::YCbCr { sub, .. } => sub,
        _ => Subsampling::NONE,
    };
    Resample {
        source: (frame.width, frame.height),
        from,
        within: from,
        part: None,
        scales: Scales::FULL,
        stored,
        to,
        chroma: None,
        kernel: Kernel::Lanczos3,
    }
}

/// Returns the weights of the kernels as defined in textbooks.
fn weight(kernel: Kernel, x: f64) -> f64 {
    let x = x.abs();
    let sinc = |x: f64| {
        let x = x * std::f64::consts::PI;
        if x == 0.0 { 1.0 } else { x.sin() / x }
    };
    let cubic = |b: f64, c: f64| {
        if x < 1.0 {
            ((12.0 - 9.0 * b - 6.0 * c) * x.powi(3)
                + (-18.0 + 12.0 * b + 6.0 * c) * x.powi(2)
                + (6.0 - 2.0 * b))
                / 6.0
        } else if x < 2.0 {
            ((-b - 6.0 * c) * x.powi(3)
                + (6.0 * b + 30.0 * c) * x.powi(2)
                + (-12.0 * b - 48.0 * c) * x
                + (8.0 * b + 24.0 * c))
                / 6.0
        } else {
            0.0
        }
    };
    match kernel {
        Kernel::Lanczos3 => {
            if x < 3.0 {
                sinc(x) * sinc(x / 3.0)
            } else {
                0.0
            }
        }
        Kernel::Mitchell => cubic(1.0 / 3.0, 1.0 / 3.0),
        Kernel::CatmullRom => cubic(0.0, 0.5),
        Kernel::Bilinear => (1.0 - x).max(0.0),
        Kernel::Box => {
            if x <= 0.5 {
                1.0
            } else {
                0.0
            }
        }
    }
}

/// Resamples the range of `length` samples from `left` on, out of one line of samples, to `out` samples. Samples
/// outside the range do not count.
fn line(samples: &[f64], left: f64, length: f64, out: u32, kernel: Kernel) -> Vec<f64> {
    let scale = length / f64::from(out);
    let wide = scale.max(1.0);
    let first = left.floor() as usize;
    let last = ((left + length).ceil() as usize).min(samples.len());
    (0..out)
        .map(|at| {
            let centre = left + (f64::from(at) + 0.5) * scale;
            let weights = (first..last).map(|i| weight(kernel, (i as f64 + 0.5 - centre) / wide));
            let sum: f64 = weights.clone().sum();
            let value: f64 = weights.zip(&samples[first..last]).map(|(w, s)| w * s).sum();
            value / sum
        })
        .collect()
}

/// Resamples a plane in floating point, one line at a time.
fn slowly(plane: &Plane, from: RegionF, to: (u32, u32), kernel: Kernel) -> Vec<Vec<f64>> {
    let rows = (0..plane.height()).map(|y| {
        let row: Vec<f64> = (0..plane.width()).map(|x| level(plane, x, y)).collect();
        line(&row, from.x, from.w, to.0, kernel)
    });
    let rows: Vec<Vec<f64>> = rows.collect();
    let columns = (0..to.0 as usize).map(|x| {
        let column: Vec<f64> = rows.iter().map(|row| row[x]).collect();
        line(&column, from.y, from.h, to.1, kernel)
    });
    let columns: Vec<Vec<f64>> = columns.collect();
    let transpose = |y: usize| columns.iter().map(|column| column[y]).collect();
    (0..to.1 as usize).map(transpose).collect()
}

#[test]
fn a_plane_matches_direct_convolution() {
    let regions = [
        (whole(97, 61), (40, 23)),
        (whole(97, 61), (131, 90)),
        (
            RegionF {
                x: 10.0,
                y: 7.0,
                w: 60.0,
                h: 50.0,
            },
            (31, 17),
        ),
        (
            RegionF {
                x: 3.5,
                y: 0.25,
                w: 80.5,
                h: 60.5,
            },
            (64, 48),
        ),
    ];
    let kernels = [
        Kernel::Lanczos3,
        Kernel::Mitchell,
        Kernel::CatmullRom,
        Kernel::Bilinear,
    ];
    for depth in [Depth::U8, Depth::U16] {
        let frame = frame(Model::Gray, depth, 97, 61, waves);
        for (from, to) in regions {
            for kernel in kernels {
                let stage = Resample {
                    kernel,
                    ..resample(&frame, from, to)
                };
                let result = run(&stage, frame.clone());
                let expected = slowly(&frame.planes[0], from, to, kernel);
                for y in 0..to.1 {
                    for x in 0..to.0 {
                        let want = expected[y as usize][x as usize].clamp(0.0, 255.0);
                        let have = level(&result.planes[0], x, y);
                        assert!(
                            (have - want).abs() < 1.5,
                            "{depth:?} {stage} {x},{y}: {have} {want}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn large_planes_are_filtered_in_bands_without_a_seam() {
    let frame = frame(Model::Gray, Depth::U8, 6000, 4000, waves);
    let result = run(&resample(&frame, whole(6000, 4000), (600, 400)), frame);
    for y in 0..400 {
        for x in (0..600).step_by(37) {
            // Waves of some 50 px shrunk by 10 keep their shape; a seam would show as a step.
            let expected = waves(0, x * 10 + 4, y * 10 + 4);
            let have = level(&result.planes[0], x, y);
            assert!((have - expected).abs() < 25.0, "{x},{y}: {have} {expected}");
        }
    }
}

/// Returns the position in px of a vertical edge between the levels `left` and `right`, computed from the sum of the
/// samples.
fn edge(plane: &Plane, px_per_sample: f64, left: f64, right: f64) -> f64 {
    let y = plane.height() / 2;
    let share = |x| (level(plane, x, y) - right) / (left - right);
    (0..plane.width()).map(share).sum::<f64>() * px_per_sample
}

fn two_colours(model: Model, width: u32, height: u32, at: u32) -> Frame {
    frame(model, Depth::U8, width, height, |index, x, _| {
        let px = if index > 0 && model == c420() {
            2 * x
        } else {
            x
        };
        match (index, px < at) {
            (0, true) => 80.0,
            (0, false) => 180.0,
            (_, true) => 60.0,
            (_, false) => 200.0,
        }
    })
}

#[test]
fn a_colour_edge_in_an_odd_image_stays_in_place() {
    for (width, to) in [(133, 51), (133, 50), (301, 133), (64, 33), (67, 133)] {
        let at = width / 4 * 2;
        let frame = two_colours(c420(), width, 41, at);
        let result = run(&resample(&frame, whole(width, 41), (to, 21)), frame);
        let expected = f64::from(at) * f64::from(to) / f64::from(width);
        let luma = edge(&result.planes[0], 1.0, 80.0, 180.0);
        let chroma = edge(&result.planes[1], 2.0, 60.0, 200.0);
        assert!(
            (luma - expected).abs() < 0.125,
            "{width} to {to}: luma {luma}, not {expected}"
        );
        assert!(
            (chroma - expected).abs() < 0.125,
            "{width} to {to}: chroma {chroma}, not {expected}"
        );
    }
}

#[test]
fn a_colour_edge_stays_in_place_when_the_decoder_shrank_an_odd_image() {
    // An image 1001 px wide at 1/4: 251 px of luma and 126 of chroma, the last of which stand for fewer px than the
    // others.
    let frame = two_colours(c420(), 251, 41, 100);
    let stage = Resample {
        source: (1001, 164),
        scales: Scales::both(Scale::QUARTER),
        ..resample(&frame, whole(1001, 164), (133, 21))
    };
    let result = run(&stage, frame);
    let expected = 400.0 * 133.0 / 1001.0;
    assert!((edge(&result.planes[0], 1.0, 80.0, 180.0) - expected).abs() < 0.125);
    assert!((edge(&result.planes[1], 2.0, 60.0, 200.0) - expected).abs() < 0.125);
}

#[test]
fn full_chroma_is_thinned_on_the_way() {
    let source = frame(Model::ycbcr(Subsampling::NONE), Depth::U8, 99, 75, waves);
    let to = (47, 33);
    let stage = resample(&source, whole(99, 75), to);
    let full = run(&stage, source.clone());
    let thin = Resample {
        chroma: Some(Subsampling::C420),
        ..stage
    };
    let thin = run(&thin, source);
    assert_eq!(thin.model, c420());
    for y in 0..to.1 / 2 {
        for x in 0..to.0 / 2 {
            let mean = (0..4)
                .map(|i| level(&full.planes[2], 2 * x + i % 2, 2 * y + i / 2))
                .sum::<f64>()
                / 4.0;
            assert!((level(&thin.planes[2], x, y) - mean).abs() < 4.0, "{x},{y}");
        }
    }
}

#[test]
fn chroma_decoded_smaller_than_luma_lies_where_it_lay() {
    // A 4:4:4 image of 200×100 px whose chroma was decoded at half: 4:2:0 planes.
    let frame = two_colours(c420(), 200, 100, 100);
    let stage = Resample {
        stored: Subsampling::NONE,
        scales: Scales {
            luma: Scale::FULL,
            chroma: Scale::HALF,
        },
        ..resample(&frame, whole(200, 100), (75, 37))
    };
    let result = run(&stage, frame);
    assert!((edge(&result.planes[1], 2.0, 60.0, 200.0) - 37.5).abs() < 0.125);
}

#[test]
fn a_crop_at_an_odd_place_keeps_colour_in_place() {
    for x in [10, 11] {
        let frame = two_colours(c420(), 101, 40, 50);
        let crop = Crop {
            x,
            y: 5,
            width: 61,
            height: 31,
        };
        let result = run(&crop, frame);
        let expected = f64::from(50 - x);
        assert_eq!(edge(&result.planes[0], 1.0, 80.0, 180.0), expected);
        let chroma = edge(&result.planes[1], 2.0, 60.0, 200.0);
        assert!((chroma - expected).abs() < 0.125, "{x}: {chroma}");
    }
}

#[test]
fn a_crop_of_whole_samples_copies_them() {
    for model in [Model::Gray, Model::Rgb, c420()] {
        let source = frame(model, Depth::U16, 40, 30, noise);
        let crop = Crop {
            x: 6,
            y: 4,
            width: 20,
            height: 10,
        };
        let result = run(&crop, source.clone());
        for (index, plane) in result.planes.iter().enumerate() {
            let thin = if index > 0 && model == c420() { 2 } else { 1 };
            for y in 0..plane.height() {
                for x in 0..plane.width() {
                    let from = level(&source.planes[index], x + 6 / thin, y + 4 / thin);
                    assert_eq!(level(plane, x, y), from);
                }
            }
        }
    }
}

#[test]
fn nothing_is_filtered_at_the_same_size() {
    let mut source = frame(c420(), Depth::U8, 33, 21, noise);
    source.alpha = Some(plane(Depth::U8, 33, 21, |x, y| noise(7, x, y)));
    let stage = resample(&source, whole(33, 21), (33, 21));
    assert_eq!(run(&stage, source.clone()), source);
}

#[test]
fn a_region_does_not_see_what_lies_outside_it() {
    let frame = two_colours(Model::Gray, 100, 40, 50);
    let from = RegionF {
        x: 50.0,
        y: 0.0,
        w: 50.0,
        h: 40.0,
    };
    let result = run(&resample(&frame, from, (20, 16)), frame);
    assert!(
        result.planes[0]
            .as_u8()
            .unwrap()
            .samples()
            .iter()
            .all(|&v| v == 180)
    );
}

#[test]
fn hidden_colours_do_not_bleed() {
    for depth in [Depth::U8, Depth::U16] {
        for model in [Model::Rgb, c420(), Model::Gray] {
            // Left: visible, 100. Right: transparent, 255.
            let mut source = frame(model, depth, 64, 48, |_, x, _| {
                let px = if model == c420() { 0 } else { x };
                if px < 32 { 100.0 } else { 255.0 }
            });
            source.alpha = Some(plane(
                depth,
                64,
                48,
                |x, _| if x < 32 { 255.0 } else { 0.0 },
            ));
            let stage = Resample {
                kernel: Kernel::Mitchell,
                ..resample(&source, whole(64, 48), (21, 16))
            };
            let result = run(&stage, source);
            let alpha = result.alpha.as_ref().unwrap();
            for x in 0..21 {
                if level(alpha, x, 8) > 2.0 {
                    let colour = level(&result.planes[0], x, 8);
                    assert!(
                        (colour - 100.0).abs() < 2.0,
                        "{depth:?} {model:?} {x}: {colour}"
                    );
                }
            }
            assert_eq!((level(alpha, 0, 8), level(alpha, 20, 8)), (255.0, 0.0));
        }
    }
}

#[test]
fn an_opaque_alpha_plane_changes_no_colour() {
    let bare = frame(c420(), Depth::U8, 65, 43, noise);
    let mut opaque = bare.clone();
    opaque.alpha = Some(Plane::filled(Depth::U8, 65, 43, 255));
    let stage = resample(&bare, whole(65, 43), (31, 20));
    let (bare, opaque) = (run(&stage, bare), run(&stage, opaque));
    assert_eq!(bare.planes, opaque.planes);
    assert_eq!(opaque.alpha, Some(Plane::filled(Depth::U8, 31, 20, 255)));
}

#[test]
fn work_nobody_wants_any_more_stops() {
    struct Gone;
    impl Interrupt for Gone {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let frame = frame(Model::Gray, Depth::U8, 50, 50, noise);
    let stage = resample(&frame, whole(50, 50), (20, 20));
    let result = run_with(&stage, frame, &Gone, None);
    assert_eq!(result, Err(Error::Interrupted));
}

#[test]
fn the_line_in_the_plan_tells_size_kernel_and_part() {
    let frame = frame(Model::Gray, Depth::U8, 50, 50, noise);
    let stage = resample(&frame, whole(50, 50), (40, 30));
    assert_eq!(stage.to_string(), "resize 40x30 lanczos3");
    let from = RegionF {
        x: 10.0,
        y: 20.0,
        w: 25.0,
        h: 12.5,
    };
    let stage = resample(&frame, from, (40, 30));
    assert_eq!(
        stage.to_string(),
        "resize 40x30 lanczos3 from 10,20 25x12.5"
    );
    let crop = Crop {
        x: 1,
        y: 2,
        width: 3,
        height: 4,
    };
    assert_eq!(crop.to_string(), "crop 1,2 3x4");
}
