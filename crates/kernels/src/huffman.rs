//! Huffman-coded blocks of a sequential JPEG scan, read at many places at once.
//!
//! One place after the other, reading codes is a chain of look-ups whose length nobody can guess: the processor waits for
//! the cache or mispredicts the end of a block. Here [`STREAMS`] places go one look-up ahead in each step, each with its
//! own position, and no branch depends on what any of them finds. Which of the places are blocks' beginnings, and
//! where one stream may end because the next one has taken over, is the caller's affair.
//!
//! The codes and blocks are those of ITU-T T.81, F.2.2.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
mod avx512;
mod pace;
mod tables;
#[cfg(test)]
mod tests;

pub use self::tables::{Code, Kind, NOT_KEPT, Tables};

use crate::cpu::Level;

/// Places that are read at once.
pub const STREAMS: usize = 32;

/// Look-ups of each stream in a call of [`decode`], each of which ends one block at most.
pub const BLOCKS: usize = 32;

/// The beginning of one MCU in this many is noted.
pub const NOTED: u32 = 16;

/// Bytes behind the last one in which a stream may begin a look-up.
pub const PADDING: usize = 4;

/// Bits of a look-up whose values are known wherever in a byte it begins.
const KNOWN_BITS: u32 = 25;

/// Where each stream stands, and how far it is to go. Positions are bits from the beginning of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    position: [u32; STREAMS],
    /// The next coefficient in zigzag order.
    k: [u32; STREAMS],
    /// The block of its MCU.
    block: [u32; STREAMS],
    /// MCUs that were begun, and where the last one was.
    mcus: [u32; STREAMS],
    begun: [u32; STREAMS],
    /// Beginnings of MCUs are noted from this position on, and for how many bits.
    noted_from: [u32; STREAMS],
    noted: [u32; STREAMS],
    /// From this position on nothing is read.
    end: [u32; STREAMS],
    /// Where the values of the present block go.
    place: [u32; STREAMS],
}

impl Streams {
    /// Streams that have nothing to read yet.
    #[must_use]
    pub const fn idle() -> Self {
        const NONE: [u32; STREAMS] = [0; STREAMS];
        Self {
            position: NONE,
            k: NONE,
            block: NONE,
            mcus: NONE,
            begun: NONE,
            noted_from: NONE,
            noted: NONE,
            end: NONE,
            place: NONE,
        }
    }

    /// Lets `stream` read the bits of `part`, as if an MCU began with the first. Where MCUs begin is noted within `noted`, and of
    /// each [`NOTED`]th MCU.
    ///
    /// # Panics
    /// When there is no such stream.
    pub fn begin(&mut self, stream: usize, part: Range<u32>, noted: Range<u32>) {
        self.position[stream] = part.start;
        self.end[stream] = part.end;
        self.k[stream] = 0;
        self.block[stream] = 0;
        self.mcus[stream] = 0;
        self.begun[stream] = part.start;
        self.noted_from[stream] = noted.start;
        self.noted[stream] = noted.end.saturating_sub(noted.start);
    }

    /// Where the values of the block go that `stream` reads.
    ///
    /// # Panics
    /// When there is no such stream.
    #[must_use]
    pub fn place(&self, stream: usize) -> u32 {
        self.place[stream]
    }

    /// Lets the values of the block that `stream` reads, and of those behind it, go to `place` and behind it.
    ///
    /// # Panics
    /// When there is no such stream.
    pub fn set_place(&mut self, stream: usize, place: u32) {
        self.place[stream] = place;
    }

    /// Lets `stream` read up to `end`.
    ///
    /// # Panics
    /// When there is no such stream.
    pub fn set_end(&mut self, stream: usize, end: u32) {
        self.end[stream] = end;
    }

    /// Up to where `stream` reads.
    ///
    /// # Panics
    /// When there is no such stream.
    #[must_use]
    pub fn end(&self, stream: usize) -> u32 {
        self.end[stream]
    }

    /// The MCU that `stream` reads: how many it has read before, and where it began. `None`: it has begun none.
    ///
    /// # Panics
    /// When there is no such stream.
    #[must_use]
    pub fn mcu(&self, stream: usize) -> Option<(u32, u32)> {
        let before = self.mcus[stream].checked_sub(1)?;
        Some((before, self.begun[stream]))
    }

    /// Where `stream` reads next.
    ///
    /// # Panics
    /// When there is no such stream.
    #[must_use]
    pub fn position(&self, stream: usize) -> u32 {
        self.position[stream]
    }

    /// Bits that `stream` has yet to read.
    ///
    /// # Panics
    /// When there is no such stream.
    #[must_use]
    pub fn left(&self, stream: usize) -> u32 {
        self.end[stream].saturating_sub(self.position[stream])
    }
}

/// Something that happened at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// To whom.
    pub stream: usize,
    /// Bits from the beginning of the data.
    pub position: u32,
    /// MCUs that the stream had begun before.
    pub mcus: u32,
    /// Where the values of its block go.
    pub place: u32,
}

/// What a call of [`decode`] came upon, in the order of its steps.
#[derive(Clone, Debug, Default)]
pub struct Found {
    #[cfg(target_arch = "x86_64")]
    scratch: avx512::Scratch,
    /// MCUs that began where it is to be noted.
    pub begun: Vec<Event>,
    /// Codes that no table has, and blocks with more than 64 coefficients. The stream goes on with the next block.
    pub errors: Vec<Event>,
}

