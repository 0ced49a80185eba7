//! Mirroring and turning.

use andon_pixels::ops::turn::Turned;
use andon_pixels::{Depth, Frame, Model, Orientation, Plane, Subsampling};

use crate::support::*;

fn all() -> impl Iterator<Item = Orientation> {
    (0..8).map(|n| Orientation {
        mirror: n >= 4,
        quarters: n % 4,
    })
}

/// Returns the position that px (`x`, `y`) of a `width` × `height` image is moved to.
fn goes(orientation: Orientation, (width, height): (u32, u32), (x, y): (u32, u32)) -> (u32, u32) {
    let (mut width, mut height) = (width, height);
    let (mut x, mut y) = (if orientation.mirror { width - 1 - x } else { x }, y);
    for _ in 0..orientation.quarters {
        (x, y) = (height - 1 - y, x);
        (width, height) = (height, width);
    }
    (x, y)
}

#[test]
fn every_sample_goes_where_it_should() {
    for size @ (width, height) in [(40, 70), (37, 33), (1, 5), (64, 64)] {
        for orientation in all() {
            let mut source = frame(
                Model::ycbcr(Subsampling::NONE),
                Depth::U8,
                width,
                height,
                noise,
            );
            source.alpha = Some(plane(Depth::U8, width, height, |x, y| noise(9, x, y)));
            let result = run(&Turned { orientation }, source.clone());
            let alphas = source.alpha.iter().zip(&result.alpha);
            for (before, after) in source.planes.iter().zip(&result.planes).chain(alphas) {
                for y in 0..height {
                    for x in 0..width {
                        let (to_x, to_y) = goes(orientation, size, (x, y));
                        assert_eq!(level(before, x, y), level(after, to_x, to_y));
                    }
                }
            }
        }
    }
}

/// Creates a 4:2:2 image in which every plane is the same linear gradient. Each chroma sample has the gradient's value
/// in the middle of the px that it spans.
fn slope(width: u32, height: u32) -> Frame {
    let value = |x: f64, y: f64| 60.0 + 2.0 * x + y;
    frame(
        Model::ycbcr(Subsampling { h: 2, v: 1 }),
        Depth::U16,
        width,
        height,
        |index, x, y| {
            let px = if index == 0 {
                f64::from(x)
            } else {
                2.0 * f64::from(x) + 0.5
            };
            value(px, y.into())
        },
    )
}

#[test]
fn thinned_chroma_of_odd_images_stays_in_place() {
    for (width, height) in [(41, 29), (40, 29), (41, 30)] {
        for orientation in all() {
            let result = run(&Turned { orientation }, slope(width, height));
            let Model::YCbCr { sub, .. } = result.model else {
                panic!("it was YCbCr");
            };
            // Luma holds the slope at each px: chroma must have the mean over the px it spans.
            for y in 4..result.planes[1].height() - 4 {
                for x in 4..result.planes[1].width() - 4 {
                    let luma = |dx: u32, dy: u32| {
                        level(
                            &result.planes[0],
                            x * u32::from(sub.h) + dx,
                            y * u32::from(sub.v) + dy,
                        )
                    };
                    let mean =
                        (luma(0, 0) + luma(u32::from(sub.h) - 1, u32::from(sub.v) - 1)) / 2.0;
                    let off = level(&result.planes[1], x, y) - mean;
                    assert!(
                        off.abs() < 0.3,
                        "{orientation:?} {width}x{height} {x},{y}: {off}"
                    );
                }
            }
        }
    }
}

#[test]
fn upright_images_are_left_alone_and_lines_say_what_is_done() {
    let source = frame(c420(), Depth::U8, 9, 7, noise);
    let turned = |mirror, quarters| Turned {
        orientation: Orientation { mirror, quarters },
    };
    assert_eq!(run(&turned(false, 0), source.clone()), source);
    assert_eq!(turned(false, 1).to_string(), "turn 90");
    assert_eq!(turned(true, 0).to_string(), "mirror");
    assert_eq!(turned(true, 3).to_string(), "mirror | turn 270");
    assert!(matches!(source.planes[0], Plane::U8(_)));
}
