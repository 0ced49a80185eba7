//! Copies coefficients, which streams store in the order of the data, to rows of blocks.

use std::ops::Range;

use crate::decode::coder::Coder;
use crate::decode::streams::reader::Values;

/// Maximum number of components of a scan that streams can read.
pub(super) const MOST: usize = 4;

/// Layout of a row of MCUs.
pub(super) struct Rows {
    /// All blocks of the row, in the order of the data.
    blocks: Vec<Block>,
    /// Blocks per MCU.
    per_mcu: usize,
    /// Number of stored coefficients per block of each component.
    counts: [usize; MOST],
    /// Number of stored coefficients per block, if it is the same for all components.
    count: Option<usize>,
}

/// A block: its component, and the index at which it begins in that component's row.
#[derive(Clone, Copy)]
struct Block {
    component: u32,
    offset: u32,
}

impl Rows {
    /// Creates the layout of rows of `across` MCUs. Returns `None` if there are more than `MOST` components.
    pub(super) fn new(coders: &[Coder], across: usize) -> Option<Self> {
        if coders.len() > MOST {
            return None;
        }
        let mut blocks = Vec::new();
        for mcu in 0..across {
            for (component, coder) in (0..).zip(coders) {
                let of_coder = (0..coder.v).flat_map(|v| (0..coder.h).map(move |h| (v, h)));
                blocks.extend(of_coder.map(|(v, h)| Block {
                    component,
                    offset: ((v * coder.stride + mcu * coder.h + h) * coder.count()) as u32,
                }));
            }
        }
        let mut counts = [0; MOST];
        for (count, coder) in counts.iter_mut().zip(coders) {
            *count = coder.count();
        }
        let count = coders.first().map(Coder::count);
        Some(Self {
            per_mcu: blocks.len() / across,
            blocks,
            counts,
            count: count.filter(|&count| coders.iter().all(|coder| coder.count() == count)),
        })
    }

    /// Copies the coefficients of these MCUs into the row of each component's coder, and adds up the DC differences to DC
    /// coefficients.
    pub(super) fn take<'a>(&self, values: Values<'a>, mcus: Range<usize>, coders: &mut [Coder]) {
        let blocks = &self.blocks[mcus.start * self.per_mcu..mcus.end * self.per_mcu];
        let mut rows: [&mut [i16]; MOST] = Default::default();
        for (row, coder) in rows.iter_mut().zip(&mut *coders) {
            *row = &mut coder.row;
        }
        match self.count {
            Some(1) => take_blocks(values, blocks, &mut rows, &[1; MOST]),
            Some(4) => take_blocks(values, blocks, &mut rows, &[4; MOST]),
            Some(16) => take_blocks(values, blocks, &mut rows, &[16; MOST]),
            _ => take_blocks(values, blocks, &mut rows, &self.counts),
        }
        for coder in coders {
            integrate(coder, mcus.clone());
        }
    }
}

/// Copies blocks to the rows of their components. `counts` are the numbers of stored coefficients per block of each
/// component.
#[inline(always)]
fn take_blocks<'a>(
    mut values: Values<'a>,
    mut blocks: &[Block],
    rows: &mut [&mut [i16]; MOST],
    counts: &[usize; MOST],
) {
    while let Some(piece) = values.next().filter(|_| !blocks.is_empty()) {
        let (mut place, mut blocks_taken) = (0, 0);
        for block in blocks {
            let (component, offset) = (block.component as usize % MOST, block.offset as usize);
            let count = counts[component];
            let Some(coefficients) = piece.get(place..place + count) else {
                break;
            };
            rows[component][offset..offset + count].copy_from_slice(coefficients);
            place += count;
            blocks_taken += 1;
        }
        blocks = &blocks[blocks_taken..];
        values.pass(place);
    }
}

/// Fills in flat MCUs, which repeat the DC coefficients of the MCU before them.
pub(super) fn fill(mcus: Range<usize>, coders: &mut [Coder]) {
    for coder in coders {
        // Their DC differences are 0, and so are all other coefficients, because nothing has been decoded into this
        // part of the row.
        integrate(coder, mcus.clone());
    }
}

/// Replaces the DC differences of these MCUs by their running sum.
fn integrate(coder: &mut Coder, mcus: Range<usize>) {
    let add = match (coder.h, coder.v) {
        (1, 1) => add_up::<1, 1>,
        (2, 1) => add_up::<2, 1>,
        (2, 2) => add_up::<2, 2>,
        _ => add_up::<0, 0>,
    };
    add(coder, mcus);
}

/// Replaces the DC differences of these MCUs by their running sum, for a component with `H` × `V` blocks per MCU, known
/// at compile time. If `H` is 0, `coder.h` × `coder.v` blocks instead.
fn add_up<const H: usize, const V: usize>(coder: &mut Coder, mcus: Range<usize>) {
    let count = coder.count();
    let (h, v) = if H > 0 { (H, V) } else { (coder.h, coder.v) };
    let row = &mut coder.row[..];
    let mut prediction = coder.prediction;
    for mcu in mcus {
        for v in 0..v {
            for h in 0..h {
                let dc = &mut row[(v * coder.stride + mcu * coder.h + h) * count];
                prediction = prediction.wrapping_add((*dc).into());
                *dc = prediction as i16;
            }
        }
    }
    coder.prediction = prediction;
}
