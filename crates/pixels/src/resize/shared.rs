//! Resampling planes with the help of idle cores, a band of rows at a time.

use std::ops::Range;

use super::Kernel;
use super::axis::Axis;
use super::plane::{Resizable, resample_rows, window};
use crate::buffers::Buffer;
use crate::cores::shared;
use crate::error::Result;
use crate::frame::Grid;
use crate::stage::Context;

/// Result samples that a core makes at a time: a tenth of a millisecond or two.
const SAMPLES_OF_BAND: u32 = 64 << 10;

/// Brings planes to the sizes that their axes say, to the sample as [`super::resample`] does. `None`: no core is idle, and
/// nothing was done.
pub(super) fn resample_shared<T: Resizable>(
    planes: &[(Grid<T>, (Axis, Axis))],
    kernel: Kernel,
    context: &Context<'_>,
) -> Option<Result<Vec<Grid<T>>>> {
    let bands: Vec<(usize, Range<usize>)> = (planes.iter().enumerate())
        .flat_map(|(plane, (_, (x, y)))| {
            let rows = if x.is_copy() && y.is_copy() { 0 } else { y.out };
            let step = (SAMPLES_OF_BAND / x.out.max(1)).max(1);
            let band = move |first: u32| (plane, first as usize..(first + step).min(rows) as usize);
            (0..rows).step_by(step as usize).map(band)
        })
        .collect();
    let made = {
        let (planes, bands) = (planes.to_vec(), bands.clone());
        shared(context.cores, context.interrupt, bands.len(), move |band| {
            let (plane, rows) = bands[band].clone();
            let (grid, (x, y)) = &planes[plane];
            let mut samples = Buffer::overwritten(rows.len() * x.out as usize);
            resample_rows(grid, x, y, kernel, rows, &mut samples)?;
            Ok(samples)
        })?
    };
    Some(made.and_then(|made| {
        let mut made = bands.into_iter().zip(made).peekable();
        let whole = |(plane, (grid, (x, y))): (usize, &(Grid<T>, (Axis, Axis)))| {
            if x.is_copy() && y.is_copy() {
                return window(grid.clone(), x, y);
            }
            let mut samples = Buffer::with_capacity(x.out as usize * y.out as usize);
            while let Some((_, band)) = made.next_if(|((of, _), _)| *of == plane) {
                samples.extend_from_slice(&band?);
            }
            Grid::from_buffer(x.out, y.out, samples)
        };
        planes.iter().enumerate().map(whole).collect()
    }))
}
