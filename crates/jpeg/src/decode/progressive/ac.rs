//! Decodes AC scans: the coefficients of one component, first passes or refinements, block by block.

use andon_kernels::cpu::BitFinder;

use crate::decode::bits::Bits;
use crate::decode::huffman::{Codes, END_OF_BLOCK, Meaning, RefinementSymbols, Table};
use crate::decode::progressive::rows::BlockRow;
use crate::decode::scan::Intervals;
use crate::decode::segments::{ScanHeader, places};
use crate::decode::selection::Selection;
use crate::error::{Error, Result};

/// Decodes the blocks of an AC scan.
pub(super) trait Coder {
    /// Decodes one block. `mask` holds the places of the block's non-zero coefficients, or is a dummy if they are not
    /// needed.
    fn block(&mut self, bits: &mut Bits<'_>, values: &mut [i16], mask: &mut u64) -> Result<()>;

    /// Discards what is left of a run of blocks without coded coefficients. Called at each restart marker.
    fn restart(&mut self);
}

/// Decodes the first `wide` blocks of a row.
#[inline(always)]
pub(super) fn row<'a>(
    coder: &mut impl Coder,
    selection: &Selection,
    intervals: &mut Intervals<'a>,
    mut bits: Bits<'a>,
    row: &mut BlockRow,
    wide: usize,
) -> Result<Bits<'a>> {
    let blocks = row.values.chunks_exact_mut(selection.count()).take(wide);
    let mut masks = row.masks.iter_mut();
    for values in blocks {
        if intervals.begin_mcu(&mut bits)? {
            coder.restart();
        }
        coder.block(&mut bits, values, masks.next().unwrap_or(&mut 0))?;
    }
    Ok(bits)
}

/// Decoder of the first scan of a band of AC coefficients (T.81, G.1.2.2).
pub(super) struct First {
    table: Table,
    selection: &'static Selection,
    first: u32,
    last: u32,
    low: u32,
    /// Number of the following blocks that have no coefficients in this band.
    empty_blocks: u32,
}

impl First {
    /// Creates the decoder of a scan, which stores only those coefficients that `selection` contains.
    pub(super) fn new(scan: &ScanHeader, codes: &Codes, selection: &'static Selection) -> Self {
        Self {
            table: Table::new(codes, Meaning::ProgressiveAc),
            selection,
            first: scan.first,
            last: scan.last,
            low: scan.low,
            empty_blocks: 0,
        }
    }
}

impl Coder for First {
    #[inline(always)]
    fn block(&mut self, bits: &mut Bits<'_>, values: &mut [i16], mask: &mut u64) -> Result<()> {
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
                return Err(Error::Broken("a run of coefficients leaves its band"));
            }
            // In corrupt files the shift may leave 0.
            let value = (value << self.low) as i16;
            *mask |= u64::from(value != 0) << (k - 1);
            if let Some(slot) = values.get_mut(self.selection.place(k - 1)) {
                *slot = value;
            }
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.empty_blocks = 0;
    }
}

/// Decoder of a refinement scan of a band of AC coefficients (T.81, G.1.2.3).
pub(super) struct Refine {
    symbols: RefinementSymbols,
    finder: BitFinder,
    selection: &'static Selection,
    /// Mask of the zigzag positions of the scan's band of coefficients.
    band: u64,
    /// Mask of the zigzag positions of those coefficients in the band that are stored.
    selected_places: u64,
    /// Position of the bit that this scan adds to each coefficient.
    low: u32,
    /// Number of the following blocks that have only corrections.
    empty_blocks: u32,
}

impl Refine {
    /// Creates the decoder of a scan, which stores only those coefficients that `selection` contains.
    pub(super) fn new(scan: &ScanHeader, codes: &Codes, selection: &'static Selection) -> Self {
        let band = places(scan.first, scan.last);
        let selected_places = (0..64)
            .filter(|&k| selection.keeps(k))
            .fold(0, |places, k| places | 1u64 << k);
        Self {
            symbols: RefinementSymbols::new(codes),
            finder: BitFinder::best(),
            selection,
            band,
            selected_places: selected_places & band,
            low: scan.low,
            empty_blocks: 0,
        }
    }

