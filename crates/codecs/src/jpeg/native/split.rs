//! A scan of one restart interval, decoded from its middle on by another core.
//!
//! Nobody knows where in the middle of Huffman-coded data a block begins. But a decoder that begins
//! anywhere falls into step with the right one after a few blocks, because codes that end at the same bit
//! are the same ever after (Klein and Wiseman, "Parallel Huffman decoding with applications to JPEG
//! files", 2003). So the other core decodes the second half from a guess on and notes at which bit each
//! MCU began. When this core, decoding from the start, finds one of its own MCUs to begin at a noted bit,
//! everything after it is done already; only DC predictions, which began from nothing, are off by a
//! constant. If that never happens, this core decodes on to the end, as if it were alone.

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

/// Bytes of coefficients up to which an image at full size is decoded from its middle on, too, for those of the second half
/// are held.
const MOST_BYTES: u64 = 16 << 20;

/// Is a sequential image at full size decoded from its middle on, if a core is idle? Only where its `bytes` are more work
/// than its `samples`, of all components: otherwise that core makes samples all the time. Sixteen photographs of 4 megapixels,
/// 4:2:0, gained from one bit a pixel on: 1.01 to 1.16 times, and lost up to 1.16 times with fewer.
pub(in crate::jpeg) fn in_full(bytes: u64, samples: u64) -> bool {
    bytes >= WORTH_IT as u64 && 3 * 8 * bytes >= 2 * samples && 2 * samples <= MOST_BYTES
}

/// Is an image at 1/2 decoded from its middle on by an idle core rather than by [`super::streams`]? Where its bits are few, most of the work
/// are its samples, of which both cores make some here: photographs of 20 megapixels took 10.5 ms instead of 12.8 with 0.18 bits a
/// pixel, but 18.1 instead of 16.6 with 0.4.
pub(super) fn rather(data: &Unstuffed, is_half: bool, samples: usize, cores: &dyn Cores) -> bool {
    is_half && 5 * 8 * data.len() < samples && cores.lends_soon()
}

/// Bits before the end of the data within which a code that no table has says nothing about what came
/// before it.
const PADDING: u64 = 64;

/// The second half of a scan.
pub(super) struct Tail {
    state: State,
    /// Bits from where on the other core decodes.
    middle: u64,
    /// MCUs across, and in all.
    across: usize,
    total: usize,
}

enum State {
    /// The other core is at it.
    Running(Offered<Decoded>),
    /// It is done; no MCU that begins at the same bit was met yet.
    Decoded(Decoded),
    /// The rest of the scan is this much of it.
    Met { decoded: Decoded, place: SyncPoint },
    /// It was of no use.
    Useless,
}

/// Where both cores met: MCU `ours` of the scan is MCU `theirs` of the tail.
#[derive(Clone, Copy)]
struct SyncPoint {
    ours: usize,
    theirs: usize,
    /// What the tail's DC coefficients lack, modulo 2^16 as they are stored.
    lacking: [i16; 4],
}

/// What the other core made.
struct Decoded {
    /// At which bit each MCU began, and the DC predictions there.
    starts: Vec<(u64, [i16; 4])>,
    /// The first MCU after the last error: what came before is of no use.
    sound: usize,
    /// MCUs in a row of the image.
    across: usize,
    /// For each run of `across` MCUs, each coder's coefficients as in a row of MCUs.
    rows: Vec<Vec<Buffer<i16>>>,
    /// At which bit the last MCU ended, and the data.
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

    /// Is the rest of the scan decoded already?
    pub(super) fn has_met(&self) -> bool {
        matches!(self.state, State::Met { .. })
    }

    /// Decodes the row of MCUs that begins with MCU `first`. Once both have met, the rest of it is what the other core has.
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

    /// Does MCU `ours`, which begins at bit `at`, begin where one of the tail's does?
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
    /// Were MCUs up to this one, itself not counted, in the data? Beyond their end zeros are read.
    fn holds(&self, mcu: usize) -> bool {
        let ended = match self.starts.get(mcu) {
            Some(next) => next.0,
            None if mcu == self.starts.len() => self.ended,
            None => return false,
        };
        ended <= self.end
    }

    /// Copies component `index` of MCUs `from` of the tail into the coder's row, from its MCU `to` on.
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

/// Decodes from byte `from` to the end, whatever it takes.
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

/// The coders' rows; empty ones take their place.
fn take_rows(coders: &mut [Coder]) -> Vec<Buffer<i16>> {
    let fresh = |coder: &mut Coder| {
        let empty = Buffer::filled(coder.row.len(), 0).into_vec();
        std::mem::replace(&mut coder.row, empty).into()
    };
    coders.iter_mut().map(fresh).collect()
}
