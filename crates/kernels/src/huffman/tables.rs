//! Decoding tables, indexed by the next bits of a stream. If the values of symbols are not needed, an entry combines
//! several symbols.

/// Number of bits of the window: the next bits of a stream, which select an entry of a table.
pub(super) const WINDOW: u32 = 11;

/// Number of table entries for the DC differences of a kind of block, which come directly before those for its AC
/// coefficients.
pub(super) const DC_BEFORE: u32 = 1 << WINDOW;

/// Maximum number of table entries for codes that are longer than [`WINDOW`] bits. Code books that need more are
/// rejected.
const MOST_LONG: u32 = 4096;

/// A code of a Huffman table.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// The code, right-aligned.
    pub code: u32,
    /// Length of the code in bits, 1 to 16.
    pub length: u32,
    /// The symbol that the code stands for.
    pub symbol: u8,
}

/// The Huffman codes of a kind of block, and which of its coefficients are written to the output.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    /// Codes of DC differences. Their symbol is a size of up to 15 bits.
    pub dc: &'a [Code],
    /// Codes of AC coefficients. Their symbol is a run and a size.
    pub ac: &'a [Code],
    /// The place of each of the first 32 coefficients, in zigzag order, among the values of its block, or [`NOT_KEPT`].
    /// The first one, the DC difference, always goes to place 0.
    pub places: [u8; 32],
    /// Number of values that a block has in the output, at most 32.
    pub count: u8,
}

/// Value in [`Kind::places`] for a coefficient that is decoded, but not written to the output.
pub const NOT_KEPT: u8 = u8::MAX;

/// Maximum number of kinds of blocks: a 32-bit word holds the places of one coefficient for all kinds, a byte each.
const MOST_KINDS: usize = 4;

/// A symbol, or several combined, with which the next [`WINDOW`] bits of a stream begin: one half of an [`Entry`].
/// Bits 0–4: number of bits to consume. Bits 5–9: how far the coefficient index `k` advances, where an end of block
/// counts as 1. Bit 10: the block ends. Bit 11: the bits are no code of the table. Bits 12–15: size of the value in
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half(u32);

pub(super) const ENDS: u32 = 1 << 10;
pub(super) const BAD: u32 = 1 << 11;

impl Half {
    /// The empty sequence of symbols.
    const NONE: Self = Self(0);

    /// The meaning of bits that are no code of the table: consumes one bit and ends the block.
    const BAD: Self = Self(1 | 1 << 5 | ENDS | BAD);

    fn new(consumed: u32, advance: u32, size: u32) -> Self {
        Self(consumed | advance << 5 | size << 12)
    }

    fn end(consumed: u32) -> Self {
        Self(consumed | 1 << 5 | ENDS)
    }

    pub(super) fn consumed(self) -> u32 {
        self.0 & 31
    }

    pub(super) fn advance(self) -> u32 {
        self.0 >> 5 & 31
    }

    pub(super) fn size(self) -> u32 {
        self.0 >> 12 & 15
    }

    pub(super) fn ends(self) -> bool {
        self.0 & ENDS != 0
    }

    pub(super) fn is_bad(self) -> bool {
        self.0 & BAD != 0
    }

    /// Returns whether this is an end of block without a symbol before it.
    fn is_end_alone(self) -> bool {
        self.ends() && self.advance() == 1
    }

    /// Combines these symbols with `next`, those that follow. Returns `None` if `next` is invalid or the sums do not
    /// fit their bit fields.
    fn then(self, next: Self) -> Option<Self> {
        if next == Self::NONE {
            return Some(self);
        }
        let consumed = self.consumed() + next.consumed();
        let advance = self.advance() + next.advance();
        let both = Self(consumed | advance << 5 | next.0 & ENDS);
        (consumed < 32 && advance < 32 && !next.is_bad()).then_some(both)
    }
}

/// An entry of a table, for one value of the next [`WINDOW`] bits of a stream. The lower half combines all symbols that
/// lie completely within these bits, the upper half has only the first of them.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Entry(u32);

impl Entry {
    fn new(all: Half, first: Half) -> Self {
        Self(all.0 | first.0 << 16)
    }

    pub(super) fn halves(self) -> (Half, Half) {
        (Half(self.0 & 0xffff), Half(self.0 >> 16))
    }
}

/// Maximum number of blocks of an MCU.
pub(super) const MOST_BLOCKS: usize = 16;

/// The fields of [`Blocks`] that are the same for all blocks of a kind.
#[derive(Clone, Copy)]
struct Fields {
    ac: u32,
    long_from: u32,
    long: u32,
    kept: u32,
    last: u32,
    count: u32,
}

