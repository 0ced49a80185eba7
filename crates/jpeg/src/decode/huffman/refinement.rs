//! A table of symbols and signs for refinement scans.

use andon_kernels::huffman::Code;

use crate::decode::bits::Bits;
use crate::decode::huffman::codes::{Codes, LongCodes};
use crate::error::{Error, Result};

/// A symbol of a refinement scan with its sign, packed: bits 0–3 are the run, bit 4 is set for a new coefficient, and
/// bit 5 if that is positive. Bit 6 is set for an end-of-band run, which ends this block and leaves at least 2^run − 1
/// further blocks without new coefficients. Bits 8–12 are the number of bits to consume, or 0 if the code is longer
/// than [`REFINEMENT_WINDOW`] bits, is invalid, or has an impossible symbol.
#[derive(Clone, Copy, Default, PartialEq)]
pub(in crate::decode) struct Refinement(u16);

impl Refinement {
    /// Marks a symbol with a size above 1, which is impossible: a new coefficient in a refinement scan has a size of 1
    /// bit.
    const IMPOSSIBLE: Self = Self(1 << 7);

    fn new(symbol: u8, positive: bool, consumed: u32) -> Self {
        let (run, size) = (u16::from(symbol >> 4), symbol & 15);
        if size > 1 {
            return Self::IMPOSSIBLE;
        }
        let is_new = u16::from(size != 0);
        let ends = u16::from(size == 0 && run < 15);
        let positive = is_new & u16::from(positive);
        Self(run | is_new << 4 | positive << 5 | ends << 6 | (consumed as u16) << 8)
    }

    /// Returns the number of still zero coefficients that the symbol skips or, for an end-of-band run, the number of
    /// bits that encode the run's length.
    #[inline(always)]
    pub(in crate::decode) fn run(self) -> u32 {
        u32::from(self.0 & 15)
    }

    /// Returns whether the symbol is a new coefficient.
    #[inline(always)]
    pub(in crate::decode) fn is_new(self) -> bool {
        self.0 >> 4 & 1 != 0
    }

    /// Returns 1 or −1 for a new coefficient, otherwise 0.
    #[inline(always)]
    pub(in crate::decode) fn value(self) -> i16 {
        (self.0 >> 4 & 2) as i16 - (self.0 >> 4 & 1) as i16
    }

    /// Returns whether the symbol ends the block, and begins a run of blocks without new coefficients.
    #[inline(always)]
    pub(in crate::decode) fn ends_block(self) -> bool {
        self.0 >> 6 & 1 != 0
    }

    #[inline(always)]
    fn consumed(self) -> u32 {
        u32::from(self.0 >> 8)
    }
}

/// A table of symbols and signs for refinement scans.
pub(in crate::decode) struct RefinementSymbols {
    window: Box<[Refinement; 1 << REFINEMENT_WINDOW]>,
    long: LongCodes,
}

const REFINEMENT_WINDOW: u32 = 10;

impl RefinementSymbols {
    /// Creates the table of a code for AC coefficients.
    pub(in crate::decode) fn new(codes: &Codes) -> Self {
        let mut window = Box::new([Refinement::default(); 1 << REFINEMENT_WINDOW]);
        for Code {
            code,
            length,
            symbol,
        } in codes.list()
        {
            let signs = u32::from(symbol & 15 != 0);
            for sign in 0..=signs {
                let (length, code) = (length + signs, code << signs | sign);
                if length <= REFINEMENT_WINDOW {
                    let rest = REFINEMENT_WINDOW - length;
                    let first = (code << rest) as usize;
                    let symbol = Refinement::new(symbol, sign != 0, length);
                    window[first..first + (1 << rest)].fill(symbol);
                }
            }
        }
        Self {
            window,
            // A code as long as the window leaves no room for the sign that follows it.
            long: LongCodes::new(codes, REFINEMENT_WINDOW - 1),
        }
    }

    /// Decodes the next symbol and its sign. 17 bits must be available.
    #[inline(always)]
    pub(in crate::decode) fn decode(&self, bits: &mut Bits<'_>) -> Result<Refinement> {
        let mut symbol = self.window[bits.peek(REFINEMENT_WINDOW)];
        if symbol.consumed() == 0 {
            symbol = self.rare_symbol(symbol, bits.peek(17) as u32)?;
        }
        bits.consume(symbol.consumed());
        Ok(symbol)
    }

    #[cold]
    fn rare_symbol(&self, entry: Refinement, bits: u32) -> Result<Refinement> {
        let mut symbol = entry;
        if symbol != Refinement::IMPOSSIBLE {
            let (code, length) = self.long.find(bits >> 1)?;
            symbol = match code & 15 {
                0 => Refinement::new(code, false, length),
                _ => Refinement::new(code, bits >> (16 - length) & 1 != 0, length + 1),
            };
        }
        if symbol == Refinement::IMPOSSIBLE {
            return Err(Error::Broken("a refinement of an impossible size"));
        }
        Ok(symbol)
    }
}
