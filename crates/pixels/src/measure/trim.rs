//! Which part of an image is left when its uniform border is cut off.
//!
//! A pixel belongs to the border if its opacity, and its colours times its opacity, differ from those of the pixel
//! in the corner by no more than the tolerance: a hidden colour is no colour. sharp and imgproxy, too, compare
//! with a corner and allow 10 levels. thumbor takes the distance of all channels instead, hidden colours and all.

use andon_recipe::Area;

use super::Analysis;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::limits::Interrupt;
use crate::samples::{Planes, Sample, by_depth};

/// How far a pixel is from another.
#[derive(Clone, Copy)]
pub(super) enum Metric {
    /// The greatest difference of a channel, colours times opacity.
    Greatest,
    /// The distance of all channels as they are.
    Distance,
    /// The greatest difference of a channel on magenta, which stands for what is transparent.
    Keyed,
}

/// Magenta, as shares.
const KEY: [f32; 3] = [1.0, 0.0, 1.0];

impl Metric {
    fn between(self, one: [f32; 4], other: [f32; 4]) -> f32 {
        let differences = one
            .into_iter()
            .zip(other)
            .map(|(one, other)| (one - other).abs());
        match self {
            Self::Greatest | Self::Keyed => differences.fold(0.0, f32::max),
            // Squares of 16 bits are more than the shorter type holds.
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
    /// What the border is compared with; absent: the corner.
    colour: Option<[u8; 3]>,
    /// The corner's pixel in the first frame.
    ground: Option<[f32; 4]>,
    /// What is not border in any frame so far: its first and last column and row.
    found: Option<[u32; 4]>,
}

impl Trim {
    pub(super) fn new(metric: Metric, tolerance: u16, corner: (bool, bool)) -> Self {
        Self {
            metric,
            tolerance,
            corner,
            colour: None,
            ground: None,
            found: None,
        }
    }

    /// The border has this colour.
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
            // There is one: the first.
            let last = (first..width).rev().find(differs).unwrap_or(first);
            let [left, top, right, bottom] = self.found.unwrap_or([first, y, last, y]);
            self.found = Some([left.min(first), top.min(y), right.max(last), bottom.max(y)]);
        }
        Ok(())
    }
}

impl Analysis for Trim {
    fn look(&mut self, frame: &Frame, interrupt: &dyn Interrupt) -> Result<()> {
        by_depth!(frame.clone(), planes => self.see(&planes, interrupt))
    }

    fn areas(&self) -> Option<Vec<Area>> {
        let [left, top, right, bottom] = self.found?;
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

    /// Colours, times opacity or as they are, and opacity, in units of the depth. With a key everything is opaque.
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
