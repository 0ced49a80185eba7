//! An index of entry points into the scan of a sequential image, so that a part of the image can be decoded without the
//! rest.
//!
//! The index is made in one pass over the only scan, at 1/8, where most of it is skipped. For every few MCUs it notes
//! where they begin, and the DC predictions there. With or without restart markers, that is all a decoder needs to
//! know. Progressive images have no index, because each of their many scans would need its own.

use std::ops::Range;

use andon_kernels::cpu::with_modern_instructions;
use andon_pixels::{Bound, Grid};
use andon_recipe::Area;

use super::bits::Bits;
use super::entropy::Unstuffed;
use super::output::Output;
use super::plane::PlaneDecoder;
use super::scan::{ENDS_EARLY, Intervals, check, mcus};
use super::segments::{FrameHeader, ScanHeader, Segment, Segments};
use super::sequential::{Coder, Symbols, coders, decode_mcus, decode_row, ends};
use super::{Refused, Request, bytes_held, within};

/// A serialised index: [`HEAD`] bytes about the image, then the entries, row by row of MCUs. It may have been read from
/// a disk, so its offsets are checked against the file.
pub(crate) struct Index<'a> {
    /// Length of the file in bytes.
    file: u64,
    /// Width of the image in MCUs; `down` is its height.
    across: u32,
    down: u32,
    /// Size of an MCU in px.
    mcu: (u32, u32),
    /// Number of MCUs from one entry of a row to the next.
    columns: u32,
    entries: &'a [[u8; ENTRY]],
}

/// The place where an MCU begins.
#[derive(Clone, Copy)]
struct Entry {
    /// Offset of the MCU's first byte from the beginning of the entropy-coded data, in bytes.
    offset: u32,
    /// The MCU's first bit in that byte, 0 to 7.
    bit: u8,
    /// The components' DC predictions, reduced to the 16 bits of a coefficient.
    predictions: [i16; 3],
}

const HEAD: usize = 32;
const ENTRY: usize = 11;
const MAGIC: [u8; 4] = *b"JIx1";

/// The most entries that an index may have, which take 176 KiB.
const MOST_ENTRIES: u32 = 16_384;

/// The most entries that a row of MCUs may have. Parts need no start positions closer together than a thirtieth of the
/// width.
const MOST_ACROSS: u32 = 32;

/// The most bytes that an index may take.
pub(crate) const MOST_INDEX_BYTES: u64 = (HEAD + MOST_ENTRIES as usize * ENTRY) as u64;

impl<'a> Index<'a> {
    /// Parses an index. `None` if it is not an index of this file.
    pub(crate) fn of(index: &'a [u8], file: &[u8]) -> Option<Self> {
        let (head, entries) = index.split_first_chunk::<HEAD>()?;
        let (magic, numbers) = head.split_first_chunk::<4>()?;
        let (length, numbers) = numbers.split_first_chunk::<8>()?;
        let mut numbers = numbers.as_chunks::<4>().0.iter();
        let mut number = || numbers.next().map(|&bytes| u32::from_be_bytes(bytes));
        let index = Self {
            file: u64::from_be_bytes(*length),
            across: number()?,
            down: number()?,
            mcu: (number()?, number()?),
            columns: number()?,
            entries: entries.as_chunks().0,
        };
        let whole = index.mcu.1 > 0
            && index
                .columns
                .checked_mul(index.mcu.0)
                .is_some_and(|px| px > 0)
            && index.entries.len() as u64 == u64::from(index.groups()) * u64::from(index.down);
        (*magic == MAGIC && index.file == file.len() as u64 && whole).then_some(index)
    }

    /// Returns the smallest part that contains `wanted` and begins at an entry, in an image of this size.
    pub(crate) fn part(&self, wanted: Area, (width, height): (u32, u32)) -> Option<Area> {
        let along = |first: u32, length: u32, step: u32, mcu: u32, side: u32| {
            let begin = first / step * step;
            let end = first.checked_add(length)?.checked_next_multiple_of(mcu)?;
            let end = end.min(side);
            (begin < end).then(|| (begin, end - begin))
        };
        let (x, w) = along(
            wanted.x,
            wanted.w,
            self.columns * self.mcu.0,
            self.mcu.0,
            width,
        )?;
        let (y, h) = along(wanted.y, wanted.h, self.mcu.1, self.mcu.1, height)?;
        Some(Area { x, y, w, h })
    }

    /// Returns the number of entries per row of MCUs.
    fn groups(&self) -> u32 {
        self.across.div_ceil(self.columns)
    }

