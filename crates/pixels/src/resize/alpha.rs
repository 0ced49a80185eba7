//! Resampling with opacity: colours count in proportion to how visible they are.
//!
//! In each plane, colour times opacity is resampled in 16 bits, and so is opacity; then the product is divided by the
//! opacity. That is a weighted mean, so it is also right for planes with an offset (chroma, limited range).

use super::Kernel;
use super::axis::Axis;
use super::plane::{Resizable, resample, window};
use crate::buffers::Plain;
use crate::error::Result;
use crate::frame::{Grid, Subsampling};
use crate::limits::Interrupt;
use crate::samples::{map, zip};

/// The opacity for one kind of plane (full-size or subsampled), before and after resampling.
pub(super) struct Weights<T: Plain> {
    before: Grid<T>,
    after: Grid<u16>,
    x: Axis,
    y: Axis,
    kernel: Kernel,
}

impl<T: Resizable> Weights<T> {
    /// Resamples `alpha` for planes with these axes; `alpha` must have as many samples as those planes.
    pub(super) fn new(
        alpha: Grid<T>,
        (x, y): (Axis, Axis),
        kernel: Kernel,
        interrupt: &dyn Interrupt,
    ) -> Result<Self> {
        let before = window(alpha, &x, &y)?;
        let (x, y) = (x.windowed(), y.windowed());
        let wide = map(&before, |alpha| T::MAX.product(alpha));
        let after = resample(wide, &x, &y, kernel, interrupt)?;
        Ok(Self {
            before,
            after,
            x,
            y,
            kernel,
        })
    }

    /// Resamples a colour plane, weighted by opacity. `x` and `y` are the axes that `new` was given.
    pub(super) fn colour(
        &self,
        grid: Grid<T>,
        x: &Axis,
        y: &Axis,
        interrupt: &dyn Interrupt,
    ) -> Result<Grid<T>> {
        let grid = window(grid, x, y)?;
        let product = zip(&grid, &self.before, T::product)?;
        let product = resample(product, &self.x, &self.y, self.kernel, interrupt)?;
        zip(&product, &self.after, T::quotient)
    }

    /// Returns the resampled opacity.
    pub(super) fn alpha(&self) -> Grid<T> {
        map(&self.after, |alpha| T::quotient(alpha, T::ONE))
    }
}

/// Returns the mean opacity over each sample of a subsampled plane.
pub(crate) fn thinned<T: Resizable>(
    alpha: &Grid<T>,
    sub: Subsampling,
    interrupt: &dyn Interrupt,
) -> Result<Grid<T>> {
    let axis = |length: u32, thin| Axis::new(length, 1.0, 0.0, f64::from(length), length, thin);
    let (x, y) = (axis(alpha.width(), sub.h), axis(alpha.height(), sub.v));
    resample(alpha.clone(), &x, &y, Kernel::Box, interrupt)
}
