//! Mirroring and quarter turns, for instance to turn an image upright.

use std::fmt;

use crate::buffers::{Buffer, Plain};
use crate::codec::Orientation;
use crate::cost::Cost;
use crate::error::Result;
use crate::frame::{Frame, Grid, Model, Subsampling, Traits};
use crate::resize::{Axis, Kernel, Resizable, resample};
use crate::samples::{Planes, by_depth, bytes, count, thinning};
use crate::stage::{Context, OnGainMap, Stage};

/// Mirrors left to right if required, then turns clockwise by quarters.
///
/// Where an odd side is reversed, subsampled chroma lies off its grid by a fraction of a sample, such as half a sample
/// at 4:2:0. It is resampled onto the grid, so that colours stay in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned {
    /// The mirroring and quarter turns to apply.
    pub orientation: Orientation,
}

impl Stage for Turned {
    fn apply(&self, frame: Frame, context: &Context<'_>) -> Result<Frame> {
        if self.orientation.is_upright() {
            return Ok(frame);
        }
        by_depth!(frame, planes => self.turned(planes, context)?.frame())
    }

    fn after(&self, traits: Traits) -> Traits {
        Traits {
            model: self.model_after(traits.model),
            ..traits
        }
    }

    fn size_after(&self, width: u32, height: u32) -> (u32, u32) {
        self.orientation.size(width, height)
    }

    fn on_gain_map(&self, _: (u32, u32), _: (u32, u32)) -> OnGainMap {
        OnGainMap::Follows(Box::new(*self))
    }

    fn cost(&self, width: u32, height: u32, traits: Traits) -> Cost {
        let samples = count(width, height, traits.model, traits.alpha);
        let picos = if self.transposes() {
            PICOS_TRANSPOSED
        } else {
            PICOS_REVERSED
        };
        Cost {
            nanos: samples * bytes(traits.depth) * picos / 1000,
            scratch: 0,
        }
    }
}

/// Picoseconds per byte to copy rows, possibly reversed, measured on one core.
const PICOS_REVERSED: u64 = 100;

/// Picoseconds per byte to turn rows into columns, measured on one core.
const PICOS_TRANSPOSED: u64 = 400;

impl fmt::Display for Turned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Orientation { mirror, quarters } = self.orientation;
        match (mirror, quarters) {
            (true, 0) => f.write_str("mirror"),
            (true, _) => write!(f, "mirror | turn {}", u32::from(quarters) * 90),
            (false, _) => write!(f, "turn {}", u32::from(quarters) * 90),
        }
    }
}

impl Turned {
    fn turned<T: Resizable>(&self, planes: Planes<T>, context: &Context<'_>) -> Result<Planes<T>> {
        let model = self.model_after(planes.model);
        let (width, height) = self.orientation.size(planes.width, planes.height);
        let mut colours = Vec::with_capacity(planes.colours.len());
        for (index, grid) in planes.colours.into_iter().enumerate() {
            context.check()?;
            let grid = self.grid(&grid)?;
            let Subsampling { h, v } = thinning(model, index);
            let x = back_on_grid(grid.width(), width, h, self.reverses_x());
            let y = back_on_grid(grid.height(), height, v, self.reverses_y());
            colours.push(resample(grid, &x, &y, Kernel::Lanczos3, context.interrupt)?);
        }
        Ok(Planes {
            depth: planes.depth,
            colour: planes.colour,
            model,
            width,
            height,
            colours,
            alpha: planes.alpha.map(|alpha| self.grid(&alpha)).transpose()?,
        })
    }

    fn model_after(&self, model: Model) -> Model {
        match model {
            Model::YCbCr { sub, range, matrix } if self.transposes() => Model::YCbCr {
                sub: Subsampling { h: sub.v, v: sub.h },
                range,
                matrix,
            },
            _ => model,
        }
    }

    /// Whether turning an image of this model and size requires its subsampled chroma to be resampled, because chroma
    /// would not lie on its grid.
    pub(crate) fn moves_chroma(&self, model: Model, (width, height): (u32, u32)) -> bool {
        let Subsampling { h, v } = thinning(model, 1);
        let runs_back =
            |side: u32, thin: u8, back: bool| back && !side.is_multiple_of(u32::from(thin));
        let [x, y] = match self.transposes() {
            true => [self.reverses_y(), self.reverses_x()],
            false => [self.reverses_x(), self.reverses_y()],
        };
        runs_back(width, h, x) || runs_back(height, v, y)
    }

