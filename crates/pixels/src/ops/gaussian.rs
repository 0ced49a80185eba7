//! Blur, sharpen and unsharp are one operation: each sample moves away from, or towards, the mean of its neighbourhood
//! weighted by a Gaussian. The stage [`Filter`] performs it.
//!
//! Kernels are ImageMagick 6's. A radius is the reach of a kernel in px; with radius 0, it ends where its weights fall
//! below one 16-bit level. For blur and unsharp, each weight is the mean of the Gaussian over a px; for sharpen, whose
//! kernel is a square in ImageMagick, it is the Gaussian's value in the middle of the px. Both kernels are applied as
//! one pass along rows and one along columns. For wide kernels the plane is shrunk before and enlarged afterwards,
//! which loses nothing that a wide blur would keep.
//!
//! Every plane is filtered, subsampled chroma with a correspondingly narrower kernel. For blur and sharpen, which are
//! linear, that equals filtering RGB except for rounding and clamping. Colours are weighted by their opacity; opacity
//! itself is unchanged.

use std::fmt;

use andon_kernels::cpu::with_modern_instructions;
use andon_recipe::Effect;

use super::geometry::Geometry;
use crate::buffers::Plain;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::frame::{Frame, Grid, Subsampling, Traits};
use crate::limits::Interrupt;
use crate::resize::{Axis, Kernel, Resizable, resample, thinned};
use crate::samples::{Planes, Sample, by_depth, bytes, count, map, thinning, zip};
use crate::stage::{Context, OnGainMap, Stage};

/// A blur or sharpening filter: moves each sample by an amount that depends on its difference from the blurred image.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    /// The effect as written in the recipe.
    pub(super) effect: Effect,
    /// The kernel that the image is blurred with.
    pub(super) gaussian: Gaussian,
    /// How far a sample moves for a given difference from the blurred image.
    pub(super) response: Response,
}

/// How far a sample moves when it differs from the mean of its neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Response {
    /// Moves a sample by its difference from the mean of its neighbourhood, times `gain`: −1 blurs, more than 0
    /// sharpens.
    Straight {
        /// Factor by which a sample's difference from the mean of its neighbourhood is multiplied.
        gain: f32,
        /// Share of full scale: samples that differ from the mean of their neighbourhood by less than half of it stay
        /// unchanged.
        threshold: f32,
    },
    /// Moves a sample by its difference from the mean of its neighbourhood, multiplied by `flat` up to 2% of full scale
    /// and by `jagged` beyond. A sample moves up by at most 10% of full scale and down by at most 20%.
    Bent {
        /// Factor for the first 2% of full scale of a sample's difference from the mean of its neighbourhood.
        flat: f32,
        /// Factor for the rest of a sample's difference from the mean of its neighbourhood, beyond 2% of full scale.
        jagged: f32,
    },
}

impl Response {
    /// Replaces each sample by the mean of its neighbourhood.
    pub(super) const BLUR: Self = Self::Straight {
        gain: -1.0,
        threshold: 0.0,
    };

    #[inline(always)]
    fn of(self, difference: f32, full: f32) -> f32 {
        match self {
            Self::Straight { gain, threshold } => {
                if (2.0 * difference).abs() < threshold * full {
                    0.0
                } else {
                    gain * difference
                }
            }
            Self::Bent { flat, jagged } => {
                let bend = 0.02 * full;
                let small = difference.clamp(-bend, bend);
                let moved = flat * small + jagged * (difference - small);
                moved.clamp(-0.2 * full, 0.1 * full)
            }
        }
    }

    fn sharpens(self) -> bool {
        !matches!(self, Self::Straight { gain, .. } if gain <= 0.0)
    }
}

impl Stage for Filter {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        by_depth!(frame, planes => {
            self.filter(&mut planes, context.interrupt)?;
            planes.frame()
        })
    }

    /// Sharpening keeps the gain map, because it moves no light from one place to another. Blurring moves light, so the
    /// map no longer fits.
    fn on_gain_map(&self, _: (u32, u32), _: (u32, u32)) -> OnGainMap {
        if self.response.sharpens() {
            OnGainMap::Keeps
        } else {
            OnGainMap::Voids
        }
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let samples = count(width.max(NARROW), height, traits.model, traits.alpha);
        let passes = if traits.alpha { 4 } else { 2 };
        let plane = u64::from(width) * u64::from(height);
        Cost {
            nanos: self.gaussian.nanos(samples, passes),
            scratch: plane * if traits.alpha { 8 } else { bytes(traits.depth) },
        }
    }
}

/// Picoseconds per tap of one pass over a sample, measured on one core.
const PICOS_PER_TAP: u64 = 150;

