//! The index of a `Multi-Picture Format` file (MPF, CIPA DC-007), which declares further images behind the first.

use std::ops::Range;

/// The first bytes of the APP2 segment that contains the MPF index, the list of a file's images.
pub const SIGNATURE: &[u8] = b"MPF\0";

/// Returns the byte ranges of the further images that the MPF index at offset `at` declares, in file order. Returns
/// none if the index is invalid. The ranges may lie beyond the end of the file.
#[must_use]
pub fn images(bytes: &[u8], at: usize) -> Vec<Range<usize>> {
    let mut images = entries(bytes.get(at..).unwrap_or_default())
        .unwrap_or_default()
        .into_iter()
        // The first image is at the beginning of the file, and has the offset 0.
        .filter(|(offset, size)| *offset > 0 && *size > 0)
        .filter_map(|(offset, size)| {
            let start = at.checked_add(offset)?;
            Some(start..start.checked_add(size)?)
        })
        .collect::<Vec<_>>();
    images.sort_by_key(|image| image.start);
    images
}

/// Parses the list of images: for each, the offset, counted from the beginning of the index, and the size in bytes.
fn entries(index: &[u8]) -> Option<Vec<(usize, usize)>> {
    let order = match index.first_chunk()? {
        b"II*\0" => ByteOrder::Little,
        b"MM\0*" => ByteOrder::Big,
        _ => return None,
    };
    let long = |at: usize| Some(order.u32(*index.get(at..)?.first_chunk()?) as usize);
    let short = |at: usize| Some(order.u16(*index.get(at..)?.first_chunk()?));
    let directory = long(4)?;
    let fields = (0..usize::from(short(directory)?)).map(|field| directory + 2 + 12 * field);
    let mut list = fields.filter(|&field| short(field) == Some(ENTRIES));
    let field = list.next()?;
    let (length, start) = (long(field + 4)?, long(field + 8)?);
    let list = index.get(start..start.checked_add(length)?)?;
    let entry = |entry: &[u8]| {
        let long = |at: usize| Some(order.u32(*entry.get(at..)?.first_chunk()?) as usize);
        Some((long(8)?, long(4)?))
    };
    list.chunks_exact(ENTRY_BYTES)
        .take(MOST_IMAGES)
        .map(entry)
        .collect()
}

enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    fn u32(&self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    fn u16(&self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// Tag of the field that lists the images.
const ENTRIES: u16 = 0xb002;
/// Size in bytes of an entry of the list: attributes, size, offset, and the numbers of two images that it depends on.
const ENTRY_BYTES: usize = 16;
/// Maximum number of images that are read from an index. No camera writes more.
const MOST_IMAGES: usize = 64;

/// Builds the MPF index of a file with two images, whose sizes are `first` and `second` bytes. The index is to be
/// placed at offset `at` of the first image.
#[must_use]
pub fn index(first: usize, at: usize, second: usize) -> Vec<u8> {
    let mut index = b"MM\0*\0\0\0\x08\0\x03".to_vec();
    let mut field = |tag: u16, kind: u16, count: u32, value: [u8; 4]| {
        index.extend(tag.to_be_bytes());
        index.extend(kind.to_be_bytes());
        index.extend(count.to_be_bytes());
        index.extend(value);
    };
    let list = 2 * ENTRY_BYTES as u32;
    field(VERSION, UNDEFINED, 4, *b"0100");
    field(COUNT, LONG, 1, 2_u32.to_be_bytes());
    field(ENTRIES, UNDEFINED, list, LIST_AT.to_be_bytes());
    // There is no further directory.
    index.extend([0; 4]);
    for (attributes, size, offset) in [(PRIMARY, first, 0), (0, second, first.saturating_sub(at))] {
        // The casts are safe, because files are much shorter than 4 GiB.
        for number in [attributes, size as u32, offset as u32] {
            index.extend(number.to_be_bytes());
        }
        index.extend([0; 4]);
    }
    index
}

const VERSION: u16 = 0xb000;
const COUNT: u16 = 0xb001;
const LONG: u16 = 4;
const UNDEFINED: u16 = 7;
/// Offset of the image list from the beginning of the MPF index, in bytes: after the header, three fields, and the
/// offset of a next directory.
const LIST_AT: u32 = 8 + 2 + 3 * 12 + 4;
/// Attributes of the main image: a baseline MP primary image.
const PRIMARY: u32 = 0x03_0000;
