//! Finds the part of an image that is left when its uniform border is cut off.
//!
//! A pixel belongs to the border if its opacity, and its colours multiplied by its opacity, differ from those of the
//! pixel in the corner by no more than the tolerance: colours hidden by transparency do not count. sharp and imgproxy
//! also compare with a corner and allow 10 levels. thumbor uses the distance over all channels instead, hidden colours
//! included.

use andon_recipe::Area;

use super::Analysis;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::limits::Interrupt;
use crate::samples::{Planes, Sample, by_depth};

/// How the difference between two pixels is measured.
#[derive(Clone, Copy)]
pub(super) enum Metric {
    /// The greatest difference in any channel, with colours multiplied by opacity.
    Greatest,
    /// The Euclidean distance over all channels as stored.
    Distance,
    /// The greatest difference in any channel after compositing on magenta, which stands for transparency.
    Keyed,
}

/// Magenta, as shares of full red, green and blue.
const KEY: [f32; 3] = [1.0, 0.0, 1.0];

impl Metric {
    fn between(self, one: [f32; 4], other: [f32; 4]) -> f32 {
        let differences = one
            .into_iter()
            .zip(other)
            .map(|(one, other)| (one - other).abs());
        match self {
            Self::Greatest | Self::Keyed => differences.fold(0.0, f32::max),
            // Sum squares in f64: those of 16-bit samples exceed the precision of f32.
            Self::Distance => differences
                .map(|it| f64::from(it).powi(2))
                .sum::<f64>()
                .sqrt() as f32,
        }
    }
}

pub(super) struct Trim {
    metric: Metric,
    tolerance: u16,
    corner: (bool, bool),
    /// The colour that the border is compared with; `None`: that of the pixel in the corner.
    colour: Option<[u8; 3]>,
    /// The pixel that the border is compared with: by default, the one in the corner of the first frame. `None` until
    /// the first frame is examined.
    ground: Option<[f32; 4]>,
    /// Bounds of the pixels that are not border in any frame so far: left and top, then right and bottom px, all
    /// inclusive. `None` while all pixels are border.
    bounds: Option<[u32; 4]>,
}

impl Trim {
    pub(super) fn new(metric: Metric, tolerance: u16, corner: (bool, bool)) -> Self {
        Self {
            metric,
            tolerance,
            corner,
            colour: None,
            ground: None,
            bounds: None,
        }
    }

    /// Creates a trim of a border of a given colour.
    pub(super) fn keyed(tolerance: u8, colour: [u8; 3]) -> Self {
        Self {
            colour: Some(colour),
            ..Self::new(Metric::Keyed, tolerance.into(), (false, false))
        }
    }

    fn see<T: Sample>(&mut self, planes: &Planes<T>, interrupt: &dyn Interrupt) -> Result<()> {
        let (width, height) = (planes.width, planes.height);
        let (right, bottom) = self.corner;
        let place = |far: bool, side: u32| if far { side - 1 } else { 0 };
        let unit = f32::from(T::UNIT);
        let ground = match (self.colour, self.ground) {
            (Some([r, g, b]), _) => [r, g, b, u8::MAX].map(|level| f32::from(level) * unit),
            (None, Some(ground)) => ground,
            (None, None) => {
                Row::of(planes, place(bottom, height)).pixel(place(right, width), self.metric)
            }
        };
        self.ground = Some(ground);
        let tolerance = f32::from(self.tolerance) * unit;
        for y in 0..height {
            if y % 64 == 0 && interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            let row = Row::of(planes, y);
            let differs = |x: &u32| {
                let pixel = row.pixel(*x, self.metric);
                self.metric.between(pixel, ground) > tolerance
            };
            let Some(first) = (0..width).find(differs) else {
                continue;
            };
            // Always found: at least the pixel at `first` differs.
            let last = (first..width).rev().find(differs).unwrap_or(first);
            let [left, top, right, bottom] = self.bounds.unwrap_or([first, y, last, y]);
            self.bounds = Some([left.min(first), top.min(y), right.max(last), bottom.max(y)]);
        }
        Ok(())
    }
}

impl Analysis for Trim {
    fn look(&mut self, frame: &Frame, interrupt: &dyn Interrupt) -> Result<()> {
        by_depth!(frame.clone(), planes => self.see(&planes, interrupt))
    }

    fn areas(&self) -> Option<Vec<Area>> {
        let [left, top, right, bottom] = self.bounds?;
        Some(vec![Area {
            x: left,
            y: top,
            w: right - left + 1,
            h: bottom - top + 1,
        }])
    }
}

/// A row of pixels.
struct Row<'a, T> {
    colours: Vec<&'a [T]>,
    alpha: Option<&'a [T]>,
}

impl<'a, T: Sample> Row<'a, T> {
    fn of(planes: &'a Planes<T>, y: u32) -> Self {
        Self {
            colours: planes.colours.iter().map(|grid| grid.row(y)).collect(),
            alpha: planes.alpha.as_ref().map(|grid| grid.row(y)),
        }
    }

    /// Returns the colours and opacity of a pixel as the metric compares them, in units of the depth: colours are
    /// multiplied by opacity or as stored; with `Keyed` they are composited on magenta and opaque.
    fn pixel(&self, x: u32, metric: Metric) -> [f32; 4] {
        let full = T::MAX.float();
        let alpha = self.alpha.map_or(full, |alpha| alpha[x as usize].float());
        let (share, key, alpha) = match metric {
            Metric::Greatest => (alpha / full, 0.0, alpha),
            Metric::Distance => (1.0, 0.0, alpha),
            Metric::Keyed => (alpha / full, full - alpha, full),
        };
        let mut pixel = [alpha; 4];
        for ((value, colours), behind) in pixel.iter_mut().zip(&self.colours).zip(KEY) {
            *value = colours[x as usize].float() * share + key * behind;
        }
        pixel
    }
}