/// The tables and settings of each block of an MCU, as a structure of arrays for vector code.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// Index of the block's first entry for AC coefficients, which is the entry for [`WINDOW`] bits that are all 0.
    pub(super) ac: [u32; MOST_BLOCKS],
    /// The lowest 32-bit word that begins with a code of more than [`WINDOW`] bits.
    pub(super) long_from: [u32; MOST_BLOCKS],
    /// Number that, added to the upper 16 bits of a word from `long_from` on, gives the index of the word's entry.
    pub(super) long: [u32; MOST_BLOCKS],
    /// Bit mask of the coefficients that are written to the output, in zigzag order.
    pub(super) kept: [u32; MOST_BLOCKS],
    /// Index in zigzag order of the last coefficient that is written to the output.
    pub(super) last: [u32; MOST_BLOCKS],
    /// Number of values that the block has in the output.
    pub(super) count: [u32; MOST_BLOCKS],
    /// Number of bits by which the words of `Tables::places` are shifted to get the places of the block's kind.
    pub(super) shift: [u32; MOST_BLOCKS],
    /// Index of the next block of the MCU, or 0 if the next MCU follows.
    pub(super) next: [u32; MOST_BLOCKS],
}

/// The decoding tables of a scan.
#[derive(Clone, Debug)]
pub struct Tables {
    pub(super) entries: Vec<Entry>,
    pub(super) blocks: Blocks,
    /// For each of the first 32 coefficients, in zigzag order, its place among the values of a block in the output:
    /// one byte for each kind of block.
    pub(super) places: [u32; 32],
}

