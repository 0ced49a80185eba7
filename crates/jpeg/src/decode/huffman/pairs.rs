//! A table that decodes up to two AC coefficients per look-up.

use crate::decode::bits::Bits;
use crate::decode::huffman::table::{END_OF_BLOCK, Table, WINDOW};

/// Number of bits that index a [`PairTable`], which takes 16 KiB.
const PAIR_WINDOW: u32 = 11;

/// The combined effect of the first one or two AC symbols in the next [`PAIR_WINDOW`] bits, packed: bits 0–4 are the
/// number of bits to consume, 5–11 the number of zigzag positions that the first symbol passes, 12–19 the number that
/// both pass, 32–47 the first value, 48–63 the second. If only one symbol and its value lie within these bits, the
/// second value repeats the first. 0 means that not even one does.
#[derive(Clone, Copy, Default)]
pub(in crate::decode) struct Pair(u64);

impl Pair {
    /// Returns the bits that the symbols and their values take.
    #[inline(always)]
    pub(in crate::decode) fn consumed(self) -> u32 {
        self.0 as u32 & 31
    }

    /// Returns the number of zigzag positions that the first symbol passes.
    #[inline(always)]
    pub(in crate::decode) fn first_advance(self) -> u32 {
        (self.0 >> 5) as u32 & 127
    }

    /// Returns the number of zigzag positions that all symbols of the pair pass.
    #[inline(always)]
    pub(in crate::decode) fn advance(self) -> u32 {
        (self.0 >> 12) as u32 & 255
    }

    /// Returns the value of the first symbol.
    #[inline(always)]
    pub(in crate::decode) fn first(self) -> i16 {
        (self.0 >> 32) as i16
    }

    /// Returns the value of the second symbol, or of the first if there is only one.
    #[inline(always)]
    pub(in crate::decode) fn second(self) -> i16 {
        (self.0 >> 48) as i16
    }

    /// Whether the pair cannot be used at zigzag position `k`: it has no symbol, or its first symbol ends the block,
    /// so that the second one belongs to the next block.
    #[inline(always)]
    pub(in crate::decode) fn is_unfit(self, k: u32) -> bool {
        self.0 == 0 || (k + self.first_advance() >= 64 && self.advance() != self.first_advance())
    }
}

/// A table that decodes up to two AC coefficients per look-up.
pub(in crate::decode) struct PairTable {
    window: Box<[Pair; 1 << PAIR_WINDOW]>,
}

impl PairTable {
    /// Creates the table from one that decodes the same AC coefficients one by one.
    pub(in crate::decode) fn new(table: &Table) -> Self {
        let mut window = Box::new([Pair::default(); 1 << PAIR_WINDOW]);
        for (bits, pair) in window.iter_mut().enumerate() {
            let entry_at = |consumed: u32| {
                let shifted = (bits << consumed) & ((1 << PAIR_WINDOW) - 1);
                let entry = table.window[shifted << (WINDOW - PAIR_WINDOW)];
                let fits = entry.0 != 0
                    && entry.pending() == 0
                    && consumed + entry.consumed() <= PAIR_WINDOW;
                fits.then_some(entry)
            };
            let Some(first) = entry_at(0) else { continue };
            let second = (first.advance() < END_OF_BLOCK)
                .then(|| entry_at(first.consumed()))
                .flatten();
            let (consumed, advance, value) = match second {
                Some(second) => (
                    first.consumed() + second.consumed(),
                    first.advance() + second.advance(),
                    second.value(),
                ),
                None => (first.consumed(), first.advance(), first.value()),
            };
            *pair = Pair(
                u64::from(consumed)
                    | u64::from(first.advance()) << 5
                    | u64::from(advance) << 12
                    | u64::from(first.value() as u16) << 32
                    | u64::from(value as u16) << 48,
            );
        }
        Self { window }
    }

    /// Creates a table that decodes nothing, for scans that do not need it.
    pub(in crate::decode) fn unused() -> Self {
        Self {
            window: Box::new([Pair::default(); 1 << PAIR_WINDOW]),
        }
    }

    /// Returns the pair at the reader's position without consuming it.
    #[inline(always)]
    pub(in crate::decode) fn peek(&self, bits: &Bits<'_>) -> Pair {
        self.window[bits.peek(PAIR_WINDOW)]
    }
}
