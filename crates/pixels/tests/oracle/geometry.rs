//! Turning, scaling and canvases, computed pixel by pixel from their definitions.

use std::f64::consts::PI;

use andon_pixels::Orientation;
use andon_recipe::{Canvas, Colour};

use crate::effects::over;
use crate::image::Image;

/// Mirrors left to right if required, then turns clockwise by quarters.
pub(crate) fn turned(mut image: Image, orientation: Orientation) -> Image {
    if orientation.mirror {
        image = Image::new(image.width, image.height, |x, y| {
            image.at(image.width - 1 - x, y)
        });
    }
    for _ in 0..orientation.quarters {
        image = Image::new(image.height, image.width, |x, y| {
            image.at(y, image.height - 1 - x)
        });
    }
    image
}

/// Scales an image to a size by a separable kernel, with colours weighted by opacity.
pub(crate) fn resampled(image: &Image, width: u32, height: u32, kernel: Kernel) -> Image {
    let premultiplied = Image::new(image.width, image.height, |x, y| {
        let [r, g, b, a] = image.at(x, y);
        [r * a, g * a, b * a, a]
    });
    let columns = weights(image.width, width as usize, kernel);
    let rows = weights(image.height, height as usize, kernel);
    let wide = Image::new(width as usize, image.height, |x, y| {
        sum(columns[x]
            .iter()
            .map(|(at, weight)| (premultiplied.at(*at, y), *weight)))
    });
    let small = Image::new(width as usize, height as usize, |x, y| {
        sum(rows[y]
            .iter()
            .map(|(at, weight)| (wide.at(x, *at), *weight)))
    });
    Image::new(small.width, small.height, |x, y| {
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

/// Maps each colour by a curve of levels of 255.
pub(crate) fn curved(image: &Image, curve: fn(f64) -> f64) -> Image {
    Image::new(image.width, image.height, |x, y| {
        let [r, g, b, a] = image.at(x, y);
        let [r, g, b] = [r, g, b].map(|value| 255.0 * curve(value.clamp(0.0, 255.0) / 255.0));
        [r, g, b, a]
    })
}

/// Converts an sRGB value to linear light, both from 0 to 1 (IEC 61966-2-1).
pub(crate) fn to_light(value: f64) -> f64 {
    if value <= 0.040_45 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// Converts linear light to an sRGB value, both from 0 to 1.
pub(crate) fn from_light(light: f64) -> f64 {
    if light <= 0.003_130_8 {
        light * 12.92
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    }
}

/// Places an image on a canvas.
pub(crate) fn on_canvas(image: &Image, canvas: &Canvas) -> Image {
    let (x, y) = canvas.at.expect("a resolved canvas");
    let ground = ground(canvas.colour);
    Image::new(canvas.w as usize, canvas.h as usize, |column, row| {
        let (u, v) = (column as i64 - i64::from(x), row as i64 - i64::from(y));
        let inside = (0..image.width as i64).contains(&u) && (0..image.height as i64).contains(&v);
        if !inside {
            return ground;
        }
        let [r, g, b, a] = image.at(u as usize, v as usize);
        over([r, g, b, a * 255.0], ground)
    })
}

fn ground(Colour { r, g, b, a }: Colour) -> [f64; 4] {
    [
        f64::from(r),
        f64::from(g),
        f64::from(b),
        f64::from(a) / 255.0,
    ]
}

/// Composites an image over a background of its own size.
pub(crate) fn flattened(image: &Image, colour: Colour) -> Image {
    let canvas = Canvas {
        w: image.width as u32,
        h: image.height as u32,
        colour,
        at: Some((0, 0)),
    };
    on_canvas(image, &canvas)
}

/// Rotates an image clockwise about its centre, by the Catmull-Rom cubic; the corners show `colour`.
pub(crate) fn rotated(image: &Image, degrees: f64, colour: Colour) -> Image {
    let (w, h) = (image.width as f64, image.height as f64);
    let (sin, cos) = degrees.to_radians().sin_cos();
    let width = (w * cos.abs() + h * sin.abs()).round().max(1.0);
    let height = (w * sin.abs() + h * cos.abs()).round().max(1.0);
    let ground = ground(colour);
    let cubic = |t: f64| {
        let t = t.abs();
        if t < 1.0 {
            1.5 * t * t * t - 2.5 * t * t + 1.0
        } else if t < 2.0 {
            -0.5 * t * t * t + 2.5 * t * t - 4.0 * t + 2.0
        } else {
            0.0
        }
    };
    Image::new(width as usize, height as usize, |x, y| {
        let (x, y) = (x as f64 + 0.5 - width / 2.0, y as f64 + 0.5 - height / 2.0);
        let (x, y) = (x * cos + y * sin + w / 2.0, y * cos - x * sin + h / 2.0);
        let (u, v) = ((x - 0.5).floor() as i64, (y - 0.5).floor() as i64);
        let mut sums = [0.0; 4];
        for j in v - 1..=v + 2 {
            for i in u - 1..=u + 2 {
                let share = cubic(x - 0.5 - i as f64) * cubic(y - 0.5 - j as f64);
                let [r, g, b, a] = image.near(i, j);
                for (sum, value) in sums.iter_mut().zip([r * a, g * a, b * a, a]) {
                    *sum += share * value;
                }
            }
        }
        let along = |at: f64, length: f64| (at.min(length - at) + 0.5).clamp(0.0, 1.0);
        let [r, g, b, a] = sums;
        let colour = |value: f64| {
            if a > 1e-3 {
                (value / a).clamp(0.0, 255.0)
            } else {
                0.0
            }
        };
        let alpha = a.clamp(0.0, 1.0) * along(x, w) * along(y, h);
        over([colour(r), colour(g), colour(b), alpha * 255.0], ground)
    })
}

/// A kernel that weights neighbours.
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

/// Returns, for each output sample, the input samples and their weights.
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
