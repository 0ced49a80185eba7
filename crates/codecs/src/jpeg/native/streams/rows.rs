//! From values in the order of the data to rows of blocks.

use std::ops::Range;

use super::super::sequential::Coder;

/// Components of a scan that this is for.
pub(super) const MOST: usize = 4;

/// How a row of MCUs is laid out.
pub(super) struct Rows {
    /// Each block in the order of the data.
    blocks: Vec<Block>,
    /// Of an MCU.
    per_mcu: usize,
    /// Values of a block of each component.
    counts: [usize; MOST],
    /// Values of a block, if all components have as many.
    count: Option<usize>,
}

/// A block: of which component, and where in its row it begins.
#[derive(Clone, Copy)]
struct Block {
    component: u32,
    offset: u32,
}

impl Rows {
    /// For rows of `across` MCUs.
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

    /// Takes the values of these MCUs into the coders' rows.
    pub(super) fn take<'a>(
        &self,
        pieces: impl Pieces<'a>,
        mcus: Range<usize>,
        coders: &mut [Coder],
    ) {
        let blocks = &self.blocks[mcus.start * self.per_mcu..mcus.end * self.per_mcu];
        let mut rows: [&mut [i16]; MOST] = Default::default();
        for (row, coder) in rows.iter_mut().zip(&mut *coders) {
            *row = &mut coder.row;
        }
        match self.count {
            Some(1) => take_blocks(pieces, blocks, &mut rows, &[1; MOST]),
            Some(4) => take_blocks(pieces, blocks, &mut rows, &[4; MOST]),
            Some(16) => take_blocks(pieces, blocks, &mut rows, &[16; MOST]),
            _ => take_blocks(pieces, blocks, &mut rows, &self.counts),
        }
        for coder in coders {
            integrate(coder, mcus.clone());
        }
    }
}

/// Values that lie in pieces of whole blocks.
pub(super) trait Pieces<'a> {
    /// The next piece. `None`: there are no more.
    fn next(&self) -> Option<&'a [i16]>;

    /// Passes over the first `count` values of it.
    fn pass(&mut self, count: usize);
}

/// Takes blocks that have `counts` values each, by their component.
#[inline(always)]
fn take_blocks<'a>(
    mut pieces: impl Pieces<'a>,
    mut blocks: &[Block],
    rows: &mut [&mut [i16]; MOST],
    counts: &[usize; MOST],
) {
    while let Some(piece) = pieces.next().filter(|_| !blocks.is_empty()) {
        let (mut place, mut taken) = (0, 0);
        for block in blocks {
            let (component, offset) = (block.component as usize % MOST, block.offset as usize);
            let count = counts[component];
            let Some(values) = piece.get(place..place + count) else {
                break;
            };
            rows[component][offset..offset + count].copy_from_slice(values);
            place += count;
            taken += 1;
        }
        blocks = &blocks[taken..];
        pieces.pass(place);
    }
}

/// These MCUs are flat, and as bright as the one before them.
pub(super) fn fill(mcus: Range<usize>, coders: &mut [Coder]) {
    for coder in coders {
        // Their differences are zeros, and so are the other coefficients of a row that nothing was decoded into yet.
        integrate(coder, mcus.clone());
    }
}

/// Adds up the DC differences of these MCUs.
fn integrate(coder: &mut Coder, mcus: Range<usize>) {
    let add = match (coder.h, coder.v) {
        (1, 1) => add_up::<1, 1>,
        (2, 1) => add_up::<2, 1>,
        (2, 2) => add_up::<2, 2>,
        _ => add_up::<0, 0>,
    };
    add(coder, mcus);
}

/// Adds up blocks of `H` × `V` per MCU, or if that is 0, of as many as there are.
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
