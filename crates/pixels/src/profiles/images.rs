//! Removes metadata about other pixels than those that are written: thumbnails, previews and sizes. They show what was
//! cropped away or blurred, so they are removed whenever pixels are encoded again. The EXIF blocks are rebuilt without
//! them, because data that nothing refers to any more would still be in the file.

use std::ops::RangeInclusive;

use super::exif::{ENTRY, Tiff};
use super::places;

/// Returns an EXIF block without its tags about other pixels and, if `place` is set, about where the image was taken.
/// `None` for a block that cannot be parsed.
pub(super) fn without(block: &[u8], place: bool) -> Option<Vec<u8>> {
    let file = Tiff::of(block)?;
    let mut first = file.directory(file.u32(4)?)?;
    first.retain(|entry| !(any(IN_FIRST, entry.tag) || place && places::is_tag(entry.tag)));
    for pointer in [EXIF, GPS] {
        let at = first.iter().position(|entry| entry.tag == pointer);
        let Some(at) = at else { continue };
        let entry = first.remove(at);
        let Some(mut entries) = file.pointed(&entry) else {
            continue;
        };
        entries.retain(|entry| pointer == GPS || !any(IN_EXIF, entry.tag));
        if let Some(inner) = entries
            .iter_mut()
            .find(|entry| entry.tag == INTEROPERABILITY)
        {
            inner.below = file.pointed(inner).unwrap_or_default();
        }
        first.insert(
            at,
            Entry {
                below: entries,
                ..entry
            },
        );
    }
    let mut built = block.get(..4)?.to_vec();
    built.extend(file.long(8));
    // The second directory describes the thumbnail, so it is left out.
    write(&mut built, &file, &first, block.len() + SLACK)?;
    Some(built)
}

/// Tag that points to the EXIF directory.
const EXIF: u16 = 0x8769;
/// Tag that points to the directory of GPS data.
const GPS: u16 = 0x8825;
/// Tag that points to the interoperability directory.
const INTEROPERABILITY: u16 = 0xa005;

/// Tags that are removed from the first directory of an EXIF block: layout, size and file offsets of the pixel data,
/// thumbnails, and embedded blocks (XMP, IPTC, Photoshop's resources, profiles, and data that only the camera's maker
/// understands).
const IN_FIRST: &[RangeInclusive<u16>] = &[
    0x00fe..=0x0106,
    0x0111..=0x0111,
    0x0115..=0x0117,
    0x011c..=0x011c,
    0x0142..=0x0145,
    0x014a..=0x014a,
    0x015b..=0x015b,
    0x0200..=0x0209,
    0x02bc..=0x02bc,
    0x83bb..=0x83bb,
    0x8649..=0x8649,
    0x8773..=0x8773,
    0xc634..=0xc634,
];

/// Tags that are removed from the EXIF directory: the image size, and the maker note, which only the camera's maker
/// understands and which holds previews and file offsets.
const IN_EXIF: &[RangeInclusive<u16>] = &[0x927c..=0x927c, 0xa002..=0xa003];

fn any(ranges: &[RangeInclusive<u16>], tag: u16) -> bool {
    ranges.iter().any(|range| range.contains(&tag))
}

/// Bytes by which an EXIF block may grow when it is rebuilt, because values are aligned to even offsets.
const SLACK: usize = 256;

/// An entry of a directory in an EXIF block, with its value in the byte order of the block.
struct Entry<'a> {
    tag: u16,
    kind: u16,
    count: usize,
    value: &'a [u8],
    /// The entries of the directory that this entry points to.
    below: Vec<Self>,
}

impl<'a> Tiff<'a> {
    /// Returns the readable entries of the directory at offset `at` of the EXIF block; `None` if that offset lies
    /// outside the block.
    fn directory(&self, at: usize) -> Option<Vec<Entry<'a>>> {
        let count = usize::from(self.u16(at)?);
        let entries = (0..count).map_while(|index| {
            let entry = at.checked_add(2 + index * ENTRY)?;
            self.bytes().get(entry..entry.checked_add(ENTRY)?)?;
            Some(self.read(entry))
        });
        Some(entries.flatten().collect())
    }

    fn read(&self, at: usize) -> Option<Entry<'a>> {
        let (kind, count) = (self.u16(at + 2)?, self.u32(at + 4)?);
        let each = match kind {
            1 | 2 | 6 | 7 => 1,
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 => 8,
            _ => return None,
        };
        let length = count.checked_mul(each)?;
        let begin = if length <= 4 {
            at + 8
        } else {
            self.u32(at + 8)?
        };
        Some(Entry {
            tag: self.u16(at)?,
            kind,
            count,
            value: self.bytes().get(begin..begin.checked_add(length)?)?,
            below: Vec::new(),
        })
    }

    /// Returns the readable entries of the EXIF directory that an entry points to; `None` if the entry's value is not
    /// an offset within the block.
    fn pointed(&self, entry: &Entry<'_>) -> Option<Vec<Entry<'a>>> {
        let at: [u8; 4] = entry.value.try_into().ok()?;
        let at = match self.is_big() {
            true => u32::from_be_bytes(at),
            false => u32::from_le_bytes(at),
        };
        self.directory(at as usize)
    }

    /// Returns a number as four bytes in the byte order of the EXIF block.
    fn long(&self, number: usize) -> [u8; 4] {
        match self.is_big() {
            true => (number as u32).to_be_bytes(),
            false => (number as u32).to_le_bytes(),
        }
    }

    fn short(&self, number: u16) -> [u8; 2] {
        match self.is_big() {
            true => number.to_be_bytes(),
            false => number.to_le_bytes(),
        }
    }
}

