//! Small files that would cause much work, of formats other than AVIF and TIFF.

use super::bits::{Bits, zeros};
use super::jpeg;

/// Returns a chunk of a PNG.
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let body = [&kind[..], data].concat();
    let mut checksum = u32::MAX;
    for byte in &body {
        checksum ^= u32::from(*byte);
        for _ in 0..8 {
            checksum = checksum >> 1 ^ (0xedb8_8320 & (checksum & 1).wrapping_neg());
        }
    }
    [
        &(data.len() as u32).to_be_bytes()[..],
        &body,
        &(!checksum).to_be_bytes(),
    ]
    .concat()
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn header(width: u32, height: u32) -> Vec<u8> {
    chunk(
        b"IHDR",
        &[
            &width.to_be_bytes()[..],
            &height.to_be_bytes(),
            &[8, 0, 0, 0, 0],
        ]
        .concat(),
    )
}

/// Returns a black PNG of gray, with further chunks after its header.
pub(crate) fn png(width: u32, height: u32, more: &[u8]) -> Vec<u8> {
    let pixels = zeros((width as usize + 1) * height as usize);
    [
        PNG,
        &header(width, height),
        more,
        &chunk(b"IDAT", &pixels),
        &chunk(b"IEND", &[]),
    ]
    .concat()
}

/// Returns an animated PNG with this number of frames, each of one pixel.
pub(crate) fn apng(width: u32, height: u32, frames: u32) -> Vec<u8> {
    let mut file = [PNG, &header(width, height)].concat();
    file.extend(chunk(b"acTL", &[frames.to_be_bytes(), [0; 4]].concat()));
    file.extend(chunk(
        b"IDAT",
        &zeros((width as usize + 1) * height as usize),
    ));
    let pixel = zeros(2);
    for frame in 0..frames {
        let place = [2 * frame, 1, 1, 0, 0].map(u32::to_be_bytes).concat();
        file.extend(chunk(
            b"fcTL",
            &[&place[..], &[0, 1, 0, 100, 0, 0]].concat(),
        ));
        file.extend(chunk(
            b"fdAT",
            &[&(2 * frame + 1).to_be_bytes()[..], &pixel].concat(),
        ));
    }
    file.extend(chunk(b"IEND", &[]));
    file
}

/// Returns an icon whose entries have these offsets into the data.
pub(crate) fn ico(entries: &[u32], data: &[u8]) -> Vec<u8> {
    let mut file = [&[0, 0, 1, 0][..], &(entries.len() as u16).to_le_bytes()].concat();
    let begin = 6 + 16 * entries.len() as u32;
    for offset in entries {
        file.extend([16, 16, 0, 0, 1, 0, 32, 0]);
        file.extend((data.len() as u32 - offset).to_le_bytes());
        file.extend((begin + offset).to_le_bytes());
    }
    file.extend_from_slice(data);
    file
}

/// Returns an animated GIF with a screen of this size, whose frames after the first have another size.
pub(crate) fn gif(screen: (u16, u16), frame: (u16, u16), frames: usize) -> Vec<u8> {
    let mut file = b"GIF89a".to_vec();
    file.extend(screen.0.to_le_bytes());
    file.extend(screen.1.to_le_bytes());
    file.extend([0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff]);
    let part = |(width, height): (u16, u16)| {
        let mut part = vec![0x2c, 0, 0, 0, 0];
        part.extend(width.to_le_bytes());
        part.extend(height.to_le_bytes());
        part.extend([0, 2]);
        for block in runs(usize::from(width) * usize::from(height)).chunks(255) {
            part.push(block.len() as u8);
            part.extend_from_slice(block);
        }
        part.push(0);
        part
    };
    file.extend(part(screen));
    file.extend(part(frame).repeat(frames - 1));
    file.push(0x3b);
    file
}

/// Returns zeros compressed for GIF: each code is a string one longer than the last, up to the longest of the
/// dictionary.
fn runs(pixels: usize) -> Vec<u8> {
    let (mut bits, mut left, mut next, mut width) = (Bits::default(), pixels, 6, 3);
    bits.put(4, width);
    bits.put(0, width);
    left -= left.min(1);
    let mut length = 1;
    while left > 0 {
        if next < 4096 {
            length += 1;
        }
        // The string that this code defines itself, or the longest in the dictionary.
        bits.put(next.min(4095), width);
        left -= left.min(length);
        next = (next + 1).min(4096);
        if next == 1 << width && width < 12 {
            width += 1;
        }
    }
    bits.put(5, width);
    bits.into_bytes()
}

/// Returns a chunk of a WebP.
fn riff(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let padding = &[0][..data.len() % 2];
    [name, &(data.len() as u32).to_le_bytes()[..], data, padding].concat()
}

/// Returns a lossless WebP bitstream of one colour.
fn one_colour(width: u32, height: u32) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.put(0x2f, 8);
    bits.put(width - 1, 14);
    bits.put(height - 1, 14);
    // No opacity, version 0, no transforms, no cache, one group.
    bits.put(0, 4 + 1 + 1 + 1);
    // Five codes of one symbol, which is 0.
    (0..5).for_each(|_| bits.put(1, 4));
    bits.into_bytes()
}

