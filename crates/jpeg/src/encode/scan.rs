//! Writes a sequential image, which has all components in one scan.

use std::mem;
use std::sync::Arc;

use andon_kernels::cores::shared;
use andon_kernels::cpu;
use andon_kernels::symbols::{BESIDE, Piece, Symbol, join, size};

use crate::encode::bits::BitWriter;
use crate::encode::blocks::Blocks;
use crate::encode::huffman::{Counts, Table};
use crate::encode::options::Options;
use crate::error::{Error, Result};
use crate::segments::END;

/// The layout of a component in the scan.
#[derive(Clone, Copy)]
pub(super) struct Component {
    /// Width of the component's part of an MCU, in blocks.
    pub(super) h: usize,
    /// Height of the component's part of an MCU, in blocks.
    pub(super) v: usize,
    /// Index of the tables that the component uses: 0 for those of luma, 1 for those of chroma.
    pub(super) class: usize,
}

/// The blocks of each component in some rows of MCUs.
pub(super) type Band = Vec<Blocks>;

/// The Huffman tables for DC differences (`flat`) and for AC coefficients (`rest`).
pub(super) struct Tables {
    pub(super) flat: Table,
    pub(super) rest: Table,
}

/// An image that is ready to be written.
pub(super) struct Scan {
    pub(super) components: Vec<Component>,
    /// The bands from top to bottom.
    pub(super) bands: Vec<Band>,
    /// The Huffman tables, at the index that [`Component::class`] gives.
    pub(super) tables: Vec<Tables>,
}

/// Replaces the quantised DC coefficients by their differences from the previous block in scan order. Returns how
/// often each size of these differences occurs, for each class of tables.
///
/// Blocks that only fill up MCUs beyond the image have a difference of 0, which is counted, too, and no AC symbol but
/// an end of block, which is added to `rest`, the counts of AC symbols.
pub(super) fn take_differences(
    components: &[Component],
    bands: &mut [Band],
    rest: &mut [Counts],
) -> Vec<Counts> {
    let mut counts = vec![Counts::new(); rest.len()];
    for (n, &Component { h, v, class }) in components.iter().enumerate() {
        let mut previous = 0;
        for band in &mut *bands {
            let (across, down) = mcus(components, band);
            let blocks = &mut band[n];
            let (wide, high) = (blocks.wide, blocks.rows.len());
            for row in 0..down {
                for column in 0..across {
                    for y in row * v..high.min((row + 1) * v) {
                        for x in column * h..wide.min((column + 1) * h) {
                            let flat = &mut blocks.flat[y * wide + x];
                            let difference = *flat - previous;
                            previous = *flat;
                            *flat = difference;
                            counts[class].add(size(difference) as u8, 1);
                        }
                    }
                }
            }
            let extra_blocks = (across * h * down * v - wide * high) as u32;
            counts[class].add(0, extra_blocks);
            rest[class].add(Symbol::END.value(), extra_blocks);
        }
    }
    counts
}

impl Scan {
    /// Appends the entropy-coded data and the end marker to a file that ends with the scan header. Idle cores encode
    /// some of the bands.
    pub(super) fn write(self, mut file: Vec<u8>, options: &Options<'_>) -> Result<Vec<u8>> {
        let bits = self
            .tables
            .iter()
            .map(|tables| tables.flat.bits + tables.rest.bits)
            .sum();
        let mut writer = BitWriter::new(bits);
        let count = self.bands.len();
        let scan = Arc::new(self);
        let shared_bands = {
            let scan = scan.clone();
            shared(options.cores, options.interrupted, count, move |band| {
                let mut writer = BitWriter::new(bits / count as u64);
                let result = scan.write_band(band, &mut writer, &|| false);
                result.map(|()| writer.finish())
            })
        };
        match shared_bands {
            Some(bands) => {
                for bits in bands? {
                    writer.append(&bits?);
                }
            }
            None => {
                for band in 0..count {
                    scan.write_band(band, &mut writer, options.interrupted)?;
                }
            }
        }
        drop(scan);
        writer.finish().stuff(&mut file);
        file.extend(END);
        Ok(file)
    }

