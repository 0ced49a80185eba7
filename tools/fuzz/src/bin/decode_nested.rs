#![no_main]
//! Fuzzes images within images. The first bytes select the container, how often it refers to the inner image, and what
//! it declares about it. The rest is the inner image. Random bytes alone hardly ever form a strip that is a JPEG, or an
//! icon that is a PNG.

// Only a part of this module is used here.
#[allow(dead_code)]
#[path = "../../../../crates/codecs/tests/support/hostile/mod.rs"]
mod hostile;

use hostile::{jpeg, others, tiff};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&[kind, count, step, width, height, rows], inner)) = bytes.split_first_chunk() else {
        return;
    };
    let (width, height) = (u32::from(width) + 1, u32::from(height) + 1);
    let rows = u32::from(rows).clamp(1, height);
    let offsets: Vec<u32> = (0..u32::from(count) + 1)
        .map(|index| (index * u32::from(step)).min(inner.len() as u32))
        .collect();
    let length = inner.len() as u32;
    let (format, file) = match kind % 6 {
        0 => ("tiff", tiff::strips_of_one(width, height, rows, 7, inner)),
        1 => (
            "tiff",
            tiff::strips_of_one(
                width,
                height,
                rows,
                [8, 5, 4, 32_773][usize::from(step % 4)],
                inner,
            ),
        ),
        2 if length > height => (
            "tiff",
            tiff::strips_that_overlap(width, height, rows, 7, inner),
        ),
        3 => ("ico", others::ico(&offsets, inner)),
        4 => {
            let entries: Vec<_> = offsets.iter().map(|at| (length - at, at + 100)).collect();
            let first = jpeg::with_segments(width as u16, height as u16, 3, &jpeg::index(&entries));
            ("jpeg", [first, inner.to_vec()].concat())
        }
        _ => ("raw", tiff::preview(&offsets, inner)),
    };
    andon_fuzz::decode(format, &file);
});