/// Picoseconds per sample in addition to its taps.
const PICOS_PER_SAMPLE: u64 = 1_500;

/// Width in px below which all rows take the same time, because filtering repeats the ends of each row.
const NARROW: u32 = 32;

/// Number of taps per sample that take as much time as shrinking a plane, filtering it and enlarging the result.
const TAPS_SHRUNKEN: u64 = 10;

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.effect.fmt(f)
    }
}

impl Filter {
    /// Filters every plane, in place.
    pub(super) fn filter<T: Resizable>(
        &self,
        planes: &mut Planes<T>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        let translucent = planes.translucent();
        let alpha = planes.alpha.as_ref().filter(|_| translucent);
        for (index, grid) in planes.colours.iter_mut().enumerate() {
            let sub = thinning(planes.model, index);
            let blurred = |grid| Blurred::new(grid, &self.gaussian, sub, interrupt);
            let Some(alpha) = alpha else {
                let mut mean = Blurred::new(grid.clone(), &self.gaussian, sub, interrupt)?;
                self.move_from(grid, interrupt, |row, out| mean.row(row, out))?;
                continue;
            };
            let alpha = thinned(alpha, sub, interrupt)?;
            let mut product = blurred(zip(grid, &alpha, T::product)?)?;
            let mut weight = blurred(map(&alpha, |alpha| T::MAX.product(alpha)))?;
            let mut weights = vec![0.0; grid.width() as usize];
            self.move_from(grid, interrupt, |row, out| {
                product.row(row, out);
                weight.row(row, &mut weights);
                for (out, weight) in out.iter_mut().zip(&weights) {
                    // Divide by at least one step of opacity: below that, colours are rounding errors.
                    *out *= T::MAX.float() / weight.max(1.0);
                }
            })?;
        }
        Ok(())
    }

    /// Moves the samples of a plane away from the mean of their neighbourhood, or towards it.
    fn move_from<T: Sample>(
        &self,
        grid: &mut Grid<T>,
        interrupt: &dyn Interrupt,
        mut mean: impl FnMut(u32, &mut [f32]),
    ) -> Result<()> {
        let (response, full) = (self.response, T::MAX.float());
        let mut means = vec![0.0; grid.width() as usize];
        for row in 0..grid.height() {
            if row % BAND == 0 && interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            mean(row, &mut means);
            with_modern_instructions(
                #[inline(always)]
                || {
                    for (sample, mean) in grid.row_mut(row).iter_mut().zip(&means) {
                        let value = sample.float();
                        *sample = T::round(value + response.of(value - mean, full));
                    }
                },
            );
        }
        Ok(())
    }
}

/// Rows between two checks of the interrupt.
const BAND: u32 = 32;

/// A two-dimensional Gaussian, truncated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gaussian {
    /// Reach of the kernel to each side, in px.
    reach: u32,
    /// Standard deviation in px.
    sigma: f64,
    /// Distance in px: each weight is the mean of the Gaussian at three points, its own position and this far to either
    /// side.
    spread: f64,
}

impl Gaussian {
    /// Creates ImageMagick's kernel of blur and unsharp: one row and one column of weights. ImageMagick drops the
    /// fraction of a radius if it is below a half, and from a half on lets its kernel lie off centre; here such a
    /// radius is rounded up.
    pub(super) fn rows_and_columns(geometry: &Geometry) -> Self {
        Self::new(geometry, 1, geometry.radius.round(), 1.0 / 3.0)
    }

    /// Creates ImageMagick's square kernel of sharpen. Its weights fall below one 16-bit level closer to the middle
    /// than those of a single row, so it reaches less far.
    pub(super) fn square(geometry: &Geometry) -> Self {
        Self::new(geometry, 2, geometry.radius.ceil(), 0.0)
    }

    fn new(geometry: &Geometry, dimensions: i32, radius: f64, spread: f64) -> Self {
        let sigma = geometry.sigma;
        let full_reach = full_reach(sigma, dimensions);
        let reach = if geometry.radius > 0.0 {
            full_reach.min(radius.max(1.0) as u32)
        } else {
            full_reach
        };
        Self {
            reach,
            sigma,
            spread,
        }
    }

    /// Creates a kernel that reaches as far as its weights are at least `share` of the weight in the middle; `None` if
    /// that is less than 1 px.
    pub(super) fn above(sigma: f64, share: f64) -> Option<Self> {
        let reach = sigma * (-2.0 * share.ln()).sqrt();
        (reach >= 1.0).then_some(Self {
            reach: reach as u32,
            sigma,
            spread: 0.0,
        })
    }

