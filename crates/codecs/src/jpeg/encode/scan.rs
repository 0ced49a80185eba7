//! One scan of everything: a sequential picture.

use std::mem;
use std::sync::Arc;

use andon_kernels::cpu;
use andon_kernels::symbols::{Piece, Symbol, join, number};
use andon_pixels::cores::{Cores, shared};
use andon_pixels::{Error, Interrupt, Never, Result};

use super::bits::BitWriter;
use super::blocks::Blocks;
use super::huffman::{Counts, Table};

/// How a component lies in the scan.
#[derive(Clone, Copy)]
pub(super) struct Component {
    /// Of an MCU, in blocks.
    pub(super) h: usize,
    pub(super) v: usize,
    /// Which tables it uses.
    pub(super) class: usize,
}

/// Some rows of MCUs: of each component its blocks.
pub(super) type Band = Vec<Blocks>;

/// Tables for frequency 0 and for the others.
pub(super) struct Tables {
    pub(super) flat: Table,
    pub(super) rest: Table,
}

/// A picture that is ready to be written.
pub(super) struct Scan {
    pub(super) components: Vec<Component>,
    /// From top to bottom.
    pub(super) bands: Vec<Band>,
    /// For each class.
    pub(super) tables: Vec<Tables>,
}

/// Counts the symbols of frequency 0, for each class of tables, and adds to the others those of blocks beyond the
/// picture, which fill up MCUs: they have nothing new.
pub(super) fn count_flat(
    components: &[Component],
    bands: &[Band],
    rest: &mut [Counts],
) -> Vec<Counts> {
    let mut counts = vec![Counts::new(); rest.len()];
    let mut before = vec![0; components.len()];
    for band in bands {
        let (across, down) = mcus(components, band);
        for row in 0..down {
            for column in 0..across {
                for ((component, blocks), before) in components.iter().zip(band).zip(&mut before) {
                    for y in row * component.v..(row + 1) * component.v {
                        for x in column * component.h..(column + 1) * component.h {
                            let flat = match blocks.at(y, x) {
                                Some(at) => blocks.flat[at],
                                None => {
                                    rest[component.class].end_of_block();
                                    *before
                                }
                            };
                            counts[component.class].difference(flat - *before);
                            *before = flat;
                        }
                    }
                }
            }
        }
    }
    counts
}

impl Scan {
    /// Writes itself behind its header, and what ends the file. Of several bands an idle core takes some.
    pub(super) fn write(
        self,
        mut file: Vec<u8>,
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<u8>> {
        let bits = self
            .tables
            .iter()
            .map(|tables| tables.flat.bits + tables.rest.bits)
            .sum();
        let mut writer = BitWriter::new(bits);
        let count = self.bands.len();
        let scan = Arc::new(self);
        let apart = {
            let scan = scan.clone();
            shared(cores, interrupt, count, move |band| {
                let mut writer = BitWriter::new(bits / count as u64);
                scan.write_band(band, &mut writer, &Never)?;
                Ok(writer.finish())
            })
        };
        match apart {
            Some(bands) => {
                for bits in bands? {
                    writer.append(&bits?);
                }
            }
            None => {
                for band in 0..count {
                    scan.write_band(band, &mut writer, interrupt)?;
                }
            }
        }
        writer.finish().stuff(&mut file);
        file.extend(END_OF_IMAGE);
        Ok(file)
    }

    fn write_band(
        &self,
        band: usize,
        writer: &mut BitWriter,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        // Each component goes on from its last block above.
        let mut before = match band.checked_sub(1) {
            Some(above) => self.bands[above].iter().map(Blocks::last_flat).collect(),
            None => vec![0; self.components.len()],
        };
        let band = &self.bands[band];
        let mut rows: Vec<[PieceRow; 4]> = vec![Default::default(); self.components.len()];
        let (across, down) = mcus(&self.components, band);
        for row in 0..down {
            if interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            for ((component, blocks), rows) in self.components.iter().zip(band).zip(&mut rows) {
                let codes = &self.tables[component.class].rest.codes;
                for (y, pieces) in (row * component.v..(row + 1) * component.v).zip(rows) {
                    pieces.make(blocks, y, codes);
                }
            }
            cpu::with_modern_instructions(
                #[inline(always)]
                || {
                    // By value, so that it lives in registers.
                    let mut own = mem::take(writer);
                    for column in 0..across {
                        for (n, (component, blocks)) in self.components.iter().zip(band).enumerate()
                        {
                            let tables = &self.tables[component.class];
                            let (before, rows) = (&mut before[n], &mut rows[n]);
                            for y in 0..component.v {
                                for x in 0..component.h {
                                    let at =
                                        blocks.at(row * component.v + y, column * component.h + x);
                                    let pieces = match at {
                                        Some(at) => rows[y & 3].next(blocks.lengths[at]),
                                        None => &[],
                                    };
                                    let flat = at.map_or(*before, |at| blocks.flat[at]);
                                    write_block(&mut own, tables, flat - *before, pieces);
                                    *before = flat;
                                }
                            }
                        }
                    }
                    *writer = own;
                },
            );
        }
        Ok(())
    }
}

/// The pieces of a row of blocks.
#[derive(Clone, Default)]
struct PieceRow {
    pieces: Vec<Piece>,
    /// How many are written.
    written: usize,
}

impl PieceRow {
    /// Makes those of row `y`, if there is one.
    fn make(&mut self, blocks: &Blocks, y: usize, codes: &[u32; 256]) {
        self.written = 0;
        if let Some(&first) = blocks.rows.get(y) {
            self.pieces.resize(32 * blocks.wide, Piece::default());
            let lengths = &blocks.lengths[y * blocks.wide..][..blocks.wide];
            join(&blocks.symbols[first..], lengths, codes, &mut self.pieces);
        }
    }

    /// Those of the next block, which has so many symbols.
    #[inline(always)]
    fn next(&mut self, symbols: u8) -> &[Piece] {
        let first = self.written;
        self.written += usize::from(symbols.div_ceil(2));
        &self.pieces[first..self.written]
    }
}

/// A block whose level of frequency 0 differs so much from the one before; without pieces, one that has nothing else.
#[inline(always)]
fn write_block(writer: &mut BitWriter, tables: &Tables, difference: i16, pieces: &[Piece]) {
    writer.reserve(pieces.len() + 2);
    let (bits, size) = number(difference);
    let code = tables.flat.codes[size as usize & 255];
    writer.write(u64::from((code >> 8) << size | bits), (code & 255) + size);
    for piece in pieces {
        writer.write(piece.bits(), piece.count());
    }
    if pieces.is_empty() {
        let end = tables.rest.codes[usize::from(Symbol::END.value())];
        writer.write((end >> 8).into(), end & 255);
    }
}

/// How many MCUs there are across and down.
fn mcus(components: &[Component], band: &Band) -> (usize, usize) {
    let (component, blocks) = (&components[0], &band[0]);
    (
        blocks.wide.div_ceil(component.h),
        blocks.rows.len().div_ceil(component.v),
    )
}

const END_OF_IMAGE: [u8; 2] = [0xff, 0xd9];
