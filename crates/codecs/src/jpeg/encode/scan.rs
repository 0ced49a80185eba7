//! One scan of everything: a sequential picture.

use andon_kernels::cpu;
use andon_pixels::{Error, Interrupt, Result};

use super::bits::BitWriter;
use super::blocks::Blocks;
use super::huffman::{Counts, END, Table, ZEROS, size};

/// A component in the scan.
pub(super) struct Part<'a> {
    pub(super) blocks: &'a Blocks,
    /// Of an MCU, in blocks.
    pub(super) h: usize,
    pub(super) v: usize,
    /// Which tables it uses.
    pub(super) class: usize,
}

/// Tables for frequency 0 and for the others.
pub(super) struct Tables {
    pub(super) flat: Table,
    pub(super) rest: Table,
}

/// Counts the symbols of frequency 0, for each class of tables, and adds to the others those of blocks beyond the
/// picture, which fill up MCUs: they have nothing new.
pub(super) fn count_flat(parts: &[Part<'_>], rest: &mut [Counts]) -> Vec<Counts> {
    let mut counts = vec![Counts::new(); rest.len()];
    let mut before = vec![0; parts.len()];
    let (across, down) = mcus(parts);
    for row in 0..down {
        for column in 0..across {
            for (part, before) in parts.iter().zip(&mut before) {
                for y in row * part.v..(row + 1) * part.v {
                    for x in column * part.h..(column + 1) * part.h {
                        let flat = match part.at(y, x) {
                            Some(at) => part.blocks.flat[at],
                            None => {
                                rest[part.class].end_of_block();
                                *before
                            }
                        };
                        counts[part.class].difference(flat - *before);
                        *before = flat;
                    }
                }
            }
        }
    }
    counts
}

/// Writes the scan behind its header, and what ends the file.
pub(super) fn write(
    file: Vec<u8>,
    parts: &[Part<'_>],
    tables: &[Tables],
    interrupt: &dyn Interrupt,
) -> Result<Vec<u8>> {
    let bits = tables
        .iter()
        .map(|tables| tables.flat.bits + tables.rest.bits);
    let mut writer = BitWriter::new(file, bits.sum());
    let mut before = vec![0; parts.len()];
    let mut cursors = vec![[0; 4]; parts.len()];
    let (across, down) = mcus(parts);
    for row in 0..down {
        if interrupt.interrupted() {
            return Err(Error::Interrupted);
        }
        for (part, cursors) in parts.iter().zip(&mut cursors) {
            for (y, cursor) in (row * part.v..(row + 1) * part.v).zip(cursors) {
                *cursor = part.blocks.rows.get(y).copied().unwrap_or(0);
            }
        }
        cpu::with_modern_instructions(
            #[inline(always)]
            || {
                for column in 0..across {
                    for (n, part) in parts.iter().enumerate() {
                        let tables = &tables[part.class];
                        let (before, cursors) = (&mut before[n], &mut cursors[n]);
                        for y in 0..part.v {
                            for x in 0..part.h {
                                let at = part.at(row * part.v + y, column * part.h + x);
                                write_block(
                                    &mut writer,
                                    part.blocks,
                                    at,
                                    tables,
                                    before,
                                    &mut cursors[y & 3],
                                );
                            }
                        }
                    }
                }
            },
        );
    }
    let mut file = writer.finish();
    file.extend(END_OF_IMAGE);
    Ok(file)
}

#[inline(always)]
fn write_block(
    writer: &mut BitWriter,
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
fn put(writer: &mut BitWriter, table: &Table, run: u32, level: i16) {
    let size = size(level);
    let code = table.codes[(run << 4 | size) as usize & 255];
    let number = (i32::from(level) + (i32::from(level) >> 31)) as u32 & ((1 << size) - 1);
    writer.write((code >> 8) << size | number, (code & 255) + size);
}

impl Part<'_> {
    /// Where the block is kept; none beyond the picture.
    #[inline(always)]
    fn at(&self, y: usize, x: usize) -> Option<usize> {
        (x < self.blocks.wide && y < self.blocks.rows.len()).then(|| y * self.blocks.wide + x)
    }
}

/// How many MCUs there are across and down.
fn mcus(parts: &[Part<'_>]) -> (usize, usize) {
    let first = &parts[0];
    (
        first.blocks.wide.div_ceil(first.h),
        first.blocks.rows.len().div_ceil(first.v),
    )
}

const END_OF_IMAGE: [u8; 2] = [0xff, 0xd9];
