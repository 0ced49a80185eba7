//! AC scans: coefficients of one component, first seen or refined, block by block.

use super::super::Refused;
use super::super::bits::Bits;
use super::super::huffman::{Codes, END_OF_BLOCK, Meaning, Symbols, Table};
use super::super::plane::Kept;
use super::super::scan::Intervals;
use super::super::segments::ScanHeader;
use super::{BlockRow, places};

/// Decodes the blocks of an AC scan.
pub(super) trait Coder {
    /// Decodes one block that has something in this band, or gets corrections. `mask`: its non-zero places,
    /// or a word that nobody reads.
    fn block(
        &mut self,
        bits: &mut Bits<'_>,
        values: &mut [i16],
        mask: &mut u64,
    ) -> Result<(), Refused>;

    /// Ends a run of empty blocks.
    fn restart(&mut self);
}

/// Decodes the first `wide` blocks of a row.
#[inline(always)]
pub(super) fn row<'a>(
    coder: &mut impl Coder,
    kept: &Kept,
    intervals: &mut Intervals<'a>,
    mut bits: Bits<'a>,
    row: &mut BlockRow,
    wide: usize,
) -> Result<Bits<'a>, Refused> {
    let blocks = row.values.chunks_exact_mut(kept.count()).take(wide);
    let mut masks = row.masks.iter_mut();
    for values in blocks {
        if intervals.begin_mcu(&mut bits)? {
            coder.restart();
        }
        coder.block(&mut bits, values, masks.next().unwrap_or(&mut 0))?;
    }
    Ok(bits)
}

/// The first scan of a band (T.81, G.1.2.2).
pub(super) struct First {
    table: Table,
    kept: &'static Kept,
    first: u32,
    last: u32,
    low: u32,
    /// Blocks still to come that have nothing in this band.
    empty_blocks: u32,
}

impl First {
    pub(super) fn new(scan: &ScanHeader, codes: &Codes, kept: &'static Kept) -> Self {
        Self {
            table: Table::new(codes, Meaning::ProgressiveAc),
            kept,
            first: scan.first,
            last: scan.last,
            low: scan.low,
            empty_blocks: 0,
        }
    }
}

impl Coder for First {
    #[inline(always)]
    fn block(
        &mut self,
        bits: &mut Bits<'_>,
        values: &mut [i16],
        mask: &mut u64,
    ) -> Result<(), Refused> {
        if self.empty_blocks > 0 {
            self.empty_blocks -= 1;
            return Ok(());
        }
        let mut k = self.first;
        while k <= self.last {
            if bits.available() < 32 {
                bits.refill();
            }
            let (advance, value) = self.table.decode(bits)?;
            if advance >= END_OF_BLOCK {
                let run = advance - END_OF_BLOCK;
                self.empty_blocks = (1 << run) - 1 + bits.take(run);
                break;
            }
            k += advance;
            // A run of 16 zeros has value 0 and places nothing. A run beyond the band is corrupt.
            if k > self.last + 1 {
                return Err(Refused::broken("a run of coefficients leaves its band"));
            }
            *mask |= u64::from(value != 0) << (k - 1);
            if let Some(slot) = values.get_mut(self.kept.place(k - 1)) {
                *slot = (value << self.low) as i16;
            }
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.empty_blocks = 0;
    }
}

/// A refinement scan of a band (T.81, G.1.2.3).
pub(super) struct Refine {
    symbols: Symbols,
    kept: &'static Kept,
    /// Places of the kept coefficients.
    kept_places: u64,
    first: u32,
    last: u32,
    /// The bit this scan adds.
    bit: i16,
    /// Blocks still to come that get corrections only.
    empty_blocks: u32,
}

impl Refine {
    pub(super) fn new(scan: &ScanHeader, codes: &Codes, kept: &'static Kept) -> Self {
        let kept_places = (0..64)
            .filter(|&k| kept.keeps(k))
            .fold(0, |places, k| places | 1u64 << k);
        Self {
            symbols: Symbols::new(codes),
            kept,
            kept_places,
            first: scan.first,
            last: scan.last,
            bit: 1 << scan.low,
            empty_blocks: 0,
        }
    }

    /// Applies the corrections of kept coefficients: one bit for each of `old`, the last one lowest.
    #[inline(always)]
    fn apply(&self, values: &mut [i16], old: u64, corrections: u64) {
        let mut kept = old & self.kept_places;
        if corrections == 0 {
            return;
        }
        while kept != 0 {
            let k = kept.trailing_zeros();
            let after = (old >> k).count_ones() - 1;
            let correction = self.bit * (corrections >> after & 1) as i16;
            if let Some(slot) = values.get_mut(self.kept.place(k))
                && *slot & self.bit == 0
            {
                *slot = slot.wrapping_add(if *slot >= 0 { correction } else { -correction });
            }
            kept &= kept - 1;
        }
    }
}

impl Coder for Refine {
    #[inline(always)]
    fn block(
        &mut self,
        bits: &mut Bits<'_>,
        values: &mut [i16],
        mask: &mut u64,
    ) -> Result<(), Refused> {
        let old = *mask & places(self.first, self.last);
        // Correction bits come in the order of the old places: gathered here, applied at the end.
        let mut corrections = 0u64;
        let mut k = self.first;
        while self.empty_blocks == 0 && k <= self.last {
            bits.refill();
            let symbol = self.symbols.decode(bits)?;
            let (run, size) = (u32::from(symbol >> 4), symbol & 15);
            if size == 0 && run < 15 {
                self.empty_blocks = (1 << run) + bits.take(run);
                break;
            }
            // The place after `run` zeros: where a new coefficient goes, or the last of 16 zeros.
            let mut zeros = !old & places(k, self.last);
            for _ in 0..run {
                zeros &= zeros.wrapping_sub(1);
            }
            let place = if zeros == 0 {
                self.last + 1
            } else {
                zeros.trailing_zeros()
            };
            if size != 0 {
                if place > self.last {
                    return Err(Refused::broken("a run of coefficients leaves its band"));
                }
                *mask |= 1 << place;
                let value = if bits.take(1) == 1 {
                    self.bit
                } else {
                    -self.bit
                };
                if let Some(slot) = values.get_mut(self.kept.place(place)) {
                    *slot = value;
                }
            }
            corrections = take_corrections(bits, corrections, old & places(k, place - 1));
            k = place + 1;
        }
        if self.empty_blocks > 0 {
            corrections = take_corrections(bits, corrections, old & places(k, self.last));
            self.empty_blocks -= 1;
        }
        self.apply(values, old, corrections);
        Ok(())
    }

    fn restart(&mut self) {
        self.empty_blocks = 0;
    }
}

/// Appends a bit for each of `places` to `corrections`.
#[inline(always)]
fn take_corrections(bits: &mut Bits<'_>, corrections: u64, places: u64) -> u64 {
    let count = places.count_ones();
    if count > 32 {
        let upper = corrections << 32 | u64::from(bits.take(32));
        return upper << (count - 32) | u64::from(bits.take(count - 32));
    }
    corrections << count | u64::from(bits.take(count))
}
