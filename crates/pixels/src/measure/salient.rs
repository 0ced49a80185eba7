//! Saliency: finds the place in an image that draws the eye.
//!
//! The image is reduced to 48 cells along its longer side, over mid-gray where it is transparent. A cell's score counts
//! how much its luma differs from its neighbours' (edges), how far its colour is from the image's mean, and how close
//! it is to the colour of skin. Scores are smoothed three times by a mean of 11 × 11 cells and lowered a little away
//! from the middle; the cell with the highest score is the answer.
//!
//! Only sums, products and roots are computed, so that every machine finds the same cell.

use andon_recipe::Area;

use super::Analysis;
use crate::error::Result;
use crate::frame::Frame;
use crate::limits::Interrupt;
use crate::samples::{Planes, Sample, by_depth};

#[derive(Default)]
pub(super) struct Salient {
    /// The area that draws the eye in the first frame (`Some(None)`: there is none); `None` until that frame was
    /// examined. Later frames are not examined.
    result: Option<Option<Area>>,
}

/// Cells along the longer side of the image.
const CELLS: u32 = 48;

/// Cells that a smoothing mean reaches to each side.
const REACH: usize = 5;

/// Weight of edges in a cell's score.
const EDGES: f64 = 2.0;
/// Weight of the distance from the mean colour in a cell's score.
const COLOUR: f64 = 0.4;
/// Weight of the likeness to skin in a cell's score.
const SKIN: f64 = 0.3;

/// Fraction by which a corner of the image counts less than its middle.
const CORNER: f64 = 0.3;

/// The colour of skin, for comparison with colours divided by the length of their vector, so that brightness makes no
/// difference: red, green and blue.
const SKIN_COLOUR: [f64; 3] = [0.78, 0.57, 0.44];
/// Maximum distance from [`SKIN_COLOUR`] of a colour that counts as skin, after the colour was divided by the length of
/// its vector.
const SKIN_REACH: f64 = 0.2;

impl Analysis for Salient {
    fn look(&mut self, frame: &Frame, _: &dyn Interrupt) -> Result<()> {
        if self.result.is_none() {
            let result = by_depth!(frame.clone(), planes => Cells::of(&planes).highest());
            self.result = Some(result);
        }
        Ok(())
    }

    fn areas(&self) -> Option<Vec<Area>> {
        self.result.flatten().map(|area| vec![area])
    }
}

/// An image reduced to a grid of cells.
struct Cells {
    /// Width and height in px of the image that the cells were made of.
    size: (u32, u32),
    width: usize,
    height: usize,
    /// Mean red, green and blue of each cell, 0 to 255, row by row.
    colours: Vec<[f64; 3]>,
}

impl Cells {
    fn of<T: Sample>(rgb: &Planes<T>) -> Self {
        let size = (rgb.width, rgb.height);
        let longer = size.0.max(size.1);
        let cells = |side: u32| {
            let cells = u64::from(side) * u64::from(CELLS) / u64::from(longer);
            // At most one cell per px.
            (cells as u32).clamp(1, side)
        };
        let (width, height) = (cells(size.0), cells(size.1));
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let full = f64::from(T::MAX.float());
        let colour = |(x, y)| {
            let (columns, rows) = (span(x, width, size.0), span(y, height, size.1));
            let (mut sum, mut count) = ([0.0; 3], 0.0);
            for y in rows {
                let range = columns.start as usize..columns.end as usize;
                let row = |grid: &'_ _| -> Vec<f64> { levels::<T>(grid, y, range.clone()) };
                let alphas = rgb.alpha.as_ref().map(row);
                for (sum, grid) in sum.iter_mut().zip(&rgb.colours) {
                    for (at, level) in row(grid).into_iter().enumerate() {
                        let alpha = alphas.as_ref().map_or(1.0, |alphas| alphas[at] / full);
                        *sum += 127.5 + (level * 255.0 / full - 127.5) * alpha;
                    }
                }
                count += range.len() as f64;
            }
            sum.map(|sum| sum / count)
        };
        Self {
            size,
            width: width as usize,
            height: height as usize,
            colours: places.map(colour).collect(),
        }
    }

