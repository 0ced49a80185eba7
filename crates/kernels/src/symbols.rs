//! The symbols of a sequential JPEG scan: the form that the levels (quantised coefficients) of a block take before they
//! become bits.
//!
//! A symbol stands for a level that is not 0 with up to fifteen zeros before it, for sixteen zeros, or for the end of a
//! block (ITU-T T.81, F.1.2.2). Frequency 0 is not among them, because what is coded for it depends on the previous
//! block.
//!
//! Levels are stored column by column: horizontal frequency `u` and vertical frequency `v` at `8 u + v`.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(test)]
mod tests;

use crate::cpu::with_modern_instructions;

/// Maps indices in zigzag order to indices in a row-by-row block.
#[rustfmt::skip]
pub const ZIGZAG: [u8; 64] = [
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Maps indices in zigzag order to indices in a block of levels, which is stored column by column.
pub const PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut k = 0;
    while k < 64 {
        places[k] = ZIGZAG[k] % 8 * 8 + ZIGZAG[k] / 8;
        k += 1;
    }
    places
};

/// Maps indices in a column-by-column block of levels to indices in zigzag order: the inverse of `PLACES`.
const ORDER: [u8; 64] = {
    let mut order = [0; 64];
    let mut k = 0;
    while k < 64 {
        order[PLACES[k as usize] as usize] = k;
        k += 1;
    }
    order
};

/// The data that one Huffman code stands for: the number of zeros in the upper 4 bits, the level (quantised
/// coefficient) after them in the lower 12.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Symbol(u16);

impl Symbol {
    /// The end of the block: all further quantised coefficients are 0.
    pub const END: Self = Self(0);

    /// A run of sixteen zeros.
    pub const ZEROS: Self = Self(15 << 12);

    /// Creates the symbol for a level (quantised coefficient) of at most 11 bits and a sign after `run` zeros, at most
    /// 15.
    #[inline(always)]
    #[must_use]
    pub const fn new(run: u32, level: i16) -> Self {
        Self((run as u16) << 12 | (level as u16 & 0xfff))
    }

    /// Returns the level (quantised coefficient). It is 0 for [`Self::END`] and [`Self::ZEROS`].
    #[inline(always)]
    #[must_use]
    pub const fn level(self) -> i16 {
        (self.0 << 4) as i16 >> 4
    }

    /// Returns 16 × the number of zeros before the level, plus the number of bits of the level without its sign.
    /// Huffman codes are assigned to this value.
    #[inline(always)]
    #[must_use]
    pub const fn value(self) -> u8 {
        (self.0 >> 8) as u8 & 0xf0 | size(self.level()) as u8
    }

    /// Returns the symbol's code followed by the bits of the level (of the level less one if it is negative), and how
    /// many bits that is. `codes` have the code's length in their lowest byte and the code above it.
    #[inline(always)]
    fn bits(self, codes: &[u32; 256]) -> (u64, u32) {
        let (level, code) = (self.level(), codes[usize::from(self.value())]);
        let (number, size) = number(level);
        (u64::from((code >> 8) << size | number), (code & 255) + size)
    }
}

/// Returns the number of bits of a number's magnitude.
#[inline(always)]
#[must_use]
pub const fn size(number: i16) -> u32 {
    16 - number.unsigned_abs().leading_zeros()
}

/// Returns the bits that follow the code of a number's size, and how many they are. For a negative number these are the
/// bits of the number less one (T.81, F.1.2.1).
#[inline(always)]
const fn number(number: i16) -> (u32, u32) {
    let size = size(number);
    let bits = number as i32 + (number as i32 >> 31);
    (bits as u32 & ((1 << size) - 1), size)
}

/// Destination for the symbols of a row of blocks, block after block.
#[derive(Debug)]
pub struct Row<'a> {
    /// The quantised DC coefficient of each block.
    pub flat: &'a mut [i16],
    /// Number of symbols of each block.
    pub lengths: &'a mut [u8],
    /// The symbols of all blocks, one after the other. The slice has 64 per block, and the elements after the last
    /// symbol have no meaning.
    pub symbols: &'a mut [Symbol],
    /// The [value](Symbol::value) of each symbol.
    pub values: &'a mut [u8],
}

impl Row<'_> {
    /// Converts the levels of the blocks from block `first` on to symbols, and writes them from index `at` on. Bit `k`
    /// of a block's mask is set if level `k` is not 0. Returns the number of symbols of all these blocks.
    pub(crate) fn take(
        &mut self,
        first: usize,
        mut at: usize,
        levels: &[i16],
        masks: &[u64],
    ) -> usize {
        let begin = at;
        with_modern_instructions(
            #[inline(always)]
            || {
                for (n, (levels, &mask)) in levels.as_chunks().0.iter().zip(masks).enumerate() {
                    let (symbols, values) = self.block(at);
                    let length = pack(levels, mask, symbols, values);
                    self.flat[first + n] = levels[0];
                    self.lengths[first + n] = length;
                    at += usize::from(length);
                }
            },
        );
        at - begin
    }

    /// Returns the space for one block's symbols and values, from index `at` on.
    #[inline(always)]
    fn block(&mut self, at: usize) -> (&mut [Symbol; 64], &mut [u8; 64]) {
        let symbols = self.symbols[at..].first_chunk_mut();
        let values = self.values[at..].first_chunk_mut();
        symbols
            .zip(values)
            .unwrap_or_else(|| panic!("no room for a block's symbols"))
    }
}