    fn transposes(&self) -> bool {
        self.orientation.quarters % 2 == 1
    }

    /// Whether the result's x axis runs against the axis of the source that it is read from.
    fn reverses_x(&self) -> bool {
        match self.orientation.quarters % 4 {
            0 => self.orientation.mirror,
            1 => true,
            2 => !self.orientation.mirror,
            _ => false,
        }
    }

    /// Whether the result's y axis runs against the axis of the source that it is read from.
    fn reverses_y(&self) -> bool {
        match self.orientation.quarters % 4 {
            0 => false,
            1 => self.orientation.mirror,
            2 => true,
            _ => !self.orientation.mirror,
        }
    }

    fn grid<T: Plain>(&self, grid: &Grid<T>) -> Result<Grid<T>> {
        let turned = if self.transposes() {
            transposed(grid, self.reverses_x(), self.reverses_y())
        } else {
            reversed(grid, self.reverses_x(), self.reverses_y())
        };
        let (width, height) = self.orientation.size(grid.width(), grid.height());
        Grid::from_buffer(width, height, turned)
    }
}

fn reversed<T: Plain>(grid: &Grid<T>, x: bool, y: bool) -> Buffer<T> {
    let mut samples = Buffer::with_capacity(grid.samples().len());
    for row in 0..grid.height() {
        let row = grid.row(if y { grid.height() - 1 - row } else { row });
        if x {
            samples.extend(row.iter().rev());
        } else {
            samples.extend_from_slice(row);
        }
    }
    samples
}

/// Turns columns into rows, tile by tile, so that reads and writes stay in the CPU cache. `x` and `y` tell whether that
/// axis of the result is reversed.
fn transposed<T: Plain>(grid: &Grid<T>, x: bool, y: bool) -> Buffer<T> {
    const TILE: usize = 32;
    let (width, height) = (grid.height() as usize, grid.width() as usize);
    let input = grid.samples();
    // Every sample is overwritten below.
    let mut samples = Buffer::with_capacity(input.len());
    samples.extend_from_slice(input);
    for top in (0..height).step_by(TILE) {
        for left in (0..width).step_by(TILE) {
            for row in top..height.min(top + TILE) {
                let column = if y { height - 1 - row } else { row };
                let end = width.min(left + TILE);
                let out = &mut samples[row * width..][left..end];
                for (sample, at) in out.iter_mut().zip(left..) {
                    let row = if x { width - 1 - at } else { at };
                    *sample = input[row * height + column];
                }
            }
        }
    }
    samples
}

/// Returns the axis that shifts a plane back onto its grid if the order of its `have` samples was `reversed`, for an
/// image side of `length` px with `thin` px per sample. The last sample may have spanned px beyond the image's edge; as
/// the first one, it moves all others off their grid.
fn back_on_grid(have: u32, length: u32, thin: u8, reversed: bool) -> Axis {
    if !reversed {
        return Axis::same(have);
    }
    let excess = have * u32::from(thin) - length;
    Axis::shifted(have, f64::from(excess) / f64::from(thin))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTER: [u8; 6] = [1, 2, 3, 4, 5, 6];

    fn turned(mirror: bool, quarters: u8) -> (u32, u32, Vec<u8>) {
        let grid = Grid::from_samples(3, 2, LETTER.to_vec()).unwrap();
        let orientation = Orientation { mirror, quarters };
        let grid = Turned { orientation }.grid(&grid).unwrap();
        (grid.width(), grid.height(), grid.into_samples())
    }

    #[test]
    fn all_eight_orientations_put_every_sample_in_its_place() {
        // 1 2 3
        // 4 5 6
        assert_eq!(turned(false, 0), (3, 2, vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(turned(false, 1), (2, 3, vec![4, 1, 5, 2, 6, 3]));
        assert_eq!(turned(false, 2), (3, 2, vec![6, 5, 4, 3, 2, 1]));
        assert_eq!(turned(false, 3), (2, 3, vec![3, 6, 2, 5, 1, 4]));
        assert_eq!(turned(true, 0), (3, 2, vec![3, 2, 1, 6, 5, 4]));
        assert_eq!(turned(true, 1), (2, 3, vec![6, 3, 5, 2, 4, 1]));
        assert_eq!(turned(true, 2), (3, 2, vec![4, 5, 6, 1, 2, 3]));
        assert_eq!(turned(true, 3), (2, 3, vec![1, 4, 2, 5, 3, 6]));
    }
}