    /// Returns the cell that draws the eye most, as an area in px; `None` if no cell scores above 0.
    fn highest(&self) -> Option<Area> {
        let mut scores = self.scores();
        for _ in 0..3 {
            scores = self.smoothed(&scores);
        }
        let off = |at: usize, cells: usize| {
            let from_middle = (at as f64 + 0.5) / cells as f64 * 2.0 - 1.0;
            from_middle * from_middle / 2.0
        };
        let mut best = (0.0, None);
        for (index, score) in scores.iter().enumerate() {
            let (x, y) = (index % self.width, index / self.width);
            let score = score * (1.0 - CORNER * (off(x, self.width) + off(y, self.height)));
            if score > best.0 {
                best = (score, Some((x, y)));
            }
        }
        best.1.map(|(x, y)| {
            let columns = span(x as u32, self.width as u32, self.size.0);
            let rows = span(y as u32, self.height as u32, self.size.1);
            Area {
                x: columns.start,
                y: rows.start,
                w: columns.end - columns.start,
                h: rows.end - rows.start,
            }
        })
    }

    fn scores(&self) -> Vec<f64> {
        // Luma, and how far red is from green, and both from blue.
        let opponents =
            |[r, g, b]: [f64; 3]| [0.299 * r + 0.587 * g + 0.114 * b, r - g, (r + g) / 2.0 - b];
        let parts: Vec<[f64; 3]> = self.colours.iter().copied().map(opponents).collect();
        let planes = [0, 1, 2].map(|part| parts.iter().map(|cell| cell[part]).collect::<Vec<_>>());
        let means = planes
            .each_ref()
            .map(|plane| plane.iter().sum::<f64>() / plane.len() as f64);
        let score = |index: usize| {
            let (x, y) = (index % self.width, index / self.width);
            let luma = |x: usize, y: usize| {
                planes[0][y.min(self.height - 1) * self.width + x.min(self.width - 1)]
            };
            let level = luma(x, y);
            let horizontal = luma(x.saturating_sub(1), y) + luma(x + 1, y);
            let vertical = luma(x, y.saturating_sub(1)) + luma(x, y + 1);
            let edges = (4.0 * level - horizontal - vertical).abs() / 4.0;
            let distance = [0, 1, 2].map(|part| planes[part][index] - means[part]);
            let distance = length(distance);
            EDGES * edges + COLOUR * distance + SKIN * skin(self.colours[index], level)
        };
        (0..self.colours.len()).map(score).collect()
    }

    /// Returns the scores smoothed by the mean of the cells around each; beyond the image, cells count as those at its
    /// edge.
    fn smoothed(&self, scores: &[f64]) -> Vec<f64> {
        let along = |values: Vec<f64>| -> Vec<f64> {
            let last = values.len() - 1;
            let mean = |at: usize| {
                let around = at..=at + 2 * REACH;
                let sum: f64 = around
                    .map(|at| values[at.saturating_sub(REACH).min(last)])
                    .sum();
                sum / (2 * REACH + 1) as f64
            };
            (0..values.len()).map(mean).collect()
        };
        let rows: Vec<f64> = scores
            .chunks(self.width)
            .flat_map(|row| along(row.to_vec()))
            .collect();
        let column = |x: usize| along(rows.iter().copied().skip(x).step_by(self.width).collect());
        let columns: Vec<Vec<f64>> = (0..self.width).map(column).collect();
        (0..rows.len())
            .map(|index| columns[index % self.width][index / self.width])
            .collect()
    }
}

/// Returns the samples in these columns of row `y`, as numbers in the units of their depth.
fn levels<T: Sample>(
    grid: &crate::frame::Grid<T>,
    y: u32,
    columns: std::ops::Range<usize>,
) -> Vec<f64> {
    let row = &grid.row(y)[columns];
    row.iter().map(|sample| f64::from(sample.float())).collect()
}

/// Returns the px covered by cell `cell` when a side of `side` px is divided into `cells` cells.
fn span(cell: u32, cells: u32, side: u32) -> std::ops::Range<u32> {
    let edge = |cell: u32| (u64::from(cell) * u64::from(side) / u64::from(cells)) as u32;
    edge(cell)..edge(cell + 1)
}

/// Returns how close a colour is to that of skin, 0 to 255; very dark and very light colours count 0.
fn skin(colour: [f64; 3], luma: f64) -> f64 {
    if !(51.0..242.0).contains(&luma) {
        return 0.0;
    }
    let long = length(colour);
    let apart = [0, 1, 2].map(|part| colour[part] / long - SKIN_COLOUR[part]);
    255.0 * (1.0 - length(apart) / SKIN_REACH).max(0.0)
}

fn length(vector: [f64; 3]) -> f64 {
    vector.iter().map(|part| part * part).sum::<f64>().sqrt()
}
