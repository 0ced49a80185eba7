//! Decodes a PNG to planes.

use std::borrow::Cow;
use std::io::Cursor;

use andon_pixels::buffers::Plain;
use andon_pixels::{
    Cost, Decode, Depth, Error, Frame, Grid, Image, Info, Interrupt, Metadata, Plane, Result,
};
use png::{DecodingError, Transformations};

use super::adam7::Pass;
use super::header::{self, Header};
use super::{NAME, channels};
use crate::guard;

/// Decodes the still image (an animation's default image).
pub(super) fn decode(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let header = Header::read(bytes)?;
    guard::check_probed(header.width, header.height, info, how.limits)?;
    guard::check_interrupt(how.interrupt)?;
    let end = header::extent(bytes)?;
    let metadata = guard::read_metadata(how, |most| metadata(&header, most))?;
    let frame = pixels(&bytes[..end], info, how.interrupt)?;
    Ok(Image::read(frame, metadata, info.space))
}

/// Decodes the rows that are present. Missing rows are transparent, or white in an opaque image.
pub(super) fn salvage(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let header = Header::read(bytes)?;
    guard::check_probed(header.width, header.height, info, how.limits)?;
    let metadata = guard::read_metadata(how, |most| metadata(&header, most))?;
    let frame = match info.depth {
        Depth::U8 => rows_there::<u8>(bytes, info, how.interrupt),
        _ => rows_there::<u16>(bytes, info, how.interrupt),
    }?;
    Ok(Image::read(frame, metadata, info.space))
}

fn rows_there<S: Sample>(bytes: &[u8], info: &Info, interrupt: &dyn Interrupt) -> Result<Frame> {
    let channels = channels(info.model, info.alpha);
    let ground = if info.alpha { S::default() } else { S::MOST };
    let mut planes = Grid::several(channels, info.width, info.height, ground);
    let mut rows = 0_u64;
    let result = each_line(bytes, info, S::BYTES, interrupt, |line, pass, y| {
        rows += 1;
        deal(line, &mut planes, pass, y);
    });
    match result {
        Err(Error::Broken { .. }) if rows > 0 => {}
        result => result?,
    }
    Frame::of_planes(info.model, planes.into_iter().map(S::plane).collect())
}

/// Decodes the pixels of a file whose completeness has been checked.
pub(super) fn pixels(bytes: &[u8], info: &Info, interrupt: &dyn Interrupt) -> Result<Frame> {
    match info.depth {
        Depth::U8 => frame::<u8>(bytes, info, interrupt),
        _ => frame::<u16>(bytes, info, interrupt),
    }
}

/// Estimates the cost of decoding, measured with photos and drawings on one core. Inflating takes time per byte,
/// unfiltering and splitting into planes per sample.
pub(super) fn cost(bytes: u64, info: &Info) -> Cost {
    // A header may state any size, so the multiplication must not overflow.
    let samples = (info.pixels())
        .saturating_mul((channels(info.model, info.alpha) * info.depth.bytes()) as u64);
    let row = samples / u64::from(info.height.max(1));
    Cost {
        nanos: (bytes * NANOS_PER_BYTE)
            .saturating_add(samples.saturating_mul(TENTHS_OF_NANOS_PER_SAMPLE) / 10)
            .saturating_add(info.decoder_nanos),
        scratch: row * 4 + INFLATER_BYTES + info.decoder_bytes,
    }
}

const NANOS_PER_BYTE: u64 = 2;
const TENTHS_OF_NANOS_PER_SAMPLE: u64 = 35;
/// Memory in bytes for the inflater's window, tables and read-ahead.
const INFLATER_BYTES: u64 = 1 << 20;

/// Returns the offset in bytes at which the image ends. If it is within the limits, all of its rows are inflated to
/// check them.
pub(super) fn extent(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
    let end = header::extent(bytes)?;
    if guard::check_probed(info.width, info.height, info, how.limits).is_ok() {
        let bytes_per_sample = info.depth.bytes();
        each_line(
            &bytes[..end],
            info,
            bytes_per_sample,
            how.interrupt,
            |_, _, _| {},
        )?;
    }
    Ok(end)
}

fn frame<S: Sample>(bytes: &[u8], info: &Info, interrupt: &dyn Interrupt) -> Result<Frame> {
    let channels = channels(info.model, info.alpha);
    let mut planes = Grid::several(channels, info.width, info.height, S::default());
    each_line(bytes, info, S::BYTES, interrupt, |line, pass, y| {
        deal(line, &mut planes, pass, y);
    })?;
    Frame::of_planes(info.model, planes.into_iter().map(S::plane).collect())
}

