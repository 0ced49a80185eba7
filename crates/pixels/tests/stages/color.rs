//! Conversions between models, ranges and depths.

use andon_pixels::color::{Convert, name, sample};
use andon_pixels::{Depth, Frame, Matrix, Model, Plane, Range, Space, Subsampling, Traits};
use andon_recipe::Colour;
use proptest::prelude::*;

use crate::support::*;

fn convert(frame: &Frame, model: Model, depth: Depth) -> Frame {
    let to = Traits {
        model,
        depth,
        alpha: frame.alpha.is_some(),
        space: Space::UNSPECIFIED,
    };
    run(
        &Convert {
            to,
            from: Space::UNSPECIFIED,
        },
        frame.clone(),
    )
}

fn limited(sub: Subsampling) -> Model {
    Model::YCbCr {
        sub,
        range: Range::Limited,
        matrix: Matrix::Bt601,
    }
}

#[test]
fn rgb_comes_back_from_every_model_that_holds_it() {
    let models = [
        (Model::ycbcr(Subsampling::NONE), 1.5),
        (limited(Subsampling::NONE), 3.0),
        (Model::Cmyk, 1.5),
    ];
    for depth in [Depth::U8, Depth::U16] {
        let rgb = frame(Model::Rgb, depth, 64, 32, noise);
        for (model, tolerance) in models {
            let there = convert(&rgb, model, depth);
            let back = convert(&there, Model::Rgb, depth);
            let off = frames_differ(&rgb, &back);
            assert!(off <= tolerance, "{model:?} {depth:?}: {off}");
        }
    }
}

#[test]
fn gray_is_the_same_in_every_model() {
    let gray = frame(Model::Gray, Depth::U8, 63, 31, noise);
    for model in [Model::Rgb, c420(), limited(Subsampling::C420), Model::Cmyk] {
        let back = convert(&convert(&gray, model, Depth::U8), Model::Gray, Depth::U8);
        assert!(frames_differ(&gray, &back) <= 1.0, "{model:?}");
    }
}

#[test]
fn depths_round_trip_and_round_to_the_nearest() {
    let narrow = frame(Model::Rgb, Depth::U8, 30, 20, noise);
    let wide = convert(&narrow, Model::Rgb, Depth::U16);
    assert_eq!(convert(&wide, Model::Rgb, Depth::U8), narrow);
    let between = Frame::new(
        Model::Gray,
        1,
        1,
        vec![Plane::filled(Depth::U16, 1, 1, 257 * 7 + 129)],
        None,
    )
    .unwrap();
    let narrowed = convert(&between, Model::Gray, Depth::U8);
    assert_eq!(level(&narrowed.planes[0], 0, 0), 8.0);
}

#[test]
fn ranges_map_plane_by_plane() {
    let full = frame(c420(), Depth::U8, 64, 64, |_, x, y| {
        f64::from((x + 64 * y) % 256)
    });
    let there = convert(&full, limited(Subsampling::C420), Depth::U8);
    let (low, high) = (0..64)
        .map(|y| level(&there.planes[0], y, 3))
        .fold((255.0_f64, 0.0_f64), |(low, high), v| {
            (low.min(v), high.max(v))
        });
    assert!(low >= 16.0 && high <= 235.0, "{low} {high}");
    let back = convert(&there, c420(), Depth::U8);
    assert!(frames_differ(&full, &back) <= 1.0);
    let neutral = flat(
        c420(),
        Depth::U8,
        4,
        4,
        Colour {
            r: 255,
            g: 255,
            b: 255,
            a: 255,
        },
    );
    let neutral = convert(&neutral, limited(Subsampling::C420), Depth::U8);
    assert_eq!(
        [0, 1, 2].map(|plane| level(&neutral.planes[plane], 0, 0)),
        [235.0, 128.0, 128.0]
    );
}

