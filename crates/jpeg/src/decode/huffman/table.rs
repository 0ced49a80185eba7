//! A table that decodes one symbol per look-up.

use andon_kernels::huffman::Code;

use crate::decode::bits::{Bits, extend};
use crate::decode::huffman::codes::{Codes, LongCodes};
use crate::error::Result;

/// Number of bits of the window: the next bits of the data, which index a [`Table`]. The 4,096 entries of a table take
/// 4 bytes each, so that the tables for luma and for chroma fit the L1 cache together.
pub(super) const WINDOW: u32 = 12;

/// Number of zigzag positions by which an end of block advances, which leads beyond any block. In a progressive scan,
/// the upper half of the symbol is added: the number of bits that give the length of the end-of-band run.
pub(in crate::decode) const END_OF_BLOCK: u32 = 64;

/// A symbol and, if it lies within the next [`WINDOW`] bits, its value, packed: bits 0–4 are the number of bits to
/// consume, 5–11 the number of zigzag positions to advance, 12–15 the size of a value that lies beyond these bits,
/// 16–31 the value.
#[derive(Clone, Copy, Default)]
pub(in crate::decode) struct Entry(pub(super) u32);

impl Entry {
    fn new(consumed: u32, advance: u32, pending: u32, value: i32) -> Self {
        Self(consumed | advance << 5 | pending << 12 | (value as u32) << 16)
    }

    /// Returns the number of bits of the code and, if it lies within the next [`WINDOW`] bits, of its value.
    #[inline(always)]
    pub(super) fn consumed(self) -> u32 {
        self.0 & 31
    }

    /// Returns the number of zigzag positions passed, including the coefficient's own. 64 or more ends the block.
    #[inline(always)]
    pub(in crate::decode) fn advance(self) -> u32 {
        self.0 >> 5 & 127
    }

    /// Returns the size in bits of a value that does not lie within the next [`WINDOW`] bits, or 0 if it does.
    #[inline(always)]
    pub(super) fn pending(self) -> u32 {
        self.0 >> 12 & 15
    }

    /// Returns the value, or 0 if it does not lie within the next [`WINDOW`] bits.
    #[inline(always)]
    pub(super) fn value(self) -> i32 {
        (self.0 as i32) >> 16
    }
}

/// What the upper and the lower 4 bits of a Huffman symbol stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::decode) enum Meaning {
    /// The symbol is a size; a value follows.
    Dc,
    /// The symbol is a run and a size. Size 0 ends the block, except that (15,0) is a run of 16 zeros.
    Ac,
    /// The symbol is a run and a size as in `Ac`, but (r,0) with r below 15 ends this block and the band in the
    /// following 2^r − 1 + n blocks, where n is the number in the next r bits.
    ProgressiveAc,
}

/// A table that decodes one symbol and its value.
pub(in crate::decode) struct Table {
    pub(super) window: Box<[Entry; 1 << WINDOW]>,
    long: LongCodes,
    meaning: Meaning,
}

impl Table {
    /// Creates the table of a code whose symbols have this meaning.
    pub(in crate::decode) fn new(codes: &Codes, meaning: Meaning) -> Self {
        let mut window = Box::new([Entry::default(); 1 << WINDOW]);
        for Code {
            code,
            length,
            symbol,
        } in codes.list()
        {
            if length > WINDOW {
                continue;
            }
            let (advance, size) = split(symbol, meaning);
            let rest = WINDOW - length;
            let first = (code << rest) as usize;
            for (tail, entry) in window[first..first + (1 << rest)].iter_mut().enumerate() {
                *entry = if size == 0 {
                    Entry::new(length, advance, 0, 0)
                } else if size <= rest {
                    let magnitude = tail as u32 >> (rest - size);
                    Entry::new(length + size, advance, 0, extend(magnitude, size))
                } else {
                    Entry::new(length, advance, size, 0)
                };
            }
        }
        Self {
            window,
            long: LongCodes::new(codes, WINDOW),
            meaning,
        }
    }

    /// Decodes one symbol and its value. Returns the number of zigzag positions to advance, and the value. 32 bits
    /// must be available.
    #[inline(always)]
    pub(in crate::decode) fn decode(&self, bits: &mut Bits<'_>) -> Result<(u32, i32)> {
        let mut entry = self.window[bits.peek(WINDOW)];
        if entry.0 == 0 {
            entry = self.long_entry(bits.peek(16) as u32)?;
        }
        bits.consume(entry.consumed());
        let size = entry.pending();
        if size == 0 {
            return Ok((entry.advance(), entry.value()));
        }
        let value = extend(bits.peek(size) as u32, size);
        bits.consume(size);
        Ok((entry.advance(), value))
    }

    /// Returns the entry of a code that is longer than [`WINDOW`] bits.
    #[cold]
    fn long_entry(&self, bits: u32) -> Result<Entry> {
        let (symbol, length) = self.long.find(bits)?;
        let (advance, size) = split(symbol, self.meaning);
        Ok(Entry::new(length, advance, size, 0))
    }
}

/// Splits a Huffman symbol into the number of coefficients to advance by, including skipped zeros, and the size in bits
/// of the value that follows the code.
fn split(symbol: u8, meaning: Meaning) -> (u32, u32) {
    let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
    match meaning {
        Meaning::Dc => (1, size),
        Meaning::Ac if size == 0 && run < 15 => (END_OF_BLOCK, 0),
        Meaning::ProgressiveAc if size == 0 && run < 15 => (END_OF_BLOCK + run, 0),
        Meaning::Ac | Meaning::ProgressiveAc => (run + 1, size),
    }
}
