//! Decompresses one strip or tile.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io::Read;

use andon_pixels::color::Convert;
use andon_pixels::{
    Codec, Context, Decode, Depth, Error, Frame, Image, Model, Plane, Result, Scales, Stage, Traits,
};
use fax::decoder::{decode_g3, decode_g4, pels};
use fax::{BitReader, ByteReader, Color, maps};
use flate2::read::ZlibDecoder;
use weezl::{BitOrder, LzwStatus};

use super::page::{Colours, Page, broken, unsupported};
use crate::jpeg::Jpeg;

/// Decompresses a strip or tile to `length` bytes: `rows` rows of `width` pixels.
///
/// # Errors
/// `Broken` if there is less data, or the data is damaged. For JPEG compression, also the other errors of the JPEG
/// decoder.
pub(super) fn unpack(
    packed: &[u8],
    page: &Page<'_>,
    (width, rows): (usize, usize),
    length: usize,
    how: &Decode<'_>,
) -> Result<Vec<u8>> {
    let reversed_bytes: Vec<u8>;
    let packed = match page.reversed && page.compression != 7 {
        true => {
            reversed_bytes = packed.iter().map(|byte| byte.reverse_bits()).collect();
            &reversed_bytes
        }
        false => packed,
    };
    let bytes = match page.compression {
        1 => packed.get(..length).map(<[u8]>::to_vec),
        2..=4 => fax(packed, page, width, rows)?,
        5 => lzw(packed, length),
        7 => Some(jpeg(packed, page, (width, rows), how)?),
        32_773 => crate::pack_bits::unpack(packed, length),
        _ => deflate(packed, length),
    };
    match bytes {
        Some(bytes) if bytes.len() >= length => Ok(bytes),
        _ => Err(broken("its pixels are cut off or damaged")),
    }
}