    /// Returns the first entry at or after MCU `column` of `row`, which may be the first one of the next row.
    fn entry(&self, column: u32, row: u32) -> Option<Entry> {
        let group = column.div_ceil(self.columns);
        let place = u64::from(row) * u64::from(self.groups()) + u64::from(group);
        let &[a, b, c, d, bit, p, q, r, s, t, u] =
            self.entries.get(usize::try_from(place).ok()?)?;
        Some(Entry {
            offset: u32::from_be_bytes([a, b, c, d]),
            bit: bit & 7,
            predictions: [[p, q], [r, s], [t, u]].map(i16::from_be_bytes),
        })
    }

    /// Returns the entry of a part's first MCU in a row of MCUs, and the coded bytes from there to the part's last MCU
    /// in the row and a few beyond.
    fn piece<'c>(
        &self,
        coded: &'c [u8],
        columns: &Range<u32>,
        row: u32,
    ) -> Option<(Entry, &'c [u8])> {
        let begin = self.entry(columns.start, row)?;
        let end = self.entry(columns.end, row);
        let end = end.map_or(coded.len(), |end| {
            (end.offset as usize).saturating_add(SLACK)
        });
        let piece = coded.get(begin.offset as usize..end.min(coded.len()))?;
        Some((begin, piece))
    }
}

/// Bytes beyond a piece that may belong to its last MCU or are loaded together with it.
const SLACK: usize = 16;

/// Reads a file up to its only scan. `Unsupported` if there are several.
fn at_scan(bytes: &[u8]) -> Result<(Segments<'_>, FrameHeader, ScanHeader), Refused> {
    let mut segments = Segments::new(bytes)?;
    let Segment::Frame(frame) = segments.next()? else {
        return Err(Refused::Unsupported);
    };
    match segments.next()? {
        Segment::Scan(scan)
            if !frame.progressive && scan.components.len() == frame.components.len() =>
        {
            Ok((segments, frame, scan))
        }
        _ => Err(Refused::Unsupported),
    }
}

fn planes(frame: &FrameHeader, sizes: [u8; 2]) -> Vec<PlaneDecoder> {
    let of = |index: usize| PlaneDecoder::new(frame, index, std::iter::once(sizes[index.min(1)]));
    (0..frame.components.len()).map(of).collect()
}

/// Returns the size of an MCU in px.
fn mcu(frame: &FrameHeader) -> (u32, u32) {
    match frame.components.len() {
        1 => (8, 8),
        _ => (8 * frame.h_max, 8 * frame.v_max),
    }
}

/// Makes an index. `wanted.sizes` is ignored.
///
/// # Errors
/// As [`super::decode`]. A file that has an index can be decoded at every scale.
pub(crate) fn index(bytes: &[u8], wanted: &Request<'_>) -> Result<Vec<u8>, Refused> {
    let (mut segments, frame, scan) = at_scan(bytes)?;
    let held = bytes_held(bytes.len(), &frame, &[[1, 1]]) + 2 * MOST_INDEX_BYTES;
    within(Bound::MEMORY, held, wanted.memory)?;
    let coded = segments.entropy_coded();
    let mut data = Unstuffed::default();
    let length = data.read(coded);
    if data.has_fill_bytes_inside() || u32::try_from(length).is_err() {
        return Err(Refused::Unsupported);
    }
    let planes = planes(&frame, [1, 1]);
    let (across, down) = mcus(&frame, &scan, &planes);
    let (mut coders, _) = coders(&segments.tables, &frame, &scan, &planes, Symbols::Several)?;
    let columns = across.div_ceil((MOST_ENTRIES / down).clamp(1, MOST_ACROSS));
    let restart = segments.tables.restart;
    let mut starts = Vec::with_capacity(down as usize * across.div_ceil(columns) as usize);
    let mut intervals = Intervals::new(&data, restart);
    let mut bits = Bits::new(&[]);
    for row in 0..down {
        if (wanted.interrupted)() {
            return Err(Refused::Interrupted);
        }
        let mut due = 0;
        bits = with_modern_instructions(
            #[inline(always)]
            || {
                decode_row(
                    &mut coders,
                    0..across as usize,
                    &mut intervals,
                    bits,
                    #[inline(always)]
                    |mcu, at, coders| {
                        if mcu == due {
                            due += columns as usize;
                            let number = row as usize * across as usize + mcu;
                            starts.push(start(&data, restart, number, at, coders));
                        }
                        false
                    },
                )
            },
        )?;
        check(&bits)?;
    }
    segments.pass(length);
    ends(&mut segments, 1)?;

    let mut index = Vec::with_capacity(HEAD + starts.len() * ENTRY);
    index.extend(MAGIC);
    index.extend((bytes.len() as u64).to_be_bytes());
    let (wide, high) = mcu(&frame);
    for number in [across, down, wide, high, columns] {
        index.extend(number.to_be_bytes());
    }
    let mut starts = starts.into_iter().peekable();
    let mut run = (0, 0);
    data.read_telling(coded, |end, next| {
        while let Some((at, predictions)) = starts.next_if(|(at, _)| at / 8 < end as u64) {
            // Within the coded bytes, of which there are no more than a u32 counts.
            let offset = run.1 + (at / 8) as usize - run.0;
            index.extend((offset as u32).to_be_bytes());
            index.push((at % 8) as u8);
            index.extend(predictions.iter().flat_map(|it| it.to_be_bytes()));
        }
        run = (end, next);
    });
    Ok(index)
}