/// Returns a lossless WebP with a group of prefix codes for each square of 4 × 4 px: `side` of them across and down.
pub(crate) fn groups(side: u32) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.put(0x2f, 8);
    bits.put(4 * side - 1, 14);
    bits.put(4 * side - 1, 14);
    // No opacity, version 0, no transforms, no cache; several groups, for squares of 4 px.
    bits.put(0, 4 + 1 + 1);
    bits.put(1, 1);
    bits.put(0, 3 + 1);
    // The image of the groups' numbers: green and red of eight bits each, all others zero.
    for rest in [24, 0] {
        bits.put(0, 1);
        bits.put(8, 4);
        // Code lengths are 8, or runs of zeros.
        for length in [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8] {
            bits.put(u32::from(matches!(length, 8 | 18)), 3);
        }
        bits.put(0, 1);
        bits.put(0, 256);
        if rest > 0 {
            bits.put(1, 1);
            bits.put(rest - 11, 7);
        }
    }
    (0..3).for_each(|_| bits.put(1, 4));
    let count = side * side;
    for group in 0..count {
        bits.code(group & 255, 8);
        bits.code(group >> 8, 8);
    }
    (0..5 * count).for_each(|_| bits.put(1, 4));
    riff(
        b"RIFF",
        &[&b"WEBP"[..], &riff(b"VP8L", &bits.into_bytes())].concat(),
    )
}

/// Returns an animated WebP with a canvas of this size, whose frames have another size.
pub(crate) fn webp(canvas: (u32, u32), frame: (u32, u32), frames: usize) -> Vec<u8> {
    let side = |side: u32| (side - 1).to_le_bytes()[..3].to_vec();
    let sides = |(width, height): (u32, u32)| [side(width), side(height)].concat();
    let anmf = [
        &[0; 6][..],
        &sides(frame),
        &[100, 0, 0, 2],
        &riff(b"VP8L", &one_colour(frame.0, frame.1)),
    ]
    .concat();
    let chunks = [
        &b"WEBP"[..],
        &riff(b"VP8X", &[&[2, 0, 0, 0][..], &sides(canvas)].concat()),
        &riff(b"ANIM", &[0; 6]),
        &riff(b"ANMF", &anmf).repeat(frames),
    ]
    .concat();
    riff(b"RIFF", &chunks)
}

/// Returns files that must be rejected, of formats other than AVIF and TIFF, each with its name.
pub(crate) fn refused() -> Vec<(&'static str, Vec<u8>)> {
    let huge = png(10_900, 10_900, &[]);
    let small = png(16, 16, &[]);
    let nested = (0..100).fold(ico(&[0], &small), |inner, _| ico(&[0], &inner));
    vec![
        ("ico, an icon of 118 megapixels", ico(&[0], &huge)),
        ("ico, an icon in an icon in an icon", nested),
        (
            "ico, a bitmap of 2^31 px",
            ico(&[0], &{
                let mut dib = 40_u32.to_le_bytes().to_vec();
                dib.extend((1_u32 << 30).to_le_bytes());
                dib.extend((1_u32 << 30).to_le_bytes());
                dib.extend([1, 0, 32, 0]);
                dib.resize(64, 0);
                dib
            }),
        ),
        ("webp, 65,536 groups of prefix codes", groups(256)),
        (
            "webp, frames larger than their canvas",
            webp((1, 1), (16_383, 7000), 2),
        ),
        (
            "webp, a first frame larger than its canvas",
            webp((16, 16), (17, 16), 1),
        ),
        ("apng, 2,000 frames", apng(8, 8, 2000)),
        ("gif, 2,000 frames", gif((8, 8), (1, 1), 2000)),
        ("webp, 2,000 frames", webp((8, 8), (1, 1), 2000)),
    ]
}

/// Returns valid images that must not cause more work than planned, of formats other than AVIF and TIFF, each with its
/// name.
pub(crate) fn bounded() -> Vec<(&'static str, Vec<u8>)> {
    let small = png(16, 16, &[]);
    let map = jpeg::plain(10_880, 10_880, 1);
    let first = jpeg::with_segments(64, 64, 1, &jpeg::index(&[(0, 0), (map.len() as u32, 600)]));
    vec![
        (
            "png, 100,000 texts",
            png(16, 16, &chunk(b"iTXt", b"k\0\0\0\0\0").repeat(100_000)),
        ),
        ("png, 100,000 clear colours", apng(8, 8, 40)),
        ("ico, 256 entries of one icon", ico(&[0; 256], &small)),
        ("webp, 2,500 groups of prefix codes", groups(50)),
        (
            "gif, frames larger than their screen",
            gif((1, 1), (3000, 3000), 4),
        ),
        ("gif, a million extensions", {
            let file = gif((8, 8), (8, 8), 1);
            let (head, rest) = file.split_at(19);
            [head, &[0x21, 0xfe, 0].repeat(1_000_000), rest].concat()
        }),
        (
            "jpeg, 60,000 segments",
            jpeg::with_segments(64, 64, 3, &jpeg::segment(0xed, &[0; 8]).repeat(60_000)),
        ),
        ("jpeg, 60,000 pieces of a profile", {
            let piece = jpeg::segment(0xe2, b"ICC_PROFILE\0\x01\xffpiece");
            jpeg::with_segments(64, 64, 3, &piece.repeat(60_000))
        }),
        (
            "jpeg, a huge image behind a small one",
            [first, map].concat(),
        ),
    ]
}
