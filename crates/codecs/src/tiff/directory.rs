//! Reads the directories of a TIFF, classic or BigTIFF, which contain the values of each tag.

use std::ops::Range;

use andon_pixels::{Error, Result};

use super::NAME;

/// A directory of a TIFF, whose entries are looked up by tag.
pub(crate) struct Directory<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) big_endian: bool,
    /// Whether the file is a BigTIFF, whose offsets have eight bytes.
    big: bool,
    entries: &'a [u8],
    /// Offset of the directory's end in the file.
    pub(crate) end: usize,
    /// Offset of the next directory. 0 means that there is none, `None` that the offset is cut off.
    pub(crate) next: Option<u64>,
}

/// Maximum number of entries in one directory: the maximum count of a classic TIFF.
const MOST_ENTRIES: u64 = 65_535;

/// The location of the values of an entry of a TIFF directory.
enum Place {
    /// The values are in the entry itself. Their total length is this number of bytes.
    Inline(usize),
    At(Range<usize>),
}

/// The numeric values of a tag. They are read from the file on demand, because a list may be as long as the file, and
/// most lists are read only in part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
    bytes: &'a [u8],
    /// Bytes per number.
    each: usize,
    big_endian: bool,
}

impl<'a> Numbers<'a> {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.each
    }

    pub(crate) fn get(&self, index: usize) -> Option<u64> {
        let at = index.checked_mul(self.each)?;
        let bytes = self.bytes.get(at..)?.get(..self.each)?;
        Some(of(bytes, self.big_endian))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u64> + use<'a> {
        let each = self.bytes.chunks_exact(self.each);
        each.map(move |bytes| of(bytes, self.big_endian))
    }
}

/// Returns the size in bytes of a TIFF value of this type, or `None` if the type is unknown.
fn type_bytes(kind: u64) -> Option<usize> {
    match kind {
        1 | 2 | 6 | 7 => Some(1),
        3 | 8 => Some(2),
        4 | 9 | 11 | 13 => Some(4),
        5 | 10 | 12 | 16 | 17 | 18 => Some(8),
        _ => None,
    }
}

impl<'a> Directory<'a> {
    pub(crate) fn first(bytes: &'a [u8]) -> Result<Self> {
        Self::at(bytes, None)
    }

    /// Reads the directory at an offset, or the first one if `at` is `None`.
    pub(crate) fn at(bytes: &'a [u8], at: Option<u64>) -> Result<Self> {
        let cut_off = || Error::broken(NAME, "its directory is cut off");
        let big_endian = bytes.starts_with(b"MM");
        let big = bytes.get(2..4).is_some_and(|magic| magic.contains(&b'+'));
        let mut directory = Self {
            bytes,
            big_endian,
            big,
            entries: &[],
            end: 0,
            next: None,
        };
        let at = at.or_else(|| match big {
            true => directory.number(8, 8),
            false => directory.number(4, 4),
        });
        let at = usize::try_from(at.ok_or_else(cut_off)?).map_err(|_| cut_off())?;
        let (count_bytes, entry) = if big { (8, 20) } else { (2, 12) };
        let count = directory.number(at, count_bytes).ok_or_else(cut_off)?;
        if count > MOST_ENTRIES {
            return Err(Error::broken(
                NAME,
                format!("a directory has {count} entries"),
            ));
        }
        let begin = at.checked_add(count_bytes).ok_or_else(cut_off)?;
        let length = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(entry));
        let end = length
            .and_then(|length| begin.checked_add(length))
            .ok_or_else(cut_off)?;
        directory.entries = bytes.get(begin..end).ok_or_else(cut_off)?;
        directory.end = end + directory.offset_bytes();
        directory.next = directory.number(end, directory.offset_bytes());
        Ok(directory)
    }

    fn offset_bytes(&self) -> usize {
        if self.big { 8 } else { 4 }
    }

    /// Reads a number of `bytes` bytes at offset `at`.
    fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(bytes)?)?;
        Some(of(bytes, self.big_endian))
    }

    /// Returns the size in bytes of each value of a tag, and the bytes of all its values. Returns `None` if there is no
    /// such tag, or its values are not in the file.
    fn values(&self, tag: u16) -> Option<(usize, &'a [u8])> {
        let tagged = |entry: &&[u8]| of(&entry[..2], self.big_endian) == u64::from(tag);
        let entry = self.entries().find(tagged)?;
        let (each, place) = self.place(entry)?;
        match place {
            Place::Inline(length) => Some((each, &entry[4 + self.offset_bytes()..][..length])),
            Place::At(range) => Some((each, self.bytes.get(range)?)),
        }
    }

    /// Returns the number of entries of the directory.
    pub(crate) fn len(&self) -> usize {
        self.entries().count()
    }

    fn entries(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.entries.chunks_exact(if self.big { 20 } else { 12 })
    }

    /// Returns the size in bytes of each value of an entry of the directory, and the location of its values. Returns
    /// `None` if the type is unknown or the location impossible.
    fn place(&self, entry: &[u8]) -> Option<(usize, Place)> {
        let number = |bytes: &[u8]| of(bytes, self.big_endian);
        let offset_bytes = self.offset_bytes();
        let each = type_bytes(number(&entry[2..4]))?;
        let count = usize::try_from(number(&entry[4..4 + offset_bytes])).ok()?;
        let length = count.checked_mul(each)?;
        if length <= offset_bytes {
            return Some((each, Place::Inline(length)));
        }
        let at = usize::try_from(number(&entry[4 + offset_bytes..])).ok()?;
        Some((each, Place::At(at..at.checked_add(length)?)))
    }

    /// Returns the end of the last values that are stored outside the directory, or 0 if there are none.
    pub(crate) fn values_end(&self) -> usize {
        let outside = |entry| match self.place(entry)?.1 {
            Place::Inline(_) => None,
            Place::At(range) => Some(range.end),
        };
        self.entries().filter_map(outside).max().unwrap_or(0)
    }

    /// Returns the bytes of a tag's values.
    pub(crate) fn raw(&self, tag: u16) -> Option<&'a [u8]> {
        self.values(tag).map(|(_, bytes)| bytes)
    }

    /// Returns all numeric values of a tag, or `None` if there is no such tag, or its values are not in the file.
    pub(crate) fn numbers(&self, tag: u16) -> Option<Numbers<'a>> {
        let (each, bytes) = self.values(tag)?;
        Some(Numbers {
            bytes,
            each,
            big_endian: self.big_endian,
        })
    }

    /// Returns the first numeric value of a tag, or `None` if it has none.
    pub(crate) fn get(&self, tag: u16) -> Option<u64> {
        let (each, bytes) = self.values(tag)?;
        Some(of(bytes.get(..each)?, self.big_endian))
    }

    /// Returns the first numeric value of a tag, or `absent` if it has none.
    pub(super) fn get_or(&self, tag: u16, absent: u64) -> u64 {
        self.get(tag).unwrap_or(absent)
    }
}

fn of(bytes: &[u8], big_endian: bool) -> u64 {
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match big_endian {
        true => bytes.iter().fold(0, add),
        false => bytes.iter().rev().fold(0, add),
    }
}
