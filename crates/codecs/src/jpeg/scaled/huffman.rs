//! Huffman tables made for speed: one look-up gives a whole coefficient, or several at once when their
//! values are not needed.

use super::Refused;
use super::bits::{Bits, extend};

/// Window of the coefficient tables, in bits. 4,096 entries of 4 bytes: luma's and chroma's fit the L1
/// cache together.
const WINDOW: u32 = 12;

/// Window of the skipping tables, in bits.
const SKIP_WINDOW: u32 = 12;

/// `advance` of an end-of-block symbol: lands beyond any block. In a progressive scan the number of bits
/// that tell the run of such blocks is added to it.
pub(super) const END_OF_BLOCK: u32 = 64;

/// A code book as a DHT segment gives it.
#[derive(Clone)]
pub(super) struct Codes {
    /// Codes of each length, 1 to 16 bits.
    counts: [u8; 16],
    /// Their symbols, shortest first.
    symbols: Vec<u8>,
}

impl Codes {
    /// From a DHT segment's 16 counts and its symbols.
    pub(super) fn new(counts: [u8; 16], symbols: &[u8]) -> Result<Self, Refused> {
        let mut code = 0u32;
        for (i, &count) in counts.iter().enumerate() {
            code = (code << 1) + u32::from(count);
            if code > 1 << (i + 1) {
                return Err(Refused::broken("a Huffman table has too many codes"));
            }
        }
        Ok(Self {
            counts,
            symbols: symbols.to_vec(),
        })
    }

    /// Each code: (code, length, symbol), shortest first (T.81, annex C).
    fn list(&self) -> Vec<(u32, u32, u8)> {
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

/// One coefficient or less, packed: bits 0–4 the bits to consume, 5–11 how far `k` advances, 12–15 the
/// size of a magnitude that did not fit the window, 16–31 the value.
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

    /// Zigzag positions passed, the coefficient's own included; 64 or more ends the block.
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

/// How a symbol's two halves are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The symbol is a size; a value follows.
    Dc,
    /// Run and size; size 0 ends the block, but (15,0) is a run of 16.
    Ac,
    /// The same, but (r,0) ends the block and 2^r − 1 and more after it.
    ProgressiveAc,
}

/// A table that decodes one symbol and its value.
pub(super) struct Table {
    window: Box<[Entry; 1 << WINDOW]>,
    /// For codes longer than the window: per length the first code that is too large (left-aligned to
    /// 16 bits), and what to subtract to get a symbol's index.
    too_large: [u32; 17],
    offset: [i32; 17],
    symbols: Vec<u8>,
    meaning: Meaning,
}

impl Table {
    pub(super) fn new(codes: &Codes, meaning: Meaning) -> Self {
        let mut window = Box::new([Entry::default(); 1 << WINDOW]);
        let mut too_large = [0; 17];
        let mut offset = [0; 17];
        for (index, (code, length, symbol)) in codes.list().into_iter().enumerate() {
            too_large[length as usize] = (code + 1) << (16 - length);
            offset[length as usize] = index as i32 - code as i32;
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
            too_large,
            offset,
            symbols: codes.symbols.clone(),
            meaning,
        }
    }

    /// Decodes one symbol and its value: (advance, value). Needs 32 bits available.
    #[inline(always)]
    pub(super) fn decode(&self, bits: &mut Bits<'_>) -> Result<(u32, i32), Refused> {
        let entry = self.window[bits.peek(WINDOW)];
        bits.consume(entry.consumed());
        if entry.pending() == 0 && entry.0 != 0 {
            return Ok((entry.advance(), entry.value()));
        }
        let (after, decoded) = self.decode_long(*bits, entry);
        *bits = after;
        decoded
    }

    #[inline(never)]
    fn decode_long<'a>(
        &self,
        mut bits: Bits<'a>,
        entry: Entry,
    ) -> (Bits<'a>, Result<(u32, i32), Refused>) {
        let (advance, size) = if entry.0 == 0 {
            match self.long_symbol(&mut bits) {
                Ok(symbol) => split(symbol, self.meaning),
                Err(refused) => return (bits, Err(refused)),
            }
        } else {
            (entry.advance(), entry.pending())
        };
        let value = if size == 0 {
            0
        } else {
            extend(bits.peek(size) as u32, size)
        };
        bits.consume(size);
        (bits, Ok((advance, value)))
    }

    /// Decodes a code longer than the window, canonically (T.81, F.2.2.3).
    fn long_symbol(&self, bits: &mut Bits<'_>) -> Result<u8, Refused> {
        let code = bits.peek(16) as u32;
        for length in WINDOW + 1..=16 {
            if code < self.too_large[length as usize] {
                let index = (code >> (16 - length)) as i32 + self.offset[length as usize];
                bits.consume(length);
                return self.symbols.get(index as usize).copied().ok_or(BAD_CODE);
            }
        }
        Err(BAD_CODE)
    }
}

const BAD_CODE: Refused = Refused::Broken("a Huffman code that no table has");

