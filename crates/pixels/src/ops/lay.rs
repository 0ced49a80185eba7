//! Compositing one image over another, in the planes of the one below.
//!
//! Both have the same model, but their chroma may be subsampled differently, and the upper image may lie at any px.
//! Each chroma sample of the lower image takes the mean of the upper samples over the px that it spans, weighted by
//! their opacity. Compositing in RGB and subsampling the result would give the same.

use std::ops::Range;

use andon_recipe::Colour;

use crate::buffers::Plain;
use crate::color;
use crate::frame::{Grid, Subsampling};
use crate::samples::{Planes, Sample};

/// Composites `image` over `ground` with its upper left corner at (`x`, `y`). Parts outside `ground` are cut off.
pub(super) fn lay<T: Sample>(ground: &mut Planes<T>, image: &Planes<T>, x: i64, y: i64) {
    let Some(overlap) = Overlap::new(ground, image, x, y) else {
        return;
    };
    for index in 0..ground.colours.len() {
        let over = Over {
            overlap: &overlap,
            size: (ground.width, ground.height),
            below: ground.thinning(index),
            above: image.thinning(index),
            colour: &image.colours[index],
            alpha: image.alpha.as_ref(),
        };
        over.lay(&mut ground.colours[index], ground.alpha.as_ref());
    }
    if let Some(alpha) = &mut ground.alpha {
        overlap.lay_alpha(alpha, image.alpha.as_ref());
    }
}

/// Composites one colour over `ground`, with the opacity that `cover` holds for each px. The colour's own alpha is
/// ignored.
pub(super) fn veil<T: Sample>(ground: &mut Planes<T>, colour: Colour, cover: Grid<T>) {
    let (width, height) = (ground.width, ground.height);
    let colour = color::sample(colour, ground.model, ground.depth);
    let mut above = ground.filled_like(width, height, colour);
    above.alpha = Some(cover);
    lay(ground, &above, 0, 0);
}

/// Composites a sample `above` of opacity `cover` (0 to 1) over a sample `below` of opacity `opacity`.
pub(super) fn blend(below: f32, opacity: f32, above: f32, cover: f32) -> f32 {
    let below_share = opacity * (1.0 - cover);
    let total = cover + below_share;
    if total > 0.0 {
        (above * cover + below * below_share) / total
    } else {
        below
    }
}

/// Returns the mean opacity (0 to 1) of the px in `columns` × `rows` of a background; 1 if it has no alpha.
pub(super) fn opacity<T: Sample>(
    alpha: Option<&Grid<T>>,
    columns: Range<u32>,
    rows: Range<u32>,
) -> f32 {
    let Some(alpha) = alpha else { return 1.0 };
    let mut sum = 0.0;
    for row in rows.clone() {
        let row = &alpha.row(row)[columns.start as usize..columns.end as usize];
        sum += row.iter().map(|alpha| alpha.float()).sum::<f32>();
    }
    sum / (columns.len() * rows.len()) as f32 / T::MAX.float()
}

/// Returns the px that sample `at` spans in a plane subsampled by `thin`, along a side of `length` px.
pub(super) fn span(at: u32, thin: u8, length: u32) -> Range<u32> {
    let start = at * u32::from(thin);
    start..length.min(start + u32::from(thin))
}

/// The area where an image covers the background, in px of the background.
struct Overlap {
    columns: Range<u32>,
    rows: Range<u32>,
    x: i64,
    y: i64,
}

impl Overlap {
    fn new<T: Plain>(ground: &Planes<T>, image: &Planes<T>, x: i64, y: i64) -> Option<Self> {
        let meet = |at: i64, length: u32, room: u32| {
            let end = at.saturating_add(length.into()).min(room.into());
            let start = at.max(0);
            (start < end).then_some(start as u32..end as u32)
        };
        Some(Self {
            columns: meet(x, image.width, ground.width)?,
            rows: meet(y, image.height, ground.height)?,
            x,
            y,
        })
    }

    /// Returns the column of the image that lies over column `x` of the background.
    fn column(&self, x: u32) -> usize {
        (i64::from(x) - self.x) as usize
    }

    fn row(&self, y: u32) -> u32 {
        (i64::from(y) - self.y) as u32
    }

    fn lay_alpha<T: Sample>(&self, below: &mut Grid<T>, above: Option<&Grid<T>>) {
        let full = T::MAX.float();
        let first = self.column(self.columns.start);
        for y in self.rows.clone() {
            let out = &mut below.row_mut(y)[self.columns.start as usize..self.columns.end as usize];
            match above {
                None => out.fill(T::MAX),
                Some(above) => {
                    for (below, above) in out.iter_mut().zip(&above.row(self.row(y))[first..]) {
                        let above = above.float();
                        *below = T::round(above + below.float() * (1.0 - above / full));
                    }
                }
            }
        }
    }
}

/// The compositing of one plane of an image over one plane of the background.
struct Over<'a, T: Plain> {
    overlap: &'a Overlap,
    size: (u32, u32),
    below: Subsampling,
    above: Subsampling,
    colour: &'a Grid<T>,
    alpha: Option<&'a Grid<T>>,
}

