//! Two restart intervals of a scan at once, in one thread.
//!
//! Passing over a block is a chain: where the next symbols begin is known when the last ones were looked up,
//! and the processor waits for the cache most of the time. The data of two restart intervals are two chains
//! that know nothing of each other. So a block of the one and a block of the other are passed over together
//! ([`super::huffman::SkipTable::skip_blocks`]), and besides, there is one end to mispredict instead of two.
//!
//! It is for images at 1/8, where nothing but the DC coefficient of a block is kept. What comes out is what
//! one interval after the other gives, errors included: if anything is wrong, both are decoded again one after
//! the other, and the first error is the one that counts.

use andon_kernels::cpu::with_modern_instructions;

use super::Refused;
use super::bits::Bits;
use super::entropy::Unstuffed;
use super::scan::{ENDS_EARLY, check};
use super::sequential::Coder;

/// The longest intervals this is for, in rows of MCUs: nobody asks for an interrupt within two of them.
const LONGEST: usize = 4;

/// A scan whose restart intervals are decoded in pairs.
pub(super) struct Abreast<'a> {
    data: &'a Unstuffed,
    /// MCUs per restart interval.
    length: usize,
    /// MCUs across, and in all.
    across: usize,
    total: usize,
    /// How many MCUs were decoded; the end of a pair.
    decoded: usize,
    /// How many rows of MCUs there is room for: a pair, and what comes before it in its first row.
    rows: usize,
    /// Each coder's coefficients, one a block: row of MCUs `n` at `n % rows`.
    rings: Vec<Vec<i16>>,
}

impl<'a> Abreast<'a> {
    /// For a scan of `across` × `down` MCUs with `restart` of them in an interval (0: without restart
    /// markers), if it gains from this.
    pub(super) fn new(
        data: &'a Unstuffed,
        coders: &[Coder],
        (across, down): (u32, u32),
        restart: u32,
    ) -> Option<Self> {
        let (across, down, length) = (across as usize, down as usize, restart as usize);
        let total = across * down;
        let worth_it = (1..total).contains(&length)
            && length <= LONGEST * across
            && coders.len() <= 4
            && coders.iter().all(|coder| coder.side == 1);
        let rows = ((2 * length).div_ceil(across) + 1).min(down);
        let ring = |coder: &Coder| vec![0; rows * coder.v * coder.stride];
        worth_it.then(|| Self {
            data,
            length,
            across,
            total,
            decoded: 0,
            rows,
            rings: coders.iter().map(ring).collect(),
        })
    }

    /// Decodes a row of MCUs into the coders' rows; they are asked for in order.
    pub(super) fn decode_row(
        &mut self,
        coders: &mut [Coder],
        mcu_row: usize,
    ) -> Result<(), Refused> {
        while self.decoded < (mcu_row + 1) * self.across {
            self.decode_pair(coders)?;
        }
        for (coder, ring) in coders.iter_mut().zip(&mut self.rings) {
            let length = coder.v * coder.stride;
            let row = &ring[mcu_row % self.rows * length..][..length];
            coder.row[..length].copy_from_slice(row);
        }
        Ok(())
    }

    /// Decodes two intervals, or what there is of them at the end of the scan.
    fn decode_pair(&mut self, coders: &[Coder]) -> Result<(), Refused> {
        let (first, second) = (self.decoded, self.decoded + self.length);
        let end = (second + self.length).min(self.total);
        let whole = end == second + self.length;
        if !whole || self.decode([first, second], coders, self.length).is_err() {
            self.decode([first], coders, second.min(end) - first)?;
            if second < end {
                self.decode([second], coders, end - second)?;
            }
        }
        self.decoded = end;
        Ok(())
    }

    /// Decodes so many MCUs of each of the intervals that begin with these.
    fn decode<const N: usize>(
        &mut self,
        firsts: [usize; N],
        coders: &[Coder],
        mcus: usize,
    ) -> Result<(), Refused> {
        let mut bits = [Bits::new(&[]); N];
        for (bits, first) in bits.iter_mut().zip(firsts) {
            *bits = self.data.reader(first / self.length).ok_or(ENDS_EARLY)?;
        }
        let bits = with_modern_instructions(
            #[inline(always)]
            || {
                // Copied, so that they can live in registers.
                let mut bits = bits;
                let mut rows = firsts.map(|first| first / self.across % self.rows);
                let mut columns = firsts.map(|first| first % self.across);
                // Of each coder.
                let mut predictions = [[0; N]; 4];
                for _ in 0..mcus {
                    let lanes = coders.iter().zip(&mut self.rings).zip(&mut predictions);
                    for ((coder, ring), predictions) in lanes {
                        let corners: [usize; N] = std::array::from_fn(|i| {
                            rows[i] * coder.v * coder.stride + columns[i] * coder.h
                        });
                        for v in 0..coder.v {
                            for h in 0..coder.h {
                                let places = corners.map(|corner| corner + v * coder.stride + h);
                                decode_blocks(coder, ring, places, predictions, &mut bits)?;
                            }
                        }
                    }
                    for i in 0..N {
                        columns[i] += 1;
                        if columns[i] == self.across {
                            check(&bits[i])?;
                            columns[i] = 0;
                            rows[i] = (rows[i] + 1) % self.rows;
                        }
                    }
                }
                Ok(bits)
            },
        )?;
        bits.iter().try_for_each(check)
    }
}

/// Decodes a block of each interval: its DC coefficient, that is.
#[inline(always)]
fn decode_blocks<const N: usize>(
    coder: &Coder,
    ring: &mut [i16],
    places: [usize; N],
    predictions: &mut [i32; N],
    bits: &mut [Bits<'_>; N],
) -> Result<(), Refused> {
    let tables = &*coder.tables;
    for i in 0..N {
        bits[i].refill();
        predictions[i] = predictions[i].wrapping_add(tables.dc.decode(&mut bits[i])?.1);
        ring[places[i]] = predictions[i] as i16;
    }
    tables.skip.skip_blocks(&tables.ac, bits)
}
