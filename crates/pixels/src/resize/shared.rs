//! Resampling planes with the help of idle cores, one band of rows at a time.

use std::ops::Range;
use std::sync::Mutex;

use andon_kernels::parts::Part;

use super::Kernel;
use super::axis::Axis;
use super::plane::{Resizable, resample_rows, window};
use crate::buffers::Buffer;
use crate::cores::shared;
use crate::error::{Error, Result};
use crate::frame::Grid;
use crate::stage::Context;

/// Number of result samples that a core computes at a time, which takes one or two tenths of a millisecond.
const SAMPLES_OF_BAND: usize = 64 << 10;

/// A band of a plane's result: the plane's index, the rows, and their samples.
type Band<T> = (usize, Range<usize>, Part<T>);

/// Resamples planes along their axes with the help of idle cores. The samples equal those of [`super::resample`].
/// `None`: no core is idle, and nothing was done.
pub(super) fn resample_shared<T: Resizable>(
    planes: &[(Grid<T>, (Axis, Axis))],
    kernel: Kernel,
    context: &Context<'_>,
) -> Option<Result<Vec<Grid<T>>>> {
    if !context.cores.lends_soon() {
        return None;
    }
    let bands = planes.iter().enumerate();
    let bands: Vec<_> = bands
        .flat_map(|(plane, (_, (x, y)))| bands_of(plane, x, y))
        .map(|band| Mutex::new(Some(band)))
        .collect();
    let results = {
        let planes = planes.to_vec();
        let interrupted = || context.interrupt.interrupted();
        shared(context.cores, &interrupted, bands.len(), move |band| {
            let band = bands[band].lock().ok().and_then(|mut band| band.take());
            let (plane, rows, mut samples) =
                band.ok_or_else(|| Error::Internal("a band is made once".to_owned()))?;
            let (grid, (x, y)) = &planes[plane];
            resample_rows(grid, x, y, kernel, rows, &mut samples)?;
            Ok((plane, samples))
        })?
    };
    Some(results.map_err(Error::from).and_then(|results| {
        let results: Vec<(usize, Part<T>)> = results.into_iter().collect::<Result<_>>()?;
        let mut results = results.into_iter().peekable();
        let whole = |(plane, (grid, (x, y))): (usize, &(Grid<T>, (Axis, Axis)))| {
            if x.is_copy() && y.is_copy() {
                return window(grid.clone(), x, y);
            }
            let parts = std::iter::from_fn(|| results.next_if(|(of, _)| *of == plane));
            // All bands share one allocation. `last` drops the others, so the last one can be turned into the whole.
            let samples = parts.last().and_then(|(_, part)| part.into_whole());
            Grid::from_samples(x.out, y.out, samples.unwrap_or_default())
        };
        planes.iter().enumerate().map(whole).collect()
    }))
}

/// Returns the bands of a plane's result; none if there is nothing to resample.
fn bands_of<T: Resizable>(plane: usize, x: &Axis, y: &Axis) -> Vec<Band<T>> {
    if x.is_copy() && y.is_copy() {
        return Vec::new();
    }
    let (width, height) = (x.out as usize, y.out as usize);
    let step = (SAMPLES_OF_BAND / width.max(1)).max(1);
    let bands = (0..height).step_by(step);
    let bands = bands.map(|first| first..height.min(first + step));
    let samples = Part::from(Buffer::overwritten(width * height).into_vec());
    let parts = samples.split(bands.clone().map(|rows| rows.len() * width));
    let bands = bands.zip(parts);
    bands.map(|(rows, part)| (plane, rows, part)).collect()
}
