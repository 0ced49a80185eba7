//! Reads a part of a scan on one core with streams, which begin at different places of the data. Records which bits
//! each stream reads, and where its coefficients are stored.

use std::ops::Range;
use std::sync::Arc;

use andon_kernels::buffers::Buffer;
use andon_kernels::huffman::{self, BLOCKS, Events, STREAMS, Tables as Codes};

use crate::decode::entropy::Unstuffed;
use crate::decode::streams::flat::Flat;

/// Number of MCUs of average length by which the data that a stream reads (its stretch) extend into those of the next
/// stream. Most streams synchronize within fewer MCUs.
const MARGIN: u32 = 6;

/// Minimum number of bits that a stream must still have to read so that the second half of them is given to a stream
/// that has finished. As a multiple of [`Reader::margin`].
const LEAST_CUT: u32 = 4;

/// Number of blocks of a stream whose values are stored contiguously: those of a few calls of [`huffman::decode`].
const CHUNK: usize = 8 * BLOCKS;

/// Maximum initial capacity of the two lists of a stretch: its recorded beginnings of MCUs, and its chunks of values.
/// Both lists grow beyond this capacity if needed.
const ROOM_TO_NOTE: usize = 256;

/// Capacity of a core's buffer of values, in values. It is the same for every image, so that the next image reuses the
/// memory.
const ROOM: usize = 1 << 20;

/// Number of calls of [`huffman::decode`] between two checks for an interrupt.
const CALLS: usize = 64;

/// The data that streams read, the codes in these data, and the average size of an MCU.
#[derive(Clone)]
pub(super) struct Reader {
    pub(super) data: Arc<Unstuffed>,
    pub(super) codes: Arc<Codes>,
    pub(super) flat: Option<Flat>,
    /// Mean number of bits per MCU.
    pub(super) bits_per_mcu: u32,
    /// Number of coefficients per MCU that decoding at the requested scale needs.
    pub(super) values_per_mcu: usize,
    /// Maximum number of coefficients of a block that decoding at the requested scale needs.
    pub(super) longest: usize,
}

/// The part of a window (the bits of a scan that are read at a time) that one core has read.
pub(super) struct Part {
    pub(super) stretches: Vec<Stretch>,
    /// Coefficients of all blocks that were read, as far as decoding at the requested scale needs them. Each chunk
    /// (contiguous range of them) comes from one stream.
    values: Buffer<i16>,
}

/// An MCU that is known to begin at bit `position`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KnownMcu {
    pub(super) position: u32,
    /// Index in [`Streams::parts`](super::Streams::parts) of the part of the window that the MCU is in.
    pub(super) part: usize,
    /// Index in [`Part::stretches`] of the bits that the MCU was read from.
    pub(super) stretch: usize,
    /// Number of MCUs that the same stream read before this one.
    pub(super) index: u32,
    /// Index of the MCU's first value in [`Part::values`].
    pub(super) place: u32,
}

/// A contiguous run of bits that one stream has read.
#[derive(Default)]
pub(super) struct Stretch {
    /// Ranges of [`Part::values`] that hold the coefficients of the stretch, in order.
    chunks: Vec<Range<usize>>,
    /// Recorded beginnings of MCUs: the bit, the index of the MCU, and where its values are.
    pub(super) starts: Vec<huffman::Event>,
    /// Index of the first MCU of the stretch after the last error in it.
    first_valid: u32,
    /// Number of MCUs that were read completely.
    pub(super) mcus: usize,
    /// Bit at which the MCU after the last complete one begins.
    pub(super) end: u32,
}

impl Reader {
    /// Returns the number of bits by which the data that a stream reads extend into those of the next stream.
    pub(super) fn margin(&self) -> u32 {
        MARGIN * self.bits_per_mcu + 64
    }

    /// Returns the number of bits whose values fill half of a core's buffer ([`ROOM`]), if their MCUs are not shorter
    /// than the average.
    pub(super) fn window(&self) -> u32 {
        let mcus = ROOM / 2 / self.values_per_mcu;
        u32::try_from(mcus as u64 * u64::from(self.bits_per_mcu)).unwrap_or(u32::MAX)
    }

    /// Creates an empty record of the bits that one stream reads, with capacity for about `mcus` MCUs.
    fn stretch(&self, mcus: usize) -> Stretch {
        let start_count = 2 * MARGIN as usize + mcus / huffman::RECORD_INTERVAL as usize;
        let chunks = 2 + mcus * self.values_per_mcu / (CHUNK * self.longest);
        Stretch {
            starts: Vec::with_capacity(start_count.min(ROOM_TO_NOTE)),
            chunks: Vec::with_capacity(chunks.min(ROOM_TO_NOTE)),
            ..Stretch::default()
        }
    }

