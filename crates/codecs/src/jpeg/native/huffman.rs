//! Huffman tables for fast decoding: one look-up gives a whole coefficient, or passes several whose values are not
//! needed.

use super::Refused;
use super::bits::{Bits, extend};

/// Bits that index the coefficient tables. Their 4,096 entries take 4 bytes each, so that luma's and chroma's tables
/// fit the L1 cache together.
const WINDOW: u32 = 12;

/// Bits that index the tables for skipping coefficients.
const SKIP_WINDOW: u32 = 12;

/// `advance` of an end-of-block symbol, which leads beyond any block. In a progressive scan, the number of bits that
/// encode the run of such blocks is added to it.
pub(super) const END_OF_BLOCK: u32 = 64;

/// A Huffman code as a DHT segment defines it.
#[derive(Clone)]
pub(super) struct Codes {
    /// The number of codes of each length, 1 to 16 bits.
    counts: [u8; 16],
    /// The symbols of the codes, those with the shortest codes first.
    symbols: Vec<u8>,
}

impl Codes {
    /// Creates the code from a DHT segment's 16 counts and its symbols.
    pub(super) fn new(counts: [u8; 16], symbols: &[u8]) -> Result<Self, Refused> {
        let mut code = 0u32;
        for (i, &count) in counts.iter().enumerate() {
            code = (code << 1) + u32::from(count);
            // The code of all ones is reserved (T.81, C.2).
            if code >= 1 << (i + 1) {
                return Err(Refused::broken("a Huffman table has too many codes"));
            }
        }
        Ok(Self {
            counts,
            symbols: symbols.to_vec(),
        })
    }

    /// Returns every code as (code, length, symbol), the shortest first (T.81, annex C).
    pub(super) fn list(&self) -> Vec<(u32, u32, u8)> {
        let mut list = Vec::with_capacity(self.symbols.len());
        let mut symbols = self.symbols.iter();
        let mut code = 0u32;
        for (length, &count) in (1u32..).zip(&self.counts) {
            for &symbol in symbols.by_ref().take(count.into()) {
                list.push((code, length, symbol));
                code += 1;
            }
            code <<= 1;
        }
        list
    }
}

/// A symbol and, if it fits the window, its value, packed: bits 0–4 are the bits to consume, 5–11 how far the zigzag
/// position `k` advances, 12–15 the size of a magnitude that did not fit the window, 16–31 the value.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry(u32);

impl Entry {
    fn new(consumed: u32, advance: u32, pending: u32, value: i32) -> Self {
        Self(consumed | advance << 5 | pending << 12 | (value as u32) << 16)
    }

    #[inline(always)]
    fn consumed(self) -> u32 {
        self.0 & 31
    }

    /// Returns the number of zigzag positions passed, including the coefficient's own. 64 or more ends the block.
    #[inline(always)]
    pub(super) fn advance(self) -> u32 {
        self.0 >> 5 & 127
    }

    #[inline(always)]
    fn pending(self) -> u32 {
        self.0 >> 12 & 15
    }

    #[inline(always)]
    fn value(self) -> i32 {
        (self.0 as i32) >> 16
    }
}

/// How the two halves of a symbol are interpreted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The symbol is a size; a value follows.
    Dc,
    /// The symbol is a run and a size. Size 0 ends the block, except that (15,0) is a run of 16 zeros.
    Ac,
    /// The symbol is a run and a size as in `Ac`, but (r,0) ends the block and the following 2^r − 1, plus as many as
    /// the next r bits say.
    ProgressiveAc,
}

/// A table that decodes one symbol and its value.
pub(super) struct Table {
    window: Box<[Entry; 1 << WINDOW]>,
    long: LongCodes,
    meaning: Meaning,
}