#[test]
fn chroma_stays_in_place_when_it_is_thinned_and_undone() {
    // A slope keeps its values only if samples lie in the right places.
    let subs = [(2, 2), (2, 1), (1, 2), (4, 1)].map(|(h, v)| Subsampling { h, v });
    for sub in subs {
        let full = frame(
            Model::ycbcr(Subsampling::NONE),
            Depth::U16,
            61,
            47,
            |_, x, y| 40.0 + 2.0 * f64::from(x) + f64::from(y),
        );
        let thin = convert(&full, Model::ycbcr(sub), Depth::U16);
        let back = convert(&thin, full.model, Depth::U16);
        for y in 4..40 {
            for x in 4..54 {
                let off = level(&full.planes[1], x, y) - level(&back.planes[1], x, y);
                assert!(off.abs() < 0.1, "{sub:?} {x},{y}: {off}");
            }
        }
    }
}

#[test]
fn one_thinning_becomes_another() {
    let model = |h, v| Model::ycbcr(Subsampling { h, v });
    let source = frame(model(2, 1), Depth::U8, 61, 47, waves);
    let across = convert(&source, model(1, 2), Depth::U8);
    let back = convert(&across, model(2, 1), Depth::U8);
    assert!(frames_differ(&source, &back) < 6.0);
}

#[test]
fn known_colours_have_known_samples() {
    assert_eq!(sample(RED, Model::Rgb, Depth::U8), [255, 0, 0, 0]);
    assert_eq!(sample(RED, c420(), Depth::U8), [76, 85, 255, 0]);
    assert_eq!(
        sample(RED, limited(Subsampling::C420), Depth::U8),
        [81, 90, 240, 0]
    );
    assert_eq!(sample(BLUE, Model::Gray, Depth::U8), [29, 0, 0, 0]);
    assert_eq!(sample(RED, Model::Cmyk, Depth::U8), [0, 255, 255, 0]);
    assert_eq!(sample(RED, Model::Rgb, Depth::U16), [65_535, 0, 0, 0]);
}

#[test]
fn inks_take_their_share_of_light() {
    let inks = frame(Model::Cmyk, Depth::U8, 1, 1, |index, _, _| {
        [51.0, 0.0, 255.0, 127.5][index]
    });
    let light = convert(&inks, Model::Rgb, Depth::U8);
    assert_eq!(
        [0, 1, 2].map(|plane| level(&light.planes[plane], 0, 0)),
        [102.0, 127.0, 0.0]
    );
}

/// Returns a CMYK profile that prints lightness 100 without ink and 0 with any. Intermediate black follows lightness,
/// unlike in the naive formula. The profile consists of a header, one tag, and a table of 2×2×2×2 corners.
fn profile() -> Vec<u8> {
    let mut table = b"mft1\0\0\0\0".to_vec();
    table.extend([4, 3, 2, 0]);
    let unity = [1_u32, 0, 0, 0, 1, 0, 0, 0, 1].map(|n| (n << 16).to_be_bytes());
    table.extend(unity.concat());
    let straight: Vec<u8> = (0..=255).collect();
    table.extend(straight.repeat(4));
    table.extend((0..16).flat_map(|corner| [if corner == 0 { 255 } else { 0 }, 128, 128]));
    table.extend(straight.repeat(3));

    let mut profile = vec![0; 128];
    profile[8..12].copy_from_slice(&[2, 0x40, 0, 0]);
    profile[12..16].copy_from_slice(b"prtr");
    profile[16..20].copy_from_slice(b"CMYK");
    profile[20..24].copy_from_slice(b"Lab ");
    profile[36..40].copy_from_slice(b"acsp");
    for (at, white) in [(68, 0xF6D6_u32), (72, 0x1_0000), (76, 0xD32D)] {
        profile[at..at + 4].copy_from_slice(&white.to_be_bytes());
    }
    profile.extend(1_u32.to_be_bytes());
    profile.extend(b"A2B0");
    profile.extend(144_u32.to_be_bytes());
    profile.extend((table.len() as u32).to_be_bytes());
    profile.extend(table);
    let length = profile.len() as u32;
    profile[..4].copy_from_slice(&length.to_be_bytes());
    profile
}

