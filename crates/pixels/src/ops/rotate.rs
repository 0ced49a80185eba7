//! Rotation by any angle.

use std::fmt;

use andon_recipe::{Colour, rotated_size};

use super::canvas::OnCanvas;
use crate::buffers::{Buffer, Plain};
use crate::color;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Subsampling, Traits};
use crate::limits::Interrupt;
use crate::resize::thinned;
use crate::samples::{Planes, Sample, by_depth, count, thinning};
use crate::stage::{Context, Stage};

/// Rotates an image clockwise about its centre; the canvas grows to hold the whole image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotated {
    /// Clockwise angle in degrees.
    pub degrees: f64,
    /// Colour of the corners that the rotated image leaves free.
    pub colour: Colour,
}

impl Stage for Rotated {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        let (width, height) = self.size_after(frame.width, frame.height);
        let turned = by_depth!(frame, planes => {
            self.turned(&planes, (width, height), context)?.frame()
        })?;
        self.ground(width, height).apply(turned, context)
    }

    fn after(&self, traits: Traits) -> Traits {
        self.ground(1, 1).after(traits)
    }

    fn size_after(&self, width: u32, height: u32) -> (u32, u32) {
        rotated_size(width, height, self.degrees)
    }

    fn adds_colour(&self) -> bool {
        color::is_colourful(self.colour)
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let (width, height) = self.size_after(width, height);
        let samples = count(width, height, traits.model, true);
        Cost {
            nanos: samples * NANOS_PER_SAMPLE,
            // The rotated image, in addition to the background that it is composited over.
            scratch: samples * crate::samples::bytes(traits.depth),
        }
    }
}

/// Nanoseconds per sample of the result, measured on one core: sixteen weights applied to as many samples.
const NANOS_PER_SAMPLE: u64 = 50;

impl fmt::Display for Rotated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rotate {} {}", self.degrees, self.colour)
    }
}

impl Rotated {
    fn ground(&self, width: u32, height: u32) -> OnCanvas {
        OnCanvas {
            width,
            height,
            x: 0,
            y: 0,
            colour: self.colour,
        }
    }

    /// Returns the rotated image, transparent in its corners.
    fn turned<T: Sample + crate::resize::Resizable>(
        &self,
        planes: &Planes<T>,
        (width, height): (u32, u32),
        context: &Context<'_>,
    ) -> Result<Planes<T>> {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let back = Back {
            from: (f64::from(planes.width), f64::from(planes.height)),
            to: (f64::from(width), f64::from(height)),
            sin,
            cos,
        };
        let mut colours = Vec::with_capacity(planes.colours.len());
        for (index, grid) in planes.colours.iter().enumerate() {
            let sub = thinning(planes.model, index);
            let opacity = match &planes.alpha {
                Some(alpha) if sub != Subsampling::NONE => {
                    Some(thinned(alpha, sub, context.interrupt)?)
                }
                other => other.clone(),
            };
            let size = planes.model.plane_size(index, width, height);
            colours.push(sampled(size, context.interrupt, |x, y| {
                let (x, y) = back.place(x, y, sub);
                let (u, v) = (x / f64::from(sub.h) - 0.5, y / f64::from(sub.v) - 0.5);
                T::round(weighed(grid, opacity.as_ref(), u, v))
            })?);
        }
        let alpha = sampled((width, height), context.interrupt, |x, y| {
            let (x, y) = back.place(x, y, Subsampling::NONE);
            let opacity = match &planes.alpha {
                Some(alpha) => weighed(alpha, None, x - 0.5, y - 0.5),
                None => T::MAX.float(),
            };
            T::round(opacity * back.covers(x, y))
        })?;
        Ok(Planes {
            depth: planes.depth,
            colour: planes.colour.clone(),
            model: planes.model,
            width,
            height,
            colours,
            alpha: Some(alpha),
        })
    }
}

/// Maps a position in the rotated image back to its position in the original.
struct Back {
    from: (f64, f64),
    to: (f64, f64),
    sin: f64,
    cos: f64,
}

impl Back {
    /// Returns the position in the original image, in px, of the centre of sample (`x`, `y`) of the rotated image, for
    /// a plane subsampled by `sub`.
    fn place(&self, x: u32, y: u32, sub: Subsampling) -> (f64, f64) {
        let x = (f64::from(x) + 0.5) * f64::from(sub.h) - self.to.0 / 2.0;
        let y = (f64::from(y) + 0.5) * f64::from(sub.v) - self.to.1 / 2.0;
        (
            x * self.cos + y * self.sin + self.from.0 / 2.0,
            y * self.cos - x * self.sin + self.from.1 / 2.0,
        )
    }

    /// Returns approximately how much of a px centred at this position lies on the original image, from 0 to 1.
    fn covers(&self, x: f64, y: f64) -> f32 {
        let along = |at: f64, length: f64| (at.min(length - at) + 0.5).clamp(0.0, 1.0);
        (along(x, self.from.0) * along(y, self.from.1)) as f32
    }
}

/// Creates a grid whose sample at each column and row is computed by `at`.
fn sampled<T: Plain>(
    (width, height): (u32, u32),
    interrupt: &dyn Interrupt,
    at: impl Fn(u32, u32) -> T,
) -> Result<Grid<T>> {
    let mut samples = Buffer::with_capacity(width as usize * height as usize);
    for y in 0..height {
        if y % ROWS_PER_BAND == 0 && interrupt.interrupted() {
            return Err(crate::error::Error::Interrupted);
        }
        samples.extend((0..width).map(|x| at(x, y)));
    }
    Grid::from_buffer(width, height, samples)
}

/// Rows between two checks of the interrupt.
const ROWS_PER_BAND: u32 = 16;

/// Interpolates between samples with the Catmull-Rom cubic, each sample weighted by its opacity. Beyond the edge, the
/// outermost samples are repeated.
fn weighed<T: Sample>(grid: &Grid<T>, opacity: Option<&Grid<T>>, u: f64, v: f64) -> f32 {
    let (left, top) = (u.floor(), v.floor());
    let (across, down) = (cubic((u - left) as f32), cubic((v - top) as f32));
    let (mut sum, mut total) = (0.0, 0.0);
    for (j, down) in down.into_iter().enumerate() {
        let y = inside(top, j, grid.height());
        let row = grid.row(y);
        let opacities = opacity.map(|opacity| opacity.row(y.min(opacity.height() - 1)));
        for (i, across) in across.into_iter().enumerate() {
            let x = inside(left, i, grid.width()) as usize;
            let share =
                across * down * opacities.map_or(1.0, |row| row[x.min(row.len() - 1)].float());
            sum += share * row[x].float();
            total += share;
        }
    }
    if total.abs() < 1e-3 {
        return 0.0;
    }
    (sum / total).clamp(0.0, T::MAX.float())
}

/// Returns the cubic's weights for the samples at -1, 0, 1 and 2, for a position between 0 and 1.
fn cubic(at: f32) -> [f32; 4] {
    let (two, three) = (at * at, at * at * at);
    [
        -0.5 * three + two - 0.5 * at,
        1.5 * three - 2.5 * two + 1.0,
        -1.5 * three + 2.0 * two + 0.5 * at,
        0.5 * three - 0.5 * two,
    ]
}

/// Returns the index `first` − 1 + `step`, clamped to a row or column of `length` samples.
fn inside(first: f64, step: usize, length: u32) -> u32 {
    // `as` clamps negative numbers to 0.
    ((first - 1.0 + step as f64) as u32).min(length - 1)
}