/// Writes the symbols of a block and their values, and returns their number.
#[inline(always)]
fn pack(levels: &[i16; 64], mask: u64, symbols: &mut [Symbol; 64], values: &mut [u8; 64]) -> u8 {
    let mut mask = zigzag(mask & !1);
    let mut count = 0;
    let mut put = |symbol: Symbol| {
        symbols[count & 63] = symbol;
        values[count & 63] = symbol.value();
        count += 1;
    };
    let mut previous = 0;
    while mask != 0 {
        let k = mask.trailing_zeros();
        mask &= mask - 1;
        let mut run = k - previous - 1;
        previous = k;
        while run > 15 {
            put(Symbol::ZEROS);
            run -= 16;
        }
        put(Symbol::new(
            run,
            levels[usize::from(PLACES[k as usize & 63])],
        ));
    }
    if previous < 63 {
        put(Symbol::END);
    }
    count as u8
}

/// Rearranges bits from the order of levels to zigzag order.
#[inline(always)]
fn zigzag(mut mask: u64) -> u64 {
    let mut out = 0;
    while mask != 0 {
        out |= 1 << ORDER[mask.trailing_zeros() as usize & 63];
        mask &= mask - 1;
    }
    out
}

/// One or two Huffman codes with the bits of the values that follow them. The first piece of a block begins with the DC
/// difference. The upper 6 bits are the number of bits, at most 56, the lower ones the bits themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Piece(u64);

impl Piece {
    /// Creates a piece of at most 56 bits. Bits above `count` must be 0.
    #[inline(always)]
    const fn new((bits, count): (u64, u32)) -> Self {
        Self((count as u64) << 58 | bits)
    }

    /// Returns the bits of the piece, the first one in the highest position.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0 & (u64::MAX >> 6)
    }

    /// Returns the number of bits in the piece.
    #[inline(always)]
    #[must_use]
    pub const fn count(self) -> u32 {
        (self.0 >> 58) as u32
    }
}

/// Number of elements that [`join`] may overwrite in its output buffer after the last piece, because it writes whole
/// registers.
pub const BESIDE: usize = 8;

/// Encodes blocks to bits and returns the number of pieces: for each block, one plus half its number of symbols,
/// rounded down.
///
/// - `differences`: the value coded for frequency 0 of each block, at most 11 bits and a sign.
/// - `lengths`: number of symbols of each block, at most 63.
/// - `codes`: a table for frequency 0 and one for all others. For each [value](Symbol::value), the lowest byte is the
///   code's length, and the code of at most 16 bits is above it.
/// - `pieces`: the output buffer. It must have room for [`BESIDE`] more pieces than the blocks give.
///
/// # Panics
/// If the lengths of the slices do not match, which is a bug in the caller.
pub fn join(
    differences: &[i16],
    lengths: &[u8],
    symbols: &[Symbol],
    codes: &[[u32; 256]; 2],
    pieces: &mut [Piece],
) -> usize {
    assert!(
        lengths.iter().all(|&length| length <= 63),
        "a block of more than 63 symbols"
    );
    let sum = |of: fn(u8) -> usize| lengths.iter().map(|&length| of(length)).sum::<usize>();
    assert!(
        sum(usize::from) <= symbols.len(),
        "blocks of more symbols than there are"
    );
    assert!(
        differences.len() == lengths.len()
            && pieces.len() >= sum(|length| usize::from(length / 2 + 1)) + BESIDE,
        "pieces of {} blocks",
        lengths.len()
    );
    // `is_fast` is checked only on processors whose best level is AVX-512, because it measures the speed of gathers.
    #[cfg(target_arch = "x86_64")]
    if crate::huffman::is_fast() && avx512::is_there() {
        // SAFETY: the processor supports the level and all other features, and the slices have the required lengths.
        return unsafe { avx512::join(differences, lengths, symbols, codes, pieces) };
    }
    with_modern_instructions(
        #[inline(always)]
        || twin(differences, lengths, symbols, codes, pieces),
    )
}

#[inline(always)]
fn twin(
    differences: &[i16],
    lengths: &[u8],
    mut symbols: &[Symbol],
    [flat, rest]: &[[u32; 256]; 2],
    pieces: &mut [Piece],
) -> usize {
    let mut at = 0;
    for (&difference, &length) in differences.iter().zip(lengths) {
        let (block, remaining) = symbols.split_at(length.into());
        symbols = remaining;
        let mut first = Symbol::new(0, difference).bits(flat);
        let mut tail = block;
        if let Some((second, remaining)) = block.split_first() {
            first = joined(first, second.bits(rest));
            tail = remaining;
        }
        pieces[at] = Piece::new(first);
        at += 1;
        for pair in tail.chunks(2) {
            let mut bits = pair[0].bits(rest);
            if let Some(second) = pair.get(1) {
                bits = joined(bits, second.bits(rest));
            }
            pieces[at] = Piece::new(bits);
            at += 1;
        }
    }
    at
}

/// Appends the second sequence of bits to the first. Each comes with its number of bits.
#[inline(always)]
const fn joined((bits, count): (u64, u32), (more, further): (u64, u32)) -> (u64, u32) {
    (bits << further | more, count + further)
}