    fn write_band(
        &self,
        band: usize,
        writer: &mut BitWriter,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<()> {
        let band = &self.bands[band];
        let (across, down) = mcus(&self.components, band);
        let rows = |component: &Component| component.v;
        let mut pieces = vec![PieceRow::default(); self.components.iter().map(rows).sum()];
        let codes: Vec<_> = (self.tables.iter())
            .map(|tables| [tables.flat.codes, tables.rest.codes])
            .collect();
        for row in 0..down {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            let mut free = pieces.iter_mut();
            for (component, blocks) in self.components.iter().zip(band) {
                let rows = row * component.v..(row + 1) * component.v;
                for (y, pieces) in rows.zip(&mut free) {
                    pieces.make(blocks, y, (across, component.h), &codes[component.class]);
                }
            }
            cpu::with_modern_instructions(
                #[inline(always)]
                || {
                    // A local copy of the writer, which lives in registers.
                    let mut local_writer = mem::take(writer);
                    local_writer.reserve(pieces.iter().map(|row| row.bits).sum());
                    for column in 0..across {
                        for row in &mut pieces {
                            for piece in row.next(column) {
                                local_writer.write(piece.bits(), piece.count());
                            }
                        }
                    }
                    *writer = local_writer;
                },
            );
        }
        Ok(())
    }
}

/// One row of a component's blocks, encoded in pieces of one or two Huffman codes each.
#[derive(Clone, Default)]
struct PieceRow {
    /// Buffer whose first elements are the row's pieces. The rest is unused.
    pieces: Vec<Piece>,
    /// Total number of bits of all pieces.
    bits: u64,
    /// Number of elements of `pieces` for each MCU of the row.
    of_mcu: Vec<u8>,
    next_piece: usize,
}

impl PieceRow {
    /// Computes the pieces of row `y`, which has `across` MCUs with `h` blocks each. Blocks beyond the image get a DC
    /// difference of 0 and an end of block.
    fn make(
        &mut self,
        blocks: &Blocks,
        y: usize,
        (across, h): (usize, usize),
        codes: &[[u32; 256]; 2],
    ) {
        self.next_piece = 0;
        let row = y * blocks.wide..(y + 1) * blocks.wide;
        let lengths = blocks.lengths.get(row.clone()).unwrap_or_default();
        let of_block = |x| lengths.get(x).map_or(1, |length| length / 2 + 1);
        let of_mcu = (0..across).map(|mcu| (mcu * h..(mcu + 1) * h).map(of_block).sum::<u8>());
        self.of_mcu.clear();
        self.of_mcu.extend(of_mcu);
        let total: usize = self.of_mcu.iter().map(|&count| usize::from(count)).sum();
        if self.pieces.len() < total + BESIDE {
            self.pieces.resize(total + BESIDE, Piece::default());
        }
        let mut count = 0;
        if let Some(&first) = blocks.rows.get(y) {
            let (flat, symbols) = (&blocks.flat[row], &blocks.symbols[first..]);
            count = join(flat, lengths, symbols, codes, &mut self.pieces);
        }
        for _ in lengths.len()..across * h {
            count += join(&[0], &[1], &[Symbol::END], codes, &mut self.pieces[count..]);
        }
        let counts = self.pieces[..count].iter().map(|piece| piece.count());
        self.bits = counts.map(u64::from).sum();
    }

    /// Returns the pieces of MCU `column`. Must be called for every MCU in order.
    #[inline(always)]
    fn next(&mut self, column: usize) -> &[Piece] {
        let first = self.next_piece;
        self.next_piece += usize::from(self.of_mcu[column]);
        &self.pieces[first..self.next_piece]
    }
}

/// Returns the number of MCUs across and down.
fn mcus(components: &[Component], band: &Band) -> (usize, usize) {
    let (component, blocks) = (&components[0], &band[0]);
    (
        blocks.wide.div_ceil(component.h),
        blocks.rows.len().div_ceil(component.v),
    )
}