impl Tables {
    /// Creates the tables for MCUs of these `blocks`, each of which is an index into `kinds`.
    ///
    /// Returns `None` for input that the tables cannot represent: an MCU without blocks, more than 16 blocks or more
    /// than four kinds of them, places beyond a block's values, too many codes of more than 11 bits, codes of DC
    /// differences that have more than 11 bits, or more than 25 with their value, and codes that are not built as T.81
    /// prescribes.
    #[must_use]
    pub fn new(kinds: &[Kind<'_>], blocks: &[usize]) -> Option<Self> {
        if !(1..=MOST_BLOCKS).contains(&blocks.len()) || kinds.len() > MOST_KINDS {
            return None;
        }
        // Few codes are longer than the window.
        let mut entries = Vec::with_capacity(kinds.len() * (3 << WINDOW));
        let fields_of_kinds: Vec<_> = (kinds.iter())
            .map(|kind| add(kind, &mut entries))
            .collect::<Option<_>>()?;
        let mut places = [0; 32];
        for (shift, kind) in (0..).step_by(8).zip(kinds) {
            for (places, &place) in places.iter_mut().zip(&kind.places) {
                *places |= u32::from(place) << shift;
            }
        }
        let mut fields = Blocks::default();
        // All elements are filled in, because a stream that was used with other tables may be at any block.
        for (number, &kind) in (0..MOST_BLOCKS).zip(blocks.iter().cycle()) {
            let kind_fields = fields_of_kinds.get(kind)?;
            fields.ac[number] = kind_fields.ac;
            fields.long_from[number] = kind_fields.long_from;
            fields.long[number] = kind_fields.long;
            fields.kept[number] = kind_fields.kept;
            fields.last[number] = kind_fields.last;
            fields.count[number] = kind_fields.count;
            fields.shift[number] = 8 * kind as u32;
            fields.next[number] = ((number + 1) % blocks.len()) as u32;
        }
        Some(Self {
            entries,
            blocks: fields,
            places,
        })
    }
}

/// Adds the entries of one kind of block to `entries`. Returns `None` if the tables cannot represent them.
fn add(kind: &Kind<'_>, entries: &mut Vec<Entry>) -> Option<Fields> {
    let is_unfit = |code: &Code| {
        let size = u32::from(code.symbol);
        size > 15 || code.length > WINDOW || code.length + size > super::KNOWN_BITS
    };
    if kind.dc.iter().any(is_unfit) {
        return None;
    }
    let kept = (0..).zip(&kind.places).skip(1);
    let kept = kept.filter(|&(_, &place)| place != NOT_KEPT);
    if !(1..=32).contains(&kind.count) || kept.clone().any(|(_, &place)| place >= kind.count) {
        return None;
    }
    let kept = kept.fold(1_u32, |bits, (k, _)| bits | 1 << k);
    let last = 31 - kept.leading_zeros();
    let (dc, ac) = (
        first_symbols(kind.dc, dc_symbol)?,
        first_symbols(kind.ac, ac_symbol)?,
    );
    let runs = runs(kind.ac)?;
    entries.extend((0..).zip(&dc).map(|(window, &first)| {
        let next = runs.following(window, first);
        // If coefficients after the DC difference are kept, they are looked up one by one.
        let follows = last == 0 || next.is_end_alone();
        let sequence = if follows { first.then(next) } else { None };
        Entry::new(sequence.unwrap_or(first), first)
    }));
    let first_ac = entries.len() as u32;
    let sequences = runs.of(WINDOW);
    entries.extend(ac.iter().zip(sequences).map(|(&first, &sequence)| {
        // The bits are no code of the table, or begin a longer code.
        let sequence = if first.is_bad() { first } else { sequence };
        Entry::new(sequence, first)
    }));
    // Longer codes are larger numbers than shorter ones (T.81, annex C), and 16 ones are no code. So longer codes are
    // at the end of the range of windows.
    let long = kind.ac.iter().filter(|code| code.length > WINDOW);
    let places = |code: &Code| {
        let rest = 16_u32.checked_sub(code.length)?;
        Some(code.code << rest..(code.code + 1) << rest)
    };
    let from = long.clone().filter_map(places).map(|places| places.start);
    let from = from.min().unwrap_or(0xffff).min(0xffff);
    if 0x10000 - from > MOST_LONG {
        return None;
    }
    let first_long = entries.len();
    let bad = Entry::new(Half::BAD, Half::BAD);
    entries.resize(first_long + (0x10000 - from) as usize, bad);
    for code in long {
        let half = ac_symbol(code.symbol, code.length);
        let places = places(code)?;
        let places = (places.start - from) as usize..(places.end - from) as usize;
        let entries = entries[first_long..].get_mut(places)?;
        entries.fill(Entry::new(half, half));
    }
    Some(Fields {
        ac: first_ac,
        long_from: from << 16,
        long: (first_long as u32).wrapping_sub(from),
        kept,
        last,
        count: kind.count.into(),
    })
}

/// Returns the meaning of a DC difference's symbol whose code has `length` bits.
fn dc_symbol(symbol: u8, length: u32) -> Half {
    Half::new(length + u32::from(symbol), 1, symbol.into())
}

/// Returns the meaning of an AC coefficient's symbol whose code has `length` bits.
fn ac_symbol(symbol: u8, length: u32) -> Half {
    match (u32::from(symbol >> 4), u32::from(symbol & 15)) {
        (0..15, 0) => Half::end(length),
        (run, size) => Half::new(length + size, run + 1, size),
    }
}

/// Returns, for each value of the next [`WINDOW`] bits, the first symbol in them, or `Half::BAD` if its code is longer
/// than these bits or there is no such code. Returns `None` if a code in `codes` does not fit its length.
fn first_symbols(codes: &[Code], meaning: impl Fn(u8, u32) -> Half) -> Option<Vec<Half>> {
    let mut windows = vec![Half::BAD; 1 << WINDOW];
    for code in codes.iter().filter(|code| code.length <= WINDOW) {
        let rest = WINDOW - code.length;
        let places = (code.code << rest) as usize..((code.code + 1) << rest) as usize;
        let half = meaning(code.symbol, code.length);
        windows.get_mut(places)?.fill(half);
    }
    Some(windows)
}

/// The sequences of AC symbols whose codes lie completely within a given number of bits. There is one table for each
/// number of bits, from 0 to [`WINDOW`].
///
/// The sequence after a symbol is found in the table for the remaining bits, so each table is built from shorter ones.
/// If a whole sequence would advance too far, its last symbols are left out. (Searching symbol by symbol in each window
/// took 18 microseconds instead of 2.)
struct Runs(Vec<Half>);

/// Builds the tables of AC symbol sequences. Returns `None` if a code does not fit its length.
fn runs(codes: &[Code]) -> Option<Runs> {
    // The table for `bits` bits begins at index 1 << bits.
    let mut tables = vec![Half::NONE; 2 << WINDOW];
    for bits in 1..=WINDOW {
        let (shorter, current) = tables.split_at_mut(1 << bits);
        for code in codes.iter().filter(|code| code.length <= bits) {
            let rest = bits - code.length;
            let places = (code.code << rest) as usize..((code.code + 1) << rest) as usize;
            let windows = current[..1 << bits].get_mut(places)?;
            let half = ac_symbol(code.symbol, code.length);
            match bits.checked_sub(half.consumed()) {
                Some(bits_left) if bits_left > 0 && !half.ends() => {
                    let next = &shorter[1 << bits_left..2 << bits_left];
                    let (first, copies) = windows.split_at_mut(next.len());
                    for (window, &next) in first.iter_mut().zip(next) {
                        *window = half.then(next).unwrap_or(half);
                    }
                    // The value's bits can have any value.
                    for windows in copies.chunks_exact_mut(next.len()) {
                        windows.copy_from_slice(first);
                    }
                }
                _ => windows.fill(half),
            }
        }
    }
    Some(Runs(tables))
}

impl Runs {
    /// Returns the table for `bits` bits: for each value of these bits, the sequence of AC symbols whose codes lie
    /// completely within them.
    fn of(&self, bits: u32) -> &[Half] {
        &self.0[1 << bits..2 << bits]
    }

