//! Canvas, border and icons: images over images.

use andon_pixels::color::Convert;
use andon_pixels::ops::canvas::{Blank, OnCanvas};
use andon_pixels::{
    Depth, Frame, Matrix, Model, Never, Plane, Range, Space, Stage, Subsampling, Traits,
};
use andon_recipe::Colour;

use crate::support::*;

fn stage(effect: &str) -> Box<dyn Stage> {
    parse(effect).unwrap().unwrap()
}

fn rgb(frame: &Frame) -> Frame {
    let to = Traits {
        model: Model::Rgb,
        depth: frame.depth(),
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

fn at(frame: &Frame, x: u32, y: u32) -> [f64; 3] {
    [0, 1, 2].map(|plane| level(&frame.planes[plane], x, y))
}

fn canvas(width: u32, height: u32, x: i64, y: i64) -> OnCanvas {
    OnCanvas {
        width,
        height,
        x,
        y,
        colour: BLUE,
    }
}

#[test]
fn a_image_lies_where_it_was_put_and_the_rest_is_ground() {
    let image = frame(Model::Rgb, Depth::U8, 20, 10, noise);
    for (x, y) in [(5, 7), (-3, -2), (25, 1), (0, 0), (100, 0)] {
        let result = run(&canvas(30, 24, x, y), image.clone());
        for row in 0..24_u32 {
            for column in 0..30_u32 {
                let (px, py) = (i64::from(column) - x, i64::from(row) - y);
                let inside = (0..20).contains(&px) && (0..10).contains(&py);
                let expected = if inside {
                    at(&image, px as u32, py as u32)
                } else {
                    [0.0, 0.0, 255.0]
                };
                assert_eq!(
                    at(&result, column, row),
                    expected,
                    "{x},{y}: {column},{row}"
                );
            }
        }
    }
}

#[test]
fn thinned_chroma_on_a_canvas_is_that_of_the_px_it_spans() {
    for (x, y) in [(4, 6), (5, 7), (-3, 4), (-4, -2), (1, -1)] {
        let image = frame(c420(), Depth::U16, 21, 13, waves);
        let result = run(&canvas(33, 27, x, y), image.clone());
        let blue = flat(c420(), Depth::U16, 1, 1, BLUE);
        for index in [1, 2] {
            let ground = level(&blue.planes[index], 0, 0);
            let chroma = &result.planes[index];
            for row in 0..chroma.height() {
                for column in 0..chroma.width() {
                    let mut px = Vec::new();
                    for dy in 2 * row..27.min(2 * row + 2) {
                        for dx in 2 * column..33.min(2 * column + 2) {
                            let (px_x, px_y) = (i64::from(dx) - x, i64::from(dy) - y);
                            let inside = (0..21).contains(&px_x) && (0..13).contains(&px_y);
                            px.push(if inside {
                                level(&image.planes[index], px_x as u32 / 2, px_y as u32 / 2)
                            } else {
                                ground
                            });
                        }
                    }
                    let mean = px.iter().sum::<f64>() / px.len() as f64;
                    let have = level(chroma, column, row);
                    assert!(
                        (have - mean).abs() < 0.1,
                        "{x},{y} {column},{row}: {have} {mean}"
                    );
                }
            }
        }
    }
}

#[test]
fn transparency_shows_the_ground_and_the_result_is_opaque() {
    for model in [Model::Rgb, c420(), Model::Gray, Model::Cmyk] {
        let mut image = flat(model, Depth::U8, 20, 10, RED);
        image.alpha = Some(plane(Depth::U8, 20, 10, |x, _| {
            [0.0, 127.5, 255.0][x as usize / 8]
        }));
        let result = run(&canvas(20, 10, 0, 0), image);
        assert_eq!(result.alpha, None);
        let result = rgb(&result);
        if model == Model::Rgb || model == c420() {
            for (x, expected) in [
                (3, [0.0, 0.0, 255.0]),
                (11, [127.0, 0.0, 127.0]),
                (18, [255.0, 0.0, 0.0]),
            ] {
                for (have, want) in at(&result, x, 5).iter().zip(expected) {
                    assert!((have - want).abs() < 4.0, "{model:?} {x}: {have} {want}");
                }
            }
        }
    }
}

#[test]
fn a_image_that_covers_its_canvas_is_not_touched() {
    let image = frame(c420(), Depth::U8, 21, 13, noise);
    assert_eq!(run(&canvas(21, 13, 0, 0), image.clone()), image);
}

#[test]
fn a_blank_is_transparent_black() {
    let limited = Model::YCbCr {
        sub: Subsampling::C420,
        range: Range::Limited,
        matrix: Matrix::Bt601,
    };
    for model in [Model::Rgb, limited, Model::Cmyk] {
        let blank = run(
            &Blank {
                width: 7,
                height: 5,
            },
            frame(model, Depth::U8, 3, 3, noise),
        );
        assert_eq!(blank.alpha, Some(Plane::filled(Depth::U8, 7, 5, 0)));
        assert_eq!(at(&rgb(&blank), 6, 4), [0.0, 0.0, 0.0]);
    }
}

#[test]
fn bands_are_exactly_as_wide_as_asked() {
    let image = flat(Model::Rgb, Depth::U8, 30, 20, BLUE);
    let result = run(&*stage("border:3x2:ff0000"), image);
    for y in 0..20 {
        for x in 0..30 {
            let band = !(3..27).contains(&x) || !(2..18).contains(&y);
            let expected = if band {
                [255.0, 0.0, 0.0]
            } else {
                [0.0, 0.0, 255.0]
            };
            assert_eq!(at(&result, x, y), expected, "{x},{y}");
        }
    }
}

#[test]
fn bands_over_thinned_chroma_colour_their_share_of_it() {
    let image = flat(c420(), Depth::U16, 31, 21, BLUE);
    let result = run(&*stage("border:3x5:ff0000"), image);
    let [red, blue] =
        [RED, BLUE].map(|colour| level(&flat(c420(), Depth::U16, 1, 1, colour).planes[2], 0, 0));
    for y in 0..11 {
        for x in 0..16 {
            let px = |x: u32, y: u32| !(3..28).contains(&x) || !(5..16).contains(&y);
            let spanned: Vec<bool> = (2 * y..21.min(2 * y + 2))
                .flat_map(|y| (2 * x..31.min(2 * x + 2)).map(move |x| px(x, y)))
                .collect();
            let share = spanned.iter().filter(|band| **band).count() as f64 / spanned.len() as f64;
            let expected = red * share + blue * (1.0 - share);
            let have = level(&result.planes[2], x, y);
            assert!((have - expected).abs() < 0.1, "{x},{y}: {have} {expected}");
        }
    }
}

#[test]
fn a_border_frames_a_box_even_outside_the_image() {
    let image = flat(Model::Rgb, Depth::U8, 30, 20, BLUE);
    let result = run(&*stage("border:3x2:ff0000:60x20"), image);
    assert_eq!(at(&result, 1, 10), [255.0, 0.0, 0.0]);
    assert_eq!(at(&result, 29, 10), [0.0, 0.0, 255.0]);
    assert_eq!(at(&result, 29, 1), [255.0, 0.0, 0.0]);

    let image = flat(Model::Rgb, Depth::U8, 30, 20, BLUE);
    let result = run(&*stage("border:3x2:ff0000"), image);
    assert_eq!(at(&result, 29, 10), [255.0, 0.0, 0.0]);
}

#[test]
fn a_translucent_border_is_blended_once_everywhere() {
    let image = flat(Model::Rgb, Depth::U8, 30, 20, BLUE);
    let result = run(&*stage("border:3x2:ff000080"), image);
    for (x, y) in [(0, 0), (15, 1), (1, 10), (29, 19)] {
        assert_eq!(at(&result, x, y), [128.0, 0.0, 127.0], "{x},{y}");
    }
}

#[test]
fn bands_wider_than_the_image_cover_it() {
    let image = flat(c420(), Depth::U8, 5, 5, BLUE);
    let result = run(&*stage("border:1000000x1:ff0000"), image);
    assert_eq!(result, flat(c420(), Depth::U8, 5, 5, RED));
}

fn over(image: &Frame, icon: &Frame, x: i64, y: i64) -> Frame {
    let stage = stage(&format!("over:icon.png:{x}:{y}"));
    run_with(&*stage, image.clone(), &Never, Some(icon)).unwrap()
}

fn icon(width: u32, height: u32) -> Frame {
    let mut icon = frame(Model::Rgb, Depth::U8, width, height, waves);
    icon.alpha = Some(plane(Depth::U8, width, height, |x, y| {
        noise(3, x / 3, y / 3)
    }));
    icon
}

#[test]
fn an_icon_over_rgb_is_source_over() {
    let image = frame(Model::Rgb, Depth::U8, 40, 30, noise);
    let icon = icon(16, 12);
    for (x, y) in [(4, 3), (-5, -7), (30, 25)] {
        let result = over(&image, &icon, x, y);
        for row in 0..30_u32 {
            for column in 0..40_u32 {
                let (ix, iy) = (i64::from(column) - x, i64::from(row) - y);
                let mut expected = at(&image, column, row);
                if (0..16).contains(&ix) && (0..12).contains(&iy) {
                    let (ix, iy) = (ix as u32, iy as u32);
                    let alpha = level(icon.alpha.as_ref().unwrap(), ix, iy) / 255.0;
                    for (below, above) in expected.iter_mut().zip(at(&icon, ix, iy)) {
                        *below = *below * (1.0 - alpha) + above * alpha;
                    }
                }
                for (have, want) in at(&result, column, row).iter().zip(expected) {
                    assert!(
                        (have - want).abs() <= 0.6,
                        "{x},{y}: {column},{row}: {have} {want}"
                    );
                }
            }
        }
    }
}

#[test]
fn an_icon_over_planes_is_an_icon_over_rgb() {
    for model in [Model::ycbcr(Subsampling::NONE), c420()] {
        let planes = flat(
            model,
            Depth::U8,
            40,
            30,
            Colour {
                r: 90,
                g: 140,
                b: 110,
                a: 255,
            },
        );
        let direct = rgb(&over(&planes, &icon(17, 13), 5, -3));
        let visiting = over(&rgb(&planes), &icon(17, 13), 5, -3);
        // Subsampled chroma can only hold the mean of the px that it spans.
        let to = Traits::new(model, Depth::U8);
        let visiting = rgb(&run(
            &Convert {
                to,
                from: Space::UNSPECIFIED,
            },
            visiting,
        ));
        let off = frames_differ(&direct, &visiting);
        assert!(off <= 4.0, "{model:?}: {off}");
    }
}

#[test]
fn an_icon_over_nothing_keeps_its_own_colour() {
    let mut image = flat(Model::Rgb, Depth::U8, 8, 8, BLUE);
    image.alpha = Some(Plane::filled(Depth::U8, 8, 8, 0));
    let mut icon = flat(Model::Rgb, Depth::U8, 4, 4, RED);
    icon.alpha = Some(Plane::filled(Depth::U8, 4, 4, 100));
    let result = over(&image, &icon, 2, 2);
    assert_eq!(at(&result, 3, 3), [255.0, 0.0, 0.0]);
    let alpha = result.alpha.unwrap();
    assert_eq!((level(&alpha, 3, 3), level(&alpha, 0, 0)), (100.0, 0.0));
}

#[test]
fn an_icon_of_any_model_and_depth_will_do() {
    let image = flat(c420(), Depth::U8, 8, 8, BLUE);
    for model in [Model::Gray, Model::Rgb, Model::Cmyk, c420()] {
        let icon = flat(
            model,
            Depth::U16,
            8,
            8,
            Colour {
                r: 200,
                g: 200,
                b: 200,
                a: 255,
            },
        );
        let result = rgb(&over(&image, &icon, 0, 0));
        for have in at(&result, 4, 4) {
            assert!((have - 200.0).abs() <= 1.0, "{model:?}: {have}");
        }
    }
}
