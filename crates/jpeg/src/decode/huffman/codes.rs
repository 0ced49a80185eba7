//! Huffman codes as files define them.

use andon_kernels::huffman::Code;

use crate::error::{Error, Result};

/// A Huffman code as a DHT segment defines it.
#[derive(Clone)]
pub(in crate::decode) struct Codes {
    /// The number of codes of each length, 1 to 16 bits.
    counts: [u8; 16],
    /// The symbols of the codes, those with the shortest codes first.
    symbols: Vec<u8>,
}

impl Codes {
    /// Creates the code from a DHT segment's 16 counts and its symbols.
    pub(in crate::decode) fn new(counts: [u8; 16], symbols: &[u8]) -> Result<Self> {
        let mut code = 0u32;
        for (i, &count) in counts.iter().enumerate() {
            code = (code << 1) + u32::from(count);
            // The code of all ones is reserved (T.81, C.2).
            if code >= 1 << (i + 1) {
                return Err(Error::Broken("a Huffman table has too many codes"));
            }
        }
        Ok(Self {
            counts,
            symbols: symbols.to_vec(),
        })
    }

    /// Returns every code, the shortest first (T.81, annex C).
    pub(in crate::decode) fn list(&self) -> Vec<Code> {
        let mut list = Vec::with_capacity(self.symbols.len());
        let mut symbols = self.symbols.iter();
        let mut code = 0u32;
        for (length, &count) in (1u32..).zip(&self.counts) {
            for &symbol in symbols.by_ref().take(count.into()) {
                list.push(Code {
                    code,
                    length,
                    symbol,
                });
                code += 1;
            }
            code <<= 1;
        }
        list
    }
}

/// The codes that are too long for a table look-up, which takes `window` bits. They are decoded canonically (T.81,
/// F.2.2.3).
pub(super) struct LongCodes {
    /// Number of bits that index the look-up table; only longer codes are decoded here.
    window: u32,
    /// For each length, one more than its largest code, left-aligned to 16 bits.
    too_large: [u32; 17],
    /// For each length, the number to add to a code to get its symbol's index.
    offset: [i32; 17],
    symbols: Vec<u8>,
}

impl LongCodes {
    /// Creates the codes that are longer than `window` bits.
    pub(super) fn new(codes: &Codes, window: u32) -> Self {
        let mut long = Self {
            window,
            too_large: [0; 17],
            offset: [0; 17],
            symbols: codes.symbols.clone(),
        };
        for (index, Code { code, length, .. }) in (0..).zip(codes.list()) {
            long.too_large[length as usize] = (code + 1) << (16 - length);
            long.offset[length as usize] = index - code as i32;
        }
        long
    }

    /// Decodes the code at the start of `bits` (16 bits). Returns its symbol and its length in bits.
    #[cold]
    pub(super) fn find(&self, bits: u32) -> Result<(u8, u32)> {
        (self.window + 1..=16)
            .find(|&length| bits < self.too_large[length as usize])
            .and_then(|length| {
                let index = (bits >> (16 - length)) as i32 + self.offset[length as usize];
                Some((*self.symbols.get(usize::try_from(index).ok()?)?, length))
            })
            .ok_or(Error::Broken("a Huffman code that no table has"))
    }
}
