//! Encodes planes to a TIFF: one page of gray or RGB with 8 or 16 bits, in strips that are deflated after horizontal
//! differencing.

use std::io::Write;

use andon_pixels::{Bound, Depth, Error, Frame, Image, Interrupt, Model, Plane, Result, Traits};
use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::guard;

/// Returns the traits to which a frame must be converted: gray or RGB of 8 or 16 bits, with or without opacity.
pub(super) fn accepts(have: Traits) -> Traits {
    Traits {
        model: match have.model {
            Model::Gray => Model::Gray,
            _ => Model::Rgb,
        },
        depth: match have.depth {
            Depth::U8 => Depth::U8,
            _ => Depth::U16,
        },
        ..have
    }
}

/// Rows per strip.
const ROWS: u32 = 64;

/// Resolution in the file, in pixels per inch. It is a default, because the print size is unknown.
const PER_INCH: u32 = 72;

/// Numbers of the tags that are written, in ascending order as TIFF requires.
mod tag {
    pub(super) const WIDTH: u16 = 256;
    pub(super) const HEIGHT: u16 = 257;
    pub(super) const BITS: u16 = 258;
    pub(super) const COMPRESSION: u16 = 259;
    pub(super) const PHOTOMETRIC: u16 = 262;
    pub(super) const STRIPS: u16 = 273;
    pub(super) const SAMPLES: u16 = 277;
    pub(super) const ROWS: u16 = 278;
    pub(super) const LENGTHS: u16 = 279;
    pub(super) const ACROSS: u16 = 282;
    pub(super) const DOWN: u16 = 283;
    pub(super) const UNIT: u16 = 296;
    pub(super) const PREDICTOR: u16 = 317;
    pub(super) const EXTRA: u16 = 338;
    pub(super) const PROFILE: u16 = 34675;
}

/// The value of a tag.
enum Value {
    Shorts(Vec<u16>),
    Longs(Vec<u32>),
    /// A whole number, written as a fraction.
    Ratio(u32),
    Bytes(Vec<u8>),
}

impl Value {
    /// Returns the number of the value's type, the number of values, and their bytes.
    fn encoded(&self) -> (u16, usize, Vec<u8>) {
        match self {
            Self::Bytes(bytes) => (7, bytes.len(), bytes.clone()),
            Self::Ratio(whole) => (
                5,
                1,
                [*whole, 1].iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
            Self::Shorts(list) => (
                3,
                list.len(),
                list.iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
            Self::Longs(list) => (
                4,
                list.len(),
                list.iter().flat_map(|v| v.to_le_bytes()).collect(),
            ),
        }
    }
}

/// Encodes the first frame of an image.
pub(super) fn encode(image: &Image, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
    let frame = &image.frame;
    // The header, whose last four bytes are filled in with the offset of the directory.
    let mut file = b"II*\0\0\0\0\0".to_vec();
    let (mut strips, mut lengths) = (Vec::new(), Vec::new());
    for top in (0..frame.height).step_by(ROWS as usize) {
        guard::check_interrupt(interrupt)?;
        let begin = file.len();
        strips.push(place(begin)?);
        let strip = strip(frame, top..frame.height.min(top + ROWS))?;
        file.extend(strip);
        lengths.push(place(file.len() - begin)?);
    }
    let colours = frame.planes.len() as u16;
    let samples = colours + u16::from(frame.alpha.is_some());
    let bits = if frame.depth() == Depth::U8 { 8 } else { 16 };
    let mut tags = vec![
        (tag::WIDTH, Value::Longs(vec![frame.width])),
        (tag::HEIGHT, Value::Longs(vec![frame.height])),
        (tag::BITS, Value::Shorts(vec![bits; samples.into()])),
        // Deflate.
        (tag::COMPRESSION, Value::Shorts(vec![8])),
        // RGB, or gray whose 0 is black.
        (
            tag::PHOTOMETRIC,
            Value::Shorts(vec![if colours == 3 { 2 } else { 1 }]),
        ),
        (tag::STRIPS, Value::Longs(strips)),
        (tag::SAMPLES, Value::Shorts(vec![samples])),
        (tag::ROWS, Value::Longs(vec![ROWS])),
        (tag::LENGTHS, Value::Longs(lengths)),
        // Resolution in pixels per inch. Baseline files must have these tags, and some readers require them.
        (tag::ACROSS, Value::Ratio(PER_INCH)),
        (tag::DOWN, Value::Ratio(PER_INCH)),
        (tag::UNIT, Value::Shorts(vec![2])),
        // Horizontal differencing.
        (tag::PREDICTOR, Value::Shorts(vec![2])),
    ];
    if frame.alpha.is_some() {
        // Opacity that the colours are not multiplied with.
        tags.push((tag::EXTRA, Value::Shorts(vec![2])));
    }
    if let Some(profile) = &image.metadata.icc {
        tags.push((tag::PROFILE, Value::Bytes(profile.to_vec())));
    }
    directory(&mut file, &tags)?;
    Ok(file)
}

/// Appends the directory, preceded by the values that do not fit into it.
fn directory(file: &mut Vec<u8>, tags: &[(u16, Value)]) -> Result<()> {
    let mut entries = (tags.len() as u16).to_le_bytes().to_vec();
    for (tag, value) in tags {
        let (kind, count, mut bytes) = value.encoded();
        entries.extend(tag.to_le_bytes());
        entries.extend(kind.to_le_bytes());
        entries.extend(place(count)?.to_le_bytes());
        if bytes.len() > 4 {
            // Values must begin at even offsets.
            file.resize(file.len().next_multiple_of(2), 0);
            let at = place(file.len())?;
            file.append(&mut bytes);
            bytes = at.to_le_bytes().to_vec();
        }
        bytes.resize(4, 0);
        entries.extend(bytes);
    }
    // No further page.
    entries.extend([0; 4]);
    file.resize(file.len().next_multiple_of(2), 0);
    let at = place(file.len())?.to_le_bytes();
    file[4..8].copy_from_slice(&at);
    file.extend(entries);
    Ok(())
}

/// Converts an offset or a length in bytes to 32 bits.
///
/// # Errors
/// `Limit` for 4 GiB or more.
fn place(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| Error::Limit {
        bound: Bound::of_format(super::NAME, "bytes", "bytes"),
        value: bytes as u64,
        limit: u32::MAX.into(),
    })
}

fn strip(frame: &Frame, rows: std::ops::Range<u32>) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Error::Internal(format!("deflating a TIFF: {error}"));
    let planes: Vec<&Plane> = frame.planes.iter().chain(&frame.alpha).collect();
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::new(LEVEL));
    let mut line = Vec::new();
    for y in rows {
        line.clear();
        for x in 0..frame.width as usize {
            for plane in &planes {
                match plane {
                    Plane::U8(grid) => {
                        let row = grid.row(y);
                        let left_sample = x.checked_sub(1).map_or(0, |x| row[x]);
                        line.push(row[x].wrapping_sub(left_sample));
                    }
                    Plane::U16(grid) => {
                        let row = grid.row(y);
                        let left_sample = x.checked_sub(1).map_or(0, |x| row[x]);
                        line.extend(row[x].wrapping_sub(left_sample).to_le_bytes());
                    }
                }
            }
        }
        deflate.write_all(&line).map_err(failed)?;
    }
    deflate.finish().map_err(failed)
}

/// Compression level of zlib. Higher levels save little.
const LEVEL: u32 = 4;
