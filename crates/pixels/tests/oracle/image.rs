//! The images of the oracle: red, green, blue and opacity as numbers, pixel by pixel.

use andon_pixels::color::levels;
use andon_pixels::frame::{Depth, Frame, Model, Plane, Subsampling};
use andon_pixels::{Matrix, Range};

/// An image with straight colours from 0 to 255 and opacity from 0 to 1.
#[derive(Clone)]
pub(crate) struct Image {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<[f64; 4]>,
}

impl Image {
    /// Creates an image from a function of column and row.
    pub(crate) fn new(
        width: usize,
        height: usize,
        pixel: impl Fn(usize, usize) -> [f64; 4],
    ) -> Self {
        let pixels = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| pixel(x, y))
            .collect();
        Self {
            width,
            height,
            pixels,
        }
    }

    /// Converts a frame to an image.
    pub(crate) fn of(frame: &Frame) -> Self {
        Self::new(frame.width as usize, frame.height as usize, |x, y| {
            let [r, g, b] = match frame.model {
                Model::Gray => [full(&frame.planes[0], x, y); 3],
                Model::Rgb => [0, 1, 2].map(|plane| full(&frame.planes[plane], x, y)),
                Model::Cmyk => {
                    let ink = |plane: usize| full(&frame.planes[plane], x, y) / 255.0;
                    [0, 1, 2].map(|plane| 255.0 * (1.0 - ink(plane)) * (1.0 - ink(3)))
                }
                Model::YCbCr { sub, range, matrix } => {
                    let first = full(&frame.planes[0], x, y);
                    let [second, third] =
                        [1, 2].map(|plane| thinned(&frame.planes[plane], sub, x, y));
                    from_ycbcr([first, second, third], range, matrix)
                }
            };
            let alpha = frame
                .alpha
                .as_ref()
                .map_or(1.0, |plane| full(plane, x, y) / 255.0);
            [r, g, b, alpha]
        })
    }

    pub(crate) fn at(&self, x: usize, y: usize) -> [f64; 4] {
        self.pixels[y * self.width + x]
    }

    /// Returns a pixel or, outside the image, the nearest pixel of the edge.
    pub(crate) fn near(&self, x: i64, y: i64) -> [f64; 4] {
        let inside = |at: i64, side: usize| at.clamp(0, side as i64 - 1) as usize;
        self.at(inside(x, self.width), inside(y, self.height))
    }
}

/// Returns the weights of red and blue in luma, by the tables of H.273; `None` for planes of green, blue and red.
fn shares(matrix: Matrix) -> Option<(f64, f64)> {
    match matrix {
        Matrix::Identity => None,
        Matrix::Bt601 => Some((0.299, 0.114)),
        Matrix::Bt709 => Some((0.2126, 0.0722)),
        Matrix::Bt2020 => Some((0.2627, 0.0593)),
    }
}

/// Returns the weights of red, green and blue in the luma of an image of this model.
pub(crate) fn luma_shares(model: Model) -> [f64; 3] {
    let matrix = match model {
        Model::YCbCr { matrix, .. } => matrix,
        _ => Matrix::Bt601,
    };
    let (red, blue) = shares(matrix).unwrap_or((0.299, 0.114));
    [red, 1.0 - red - blue, blue]
}

/// Returns the luma of black and of white, and half the range of chroma, all in levels of 255.
fn levels_of(range: Range) -> (f64, f64, f64) {
    match range {
        Range::Full => (0.0, 255.0, 127.5),
        Range::Limited => (16.0, 235.0, 112.0),
    }
}

/// Converts YCbCr in levels of 255 to RGB, by the definition in H.273.
fn from_ycbcr(planes: [f64; 3], range: Range, matrix: Matrix) -> [f64; 3] {
    let (black, white, span) = levels_of(range);
    let light = |level: f64| (level - black) / (white - black);
    let [r, g, b] = match shares(matrix) {
        None => [planes[2], planes[0], planes[1]].map(light),
        Some((red, blue)) => {
            let y = light(planes[0]);
            let [pb, pr] = [planes[1], planes[2]].map(|level| (level - 128.0) / (2.0 * span));
            let r = y + 2.0 * (1.0 - red) * pr;
            let b = y + 2.0 * (1.0 - blue) * pb;
            [r, (y - red * r - blue * b) / (1.0 - red - blue), b]
        }
    };
    [r, g, b].map(|value| (value * 255.0).clamp(0.0, 255.0))
}

/// Converts RGB to YCbCr in levels of 255, by the definition in H.273.
fn to_ycbcr([r, g, b]: [f64; 3], range: Range, matrix: Matrix) -> [f64; 3] {
    let (black, white, span) = levels_of(range);
    let level = |light: f64| black + light / 255.0 * (white - black);
    match shares(matrix) {
        None => [g, b, r].map(level),
        Some((red, blue)) => {
            let y = red * r + (1.0 - red - blue) * g + blue * b;
            let chroma =
                |difference: f64, share: f64| 128.0 + difference / 255.0 / (1.0 - share) * span;
            [level(y), chroma(b - y, blue), chroma(r - y, red)]
        }
    }
}

