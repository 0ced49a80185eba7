//! Resampling one plane on the calling thread.

use std::cell::RefCell;
use std::ops::Range;
use std::thread::LocalKey;

use andon_kernels::resample::{self, Resampled, Source};

use super::Kernel;
use super::axis::Axis;
use super::weights::{Recent, weights};
use crate::buffers::{Buffer, Plain};
use crate::error::{Error, Result};
use crate::frame::Grid;
use crate::limits::Interrupt;
use crate::samples::Sample;

/// Work between two checks of the interrupt, some ten milliseconds: number of input samples times the number of output
/// rows that each contributes to.
const BAND: f64 = 1e8;

/// Resamples a plane to another size.
pub(crate) fn resample<T: Resizable>(
    grid: Grid<T>,
    x: &Axis,
    y: &Axis,
    kernel: Kernel,
    interrupt: &dyn Interrupt,
) -> Result<Grid<T>> {
    if x.is_copy() && y.is_copy() {
        return window(grid, x, y);
    }
    let mut out = Grid::overwritten(x.out, y.out);
    let rows = rows_per_band(x, y, kernel) as usize;
    let bands = out.samples_mut().chunks_mut(rows * x.out as usize);
    for (index, band) in bands.enumerate() {
        if interrupt.interrupted() {
            return Err(Error::Interrupted);
        }
        let first = index * rows;
        let last = (first + rows).min(y.out as usize);
        resample_rows(&grid, x, y, kernel, first..last, band)?;
    }
    Ok(out)
}

/// Computes rows `rows` of the resampled plane into `out`, which has room for exactly these rows.
pub(super) fn resample_rows<T: Resizable>(
    grid: &Grid<T>,
    x: &Axis,
    y: &Axis,
    kernel: Kernel,
    rows: Range<usize>,
    out: &mut [T],
) -> Result<()> {
    let stride = grid.width() as usize;
    let source = Source {
        samples: &grid.samples()[y.start as usize * stride + x.start as usize..],
        stride,
        height: y.count as usize,
    };
    let (across, down) = (
        weights(T::RECENT, x, kernel)?,
        weights(T::RECENT, y, kernel)?,
    );
    resample::rows(source, &across, &down, rows, out);
    Ok(())
}

/// Cuts a plane down to the samples that the axes may read. Where an axis reaches beyond them, the last column or row
/// is repeated. A plane that needs no change is returned unchanged, without a copy.
pub(crate) fn window<T: Plain>(grid: Grid<T>, x: &Axis, y: &Axis) -> Result<Grid<T>> {
    let (right, bottom) = (x.excess(), y.excess());
    let whole = x.count == grid.width() && y.count == grid.height();
    if whole && right == 0 && bottom == 0 {
        return Ok(grid);
    }
    let (width, height) = (x.count + right, y.count + bottom);
    let mut samples = Buffer::with_capacity(width as usize * height as usize);
    for row in y.start..y.start + y.count {
        let row = &grid.row(row)[x.start as usize..][..x.count as usize];
        samples.extend_from_slice(row);
        samples.extend(std::iter::repeat_n(row[row.len() - 1], right as usize));
    }
    for _ in 0..bottom {
        let last = samples.len() - width as usize;
        samples.extend_from_within(last..);
    }
    Grid::from_buffer(width, height, samples)
}

/// Samples that can be resampled.
pub(crate) trait Resizable: Sample + Resampled {
    /// The calling thread's cache of recently used weights for this sample type.
    const RECENT: &'static LocalKey<Recent<Self>>;
}

thread_local! {
    static NARROW: Recent<u8> = const { RefCell::new(Vec::new()) };
    static WIDE: Recent<u16> = const { RefCell::new(Vec::new()) };
}

impl Resizable for u8 {
    const RECENT: &'static LocalKey<Recent<Self>> = &NARROW;
}

impl Resizable for u16 {
    const RECENT: &'static LocalKey<Recent<Self>> = &WIDE;
}

fn rows_per_band(x: &Axis, y: &Axis, kernel: Kernel) -> u32 {
    let work_of_row = f64::from(x.count) * y.taps(kernel.support()).max(1.0);
    ((BAND / work_of_row) as u32).clamp(1, y.out.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Never;

    #[test]
    fn what_free_buffers_held_is_seen_in_no_result() {
        let samples = (0..331 * 217)
            .map(|n: u32| (n.wrapping_mul(n) >> 7) as u8)
            .collect();
        let grid = Grid::from_samples(331, 217, samples).expect("a grid");
        for (width, height) in [(200, 150), (331, 100), (640, 480), (100, 217)] {
            let axis = |have: u32, to| Axis::new(have, 1.0, 0.0, have.into(), to, 1);
            let (x, y) = (axis(331, width), axis(217, height));
            let [first, second] = [0x55_u8, 0xaa].map(|mark| {
                drop(Buffer::from(vec![mark; (width * height) as usize]));
                resample(grid.clone(), &x, &y, Kernel::Lanczos3, &Never).expect("a result")
            });
            assert_eq!(first, second);
        }
    }
}
