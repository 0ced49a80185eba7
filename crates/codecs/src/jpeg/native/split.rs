//! Decodes a scan without restart markers on two cores, one of which begins in the middle.
//!
//! Where a block begins in the middle of Huffman-coded data is unknown. But a decoder that begins anywhere synchronizes
//! with the correct one after a few blocks, because decoders that end a code at the same bit read the same codes from
//! there on (Klein and Wiseman, "Parallel Huffman decoding with applications to JPEG files", 2003). So the other core
//! decodes the second half from a guessed position and notes at which bit each MCU began. This core decodes from the
//! start. As soon as one of its own MCUs begins at a noted bit, everything after it is decoded already. Only the DC
//! predictions, which the other core began at zero, are off by a constant. If that never happens, this core decodes to
//! the end, as if it were alone.

use std::ops::Range;
use std::sync::Arc;

use andon_kernels::cpu::with_modern_instructions;
use andon_pixels::Cores;
use andon_pixels::buffers::Buffer;
use andon_pixels::cores::Offered;

use super::Refused;
use super::bits::Bits;
use super::entropy::{Unstuffed, WORTH_IT};
use super::scan::Intervals;
use super::sequential::{Coder, anew, decode_row};

mod samples;

/// Maximum size in bytes of an image's coefficients for decoding it from its middle on at full size, too: those of the
/// second half are held in memory.
const MOST_BYTES: u64 = 16 << 20;

/// Returns whether a sequential image at full size is decoded from its middle on if a core is idle. This pays only
/// where decoding the `bytes` is more work than computing the `samples` (of all components), because otherwise the
/// other core computes samples all the time. Of sixteen photographs of 4 megapixels, 4:2:0, those with at least one bit
/// per pixel became 1.01 to 1.16 times as fast, and those with fewer up to 1.16 times as slow.
pub(in crate::jpeg) fn in_full(bytes: u64, samples: u64) -> bool {
    bytes >= WORTH_IT as u64 && 3 * 8 * bytes >= 2 * samples && 2 * samples <= MOST_BYTES
}

/// Returns whether an idle core decodes an image at 1/2 from its middle on, instead of using [`super::streams`]. Where
/// an image has few bits, most of the work is computing samples, and here both cores compute some: photographs of 20
/// megapixels took 10.5 ms instead of 12.8 ms with 0.18 bits per pixel, but 18.1 ms instead of 16.6 ms with 0.4 bits
/// per pixel.
pub(super) fn rather(data: &Unstuffed, is_half: bool, samples: usize, cores: &dyn Cores) -> bool {
    is_half && 5 * 8 * data.len() < samples && cores.lends_soon()
}

/// Distance in bits from the end of the data within which an undefined code is taken for padding, and says nothing
/// about the MCUs before it.
const PADDING: u64 = 64;

/// The second half of a scan, decoded by another core.
pub(super) struct Tail {
    state: State,
    /// Bit at which the other core begins to decode.
    middle: u64,
    /// MCUs per row. `total` is the number of MCUs in the scan.
    across: usize,
    total: usize,
}

enum State {
    /// The other core is still decoding.
    Running(Offered<Decoded>),
    /// The other core is done, but no MCU that begins at the same bit has been found yet.
    Decoded(Decoded),
    /// Both decoders have synchronized: from `place` on, `decoded` has the rest of the scan.
    Met { decoded: Decoded, place: SyncPoint },
    /// The other core's result is of no use.
    Useless,
}

/// Where both decoders synchronized: MCU `ours` of the scan is MCU `theirs` of the tail.
#[derive(Clone, Copy)]
struct SyncPoint {
    ours: usize,
    theirs: usize,
    /// What to add to the tail's DC coefficients of each component, modulo 2^16 as they are stored.
    lacking: [i16; 4],
}

/// The other core's result.
struct Decoded {
    /// The bit at which each MCU began, and the DC predictions there.
    starts: Vec<(u64, [i16; 4])>,
    /// Index of the first MCU after the last error. MCUs before it are of no use.
    sound: usize,
    /// MCUs in a row of the image.
    across: usize,
    /// For each run of `across` MCUs, the coefficients of each coder, laid out like a row of MCUs.
    rows: Vec<Vec<Buffer<i16>>>,
    /// Bit at which the last MCU ended. `end` is the bit at which the data end.
    ended: u64,
    end: u64,
}

impl Tail {
    /// Offers the second half of a scan without restart markers to an idle core.
    pub(super) fn offer(
        cores: &dyn Cores,
        data: &Arc<Unstuffed>,
        coders: &[Coder],
        across: u32,
        down: u32,
    ) -> Option<Self> {
        let length = data.interval(0)?.len();
        if data.interval(1).is_some() || length < WORTH_IT || coders.len() > 4 {
            return None;
        }
        let (across, total) = (across as usize, across as usize * down as usize);
        // At full size samples are a good part of the work, and only the first core makes any until both have met.
        let full = coders.iter().any(|coder| coder.side == 8);
        let middle = length / 16 * if full { 7 } else { 8 };
        let work = {
            let data = data.clone();
            let coders = anew(coders);
            move || decode(&data, middle, coders, across, total)
        };
        let offered = Offered::to(cores, work);
        offered.is_taken().then(|| Self {
            state: State::Running(offered),
            middle: middle as u64 * 8,
            across,
            total,
        })
    }

