//! Encoding of planes to BMP files: 24 bits, or 32 bits with a version 4 header, which declares the opacity channel.
//! Pixels are not compressed.

use andon_pixels::{
    Bound, Depth, Error, Frame, Grid, Image, Interrupt, Model, Plane, Result, Traits,
};

use super::FILE_HEADER;
use crate::guard;

/// Length in bytes of the header of a 24-bit file.
const PLAIN: usize = 40;
const WITH_MASKS: usize = 108;

/// Returns the traits to which a frame must be converted: red, green and blue of 8 bits, with or without opacity.
pub(super) fn accepts(have: Traits) -> Traits {
    Traits {
        model: Model::Rgb,
        depth: Depth::U8,
        ..have
    }
}

/// Returns the length of a row in bytes, padded to a multiple of four.
fn stride(width: u32, alpha: bool) -> usize {
    let pixel = if alpha { 4 } else { 3 };
    (width as usize * pixel).next_multiple_of(4)
}

/// Returns the length of the file in bytes.
pub(super) fn length(width: u32, height: u32, alpha: bool) -> u64 {
    let header = FILE_HEADER + if alpha { WITH_MASKS } else { PLAIN };
    header as u64 + stride(width, alpha) as u64 * u64::from(height)
}

/// Encodes the first frame.
pub(super) fn encode(image: &Image, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = &image.frame;
    let planes = planes(frame)?;
    let alpha = frame.alpha.is_some();
    let length = length(frame.width, frame.height, alpha);
    let size = u32::try_from(length).map_err(|_| Error::Limit {
        bound: Bound::of_format(super::NAME, "bytes", "bytes"),
        value: length,
        limit: u32::MAX.into(),
    })?;
    // `length` above has checked that this fits.
    let mut file = Vec::with_capacity(length as usize);
    let long = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
    let header = if alpha { WITH_MASKS } else { PLAIN };
    file.extend(b"BM");
    long(&mut file, size);
    long(&mut file, 0);
    long(&mut file, (FILE_HEADER + header) as u32);
    long(&mut file, header as u32);
    long(&mut file, frame.width);
    // A positive height means that the lowest row comes first.
    long(&mut file, frame.height);
    file.extend(1_u16.to_le_bytes());
    file.extend(if alpha { 32_u16 } else { 24 }.to_le_bytes());
    // Compression: BI_BITFIELDS with masks, or none. The length of the pixels may be 0. Resolution: 72 dpi.
    long(&mut file, if alpha { 3 } else { 0 });
    for value in [0, 2835, 2835, 0, 0] {
        long(&mut file, value);
    }
    if alpha {
        for mask in [0x00ff_0000, 0x0000_ff00, 0x0000_00ff, 0xff00_0000] {
            long(&mut file, mask);
        }
        file.extend(b"BGRs");
        file.resize(FILE_HEADER + header, 0);
    }
    for y in (0..frame.height).rev() {
        if y % 64 == 0 {
            guard::check_interrupt(interrupt)?;
        }
        let rows: Vec<&[u8]> = planes.iter().map(|plane| plane.row(y)).collect();
        let end = file.len() + stride(frame.width, alpha);
        for x in 0..frame.width as usize {
            file.extend(rows.iter().map(|row| row[x]));
        }
        file.resize(end, 0);
    }
    Ok(file)
}

/// Returns the planes in the order of the file: blue, green, red and, if there is one, opacity.
fn planes(frame: &Frame) -> Result<Vec<&Grid<u8>>> {
    let [red, green, blue] = &*frame.planes else {
        return Err(Error::Internal(format!("BMP was handed {:?}", frame.model)));
    };
    let colours = [blue, green, red].into_iter();
    colours.chain(&frame.alpha).map(plane).collect()
}

fn plane(plane: &Plane) -> Result<&Grid<u8>> {
    match plane {
        Plane::U8(grid) => Ok(grid),
        Plane::U16(_) => Err(Error::Internal("BMP was handed 16 bits".to_owned())),
    }
}
