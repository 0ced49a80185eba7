//! Gray images, and scaled windows of them.

use crate::windows::Window;

/// A gray image with 8-bit samples, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Gray<'a> {
    samples: &'a [u8],
    width: usize,
    height: usize,
}

impl<'a> Gray<'a> {
    /// Creates an image. Returns `None` unless there are as many samples as pixels, and no side is longer than
    /// [`Gray::LONGEST`].
    #[must_use]
    pub fn new(samples: &'a [u8], width: u32, height: u32) -> Option<Self> {
        let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
        let is_complete = width.checked_mul(height) == Some(samples.len());
        let is_small = width.max(height) <= Self::LONGEST;
        (is_complete && is_small).then_some(Self {
            samples,
            width,
            height,
        })
    }

    /// Length in px of the longest side that an image may have. It limits the time of a search for faces.
    pub const LONGEST: usize = 1024;

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// Returns the sample at a position. Outside the image, samples are black (0).
    fn at(&self, x: i64, y: i64) -> f64 {
        let place = |at: i64, side: usize| usize::try_from(at).ok().filter(|at| *at < side);
        match (place(x, self.width), place(y, self.height)) {
            (Some(x), Some(y)) => f64::from(self.samples[y * self.width + x]),
            _ => 0.0,
        }
    }

    /// Returns the whole image scaled to a smaller size.
    pub(crate) fn scaled(&self, width: usize, height: usize) -> Vec<u8> {
        let columns = points(self.width, width);
        let mut samples = Vec::with_capacity(width * height);
        for (y, down) in points(self.height, height) {
            let row = |y: usize| &self.samples[y * self.width..][..self.width];
            let (upper, lower) = (row(y), row((y + 1).min(self.height - 1)));
            samples.extend(columns.iter().map(|&(x, across)| {
                let next = (x + 1).min(self.width - 1);
                let at = |row: &[u8]| interpolate(f64::from(row[x]), f64::from(row[next]), across);
                interpolate(at(upper), at(lower), down) as u8
            }));
        }
        samples
    }

    /// Returns a window, scaled to `side` × `side` px.
    pub(crate) fn window(&self, window: &Window, side: usize) -> Vec<u8> {
        let window_side = usize::try_from(window.side).unwrap_or(1).max(1);
        let points = points(window_side, side);
        let mut samples = Vec::with_capacity(side * side);
        for &(y, down) in &points {
            let y = window.y + y as i64;
            samples.extend(points.iter().map(|&(x, across)| {
                let x = window.x + x as i64;
                let row = |y| interpolate(self.at(x, y), self.at(x + 1, y), across);
                interpolate(row(y), row(y + 1), down) as u8
            }));
        }
        samples
    }
}

/// For scaling a side of `from` px to `to` px: returns, for each new pixel, the index of the old pixel before it, and
/// the position between that pixel and the next one, from 0 to 1.
fn points(from: usize, to: usize) -> Vec<(usize, f64)> {
    let ratio = from as f64 / to as f64;
    let point = |at: usize| {
        let place = at as f64 * ratio;
        let first = (place as usize).min(from.saturating_sub(2));
        (first, place - first as f64)
    };
    (0..to).map(point).collect()
}

fn interpolate(one: f64, other: f64, share: f64) -> f64 {
    (1.0 - share) * one + share * other
}