    /// Returns whether the rest of the scan is decoded already.
    pub(super) fn has_met(&self) -> bool {
        matches!(self.state, State::Met { .. })
    }

    /// Decodes the row of MCUs that begins with MCU `first`. Once both decoders have synchronized, the rest of the row
    /// is copied from the other core's result.
    pub(super) fn decode_row<'a>(
        &mut self,
        coders: &mut [Coder],
        first: usize,
        intervals: &mut Intervals<'a>,
        bits: Bits<'a>,
    ) -> Result<Bits<'a>, Refused> {
        let bits = with_modern_instructions(
            #[inline(always)]
            || {
                let across = self.across;
                decode_row(
                    coders,
                    0..across,
                    intervals,
                    bits,
                    #[inline(always)]
                    |mcu, at, coders| at >= self.middle && self.meets(first + mcu, at, coders),
                )
            },
        )?;
        if let State::Met { decoded, place } = &self.state {
            let to = place.ours - first;
            let theirs = place.theirs..place.theirs + self.across - to;
            for (index, coder) in coders.iter_mut().enumerate() {
                decoded.copy(index, theirs.clone(), place, coder, to);
            }
        }
        Ok(bits)
    }

    /// Returns whether MCU `ours`, which begins at bit `at`, begins where an MCU of the tail does. Waits for the other
    /// core's result first.
    #[cold]
    #[inline(never)]
    fn meets(&mut self, ours: usize, at: u64, coders: &[Coder]) -> bool {
        if let State::Running(_) = self.state {
            let State::Running(offered) = std::mem::replace(&mut self.state, State::Useless) else {
                return false;
            };
            if let Ok(decoded) = offered.wait() {
                self.state = State::Decoded(decoded);
            }
        }
        let State::Decoded(decoded) = &self.state else {
            return false;
        };
        let Ok(theirs) = decoded.starts.binary_search_by_key(&at, |start| start.0) else {
            return false;
        };
        if theirs < decoded.sound || !decoded.holds(theirs + self.total - ours) {
            return false;
        }
        let mut lacking = [0; 4];
        for ((lacking, coder), began) in
            lacking.iter_mut().zip(coders).zip(decoded.starts[theirs].1)
        {
            *lacking = (coder.prediction as i16).wrapping_sub(began);
        }
        let place = SyncPoint {
            ours,
            theirs,
            lacking,
        };
        if let State::Decoded(decoded) = std::mem::replace(&mut self.state, State::Useless) {
            self.state = State::Met { decoded, place };
        }
        true
    }
}

impl Decoded {
    /// Returns whether all MCUs before `mcu` lie within the data: beyond its end, zeros are read.
    fn holds(&self, mcu: usize) -> bool {
        let ended = match self.starts.get(mcu) {
            Some(next) => next.0,
            None if mcu == self.starts.len() => self.ended,
            None => return false,
        };
        ended <= self.end
    }

    /// Copies component `index` of the tail's MCUs `from` into the coder's row, beginning at MCU `to` of that row, and
    /// corrects the DC coefficients.
    fn copy(
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
}

/// Decodes from byte `from` to the end of the data, and goes on after errors.
fn decode(
    data: &Unstuffed,
    from: usize,
    mut coders: Vec<Coder>,
    across: usize,
    total: usize,
) -> Decoded {
    let bytes = data.interval(0).unwrap_or_default();
    let mut bits = Bits::within(bytes, from..bytes.len());
    let mut decoded = Decoded {
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
        let row = with_modern_instructions(
            #[inline(always)]
            || {
                let mut endless = Intervals::endless(data);
                decode_row(
                    &mut coders,
                    0..across,
                    &mut endless,
                    bits,
                    #[inline(always)]
                    |_, at, coders| {
                        let mut began = [0; 4];
                        for (began, coder) in began.iter_mut().zip(coders) {
                            *began = coder.prediction as i16;
                        }
                        decoded.starts.push((at, began));
                        false
                    },
                )
            },
        );
        match row {
            Ok(after) => bits = after,
            Err(_) => {
                // Out of step, or the file is broken here. On from the next byte, as a new run.
                let (failed, _) = decoded.starts[decoded.starts.len() - 1];
                if failed + PADDING > decoded.end {
                    // The bits that fill up the last byte were taken for an MCU.
                    decoded.starts.pop();
                    decoded.ended = failed;
                    decoded.rows.push(take_rows(&mut coders));
                    break;
                }
                decoded.starts.resize(before + across, (failed, [0; 4]));
                decoded.sound = decoded.starts.len();
                bits = Bits::within(bytes, (failed / 8) as usize + 1..bytes.len());
            }
        }
        decoded.ended = bits.consumed();
        decoded.rows.push(take_rows(&mut coders));
    }
    decoded
}

/// Takes the coders' rows and leaves rows of zeros in their place.
fn take_rows(coders: &mut [Coder]) -> Vec<Buffer<i16>> {
    let fresh = |coder: &mut Coder| {
        let empty = Buffer::filled(coder.row.len(), 0).into_vec();
        std::mem::replace(&mut coder.row, empty).into()
    };
    coders.iter_mut().map(fresh).collect()
}