    /// Returns the AC symbols whose codes follow that of the symbol `first` within `window`, the next [`WINDOW`] bits
    /// of a stream.
    fn following(&self, window: u32, first: Half) -> Half {
        match WINDOW.checked_sub(first.consumed()) {
            Some(bits) if !first.is_bad() => self.of(bits)[(window & ((1 << bits) - 1)) as usize],
            _ => Half::NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::book;
    use super::*;

    /// Returns the first symbol in `window` (the next [`WINDOW`] bits of a stream), then its combination with the AC
    /// symbol after it, and so on, while the next code lies within these bits and `may` accepts that symbol.
    fn symbols(window: u32, first: Half, ac: &[Half], may: impl Fn(Half) -> bool) -> Vec<Half> {
        let (mut all, mut symbols) = (first, vec![first]);
        while !all.ends() && all.consumed() < WINDOW {
            let shifted = (window << all.consumed()) & ((1 << WINDOW) - 1);
            let next = ac[shifted as usize];
            let code_ends = all.consumed() + next.consumed() - next.size();
            let Some(both) = all.then(next).filter(|_| code_ends <= WINDOW && may(next)) else {
                break;
            };
            all = both;
            symbols.push(all);
        }
        symbols
    }

    #[test]
    fn tables_hold_what_is_found_symbol_by_symbol() {
        // Sizes that are common in photos, with long runs among the short codes and without.
        let usual = |at: usize| [1, 2, 0, 0x11, 3, 4, 0x21, 0xf0, 0x12, 5, 0x31, 0x41, 6][at % 13];
        let runs_first = |at: usize| [0xf0, 0xe1, 0, 0xd2][at % 4];
        let counts = [0, 2, 1, 3, 2, 4, 3, 5, 4, 3, 2, 4, 0, 0, 1, 9];
        let dc = book(
            &[0, 1, 5, 1, 1, 1, 1, 1, 1],
            &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        );
        for (symbol, kept) in [
            (&usual as &dyn Fn(usize) -> u8, 1),
            (&usual, 4),
            (&runs_first, 1),
            (&runs_first, 16),
        ] {
            let meanings: Vec<_> = (0..counts.iter().sum()).map(symbol).collect();
            let ac = book(&counts, &meanings);
            let mut places = [NOT_KEPT; 32];
            for (place, number) in places.iter_mut().zip(0..kept) {
                *place = number;
            }
            let kind = Kind {
                dc: &dc,
                ac: &ac,
                places,
                count: kept,
            };
            let tables = Tables::new(&[kind], &[0]).expect("tables");
            let first_ac = first_symbols(&ac, ac_symbol).unwrap();
            let first_dc = first_symbols(&dc, dc_symbol).unwrap();
            let follows_dc = |half: Half| kept == 1 || half.ends();
            let windows = 1 << WINDOW;
            for (entries, firsts, may) in [
                (
                    &tables.entries[..windows],
                    &first_dc,
                    &follows_dc as &dyn Fn(Half) -> bool,
                ),
                (&tables.entries[windows..2 * windows], &first_ac, &|_| true),
            ] {
                for (window, (entry, &first)) in (0..).zip(entries.iter().zip(firsts)) {
                    let symbols = symbols(window, first, &first_ac, may);
                    let (found, found_first) = entry.halves();
                    assert_eq!(found_first, first, "{window:011b}");
                    // A table leaves out symbols that would advance too far together with others that it combines.
                    let least = match symbols.iter().all(|half| half.advance() < 16) {
                        true => symbols.len() - 1,
                        false => 0,
                    };
                    let is_told = symbols[least..].contains(&found);
                    assert!(is_told, "{window:011b}: {found:?}, {symbols:?}");
                }
            }
        }
    }
}