    /// Applies the correction bits to those coefficients that are stored. `old` is the mask of the zigzag positions of
    /// all coefficients that have a correction bit. `corrections` has these bits, with that of the last position
    /// lowest.
    #[inline(always)]
    fn apply(&self, values: &mut [i16], old: u64, corrections: u64) {
        if corrections == 0 {
            return;
        }
        let correct = |value: &mut i16, correction: i16| {
            // A bit that is already set does not change.
            let correction = correction & !(*value >> self.low) & 1;
            let sign = *value >> 15;
            *value = value.wrapping_add(((correction << self.low) ^ sign) - sign);
        };
        let correction = |k: u32| {
            let later_count = (old >> k).count_ones().wrapping_sub(1);
            (corrections >> (later_count & 63)) as i16 & 1
        };
        if let Ok([_, values @ ..]) = <&mut [i16; 4]>::try_from(&mut *values) {
            // There are so few that correcting all of them takes less time than checking which ones exist.
            for (value, k) in values.iter_mut().zip(PLACES_OF_2X2) {
                let is_old = (old >> k & 1) as i16;
                correct(value, correction(k) & is_old);
            }
            return;
        }
        let mut places = old & self.selected_places;
        while places != 0 {
            let k = places.trailing_zeros();
            if let Some(value) = values.get_mut(self.selection.place(k)) {
                correct(value, correction(k));
            }
            places &= places - 1;
        }
    }
}

/// Zigzag positions of the AC coefficients needed for 2×2 samples.
const PLACES_OF_2X2: [u32; 3] = [1, 2, 4];

impl Coder for Refine {
    #[inline(always)]
    fn block(&mut self, bits: &mut Bits<'_>, values: &mut [i16], mask: &mut u64) -> Result<()> {
        let old = *mask & self.band;
        if self.empty_blocks > 0 {
            self.empty_blocks -= 1;
            let corrections = take_corrections(bits, 0, old);
            self.apply(values, old, corrections);
            return Ok(());
        }
        // Correction bits come in the order of the old coefficients. They are collected here and applied at the end.
        let mut corrections = 0u64;
        let zeros = !old & self.band;
        // Places that have not been read yet.
        let mut rest = self.band;
        while rest != 0 {
            bits.refill();
            let symbol = self.symbols.decode(bits)?;
            if symbol.ends_block() {
                let run = symbol.run();
                self.empty_blocks = (1 << run) - 1 + bits.take(run);
                corrections = take_corrections(bits, corrections, old & rest);
                break;
            }
            // The place after `run` zeros: where a new coefficient goes, or the last of 16 zeros.
            let place = self.finder.find(zeros & rest, symbol.run());
            if place > 63 {
                if symbol.is_new() {
                    return Err(Error::Broken("a run of coefficients leaves its band"));
                }
                corrections = take_corrections(bits, corrections, old & rest);
                break;
            }
            *mask |= u64::from(symbol.is_new()) << place;
            if place <= self.selection.last
                && let Some(slot) = values.get_mut(self.selection.place(place))
            {
                // After 16 zeros the value is 0, which this coefficient already has.
                *slot = symbol.value() << self.low;
            }
            let later_places = u64::MAX << place << 1;
            corrections = take_corrections(bits, corrections, old & rest & !later_places);
            rest &= later_places;
        }
        self.apply(values, old, corrections);
        Ok(())
    }

    fn restart(&mut self) {
        self.empty_blocks = 0;
    }
}

/// Reads a correction bit for each zigzag position in the mask `places`, and returns `corrections` with these bits
/// appended.
#[inline(always)]
fn take_corrections(bits: &mut Bits<'_>, corrections: u64, places: u64) -> u64 {
    let count = places.count_ones();
    if count > 32 {
        let upper = corrections << 32 | u64::from(bits.take(32));
        return upper << (count - 32) | u64::from(bits.take(count - 32));
    }
    corrections << count | u64::from(bits.take(count))
}
