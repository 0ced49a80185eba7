//! Decoder for Huffman-coded blocks of a sequential JPEG scan that reads many places of the data at once.
//!
//! If only one place is read, the codes form a chain of dependent look-ups of unpredictable length: the processor waits
//! for the cache or mispredicts the end of a block. Here, each step advances [`STREAMS`] places by one look-up each.
//! Every place has its own position, and no branch depends on what any of them finds. The caller decides which of the
//! places are beginnings of blocks, and where one stream may end because the next one has taken over.
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

/// Number of places (streams) that are read at once.
pub const STREAMS: usize = 32;

/// Number of look-ups per stream in a call of [`decode`]. Each completes at most one block.
pub const BLOCKS: usize = 32;

/// Of this many consecutive MCUs, the beginning of only one is recorded, except in the range for which
/// [`Streams::begin`] requests all of them.
pub const RECORD_INTERVAL: u32 = 16;

/// Minimum number of bytes that must follow the last byte in which a stream may begin a look-up.
pub const PADDING: usize = 4;

/// Number of valid bits in a 32-bit word that is loaded from whole bytes, whatever bit of the first byte a look-up
/// begins at.
const KNOWN_BITS: u32 = 25;

/// The state of each stream: its position and where it ends. Positions are in bits from the beginning of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    position: [u32; STREAMS],
    /// Index of the next coefficient, in zigzag order.
    k: [u32; STREAMS],
    /// Index of the current block within its MCU.
    block: [u32; STREAMS],
    /// Number of MCUs begun so far.
    mcus: [u32; STREAMS],
    /// Position at which the last MCU began.
    mcu_start: [u32; STREAMS],
    /// Position from which on the beginnings of MCUs are recorded.
    record_from: [u32; STREAMS],
    /// Number of bits from `record_from` in which the beginnings of MCUs are recorded.
    record_bits: [u32; STREAMS],
    /// Position at which the stream ends: it reads nothing from there on.
    end: [u32; STREAMS],
    /// Index in the output at which the values of the current block begin.
    place: [u32; STREAMS],
}

impl Streams {
    /// Creates streams that have nothing to read yet.
    #[must_use]
    pub const fn idle() -> Self {
        const NONE: [u32; STREAMS] = [0; STREAMS];
        Self {
            position: NONE,
            k: NONE,
            block: NONE,
            mcus: NONE,
            mcu_start: NONE,
            record_from: NONE,
            record_bits: NONE,
            end: NONE,
            place: NONE,
        }
    }

    /// Makes `stream` read the bits of `part`, assuming that an MCU begins at the first bit. In `record_range`, the
    /// beginnings of all MCUs are recorded, outside of it those of one in [`RECORD_INTERVAL`] MCUs.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn begin(&mut self, stream: usize, part: Range<u32>, record_range: Range<u32>) {
        self.position[stream] = part.start;
        self.end[stream] = part.end;
        self.k[stream] = 0;
        self.block[stream] = 0;
        self.mcus[stream] = 0;
        self.mcu_start[stream] = part.start;
        self.record_from[stream] = record_range.start;
        self.record_bits[stream] = record_range.end.saturating_sub(record_range.start);
    }

    /// Returns the index in the output at which the values of the current block of `stream` begin.
    ///
    /// # Panics
    /// If there is no such stream.
    #[must_use]
    pub fn place(&self, stream: usize) -> u32 {
        self.place[stream]
    }

    /// Sets the index in the output at which the values of the current block of `stream` begin. Those of the following
    /// blocks come after it.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn set_place(&mut self, stream: usize, place: u32) {
        self.place[stream] = place;
    }

    /// Sets the position at which `stream` ends, in bits from the beginning of the data.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn set_end(&mut self, stream: usize, end: u32) {
        self.end[stream] = end;
    }

    /// Returns the position at which `stream` ends, in bits from the beginning of the data.
    ///
    /// # Panics
    /// If there is no such stream.
    #[must_use]
    pub fn end(&self, stream: usize) -> u32 {
        self.end[stream]
    }

    /// Returns the number of MCUs that `stream` began before the current one, and the position at which the current one
    /// began. `None` if the stream has not begun an MCU.
    ///
    /// # Panics
    /// If there is no such stream.
    #[must_use]
    pub fn mcu(&self, stream: usize) -> Option<(u32, u32)> {
        let before = self.mcus[stream].checked_sub(1)?;
        Some((before, self.mcu_start[stream]))
    }

    /// Returns the position at which `stream` reads next, in bits from the beginning of the data.
    ///
    /// # Panics
    /// If there is no such stream.
    #[must_use]
    pub fn position(&self, stream: usize) -> u32 {
        self.position[stream]
    }

    /// Returns the number of bits that `stream` has yet to read.
    ///
    /// # Panics
    /// If there is no such stream.
    #[must_use]
    pub fn left(&self, stream: usize) -> u32 {
        self.end[stream].saturating_sub(self.position[stream])
    }
}

/// An event of a stream at a position: an MCU began, or an error was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Index of the stream.
    pub stream: usize,
    /// Position in bits from the beginning of the data.
    pub position: u32,
    /// Number of MCUs that the stream had begun to decode before this event.
    pub mcus: u32,
    /// Index in the output at which the values of the stream's block begin.
    pub place: u32,
}