/// Calls `take` for every line of every pass, with its interleaved pixels, the pass, and the row of the image.
fn each_line(
    bytes: &[u8],
    info: &Info,
    bytes_per_sample: usize,
    interrupt: &dyn Interrupt,
    mut take: impl FnMut(&[u8], Pass, u32),
) -> Result<()> {
    let file = readable(bytes);
    let mut decoder = png::Decoder::new_with_limits(
        Cursor::new(&*file),
        // The pixels have been checked against the limits already. The crate also needs memory for chunks, which are no
        // longer than the file, and for a few rows, of at most 8 bytes per column.
        png::Limits {
            bytes: bytes.len() * 2 + info.width as usize * 64 + (1 << 20),
        },
    );
    decoder.set_transformations(if info.alpha {
        Transformations::ALPHA
    } else {
        Transformations::EXPAND
    });
    decoder.ignore_checksums(true);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(broken)?;

    let channels = channels(info.model, info.alpha);
    let pixel_bytes = channels * bytes_per_sample;
    let row_bytes = info.width as usize * pixel_bytes;
    if reader.output_line_size(info.width) != Some(row_bytes) {
        return Err(Error::broken(NAME, "its colours contradict its header"));
    }
    let mut row = vec![0; row_bytes];
    for pass in Pass::of(info.progressive) {
        let line_bytes = pass.columns(info.width) as usize * pixel_bytes;
        for (index, y) in pass.rows(info.width, info.height).enumerate() {
            if index % BAND_ROWS == 0 {
                guard::check_interrupt(interrupt)?;
            }
            if reader.read_row(&mut row).map_err(broken)?.is_none() {
                return Err(Error::broken(NAME, "it has too few rows"));
            }
            take(&row[..line_bytes], *pass, y);
        }
    }
    Ok(())
}

/// Returns the file in a form that the `png` crate accepts. The crate rejects a cICP chunk with values that are invalid
/// in a PNG, so such a chunk is renamed to a private one, which the crate ignores. It also requires an IEND chunk,
/// which is appended if it is missing.
fn readable(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut file = match bytes.ends_with(header::END) {
        true => Cow::Borrowed(bytes),
        false => Cow::Owned([bytes, header::END].concat()),
    };
    if let Some(name) = header::unsound_code_points(bytes) {
        // The result is a private chunk, whose checksum is not checked.
        file.to_mut()[name + 1] = b'i';
    }
    file
}

/// Rows between two checks for an interrupt.
const BAND_ROWS: usize = 16;

/// A sample of a plane, which PNG rows store big-endian.
trait Sample: Plain + Default {
    const BYTES: usize;
    const MOST: Self;
    fn read(bytes: &[u8]) -> Self;
    fn plane(grid: Grid<Self>) -> Plane;
}

impl Sample for u8 {
    const BYTES: usize = 1;
    const MOST: Self = Self::MAX;

    fn read(bytes: &[u8]) -> Self {
        bytes[0]
    }

    fn plane(grid: Grid<Self>) -> Plane {
        Plane::U8(grid)
    }
}

impl Sample for u16 {
    const BYTES: usize = 2;
    const MOST: Self = Self::MAX;

    fn read(bytes: &[u8]) -> Self {
        Self::from_be_bytes([bytes[0], bytes[1]])
    }

    fn plane(grid: Grid<Self>) -> Plane {
        Plane::U16(grid)
    }
}

/// Distributes the interleaved pixels of one line to the planes.
fn deal<S: Sample>(line: &[u8], planes: &mut [Grid<S>], pass: Pass, y: u32) {
    let pixel_bytes = planes.len() * S::BYTES;
    for (channel, plane) in planes.iter_mut().enumerate() {
        let row = &mut plane.row_mut(y)[pass.x as usize..];
        let samples = line
            .chunks_exact(pixel_bytes)
            .map(|pixel| S::read(&pixel[channel * S::BYTES..]));
        if pass.dx == 1 {
            for (out, sample) in row.iter_mut().zip(samples) {
                *out = sample;
            }
        } else {
            for (out, sample) in row.iter_mut().step_by(pass.dx as usize).zip(samples) {
                *out = sample;
            }
        }
    }
}

/// Returns the metadata.
///
/// # Errors
/// `Limit` for blocks of more than `most` bytes.
pub(super) fn metadata(header: &Header<'_>, most: u64) -> Result<Metadata> {
    let (icc, xmp) = (header.profile(most), header.xmp(most));
    let blocks = [icc.as_deref(), xmp.as_deref(), header.exif];
    for block in blocks.into_iter().flatten() {
        guard::metadata(block.len(), most)?;
    }
    Ok(Metadata {
        icc,
        exif: header.exif.map(<[u8]>::to_vec),
        xmp,
        ..Metadata::default()
    })
}

fn broken(error: DecodingError) -> Error {
    match error {
        DecodingError::IoError(_) => Error::broken(NAME, "it is cut off"),
        DecodingError::Format(why) => Error::broken(NAME, why.to_string()),
        DecodingError::LimitsExceeded => Error::broken(NAME, "its chunks are too large"),
        DecodingError::Parameter(why) => Error::Internal(why.to_string()),
    }
}