fn deflate(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    ZlibDecoder::new(packed)
        .take(length as u64)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

fn lzw(packed: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    // The earliest writers stored the bits in reverse order, and switched to longer codes one code later.
    let mut decoder = match packed {
        [0, second, ..] if second & 1 == 1 => weezl::decode::Decoder::new(BitOrder::Lsb, 8),
        _ => weezl::decode::Decoder::with_tiff_size_switch(BitOrder::Msb, 8),
    };
    let (mut read, mut written) = (0, 0);
    while written < length {
        let step = decoder.decode_bytes(&packed[read..], &mut bytes[written..]);
        read += step.consumed_in;
        written += step.consumed_out;
        match step.status.ok()? {
            LzwStatus::Ok if step.consumed_in + step.consumed_out > 0 => {}
            _ => break,
        }
    }
    bytes.truncate(written);
    Some(bytes)
}

/// Decodes CCITT fax data to rows of bits, in which black is 1 as in libtiff. Missing lines of Group 3 and 4 data are
/// white. Returns `None` if lines of modified Huffman data are missing or damaged, or if Group 3 or 4 data has no line.
fn fax(packed: &[u8], page: &Page<'_>, width: usize, rows: usize) -> Result<Option<Vec<u8>>> {
    let Ok(columns) = u16::try_from(width) else {
        return Err(unsupported(format!("fax lines of {width} px")));
    };
    let stride = width.div_ceil(8);
    let mut bytes = vec![0; stride * rows];
    let mut lines = 0;
    let mut line = |changes: &[u16]| {
        let Some(row) = bytes.get_mut(lines * stride..(lines + 1) * stride) else {
            return;
        };
        for (x, colour) in pels(changes, columns).enumerate() {
            if colour == Color::Black {
                row[x / 8] |= 0x80 >> (x % 8);
            }
        }
        lines += 1;
    };
    match page.compression {
        2 => {
            let whole = modified_huffman(packed, columns, rows, &mut line);
            return Ok(whole.map(|()| bytes));
        }
        4 => {
            let height = u16::try_from(rows).ok();
            decode_g4(packed.iter().copied(), columns, height, &mut line);
        }
        3 if !page.two_dimensional => {
            decode_g3(packed.iter().copied(), &mut line);
        }
        other => return Err(unsupported(format!("fax compression {other} of this kind"))),
    }
    Ok((lines > 0).then_some(bytes))
}

/// Decodes fax lines in modified Huffman coding, each of which begins at a byte boundary, and calls `line` for each.
/// Returns `None` if lines are missing or damaged.
fn modified_huffman(
    packed: &[u8],
    columns: u16,
    rows: usize,
    line: &mut impl FnMut(&[u16]),
) -> Option<()> {
    // Padding, because the decoder reads ahead more bits than the last code has.
    let bytes = packed.iter().copied().chain([0; 2]);
    let mut bits = ByteReader::new(bytes.map(Ok::<u8, Infallible>)).ok()?;
    let mut changes = Vec::new();
    for _ in 0..rows {
        changes.clear();
        let (mut at, mut colour) = (0_u16, Color::White);
        while at < columns {
            at = at.checked_add(run(colour, &mut bits)?)?;
            changes.push(at);
            colour = !colour;
        }
        line(&changes);
        bits.consume(bits.bits_to_byte_boundary()).ok()?;
    }
    Some(())
}

/// Decodes the length in pixels of a run of one colour. It is coded as any number of multiples of 64, followed by a
/// number below 64.
fn run(colour: Color, bits: &mut impl BitReader) -> Option<u16> {
    let mut length = 0_u16;
    loop {
        let part = match colour {
            Color::Black => maps::black::decode(bits),
            Color::White => maps::white::decode(bits),
        }?;
        length = length.checked_add(part)?;
        if part < 64 {
            return Some(length);
        }
    }
}

/// Side in px of the blocks (MCUs) to whole multiples of which the JPEG of a strip or tile may be padded.
const BLOCK: u32 = 16;

/// Decodes a JPEG, whose tables may be stored separately, to interleaved samples. Luma and chroma are converted to red,
/// green and blue.
fn jpeg(
    packed: &[u8],
    page: &Page<'_>,
    (width, rows): (usize, usize),
    how: &Decode<'_>,
) -> Result<Vec<u8>> {
    let file = match page.jpeg_tables {
        // Tables and strip are two complete JPEG streams: remove the end marker of the first and the start marker of
        // the second.
        Some(tables) if tables.len() > 4 && packed.len() > 2 => {
            Cow::Owned([&tables[..tables.len() - 2], &packed[2..]].concat())
        }
        _ => Cow::Borrowed(packed),
    };
    let info = Jpeg.probe(&file)?;
    let samples = if page.planar { 1 } else { page.samples };
    // The JPEG's own header must state the size of the strip or tile, optionally padded to whole blocks.
    let filled_up = |side: u32| side.next_multiple_of(BLOCK);
    if info.model.planes() != samples
        || (info.width as usize) < width
        || (info.height as usize) < rows
        || info.width > filled_up(page.chunk.0)
        || info.height > filled_up(page.chunk.1)
    {
        return Err(broken("one of its JPEGs has another size"));
    }
    let inner = Decode {
        scales: Scales::FULL,
        keep_metadata: false,
        ..*how
    };
    let Image { mut frame, .. } = Jpeg.decode(&file, &info, &inner)?;
    if info.model.planes() == 3 {
        frame = to_rgb(frame, page, how)?;
    }
    let planes: Option<Vec<_>> = frame.planes.iter().map(Plane::as_u8).collect();
    let planes = planes.ok_or_else(|| unsupported("JPEGs of 12 bits".to_owned()))?;
    // In a TIFF, 0 means no ink, as stored in its JPEG. The JPEG decoder inverts these samples, so they are inverted
    // back.
    let inversion = if info.model == Model::Cmyk { 255 } else { 0 };
    let mut bytes = Vec::with_capacity(width * rows * samples);
    for y in 0..rows {
        for x in 0..width {
            bytes.extend(
                planes
                    .iter()
                    .map(|plane| plane.row(y as u32)[x] ^ inversion),
            );
        }
    }
    Ok(bytes)
}

/// Converts the three planes of a JPEG to red, green and blue of 8 bits.
fn to_rgb(mut frame: Frame, page: &Page<'_>, how: &Decode<'_>) -> Result<Frame> {
    let is_full = |plane: &Plane| (plane.width(), plane.height()) == (frame.width, frame.height);
    // The TIFF directory takes precedence over the JPEG in the meaning of the planes.
    if page.colours == Colours::Rgb && frame.planes.iter().all(is_full) {
        frame = Frame::new(Model::Rgb, frame.width, frame.height, frame.planes, None)?;
    }
    let context = Context {
        overlays: &|_| Err(Error::UnknownFormat),
        draw: &|_| Err(Error::UnknownFormat),
        interrupt: how.interrupt,
        cores: how.cores,
    };
    let (to, from) = (Traits::new(Model::Rgb, Depth::U8), frame.colour.space);
    let to = Traits { space: from, ..to };
    Convert { to, from }.apply(frame, &context)
}
