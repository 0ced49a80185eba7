//! Resampling one plane on the calling thread: 8-bit planes with our own kernels, 16-bit ones with
//! `fast_image_resize`.

use std::cell::RefCell;

use andon_kernels::resample::{self, Source};

use fast_image_resize::images::{TypedCroppedImage, TypedImage, TypedImageRef};
use fast_image_resize::pixels::U16;
use fast_image_resize::{FilterType, PixelTrait, ResizeAlg, ResizeOptions, Resizer};

use super::Kernel;
use super::axis::Axis;
use super::weights::weights;
use crate::color::samples::Sample;
use crate::error::{Error, Result};
use crate::frame::Grid;
use crate::limits::Interrupt;

/// Weighted samples (input samples × output rows they matter to) between two looks at the interrupt:
/// some ten milliseconds.
const BAND: f64 = 1e8;

thread_local! {
    /// Kept for its buffers: a plane's intermediate result is as large as a picture.
    static RESIZER: RefCell<Resizer> = RefCell::new(Resizer::new());
}

/// Brings a plane to another size.
pub(crate) fn resample<T: Resizable>(
    grid: Grid<T>,
    x: &Axis,
    y: &Axis,
    kernel: Kernel,
    interrupt: &dyn Interrupt,
) -> Result<Grid<T>> {
    if x.is_copy() && y.is_copy() {
        return Ok(window(grid, x, y));
    }
    T::filtered(grid, x, y, kernel, interrupt)
}

/// Cuts a plane down to what may be read and repeats its last column and row as far as the axes reach.
/// A plane that is wanted whole is handed through.
pub(crate) fn window<T: Copy>(grid: Grid<T>, x: &Axis, y: &Axis) -> Grid<T> {
    let (right, bottom) = (x.beyond(), y.beyond());
    let whole = x.count == grid.width() && y.count == grid.height();
    if whole && right == 0 && bottom == 0 {
        return grid;
    }
    let (width, height) = (x.count + right, y.count + bottom);
    let mut samples = Vec::with_capacity(width as usize * height as usize);
    for row in y.start..y.start + y.count {
        let row = &grid.row(row)[x.start as usize..][..x.count as usize];
        samples.extend_from_slice(row);
        samples.extend(std::iter::repeat_n(row[row.len() - 1], right as usize));
    }
    for _ in 0..bottom {
        samples.extend_from_within(samples.len() - width as usize..);
    }
    Grid::from_samples(width, height, samples)
}

/// Samples that can be filtered.
pub(crate) trait Resizable: Sample {
    /// The filtered grid.
    fn filtered(
        grid: Grid<Self>,
        x: &Axis,
        y: &Axis,
        kernel: Kernel,
        interrupt: &dyn Interrupt,
    ) -> Result<Grid<Self>>;
}

impl Resizable for u8 {
    fn filtered(
        grid: Grid<Self>,
        x: &Axis,
        y: &Axis,
        kernel: Kernel,
        interrupt: &dyn Interrupt,
    ) -> Result<Grid<Self>> {
        let stride = grid.width() as usize;
        let source = Source {
            samples: &grid.samples()[y.start as usize * stride + x.start as usize..],
            stride,
            height: y.count as usize,
        };
        let (across, down) = (weights(x, kernel), weights(y, kernel));
        let mut out = Grid::filled(x.out, y.out, 0);
        let rows = rows_per_band(x, y, kernel) as usize;
        let bands = out.samples_mut().chunks_mut(rows * x.out as usize);
        for (index, band) in bands.enumerate() {
            if interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            let first = index * rows;
            let last = (first + rows).min(y.out as usize);
            resample::rows(source, &across, &down, first..last, band);
        }
        Ok(out)
    }
}

/// 16-bit samples are copied into the library's pixel type and back: a small part of their filtering,
/// and not worth a cast that only `unsafe` could make.
impl Resizable for u16 {
    fn filtered(
        grid: Grid<Self>,
        x: &Axis,
        y: &Axis,
        kernel: Kernel,
        interrupt: &dyn Interrupt,
    ) -> Result<Grid<Self>> {
        let (grid, x, y) = if x.beyond() > 0 || y.beyond() > 0 {
            (window(grid, x, y), x.windowed(), y.windowed())
        } else {
            (grid, *x, *y)
        };
        let (x, y) = (&x, &y);
        let pixels: Vec<U16> = grid.samples().iter().copied().map(U16::new).collect();
        let from = TypedImageRef::new(grid.width(), grid.height(), &pixels).map_err(internal)?;
        let mut to = vec![U16::new(0); x.out as usize * y.out as usize];
        filter(&from, &mut to, x, y, kernel, interrupt)?;
        let samples = to.into_iter().map(|pixel| pixel.0).collect();
        Ok(Grid::from_samples(x.out, y.out, samples))
    }
}

/// Filters band by band of output rows, so that a large plane notices an interrupt.
fn filter<P: PixelTrait>(
    from: &TypedImageRef<'_, P>,
    to: &mut [P],
    x: &Axis,
    y: &Axis,
    kernel: Kernel,
    interrupt: &dyn Interrupt,
) -> Result<()> {
    let view =
        TypedCroppedImage::from_ref(from, x.start, y.start, x.count, y.count).map_err(internal)?;
    // Sums of fractions may end a hair beyond the plane, which the library refuses.
    let width = x.length.min(f64::from(x.count) - x.left);
    let height = y.length.min(f64::from(y.count) - y.left);
    let step = height / f64::from(y.out);
    let rows = rows_per_band(x, y, kernel);
    for (index, band) in to.chunks_mut(rows as usize * x.out as usize).enumerate() {
        if interrupt.interrupted() {
            return Err(Error::Interrupted);
        }
        let first = index as u32 * rows;
        let count = rows.min(y.out - first);
        let (top, tall) = if count == y.out {
            (y.left, height)
        } else {
            let top = y.left + f64::from(first) * step;
            let room = f64::from(y.count) - top;
            (top, (f64::from(count) * step).min(room))
        };
        let mut band = TypedImage::from_pixels_slice(x.out, count, band).map_err(internal)?;
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(kernel.filter()))
            .crop(x.left, top, width, tall)
            .use_alpha(false);
        RESIZER
            .with_borrow_mut(|resizer| resizer.resize_typed(&view, &mut band, &options))
            .map_err(internal)?;
    }
    Ok(())
}

fn rows_per_band(x: &Axis, y: &Axis, kernel: Kernel) -> u32 {
    let work_of_row = f64::from(x.count) * y.taps(kernel.support()).max(1.0);
    ((BAND / work_of_row) as u32).clamp(1, y.out.max(1))
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::Internal(format!("resampling: {error}"))
}

impl Kernel {
    fn filter(self) -> FilterType {
        match self {
            Self::Lanczos3 => FilterType::Lanczos3,
            Self::Mitchell => FilterType::Mitchell,
            Self::CatmullRom => FilterType::CatmullRom,
            Self::Bilinear => FilterType::Bilinear,
            Self::Box => FilterType::Box,
        }
    }

    /// How many output samples it reaches to each side (input samples when enlarging).
    pub(crate) fn support(self) -> f64 {
        match self {
            Self::Lanczos3 => 3.0,
            Self::Mitchell | Self::CatmullRom => 2.0,
            Self::Bilinear => 1.0,
            Self::Box => 0.5,
        }
    }
}