impl Table {
    pub(super) fn new(codes: &Codes, meaning: Meaning) -> Self {
        let mut window = Box::new([Entry::default(); 1 << WINDOW]);
        for (code, length, symbol) in codes.list() {
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

    /// Decodes one symbol and its value, as (advance, value). Needs 32 bits available.
    #[inline(always)]
    pub(super) fn decode(&self, bits: &mut Bits<'_>) -> Result<(u32, i32), Refused> {
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

    /// Returns the entry of a code that is longer than the window.
    #[cold]
    fn long_entry(&self, bits: u32) -> Result<Entry, Refused> {
        let (symbol, length) = self.long.find(bits)?;
        let (advance, size) = split(symbol, self.meaning);
        Ok(Entry::new(length, advance, size, 0))
    }
}

/// The codes that are longer than a window, decoded canonically (T.81, F.2.2.3).
struct LongCodes {
    /// Length of the window in bits.
    window: u32,
    /// For each length, one more than its largest code, left-aligned to 16 bits.
    too_large: [u32; 17],
    /// For each length, the number to add to a code to get its symbol's index.
    offset: [i32; 17],
    symbols: Vec<u8>,
}

impl LongCodes {
    fn new(codes: &Codes, window: u32) -> Self {
        let mut long = Self {
            window,
            too_large: [0; 17],
            offset: [0; 17],
            symbols: codes.symbols.clone(),
        };
        for (index, (code, length, _)) in (0..).zip(codes.list()) {
            long.too_large[length as usize] = (code + 1) << (16 - length);
            long.offset[length as usize] = index - code as i32;
        }
        long
    }

    /// Returns the symbol and the length of the code with which these 16 bits begin.
    #[cold]
    fn find(&self, bits: u32) -> Result<(u8, u32), Refused> {
        (self.window + 1..=16)
            .find(|&length| bits < self.too_large[length as usize])
            .and_then(|length| {
                let index = (bits >> (16 - length)) as i32 + self.offset[length as usize];
                Some((*self.symbols.get(usize::try_from(index).ok()?)?, length))
            })
            .ok_or(Refused::Broken("a Huffman code that no table has"))
    }
}

/// Splits a symbol into (advance, size).
fn split(symbol: u8, meaning: Meaning) -> (u32, u32) {
    let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
    match meaning {
        Meaning::Dc => (1, size),
        Meaning::Ac if size == 0 && run < 15 => (END_OF_BLOCK, 0),
        Meaning::ProgressiveAc if size == 0 && run < 15 => (END_OF_BLOCK + run, 0),
        Meaning::Ac | Meaning::ProgressiveAc => (run + 1, size),
    }
}

/// A symbol of a refinement scan with its sign, packed: bits 0–3 are the run, bit 4 is set for a new coefficient, bit 5
/// if that is positive, and bit 6 if the block ends, together with a run of at least 2^run − 1 further blocks. Bits
/// 8–12 are the bits to consume, or 0 if the code is longer than the window, is invalid, or has an impossible symbol.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Refinement(u16);

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

    #[inline(always)]
    pub(super) fn run(self) -> u32 {
        u32::from(self.0 & 15)
    }

    #[inline(always)]
    pub(super) fn is_new(self) -> bool {
        self.0 >> 4 & 1 != 0
    }

    /// Returns 1 or −1 for a new coefficient, otherwise 0.
    #[inline(always)]
    pub(super) fn value(self) -> i16 {
        (self.0 >> 4 & 2) as i16 - (self.0 >> 4 & 1) as i16
    }

    #[inline(always)]
    pub(super) fn ends_block(self) -> bool {
        self.0 >> 6 & 1 != 0
    }

    #[inline(always)]
    fn consumed(self) -> u32 {
        u32::from(self.0 >> 8)
    }
}

/// A table of symbols and signs for refinement scans.
pub(super) struct RefinementSymbols {
    window: Box<[Refinement; 1 << REFINEMENT_WINDOW]>,
    long: LongCodes,
}

const REFINEMENT_WINDOW: u32 = 10;

impl RefinementSymbols {
    pub(super) fn new(codes: &Codes) -> Self {
        let mut window = Box::new([Refinement::default(); 1 << REFINEMENT_WINDOW]);
        for (code, length, symbol) in codes.list() {
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
            // A code of the window's length misses its sign there.
            long: LongCodes::new(codes, REFINEMENT_WINDOW - 1),
        }
    }

    /// Decodes the next symbol and its sign. Needs 17 bits available.
    #[inline(always)]
    pub(super) fn decode(&self, bits: &mut Bits<'_>) -> Result<Refinement, Refused> {
        let mut symbol = self.window[bits.peek(REFINEMENT_WINDOW)];
        if symbol.consumed() == 0 {
            symbol = self.rare_symbol(symbol, bits.peek(17) as u32)?;
        }
        bits.consume(symbol.consumed());
        Ok(symbol)
    }

    #[cold]
    fn rare_symbol(&self, entry: Refinement, bits: u32) -> Result<Refinement, Refused> {
        let mut symbol = entry;
        if symbol != Refinement::IMPOSSIBLE {
            let (code, length) = self.long.find(bits >> 1)?;
            symbol = match code & 15 {
                0 => Refinement::new(code, false, length),
                _ => Refinement::new(code, bits >> (16 - length) & 1 != 0, length + 1),
            };
        }
        if symbol == Refinement::IMPOSSIBLE {
            return Err(Refused::broken("a refinement of an impossible size"));
        }
        Ok(symbol)
    }
}

/// Bits that index the pair tables, which take 16 KiB each.
const PAIR_WINDOW: u32 = 11;

/// The combined effect of the first one or two AC symbols of a window, packed: bits 0–4 are the bits to consume, 5–11
/// the first symbol's advance, 12–19 the advance of both, 32–47 the first value, 48–63 the second. If only one symbol
/// fits, the second value repeats the first. 0 means that not even one symbol fits with its value.
#[derive(Clone, Copy, Default)]
pub(super) struct Pair(u64);

impl Pair {
    #[inline(always)]
    pub(super) fn consumed(self) -> u32 {
        self.0 as u32 & 31
    }

    #[inline(always)]
    pub(super) fn first_advance(self) -> u32 {
        (self.0 >> 5) as u32 & 127
    }

    #[inline(always)]
    pub(super) fn advance(self) -> u32 {
        (self.0 >> 12) as u32 & 255
    }

    #[inline(always)]
    pub(super) fn first(self) -> i16 {
        (self.0 >> 32) as i16
    }

    #[inline(always)]
    pub(super) fn second(self) -> i16 {
        (self.0 >> 48) as i16
    }

    /// Whether the pair is of no use at zigzag position `k`: no symbol fits, or the block ends between the two.
    #[inline(always)]
    pub(super) fn is_unfit(self, k: u32) -> bool {
        self.0 == 0 || (k + self.first_advance() >= 64 && self.advance() != self.first_advance())
    }
}

/// A table that decodes up to two AC coefficients per look-up.
pub(super) struct PairTable {
    window: Box<[Pair; 1 << PAIR_WINDOW]>,
}

impl PairTable {
    pub(super) fn new(table: &Table) -> Self {
        let mut window = Box::new([Pair::default(); 1 << PAIR_WINDOW]);
        for (bits, pair) in window.iter_mut().enumerate() {
            let whole = |consumed: u32| {
                let shifted = (bits << consumed) & ((1 << PAIR_WINDOW) - 1);
                let entry = table.window[shifted << (WINDOW - PAIR_WINDOW)];
                let fits = entry.0 != 0
                    && entry.pending() == 0
                    && consumed + entry.consumed() <= PAIR_WINDOW;
                fits.then_some(entry)
            };
            let Some(first) = whole(0) else { continue };
            let second = (first.advance() < END_OF_BLOCK)
                .then(|| whole(first.consumed()))
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

    /// Creates a placeholder in which no symbol fits, for scans that do not need the table.
    pub(super) fn unused() -> Self {
        Self {
            window: Box::new([Pair::default(); 1 << PAIR_WINDOW]),
        }
    }

    /// Returns the pair at the reader's position without consuming it.
    #[inline(always)]
    pub(super) fn peek(&self, bits: &Bits<'_>) -> Pair {
        self.window[bits.peek(PAIR_WINDOW)]
    }
}

/// A table for skipping AC coefficients whose values are not needed, several per look-up.
///
/// An entry combines all symbols that fit the window: bits 0–5 are the bits to consume, 6–15 how far the zigzag
/// position `k` advances. An end of block advances by 1 and [`SKIPPED_END`]. [`UNFIT`] means that not even one symbol
/// fits.
pub(super) struct SkipTable {
    window: Box<[u16; 1 << SKIP_WINDOW]>,
}

/// What an end of block adds to the zigzag position `k` when blocks are skipped. It is more than a block and the other
/// symbols of a window together, so that those can be told from the lower bits.
const SKIPPED_END: u32 = 256;

/// An entry for windows in which no symbol fits. Its advance leaves any block.
const UNFIT: u16 = 65 << 6;

/// Whether the symbols that led to this `k` go beyond the block, or include an end of block that belongs to the next
/// one.
#[inline(always)]
fn has_left_block(k: u32) -> bool {
    k % SKIPPED_END > 64
}

impl SkipTable {
    pub(super) fn new(table: &Table) -> Self {
        let mut window = Box::new([0; 1 << SKIP_WINDOW]);
        for (bits, entry) in window.iter_mut().enumerate() {
            *entry = Self::entry(table, bits as u32);
        }
        Self { window }
    }

    /// Creates a placeholder in which no symbol fits, for scans that do not need the table.
    pub(super) fn unused() -> Self {
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
    pub(super) fn skip_block(
        &self,
        table: &Table,
        bits: &mut Bits<'_>,
        mut k: u32,
    ) -> Result<(), Refused> {
        loop {
            bits.refill();
            // 56 bits hold four windows.
            for _ in 0..4 {
                let entry = u32::from(self.window[bits.peek(SKIP_WINDOW)]);
                let after = k + (entry >> 6);
                if has_left_block(after) {
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
                k = after;
                if k >= 64 {
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Huffman code with lengths 2, 3 and 16: end of block and (0, 1) of 2 bits, (15, 0) and (0, 10) of 3, (1, 2) of
    /// 16.
    fn codes() -> Codes {
        let mut counts = [0; 16];
        (counts[1], counts[2], counts[15]) = (2, 2, 1);
        Codes::new(counts, &[0x00, 0x01, 0xf0, 0x0a, 0x12]).expect("a code book")
    }

    /// Decodes the bits in `text`, symbol by symbol, until the block ends.
    fn decode(text: &str) -> Vec<(u32, i32)> {
        let bytes = bytes(text);
        let table = Table::new(&codes(), Meaning::Ac);
        let mut bits = Bits::new(&bytes);
        let mut symbols = Vec::new();
        while symbols
            .last()
            .is_none_or(|&(advance, _)| advance < END_OF_BLOCK)
        {
            bits.refill();
            symbols.push(table.decode(&mut bits).expect("a symbol"));
        }
        symbols
    }

    fn bytes(text: &str) -> Vec<u8> {
        let bits: Vec<u8> = text
            .bytes()
            .filter(|b| *b != b' ')
            .map(|b| b - b'0')
            .collect();
        bits.chunks(8)
            .map(|c| (0..8).fold(0, |byte, i| byte << 1 | c.get(i).unwrap_or(&1)))
            .collect()
    }

    const ONE: &str = "01 1";
    const RUN: &str = "100";
    const TEN: &str = "101 0000000000";
    const LONG: &str = "1100000000000000 10";
    const END: &str = "00";

    #[test]
    fn symbols_and_values_decode_whatever_fits_the_window() {
        let text = [ONE, TEN, RUN, LONG, END].concat();
        let expected = [(1, 1), (1, -1023), (16, 0), (2, 2), (END_OF_BLOCK, 0)];
        assert_eq!(decode(&text), expected);
    }

    #[test]
    fn skipping_a_block_ends_where_decoding_it_ends() {
        let table = Table::new(&codes(), Meaning::Ac);
        let skip = SkipTable::new(&table);
        let full = ONE.repeat(63);
        for block in [
            END.into(),
            [ONE, TEN, END].concat(),
            [RUN, RUN, LONG, ONE, END].concat(),
            full,
        ] {
            // What follows begins like an end of block, which must not be taken for this block's.
            let bytes = bytes(&[&block, END, "10111011101110111"].concat());
            let mut bits = Bits::new(&bytes);
            skip.skip_block(&table, &mut bits, 1)
                .expect("a whole block");
            let length = block.bytes().filter(|b| *b != b' ').count();
            let mut rest = Bits::new(&bytes);
            for _ in 0..length {
                rest.take(1);
            }
            assert_eq!(bits.take(19), rest.take(19), "after {block}");
        }
    }

    #[test]
    fn a_pair_is_two_symbols_or_one_twice() {
        let table = Table::new(&codes(), Meaning::Ac);
        let pairs = PairTable::new(&table);
        let peek = |text: &str| {
            let bytes = bytes(text);
            let mut bits = Bits::new(&bytes);
            bits.refill();
            pairs.peek(&bits)
        };
        let two = peek(&[ONE, ONE, END].concat());
        assert_eq!(
            (two.consumed(), two.advance(), two.first(), two.second()),
            (6, 2, 1, 1)
        );
        let last = peek(END);
        assert!(last.advance() >= END_OF_BLOCK && !last.is_unfit(5));
        assert!(peek(TEN).is_unfit(1), "its value does not fit the window");
        assert!(
            two.is_unfit(63),
            "the second symbol belongs to the next block"
        );
    }

    #[test]
    fn a_code_book_with_too_many_codes_is_refused() {
        let mut counts = [0; 16];
        counts[0] = 3;
        assert!(Codes::new(counts, &[0, 1, 2]).is_err());
    }
}
