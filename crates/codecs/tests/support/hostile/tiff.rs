//! TIFFs whose strips, tiles and directories overlap, and those that contain other images.

use super::bits::{after_empty_blocks, zeros};
use super::jpeg;

const LONG: u16 = 4;
const SHORT: u16 = 3;

/// A tag: its number, its type and its values.
pub(crate) type Tag = (u16, u16, Vec<u32>);

/// Returns a little-endian TIFF with one directory, followed by `data`. Offsets in the tags of `within` are relative to
/// the beginning of the data.
pub(crate) fn file(tags: &[Tag], within: &[u16], data: &[u8]) -> Vec<u8> {
    let mut tags = tags.to_vec();
    tags.sort_by_key(|(tag, ..)| *tag);
    let bytes = |kind: u16, count: usize| count * if kind == SHORT { 2 } else { 4 };
    let outside = |kind: u16, count: usize| match bytes(kind, count) {
        0..=4 => 0,
        more => more,
    };
    let directory = 8 + 2 + 12 * tags.len() + 4;
    let values: usize = tags
        .iter()
        .map(|(_, kind, list)| outside(*kind, list.len()))
        .sum();
    let begin = (directory + values) as u32;
    let mut entries = (tags.len() as u16).to_le_bytes().to_vec();
    let mut lists = Vec::new();
    for (tag, kind, list) in &tags {
        let moved = if within.contains(tag) { begin } else { 0 };
        let packed: Vec<u8> = list
            .iter()
            .flat_map(|number| {
                (number.wrapping_add(moved))
                    .to_le_bytes()
                    .into_iter()
                    .take(bytes(*kind, 1))
            })
            .collect();
        entries.extend(tag.to_le_bytes());
        entries.extend(kind.to_le_bytes());
        entries.extend((list.len() as u32).to_le_bytes());
        if packed.len() <= 4 {
            entries.extend(packed.iter().copied().chain([0; 4]).take(4));
        } else {
            entries.extend(((directory + lists.len()) as u32).to_le_bytes());
            lists.extend(packed);
        }
    }
    entries.extend([0; 4]);
    [&b"II*\0\x08\0\0\0"[..], &entries, &lists, data].concat()
}

/// Returns the tags of a gray page of 8 bits, with this compression.
fn page(width: u32, height: u32, compression: u32) -> Vec<Tag> {
    vec![
        (256, LONG, vec![width]),
        (257, LONG, vec![height]),
        (258, SHORT, vec![8]),
        (259, SHORT, vec![compression]),
        (262, SHORT, vec![1]),
        (277, SHORT, vec![1]),
    ]
}

/// Returns a page in strips of `rows` rows, all of which share the same bytes.
pub(crate) fn strips_of_one(
    width: u32,
    height: u32,
    rows: u32,
    compression: u32,
    data: &[u8],
) -> Vec<u8> {
    let count = height.div_ceil(rows) as usize;
    let mut tags = page(width, height, compression);
    tags.extend([
        (278, LONG, vec![rows]),
        (273, LONG, vec![0; count]),
        (279, LONG, vec![data.len() as u32; count]),
    ]);
    file(&tags, &[273], data)
}

/// Returns a page like that of `strips_of_one`, but each strip begins one byte later.
pub(crate) fn strips_that_overlap(
    width: u32,
    height: u32,
    rows: u32,
    compression: u32,
    data: &[u8],
) -> Vec<u8> {
    let count = height.div_ceil(rows);
    let mut tags = page(width, height, compression);
    let length = data.len() as u32 - count;
    tags.extend([
        (278, LONG, vec![rows]),
        (273, LONG, (0..count).collect()),
        (279, LONG, vec![length; count as usize]),
    ]);
    file(&tags, &[273], data)
}