#[test]
fn inks_look_as_their_profile_says() {
    for depth in [Depth::U8, Depth::U16] {
        // No black, half of it, and all of it; the other inks are 0.
        let inks = frame(Model::Cmyk, depth, 3, 1, |index, x, _| {
            if index == 3 {
                f64::from(x) * 127.5
            } else {
                0.0
            }
        });
        let to = Traits {
            model: Model::Rgb,
            depth,
            alpha: false,
            space: Space::UNSPECIFIED,
        };
        let from = Space::PROFILED;
        let light = run(
            &Convert { to, from },
            inks.with_colour(andon_pixels::Colour::profiled(profile())),
        );
        // Lightness 50 is 119 in sRGB.
        for (x, expected) in [(0, 255.0), (1, 119.0), (2, 0.0)] {
            for plane in &light.planes {
                let have = level(plane, x, 0);
                assert!((have - expected).abs() <= 4.0, "{depth:?} {x}: {have}");
            }
        }
    }
}

#[test]
fn a_profile_that_is_none_falls_back_to_the_formula() {
    let inks = frame(Model::Cmyk, Depth::U8, 8, 8, noise);
    let to = Traits::new(Model::Rgb, Depth::U8);
    let managed = Convert {
        to,
        from: Space::PROFILED,
    };
    let none = andon_pixels::Colour::profiled(b"no profile at all".to_vec());
    assert_eq!(
        run(&managed, inks.clone().with_colour(none)),
        convert(&inks, Model::Rgb, Depth::U8)
    );
}

#[test]
fn dropped_alpha_shows_hidden_colours_and_added_alpha_is_opaque() {
    let mut source = frame(Model::Rgb, Depth::U8, 8, 8, noise);
    let bare = source.clone();
    source.alpha = Some(Plane::filled(Depth::U8, 8, 8, 0));
    let to = |alpha| Traits {
        model: Model::Rgb,
        depth: Depth::U8,
        alpha,
        space: Space::UNSPECIFIED,
    };
    assert_eq!(
        run(
            &Convert {
                to: to(false),
                from: Space::UNSPECIFIED,
            },
            source
        ),
        bare
    );
    let opaque = run(
        &Convert {
            to: to(true),
            from: Space::UNSPECIFIED,
        },
        bare,
    );
    assert_eq!(opaque.alpha, Some(Plane::filled(Depth::U8, 8, 8, 255)));
}

#[test]
fn traits_have_short_names() {
    let traits = |model, depth, alpha| Traits {
        model,
        depth,
        alpha,
        space: Space::UNSPECIFIED,
    };
    assert_eq!(name(traits(c420(), Depth::U8, false)), "ycbcr420");
    assert_eq!(
        name(traits(limited(Subsampling::C420), Depth::U8, true)),
        "ycbcr420a-limited"
    );
    assert_eq!(name(traits(Model::Rgb, Depth::U16, true)), "rgba16");
    assert_eq!(
        name(traits(Model::ycbcr(Subsampling::NONE), Depth::U16, false)),
        "ycbcr444-16"
    );
}

/// Returns luma and chroma of a colour (0 to 255) by H.273, in 8-bit levels and double precision.
fn by_the_book([r, g, b]: [f64; 3], matrix: Matrix, range: Range) -> [f64; 3] {
    let (red, blue) = match matrix {
        Matrix::Identity => (0.0, 0.0),
        Matrix::Bt601 => (0.299, 0.114),
        Matrix::Bt709 => (0.2126, 0.0722),
        Matrix::Bt2020 => (0.2627, 0.0593),
    };
    let y = red * r + (1.0 - red - blue) * g + blue * b;
    let (cb, cr) = ((b - y) / (2.0 - 2.0 * blue), (r - y) / (2.0 - 2.0 * red));
    let luma = |y: f64| match range {
        Range::Full => y,
        Range::Limited => y * 219.0 / 255.0 + 16.0,
    };
    let chroma = |c: f64| match range {
        Range::Full => c + 128.0,
        Range::Limited => c * 224.0 / 255.0 + 128.0,
    };
    match matrix {
        Matrix::Identity => [luma(g), luma(b), luma(r)],
        _ => [luma(y), chroma(cb), chroma(cr)],
    }
}

