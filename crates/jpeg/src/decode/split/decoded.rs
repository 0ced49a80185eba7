//! The result of the core that decodes a scan from the middle on.

use std::ops::Range;

use andon_kernels::buffers::Buffer;
use andon_kernels::cpu::with_modern_instructions;

use crate::decode::bits::Bits;
use crate::decode::coder::Coder;
use crate::decode::entropy::Unstuffed;
use crate::decode::row::decode_row;
use crate::decode::scan::Intervals;
use crate::error::Result;

/// Distance in bits from the end of the data within which an undefined code is taken for padding instead of an error.
const PADDING: u64 = 64;

/// Where the decoder of the whole scan and that of the tail (the second half) synchronized: MCU `ours` of the scan is MCU
/// `theirs` of the tail.
#[derive(Clone, Copy)]
pub(super) struct SyncPoint {
    pub(super) ours: usize,
    pub(super) theirs: usize,
    /// For each component, the number to add to the tail's DC coefficients, modulo 2^16 as they are stored.
    pub(super) offsets: [i16; 4],
}

/// The tail (the second half) of a scan, decoded by another core from a guessed position.
pub(super) struct Decoded {
    /// The bit at which each MCU began, and the DC predictions there.
    pub(super) starts: Vec<(u64, [i16; 4])>,
    /// Index of the first MCU after the last error. MCUs before it are ignored.
    pub(super) first_valid: usize,
    /// MCUs in a row of the image.
    pub(super) across: usize,
    /// For each run of `across` MCUs, the coefficients of each coder, laid out like a row of MCUs.
    rows: Vec<Vec<Buffer<i16>>>,
    /// Bit at which the last MCU ended.
    last_end: u64,
    /// Bit at which the data end.
    end: u64,
}

impl Decoded {
    /// Returns whether all MCUs before `mcu` end within the data. Beyond the end of the data, zeros are read.
    pub(super) fn holds(&self, mcu: usize) -> bool {
        let end = match self.starts.get(mcu) {
            Some(next) => next.0,
            None if mcu == self.starts.len() => self.last_end,
            None => return false,
        };
        end <= self.end
    }

    /// Copies component `index` of the tail's MCUs `from` into the coder's row, beginning at MCU `to` of that row, and
    /// corrects the DC coefficients.
    pub(super) fn copy(
        &self,
        index: usize,
        mut from: Range<usize>,
        place: &SyncPoint,
        coder: &mut Coder,
        mut to: usize,
    ) {
        let (count, offset) = (coder.count(), place.offsets[index]);
        let (wide, stride) = (coder.h * count, coder.stride * count);
        // A row of the tail may begin anywhere in a row of the image.
        while !from.is_empty() {
            let (row, first) = (from.start / self.across, from.start % self.across);
            let row = &self.rows[row][index];
            let run = from.len().min(self.across - first);
            for v in 0..coder.v {
                let source = &row[v * stride + first * wide..][..run * wide];
                let target = &mut coder.row[v * stride + to * wide..][..run * wide];
                target.copy_from_slice(source);
                for dc in target.iter_mut().step_by(count) {
                    *dc = dc.wrapping_add(offset);
                }
            }
            from.start += run;
            to += run;
        }
    }

    /// Decodes from byte `from` to the end of the data, and continues after errors.
    pub(super) fn read(
        data: &Unstuffed,
        from: usize,
        mut coders: Vec<Coder>,
        across: usize,
        total: usize,
    ) -> Self {
        let bytes = data.interval(0).unwrap_or_default();
        let mut bits = Bits::within(bytes, from..bytes.len());
        let mut decoded = Self {
            // More than needed: the tail has about half of them.
            starts: Vec::with_capacity(total),
            first_valid: 0,
            across,
            rows: Vec::new(),
            last_end: 0,
            end: bytes.len() as u64 * 8,
        };
        while decoded.starts.len() < total && bits.consumed() < decoded.end {
            let row_start = decoded.starts.len();
            match decoded.read_row(data, &mut coders, bits) {
                Ok(next) => bits = next,
                Err(_) => match decoded.recover(row_start) {
                    Some(byte) => bits = Bits::within(bytes, byte..bytes.len()),
                    None => {
                        decoded.rows.push(take_rows(&mut coders));
                        break;
                    }
                },
            }
            decoded.last_end = bits.consumed();
            decoded.rows.push(take_rows(&mut coders));
        }
        decoded
    }

    /// Decodes a row of MCUs, and records where each of them began.
    fn read_row<'a>(
        &mut self,
        data: &'a Unstuffed,
        coders: &mut [Coder],
        bits: Bits<'a>,
    ) -> Result<Bits<'a>> {
        let (across, starts) = (self.across, &mut self.starts);
        with_modern_instructions(
            #[inline(always)]
            || {
                let mut endless = Intervals::endless(data);
                decode_row(
                    coders,
                    0..across,
                    &mut endless,
                    bits,
                    #[inline(always)]
                    |_, at, coders| {
                        let mut predictions = [0; 4];
                        for (prediction, coder) in predictions.iter_mut().zip(coders) {
                            *prediction = coder.prediction as i16;
                        }
                        starts.push((at, predictions));
                        false
                    },
                )
            },
        )
    }

    /// Discards the row whose first MCU was number `row_start`: the decoder is not synchronized, or the file is broken
    /// there. Returns the byte at which to start again, or `None` if the data end.
    fn recover(&mut self, row_start: usize) -> Option<usize> {
        let (bit, _) = self.starts[self.starts.len() - 1];
        if bit + PADDING > self.end {
            // This is not an MCU but the bits that fill up the last byte.
            self.starts.pop();
            self.last_end = bit;
            return None;
        }
        self.starts.resize(row_start + self.across, (bit, [0; 4]));
        self.first_valid = self.starts.len();
        Some((bit / 8) as usize + 1)
    }
}

/// Takes the coders' rows and leaves rows of zeros in their place.
fn take_rows(coders: &mut [Coder]) -> Vec<Buffer<i16>> {
    let fresh = |coder: &mut Coder| {
        let empty = Buffer::filled(coder.row.len(), 0).into_vec();
        std::mem::replace(&mut coder.row, empty).into()
    };
    coders.iter_mut().map(fresh).collect()
}
