//! A picture as the oracle sees it: red, green, blue and opacity as numbers, one pixel after the other.

use andon_pixels::Range;
use andon_pixels::frame::{Depth, Frame, Model, Plane, Subsampling};

/// Straight colours from 0 to 255, opacity from 0 to 1.
#[derive(Clone)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<[f64; 4]>,
}

impl Picture {
    /// A picture from a function of column and row.
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

    /// What a frame shows.
    pub(crate) fn of(frame: &Frame) -> Self {
        Self::new(frame.width as usize, frame.height as usize, |x, y| {
            let [r, g, b] = match frame.model {
                Model::Gray => [full(&frame.planes[0], x, y); 3],
                Model::Rgb => [0, 1, 2].map(|plane| full(&frame.planes[plane], x, y)),
                Model::Cmyk => {
                    let ink = |plane: usize| full(&frame.planes[plane], x, y) / 255.0;
                    [0, 1, 2].map(|plane| 255.0 * (1.0 - ink(plane)) * (1.0 - ink(3)))
                }
                Model::YCbCr { sub, range, .. } => {
                    let luma = full(&frame.planes[0], x, y);
                    let cb = thinned(&frame.planes[1], sub, x, y) - 128.0;
                    let cr = thinned(&frame.planes[2], sub, x, y) - 128.0;
                    from_ycbcr(luma, cb, cr, range)
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

    /// The pixel, or the nearest one of the edge.
    pub(crate) fn near(&self, x: i64, y: i64) -> [f64; 4] {
        let inside = |at: i64, side: usize| at.clamp(0, side as i64 - 1) as usize;
        self.at(inside(x, self.width), inside(y, self.height))
    }
}

/// BT.601, chroma centred on 0.
fn from_ycbcr(y: f64, cb: f64, cr: f64, range: Range) -> [f64; 3] {
    let (y, cb, cr) = match range {
        Range::Full => (y, cb, cr),
        Range::Limited => (
            (y - 16.0) * 255.0 / 219.0,
            cb * 255.0 / 224.0,
            cr * 255.0 / 224.0,
        ),
    };
    [
        y + 1.402 * cr,
        y - 0.344_136 * cb - 0.714_136 * cr,
        y + 1.772 * cb,
    ]
    .map(|value| value.clamp(0.0, 255.0))
}

/// A sample in 8-bit units.
fn full(plane: &Plane, x: usize, y: usize) -> f64 {
    match plane {
        Plane::U8(grid) => f64::from(grid.row(y as u32)[x]),
        Plane::U16(grid) => f64::from(grid.row(y as u32)[x]) / 257.0,
    }
}

/// A thinned plane between its samples, each of which sits in the middle of what it spans.
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

/// A frame of this model that shows `picture`: chroma is the mean of what it spans.
pub(crate) fn frame(picture: &Picture, model: Model, depth: Depth, alpha: bool) -> Frame {
    let (width, height) = (picture.width as u32, picture.height as u32);
    let planes = (0..model.planes())
        .map(|index| {
            let size = model.plane_size(index, width, height);
            let sub = match model {
                Model::YCbCr { sub, .. } if index > 0 => sub,
                _ => Subsampling::NONE,
            };
            plane(depth, size, |x, y| {
                let mut values = Vec::new();
                for row in y * usize::from(sub.v)..picture.height.min((y + 1) * usize::from(sub.v))
                {
                    for column in
                        x * usize::from(sub.h)..picture.width.min((x + 1) * usize::from(sub.h))
                    {
                        values.push(component(picture.at(column, row), model, index));
                    }
                }
                values.iter().sum::<f64>() / values.len() as f64
            })
        })
        .collect();
    let alpha = alpha.then(|| plane(depth, (width, height), |x, y| picture.at(x, y)[3] * 255.0));
    Frame::new(model, width, height, planes, alpha)
}

/// One component of a colour in a model, in 8-bit units.
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
        (Model::YCbCr { range, .. }, _) => {
            let (scale_y, scale_c, black) = match range {
                Range::Full => (1.0, 1.0, 0.0),
                Range::Limited => (219.0 / 255.0, 224.0 / 255.0, 16.0),
            };
            match index {
                0 => luma * scale_y + black,
                1 => (b - luma) / 1.772 * scale_c + 128.0,
                _ => (r - luma) / 1.402 * scale_c + 128.0,
            }
        }
    }
}

fn plane(depth: Depth, (width, height): (u32, u32), value: impl Fn(usize, usize) -> f64) -> Plane {
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
                *sample = (value(x, y) * 257.0).round().clamp(0.0, 65535.0) as u16;
            }
        }
    }
    plane
}
