//! Decodes a scan without restart markers on two cores, one of which begins in the middle.
//!
//! Where a block begins in the middle of Huffman-coded data is unknown. But a decoder that begins anywhere synchronizes
//! with the correct one after a few blocks, because decoders that end a code at the same bit read the same codes from
//! there on (Klein and Wiseman, "Parallel Huffman decoding with applications to JPEG files", 2003). So the other core
//! decodes the second half from a guessed position and records at which bit each MCU began. This core decodes from the
//! start. As soon as one of its own MCUs begins at a recorded bit, everything after it has been decoded already. Only the DC
//! predictions, which the other core began at zero, are off by a constant. If that never happens, this core decodes to
//! the end, as if it were alone.

use andon_kernels::cores::{Cores, Offered};
use andon_kernels::cpu::with_modern_instructions;

use crate::decode::bits::Bits;
use crate::decode::coder::{Coder, fresh_copies};
use crate::decode::entropy::WORTH_IT;
use crate::decode::row::decode_row;
use crate::decode::scan::{Intervals, Scan};
use crate::decode::split::decoded::{Decoded, SyncPoint};
use crate::decode::split::samples::Rest;
use crate::error::Result;

mod decoded;
mod samples;

/// The second half of a scan, decoded by another core.
pub(super) struct Tail {
    state: State,
    /// Bit at which the core that decodes the second half begins.
    middle: u64,
    /// Number of MCUs per row.
    across: usize,
    /// Number of MCUs in the scan.
    total: usize,
}

enum State {
    /// The core that decodes the second half has not finished.
    Running(Offered<Decoded>),
    /// The second half has been decoded from a guessed position, but no MCU of it has been found to begin at the same
    /// bit as an MCU that was decoded from the start of the scan.
    Decoded(Decoded),
    /// MCUs of both decoders begin at the same bit: from `place` on, `decoded` has the rest of the scan.
    Synchronized { decoded: Decoded, place: SyncPoint },
    /// The result of the core that decoded the second half cannot be used, or has been returned by `rest`.
    Useless,
}

impl Tail {
    /// Offers the second half of a scan without restart markers to an idle core.
    pub(super) fn offer(scan: &Scan<'_>, coders: &[Coder], cores: &dyn Cores) -> Option<Self> {
        let data = &scan.data;
        let length = data.interval(0)?.len();
        if data.interval(1).is_some() || length < WORTH_IT || coders.len() > 4 {
            return None;
        }
        let (across, down) = (scan.size.0 as usize, scan.size.1 as usize);
        let total = across * down;
        // At full size, computing samples is a large part of the work, and only the first core does it until both
        // decoders have synchronized.
        let full = coders.iter().any(|coder| coder.side == 8);
        let middle = length / 16 * if full { 7 } else { 8 };
        let work = {
            let data = data.clone();
            let coders = fresh_copies(coders);
            move || Decoded::read(&data, middle, coders, across, total)
        };
        let offered = Offered::to(cores, work);
        offered.is_taken().then(|| Self {
            state: State::Running(offered),
            middle: middle as u64 * 8,
            across,
            total,
        })
    }

    /// Returns the rows from `row` to the end of the scan, as the other core has decoded them. Returns `None` until it
    /// is known which of the other core's MCUs belong to these rows, and after the rows have been returned once.
    pub(super) fn rest(&mut self, row: usize) -> Option<Rest> {
        match std::mem::replace(&mut self.state, State::Useless) {
            State::Synchronized { decoded, place } => Some(Rest {
                decoded,
                place,
                mcus: row * self.across..self.total,
            }),
            state => {
                self.state = state;
                None
            }
        }
    }

    /// Decodes the row of MCUs that begins with MCU `first`. From the MCU on that begins at the same bit as one of the
    /// second half, the row is copied from the result of the core that decoded that half.
    pub(super) fn decode_row<'a>(
        &mut self,
        coders: &mut [Coder],
        first: usize,
        intervals: &mut Intervals<'a>,
        bits: Bits<'a>,
    ) -> Result<Bits<'a>> {
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
        if let State::Synchronized { decoded, place } = &self.state {
            let to = place.ours - first;
            let theirs = place.theirs..place.theirs + self.across - to;
            for (index, coder) in coders.iter_mut().enumerate() {
                decoded.copy(index, theirs.clone(), place, coder, to);
            }
        }
        Ok(bits)
    }

    /// Returns whether MCU `ours`, which begins at bit `at`, begins where an MCU of the second half does. Waits for the
    /// core that decodes the second half first.
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
        if theirs < decoded.first_valid || !decoded.holds(theirs + self.total - ours) {
            return false;
        }
        let mut offsets = [0; 4];
        for ((offset, coder), prediction) in
            offsets.iter_mut().zip(coders).zip(decoded.starts[theirs].1)
        {
            *offset = (coder.prediction as i16).wrapping_sub(prediction);
        }
        let place = SyncPoint {
            ours,
            theirs,
            offsets,
        };
        if let State::Decoded(decoded) = std::mem::replace(&mut self.state, State::Useless) {
            self.state = State::Synchronized { decoded, place };
        }
        true
    }
}