/// Returns a file like that of a camera: a chain of directories, each with a preview of the same data from another
/// offset on.
pub(crate) fn preview(offsets: &[u32], data: &[u8]) -> Vec<u8> {
    // Photometric interpretation of sensor data (CFA).
    const MOSAIC: u32 = 32_803;
    let directory = 2 + 12 * 4 + 4;
    let begin = 8 + directory * offsets.len() as u32;
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    for (place, offset) in offsets.iter().enumerate() {
        file.extend(4_u16.to_le_bytes());
        let length = data.len() as u32 - offset;
        for (tag, value) in [
            (262, MOSAIC),
            (274, 1),
            (513, begin + offset),
            (514, length),
        ] {
            file.extend(u16::to_le_bytes(tag));
            file.extend(LONG.to_le_bytes());
            file.extend([1_u32, value].map(u32::to_le_bytes).concat());
        }
        let next = 8 + directory * (place as u32 + 1);
        file.extend(if next < begin { next } else { 0 }.to_le_bytes());
    }
    [file, data.to_vec()].concat()
}

/// Returns TIFFs that must be rejected, each with its name.
pub(crate) fn refused() -> Vec<(&'static str, Vec<u8>)> {
    let huge = jpeg::plain(10_880, 10_880, 1);
    let empty = after_empty_blocks(100_000, &zeros(64 * 64));
    vec![
        (
            "tiff, a page of 64×64 in a JPEG of 118 megapixels",
            strips_of_one(64, 64, 64, 7, &huge),
        ),
        (
            "tiff, 64 strips that share a JPEG of 118 megapixels",
            strips_of_one(64, 64, 1, 7, &huge),
        ),
        (
            "tiff, strips of empty deflate blocks, each a byte further on",
            strips_that_overlap(64, 4096, 1, 8, &empty),
        ),
        (
            "tiff, 100 million tiles",
            file(
                &[
                    page(10_000, 10_000, 1),
                    vec![
                        (322, LONG, vec![1]),
                        (323, LONG, vec![1]),
                        (324, LONG, vec![8]),
                        (325, LONG, vec![1]),
                    ],
                ]
                .concat(),
                &[],
                &[],
            ),
        ),
        (
            "tiff, a tile of 10,000 megapixels",
            file(
                &[
                    page(64, 64, 8),
                    vec![
                        (322, LONG, vec![100_000]),
                        (323, LONG, vec![100_000]),
                        (324, LONG, vec![8]),
                        (325, LONG, vec![100]),
                    ],
                ]
                .concat(),
                &[],
                &[],
            ),
        ),
        ("tiff, 8,000 strips behind large JPEG tables", {
            let strip = jpeg::plain(16, 1, 1);
            let mut tags = page(16, 8000, 7);
            tags.extend([
                (278, LONG, vec![1]),
                (273, LONG, vec![0; 8000]),
                (279, LONG, vec![strip.len() as u32; 8000]),
                (347, LONG, vec![0x00ff_d8ff; 16_000]),
            ]);
            file(&tags, &[273], &strip)
        }),
    ]
}

/// Returns valid TIFFs that must not cause more work than their size suggests, each with its name.
pub(crate) fn bounded() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("tiff, a directory that is its own child, over and over", {
            let mut tags = page(64, 64, 1);
            tags.extend([
                (273, LONG, vec![8]),
                (279, LONG, vec![64 * 64]),
                (330, LONG, vec![8; 50_000]),
            ]);
            file(&tags, &[], &[])
        }),
        (
            "tiff, 4,000 strips that share a deflated row",
            strips_of_one(4000, 4000, 1, 8, &zeros(4000)),
        ),
        (
            "tiff, strips that share a bomb of 64 MiB",
            strips_of_one(1000, 2000, 1, 8, &zeros(64 << 20)),
        ),
        (
            "tiff, strips that share deflated nothing",
            strips_of_one(64, 8192, 1, 8, &after_empty_blocks(100_000, &zeros(64))),
        ),
        (
            "tiff, 64 strips that share a JPEG of their size",
            strips_of_one(2000, 64 * 16, 16, 7, &jpeg::plain(2000, 16, 1)),
        ),
    ]
}
