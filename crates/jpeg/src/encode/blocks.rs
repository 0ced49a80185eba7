//! Turns the samples of a component into symbols.

use std::ops::Range;

use andon_kernels::fdct::{Quantiser, rows_to_symbols};
use andon_kernels::symbols::{Row, Symbol};

use crate::encode::huffman::Counts;
use crate::error::{Error, Result};
use crate::image::Plane;

/// The quantised blocks of a component, or of some of its rows of blocks, row by row.
pub(super) struct Blocks {
    /// Width in blocks.
    pub(super) wide: usize,
    /// The quantised DC coefficient of each block, later replaced by its [difference](super::scan::take_differences)
    /// from that of the previous block.
    pub(super) flat: Vec<i16>,
    /// Number of symbols of each block in `symbols`.
    pub(super) lengths: Vec<u8>,
    /// The symbols of the AC coefficients of all blocks, one after the other.
    pub(super) symbols: Vec<Symbol>,
    /// For each row of blocks, the index in `symbols` at which it begins.
    pub(super) rows: Vec<usize>,
}

impl Blocks {
    /// Transforms these rows of a plane's blocks. Blocks that extend beyond the image repeat its last samples there,
    /// which costs the fewest bits.
    ///
    /// `strengths` has a number for each of these blocks, row by row, by which the thresholds of its coefficients are
    /// raised ([`activity::strengths`](super::activity::strengths)); `None` stands for zeros. The symbols of the AC
    /// coefficients are added to `counts`.
    pub(super) fn of(
        plane: Plane<&[u8]>,
        rows: Range<usize>,
        quantiser: &Quantiser,
        strengths: Option<&[u16]>,
        counts: &mut Counts,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let wide = plane.width.div_ceil(8) as usize;
        let high = rows.len();
        let mut blocks = Self {
            wide,
            flat: vec![0; wide * high],
            lengths: vec![0; wide * high],
            // The capacity is for the worst case: pages that are not written take no memory.
            symbols: Vec::with_capacity(64 * wide * high),
            rows: Vec::with_capacity(high),
        };
        let mut band = Band::new(wide);
        let mut symbols = vec![Symbol::END; 64 * wide];
        let mut values = vec![0; 64 * wide];
        let weak = vec![0; wide];
        for (at, y) in rows.enumerate() {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            let rows = band.rows(plane, 8 * y as u32);
            let of_row = at * wide..(at + 1) * wide;
            let strengths = strengths.map_or(&weak[..], |strengths| &strengths[of_row.clone()]);
            let mut row = Row {
                flat: &mut blocks.flat[of_row.clone()],
                lengths: &mut blocks.lengths[of_row],
                symbols: &mut symbols,
                values: &mut values,
            };
            let count = rows_to_symbols(rows, quantiser, strengths, &mut row);
            blocks.rows.push(blocks.symbols.len());
            blocks.symbols.extend_from_slice(&symbols[..count]);
            counts.add_all(&values[..count]);
        }
        Ok(blocks)
    }
}

/// A row of blocks as samples, padded to whole blocks in width and height.
struct Band {
    wide: usize,
    padded: Vec<u8>,
}

impl Band {
    fn new(wide: usize) -> Self {
        Self {
            wide,
            padded: Vec::new(),
        }
    }

    fn rows<'a>(&'a mut self, plane: Plane<&'a [u8]>, top: u32) -> &'a [u8] {
        let line = 8 * self.wide;
        let width = plane.width as usize;
        if width == line && top + 8 <= plane.height {
            return &plane.samples[top as usize * line..][..8 * line];
        }
        self.padded.resize(8 * line, 0);
        for (y, row) in (top..).zip(self.padded.chunks_exact_mut(line)) {
            let samples = plane.row(y.min(plane.height - 1));
            row[..width].copy_from_slice(samples);
            row[width..].fill(samples[width - 1]);
        }
        &self.padded
    }
}
