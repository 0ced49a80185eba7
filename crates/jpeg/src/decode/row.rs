//! Decodes the MCUs of a row of a sequential scan.

use std::ops::Range;

use andon_kernels::cpu::with_modern_instructions;

use crate::decode::bits::Bits;
use crate::decode::coder::Coder;
use crate::decode::scan::Intervals;
use crate::decode::selection::Selection;
use crate::error::Result;

/// Decodes the given MCUs of a row into the buffer [`Coder::row`] of each component. Returns the reader at the end of
/// the last MCU.
pub(super) fn decode_mcus<'a>(
    coders: &mut [Coder],
    mcus: Range<usize>,
    intervals: &mut Intervals<'a>,
    bits: Bits<'a>,
) -> Result<Bits<'a>> {
    with_modern_instructions(
        #[inline(always)]
        || {
            decode_row(
                coders,
                mcus,
                intervals,
                bits,
                #[inline(always)]
                |_, _, _| false,
            )
        },
    )
}

/// Decodes the given MCUs of a row into the buffer [`Coder::row`] of each component, until `stop` returns `true`.
/// `stop` is called before each MCU, with its index, the bit at which it begins, and the coders.
#[inline(always)]
pub(super) fn decode_row<'a>(
    coders: &mut [Coder],
    mcus: Range<usize>,
    intervals: &mut Intervals<'a>,
    mut bits: Bits<'a>,
    mut stop: impl FnMut(usize, u64, &[Coder]) -> bool,
) -> Result<Bits<'a>> {
    for mcu in mcus {
        if stop(mcu, bits.consumed(), coders) {
            break;
        }
        if intervals.begin_mcu(&mut bits)? {
            for coder in &mut *coders {
                coder.prediction = 0;
            }
        }
        for coder in &mut *coders {
            match coder.side {
                1 => coder.decode_mcu::<1>(&mut bits, mcu)?,
                2 => coder.decode_mcu::<2>(&mut bits, mcu)?,
                4 => coder.decode_mcu::<4>(&mut bits, mcu)?,
                _ => coder.decode_mcu::<8>(&mut bits, mcu)?,
            }
        }
    }
    Ok(bits)
}

impl Coder {
    /// Decodes this component's blocks of one MCU. It is generic over `SIDE` so that the place of each coefficient is
    /// known at compile time.
    #[inline(always)]
    fn decode_mcu<const SIDE: usize>(&mut self, bits: &mut Bits<'_>, mcu: usize) -> Result<()> {
        for v in 0..self.v {
            let first = (v * self.stride + mcu * self.h) * SIDE * SIDE;
            for h in 0..self.h {
                let at = first + h * SIDE * SIDE;
                bits.refill();
                self.prediction = self.prediction.wrapping_add(self.tables.dc.decode(bits)?.1);
                self.row[at] = self.prediction as i16;
                if SIDE == 1 {
                    self.tables.skip.skip_block(&self.tables.ac, bits, 1)?;
                } else {
                    self.decode_ac::<SIDE>(bits, at)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the AC coefficients that the scale of the decode needs into the block that begins at index `at` of the
    /// row, and skips the others.
    #[inline(always)]
    fn decode_ac<const SIDE: usize>(&mut self, bits: &mut Bits<'_>, at: usize) -> Result<()> {
        let selection = const { Selection::of(SIDE as u8) };
        // Every value is stored, those that are not kept in the row's last slot, which is never read. So no branch
        // depends on where a coefficient lies.
        let tables = &*self.tables;
        let row = &mut self.row[..];
        let nowhere = row.len() - 1;
        let mut store = |k: u32, value: i16| row[(at + selection.place(k)).min(nowhere)] = value;
        let mut k = 1;
        while k <= selection.last {
            bits.refill();
            let pair = tables.pairs.peek(bits);
            if pair.is_unfit(k) {
                let (advance, value) = tables.ac.decode(bits)?;
                k += advance;
                store(k - 1, value as i16);
            } else {
                bits.consume(pair.consumed());
                store(k + pair.first_advance() - 1, pair.first());
                k += pair.advance();
                store(k - 1, pair.second());
            }
        }
        if k < 64 {
            tables.skip.skip_block(&tables.ac, bits, k)
        } else {
            Ok(())
        }
    }
}
