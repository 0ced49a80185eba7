//! What the other core has decoded from the middle of a scan on.

use std::ops::Range;

use andon_kernels::buffers::Buffer;
use andon_kernels::cpu::with_modern_instructions;

use crate::decode::bits::Bits;
use crate::decode::coder::Coder;
use crate::decode::entropy::Unstuffed;
use crate::decode::row::decode_row;
use crate::decode::scan::Intervals;
use crate::error::Result;

/// Distance in bits from the end of the data within which an undefined code is taken for padding, and says nothing
/// about the MCUs before it.
const PADDING: u64 = 64;

/// Where both decoders synchronized: MCU `ours` of the scan is MCU `theirs` of the tail.
#[derive(Clone, Copy)]
pub(super) struct SyncPoint {
    pub(super) ours: usize,
    pub(super) theirs: usize,
    /// What to add to the tail's DC coefficients of each component, modulo 2^16 as they are stored.
    pub(super) lacking: [i16; 4],
}

/// The other core's result.
pub(super) struct Decoded {
    /// The bit at which each MCU began, and the DC predictions there.
    pub(super) starts: Vec<(u64, [i16; 4])>,
    /// Index of the first MCU after the last error. MCUs before it are of no use.
    pub(super) sound: usize,
    /// MCUs in a row of the image.
    pub(super) across: usize,
    /// For each run of `across` MCUs, the coefficients of each coder, laid out like a row of MCUs.
    rows: Vec<Vec<Buffer<i16>>>,
    /// Bit at which the last MCU ended. `end` is the bit at which the data end.
    ended: u64,
    end: u64,
}

impl Decoded {
    /// Returns whether all MCUs before `mcu` lie within the data: beyond its end, zeros are read.
    pub(super) fn holds(&self, mcu: usize) -> bool {
        let ended = match self.starts.get(mcu) {
            Some(next) => next.0,
            None if mcu == self.starts.len() => self.ended,
            None => return false,
        };
        ended <= self.end
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
        let (count, lacking) = (coder.count(), place.lacking[index]);
        let (wide, stride) = (coder.h * count, coder.stride * count);
        // The tail's rows begin anywhere in a row of the image.
        while !from.is_empty() {
            let (row, first) = (from.start / self.across, from.start % self.across);
            let row = &self.rows[row][index];
            let run = from.len().min(self.across - first);
            for v in 0..coder.v {
                let source = &row[v * stride + first * wide..][..run * wide];
                let target = &mut coder.row[v * stride + to * wide..][..run * wide];
                target.copy_from_slice(source);
                for dc in target.iter_mut().step_by(count) {
                    *dc = dc.wrapping_add(lacking);
                }
            }
            from.start += run;
            to += run;
        }
    }

    /// Decodes from byte `from` to the end of the data, and goes on after errors.
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
            // About half of them.
            starts: Vec::with_capacity(total),
            sound: 0,
            across,
            rows: Vec::new(),
            ended: 0,
            end: bytes.len() as u64 * 8,
        };
        while decoded.starts.len() < total && bits.consumed() < decoded.end {
            let before = decoded.starts.len();
            match decoded.read_row(data, &mut coders, bits) {
                Ok(after) => bits = after,
                Err(_) => match decoded.failed(before) {
                    Some(byte) => bits = Bits::within(bytes, byte..bytes.len()),
                    None => {
                        decoded.rows.push(take_rows(&mut coders));
                        break;
                    }
                },
            }
            decoded.ended = bits.consumed();
            decoded.rows.push(take_rows(&mut coders));
        }
        decoded
    }

    /// Decodes a row of MCUs, and notes where each of them began.
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
                        let mut began = [0; 4];
                        for (began, coder) in began.iter_mut().zip(coders) {
                            *began = coder.prediction as i16;
                        }
                        starts.push((at, began));
                        false
                    },
                )
            },
        )
    }

    /// Gives up the row whose first MCU was number `before`: the decoder is out of step, or the file is broken there.
    /// Returns the byte from which to go on, as a new run, or `None` if the data end.
    fn failed(&mut self, before: usize) -> Option<usize> {
        let (failed, _) = self.starts[self.starts.len() - 1];
        if failed + PADDING > self.end {
            // The bits that fill up the last byte were taken for an MCU.
            self.starts.pop();
            self.ended = failed;
            return None;
        }
        self.starts.resize(before + self.across, (failed, [0; 4]));
        self.sound = self.starts.len();
        Some((failed / 8) as usize + 1)
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