    /// Reads the given bits. Returns `None` if interrupted.
    pub(super) fn read(&self, bits: Range<u32>, interrupted: &dyn Fn() -> bool) -> Option<Part> {
        let mut reading = Reading {
            of: self,
            stretches: Vec::with_capacity(2 * STREAMS),
            streams: huffman::Streams::idle(),
            stretch: [0; STREAMS],
            values: Buffer::with_capacity(ROOM),
            events: Events::default(),
        };
        reading.begin(bits);
        for call in 1.. {
            if call % CALLS == 0 && interrupted() {
                return None;
            }
            if !reading.go_on() || !reading.give_work() {
                break;
            }
        }
        (0..STREAMS).for_each(|stream| reading.end_stretch(stream));
        Some(Part {
            stretches: reading.stretches,
            values: reading.values,
        })
    }
}

/// State of the streams while they read.
struct Reading<'a> {
    of: &'a Reader,
    stretches: Vec<Stretch>,
    streams: huffman::Streams,
    /// Index in `stretches` of the bits that each stream is reading.
    stretch: [usize; STREAMS],
    values: Buffer<i16>,
    events: Events,
}

impl Reading<'_> {
    /// Divides the bits into one contiguous stretch for each stream.
    fn begin(&mut self, bits: Range<u32>) {
        let length = u64::from(bits.end - bits.start);
        let part = |number: usize| bits.start + (length * number as u64 / STREAMS as u64) as u32;
        for stream in 0..STREAMS {
            let end = part(stream + 1).saturating_add(self.of.margin());
            self.begin_stretch(stream, part(stream)..end.min(bits.end));
        }
    }

    fn begin_stretch(&mut self, stream: usize, mut bits: Range<u32>) {
        if !self.stretches.is_empty() {
            let data = self.of.data.interval(0).unwrap_or_default();
            let flat = self.of.flat.and_then(|flat| flat.near(data, bits.start));
            bits.start = flat.unwrap_or(bits.start).min(bits.end);
        }
        self.stretch[stream] = self.stretches.len();
        let mcus = (bits.end - bits.start) / self.of.bits_per_mcu;
        self.stretches.push(self.of.stretch(mcus as usize));
        // The previous stretch ends with an MCU about a margin from here.
        let margin = self.of.margin();
        let from_start = |quarters: u32| bits.start.saturating_add(margin / 4 * quarters);
        let record_range = from_start(2)..from_start(5);
        self.streams.begin(stream, bits, record_range);
    }

    /// Advances each stream by up to [`BLOCKS`] look-ups. Returns `false` if the buffer has no room for their values.
    fn go_on(&mut self) -> bool {
        let room = (BLOCKS + 1) * self.of.longest;
        for stream in 0..STREAMS {
            let chunks = &self.stretches[self.stretch[stream]].chunks;
            let end = chunks.last().map_or(0, |chunk| chunk.end);
            let is_full = self.streams.place(stream) as usize + room > end;
            if is_full && self.streams.left(stream) > 0 && !self.next_chunk(stream) {
                return false;
            }
        }
        let data = self.of.data.interval(0).unwrap_or_default();
        let (streams, events) = (&mut self.streams, &mut self.events);
        huffman::decode(&self.of.codes, data, streams, &mut self.values, events);
        for event in &events.starts {
            self.stretches[self.stretch[event.stream]]
                .starts
                .push(*event);
        }
        for event in &events.errors {
            self.stretches[self.stretch[event.stream]].first_valid = event.mcus;
        }
        true
    }

    /// Assigns another range of the buffer of values to the stream and moves its unfinished block there. Returns
    /// `false` if the buffer is full.
    #[cold]
    fn next_chunk(&mut self, stream: usize) -> bool {
        let chunk = self.values.len()..self.values.len() + CHUNK * self.of.longest;
        if chunk.end > ROOM {
            return false;
        }
        self.values.resize(chunk.end, 0);
        let chunks = &mut self.stretches[self.stretch[stream]].chunks;
        if let Some(last) = chunks.last_mut() {
            let block = self.streams.place(stream) as usize;
            last.end = block;
            self.values
                .copy_within(block..block + self.of.longest, chunk.start);
        }
        self.streams.set_place(stream, chunk.start as u32);
        chunks.push(chunk);
        true
    }

    /// Gives more work to every stream that has finished: half of the bits that the slowest stream has yet to read,
    /// unless these are too few. Returns `false` once all streams have finished.
    fn give_work(&mut self) -> bool {
        for stream in 0..STREAMS {
            if self.streams.left(stream) > 0 {
                continue;
            }
            let slowest = (0..STREAMS).max_by_key(|&stream| self.streams.left(stream));
            let slowest = slowest.unwrap_or(stream);
            let bits_left = self.streams.left(slowest);
            if bits_left < LEAST_CUT * self.of.margin() {
                return bits_left > 0;
            }
            self.end_stretch(stream);
            let middle = self.streams.position(slowest) + bits_left / 2;
            self.begin_stretch(stream, middle..self.streams.end(slowest));
            let end = middle + self.of.margin();
            self.streams.set_end(slowest, end);
        }
        true
    }

    /// Records how far a stream has read, in the stretch of data that it was reading.
    fn end_stretch(&mut self, stream: usize) {
        let stretch = &mut self.stretches[self.stretch[stream]];
        if let Some((mcus, end)) = self.streams.mcu(stream) {
            (stretch.mcus, stretch.end) = (mcus as usize, end);
        }
        if let Some(last) = stretch.chunks.last_mut() {
            last.end = self.streams.place(stream) as usize;
        }
    }
}

