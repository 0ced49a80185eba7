//! The first directory of a TIFF, classic or big: numbers by tag.

use andon_pixels::{Error, Result};

use super::NAME;

/// Where the entries of the first directory stand.
pub(super) struct Directory<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) big_endian: bool,
    /// Offsets have eight bytes.
    big: bool,
    entries: &'a [u8],
}

/// Bytes of a value, by its type.
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
    pub(super) fn first(bytes: &'a [u8]) -> Result<Self> {
        let cut = || Error::broken(NAME, "its directory is cut off");
        let big_endian = bytes.starts_with(b"MM");
        let big = bytes.get(2..4).is_some_and(|magic| magic.contains(&b'+'));
        let mut directory = Self {
            bytes,
            big_endian,
            big,
            entries: &[],
        };
        let at = match big {
            true => directory.number(8, 8),
            false => directory.number(4, 4),
        };
        let at = usize::try_from(at.ok_or_else(cut)?).map_err(|_| cut())?;
        let (count_bytes, entry) = if big { (8, 20) } else { (2, 12) };
        let count = directory.number(at, count_bytes).ok_or_else(cut)?;
        let begin = at.checked_add(count_bytes).ok_or_else(cut)?;
        let length = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(entry));
        let end = length
            .and_then(|length| begin.checked_add(length))
            .ok_or_else(cut)?;
        directory.entries = bytes.get(begin..end).ok_or_else(cut)?;
        Ok(directory)
    }

    /// A number of so many bytes.
    fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(bytes)?)?;
        Some(of(bytes, self.big_endian))
    }

    /// The bytes of a tag's values, and how long each is; `None`: there is no such tag, or nothing behind it.
    fn values(&self, tag: u16) -> Option<(usize, &'a [u8])> {
        let (entry_bytes, offset_bytes) = if self.big { (20, 8) } else { (12, 4) };
        let number = |bytes: &[u8]| of(bytes, self.big_endian);
        let mut entries = self.entries.chunks_exact(entry_bytes);
        let entry = entries.find(|entry| number(&entry[..2]) == u64::from(tag))?;
        let each = type_bytes(number(&entry[2..4]))?;
        let count = usize::try_from(number(&entry[4..4 + offset_bytes])).ok()?;
        let length = count.checked_mul(each)?;
        let value = &entry[4 + offset_bytes..];
        if length <= offset_bytes {
            return Some((each, &value[..length]));
        }
        let at = usize::try_from(number(value)).ok()?;
        Some((each, self.bytes.get(at..at.checked_add(length)?)?))
    }

    /// The bytes of a tag.
    pub(super) fn raw(&self, tag: u16) -> Option<&'a [u8]> {
        self.values(tag).map(|(_, bytes)| bytes)
    }

    /// All numbers of a tag.
    pub(super) fn numbers(&self, tag: u16) -> Option<Vec<u64>> {
        let (each, bytes) = self.values(tag)?;
        Some(
            bytes
                .chunks_exact(each)
                .map(|bytes| of(bytes, self.big_endian))
                .collect(),
        )
    }

    /// The first number of a tag.
    pub(super) fn get(&self, tag: u16) -> Option<u64> {
        let (each, bytes) = self.values(tag)?;
        Some(of(bytes.get(..each)?, self.big_endian))
    }
}

fn of(bytes: &[u8], big_endian: bool) -> u64 {
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match big_endian {
        true => bytes.iter().fold(0, add),
        false => bytes.iter().rev().fold(0, add),
    }
}