/// Is [`decode`] faster here than one place after the other? The first call measures it, in about a millisecond.
#[must_use]
pub fn is_fast() -> bool {
    Level::best() >= Level::Avx512 && pace::is_fast()
}

/// Lets every stream go some look-ups ahead, unless its end comes first.
///
/// The values of a block go to the stream's place in `values` and, as its [`Kind`] says, behind it; the next block's place is as many
/// higher as it has. Values that are 0 are not written, but DC differences are. A stream ends [`BLOCKS`] blocks at most. What was found
/// before is forgotten.
///
/// # Panics
/// When a stream's end lies less than [`PADDING`] bytes before that of `data`, or a value's place beyond `values`.
pub fn decode(
    tables: &Tables,
    data: &[u8],
    streams: &mut Streams,
    values: &mut [i16],
    found: &mut Found,
) {
    let last = streams.end.iter().copied().max().unwrap_or(0);
    let readable = data.len().saturating_sub(PADDING) as u64 * 8;
    assert!(u64::from(last) <= readable, "no bytes behind a stream");
    found.begun.clear();
    found.errors.clear();
    #[cfg(target_arch = "x86_64")]
    if Level::best() >= Level::Avx512 {
        // SAFETY: this processor has what the level stands for.
        return unsafe { avx512::decode(tables, data, streams, values, found) };
    }
    twin(tables, data, streams, values, found);
}

/// The obvious body.
fn twin(
    tables: &Tables,
    data: &[u8],
    streams: &mut Streams,
    values: &mut [i16],
    found: &mut Found,
) {
    for _ in 0..BLOCKS {
        for stream in 0..STREAMS {
            if streams.position[stream] < streams.end[stream] {
                let kept = look_up(tables, data, streams, stream, found);
                if let Some((place, value)) = kept {
                    values[place as usize] = value;
                }
            }
        }
    }
}

/// One look-up of one stream: the place and the value of what is kept of it.
fn look_up(
    tables: &Tables,
    data: &[u8],
    streams: &mut Streams,
    stream: usize,
    found: &mut Found,
) -> Option<(u32, i16)> {
    let (position, k) = (streams.position[stream], streams.k[stream]);
    let (blocks, block) = (&tables.blocks, streams.block[stream] as usize);
    let event = Event {
        stream,
        position,
        mcus: streams.mcus[stream],
        place: streams.place[stream],
    };
    if k == 0 && streams.block[stream] == 0 {
        let is_due = streams.mcus[stream].is_multiple_of(NOTED);
        if is_due || position.wrapping_sub(streams.noted_from[stream]) < streams.noted[stream] {
            found.begun.push(event);
        }
        streams.mcus[stream] += 1;
        streams.begun[stream] = position;
    }
    let bits = bits_at(data, position);
    let index = if k > 0 && bits >= blocks.long_from[block] {
        (bits >> 16).wrapping_add(blocks.long[block])
    } else if k > 0 {
        blocks.ac[block] + (bits >> (32 - tables::WINDOW))
    } else {
        blocks.ac[block] - tables::DC_BEFORE + (bits >> (32 - tables::WINDOW))
    };
    let (all, first) = tables.entries[index as usize].halves();
    let kept = k > 0 && k <= blocks.last[block];
    let taken = if kept || k + all.advance() > 64 {
        first
    } else {
        all
    };
    let after = k + taken.advance();
    let (size, length) = (first.size(), first.consumed() - first.size());
    let place = if k == 0 { 0 } else { after - 1 };
    let is_kept =
        kept && size > 0 && place <= blocks.last[block] && blocks.kept[block] >> place & 1 == 1;
    let mut kept = None;
    if k == 0 || is_kept {
        let (bits, skipped) = if first.consumed() > KNOWN_BITS {
            (bits_at(data, position + length), 0)
        } else {
            (bits, length)
        };
        let magnitude = (u64::from(bits << skipped) >> (32 - size)) as u32;
        let is_negative = bits << skipped >> 31 == 0;
        let value = magnitude.wrapping_sub(if is_negative { (1 << size) - 1 } else { 0 });
        let within = match place {
            0 => 0,
            _ => tables.places[place as usize] >> blocks.shift[block] & 255,
        };
        kept = Some((streams.place[stream] + within, value as i16));
    }
    if taken.is_bad() || after > 64 {
        found.errors.push(Event {
            mcus: streams.mcus[stream],
            ..event
        });
    }
    streams.position[stream] += taken.consumed();
    if taken.ends() || after >= 64 {
        streams.k[stream] = 0;
        streams.block[stream] = blocks.next[block];
        streams.place[stream] += blocks.count[block];
    } else {
        streams.k[stream] = after;
    }
    kept
}

/// The 32 bits of the byte that `position` lies in and the three behind it, without those before `position`.
fn bits_at(data: &[u8], position: u32) -> u32 {
    let mut word = [0; 4];
    for (to, &from) in word.iter_mut().zip(&data[position as usize / 8..]) {
        *to = from;
    }
    u32::from_be_bytes(word) << (position % 8)
}
