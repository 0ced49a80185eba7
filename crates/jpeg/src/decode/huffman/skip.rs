//! A table that skips AC coefficients, several per look-up.

use crate::decode::bits::Bits;
use crate::decode::huffman::table::{END_OF_BLOCK, Table, WINDOW};
use crate::error::Result;

/// Number of bits that index a [`SkipTable`].
const SKIP_WINDOW: u32 = 12;

/// A table for skipping AC coefficients whose values are not needed, several per look-up.
///
/// An entry combines all symbols that lie, with their values, within the next [`SKIP_WINDOW`] bits: bits 0–5 are the
/// number of bits to consume, 6–15 the number of zigzag positions by which the symbols advance. An end of block
/// advances by 1 + [`SKIPPED_END`]. [`UNFIT`] means that not even one symbol lies within these bits.
pub(in crate::decode) struct SkipTable {
    window: Box<[u16; 1 << SKIP_WINDOW]>,
}

/// Number of zigzag positions by which an end of block advances when blocks are skipped, less 1. It is larger than a
/// block and all other symbols of a window together, so that the zigzag position modulo this value tells where the end
/// of block was found.
const SKIPPED_END: u32 = 256;

/// An entry for [`SKIP_WINDOW`] bits in which no symbol lies completely with its value. It advances by 65 positions,
/// beyond the end of any block.
const UNFIT: u16 = 65 << 6;

/// Whether the symbols up to zigzag position `k` do not all belong to this block: they go beyond its 64 coefficients,
/// or the end of block among them is that of the next block.
#[inline(always)]
fn has_left_block(k: u32) -> bool {
    k % SKIPPED_END > 64
}

impl SkipTable {
    /// Creates the table from one that decodes the same AC coefficients one by one.
    pub(in crate::decode) fn new(table: &Table) -> Self {
        let mut window = Box::new([0; 1 << SKIP_WINDOW]);
        for (bits, entry) in window.iter_mut().enumerate() {
            *entry = Self::entry(table, bits as u32);
        }
        Self { window }
    }

    /// Creates a table with which no symbol can be skipped, for scans that do not need one.
    pub(in crate::decode) fn unused() -> Self {
        Self {
            window: Box::new([UNFIT; 1 << SKIP_WINDOW]),
        }
    }

    fn entry(table: &Table, bits: u32) -> u16 {
        let mut consumed = 0;
        let mut advance = 0;
        loop {
            // Bits shifted in from below are unknown: a symbol counts only if it ends before them.
            let shifted = (bits << consumed) & ((1 << SKIP_WINDOW) - 1);
            let symbol = table.window[(shifted >> (SKIP_WINDOW - WINDOW)) as usize];
            let length = symbol.consumed() + symbol.pending();
            if symbol.0 == 0 || consumed + length > SKIP_WINDOW {
                return match consumed {
                    0 => UNFIT,
                    _ => (consumed | advance << 6) as u16,
                };
            }
            consumed += length;
            if symbol.advance() >= END_OF_BLOCK {
                return (consumed | (advance + 1 + SKIPPED_END) << 6) as u16;
            }
            advance += symbol.advance();
        }
    }

    /// Skips the rest of a block whose next zigzag position is `k` (1 to 63).
    #[inline(always)]
    pub(in crate::decode) fn skip_block(
        &self,
        table: &Table,
        bits: &mut Bits<'_>,
        mut k: u32,
    ) -> Result<()> {
        loop {
            bits.refill();
            // 56 bits hold four windows.
            for _ in 0..4 {
                let entry = u32::from(self.window[bits.peek(SKIP_WINDOW)]);
                let next_k = k + (entry >> 6);
                if has_left_block(next_k) {
                    // A long code, or symbols of the next block in the same window: one by one.
                    if bits.available() < 32 {
                        bits.refill();
                    }
                    k += table.decode(bits)?.0;
                    if k >= 64 {
                        return Ok(());
                    }
                    break;
                }
                bits.consume(entry & 63);
                k = next_k;
                if k >= 64 {
                    return Ok(());
                }
            }
        }
    }
}
