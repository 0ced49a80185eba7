//! The symbols of a sequential JPEG scan: what the levels of a block become before they are bits.
//!
//! A symbol is a level that is not 0 with up to fifteen zeros before it, sixteen zeros, or the end of a block (ITU-T T.81,
//! F.1.2.2). Frequency 0 is not among them: what is coded of it depends on the block before.
//!
//! Levels come column by column: horizontal frequency `u` and vertical frequency `v` at `8 u + v`.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(test)]
mod tests;

use crate::cpu::with_modern_instructions;

/// Where each coefficient of the zigzag order lies in a row-by-row block.
#[rustfmt::skip]
pub const ZIGZAG: [u8; 64] = [
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Where a level of the zigzag order stands among those of a block.
pub const PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut k = 0;
    while k < 64 {
        places[k] = ZIGZAG[k] % 8 * 8 + ZIGZAG[k] / 8;
        k += 1;
    }
    places
};

/// The other way round.
const ORDER: [u8; 64] = {
    let mut order = [0; 64];
    let mut k = 0;
    while k < 64 {
        order[PLACES[k as usize] as usize] = k;
        k += 1;
    }
    order
};

/// What one code stands for: the zeros in the upper 4 bits, the level in the lower 12.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Symbol(u16);

impl Symbol {
    /// No more levels in its block.
    pub const END: Self = Self(0);

    /// Sixteen zeros.
    pub const ZEROS: Self = Self(15 << 12);

    /// A level of at most 11 bits and its sign behind `run` zeros, which are at most 15.
    #[inline(always)]
    #[must_use]
    pub const fn new(run: u32, level: i16) -> Self {
        Self((run as u16) << 12 | (level as u16 & 0xfff))
    }

    /// The level; 0 in [`Self::END`] and [`Self::ZEROS`].
    #[inline(always)]
    #[must_use]
    pub const fn level(self) -> i16 {
        (self.0 << 4) as i16 >> 4
    }

    /// Zeros before the level × 16 + bits of the level without its sign: what has a code.
    #[inline(always)]
    #[must_use]
    pub const fn value(self) -> u8 {
        (self.0 >> 8) as u8 & 0xf0 | size(self.level()) as u8
    }

    /// Its code, and the level behind it, of a negative one the level less one; and how many bits that is. `codes` have the
    /// code's length in their lowest byte, the code above it.
    #[inline(always)]
    fn bits(self, codes: &[u32; 256]) -> (u64, u32) {
        let (level, code) = (self.level(), codes[usize::from(self.value())]);
        let (number, size) = number(level);
        (u64::from((code >> 8) << size | number), (code & 255) + size)
    }
}

/// How many bits a number takes without its sign.
#[inline(always)]
#[must_use]
pub const fn size(number: i16) -> u32 {
    16 - number.unsigned_abs().leading_zeros()
}

/// The bits that follow the code of a number's size, and how many they are. Of a negative number they are those of the number
/// less one (T.81, F.1.2.1).
#[inline(always)]
const fn number(number: i16) -> (u32, u32) {
    let size = size(number);
    let less = number as i32 + (number as i32 >> 31);
    (less as u32 & ((1 << size) - 1), size)
}

/// Where the symbols of a row of blocks go, block after block.
#[derive(Debug)]
pub struct Row<'a> {
    /// Of each block, the level of frequency 0.
    pub flat: &'a mut [i16],
    /// Of each block, how many symbols it has.
    pub lengths: &'a mut [u8],
    /// All of them, and then what nobody reads: 64 per block.
    pub symbols: &'a mut [Symbol],
    /// The [value](Symbol::value) of each.
    pub values: &'a mut [u8],
}

impl Row<'_> {
    /// Takes the levels of some blocks from block `first` on, whose symbols go to `at` and behind it. Bit `k` of a block's mask
    /// says that level `k` is not 0. How many symbols they have together.
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

    /// The room for one block's.
    #[inline(always)]
    fn block(&mut self, at: usize) -> (&mut [Symbol; 64], &mut [u8; 64]) {
        let symbols = self.symbols[at..].first_chunk_mut();
        let values = self.values[at..].first_chunk_mut();
        symbols
            .zip(values)
            .unwrap_or_else(|| panic!("no room for a block's symbols"))
    }
}

/// The symbols of a block and their values; how many there are.
#[inline(always)]
fn pack(levels: &[i16; 64], mask: u64, symbols: &mut [Symbol; 64], values: &mut [u8; 64]) -> u8 {
    let mut mask = zigzag(mask & !1);
    let mut count = 0;
    let mut put = |symbol: Symbol| {
        symbols[count & 63] = symbol;
        values[count & 63] = symbol.value();
        count += 1;
    };
    let mut before = 0;
    while mask != 0 {
        let k = mask.trailing_zeros();
        mask &= mask - 1;
        let mut run = k - before - 1;
        before = k;
        while run > 15 {
            put(Symbol::ZEROS);
            run -= 16;
        }
        put(Symbol::new(
            run,
            levels[usize::from(PLACES[k as usize & 63])],
        ));
    }
    if before < 63 {
        put(Symbol::END);
    }
    count as u8
}

/// Bits in the order of levels brought into zigzag order.
#[inline(always)]
fn zigzag(mut mask: u64) -> u64 {
    let mut out = 0;
    while mask != 0 {
        out |= 1 << ORDER[mask.trailing_zeros() as usize & 63];
        mask &= mask - 1;
    }
    out
}

/// One or two codes with the levels behind them; a block's first piece begins with frequency 0. The upper 6 bits hold the count of
/// bits, at most 56, the lower ones the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Piece(u64);

impl Piece {
    /// At most 56 bits; those above their count are 0.
    #[inline(always)]
    const fn new((bits, count): (u64, u32)) -> Self {
        Self((count as u64) << 58 | bits)
    }

    /// The bits, those that come first highest.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0 & (u64::MAX >> 6)
    }

    /// The symbols in the piece.
    #[inline(always)]
    #[must_use]
    pub const fn count(self) -> u32 {
        (self.0 >> 58) as u32
    }
}

/// Pieces that may be written beside those that there are.
pub const BESIDE: usize = 8;

/// Makes bits of some blocks: of each block one piece and half as many as it has symbols, without a fraction.
///
/// - `differences`: of each block, what is coded of frequency 0, at most 11 bits and its sign.
/// - `lengths`: how many symbols each block has, at most 63.
/// - `codes`: for frequency 0 and for all others, of each [value](Symbol::value) the code's length in the lowest byte, the
///   code of at most 16 bits above it.
/// - `pieces`: room for [`BESIDE`] more than there will be.
///
/// How many pieces there are.
///
/// # Panics
/// When the slices do not fit each other: a bug of the caller.
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
    // Quick gathers are only looked for on processors whose best level is AVX-512.
    #[cfg(target_arch = "x86_64")]
    if crate::huffman::is_fast() && avx512::is_there() {
        // SAFETY: the level and the rest are there, and the slices fit.
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
        let (block, behind) = symbols.split_at(length.into());
        symbols = behind;
        let mut first = Symbol::new(0, difference).bits(flat);
        let mut others = block;
        if let Some((second, behind)) = block.split_first() {
            first = joined(first, second.bits(rest));
            others = behind;
        }
        pieces[at] = Piece::new(first);
        at += 1;
        for pair in others.chunks(2) {
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

/// Bits and how many there are, one behind the other.
#[inline(always)]
const fn joined((bits, count): (u64, u32), (more, further): (u64, u32)) -> (u64, u32) {
    (bits << further | more, count + further)
}