    /// Returns the estimated nanoseconds to filter `samples` samples in `passes` passes, each along rows or columns.
    fn nanos(&self, samples: u64, passes: u64) -> u64 {
        let taps = if self.reach > WIDEST {
            TAPS_SHRUNKEN
        } else {
            2 * u64::from(self.reach) + 1
        };
        samples * (passes * taps * PICOS_PER_TAP + PICOS_PER_SAMPLE) / 1000
    }

    /// Returns a plane in which each sample is the mean of its neighbourhood.
    pub(super) fn blurred<T: Resizable>(
        &self,
        grid: Grid<T>,
        interrupt: &dyn Interrupt,
    ) -> Result<Grid<T>> {
        let mut blurred = grid.clone();
        let mut means = vec![0.0; grid.width() as usize];
        let mut mean = Blurred::new(grid, self, Subsampling::NONE, interrupt)?;
        for row in 0..blurred.height() {
            if row % BAND == 0 && interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            mean.row(row, &mut means);
            for (sample, mean) in blurred.row_mut(row).iter_mut().zip(&means) {
                *sample = T::round(*mean);
            }
        }
        Ok(blurred)
    }

    /// Returns the estimated time to blur a plane of this size.
    pub(super) fn nanos_of_plane(&self, width: u32, height: u32) -> u64 {
        self.nanos(u64::from(width.max(NARROW)) * u64::from(height), 2)
    }

    /// Returns the reach of the kernel to each side, in px.
    pub(super) fn reach(&self) -> u32 {
        self.reach
    }

    /// Returns the weight of the middle sample as a share of all weights of the two-dimensional kernel.
    pub(super) fn middle(&self) -> f64 {
        let weights = weights(self.reach, self.sigma, self.spread);
        let sum: f64 = weights.iter().sum();
        (weights[self.reach as usize] / sum).powi(2)
    }
}

/// Returns how far a Gaussian reaches, in px, before its weights fall below one 16-bit level.
fn full_reach(sigma: f64, dimensions: i32) -> u32 {
    let weight = |at: u32| weight(f64::from(at), sigma);
    let mut reach = 1;
    let mut sum = 1.0 + 2.0 * weight(1);
    loop {
        let next = weight(reach + 1);
        sum += 2.0 * next;
        if next / f64::powi(sum, dimensions) < 1.0 / 65_535.0 {
            return reach;
        }
        reach += 1;
    }
}

/// Returns the weights of a kernel from one end to the other, not normalised.
fn weights(reach: u32, sigma: f64, spread: f64) -> Vec<f64> {
    let mean = |at: i32| {
        let places = [-spread, 0.0, spread].map(|offset| f64::from(at) + offset);
        places.iter().map(|&at| weight(at, sigma)).sum::<f64>() / 3.0
    };
    // Sigma is limited, so the reach is far below the limit of an i32.
    (-(reach as i32)..=reach as i32).map(mean).collect()
}

fn weight(at: f64, sigma: f64) -> f64 {
    (-at.powi(2) / (2.0 * sigma * sigma)).exp()
}

/// Widest reach, in samples, that is filtered at full size; wider kernels run on a shrunken plane.
const WIDEST: u32 = 48;

/// A blurred plane, computed row by row.
struct Blurred<T: Plain> {
    grid: Grid<T>,
    across: Vec<f32>,
    down: Vec<f32>,
    /// One row after vertical filtering, with its ends repeated.
    padded: Vec<f32>,
}

impl<T: Resizable> Blurred<T> {
    fn new(
        grid: Grid<T>,
        gaussian: &Gaussian,
        sub: Subsampling,
        interrupt: &dyn Interrupt,
    ) -> Result<Self> {
        let across = Tapped::new(gaussian, sub.h);
        let down = Tapped::new(gaussian, sub.v);
        if across.shrink == 1 && down.shrink == 1 {
            return Ok(Self::tapped(grid, across.taps, down.taps));
        }
        let (width, height) = (grid.width(), grid.height());
        let thin = |have: u32, by: u8| Axis::new(have, 1.0, 0.0, have.into(), have, by);
        let (x, y) = (thin(width, across.shrink), thin(height, down.shrink));
        let small = resample(grid, &x, &y, Kernel::Box, interrupt)?;
        let mut blurred = Self::tapped(small.clone(), across.taps, down.taps);
        let mut small = small;
        let mut means = vec![0.0; small.width() as usize];
        for row in 0..small.height() {
            blurred.row(row, &mut means);
            for (sample, mean) in small.row_mut(row).iter_mut().zip(&means) {
                *sample = T::round(*mean);
            }
        }
        let wide =
            |have, by: u8, to: u32| Axis::new(have, 1.0 / f64::from(by), 0.0, to.into(), to, 1);
        let x = wide(small.width(), across.shrink, width);
        let y = wide(small.height(), down.shrink, height);
        let grid = resample(small, &x, &y, Kernel::Bilinear, interrupt)?;
        Ok(Self::tapped(grid, vec![1.0], vec![1.0]))
    }

