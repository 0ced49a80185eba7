//! Turning, scaling and laying on a ground, pixel by pixel from their definitions.

use std::f64::consts::PI;

use andon_pixels::Orientation;
use andon_recipe::{CanvasLayout, Colour, Rect};

use crate::picture::Picture;

/// Mirrors left to right if asked, then turns clockwise by quarters.
pub(crate) fn turned(mut picture: Picture, orientation: Orientation) -> Picture {
    if orientation.mirror {
        picture = Picture::new(picture.width, picture.height, |x, y| {
            picture.at(picture.width - 1 - x, y)
        });
    }
    for _ in 0..orientation.quarters {
        picture = Picture::new(picture.height, picture.width, |x, y| {
            picture.at(y, picture.height - 1 - x)
        });
    }
    picture
}

/// The part of a picture, alone.
pub(crate) fn cropped(picture: &Picture, rect: Rect) -> Picture {
    Picture::new(rect.w as usize, rect.h as usize, |x, y| {
        picture.at(x + rect.x as usize, y + rect.y as usize)
    })
}

/// Brought to a size by a separable kernel of this support, colours weighed by opacity.
pub(crate) fn resampled(picture: &Picture, width: u32, height: u32, kernel: Kernel) -> Picture {
    let premultiplied = Picture::new(picture.width, picture.height, |x, y| {
        let [r, g, b, a] = picture.at(x, y);
        [r * a, g * a, b * a, a]
    });
    let columns = weights(picture.width, width as usize, kernel);
    let rows = weights(picture.height, height as usize, kernel);
    let wide = Picture::new(width as usize, picture.height, |x, y| {
        sum(columns[x]
            .iter()
            .map(|(at, weight)| (premultiplied.at(*at, y), *weight)))
    });
    let small = Picture::new(width as usize, height as usize, |x, y| {
        sum(rows[y]
            .iter()
            .map(|(at, weight)| (wide.at(x, *at), *weight)))
    });
    Picture::new(small.width, small.height, |x, y| {
        let [r, g, b, a] = small.at(x, y);
        let colour = |value: f64| {
            if a > 1e-6 {
                (value / a).clamp(0.0, 255.0)
            } else {
                0.0
            }
        };
        [colour(r), colour(g), colour(b), a.clamp(0.0, 1.0)]
    })
}

/// Over a ground; the result is opaque.
pub(crate) fn on_canvas(picture: &Picture, canvas: &CanvasLayout) -> Picture {
    let ground = [canvas.colour.r, canvas.colour.g, canvas.colour.b].map(f64::from);
    Picture::new(canvas.width as usize, canvas.height as usize, |x, y| {
        let (x, y) = (x as i64 - canvas.x, y as i64 - canvas.y);
        let inside =
            (0..picture.width as i64).contains(&x) && (0..picture.height as i64).contains(&y);
        if !inside {
            return [ground[0], ground[1], ground[2], 1.0];
        }
        let [r, g, b, a] = picture.at(x as usize, y as usize);
        let mix = |over: f64, under: f64| over * a + under * (1.0 - a);
        [mix(r, ground[0]), mix(g, ground[1]), mix(b, ground[2]), 1.0]
    })
}

/// Over a ground of its own size.
pub(crate) fn flattened(picture: &Picture, ground: Colour) -> Picture {
    let canvas = CanvasLayout {
        width: picture.width as u32,
        height: picture.height as u32,
        x: 0,
        y: 0,
        colour: ground,
    };
    on_canvas(picture, &canvas)
}

/// What neighbours are weighed with.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    Lanczos3,
    Mitchell,
}

impl Kernel {
    fn support(self) -> f64 {
        match self {
            Self::Lanczos3 => 3.0,
            Self::Mitchell => 2.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            Self::Lanczos3 if x >= 3.0 => 0.0,
            Self::Lanczos3 if x < 1e-9 => 1.0,
            Self::Lanczos3 => 3.0 * (PI * x).sin() * (PI * x / 3.0).sin() / (PI * PI * x * x),
            Self::Mitchell if x < 1.0 => (7.0 * x * x * x - 12.0 * x * x + 16.0 / 3.0) / 6.0,
            Self::Mitchell if x < 2.0 => {
                (-7.0 / 3.0 * x * x * x + 12.0 * x * x - 20.0 * x + 32.0 / 3.0) / 6.0
            }
            Self::Mitchell => 0.0,
        }
    }
}

/// For each output sample, the input samples and their shares.
fn weights(from: usize, to: usize, kernel: Kernel) -> Vec<Vec<(usize, f64)>> {
    let ratio = from as f64 / to as f64;
    let stretch = ratio.max(1.0);
    (0..to)
        .map(|out| {
            let centre = (out as f64 + 0.5) * ratio;
            let reach = kernel.support() * stretch;
            let near: Vec<(usize, f64)> = (0..from)
                .filter(|at| (*at as f64 + 0.5 - centre).abs() <= reach)
                .map(|at| (at, kernel.weight((at as f64 + 0.5 - centre) / stretch)))
                .collect();
            let total: f64 = near.iter().map(|(_, weight)| weight).sum();
            near.into_iter()
                .map(|(at, weight)| (at, weight / total))
                .collect()
        })
        .collect()
}

fn sum(terms: impl Iterator<Item = ([f64; 4], f64)>) -> [f64; 4] {
    terms.fold([0.0; 4], |sum, (pixel, weight)| {
        std::array::from_fn(|index| sum[index] + pixel[index] * weight)
    })
}
