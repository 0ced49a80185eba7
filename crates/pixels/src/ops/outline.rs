//! Cuts an image to an outline: the inside is kept, the outside becomes transparent or one colour.
//!
//! An outline is a polygon. Its coverage of a pixel is summed over sixteen horizontal lines through the pixel; along
//! each line it is exact.

use std::fmt;

use andon_recipe::{Colour, Effect};

use super::lay::veil;
use crate::color;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Traits};
use crate::samples::{Planes, Sample, by_depth, bytes, count, zip};
use crate::stage::{Context, Stage};

/// A point, x and y in px.
pub(super) type Point = (f64, f64);

/// Keeps the part of an image inside an outline.
pub(super) struct Outlined {
    /// The effect as written in the recipe.
    pub(super) effect: Effect,
    /// Returns the outline for an image of this width and height.
    pub(super) outline: Box<dyn Fn(f64, f64) -> Vec<Point> + Send + Sync>,
    /// The colour that shows outside the outline.
    pub(super) colour: Colour,
}

/// Returns points along an elliptical arc around a centre, from one angle to another, in radians clockwise from the
/// right.
pub(super) fn arc((x, y): Point, (rx, ry): Point, from: f64, to: f64) -> Vec<Point> {
    // With this number of chords, none is farther than a thousandth of a px from an arc of a radius of up to 1,000 px.
    let steps = ((to - from) * 360.0).ceil().max(1.0) as u32;
    (0..=steps)
        .map(|step| from + (to - from) * f64::from(step) / f64::from(steps))
        .map(|angle| (x + rx * angle.cos(), y + ry * angle.sin()))
        .collect()
}

/// Computes, row by row, how much of each pixel lies inside an outline, 0 to 1.
struct Coverage<'a> {
    outline: &'a [Point],
    /// Change in coverage at each column; the running sum is the coverage.
    steps: Vec<f32>,
}

/// Number of lines sampled through each row of pixels.
const LINES: u32 = 16;

impl<'a> Coverage<'a> {
    fn new(outline: &'a [Point], width: u32) -> Self {
        Self {
            outline,
            steps: vec![0.0; width as usize + 2],
        }
    }

    fn row(&mut self, y: u32, covered: &mut [f32]) {
        let (top, bottom) = (f64::from(y), f64::from(y) + 1.0);
        let ends = self.outline.iter().cycle().skip(1);
        let sides: Vec<(Point, Point)> = self
            .outline
            .iter()
            .copied()
            .zip(ends.copied())
            .filter(|(a, b)| a.1.min(b.1) < bottom && a.1.max(b.1) > top)
            .collect();
        self.steps.fill(0.0);
        let mut crossings = Vec::new();
        for line in 0..LINES {
            let at = top + (f64::from(line) + 0.5) / f64::from(LINES);
            crossings.clear();
            crossings.extend(
                sides
                    .iter()
                    .filter(|(a, b)| (a.1 <= at) != (b.1 <= at))
                    .map(|(a, b)| a.0 + (b.0 - a.0) * (at - a.1) / (b.1 - a.1)),
            );
            crossings.sort_by(f64::total_cmp);
            for (index, x) in crossings.iter().enumerate() {
                let share = 1.0 / LINES as f32;
                self.step(*x, if index % 2 == 0 { share } else { -share });
            }
        }
        let mut sum = 0.0;
        for (covered, step) in covered.iter_mut().zip(&self.steps) {
            sum += step;
            *covered = sum.clamp(0.0, 1.0);
        }
    }

    /// Adds `share` to the coverage from `x` to the end of the row.
    fn step(&mut self, x: f64, share: f32) {
        let x = x.clamp(0.0, self.steps.len() as f64 - 2.0);
        let column = x as usize;
        let rest = (x - column as f64) as f32;
        self.steps[column] += share * (1.0 - rest);
        self.steps[column + 1] += share * rest;
    }
}

impl Outlined {
    /// Returns how much of each pixel lies inside the outline, as an alpha plane.
    fn coverage<T: Sample>(&self, size: (u32, u32), context: &Context<'_>) -> Result<Grid<T>> {
        let (width, height) = size;
        let outline = (self.outline)(width.into(), height.into());
        let mut coverage = Coverage::new(&outline, width);
        let mut row = vec![0.0; width as usize];
        let mut grid = Grid::filled(width, height, T::MAX);
        for y in 0..height {
            if y % 64 == 0 {
                context.check()?;
            }
            coverage.row(y, &mut row);
            for (covered, share) in grid.row_mut(y).iter_mut().zip(&row) {
                *covered = T::round(T::MAX.float() * share);
            }
        }
        Ok(grid)
    }

    fn cut<T: Sample>(&self, planes: &mut Planes<T>, context: &Context<'_>) -> Result<()> {
        let (width, height) = (planes.width, planes.height);
        let full = T::MAX.float();
        let mut covered = self.coverage::<T>((width, height), context)?;
        if self.colour.a < u8::MAX {
            let alpha = planes.alpha.take();
            planes.alpha = Some(match alpha {
                None => covered.clone(),
                Some(alpha) => zip(&alpha, &covered, |alpha, covered| {
                    T::round(alpha.float() * covered.float() / full)
                })?,
            });
        }
        if self.colour.a > 0 {
            let most = T::of(u16::from(self.colour.a) * T::UNIT).float();
            for covered in covered.samples_mut() {
                *covered = T::round(most * (1.0 - covered.float() / full));
            }
            veil(planes, self.colour, covered);
        }
        Ok(())
    }
}

impl Stage for Outlined {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        context.check()?;
        by_depth!(frame, planes => {
            self.cut(&mut planes, context)?;
            planes.frame()
        })
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            alpha: traits.alpha || self.colour.a < u8::MAX,
            ..traits
        }
    }

    fn adds_colour(&self) -> bool {
        self.colour.a > 0 && color::is_colourful(self.colour)
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let pixels = u64::from(width) * u64::from(height);
        // The colour outside is composited over the image, sample by sample where the image is translucent.
        let colour_samples = if self.colour.a > 0 {
            count(width, height, traits.model, true)
        } else {
            0
        };
        let picos = match self.after(traits).alpha {
            true => PICOS_BLENDED,
            false => PICOS_LAID,
        };
        Cost {
            nanos: (pixels * PICOS_CUT + colour_samples * picos) / 1000,
            scratch: (pixels + colour_samples) * bytes(traits.depth),
        }
    }
}

/// Picoseconds per px to compute and apply the outline's coverage, measured on one core.
const PICOS_CUT: u64 = 5_000;

/// Picoseconds per sample to composite the colour over an opaque image.
const PICOS_LAID: u64 = 1_500;

/// Picoseconds per sample to composite the colour over a translucent image.
const PICOS_BLENDED: u64 = 5_000;

impl fmt::Display for Outlined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}

impl fmt::Debug for Outlined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outlined({self})")
    }
}