/// Returns the unstuffed bit at which MCU `number` begins, and its DC predictions. The previous MCU ended at bit `at`.
#[inline(never)]
fn start(
    data: &Unstuffed,
    restart: u32,
    number: usize,
    at: u64,
    coders: &[Coder],
) -> (u64, [i16; 3]) {
    if restart > 0 && number.is_multiple_of(restart as usize) {
        let interval = data.range(number / restart as usize).unwrap_or_default();
        return (interval.start as u64 * 8, [0; 3]);
    }
    // Coefficients are the lower bits of predictions.
    let prediction = |index: usize| coders.get(index).map_or(0, |it| it.prediction as i16);
    (at, [0, 1, 2].map(prediction))
}

/// Decodes a part that [`Index::part`] returned, at the first of the requested sizes.
///
/// # Errors
/// As [`super::decode`], and `Unsupported` for an index of another file.
pub(crate) fn decode_part(
    bytes: &[u8],
    index: &Index<'_>,
    part: Area,
    wanted: &Request<'_>,
) -> Result<Vec<Grid<u8>>, Refused> {
    let &[sizes, ..] = wanted.sizes else {
        return Ok(Vec::new());
    };
    let (segments, frame, scan) = at_scan(bytes)?;
    let (wide, high) = mcu(&frame);
    let fits = (wide, high) == index.mcu
        && index.across == frame.width.div_ceil(wide)
        && index.down == frame.height.div_ceil(high)
        && part.x.is_multiple_of(wide * index.columns)
        && part.y.is_multiple_of(high)
        && part.w > 0
        && part.h > 0
        && u64::from(part.x) + u64::from(part.w) <= frame.width.into()
        && u64::from(part.y) + u64::from(part.h) <= frame.height.into();
    if !fits {
        return Err(Refused::Unsupported);
    }
    // As if it were an image of its own.
    let whole = index.across;
    let frame = FrameHeader {
        width: part.w,
        height: part.h,
        ..frame
    };
    let coded = segments.entropy_coded();
    within(
        Bound::MEMORY,
        bytes_held(0, &frame, &[sizes]),
        wanted.memory,
    )?;
    let planes = planes(&frame, sizes);
    let (across, down) = mcus(&frame, &scan, &planes);
    let (mut coders, lanes) = coders(&segments.tables, &frame, &scan, &planes, Symbols::Several)?;
    let restart = segments.tables.restart;
    let columns = part.x / wide..part.x / wide + across;
    let mut output = Output::Here(planes);
    let mut data = Unstuffed::default();
    for mcu_row in 0..down {
        if (wanted.interrupted)() {
            return Err(Refused::Interrupted);
        }
        let row = part.y / high + mcu_row;
        let (entry, coded) = index
            .piece(coded, &columns, row)
            .ok_or(Refused::Unsupported)?;
        let first = u64::from(row) * u64::from(whole) + u64::from(columns.start);
        let (interval, left) = match u64::from(restart) {
            0 => (0, u32::MAX),
            // No more than there are in an interval, a u32.
            restart => (
                (first / restart) as usize,
                (restart - first % restart) as u32,
            ),
        };
        data.read_from(coded, interval);
        let mut bits = data.reader(0).ok_or(ENDS_EARLY)?;
        bits.take(entry.bit.into());
        for (coder, prediction) in coders.iter_mut().zip(entry.predictions) {
            coder.prediction = prediction.into();
        }
        let mut intervals = Intervals::begun(&data, restart, left);
        let bits = decode_mcus(&mut coders, 0..across as usize, &mut intervals, bits)?;
        check(&bits)?;
        output.take(&lanes, &mut coders)?;
    }
    let mut grids = Vec::new();
    for (index, plane) in output.planes()?.into_iter().enumerate() {
        grids.extend(plane.into_grids(std::iter::once(sizes[index.min(1)]))?);
    }
    Ok(grids)
}
