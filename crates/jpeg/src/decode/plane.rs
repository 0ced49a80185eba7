//! Turns the coefficients of one component into samples.

use std::collections::BTreeSet;

use andon_kernels::buffers::Buffer;
use andon_kernels::idct;
use andon_kernels::parts::Part;

use crate::decode::segments::FrameHeader;
use crate::decode::selection::Selection;
use crate::error::{Error, Result};
use crate::image::Plane;

/// A component's planes while they are being computed, one for each requested size.
pub(super) struct PlaneDecoder {
    /// The coefficients of each block that are decoded and stored: those that the largest size needs.
    pub(super) selection: &'static Selection,
    /// Horizontal sampling factor: the width in blocks of the component's part of an MCU.
    pub(super) h: u32,
    /// Vertical sampling factor: the height in blocks of the component's part of an MCU.
    pub(super) v: u32,
    /// Number of blocks across that contain samples, as coded in a scan of this component alone.
    pub(super) blocks_wide: u32,
    /// Number of blocks down that contain samples, as coded in a scan of this component alone.
    pub(super) blocks_high: u32,
    /// Blocks per row, including those that only fill up the last MCU.
    pub(super) stride: usize,
    /// Whether every row of blocks was written.
    pub(super) complete: bool,
    /// The planes, the largest first.
    planes: Vec<Samples>,
    /// Buffer for the coefficients that a smaller plane needs of a row of blocks.
    subset: Vec<i16>,
}

/// A component at one of the requested sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// Samples per block side: 1, 2, 4 or 8, which are eighths of the full size.
    pub side: u8,
    /// The samples.
    pub plane: Plane,
}

/// A component's plane at one of the requested sizes, while it is being computed.
struct Samples {
    selection: &'static Selection,
    width: u32,
    height: u32,
    samples: Part<u8>,
    /// Number of rows of samples computed so far.
    rows_done: usize,
}

impl PlaneDecoder {
    /// Creates the planes of component `index` for these sizes, given as samples per block side in any order.
    pub(super) fn new(frame: &FrameHeader, index: usize, sides: impl Iterator<Item = u8>) -> Self {
        let component = frame.components[index];
        let full_width = (frame.width * component.h).div_ceil(frame.h_max);
        let full_height = (frame.height * component.v).div_ceil(frame.v_max);
        let stride = (frame.width.div_ceil(8 * frame.h_max) * component.h) as usize;
        let sides: BTreeSet<u8> = sides.collect();
        let planes: Vec<_> = sides
            .into_iter()
            .rev()
            .map(|side| Samples::new(Selection::of(side), (full_width, full_height)))
            .collect();
        Self {
            selection: planes
                .first()
                .map_or(Selection::of(1), |plane| plane.selection),
            h: component.h,
            v: component.v,
            blocks_wide: full_width.div_ceil(8),
            blocks_high: full_height.div_ceil(8),
            stride,
            complete: false,
            planes,
            subset: Vec::new(),
        }
    }

    /// Turns the next row of blocks into samples. `coefficients` has `stride` blocks of `selection.count()`
    /// coefficients each.
    pub(super) fn write_row(&mut self, coefficients: &[i16], quant: &[u16; 64]) {
        for plane in &mut self.planes {
            let coefficients = if plane.selection.side == self.selection.side {
                coefficients
            } else {
                plane
                    .selection
                    .pick(self.selection, coefficients, &mut self.subset);
                &self.subset
            };
            self.complete |= plane.write_row(coefficients, quant);
        }
    }

    /// Splits the decoder into one for each strip. `strips` are the heights of the strips in rows of blocks. Nothing
    /// may have been written yet.
    pub(super) fn split(self, strips: &[usize]) -> Vec<Self> {
        let mut parts: Vec<_> = strips
            .iter()
            .map(|_| Self {
                planes: Vec::new(),
                subset: Vec::new(),
                ..self
            })
            .collect();
        for plane in self.planes {
            for (part, plane) in parts.iter_mut().zip(plane.split(strips)) {
                part.planes.push(plane);
            }
        }
        parts
    }

