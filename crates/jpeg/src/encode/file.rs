//! Writes the segments of a JPEG file.

use crate::codes::{APP0, APP1, APP2, DHT, DQT, SOF0, SOI, SOS};
use crate::encode::scan::{Component, Tables};
use crate::segments::{MOST_BYTES, push};
use crate::tables::Table as Steps;

/// Returns the beginning of a file: SOI, a JFIF header without a density, and the metadata.
pub(super) fn begin(exif: &[u8], icc: &[u8]) -> Vec<u8> {
    let mut file = vec![0xff, SOI];
    push(&mut file, APP0, &[b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"]);
    if !exif.is_empty() && exif.len() <= MOST_EXIF_BYTES {
        push(&mut file, APP1, &[b"Exif\0\0", exif]);
    }
    let count = icc.len().div_ceil(MOST_ICC_BYTES);
    for (number, part) in (1u8..).zip(icc.chunks(MOST_ICC_BYTES)) {
        push(
            &mut file,
            APP2,
            &[b"ICC_PROFILE\0", &[number, count as u8], part],
        );
    }
    file
}

/// Appends all segments that follow the metadata, up to the entropy-coded data.
pub(super) fn head(
    file: &mut Vec<u8>,
    (width, height): (u32, u32),
    components: &[Component],
    steps: &[Steps],
    tables: &[Tables],
) {
    for (number, steps) in (0u8..).zip(&steps[..tables.len()]) {
        // Quantisation steps are at most 255.
        push(file, DQT, &[&[number], &steps.map(|step| step as u8)]);
    }
    let [_, _, h0, h1] = height.to_be_bytes();
    let [_, _, w0, w1] = width.to_be_bytes();
    let mut frame = vec![8, h0, h1, w0, w1, components.len() as u8];
    let mut scan = vec![components.len() as u8];
    for (id, component) in (1u8..).zip(components) {
        let class = component.class as u8;
        frame.extend([id, (component.h << 4 | component.v) as u8, class]);
        scan.extend([id, class << 4 | class]);
    }
    push(file, SOF0, &[&frame]);
    for (number, tables) in (0u8..).zip(tables) {
        for (kind, table) in [(0, &tables.flat), (0x10, &tables.rest)] {
            push(
                file,
                DHT,
                &[&[kind | number], &table.lengths, &table.symbols],
            );
        }
    }
    // A single scan has all coefficients, from the first to the last one.
    scan.extend([0, 63, 0]);
    push(file, SOS, &[&scan]);
}

/// Maximum size in bytes of EXIF data in a segment. The segment's 16-bit length includes itself (2 bytes) and the
/// identifier (6 bytes).
pub const MOST_EXIF_BYTES: usize = MOST_BYTES - 6;
const MOST_ICC_BYTES: usize = MOST_BYTES - 14;