/// Returns the tolerances for luma and chroma: models whose samples do not use the whole scale lose about a level by
/// rounding, wide samples almost nothing.
fn rounding(depth: Depth) -> (f64, f64) {
    if depth == Depth::U8 {
        (0.52, 2.0)
    } else {
        (0.01, 0.02)
    }
}

#[test]
fn a_image_in_display_p3_becomes_srgb_and_says_so() {
    for depth in [Depth::U8, Depth::U16] {
        // The red of sRGB is less saturated in Display P3; gray is the same in both.
        let p3 = frame(Model::Rgb, depth, 2, 1, |index, x, _| {
            [[234.0, 51.0, 35.0], [128.0; 3]][x as usize][index]
        });
        let convert = Convert {
            to: Traits {
                space: Space::SRGB,
                ..Traits::new(Model::Rgb, depth)
            },
            from: Space::DISPLAY_P3,
        };
        assert_eq!(
            convert.to_string(),
            format!("convert {} srgb", name(convert.to))
        );
        let srgb = run(&convert, p3.with_colour(Space::DISPLAY_P3));
        assert_eq!(srgb.colour.space, Space::SRGB);
        for (x, colour) in [[255.0, 0.0, 0.0], [128.0; 3]].into_iter().enumerate() {
            for (plane, expected) in srgb.planes.iter().zip(colour) {
                let have = level(plane, x as u32, 0);
                assert!(
                    (have - expected).abs() <= 3.0,
                    "{depth:?} {x}: {have} for {expected}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn every_matrix_range_and_depth_is_as_the_standard_says(
        colour: [u8; 3],
        matrix in prop::sample::select(Matrix::ALL.to_vec()),
        range in prop::sample::select(Range::ALL.to_vec()),
        depth in prop::sample::select(Depth::ALL.to_vec()),
    ) {
        let colour = colour.map(f64::from);
        let (there, back) = rounding(depth);
        let rgb = frame(Model::Rgb, depth, 5, 3, |index, _, _| colour[index]);
        let model = Model::YCbCr { sub: Subsampling::NONE, range, matrix };
        let mixed = convert(&rgb, model, depth);
        prop_assert_eq!(mixed.depth(), depth);
        for (plane, expected) in mixed.planes.iter().zip(by_the_book(colour, matrix, range)) {
            // Full-range chroma reaches half a level beyond the scale.
            let expected = expected.min(255.0);
            prop_assert!((level(plane, 3, 1) - expected).abs() <= there);
        }
        let again = convert(&mixed, Model::Rgb, depth);
        for (plane, expected) in again.planes.iter().zip(colour) {
            let lost = if range == Range::Full { 1.5 } else { 0.0 };
            prop_assert!((level(plane, 0, 2) - expected).abs() <= back + lost);
        }
    }

    #[test]
    fn one_matrix_becomes_another_as_if_by_way_of_colours(
        colour: [u8; 3],
        one in prop::sample::select(Matrix::ALL.to_vec()),
        other in prop::sample::select(Matrix::ALL.to_vec()),
    ) {
        let colour = colour.map(f64::from);
        let model = |range, matrix| Model::YCbCr { sub: Subsampling::NONE, range, matrix };
        let rgb = frame(Model::Rgb, Depth::U16, 2, 2, |index, _, _| colour[index]);
        let first = convert(&rgb, model(Range::Limited, one), Depth::U12);
        let second = convert(&first, model(Range::Full, other), Depth::U10);
        for (plane, expected) in second.planes.iter().zip(by_the_book(colour, other, Range::Full)) {
            prop_assert!((level(plane, 1, 1) - expected.min(255.0)).abs() <= 0.05);
        }
    }

    #[test]
    fn a_colour_and_a_image_of_it_convert_alike(r: u8, g: u8, b: u8) {
        let colour = Colour { r, g, b, a: 255 };
        let rgb = flat(Model::Rgb, Depth::U8, 3, 3, colour);
        for model in [c420(), limited(Subsampling::C420), Model::Gray, Model::Cmyk] {
            let expected = flat(model, Depth::U8, 3, 3, colour);
            prop_assert!(frames_differ(&convert(&rgb, model, Depth::U8), &expected) <= 1.0);
        }
    }
}