/// A symbol as (advance, size).
fn split(symbol: u8, meaning: Meaning) -> (u32, u32) {
    let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
    match meaning {
        Meaning::Dc => (1, u32::from(symbol & 15)),
        Meaning::Ac if size == 0 && run < 15 => (END_OF_BLOCK, 0),
        Meaning::ProgressiveAc if size == 0 && run < 15 => (END_OF_BLOCK + run, 0),
        Meaning::Ac | Meaning::ProgressiveAc => (run + 1, size),
    }
}

/// Plain symbols, for progressive scans whose symbols have other meanings.
pub(super) struct Symbols {
    /// (symbol, length); length 0: longer than the window, or no code.
    window: Box<[(u8, u8); 1 << SYMBOL_WINDOW]>,
    too_large: [u32; 17],
    offset: [i32; 17],
    symbols: Vec<u8>,
}

const SYMBOL_WINDOW: u32 = 9;

impl Symbols {
    pub(super) fn new(codes: &Codes) -> Self {
        let mut window = Box::new([(0, 0); 1 << SYMBOL_WINDOW]);
        let mut too_large = [0; 17];
        let mut offset = [0; 17];
        for (index, (code, length, symbol)) in codes.list().into_iter().enumerate() {
            too_large[length as usize] = (code + 1) << (16 - length);
            offset[length as usize] = index as i32 - code as i32;
            if length <= SYMBOL_WINDOW {
                let rest = SYMBOL_WINDOW - length;
                let first = (code << rest) as usize;
                window[first..first + (1 << rest)].fill((symbol, length as u8));
            }
        }
        Self {
            window,
            too_large,
            offset,
            symbols: codes.symbols.clone(),
        }
    }

    /// The next symbol. Needs 16 bits available.
    #[inline(always)]
    pub(super) fn decode(&self, bits: &mut Bits<'_>) -> Result<u8, Refused> {
        let (symbol, length) = self.window[bits.peek(SYMBOL_WINDOW)];
        if length != 0 {
            bits.consume(length.into());
            return Ok(symbol);
        }
        let (symbol, length) = self.long(bits.peek(16) as u32)?;
        bits.consume(length);
        Ok(symbol)
    }

    #[cold]
    fn long(&self, code: u32) -> Result<(u8, u32), Refused> {
        for length in SYMBOL_WINDOW + 1..=16 {
            if code < self.too_large[length as usize] {
                let index = (code >> (16 - length)) as i32 + self.offset[length as usize];
                return self
                    .symbols
                    .get(index as usize)
                    .map(|&symbol| (symbol, length))
                    .ok_or(BAD_CODE);
            }
        }
        Err(BAD_CODE)
    }
}

/// Window of the pair tables, in bits: 16 KiB each.
const PAIR_WINDOW: u32 = 11;

/// What a window's first one or two AC symbols amount to, packed: bits 0–4 the bits to consume, 5–11
/// the first symbol's advance, 12–19 both symbols', 32–47 the first value, 48–63 the second. A window
/// with one whole symbol repeats it as its second. 0: not even one symbol fits with its value.
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

    /// Nothing, or a block end between its two symbols?
    #[inline(always)]
    pub(super) fn is_unfit(self, k: u32) -> bool {
        self.0 == 0 || (k + self.first_advance() >= 64 && self.advance() != self.first_advance())
    }
}

/// A table that gives up to two AC coefficients a look-up.
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

    /// The pair at the reader's place; nothing is consumed.
    #[inline(always)]
    pub(super) fn peek(&self, bits: &Bits<'_>) -> Pair {
        self.window[bits.peek(PAIR_WINDOW)]
    }
}

/// A table that passes over AC coefficients whose values nobody needs, several a look-up.
///
/// An entry is what a window's whole symbols amount to: bits 0–3 the bits to consume, 4–14 how far `k`
/// advances (an end of block counts as 1 more), 15 that the last one ends the block. 0: not even one
/// symbol fits.
pub(super) struct SkipTable {
    window: Box<[u16; 1 << SKIP_WINDOW]>,
}

impl SkipTable {
    pub(super) fn new(table: &Table) -> Self {
        let mut window = Box::new([0; 1 << SKIP_WINDOW]);
        for (bits, entry) in window.iter_mut().enumerate() {
            *entry = Self::entry(table, bits as u32);
        }
        Self { window }
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
                return (consumed | advance << 4) as u16;
            }
            consumed += length;
            if symbol.advance() >= END_OF_BLOCK {
                return (consumed | (advance + 1) << 4 | 1 << 15) as u16;
            }
            advance += symbol.advance();
        }
    }

    /// Passes over what is left of a block whose next zigzag position is `k` (1 to 63).
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
                let after = k + (entry >> 4 & 0x7ff);
                if entry == 0 || after > 64 {
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
                bits.consume(entry & 15);
                k = after;
                if entry >> 15 != 0 || k == 64 {
                    return Ok(());
                }
            }
        }
    }
}