impl Part {
    /// Returns the number of recorded beginnings of MCUs in this part.
    pub(super) fn start_count(&self) -> usize {
        self.stretches.iter().map(|it| it.starts.len()).sum()
    }

    /// Returns the recorded MCUs of this part, whose index in the window is `number`, except those that a stream read
    /// before an error.
    pub(super) fn known_mcus(&self, number: usize) -> impl Iterator<Item = KnownMcu> {
        let stretches = self.stretches.iter().enumerate();
        stretches.flat_map(move |(index, stretch)| {
            let starts = stretch.starts.iter();
            let starts = starts.filter(|event| event.mcus >= stretch.first_valid);
            starts.map(move |event| KnownMcu {
                position: event.position,
                part: number,
                stretch: index,
                index: event.mcus,
                place: event.place,
            })
        })
    }

    /// Returns the values of the bits that one stream has read, from `cursor` on.
    pub(super) fn values<'a>(&'a self, stretch: &'a Stretch, cursor: &'a mut Cursor) -> Values<'a> {
        Values {
            part: self,
            stretch,
            cursor,
        }
    }
}

/// A position among the values of a [`Stretch`]: the index of a range in its `chunks`, and the index of a value in
/// [`Part::values`].
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    chunk: usize,
    place: usize,
}

impl Stretch {
    /// Returns the cursor to the values of the block that was stored at index `place` of [`Part::values`]. If a chunk
    /// ends there, the block was moved to the next chunk.
    pub(super) fn cursor(&self, place: u32) -> Cursor {
        let place = place as usize;
        let mut chunks = self.chunks.iter();
        let chunk = chunks.position(|chunk| (chunk.start..=chunk.end).contains(&place));
        let chunk = chunk.unwrap_or(self.chunks.len());
        let mut cursor = Cursor { chunk, place };
        cursor.leave_end(self);
        cursor
    }
}

impl Cursor {
    /// Moves a cursor that is at the end of a chunk to the next chunk.
    fn leave_end(&mut self, stretch: &Stretch) {
        let chunks = &stretch.chunks;
        if chunks
            .get(self.chunk)
            .is_some_and(|chunk| chunk.end == self.place)
        {
            self.chunk += 1;
            let next = chunks.get(self.chunk);
            self.place = next.map_or(self.place, |chunk| chunk.start);
        }
    }
}

/// The values of a [`Stretch`] from a cursor on, in pieces of whole blocks.
pub(super) struct Values<'a> {
    part: &'a Part,
    stretch: &'a Stretch,
    cursor: &'a mut Cursor,
}

impl<'a> Values<'a> {
    /// Returns the next values, up to the end of the chunk that holds them, without skipping them. Returns `None` at
    /// the end of the stretch.
    #[inline]
    pub(super) fn next(&self) -> Option<&'a [i16]> {
        let chunk = self.stretch.chunks.get(self.cursor.chunk)?;
        Some(&self.part.values[self.cursor.place..chunk.end])
    }

    /// Skips the first `count` of the values that `next` returns.
    #[inline]
    pub(super) fn pass(&mut self, count: usize) {
        self.cursor.place += count;
        self.cursor.leave_end(self.stretch);
    }
}