/// Returns a sample in 8-bit units.
fn full(plane: &Plane, x: usize, y: usize) -> f64 {
    match plane {
        Plane::U8(grid) => f64::from(grid.row(y as u32)[x]),
        Plane::U16(grid) => f64::from(grid.row(y as u32)[x]) / 257.0,
    }
}

/// Returns a value of a subsampled plane, interpolated between its samples, each of which sits in the middle of the px
/// that it spans.
fn thinned(plane: &Plane, sub: Subsampling, x: usize, y: usize) -> f64 {
    let place = |at: usize, step: u8, side: u32| {
        let at = ((at as f64 + 0.5) / f64::from(step) - 0.5).clamp(0.0, f64::from(side - 1));
        let low = at.floor();
        let high = (low + 1.0).min(f64::from(side - 1));
        (low as usize, high as usize, at - low)
    };
    let (left, right, across) = place(x, sub.h, plane.width());
    let (top, bottom, down) = place(y, sub.v, plane.height());
    let mix = |a: f64, b: f64, share: f64| a + (b - a) * share;
    mix(
        mix(full(plane, left, top), full(plane, right, top), across),
        mix(
            full(plane, left, bottom),
            full(plane, right, bottom),
            across,
        ),
        down,
    )
}

/// Returns a frame of this model that shows an image. Each chroma sample is the mean of the px that it spans. Samples
/// are those that a file of this depth could hold.
pub(crate) fn frame(image: &Image, model: Model, depth: Depth, alpha: bool) -> Frame {
    let (width, height) = (image.width as u32, image.height as u32);
    let planes = (0..model.planes())
        .map(|index| {
            let size = model.plane_size(index, width, height);
            let sub = match model {
                Model::YCbCr { sub, .. } if index > 0 => sub,
                _ => Subsampling::NONE,
            };
            let levels = coded(model, depth, index);
            plane(depth, size, levels, |x, y| {
                let mut values = Vec::new();
                for row in y * usize::from(sub.v)..image.height.min((y + 1) * usize::from(sub.v)) {
                    for column in
                        x * usize::from(sub.h)..image.width.min((x + 1) * usize::from(sub.h))
                    {
                        values.push(component(image.at(column, row), model, index));
                    }
                }
                values.iter().sum::<f64>() / values.len() as f64
            })
        })
        .collect();
    let alpha = alpha.then(|| {
        let levels = coded(Model::Gray, depth, 0);
        plane(depth, (width, height), levels, |x, y| {
            image.at(x, y)[3] * 255.0
        })
    });
    Frame::new(model, width, height, planes, alpha)
        .unwrap()
        .with_depth(depth)
        .unwrap()
}

/// Returns one component of a colour in a model, in 8-bit units.
fn component([r, g, b, _]: [f64; 4], model: Model, index: usize) -> f64 {
    let luma = 0.299 * r + 0.587 * g + 0.114 * b;
    match (model, index) {
        (Model::Gray, _) => luma,
        (Model::Rgb, _) => [r, g, b][index],
        (Model::Cmyk, 3) => 255.0 - r.max(g).max(b),
        (Model::Cmyk, _) => {
            let most = r.max(g).max(b).max(1.0);
            255.0 * (1.0 - [r, g, b][index] / most)
        }
        (Model::YCbCr { range, matrix, .. }, _) => to_ycbcr([r, g, b], range, matrix)[index],
    }
}

/// Returns a function that rounds a wide sample to the nearest one that a file of this depth could hold in the plane.
fn coded(model: Model, depth: Depth, index: usize) -> impl Fn(u16) -> u16 {
    let (range, chroma) = match model {
        Model::YCbCr { range, matrix, .. } => (range, index > 0 && matrix != Matrix::Identity),
        _ => (Range::Full, false),
    };
    move |sample| match depth {
        Depth::U8 | Depth::U16 => sample,
        depth => {
            let code = levels::to_code(sample, depth, range, chroma);
            levels::from_code(code, depth, range, chroma)
        }
    }
}

fn plane(
    depth: Depth,
    (width, height): (u32, u32),
    coded: impl Fn(u16) -> u16,
    value: impl Fn(usize, usize) -> f64,
) -> Plane {
    let mut plane = Plane::filled(depth, width, height, 0);
    let places = (0..height as usize).flat_map(|y| (0..width as usize).map(move |x| (x, y)));
    match &mut plane {
        Plane::U8(grid) => {
            for (sample, (x, y)) in grid.samples_mut().iter_mut().zip(places) {
                *sample = value(x, y).round().clamp(0.0, 255.0) as u8;
            }
        }
        Plane::U16(grid) => {
            for (sample, (x, y)) in grid.samples_mut().iter_mut().zip(places) {
                *sample = coded((value(x, y) * 257.0).round().clamp(0.0, 65535.0) as u16);
            }
        }
    }
    plane
}