/// The events that a call of [`decode`] recorded, in the order of its look-ups.
#[derive(Clone, Debug, Default)]
pub struct Events {
    #[cfg(target_arch = "x86_64")]
    scratch: avx512::Scratch,
    /// Beginnings of MCUs: all of them in the range that was passed to [`Streams::begin`], outside of it one in
    /// [`RECORD_INTERVAL`].
    pub starts: Vec<Event>,
    /// Errors: bits that are no code of the table, and blocks with more than 64 coefficients. The stream continues with
    /// the next block.
    pub errors: Vec<Event>,
}

/// Returns whether [`decode`], which reads many places of the data at once, is faster on this processor than a decoder
/// that reads a single place. With AVX-512, the first call measures it, which takes about a millisecond. Without
/// AVX-512, the result is `false`.
#[must_use]
pub fn is_fast() -> bool {
    Level::best() >= Level::Avx512 && pace::is_fast()
}

/// Advances every stream by up to [`BLOCKS`] look-ups, or to its end if that comes first. A stream completes at most
/// [`BLOCKS`] blocks.
///
/// The values of a block are written to `values`, starting at the index that [`Streams::place`] returns and arranged
/// as the block's [`Kind`] says. This index then advances by the number of values of the block. DC differences are
/// always written, other values only if they are not 0.
///
/// `events` is cleared first. Errors in the data are then added to it, and the beginnings of MCUs that
/// [`Events::starts`] specifies.
///
/// # Panics
/// If a stream ends less than [`PADDING`] bytes before the end of `data`, or the index of a value is beyond the end of
/// `values`.
pub fn decode(
    tables: &Tables,
    data: &[u8],
    streams: &mut Streams,
    values: &mut [i16],
    events: &mut Events,
) {
    let last = streams.end.iter().copied().max().unwrap_or(0);
    let readable = data.len().saturating_sub(PADDING) as u64 * 8;
    assert!(u64::from(last) <= readable, "no bytes behind a stream");
    events.starts.clear();
    events.errors.clear();
    #[cfg(target_arch = "x86_64")]
    if Level::best() >= Level::Avx512 {
        // SAFETY: this processor supports the level.
        return unsafe { avx512::decode(tables, data, streams, values, events) };
    }
    twin(tables, data, streams, values, events);
}

/// Scalar reference version of `decode`.
fn twin(
    tables: &Tables,
    data: &[u8],
    streams: &mut Streams,
    values: &mut [i16],
    events: &mut Events,
) {
    for _ in 0..BLOCKS {
        for stream in 0..STREAMS {
            if streams.position[stream] < streams.end[stream] {
                let coefficient = look_up(tables, data, streams, stream, events);
                if let Some((place, value)) = coefficient {
                    values[place as usize] = value;
                }
            }
        }
    }
}

/// Performs one look-up for one stream. If it decodes a coefficient that belongs in the output, returns the index at
/// which to write it, and its value.
fn look_up(
    tables: &Tables,
    data: &[u8],
    streams: &mut Streams,
    stream: usize,
    events: &mut Events,
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
        let is_due = streams.mcus[stream].is_multiple_of(RECORD_INTERVAL);
        if is_due
            || position.wrapping_sub(streams.record_from[stream]) < streams.record_bits[stream]
        {
            events.starts.push(event);
        }
        streams.mcus[stream] += 1;
        streams.mcu_start[stream] = position;
    }
    let bits = bits_at(data, position);
    let index = if k > 0 && bits >= blocks.long_from[block] {
        (bits >> 16).wrapping_add(blocks.long[block])
    } else if k > 0 {
        blocks.ac[block] + (bits >> (32 - tables::WINDOW))
    } else {
        blocks.ac[block] - tables::DC_BEFORE + (bits >> (32 - tables::WINDOW))
    };
    let (sequence, first) = tables.entries[index as usize].halves();
    let needs_first = k > 0 && k <= blocks.last[block];
    let half = if needs_first || k + sequence.advance() > 64 {
        first
    } else {
        sequence
    };
    let next_k = k + half.advance();
    let (size, length) = (first.size(), first.consumed() - first.size());
    let place = if k == 0 { 0 } else { next_k - 1 };
    let is_kept = needs_first
        && size > 0
        && place <= blocks.last[block]
        && blocks.kept[block] >> place & 1 == 1;
    let mut coefficient = None;
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
        coefficient = Some((streams.place[stream] + within, value as i16));
    }
    if half.is_bad() || next_k > 64 {
        events.errors.push(Event {
            mcus: streams.mcus[stream],
            ..event
        });
    }
    streams.position[stream] += half.consumed();
    if half.ends() || next_k >= 64 {
        streams.k[stream] = 0;
        streams.block[stream] = blocks.next[block];
        streams.place[stream] += blocks.count[block];
    } else {
        streams.k[stream] = next_k;
    }
    coefficient
}

/// Returns the 32 bits of the byte containing `position` and the three bytes after it, shifted left so that the bit at
/// `position` comes first. The lowest bits become 0.
fn bits_at(data: &[u8], position: u32) -> u32 {
    let mut word = [0; 4];
    for (to, &from) in word.iter_mut().zip(&data[position as usize / 8..]) {
        *to = from;
    }
    u32::from_be_bytes(word) << (position % 8)
}