/// Appends an EXIF directory, the values that do not fit into it, and the directories that it points to. `None` if the
/// block grows beyond `most` bytes, because the values overlap in the source.
fn write(built: &mut Vec<u8>, file: &Tiff<'_>, entries: &[Entry<'_>], most: usize) -> Option<()> {
    built.extend(file.short(entries.len() as u16));
    let mut place = built.len();
    built.resize(place + entries.len() * ENTRY + 4, 0);
    for entry in entries {
        let mut fields = [0; ENTRY];
        fields[..2].copy_from_slice(&file.short(entry.tag));
        fields[2..4].copy_from_slice(&file.short(entry.kind));
        fields[4..8].copy_from_slice(&file.long(entry.count));
        built.resize(built.len().next_multiple_of(2), 0);
        let behind = file.long(built.len());
        if !entry.below.is_empty() {
            fields[8..].copy_from_slice(&behind);
            write(built, file, &entry.below, most)?;
        } else if entry.value.len() > 4 {
            fields[8..].copy_from_slice(&behind);
            built.extend_from_slice(entry.value);
        } else {
            fields[8..8 + entry.value.len()].copy_from_slice(entry.value);
        }
        built[place..place + ENTRY].copy_from_slice(&fields);
        place += ENTRY;
        if built.len() > most {
            return None;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an EXIF block with an orientation, a thumbnail, a size, a text, a maker note and a location.
    fn block(big: bool) -> Vec<u8> {
        let short = |v: u16| {
            if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let long = |v: u32| {
            if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let entry = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
            [&short(tag)[..], &short(kind), &long(count), &value].concat()
        };
        let inline = |v: u16| [short(v)[0], short(v)[1], 0, 0];
        let mut block = if big {
            b"MM\0*".to_vec()
        } else {
            b"II*\0".to_vec()
        };
        block.extend(long(8));
        // Offsets: the first directory at 8, the EXIF directory at 62, the GPS directory at 104, the second directory
        // at 122, and values from 152 on.
        block.extend(short(4));
        block.extend(entry(0x0112, 3, 1, inline(6)));
        block.extend(entry(0x8298, 2, 9, long(152)));
        block.extend(entry(EXIF, 4, 1, long(62)));
        block.extend(entry(GPS, 4, 1, long(104)));
        block.extend(long(122));
        block.extend(short(3));
        block.extend(entry(0x927c, 7, 9, long(162)));
        block.extend(entry(0x9003, 2, 9, long(172)));
        block.extend(entry(0xa002, 3, 1, inline(4000)));
        block.extend(long(0));
        block.extend(short(1));
        block.extend(entry(0x0001, 2, 2, *b"N\0\0\0"));
        block.extend(long(0));
        block.extend(short(2));
        block.extend(entry(0x0201, 4, 1, long(182)));
        block.extend(entry(0x0202, 4, 1, long(10)));
        block.extend(long(0));
        for text in [
            &b"(c) 2026\0\0"[..],
            b"PREVIEW!\0\0",
            b"the day.\0\0",
            b"THUMBNAIL.",
        ] {
            block.extend_from_slice(text);
        }
        block
    }

    fn has(block: &[u8], text: &[u8]) -> bool {
        block.windows(text.len()).any(|part| part == text)
    }

    #[test]
    fn other_pixels_go_and_the_rest_stays_in_either_byte_order() {
        for big in [false, true] {
            let whole = block(big);
            let kept = without(&whole, false).expect("a block");
            for gone in [&b"THUMB"[..], b"PREVIEW"] {
                assert!(has(&whole, gone) && !has(&kept, gone));
            }
            for there in [&b"(c) 2026"[..], b"the day."] {
                assert!(has(&kept, there));
            }
            let file = Tiff::of(&kept).expect("a block");
            let first = file.directory(8).expect("entries");
            let tags: Vec<u16> = first.iter().map(|entry| entry.tag).collect();
            assert_eq!(tags, [0x0112, 0x8298, EXIF, GPS]);
            let exif = file.pointed(&first[2]).expect("entries");
            let tags: Vec<u16> = exif.iter().map(|entry| entry.tag).collect();
            assert_eq!(tags, [0x9003]);
            let place = file.pointed(&first[3]).expect("entries");
            assert_eq!(place[0].value, b"N\0");
            assert_eq!(without(&kept, false), Some(kept.clone()), "once more");
            let placeless = without(&whole, true).expect("a block");
            let file = Tiff::of(&placeless).expect("a block");
            let first = file.directory(8).expect("entries");
            assert!(first.iter().all(|entry| entry.tag != GPS));
        }
    }

    #[test]
    fn no_broken_block_is_a_problem_and_none_grows() {
        let whole = block(true);
        for length in 0..whole.len() {
            let _ = without(&whole[..length], false);
        }
        for index in 0..whole.len() {
            for value in [0x00, 0x7f, 0xff] {
                let mut bent = whole.clone();
                bent[index] = value;
                if let Some(kept) = without(&bent, false) {
                    assert!(kept.len() <= bent.len() + SLACK + ENTRY);
                }
            }
        }
        // Entries whose values are all the block.
        let mut many = b"MM\0*\0\0\0\x08\x03\xe8".to_vec();
        for tag in 0..1000_u16 {
            many.extend((0x9000 + tag).to_be_bytes());
            many.extend([0, 7, 0, 0, 0x20, 0, 0, 0, 0, 0]);
        }
        assert_eq!(without(&many, false), None);
    }
}