    fn tapped(grid: Grid<T>, across: Vec<f32>, down: Vec<f32>) -> Self {
        let padded = vec![0.0; grid.width() as usize + across.len() - 1];
        Self {
            grid,
            across,
            down,
            padded,
        }
    }

    fn row(&mut self, row: u32, out: &mut [f32]) {
        with_modern_instructions(
            #[inline(always)]
            || self.filter_row(row, out),
        );
    }

    #[inline(always)]
    fn filter_row(&mut self, row: u32, out: &mut [f32]) {
        let (width, reach) = (out.len(), self.across.len() / 2);
        let middle = &mut self.padded[reach..reach + width];
        middle.fill(0.0);
        let last = self.grid.height() - 1;
        for (tap, weight) in self.down.iter().enumerate() {
            let at = (row as usize + tap).saturating_sub(self.down.len() / 2);
            let samples = self.grid.row(last.min(at as u32));
            for (sum, sample) in middle.iter_mut().zip(samples) {
                *sum += weight * sample.float();
            }
        }
        let (first, last) = (self.padded[reach], self.padded[reach + width - 1]);
        self.padded[..reach].fill(first);
        self.padded[reach + width..].fill(last);
        out.fill(0.0);
        for (tap, weight) in self.across.iter().enumerate() {
            for (sum, sample) in out.iter_mut().zip(&self.padded[tap..]) {
                *sum += weight * sample;
            }
        }
    }
}

/// A Gaussian along one axis of a plane.
struct Tapped {
    /// Factor by which the plane is shrunk before it is filtered.
    shrink: u8,
    /// Weights on the shrunken plane, with sum 1.
    taps: Vec<f32>,
}

impl Tapped {
    fn new(gaussian: &Gaussian, thin: u8) -> Self {
        let reach = f64::from(gaussian.reach) / f64::from(thin);
        let sigma = gaussian.sigma / f64::from(thin);
        let shrink = if reach > f64::from(WIDEST) {
            (reach / f64::from(WIDEST / 2)).min(255.0).floor()
        } else {
            1.0
        };
        // Box shrinking and linear enlarging blur by themselves, so subtract their variance.
        let own = (shrink * shrink - 1.0) / 4.0;
        let sigma = (sigma * sigma - own).max(0.01).sqrt() / shrink;
        let spread = gaussian.spread / f64::from(thin) / shrink;
        let weights = weights((reach / shrink).ceil() as u32, sigma, spread);
        let sum: f64 = weights.iter().sum();
        Self {
            shrink: shrink as u8,
            taps: weights.iter().map(|weight| (weight / sum) as f32).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(radius: f64, sigma: f64) -> Geometry {
        Geometry {
            radius,
            sigma,
            amount: None,
            threshold: None,
        }
    }

    /// Returns the weights from the middle to one end, scaled so that the weights of the whole kernel sum to 65535.
    fn side(gaussian: Gaussian) -> Vec<f64> {
        let taps = Tapped::new(&gaussian, 1).taps;
        let side = taps[taps.len() / 2..].iter();
        side.map(|&weight| (f64::from(weight) * 65_535.0).round())
            .collect()
    }

    /// The expected weights are the result of ImageMagick 6.9 for a single white px on black.
    #[test]
    fn rows_and_columns_have_imagemagicks_weights() {
        let weights = |radius, sigma| side(Gaussian::rows_and_columns(&geometry(radius, sigma)));
        assert_eq!(weights(0.0, 0.5), [45_343.0, 10_022.0, 74.0]);
        assert_eq!(
            weights(0.0, 1.0),
            [25_203.0, 15_847.0, 3_925.0, 379.0, 14.0]
        );
        assert_eq!(weights(0.5, 2.0), [23_667.0, 20_934.0]);
    }

    #[test]
    fn a_radius_is_the_reach() {
        let blur = |radius| Gaussian::rows_and_columns(&geometry(radius, 5.0)).reach;
        assert_eq!([0.2, 1.0, 1.2, 3.0].map(blur), [1, 1, 1, 3]);
        let sharpen = |radius| Gaussian::square(&geometry(radius, 5.0)).reach;
        assert_eq!([0.2, 1.0, 1.2, 3.0].map(sharpen), [1, 1, 2, 3]);
    }
}