    /// Joins the strips of a split decoder, given from top to bottom. Returns `None` if one is missing.
    pub(super) fn join(strips: Vec<Self>) -> Option<Self> {
        let mut strips = strips.into_iter();
        let mut result = strips.next()?;
        for strip in strips {
            for (plane, lower) in result.planes.iter_mut().zip(strip.planes) {
                plane.append(lower);
            }
        }
        let planes = result.planes.into_iter().map(Samples::joined);
        result.planes = planes.collect::<Option<_>>()?;
        result.complete = result.planes.iter().all(Samples::is_complete);
        Some(result)
    }

    /// Returns the planes, the largest first.
    pub(super) fn finish(self) -> Result<Vec<Scaled>> {
        let planes = self.planes.into_iter();
        planes.map(Samples::finish).collect()
    }
}

impl Samples {
    /// Creates the plane for a component of this full size in samples.
    fn new(selection: &'static Selection, full: (u32, u32)) -> Self {
        let side = selection.side as u32;
        let (width, height) = ((full.0 * side).div_ceil(8), (full.1 * side).div_ceil(8));
        Self {
            selection,
            width,
            height,
            samples: Buffer::overwritten(width as usize * height as usize)
                .into_vec()
                .into(),
            rows_done: 0,
        }
    }

    /// Returns the plane. Fails unless every row was written.
    fn finish(self) -> Result<Scaled> {
        if !self.is_complete() {
            return Err(Error::UNSUPPORTED);
        }
        Ok(Scaled {
            side: self.selection.side as u8,
            plane: Plane {
                width: self.width,
                height: self.height,
                samples: self.samples.into_whole().ok_or(Error::UNSUPPORTED)?,
            },
        })
    }

    /// Splits the plane into one for each strip. `strips` are the heights of the strips in rows of blocks. Nothing may
    /// have been written yet.
    fn split(self, strips: &[usize]) -> Vec<Self> {
        let (selection, width) = (self.selection, self.width);
        let mut rest = self.height as usize;
        let mut heights = Vec::with_capacity(strips.len());
        for rows in strips {
            // The last row of blocks may reach beyond the image.
            let height = rest.min(rows * selection.side);
            heights.push(height);
            rest -= height;
        }
        let samples = (self.samples).split(heights.iter().map(|height| height * width as usize));
        let strip = |(samples, height): (_, usize)| Self {
            selection,
            width,
            height: height as u32,
            samples,
            rows_done: 0,
        };
        samples.into_iter().zip(heights).map(strip).collect()
    }

    /// Appends the strip below this one.
    fn append(&mut self, lower: Self) {
        self.height += lower.height;
        self.rows_done += lower.rows_done;
        self.samples = lower.samples;
    }

    /// Returns the whole plane once all strips were appended to the first one. Returns `None` if a strip is missing.
    fn joined(self) -> Option<Self> {
        Some(Self {
            samples: self.samples.into_whole()?.into(),
            ..self
        })
    }

    /// Writes the next row of blocks. Returns whether all rows have now been written.
    fn write_row(&mut self, coefficients: &[i16], quant: &[u16; 64]) -> bool {
        let side = self.selection.side;
        let (width, height) = (self.width as usize, self.height as usize);
        // The last MCU may reach beyond the image.
        let rows = side.min(height - self.rows_done);
        if rows == 0 {
            return false;
        }
        let factors = self.selection.factors(quant);
        let to = &mut self.samples[self.rows_done * width..(self.rows_done + rows) * width];
        // Blocks that lie completely within the image are written directly to their place.
        let whole_blocks = if rows == side { width / side } else { 0 };
        let (inside, across) = coefficients.split_at(whole_blocks * self.selection.count());
        if whole_blocks > 0 {
            idct::blocks_to_rows(side, inside, &factors, to, width);
        }
        let rest = width - whole_blocks * side;
        if rest > 0 {
            let across = &across[..rest.div_ceil(side) * self.selection.count()];
            let line = across.len() / side;
            let mut samples = vec![0; across.len()];
            idct::blocks_to_rows(side, across, &factors, &mut samples, line);
            for (to, samples) in to.chunks_exact_mut(width).zip(samples.chunks_exact(line)) {
                to[whole_blocks * side..].copy_from_slice(&samples[..rest]);
            }
        }
        self.rows_done += rows;
        self.is_complete()
    }

    fn is_complete(&self) -> bool {
        self.rows_done == self.height as usize
    }
}
