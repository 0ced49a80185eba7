//! Extents: which bytes of a file belong to the image.

use std::path::Path;

use andon_codecs::ALL;
use andon_pixels::{Alone, Decode, Engine, Limits, Never, Scales};

fn sample(name: &str) -> Vec<u8> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    std::fs::read(samples.join(name)).expect("a sample")
}

fn extent(bytes: &[u8]) -> Option<usize> {
    let engine = Engine::new(ALL, Limits::default());
    engine.extent(&Alone, bytes, &Never).ok()
}

/// Creates a JPEG whose MPF index declares a second JPEG, `gap` bytes after the first.
fn with_index(gap: usize, second: usize) -> Vec<u8> {
    let first = sample("jpeg/420.jpg");
    // Little-endian; one field at offset 26 with the entries; two entries of 16 bytes.
    let mut index =
        b"MPF\0II*\0\x08\0\0\0\x01\0\x02\xb0\x07\0\x20\0\0\0\x1a\0\0\0\0\0\0\0".to_vec();
    let base = 2 + 4 + 4;
    let total = first.len() + 4 + index.len() + 32;
    for (size, offset) in [(total, 0), (second, total + gap - base)] {
        index.extend([0; 4]);
        index.extend((size as u32).to_le_bytes());
        index.extend((offset as u32).to_le_bytes());
        index.extend([0; 4]);
    }
    let mut file = first[..2].to_vec();
    file.extend([0xff, 0xe2]);
    file.extend((index.len() as u16 + 2).to_be_bytes());
    file.extend(index);
    file.extend(&first[2..]);
    assert_eq!(file.len(), total);
    file
}

#[test]
fn images_that_the_index_declares_belong_to_the_file_and_nothing_else_does() {
    let second = sample("jpeg/gray.jpg");
    for gap in [0, 100] {
        let mut file = with_index(gap, second.len());
        let primary = file.len();
        file.resize(primary + gap, 0);
        file.extend(&second);
        let whole = file.len();
        assert_eq!(extent(&file), Some(whole));
        file.extend(b"<script>");
        assert_eq!(extent(&file), Some(whole));
        // An incomplete second image does not belong to the file.
        assert_eq!(extent(&file[..whole - 1]), Some(primary));
        assert_eq!(extent(&file[..primary]), Some(primary));
    }
    let mut file = with_index(8, second.len());
    let primary = file.len();
    file.extend(b"<script>");
    file.extend(&second);
    assert_eq!(extent(&file), Some(primary), "something hides in the gap");
}

#[test]
fn every_sample_is_whole_and_nothing_behind_it_is_part_of_it() {
    let mut seen = 0;
    for kind in ["jpeg", "png", "webp", "gif", "photos"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../samples")
            .join(kind);
        for entry in std::fs::read_dir(folder).expect("samples") {
            let path = entry.expect("an entry").path();
            let mut bytes = std::fs::read(&path).expect("a sample");
            let whole = bytes.len();
            if whole > 1 << 20 {
                continue;
            }
            assert_eq!(extent(&bytes), Some(whole), "{}", path.display());
            bytes.extend([0xff, 0xd9, b';', 0]);
            assert_eq!(extent(&bytes), Some(whole), "{}", path.display());
            let cut = &bytes[..whole - 1];
            let codec = ALL.iter().find(|codec| codec.sniff(cut));
            let marker = codec.map_or(&[][..], |codec| codec.end_marker());
            let rest = extent(cut).map(|length| [&cut[..length], marker].concat());
            // A file counts as complete if at most the end marker that all files have is missing.
            let expected = (!marker.is_empty()).then_some(&bytes[..whole]);
            assert_eq!(rest.as_deref(), expected, "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen} samples");
}

/// Applies the checks of the fuzz targets to damaged copies of small sample files.
#[test]
fn what_passes_for_whole_decodes() {
    let limits = Limits::default();
    let how = Decode {
        scales: Scales::FULL,
        limits: &limits,
        interrupt: &Never,
        cores: &Alone,
        keep_metadata: false,
    };
    let mut state = 1_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let (mut whole, mut broken) = (0, 0);
    for name in [
        "jpeg/33x17.jpg",
        "jpeg/restart.jpg",
        "jpeg/gray-progressive.jpg",
        "jpeg/ycck.jpg",
        "png/palette-4bit.png",
        "png/interlaced.png",
        "webp/lossy.webp",
        "webp/animated.webp",
        "gif/interlaced.gif",
        "gif/animated.gif",
    ] {
        let sample = sample(name);
        for _ in 0..60 {
            let mut bytes = sample.clone();
            for _ in 0..=random(2) {
                let at = random(bytes.len());
                bytes[at] ^= 1 << random(8);
            }
            bytes.extend([0xff, 0xd9, b';']);
            let Some(length) = extent(&bytes) else {
                broken += 1;
                continue;
            };
            let codec = ALL.iter().find(|codec| codec.sniff(&bytes));
            let codec = codec.expect("the codec that found its end");
            let image = codec
                .probe(&bytes[..length])
                .and_then(|info| codec.decode(&bytes[..length], &info, &how));
            assert!(image.is_ok(), "{name}, {length} bytes: {image:?}");
            whole += 1;
        }
    }
    assert!(whole > 50 && broken > 50, "{whole} whole, {broken} broken");
}
