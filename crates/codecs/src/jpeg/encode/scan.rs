//! One scan of everything: a sequential picture.

use std::sync::Arc;

use andon_kernels::cpu;
use andon_pixels::cores::{Cores, shared};
use andon_pixels::{Error, Interrupt, Never, Result};

use super::bits::BitWriter;
use super::blocks::Blocks;
use super::huffman::{Counts, END, Table, ZEROS, size};

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
        file: Vec<u8>,
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<u8>> {
        let bits = self
            .tables
            .iter()
            .map(|tables| tables.flat.bits + tables.rest.bits)
            .sum();
        let mut writer = BitWriter::<true>::new(file, bits);
        let count = self.bands.len();
        let scan = Arc::new(self);
        let apart = {
            let scan = scan.clone();
            shared(cores, interrupt, count, move |band| {
                let mut writer = BitWriter::<false>::new(Vec::new(), bits / count as u64);
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
        let mut file = writer.finish();
        file.extend(END_OF_IMAGE);
        Ok(file)
    }

    fn write_band<const STUFFED: bool>(
        &self,
        band: usize,
        writer: &mut BitWriter<STUFFED>,
        interrupt: &dyn Interrupt,
    ) -> Result<()> {
        // Each component goes on from its last block above.
        let mut before = match band.checked_sub(1) {
            Some(above) => self.bands[above].iter().map(Blocks::last_flat).collect(),
            None => vec![0; self.components.len()],
        };
        let band = &self.bands[band];
        let mut cursors = vec![[0; 4]; self.components.len()];
        let (across, down) = mcus(&self.components, band);
        for row in 0..down {
            if interrupt.interrupted() {
                return Err(Error::Interrupted);
            }
            for ((component, blocks), cursors) in self.components.iter().zip(band).zip(&mut cursors)
            {
                for (y, cursor) in (row * component.v..(row + 1) * component.v).zip(cursors) {
                    *cursor = blocks.rows.get(y).copied().unwrap_or(0);
                }
            }
            cpu::with_modern_instructions(
                #[inline(always)]
                || {
                    for column in 0..across {
                        for (n, (component, blocks)) in self.components.iter().zip(band).enumerate()
                        {
                            let tables = &self.tables[component.class];
                            let (before, cursors) = (&mut before[n], &mut cursors[n]);
                            for y in 0..component.v {
                                for x in 0..component.h {
                                    let at =
                                        blocks.at(row * component.v + y, column * component.h + x);
                                    let cursor = &mut cursors[y & 3];
                                    write_block(writer, blocks, at, tables, before, cursor);
                                }
                            }
                        }
                    }
                },
            );
        }
        Ok(())
    }
}

#[inline(always)]
fn write_block<const STUFFED: bool>(
    writer: &mut BitWriter<STUFFED>,
    blocks: &Blocks,
    at: Option<usize>,
    tables: &Tables,
    before: &mut i16,
    cursor: &mut usize,
) {
    let (flat, mut mask) = match at {
        Some(at) => (blocks.flat[at], blocks.masks[at]),
        None => (*before, 0),
    };
    let count = mask.count_ones() as usize;
    // With up to three times sixteen zeros, the first level and the end.
    writer.reserve(count + 5);
    put(writer, &tables.flat, 0, flat - *before);
    *before = flat;
    let levels = &blocks.levels[*cursor..*cursor + count];
    *cursor += count;
    let mut last = 0;
    for &level in levels {
        let k = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        let mut run = k - last - 1;
        last = k;
        while run > 15 {
            put(writer, &tables.rest, u32::from(ZEROS) >> 4, 0);
            run -= 16;
        }
        put(writer, &tables.rest, run, level);
    }
    if last < 63 {
        let end = tables.rest.codes[usize::from(END)];
        writer.write(end >> 8, end & 255);
    }
}

/// The code of a run and a number's size, and the number itself, negative ones less one.
#[inline(always)]
fn put<const STUFFED: bool>(writer: &mut BitWriter<STUFFED>, table: &Table, run: u32, level: i16) {
    let size = size(level);
    let code = table.codes[(run << 4 | size) as usize & 255];
    let number = (i32::from(level) + (i32::from(level) >> 31)) as u32 & ((1 << size) - 1);
    writer.write((code >> 8) << size | number, (code & 255) + size);
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
