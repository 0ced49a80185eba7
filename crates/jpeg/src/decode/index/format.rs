//! The serialised form of an index of entry points into the scan of a JPEG file.

use std::ops::Range;

use crate::image::Area;

/// A serialised index of the points in the scan of a JPEG file at which decoding can begin: 32 bytes about the image,
/// then the entry points, row by row of MCUs. It may have been read from a disk, so its offsets are checked against the
/// file.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    /// Length of the file in bytes.
    file: u64,
    /// Width of the image in MCUs.
    pub(super) across: u32,
    /// Height of the image in MCUs.
    pub(super) down: u32,
    /// Size of an MCU in px.
    pub(super) mcu: (u32, u32),
    /// Number of MCUs from one entry point in a row of MCUs to the next.
    pub(super) columns: u32,
    entries: &'a [[u8; ENTRY]],
}

/// An entry point of an index: the position of an MCU in the coded data, and the DC predictions there.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Offset of the MCU's first byte from the beginning of the entropy-coded data, in bytes.
    pub(super) offset: u32,
    /// The MCU's first bit in that byte, 0 to 7.
    pub(super) bit: u8,
    /// The components' DC predictions, reduced to the 16 bits of a coefficient.
    pub(super) predictions: [i16; 3],
}

/// Number of bytes before the entries of an index.
pub(super) const HEAD: usize = 32;
/// Size in bytes of an entry point in a serialised index.
pub(super) const ENTRY: usize = 11;
/// The first bytes of every index.
pub(super) const MAGIC: [u8; 4] = *b"JIx1";

/// Maximum number of entries of an index, which take 176 KiB.
pub(super) const MOST_ENTRIES: u32 = 16_384;

/// Maximum number of entries for a row of MCUs. Parts of an image need no entry points closer together than a thirtieth
/// of the width.
pub(super) const MOST_ACROSS: u32 = 32;

/// Maximum size in bytes of the serialised [`Index`] of a JPEG file.
pub const MOST_INDEX_BYTES: u64 = (HEAD + MOST_ENTRIES as usize * ENTRY) as u64;

impl<'a> Index<'a> {
    /// Parses an index. Returns `None` if the bytes are no valid index, or belong to a file of another length.
    #[must_use]
    pub fn of(index: &'a [u8], file: &[u8]) -> Option<Self> {
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
        let is_valid = index.mcu.1 > 0
            && index
                .columns
                .checked_mul(index.mcu.0)
                .is_some_and(|px| px > 0)
            && index.entries.len() as u64 == u64::from(index.groups()) * u64::from(index.down);
        (*magic == MAGIC && index.file == file.len() as u64 && is_valid).then_some(index)
    }

    /// Returns the smallest part of the image that contains `area` and at whose beginning the index has an entry, so that
    /// decoding can begin there. `(width, height)` is the image's size in px. Returns `None` if no pixel of `area` is
    /// inside the image.
    #[must_use]
    pub fn part(&self, area: Area, (width, height): (u32, u32)) -> Option<Area> {
        let along = |first: u32, length: u32, step: u32, mcu: u32, side: u32| {
            let begin = first / step * step;
            let end = first.checked_add(length)?.checked_next_multiple_of(mcu)?;
            let end = end.min(side);
            (begin < end).then(|| (begin, end - begin))
        };
        let (x, w) = along(area.x, area.w, self.columns * self.mcu.0, self.mcu.0, width)?;
        let (y, h) = along(area.y, area.h, self.mcu.1, self.mcu.1, height)?;
        Some(Area { x, y, w, h })
    }

    /// Returns the number of entry points per row of MCUs.
    fn groups(&self) -> u32 {
        self.across.div_ceil(self.columns)
    }

    /// Returns the first entry at or after MCU `column` of row `row` of MCUs. If no entry of that row follows, this is
    /// the first entry of the next row.
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

    /// Returns the entry of a part's first MCU in row `row` of MCUs, and the coded bytes from this MCU to the end of
    /// the part's last MCU in that row, with up to `SLACK` bytes more.
    pub(super) fn piece<'c>(
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

/// Number of coded bytes that are added after the last MCU of a part in each row, because they may belong to this MCU
/// or are loaded together with it.
const SLACK: usize = 16;