impl<T: Sample> Over<'_, T> {
    fn lay(&self, plane: &mut Grid<T>, ground_alpha: Option<&Grid<T>>) {
        let samples = |px: &Range<u32>, thin: u8| {
            px.start / u32::from(thin)..px.end.div_ceil(u32::from(thin))
        };
        let columns = samples(&self.overlap.columns, self.below.h);
        let rows = samples(&self.overlap.rows, self.below.v);
        let mut opacities = vec![0.0; columns.len()];
        let mut colour = vec![0.0; columns.len()];
        for row in rows {
            let copied = self.copied(row, &columns);
            if !copied.is_empty() {
                let from = self.first_copied(row, &copied);
                plane.row_mut(row)[copied.start as usize..copied.end as usize]
                    .copy_from_slice(from);
            }
            for edge in [columns.start..copied.start, copied.end..columns.end] {
                self.gather(row, &edge, &mut opacities, &mut colour);
                let out = &mut plane.row_mut(row)[edge.start as usize..edge.end as usize];
                let above = colour.iter().zip(&opacities);
                let Some(ground_alpha) = ground_alpha else {
                    for (below, (colour, cover)) in out.iter_mut().zip(above) {
                        *below = T::round(below.float() + (colour - below.float()) * cover);
                    }
                    continue;
                };
                for ((column, below), (colour, cover)) in edge.zip(out).zip(above) {
                    let columns = span(column, self.below.h, self.size.0);
                    let rows = span(row, self.below.v, self.size.1);
                    let opacity = opacity(Some(ground_alpha), columns, rows);
                    *below = T::round(blend(below.float(), opacity, *colour, *cover));
                }
            }
        }
    }

    /// Returns the samples of row `row` of the background, out of `columns`, that the image's samples simply replace:
    /// the image is opaque, the samples of both lie on the same grid, and the image covers each of these samples
    /// completely. This is the most common case. If there are none, returns an empty range at the start of `columns`.
    fn copied(&self, row: u32, columns: &Range<u32>) -> Range<u32> {
        let none = columns.start..columns.start;
        let Overlap { x, y, .. } = *self.overlap;
        let (h, v) = (i64::from(self.below.h), i64::from(self.below.v));
        if self.alpha.is_some() || self.below != self.above || x % h != 0 || y % v != 0 {
            return none;
        }
        let covered = |px: Range<u32>, by: &Range<u32>| px.start >= by.start && px.end <= by.end;
        if !covered(span(row, self.below.v, self.size.1), &self.overlap.rows) {
            return none;
        }
        let whole = |column| {
            covered(
                span(column, self.below.h, self.size.0),
                &self.overlap.columns,
            )
        };
        let start = columns.start + u32::from(!whole(columns.start));
        let end = columns.end - u32::from(!whole(columns.end - 1));
        if start < end { start..end } else { none }
    }

    fn first_copied(&self, row: u32, copied: &Range<u32>) -> &[T] {
        let at = |sample: u32, thin: u8, shift: i64| {
            (i64::from(sample) - shift / i64::from(thin)) as usize
        };
        let row = self
            .colour
            .row(at(row, self.below.v, self.overlap.y) as u32);
        &row[at(copied.start, self.below.h, self.overlap.x)..][..copied.len()]
    }

    /// Computes what the image lays over samples `columns` of row `row` of the background: writes its opacity (0 to 1)
    /// to `opacities`, and its colour to `colour`.
    fn gather(&self, row: u32, columns: &Range<u32>, opacities: &mut [f32], colour: &mut [f32]) {
        let (opacities, colour) = (
            &mut opacities[..columns.len()],
            &mut colour[..columns.len()],
        );
        if columns.is_empty() {
            return;
        }
        if self.below == Subsampling::NONE && self.above == Subsampling::NONE {
            self.read(row, columns, opacities, colour);
        } else {
            self.average(row, columns, opacities, colour);
        }
    }

    /// Fills `opacities` and `colour` from the image's samples that lie over samples `columns` of row `row` of the
    /// background. Both planes have a sample for each px, so that no mean is needed.
    fn read(&self, row: u32, columns: &Range<u32>, opacities: &mut [f32], colour: &mut [f32]) {
        let (first, row) = (self.overlap.column(columns.start), self.overlap.row(row));
        for (colour, above) in colour.iter_mut().zip(&self.colour.row(row)[first..]) {
            *colour = above.float();
        }
        match self.alpha {
            None => opacities.fill(1.0),
            Some(alpha) => {
                for (opacity, alpha) in opacities.iter_mut().zip(&alpha.row(row)[first..]) {
                    *opacity = alpha.float() / T::MAX.float();
                }
            }
        }
    }

    /// Fills `opacities` and `colour` with the image's means over the px that each of samples `columns` of row `row` of
    /// the background spans.
    fn average(&self, row: u32, columns: &Range<u32>, opacities: &mut [f32], colour: &mut [f32]) {
        opacities.fill(0.0);
        colour.fill(0.0);
        // Subsampling factors are powers of two. A division for each px would take longer than everything else.
        let below = self.below.h.trailing_zeros();
        let above = self.above.h.trailing_zeros();
        let overlap = self.overlap;
        let rows = span(row, self.below.v, self.size.1);
        let first = overlap.columns.start.max(columns.start << below);
        let last = overlap.columns.end.min(columns.end << below);
        for y in rows.start.max(overlap.rows.start)..rows.end.min(overlap.rows.end) {
            let y = overlap.row(y);
            let colours = self.colour.row(y / u32::from(self.above.v));
            let alphas = self.alpha.map(|alpha| alpha.row(y));
            for x in first..last {
                let at = overlap.column(x);
                let alpha = alphas.map_or(1.0, |alphas| alphas[at].float());
                let sample = ((x >> below) - columns.start) as usize;
                opacities[sample] += alpha;
                colour[sample] += alpha * colours[at >> above].float();
            }
        }
        let full = if self.alpha.is_some() {
            T::MAX.float()
        } else {
            1.0
        };
        for (column, (opacity, colour)) in columns.clone().zip(opacities.iter_mut().zip(colour)) {
            if *opacity > 0.0 {
                *colour /= *opacity;
                let columns = span(column, self.below.h, self.size.0);
                *opacity /= (columns.len() * rows.len()) as f32 * full;
            }
        }
    }
}
