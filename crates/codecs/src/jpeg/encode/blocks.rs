//! From samples to levels: those of a component, without the zeros.

use std::ops::Range;

use andon_kernels::cpu;
use andon_kernels::fdct::{Quantiser, rows_to_levels};
use andon_pixels::{Error, Grid, Interrupt, Result};

use super::huffman::Counts;
use crate::jpeg::header::quality::ZIGZAG;

/// Quantised blocks of a component or of some of its rows, row by row.
pub(super) struct Blocks {
    /// In blocks.
    pub(super) wide: usize,
    /// Levels of frequency 0.
    pub(super) flat: Vec<i16>,
    /// Of each block, bit `k` says that level `k` of the zigzag order is not 0; bit 0 is never set.
    pub(super) masks: Vec<u64>,
    /// The levels of those bits.
    pub(super) levels: Vec<i16>,
    /// Where those of a row of blocks begin.
    pub(super) rows: Vec<usize>,
}

impl Blocks {
    /// Transforms these rows of a plane's blocks. What reaches over its edges repeats its last samples, which costs the
    /// fewest bits.
    ///
    /// `strengths`: of all those blocks, row by row; none are all 0. `counts` get the symbols of everything but frequency 0.
    pub(super) fn of(
        plane: &Grid<u8>,
        rows: Range<usize>,
        quantiser: &Quantiser,
        strengths: Option<&[u16]>,
        counts: &mut Counts,
        interrupt: &dyn Interrupt,
    ) -> Result<Self> {
        let wide = plane.width().div_ceil(8) as usize;
        let high = rows.len();
        let mut blocks = Self {
            wide,
            flat: Vec::with_capacity(wide * high),
            masks: Vec::with_capacity(wide * high),
            // Pages that are not written take no memory.
            levels: Vec::with_capacity(63 * wide * high),
            rows: Vec::with_capacity(high),
        };
        let mut band = Band::new(wide);
        let mut levels = vec![0; 64 * wide];
        let mut masks = vec![0; wide];
        let weak = vec![0; wide];
        for (at, y) in rows.enumerate() {
            if interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            let rows = band.rows(plane, 8 * y as u32);
            let strengths =
                strengths.map_or(&weak[..], |strengths| &strengths[at * wide..][..wide]);
            rows_to_levels(rows, quantiser, strengths, &mut levels, &mut masks);
            blocks.rows.push(blocks.levels.len());
            cpu::with_modern_instructions(
                #[inline(always)]
                || blocks.take(&levels, &masks, counts),
            );
        }
        Ok(blocks)
    }

    /// Where a block is kept; none beyond the picture.
    #[inline(always)]
    pub(super) fn at(&self, y: usize, x: usize) -> Option<usize> {
        (x < self.wide && y < self.rows.len()).then(|| y * self.wide + x)
    }

    /// The last level of frequency 0 in a scan.
    pub(super) fn last_flat(&self) -> i16 {
        self.flat.last().copied().unwrap_or(0)
    }

    /// Keeps a row of blocks.
    #[inline(always)]
    fn take(&mut self, levels: &[i16], masks: &[u64], counts: &mut Counts) {
        for (block, &mask) in levels.chunks_exact(64).zip(masks) {
            self.flat.push(block[0]);
            let mut mask = zigzag(mask & !1);
            self.masks.push(mask);
            let mut before = 0;
            while mask != 0 {
                let k = mask.trailing_zeros();
                mask &= mask - 1;
                let level = block[usize::from(PLACES[k as usize & 63])];
                self.levels.push(level);
                counts.level(k - before - 1, level);
                before = k;
            }
            if before < 63 {
                counts.end_of_block();
            }
        }
    }
}

/// Rows of samples that are whole blocks wide and high.
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

    fn rows<'a>(&'a mut self, plane: &'a Grid<u8>, top: u32) -> &'a [u8] {
        let line = 8 * self.wide;
        let width = plane.width() as usize;
        if width == line && top + 8 <= plane.height() {
            return &plane.samples()[top as usize * line..][..8 * line];
        }
        self.padded.resize(8 * line, 0);
        for (y, row) in (top..).zip(self.padded.chunks_exact_mut(line)) {
            let samples = plane.row(y.min(plane.height() - 1));
            row[..width].copy_from_slice(samples);
            row[width..].fill(samples[width - 1]);
        }
        &self.padded
    }
}

/// Bits in the order of levels brought into zigzag order.
#[inline(always)]
fn zigzag(mut mask: u64) -> u64 {
    let mut out = 0;
    while mask != 0 {
        out |= 1 << ORDER[mask.trailing_zeros() as usize & 63];
        mask &= mask - 1;
    }
    out
}

/// Where a level of the zigzag order stands among those of a block, whose columns come one after the other.
pub(super) const PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut k = 0;
    while k < 64 {
        places[k] = ZIGZAG[k] % 8 * 8 + ZIGZAG[k] / 8;
        k += 1;
    }
    places
};

/// The other way round.
const ORDER: [u8; 64] = {
    let mut order = [0; 64];
    let mut k = 0;
    while k < 64 {
        order[PLACES[k as usize] as usize] = k;
        k += 1;
    }
    order
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_standard() {
        // T.81, figure A.6: row by row.
        let begins = [0, 1, 5, 6, 14, 15, 27, 28, 2, 4, 7, 13, 16, 26, 29, 42];
        for (at, k) in begins.into_iter().enumerate() {
            assert_eq!(ORDER[at % 8 * 8 + at / 8], k);
        }
        assert_eq!(zigzag(1 << 63 | 1 << 8), 1 << 63 | 1 << 1);
    }
}
